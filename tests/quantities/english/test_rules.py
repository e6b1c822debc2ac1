"""The rules on sentences of our own, one for each thing that they must read or leave alone.

The first table goes by words alone, so that it tells a fault of a rule from one of the parser; the second has plain
sentences in which the parser decides.
"""

import cProfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.english.ambiguity import is_shared
from qbench.quantities.english.queries import parse_query
from qbench.quantities.english.unit_forms import NEVER_SPACED, RISKY_CODES
from qbench.quantities.extractors import ExtractorOptions, extract_table, get_extractor
from qbench.quantities.types import from_row, to_row

RULES = get_extractor(ExtractorOptions(spacy_model="none"))
WITH_YEARS = get_extractor(ExtractorOptions(years=True, spacy_model="none"))


def read(text, extractor=RULES):
    return [
        (q.comparator, q.value, q.unit) if q.value == q.high else (q.comparator, q.value, q.high, q.unit)
        for q in extractor.extract(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # currencies and magnitudes
        ("Sales came to $3.5 million.", [("=", 3.5e6, "dollar")]),
        ("It paid USD1,700 for them", [("=", 1700, "dollar")]),
        ("a fee of EUR 13.1 mn", [("=", 13.1e6, "euro")]),
        ("a deal worth £2bn", [("=", 2e9, "pound sterling")]),
        ("it lost $35m", [("=", 35e6, "dollar")]),
        ("profit of 4.2 mln dlrs", [("=", 4.2e6, "dollar")]),
        ("US$40 and C$50", [("=", 40, "dollar"), ("=", 50, "canadian dollar")]),
        ("17 cents per diluted share", [("=", 17, "cent per share")]),
        ("oil at 18 dlrs a barrel", [("=", 18, "dollar per barrel")]),
        ("about 25k downloads", [("~", 25000, "download")]),
        # numbers in words, fractions
        ("twenty-five thousand tickets", [("=", 25000, "ticket")]),
        ("one hundred and twelve boats", [("=", 112, "boat")]),
        ("half a dozen eggs", [("=", 6, "egg")]),
        ("two-thirds of the votes", [("=", 2 / 3, "")]),
        ("prices rose by almost a third.", [("~", 1 / 3, "")]),
        ("it cut costs by half", [("=", 0.5, "")]),
        ("half the houses, which are old,", [("=", 0.5, "")]),
        ("a million dollars", [("=", 1e6, "dollar")]),
        ("5½ hours", [("=", 5.5, "hour")]),
        ("7-1/2 pct", [("=", 7.5, "percentage")]),
        # units
        ("a 6.2″ display", [("=", 6.2, "inch")]),
        ("he is 6ft 3in tall", [("=", 6.25, "foot")]),
        ("he is 6 ft 6 in tall", [("=", 6.5, "foot")]),
        ("5 W m⁻² K⁻¹ at 3 m s⁻¹", [("=", 5, "watt per square metre per kelvin"), ("=", 3, "metre per second")]),
        # brackets of accountants
        ("a loss of $(1,245) million", [("=", -1245e6, "dollar")]),
        ("EPS of $ (0.15), a margin of (3.5)%", [("=", -0.15, "dollar"), ("=", -3.5, "percentage")]),
        ("it costs 5 to 1 000 euros", [("between", 5, 1000, "euro")]),
        ("a quarter of Americans", [("=", 0.25, "")]),
        ("hundreds of EUR million", [("between", 1e8, 1e9, "euro")]),
        ("it cost $5 (£4)", [("=", 5, "dollar"), ("=", 4, "pound sterling")]),
        ("there were no 15 inch screens", [("=", 15, "inch")]),
        ("earnings per share (EPS) of 45c", [("=", 45, "cent")]),
        ("3300 mAh and 128GB", [("=", 3300, "milliampere hour"), ("=", 128, "gigabyte")]),
        ("a 40-yard dash", [("=", 40, "yard")]),
        ("5 mg/kg/day", [("=", 5, "milligram per kilogram per day")]),
        ("40 hours a week", [("=", 40, "hour per week")]),
        ("-5 °C outside", [("=", -5, "celsius")]),
        ("a 28-year-old runner, aged 28", [("=", 28, "year of age"), ("=", 28, "year of age")]),
        ("1,200 full-time employees", [("=", 1200, "employee")]),
        ("minus one degree", [("=", -1, "degree")]),
        ("a score of minus one", [("=", -1, "")]),
        # ranges
        ("5-8 kg", [("between", 5, 8, "kilogram")]),
        ("between $10 and $15 billion", [("between", 10e9, 15e9, "dollar")]),
        ("from 3 to 4 per cent", [("between", 3, 4, "percentage")]),
        ("0-to-60-mph", [("between", 0, 60, "mile per hour")]),
        ("it rose from 5 to 8 pct", [("=", 5, "percentage"), ("=", 8, "percentage")]),
        ("it rose 5 pct to 8 pct", [("=", 5, "percentage"), ("=", 8, "percentage")]),
        ("one to two years", [("between", 1, 2, "year")]),
        ("between one and two years", [("between", 1, 2, "year")]),
        ("a one-to-two-year term", [("between", 1, 2, "year")]),
        ("one or two years", [("=", 1, "year"), ("=", 2, "year")]),
        ("eight or nine euros", [("=", 8, "euro"), ("=", 9, "euro")]),
        ("a width of 16.8 +/- 1.2 mm", [("=", 16.8, "millimetre")]),
        # comparators
        ("more than 500 users", [(">", 500, "user")]),
        ("at least 500 users", [(">=", 500, "user")]),
        ("no more than 500 users", [("<=", 500, "user")]),
        ("fewer than 500 users", [("<", 500, "user")]),
        ("nearly 500 users", [("~", 500, "user")]),
        ("500 users or more", [(">=", 500, "user")]),
        ("5 kg or more", [(">=", 5, "kilogram")]),
        ("2000 to 3000 employees", [("between", 2000, 3000, "employee")]),
        ("between 1600 and 1700 grams", [("between", 1600, 1700, "gram")]),
        ("a weight of 1.4 kg and above 250 GB", [("=", 1.4, "kilogram"), (">", 250, "gigabyte")]),
        ("3 g of fat per 100 g", [("=", 3, "gram")]),
        ("2,227,000 or four cts a share", [("=", 2227000, ""), ("=", 4, "cent per share")]),
        ("revs 19.5 mln Year shr 2", [("=", 19.5e6, ""), ("=", 2, "")]),
        ("nine mths, 5 mln shrs, 9 cts per shr", [("=", 9, "month"), ("=", 5e6, "share"), ("=", 9, "cent per share")]),
        ("6.2 gears on average", [("=", 6.2, "gear")]),
        ("193 mi away", [("=", 193, "mile")]),
        ("500+ users", [(">=", 500, "user")]),
        ("500-plus users", [(">=", 500, "user")]),
        ("500 plus users", [("=", 500, "user")]),
        ("two or more lesions", [(">=", 2, "lesion")]),
        ("three or fewer errors", [("<=", 3, "error")]),
        ("a dozen or so boats", [("~", 12, "boat")]),
        ("a score < 0.05", [("<", 0.05, "")]),
    ],
)
def test_reads(text, expected):
    check(read(text), expected)


