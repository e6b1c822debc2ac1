"""Numbers by a time, an area, a volume or a mass, of nothing that is named: "12/min", "1,200 per km2", "10^9/L"."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.units import load_units

RULES = get_extractor(ExtractorOptions(spacy_model="none"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a respiratory rate of 12/min", [(12, "per minute")]),
        ("a pulse of 80 per minute", [(80, "per minute")]),
        ("a heart rate > 100 min−1", [(100, "per minute")]),
        ("a density of 1,200/km2", [(1200, "per square kilometre")]),
        ("a density of 3,100 per square mile", [(3100, "per square mile")]),
        ("platelets of 250 × 10⁹/L", [(250e9, "per litre")]),
        ("a CD4 count < 200/mm3", [(200, "per cubic millimetre")]),
        ("10^7/ml of spores", [(1e7, "per millilitre")]),
        ("output of 7,000 per month", [(7000, "per month")]),
        ("a rate of 3 to 5 per week", [(3, "per week")]),
        ("an incidence of 76 per 100 person-years", [(76, "per 100 person-years")]),
        ("3.2 per 1,000 live births", [(3.2, "per 1000 live births")]),
        ("12 per 100,000 people", [(12, "per 100000 people")]),
        ("9 and 7 per 1,000 ventilator days", [(9, "per 1000 ventilator days"), (7, "per 1000 ventilator days")]),
        ("14 per 100,000 in 2020", [(14, "")]),
        ("4 per million", [(4, "")]),
        # what is said of the number goes first
        ("350 cells/mm3", [(350, "cell per cubic millimetre")]),
        ("rates are EUR 40-60 per hour", [(40, "euro per hour")]),
        ("a dose of 5 mg per day", [(5, "milligram per day")]),
        ("sold at 5 per cent", [(5, "percentage")]),
        ("HR 80 per minute", [(80, "per minute")]),
        ("5-per-second bursts", [(5, "per second")]),
        ("a rate of 12/cm^3 was found", [(12, "per cubic centimetre")]),
        # what else gives a unit goes first
        ("a risk of 1 in 100 per year", [(0.01, "")]),
        ("between £900 and 1,100 per month", [(900, "pound sterling")]),
        ("20 cigarettes per day vs 10 per day", [(20, "cigarette per day"), (10, "cigarette per day")]),
        ("an expense ratio of 8 per cent", [(8, "percentage")]),
        ("10 mg, 20 mg and 40 mg daily", [(n, "milligram per day") for n in (10, 20, 40)]),
        # no such thing
        ("he came 3 per week-end", [(3, "")]),
        ("apt 12/d Main Street", [(12, "")]),
        ("RR 1.2 per year", [(1.2, "")]),
        ("the 1920s−1930s were hard", []),
        ("it takes 30 min−1 h", [(30, "minute"), (1, "hour")]),
        ("BMI (OR 1.02 per kg/m2) and age", [(1.02, "")]),
        (
            "changes of 28 (9) pmol min−1 m−2",
            [(28, "picomole per minute per square metre"), (9, "picomole per minute per square metre")],
        ),
        ("it takes 30 min-1 h", [(30, "minute"), (1, "hour")]),
        ("open 24/7", []),
        ("a ratio of 5/3", [(5, ""), (3, "")]),
        ("disclosures relate to 40/s/ A. Clerk", [(40, "")]),
        ("12 per 100,000 of them", [(12, "")]),
    ],
)
def test_texts(text, expected):
    found = [(q.value, q.unit) for q in RULES.extract(text)]
    assert found == [(pytest.approx(value, rel=1e-9), unit) for value, unit in expected]


@pytest.mark.parametrize(
    ("query", "words", "expected"),
    [
        ("heart rate above 100/min", "heart rate", (">", 100, "per minute")),
        ("cities over 1,500 per km2", "cities", (">", 1500, "per square kilometre")),
        ("platelets under 150 x 10^9/l", "platelets", ("<", 150e9, "per litre")),
    ],
)
def test_queries(query, words, expected):
    parsed = RULES.parse_query(query)
    assert parsed.terms == words
    assert [(c.comparator, c.value, c.unit) for c in parsed.conditions] == [expected]


def test_they_compare_by_what_they_are_measured_by():
    units = load_units()
    assert units.convert(1, "per square kilometre", "per square mile") == pytest.approx(2.58999, rel=1e-5)
    assert units.convert(150, "per microlitre", "cell per cubic millimetre") == pytest.approx(150)
    assert units.convert(72, "per minute", "beat per minute") == pytest.approx(72)


def test_numbers_in_a_list_share_it_and_others_do_not():
    reads = get_extractor(ExtractorOptions())
    stated = "Means were 348,000 and 335,000/µL in patients with AHI ≥ 15/hr on CPAP (n = 86 vs 86)."
    found = {(q.value, q.unit) for q in reads.extract(stated)}
    assert {(348_000, "per microlitre"), (335_000, "per microlitre"), (15, "per hour"), (86, "")} <= found
    assert (86, "per hour") not in found
