"""Sentences: what is recorded of a text is what stands there."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.quantities.conditions import verdict
from qbench.quantities.english.inflection import singular
from qbench.quantities.types import Condition
from qbench.quantities.units import load_units
from qbench.resources import resource
from qbench.synth.dice import Dice
from qbench.synth.facts import Fact, Thing, ThingReader, clean
from qbench.synth.mapping import Attribute, TableMapping
from qbench.synth.sentences import Grammar, Writer
from qbench.synth.surfaces import SMALL, Surfaces, number_text

UNITS = load_units()
GRAMMAR = Grammar.load(resource("templates/sentences.toml"))
NAMES = ("kilogram", "inch", "gigabyte", "dollar", "euro", "percentage", "celsius", "employee", "person", "hour", "yen",
         "milliampere hour", "kilometre per hour", "dollar per kilogram", "square metre", "")  # fmt: skip
MAPPING = TableMapping(
    categories={"g": ("gaming laptop", "laptop for gamers")},
    attributes=(
        Attribute("w", "weight", ("mass",), "kilogram", verbs=("weighs {}",)),
        Attribute("m", "memory", ("RAM",), "gigabyte", uncountable=True),
        Attribute("f", "fat", unit="gram", per="100 g", phrases=("{} fat in it",)),
        Attribute("s", "sensors"),
    ),
)
SCALES = {"k": 1e3, "thousand": 1e3, "M": 1e6, "million": 1e6, "B": 1e9, "billion": 1e9}


def number(text):
    """The inverse of how numbers are written."""
    match = re.fullmatch(r"(-?[\d,]*\.?\d+|[a-z]+)(?: ?(k|M|B|thousand|million|billion))?", text)
    assert match, text
    plain = match[1].replace(",", "")
    value = float(SMALL.index(plain)) if plain in SMALL else float(plain)
    return value * SCALES.get(match[2], 1)


def check(text, quantity):
    """All that a gold quantity says must stand in the text."""
    span = text[slice(*quantity.value_span)]
    if quantity.comparator == "between":
        low, high = re.fullmatch(r"(\S+) (?:and|to) (\D*)(.+)", span).group(1, 3)
        assert (number(low), number(high)) == (quantity.value, quantity.high)
    else:
        assert number(span) == pytest.approx(quantity.value, rel=1e-12)
        assert quantity.high == quantity.value
    unit = UNITS.get(quantity.unit)
    if unit.name:
        surface = text[slice(*quantity.unit_span)]
        found = UNITS.lookup(surface)
        if unit.name in UNITS:
            assert found is unit, surface
        else:
            assert singular(surface) == unit.name or surface in unit.names, surface
    else:
        assert quantity.unit_span is None
    assert (quantity.family, quantity.base_unit) == (unit.family, unit.base_unit)
    assert quantity.base_value == UNITS.to_base(quantity.value, unit.name)
    assert quantity.base_high == UNITS.to_base(quantity.high, unit.name)
    assert (quantity.comparator_span is not None) == (quantity.comparator not in ("=", "between"))
    if quantity.comparator_span is not None:
        assert text[slice(*quantity.comparator_span)] in GRAMMAR.comparators[quantity.comparator]


def condition(comparator, value, unit):
    known = UNITS.get(unit)
    base = UNITS.to_base(value, unit)
    return Condition(comparator, value, value, unit, known.base_unit, base, base)


values = st.one_of(
    st.integers(0, 5000).map(float),
    st.decimals(0, 100_000, places=2).map(float),
    st.floats(1e-5, 1e12).map(lambda x: float(f"{x:.4g}")),
)


@settings(max_examples=200, deadline=None)
@given(values, st.sampled_from(NAMES), st.integers(0, 10**6))
def test_a_written_quantity_reads_back(value, unit, seed):
    surfaces = Surfaces(UNITS, GRAMMAR.comparators, GRAMMAR.alternatives, GRAMMAR.unwanted)
    written = surfaces.write(value, unit, Dice(seed, "test", ""))
    texts = {role: text for text, role in written.pieces if role}
    assert UNITS.get(written.unit).base_unit == UNITS.get(unit).base_unit
    if written.comparator != "between":
        assert number(texts["value"]) == pytest.approx(written.value, rel=1e-12)
    # What is said is true: no more than the rounding of a conversion away from the fact.
    exact, given_as = UNITS.convert(value, unit, written.unit), written.value
    slack = 0.006 * max(abs(exact), 1e-9)
    if written.comparator in (">", ">="):
        assert given_as <= exact + slack
    elif written.comparator in ("<", "<="):
        assert given_as >= exact - slack
    elif written.comparator == "between":
        assert given_as - slack <= exact <= written.high + slack
    elif written.comparator == "=":
        assert given_as == pytest.approx(exact, abs=slack)
        assert written.unit != unit or given_as == value


@given(st.floats(-1e12, 1e12, allow_nan=False, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-9))
def test_number_text_reads_back(value):
    assert float(number_text(value)) == value
    assert "e" not in number_text(value)


def thing(row, name, kind, qualifier, facts):
    reader = ThingReader(TableMapping(name=("n",), category="k", qualifier="q", attributes=MAPPING.attributes), UNITS)
    cells = {"n": name, "k": kind, "q": qualifier}
    return reader.read(row, cells | {a.column: facts[i] for i, a in enumerate(MAPPING.attributes) if i in facts})


names = st.text(min_size=1, max_size=30).filter(lambda text: bool(clean(text)))
kinds = st.sampled_from(["gaming laptop", "ultrabook", "Cheese", "LED TV", "", "hour glasses"])
facts = st.dictionaries(st.integers(0, 3), values.filter(lambda v: v == 0 or v > 1e-4), min_size=1)
things = st.builds(lambda *parts: thing(1, *parts), names, kinds, st.sampled_from(["Acme", "", "ü-Werk"]), facts)


@settings(max_examples=120, deadline=None)
@given(things, st.lists(things, max_size=3), st.integers(0, 10**6))
def test_every_gold_quantity_stands_in_its_sentence(subject, others, seed):
    writer = Writer(MAPPING, GRAMMAR, UNITS)
    dice = Dice(seed, "test", "")
    sentence = writer.write(subject, subject.facts[: writer.most_facts], others, dice)
    text = sentence.text
    assert "\n" not in text
    own = [m for m in sentence.mentions if m.thing is subject]
    assert sorted(m.fact.attribute for m in own) == [f.attribute for f in subject.facts]
    spans = [m.quantity.value_span for m in sentence.mentions]
    assert spans == sorted(spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    for mention in sentence.mentions:
        quantity, attribute = mention.quantity, MAPPING.attributes[mention.fact.attribute]
        check(text, quantity)
        assert quantity.concept[-len(attribute.words) :] == attribute.words
        rest = quantity.concept[: -len(attribute.words)]
        assert rest in (mention.thing.kind_words, mention.thing.qualifier_words + mention.thing.kind_words)
        said = [text[a:b] for a, b in quantity.concept_spans]
        ways = (attribute.name, *attribute.synonyms, "weighs", "fat in it")
        assert any(part in ways for part in said)
        if mention.thing.qualifier and rest[: len(mention.thing.qualifier_words)] == mention.thing.qualifier_words:
            assert any(part.lower() == mention.thing.qualifier.lower() for part in said)


def test_another_thing_keeps_its_own_concept():
    writer = Writer(MAPPING, GRAMMAR, UNITS)
    subject = Thing(1, "Velora", "ultrabook", ("ultrabook",), "", (), "", None, None, (Fact(0, 1.25, "kilogram"),))
    other = Thing(2, "Tarnic", "tablet", ("tablet",), "Acme", ("acme",), "", None, None, (Fact(0, 0.5, "kilogram"),))
    both = [
        sentence
        for seed in range(60)
        if len((sentence := writer.write(subject, subject.facts, [other], Dice(seed, "test", ""))).mentions) == 2
    ]
    assert len(both) > 10
    for sentence in both:
        assert {m.quantity.concept for m in sentence.mentions} <= {
            ("ultrabook", "weight"), ("tablet", "weight"), ("acme", "tablet", "weight"),
        }  # fmt: skip
        quantity = next(m.quantity for m in sentence.mentions if m.thing is other)
        assert ("acme" in quantity.concept) == ("Acme tablet" in sentence.text)


def test_asides_hold_numbers_that_are_no_quantities():
    writer = Writer(MAPPING, GRAMMAR, UNITS)
    subject = Thing(1, "Velora", "", (), "", (), "", None, None, (Fact(3, 7.0, ""),))
    texts = [writer.write(subject, subject.facts, [], Dice(seed, "test", "")) for seed in range(80)]
    extra = [s for s in texts if len(re.findall(r"\d+", s.text)) > len(s.mentions) + 1]
    assert extra
    assert all(len(s.mentions) == 1 for s in extra)


def test_bounded_mentions_are_judged_as_they_are_written():
    writer = Writer(MAPPING, GRAMMAR, UNITS)
    subject = Thing(1, "Velora", "", (), "", (), "", None, None, (Fact(0, 13.37, "kilogram"),))
    quantities = [
        writer.write(subject, subject.facts, [], Dice(i, "test", "")).mentions[0].quantity for i in range(400)
    ]
    assert {q.comparator for q in quantities} == {"=", "~", ">", "<", ">=", "<=", "between"}
    for quantity in quantities:
        if quantity.comparator in (">", ">=", "between"):
            assert verdict(quantity, condition(">", 12, "kilogram")) == "met"
            assert verdict(quantity, condition("<", 12, "kilogram")) == "broken"


def test_surfaces_name_their_unit_and_vary():
    surfaces = Surfaces(UNITS, GRAMMAR.comparators, GRAMMAR.alternatives, GRAMMAR.unwanted)
    for unit in UNITS:
        for form in surfaces.forms(unit.name):
            assert UNITS.lookup(form.singular.strip()) is unit
            if form.plural and (unit.names or unit.symbols):
                assert UNITS.lookup(form.plural) is unit
    assert {form.plural for form in surfaces.forms("kilogram")} == {"kilograms", "kilos", "kg"}
    assert {form.plural or form.singular for form in surfaces.forms("euro")} == {"euros", "EUR", "€", "EUR "}
    assert {form.plural for form in surfaces.forms("person")} == {"people"}


@pytest.mark.parametrize(
    ("value", "unit", "others"),
    [
        (15.6, "inch", {"centimetre"}),  # no foot, no metre
        (8.0, "gigabyte", set()),  # 8,000 MB, which nobody says
        (512.0, "gigabyte", set()),  # 0.512 TB
        (500.0, "gigabyte", {"terabyte"}),
        (1.37, "kilogram", {"gram", "pound-mass"}),
        (12.5, "euro", set()),
    ],
)
def test_quantities_are_converted_as_people_do(value, unit, others):
    surfaces = Surfaces(UNITS, GRAMMAR.comparators, GRAMMAR.alternatives, GRAMMAR.unwanted)
    written = [surfaces.write(value, unit, Dice(seed, "convert", "")) for seed in range(200)]
    assert {each.unit for each in written} - {unit} == others
    assert {surfaces.write(value, unit, Dice(seed, "c", ""), convert=False).unit for seed in range(60)} == {unit}
    for each in written:
        if each.comparator == "~":
            assert each.value == pytest.approx(UNITS.convert(value, unit, each.unit), rel=0.051)


def test_names_are_data():
    writer = Writer(MAPPING, GRAMMAR, UNITS)
    for name in ("{subject}", "<script>alert(1)</script>", "Größe 5 kg", "日本語", "a, b and c."):
        sentence = writer.write(
            thing(1, name, "tablet", "", {0: 1.25}), (Fact(0, 1.25, "kilogram"),), [], Dice(1, "t", "")
        )
        assert name in sentence.text
        [mention] = sentence.mentions
        check(sentence.text, mention.quantity)


def test_the_same_dice_write_the_same_sentence():
    writer = Writer(MAPPING, GRAMMAR, UNITS)
    subject = thing(1, "Velora", "ultrabook", "Acme", {0: 1.25, 1: 8.0, 3: 4.0})
    texts = [writer.write(subject, subject.facts, [subject], Dice(5, "test", "x")).text for _ in range(3)]
    assert len(set(texts)) == 1
    assert len({writer.write(subject, subject.facts, [], Dice(i, "test", "x")).text for i in range(20)}) > 15


@pytest.mark.parametrize("text", ["nonsense = ", "frames = []"])
def test_broken_templates(tmp_path, text):
    from qbench.errors import InputError

    path = tmp_path / "sentences.toml"
    path.write_text(text)
    with pytest.raises(InputError, match="templates"):
        Grammar.load(path)
