"""Units said once in a comparison, in sentences of our own."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor

RULES = get_extractor(ExtractorOptions(spacy_model="none"))
WITH_BINDER = get_extractor(ExtractorOptions())


def read(text):
    return [(q.value, q.unit) for q in RULES.extract(text)]


def read_with_binder(text):
    return [(q.value, q.unit) for q in WITH_BINDER.extract(text)]


def parts(text):
    """Values and units in turn, as the binder leaves them."""
    return [part for pair in read_with_binder(text) for part in pair]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The yard sold 90 canoes, up from 70 in the spring.", [(90, "canoe"), (70, "canoe")]),
        ("Output rose to 3.1 million barrels from 2.9 million.", [(3.1e6, "barrel"), (2.9e6, "barrel")]),
        ("a profit of $6.5m against 5.9m", [(6.5e6, "dollar"), (5.9e6, "dollar")]),
        ("a profit of 6.5 million euros against 5.9", [(6.5e6, "euro"), (5.9e6, "euro")]),
        ("It shipped 80 tonnes of tea, compared with 65 a year ago.", [(80, "tonne"), (65, "tonne")]),
        ("The rate fell to 6% from 8.", [(6, "percentage"), (8, "percentage")]),
        ("a loan of 30 million euros, cut from an original 45 million", [(30e6, "euro"), (45e6, "euro")]),
        ("It held 7.4 tonnes versus about 6.", [(7.4, "tonne"), (6, "tonne")]),
        ("It rose from 20 tonnes in 2008 to 29.", [(20, "tonne"), (29, "tonne")]),
        # a measure of spread has the unit of its estimate
        ("Mean weight was 61.5 kg (SD 7.2).", [(61.5, "kilogram"), (7.2, "kilogram")]),
        ("Mean weight was 61.5 kg (group 2: 7.2).", [(61.5, "kilogram"), (7.2, "")]),
        # the second says the unit
        ("It took 31 vs 28 days.", [(31, "day"), (28, "day")]),
        # levels
        ("The load factor fell 3.3 points to 70.9%.", [(3.3, "percentage point"), (70.9, "percentage")]),
        ("The index rose 41.3 points to 2,310.7.", [(41.3, "point"), (2310.7, "point")]),
        (
            "The index shed 41 points, or 1.3%, to 2,310.",
            [(41, "point"), (1.3, "percentage"), (2310, "point")],
        ),
        ("The index lost 41 points to close at 2,310.", [(41, "point"), (2310, "point")]),
        (
            "One fell 0.4% to 2,310 points, while the other rose 0.2% to 1,870.",
            [(0.4, "percentage"), (2310, "point"), (0.2, "percentage"), (1870, "point")],
        ),
        ("Output is 1,500 to 2,000 million tonnes.", [(1.5e9, "tonne")]),
        ("It went from 8,500 to 1.2 million tonnes.", [(8500, "tonne"), (1.2e6, "tonne")]),
        # confidence intervals
        ("It fell by 4 kg (95% CI 2 to 6).", [(4, "kilogram"), (2, "kilogram")]),
        ("It was -4 mg/dl (-6 to -2).", [(-4, "milligram per decilitre"), (-6, "milligram per decilitre")]),
        ("It was 4 kg, 95% CI: 2, 6.", [(4, "kilogram"), (2, "kilogram")]),
        ("It rose by 20% (HR 0.8, 95% CI 0.7-0.9).", [(20, "percentage"), (0.8, ""), (0.7, "")]),
        ("It was 4 kg (see 20 to 60).", [(4, "kilogram"), (20, "")]),
        # the period before, in brackets; magnitudes and nothings in comparisons
        ("Earnings were EUR 0.31 (0.22).", [(0.31, "euro"), (0.22, "euro")]),
        ("Profit was EUR 13.1 mn (11.2).", [(13.1e6, "euro"), (11.2e6, "euro")]),
        ("Profit was EUR 13 mn (2).", [(13e6, "euro"), (2, "")]),
        ("a loss of EUR -3.5 ( +1.2 ) million", [(-3.5e6, "euro"), (1.2e6, "euro")]),
        ("Net 19.58 vs 7.44 mln", [(19.58e6, ""), (7.44e6, "")]),
        ("Net 2.55 mln vs 1.9", [(2.55e6, ""), (1.9e6, "")]),
        ("Net 12 vs 7.44 mln", [(12, ""), (7.44e6, "")]),
        ("Charges 12 mln vs nil", [(12e6, ""), (0, "")]),
        ("nil by mouth", []),
        ("a ratio of 1.5:1", [(1.5, "")]),
        # numbers that are left bare
        ("The stock lost 2.1% to end at 1,870.20.", [(2.1, "percentage"), (1870.2, "")]),
        ("The rate rose 6% from 40.", [(6, "percentage"), (40, "")]),
        ("(30%) versus 15 of 41", [(30, "percentage"), (15, ""), (41, "")]),
        ("It sold 90 canoes. Against 70 it looks good.", [(90, "canoe"), (70, "")]),
    ],
)
def test_reads(text, expected):
    got = read(text)
    assert [unit for _, unit in got] == [unit for _, unit in expected]
    assert [value for value, _ in got] == pytest.approx([value for value, _ in expected], rel=1e-12)


def test_says_why():
    text = "The yard sold 90 canoes, up from 70 in the spring."
    ((_, _), (_, how)) = next(iter(RULES.explain_many([text])))
    assert "elided unit" in how


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("The song got 162,000 streams and earned 1,349,664 in royalties.", ""),
        ("The play drew 900 visitors and grossed about 45,000 in a week.", ""),
        ("The tour had 300 guests and cost 20,000.", ""),
        ("The team won 12 matches and lost 3 this year.", "match"),
        ("The club has 300 members and lost 20 of them.", "member"),
    ],
)
def test_money_counts_no_noun(text, last):
    assert WITH_BINDER.extract(text)[-1].unit == last


@pytest.mark.parametrize("text", ["three twenty firsts", "twenty twenty fifths"])
def test_numbers_that_share_a_noun_lend_nothing(text):
    assert [unit for _, unit in read(text)] == [text.split()[-1].removesuffix("s")] * 2


def test_rows_of_shares_count_shares():
    found = WITH_BINDER.extract("Net 1,310,000 vs 1,205,000 Avg shrs 4,100,000 vs 4,050,000")
    assert [q.unit for q in found] == ["", "", "share", "share"]


def test_commas_may_stand_between_adjectives_before_what_is_counted():
    found = WITH_BINDER.extract("The study enrolled 24 healthy, sedentary men.")
    assert [(q.value, q.unit) for q in found] == [(24, "man")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was effective, with 11 cases among 15,000 vaccinated.", [(11, "case"), (15_000, "")]),
        ("The inn had 300 guests and earned 20,000 last year.", [(300, "guest"), (20_000, "")]),
        ("There were 90 patients with a score ≥ 3.", [(90, "patient"), (3, "")]),
        ("We saw 20 cases in May and 12 in June.", [(20, "case"), (12, "case")]),
    ],
)
def test_what_a_number_does_not_count_is_no_unit_of_it(text, expected):
    found = WITH_BINDER.extract(text)
    assert [(quantity.value, quantity.unit) for quantity in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They were given 48 (n = 94) or 24 (n = 93) weeks of therapy.", [(48, "week"), (24, "week")]),
        (
            "They got 5 (n = 12), 10 (n = 13) or 20 (n = 11) mg.",
            [(5, "milligram"), (10, "milligram"), (20, "milligram")],
        ),
        ("The plant has 5 (2 idle) and 3 large turbines.", [(5, ""), (3, "large turbine")]),  # nothing says of what
    ],
)
def test_notes_in_brackets_part_no_list(text, expected):
    found = read_with_binder(text)
    assert [pair for pair in found if pair in expected] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It lent 1.1m books in 2022, against 1.4m before.", [(1.1e6, "book"), (1.4e6, "book")]),
        ("It sold 2.3m cars, up from 1.9m a year earlier.", [(2.3e6, "car"), (1.9e6, "car")]),
        ("It took 5 [3-8] vs 7 [5-11] days.", [(5, "day"), (3, "day"), (7, "day"), (5, "day")]),
        ("Output fell to 3.2m tonnes, from 3.6m in 2020.", [(3.2e6, "tonne"), (3.6e6, "tonne")]),
        ("It lent 90 books, against a daily average of 70.", [(90, "book"), (70, "book")]),
        ("They ran 40 laps, up from 1.9 m.", [(40, "lap"), (1.9, "metre")]),
        ("It uses 6.1 litres in town and 4.4 on the motorway.", [(6.1, "litre"), (4.4, "litre")]),
        ("It fell by 0.8 points with the drug and by 0.4 with placebo.", [(0.8, "point"), (0.4, "point")]),
        ("The bill passed by 52 votes to 48.", [(52, "vote"), (48, "vote")]),
        ("It carries 48 to 52 people.", [(48, "people")]),
        ("Prices rose 5% on Monday and 3 in 10 shops closed.", [(5, "percentage"), (3, "shop"), (10, "shop")]),
    ],
)
def test_numbers_that_are_said_alike(text, expected):
    assert read_with_binder(text) == expected


@pytest.mark.parametrize(
    ("text", "value", "change"),
    [
        ("It holds a third more than the old one.", 1 / 3, "up"),
        ("It costs a quarter less than the old one.", 1 / 4, "down"),
        ("Sales were a third higher.", 1 / 3, "up"),
        ("It is a quarter smaller.", 1 / 4, "down"),
        ("The fare is a fifth cheaper than in May.", 1 / 5, "down"),
    ],
)
def test_parts_by_which_things_differ(text, value, change):
    (part,) = WITH_BINDER.extract(text)
    assert (part.value, part.change) == (pytest.approx(value), change)


def test_ordinals_before_a_comparative_are_no_parts():
    assert WITH_BINDER.extract("A third larger plant will open, and a fifth higher court agreed.") == []
    assert WITH_BINDER.extract("A third more recent study came, and a third smaller, cheaper model.") == []


def test_the_pieces_of_a_time_name_nothing():
    (runners,) = WITH_BINDER.extract("Her time of 2:41:17 was the best of 30 runners.")
    assert {"41", "17", "41 17"}.isdisjoint({*runners.concept, *runners.subject})


@pytest.mark.parametrize(
    "text", ["5 kg 3 in the box", "5 kg by 3 by", "2m cars, up from m 5", "3 average of 4", "5 vs"]
)
def test_scraps_are_read(text):
    assert len(WITH_BINDER.extract(text)) <= 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Steel sales were up at 204 million dollars, but its order book shrank to 58 million.",
            [204e6, "dollar", 58e6, "dollar"],
        ),
        (
            "Crude stocks rose 3.2 million barrels, while petrol stocks fell 1.1 million.",
            [3.2e6, "barrel", 1.1e6, "barrel"],
        ),
        ("Of the 19 million shares tendered, the firm accepted 12 million.", [19e6, "share", 12e6, "share"]),
        # another sentence, and what is counted
        ("Net was 4.2 mln dlrs vs 5.6 mln year earlier.", [4.2e6, "dollar", 5.6e6, "dollar"]),
        ("Sales were 204 million dollars. The order book shrank to 58 million.", [204e6, "dollar", 58e6, ""]),
        ("The paper cost 3 million dollars and had a circulation of 2 million.", [3e6, "dollar", 2e6, ""]),
        ("The town sold 5 million lamps at a profit of 6 million.", [5e6, "lamp", 6e6, ""]),
        ("The estate covers 2 million acres and is worth 300 million.", [2e6, "acre", 300e6, ""]),
        ("The mine produced 2 million tonnes, while earnings fell to 30 million.", [2e6, "tonne", 30e6, ""]),
        ("The film cost $90 million, but only 2 million saw it.", [90e6, "dollar", 2e6, ""]),
        ("The charity raised $4 million and fed 3 million.", [4e6, "dollar", 3e6, ""]),
        ("The program, which costs $5 billion, covers 9 million.", [5e9, "dollar", 9e6, ""]),
        # a number of another size
        ("Sales were 204 million dollars, but the index shrank to 580.", [204e6, "dollar", 580, ""]),
    ],
)
def test_bare_millions_have_the_unit_of_those_before_them(text, expected):
    assert parts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Its subscribers numbered 3.4 million at year end.", [3.4e6, "subscriber"]),
        ("Customers will number about 70,000 after the deal.", [70_000, "customer"]),
        ("The company employs 4,300 at its two mills.", [4300, "", 2, "mill"]),
        ("They came after 48 or 24 weeks.", [48, "week", 24, "week"]),
        ("The employees of the two mills numbered 800.", [2, "mill", 800, "employee"]),
        ("The index fell 20 points to 3% below its peak.", [20, "point", 3, "percentage"]),
        # what stands between a number and its noun
        ("The course has four 90-minute lectures.", [4, "lecture", 90, "minute"]),
        ("In 2019 5-year survival was 40%.", [5, "year", 40, "percentage"]),
        ("We studied 132 age- and sex-matched controls.", [132, "control"]),
        ("They sell 30 first- and second-hand cars and 3 pre- and post-tests.", [30, "car", 3, "test"]),
        (
            "The kit has two 18 V batteries and six 120 mm bolts.",
            [2, "battery", 18, "volt", 6, "bolt", 120, "millimetre"],
        ),
        ("He had two $20 bills and 3 12-page reports.", [2, "bill", 20, "dollar", 3, "report", 12, "page"]),
        ("It ordered 600 buses and 3 lenses.", [600, "bus", 3, "lens"]),
    ],
)
def test_what_a_number_counts(text, expected):
    assert parts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The plant turns out 300 a day.", [(300, "per day")]),
        ("They sold 2000 a week.", [(2000, "per week")]),
        ("They sold 2000 per week.", [(2000, "per week")]),
        ("The line can carry 40,000 an hour.", [(40_000, "per hour")]),
        ("They had 300 a year ago.", [(300, "")]),
        ("He tried 40 a second time.", [(40, "")]),
        ("The mine employs 400 a day shift.", [(400, "")]),
        ("He died at 80 a day short of his birthday.", [(80, "")]),
        ("Production of 2000 per week was planned.", [(2000, "per week")]),
        ("Output of 2000 a week is expected.", []),
        ("In 2010 a week later he died.", []),
        ("Since 2010 per capita income has fallen.", []),
        ("Figures for 1986 per share were not given.", []),
    ],
)
def test_bare_numbers_in_a_period(text, expected):
    assert read_with_binder(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A crate holds at least 6 but no more than 9 kg.", [(6, "kilogram"), (9, "kilogram")]),
        ("The load was more than 6, but less than 9 tonnes.", [(6, "tonne"), (9, "tonne")]),
        ("The load was under 6 and over 9 tonnes.", [(6, ""), (9, "tonne")]),
        ("The score was at least 4 and at most 90 kg.", [(4, ""), (90, "kilogram")]),
        ("She climbed to 5 and over 10 km.", [(5, ""), (10, "kilometre")]),
    ],
)
def test_bounds_of_one_thing_share_their_unit(text, expected):
    assert read_with_binder(text) == expected


def test_an_elided_period_has_its_place():
    (quantity,) = WITH_BINDER.extract("They sold 300 a day.")
    assert quantity.unit_span == (14, 19)