def check(got, expected):
    assert [g[:1] + g[-1:] for g in got] == [e[:1] + e[-1:] for e in expected]
    for g, e in zip(got, expected, strict=True):
        assert g[1:-1] == pytest.approx(e[1:-1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # what is counted, adjectives and all
        ("The company employs 1,200 full-time employees.", [("=", 1200, "full-time employee")]),
        ("The shop sold 500 red apples.", [("=", 500, "red apple")]),
        ("The farm has 20 black and white cows.", [("=", 20, "black white cow")]),
        ("The shop has 20 more employees.", [("=", 20, "employee")]),
        ("The 12-man jury met.", [("=", 12, "man")]),
        ("The 20 oil-producing countries met.", [("=", 20, "oil-producing country")]),
        ("The town has 900 people.", [("=", 900, "people")]),
        ("The house has one kitchen.", [("=", 1, "kitchen")]),
        ("Two of the ships sank.", [("=", 2, "ship")]),
        ("Two or more workers were hurt.", [(">=", 2, "worker")]),
        ("The service has 500-plus users.", [(">=", 500, "user")]),
        ("The kit has one to three lamps.", [("between", 1, 3, "lamp")]),
        ("It sold 400 cars in May.", [("=", 400, "car")]),
        ("The shop sold 2019 cars.", [("=", 2019, "car")]),
        ("In 2019 the shop sold cars.", []),
        # what counts nothing
        ("We need one.", []),
        ("Nobody has one of them.", []),
        ("The score was minus one.", [("=", -1, "")]),
        # what the parser has no say in
        ("The car goes 0-to-60-mph in five seconds.", [("between", 0, 60, "mile per hour"), ("=", 5, "second")]),
        ("Net sales rose to $3.5 million.", [("=", 3.5e6, "dollar")]),
        ("The price fell from $40 to $35.", [("=", 40, "dollar"), ("=", 35, "dollar")]),
    ],
)
def test_reads_with_a_parse(rules, text, expected):
    check(read(text, rules), expected)


