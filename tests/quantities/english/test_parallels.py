"""Figures in parallel, each with a phrase of its own, in sentences of our own."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

EXTRACTOR = get_extractor(ExtractorOptions())


def words(text):
    return [{*quantity.concept, *quantity.subject} for quantity in EXTRACTOR.extract(text)]


@pytest.mark.parametrize(
    ("text", "shared", "own"),
    [
        ("Cure rates were 85% for amoxicillin versus 70% for placebo.", {"cure", "rates"}, ["amoxicillin", "placebo"]),
        (
            "Mean weight loss was 4.5 kg with the diet, 3.1 kg with exercise and 1.2 kg with advice alone.",
            {"mean", "weight", "loss"},
            ["diet", "exercise", "advice"],
        ),
        ("Battery life is 10 hours for the phone, 24 hours for the tablet.", {"battery"}, ["phone", "tablet"]),
        ("The company owns 40% of Alpha, 25% of Beta and 10% of Gamma.", {"company"}, ["alpha", "beta", "gamma"]),
    ],
)
def test_a_phrase_after_a_figure_is_of_that_figure_alone(text, shared, own):
    found = words(text)
    assert [each & {*own} for each in found] == [{name} for name in own]
    assert all(shared <= each for each in found)


@pytest.mark.parametrize(
    ("text", "shared", "own"),
    [
        ("Imports from China were $5 billion, those from India $3 billion.", {"imports"}, ["china", "india"]),
        ("The cost of the bridge was 5 million euros, of the tunnel 9 million euros.", {"cost"}, ["bridge", "tunnel"]),
        ("The hazard ratio for death was 0.5 and for stroke 0.7.", {"hazard", "ratio"}, ["death", "stroke"]),
        ("The price of gold is $5, of silver $3.", {"price"}, ["gold", "silver"]),
        ("For adults the dose is 500 mg, for children 250 mg.", {"dose"}, ["adults", "children"]),
        ("Copper rose to $9,000 a tonne, zinc to $2,500 and nickel to $18,000.", set(), ["copper", "zinc", "nickel"]),
        ("The length is 5 cm, the width 3 cm and the height 2 cm.", set(), ["length", "width", "height"]),
    ],
)
def test_a_phrase_before_a_figure_stands_for_that_of_the_first(text, shared, own):
    found = words(text)
    assert [each & {*own} for each in found] == [{name} for name in own]
    assert all(shared <= each for each in found)


def test_compounds_stay_whole():
    _, second = EXTRACTOR.extract("It was 89.3% in the intervention group and 87.4% in the usual-care group.")
    assert "usual-care" in second.concept


def test_places_and_times_that_name_nothing_are_not_added():
    text = "Net income was $4.2 million for 2019, $3.9 million for 2018 and $3.1 million for 2017."
    assert words(text) == [{"net", "income"}] * 3
    assert words("Inflation was 2.1% in May compared with 1.9% in April.") == [{"inflation"}] * 2


@pytest.mark.parametrize(
    "text",
    [
        "The phone weighs 180 g with its case, and costs $300 with a charger.",  # of two kinds
        "The fund lost 5% in May. It gained 7% in the second half.",  # of two sentences
    ],
)
def test_what_is_not_in_parallel_stays_as_it_is(text):
    first, second = words(text)
    assert first.isdisjoint({"charger", "half"})
    assert second.isdisjoint({"case", "may"})


def test_a_list_of_counts_names_its_own_things():
    bedrooms, bathrooms, garage = words("The house has 3 bedrooms, 2 bathrooms and 1 garage.")
    assert (bedrooms, bathrooms, garage) == ({"house"},) * 3
    *_, pharmacists = words("The clinic employs 150 nurses, 40 doctors and 25 pharmacists.")
    assert pharmacists.isdisjoint({"nurses", "doctors"})


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Revenue from services was $5 million and net loss $1 million.", {"net", "loss"}),
        ("Cost of revenue was $5 million, and gross profit $7 million.", {"gross", "profit"}),
        ("The length of the boat is 12 m and the beam 4 m.", {"beam"}),
        ("The yield on the bond was 5%, inflation 3%.", {"inflation"}),
    ],
)
def test_a_second_subject_takes_nothing_of_the_first(text, own):
    first, second = words(text)
    assert own <= second
    assert second.isdisjoint({"revenue", "cost", "length", "yield"})
    assert first.isdisjoint(own)


def test_days_are_no_phrases():
    _, tuesday, friday = words("It snowed 5 cm on Monday, 3 cm on Tuesday and 1 cm on Friday.")
    assert tuesday.isdisjoint({"monday", "tuesday"})
    assert friday.isdisjoint({"monday", "tuesday", "friday"})
    bread, other = words("He spent $5 on bread and $7 on Monday.")
    assert "bread" in bread
    assert "monday" not in bread | other


def test_a_clause_without_its_verb_is_parallel_past_the_level_of_the_first():
    _, _, change, level = words("Revenue rose 12% to $5 million and profit 8% to $1 million.")
    assert change == level == {"profit"}


def test_ages_and_times_may_be_parallel():
    first, second = words("Mean age was 54 years in the drug group and 56 years in the placebo group.")
    assert "drug" in first
    assert "placebo" not in first
    assert "placebo" in second


@pytest.mark.parametrize(
    "text",
    [
        "Adverse events were seen in 12 (24%) of the treated cats and 15 (30%) of the control cats.",
        "Of these plants, 12 (24%) were found in treated fields, 15 (30%) in control fields.",
    ],
)
def test_what_stands_in_brackets_has_the_phrase_of_the_figure_before(text):
    first, first_share, second, second_share = words(text)
    assert all("treated" in each and "control" not in each for each in (first, first_share))
    assert all("control" in each and "treated" not in each for each in (second, second_share))