@pytest.mark.parametrize(
    "text",
    [
        "", "no numbers here", "On March 31, 2024 it ended.", "31 March 2024", "at 10:30 a.m.", "version 1.2.3",
        "Form 10-K and Note 5", "the G20 and COVID-19", "the 1st and the 22nd", "in 2019", "12/31/2023", "2024-01-05",
        "a new iPhone 11 is out", "they won 3-2", "the Boeing 747 was late", "the 1990s", "a 3D film",
        "a 409A Pension", "a phase 2b trial", "ANZCTR: 12610000197033",
        "ID 12345678901234567890123",
    ],
)  # fmt: skip
def test_leaves_alone(rules, text):
    assert read(text) == []
    assert read(text, rules) == []


def test_years_only_when_asked_for():
    text = "It was founded before 1980 and sold in 1994."
    assert read(text) == []
    assert read(text, WITH_YEARS) == [("<", 1980, "calendar year"), ("=", 1994, "calendar year")]
    assert read("released between 1987 and 1989", WITH_YEARS) == [("between", 1987, 1989, "calendar year")]
    assert read("2000 employees", WITH_YEARS) == [("=", 2000, "employee")]


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("Total revenue increased 5% to $3.5 million.", ["revenue", "revenue"]),
        ("an ultrabook weight of 1.2 kg and a price of 900 euros", ["ultrabook weight", "price"]),
        ("It has a 3300 mAh battery.", ["battery"]),
        ("64 GB of storage", ["storage"]),
        ("a 5% increase in net sales", ["net sales"]),
        ("unemployment rate above 4 percent", ["unemployment rate"]),
        ("The R&D budget was $5 million.", ["r&d budget"]),
    ],
)
def test_concepts_by_words_alone(text, concepts):
    quantities = RULES.extract(text)
    assert [" ".join(q.concept) for q in quantities] == concepts
    for q in quantities:
        joined = " ".join(text[a:b].lower() for a, b in q.concept_spans)
        assert all(word in joined for word in q.concept)


def test_spans_are_what_they_say():
    text = "It paid more than $3.5 million for 1,200 kg."
    money, mass = RULES.extract(text)
    assert text[slice(*money.value_span)] == "3.5 million"
    assert text[slice(*money.unit_span)] == "$"
    assert text[slice(*money.comparator_span)] == "more than"
    assert (text[slice(*mass.value_span)], text[slice(*mass.unit_span)]) == ("1,200", "kg")
    assert mass.digits == 2


def test_the_unit_after_a_tolerance_has_its_place():
    text = "a mass of 16.8 ± 1.2 kg"
    (mass,) = RULES.extract(text)
    assert (mass.value, text[slice(*mass.value_span)], text[slice(*mass.unit_span)]) == (16.8, "16.8", "kg")


def test_base_values_compare_across_units():
    (pounds,) = RULES.extract("it weighs 2 lb")
    (kilos,) = RULES.extract("it weighs 0.90718474 kg")
    assert pounds.base_unit == kilos.base_unit == "kilogram"
    assert pounds.base_value == pytest.approx(kilos.base_value, rel=1e-9)


CONTEXT_ONLY = NEVER_SPACED | RISKY_CODES | {"toe", "mN", "MN"}
"""Forms that are words or magnitudes where nothing around speaks for the unit; test_surface_forms.py has them all."""
UNIT_FORMS = [
    (unit, form)
    for unit in RULES.units
    for form in (*unit.names, *unit.symbols)
    # A form that several units share names the first of them; that is for context to settle.
    if RULES.units.lookup(form) is unit
    and unit.family not in ("date", "count")
    and not form.startswith(("'", "°"))
    and form not in CONTEXT_ONLY
    and not (is_shared(form) or is_shared(form.lower()))
]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(UNIT_FORMS), st.integers(2, 9_999_999), st.booleans())
def test_round_trip_of_value_and_unit(form, value, commas):
    unit, surface = form
    number = f"{value:,}" if commas else str(value)
    text = f"they measured {number} {surface} there"
    found = RULES.extract(text)
    if any(c.isalpha() for c in surface) and len(surface) <= 2:
        text = f"they measured {number}{surface} there"
        found = RULES.extract(text)
        if surface in ("s", "b", "t", "d", "M", "K", "k", "m"):
            return  # "1990s", "5b", "5k": read as something else on purpose
    assert [(q.value, q.unit) for q in found] == [(value, unit.name)], text
    assert text[slice(*found[0].value_span)] == number


SIGNS = "0123456789.,-–$€%½()/ '\"+<>~\ud800\u0000\u2028"
HOSTILE = st.text(alphabet=st.one_of(st.characters(), st.sampled_from(SIGNS)), max_size=200)


@settings(max_examples=300, deadline=None)
@given(HOSTILE)
def test_any_text_gives_valid_spans_and_finite_values(rules, text):
    for extractor in (RULES, WITH_YEARS, rules):
        for q in extractor.extract(text):
            for span in (q.value_span, q.unit_span, q.comparator_span, *q.concept_spans):
                assert span is None or 0 <= span[0] < span[1] <= len(text)
            assert q.value <= q.high
            assert max(abs(q.value), abs(q.high), abs(q.base_value), abs(q.base_high)) < float("inf")
            assert q.unit == "" or q.base_unit


JOINED = st.lists(
    st.tuples(
        st.sampled_from("09.2 1998 12.5 2005 .500 1.20 5 30 07 1,200 1736 99 0 12.50".split()),
        st.sampled_from(["-", "–", "/", ".", ":", " to ", "-to-", ", ", " Jan ", " March ", "s ", "th ", " "]),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from(["", "in ", "on ", "at ", "dated ", "(", "March "]),
    JOINED,
    st.sampled_from(["", "%", "cars", "BC"]),
)
def test_numbers_joined_in_any_way_are_read(before, joined, after):
    text = before + "".join(number + joint for number, joint in joined) + after
    for extractor in (RULES, WITH_YEARS):
        assert all(q.value <= q.high for q in extractor.extract(text))
        extractor.extract_query(text)


@pytest.mark.parametrize("text", ["2015-09.2 cars", "on 5/1.20 of them", "12.5-30.0 tons"])
def test_decimals_are_no_years_and_no_days(text):
    assert RULES.extract(text)


def _lookups(text, extractor=RULES):
    """How many tokens the concept and unit rules look at: function calls, as the profiler counts them."""
    profiler = cProfile.Profile()
    profiler.enable()
    extractor.extract(text)
    profiler.disable()
    return sum(entry.callcount for entry in profiler.getstats())


@pytest.mark.parametrize("piece", ["5 ", "5-", "$", "1,", "million ", "a ", "one hundred ", "5/", "-", "5 per ", '5" '])
def test_hostile_repetition_stays_linear(piece):
    # Work is counted, not seconds: lookups per character must not grow with the text.
    short, long = (_lookups(piece * (n // len(piece))) for n in (1_000, 8_000))
    assert long <= 10 * short + 1000


@pytest.mark.parametrize("piece", ["5 ", "1,", "5 men of 5 ", "(5)", "5 respectively "])
def test_hostile_repetition_stays_linear_with_a_parse(rules, piece):
    rules.extract("It weighs 5 kg.")  # loads the parser
    short, long = (_lookups(piece * (n // len(piece)), rules) for n in (500, 2_500))
    assert long <= 6 * short + 1000


def test_table_rows_come_back():
    text = "More than 5 kg of sugar cost $3 to $4."
    table = extract_table(["d1"], [text], RULES)
    assert [from_row(row) for row in table.iter_rows(named=True)] == RULES.extract(text)
    assert to_row("d1", RULES.extract(text)[0])["doc_id"] == "d1"


def test_unknown_extractor_says_what_is_known():
    from qbench.errors import UnknownNameError

    with pytest.raises(UnknownNameError, match="rules, neural, quantulum3"):
        get_extractor(ExtractorOptions("magic"))


PIECES = (
    "5|1 000|1,200|0.5|12|2019|hundreds of|six|a quarter|half|million|EUR|MEUR|$|(|)|%|-|to|and|or|by|from|between|not|"
    "no|a.m.|pm|kg|ft|in|2|per|respectively|,|.|up|more than|at least|men|share|T|m".split("|")
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=2, max_size=9).map(" ".join))
def test_any_words_of_amounts_are_read_and_asked_for(text):
    for q in RULES.extract(text):
        assert q.value <= q.high
        assert text[slice(*q.value_span)].strip()
    for condition in parse_query(text, RULES).conditions:
        assert condition.value <= condition.high


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The city of Falton (pop. 256,000) is small.", [(256000, ("pop",))]),
        ("The hill (elev. 900 m) is steep.", [(900, ("elev",))]),
        ("Farmers were randomly assigned (1:1) to rye or oats.", [(1, ("farmers", "randomly", "assigned"))]),
        ("Ports: 2 x HDMI, 1 x USB-C.", [(2, ("hdmi",)), (1, ("usb-c",))]),
    ],
)
def test_sure_forms_are_kept_with_the_concept_of_the_rules(rules, text, expected):
    assert [(q.value, q.concept) for q in rules.extract(text)] == expected
