"""Labels of whole columns, the slow check one by one, and the judge of single mentions agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.generation.labels import FEW, Labels, capped, confirmed, holds, label, meets
from qbench.generation.mentions import load_mentions
from qbench.generation.options import GenerationOptions
from qbench.generation.rounding import same_as_written
from qbench.quantities.concept_match import concept_grade
from qbench.quantities.conditions import verdict
from qbench.quantities.types import COMPARATORS, Condition, Quantity, quantity_schema, to_row
from qbench.quantities.units import load_units

NUMBERS = [-2.0, 0.0, 0.45, 1.0, 1.0 + 1e-12, 2.0, 2.2, 3.0, 8.0]
UNITS = ["kilogram", "kilogram", "pound-mass", "gram"]
CONCEPTS = ["", "income", "net income", "incomes", "income net", "profit", "gross profit", "staff"]
ASKED = ["income", "net income", "profit", "income | profit"]


@st.composite
def quantities(draw):
    low = draw(st.sampled_from(NUMBERS))
    bound = draw(st.sampled_from(["=", "~", "<", "<=", ">", ">=", "between"]))
    high = draw(st.sampled_from([x for x in NUMBERS if x >= low])) if bound == "between" else low
    base = draw(st.sampled_from(["dollar", "kilogram"]))
    concept = draw(st.sampled_from(CONCEPTS))
    change = draw(st.sampled_from(["", "", "up", "down"]))
    unit = draw(st.sampled_from(UNITS)) if base == "kilogram" else base
    scale, digits = load_units().get(unit).factor, draw(st.integers(0, 3))
    words = tuple(concept.split())
    return Quantity(low, high, bound, unit, "", base, low * scale, high * scale, words, digits, change=change)


@st.composite
def conditions(draw):
    comparator = draw(st.sampled_from(COMPARATORS))
    low = draw(st.sampled_from(NUMBERS))
    high = draw(st.sampled_from([x for x in NUMBERS if x >= low])) if comparator == "between" else low
    base = draw(st.sampled_from(["dollar", "kilogram"]))
    concept = draw(st.sampled_from(ASKED))
    change = draw(st.sampled_from(["", "", "up", "down"]))
    unit = draw(st.sampled_from(UNITS)) if base == "kilogram" else base
    scale = load_units().get(unit).factor
    return Condition(
        comparator, low, high, unit, base, low * scale, high * scale, tuple(concept.split()), change=change
    )


def is_about_a_bound(quantity, condition):
    bounds = (condition.base_value, condition.base_high)
    near = any(quantity.base_value == pytest.approx(bound, rel=1e-9, abs=0) for bound in bounds)
    return quantity.comparator == "~" and quantity.base_unit == condition.base_unit and near


@pytest.mark.parametrize(
    ("comparator", "asked", "expected"),
    [("=", 8, None), (">", 8, None), ("<=", 8, None), ("=", 3, False), (">", 3, True), ("between", 2, True)],
)
def test_what_is_about_a_bound_leaves_it_open(comparator, asked, expected):
    about = Quantity(8.0, 8.0, "~", "kilogram", "mass", "kilogram", 8.0, 8.0, ("net", "income"))
    high = 9.0 if comparator == "between" else float(asked)
    condition = Condition(comparator, asked, high, "kilogram", "kilogram", asked, high, ("net", "income"))
    assert meets(about, condition) is expected


@given(quantities(), conditions())
@settings(max_examples=300, deadline=None)
def test_both_judges_of_one_mention_agree(quantity, condition):
    expected = {"met": True, "broken": False, "undecided": None}[verdict(quantity, condition)]
    opposed = {quantity.change, condition.change} == {"up", "down"}
    if not opposed and (is_about_a_bound(quantity, condition) or same_as_written(quantity, condition)):
        expected = None
    assert meets(quantity, condition) is expected


@given(
    st.lists(st.lists(quantities(), max_size=4), min_size=1, max_size=12),
    st.lists(conditions(), min_size=1, max_size=3),
)
@settings(max_examples=80, deadline=None)
def test_labels_are_what_a_walk_over_all_sentences_finds(docs, asked):
    ids = [f"d{number}" for number in range(len(docs))]
    rows = [to_row(name, quantity) for name, found in zip(ids, docs, strict=True) for quantity in found]
    mentions = load_mentions(pl.DataFrame({"doc_id": ids, "text": ids}), pl.DataFrame(rows, schema=quantity_schema()))
    labels = label(asked, mentions)
    for number, found in enumerate(docs):
        grades = [[concept_grade(c.concept, q.concept) for q in found if meets(q, c)] for c in asked]
        grade = min(max([0, *of_condition]) for of_condition in grades)
        answer = holds(asked, found)
        assert (number in labels.relevant) == (grade > 0) == (answer == "yes")
        if grade:
            assert labels.grades[labels.relevant.tolist().index(number)] == grade
        assert (number in labels.positives) == (grade == 2)
        spoken = all(
            any(q.base_unit == c.base_unit and concept_grade(c.concept, q.concept) == 2 for q in found) for c in asked
        )
        assert (number in labels.negatives) == (spoken and answer == "no")
    docs_judged = np.concatenate([labels.relevant, labels.negatives])
    order = np.argsort(docs_judged)
    grades = np.concatenate([labels.grades, np.zeros(labels.negatives.size, dtype=np.int8)])[order]
    assert confirmed(asked, docs_judged[order], grades, mentions).all()
    if grades.size:
        assert not confirmed(asked, docs_judged[order], (grades + 1) % 3, mentions).any()


@pytest.mark.parametrize(
    ("asked", "said", "answer"),
    [("", "", "yes"), ("up", "up", "yes"), ("", "up", "unclear"), ("up", "", "unclear"), ("down", "up", "no")],
)
def test_a_change_is_no_level(asked, said, answer):
    mention = Quantity(6, 6, "=", "percentage", "ratio", "one", 0.06, 0.06, ("revenue",), change=said)
    condition = Condition(">", 5, 5, "percentage", "one", 0.05, 0.05, ("revenue",), change=asked)
    assert holds([condition], [mention]) == answer
    assert {"yes": True, "no": False, "unclear": None}[answer] is meets(mention, condition)


def test_words_in_common_and_unknown_concepts_keep_a_sentence_from_being_a_negative():
    def dollars(value, concept):
        return Quantity(value, value, "=", "dollar", "", "dollar", value, value, tuple(concept.split()))

    asked = [Condition(">", 5, 5, "dollar", "dollar", 5, 5, ("net", "income"))]
    broken = dollars(3, "net income")
    assert holds(asked, [broken]) == "no"
    assert holds(asked, [broken, dollars(9, "house price")]) == "no"
    assert holds(asked, [broken, dollars(9, "incomes")]) == "unclear"
    assert holds(asked, [broken, dollars(9, "")]) == "unclear"
    assert holds(asked, [broken, dollars(9, "adjusted net income")]) == "unclear"
    assert holds(asked, [broken, dollars(9, "annual net income")]) == "yes"


def _amount(value, concept, text, at, **more):
    start = text.index(str(value))
    spans = ((text.index(at), text.index(at) + len(at)),)
    words = tuple(concept.split())
    quantity = Quantity(
        value, value, "=", "dollar", "currency", "dollar", value, value, words, concept_spans=spans,
        value_span=(start, start + len(str(value))),
    )  # fmt: skip
    return replace(quantity, **more)


def test_what_may_well_answer_is_undecided():
    said = {
        "very": ("Net income was 9 dollars.", "net income", "Net income", {}),
        "less": ("Income was 9 dollars.", "income", "Income", {}),
        "more": ("Net income target was 9 dollars.", "net income target", "Net income target", {}),
        "far": ("Of its income, net of what the taxman took, 9 dollars remained.", "taxman", "taxman", {}),
        "other": ("The taxman took 9 dollars.", "taxman", "taxman", {}),
        "bare": ("Net income was 9 thousand.", "net income", "Net income", {"unit": "", "base_unit": "", "family": ""}),
        "change": ("Net income rose by 9 dollars.", "net income", "Net income", {"change": "up"}),
        "broken": ("Net income was 3 dollars.", "net income", "Net income", {}),
        "low": ("Income was 3 dollars.", "income", "Income", {}),
    }
    rows = [
        to_row(name, _amount(int(next(filter(str.isdigit, text))), concept, text, at, **more))
        for name, (text, concept, at, more) in said.items()
    ]
    table = pl.DataFrame({"doc_id": list(said), "text": [text for text, *_ in said.values()]})
    mentions = load_mentions(table, pl.DataFrame(rows, schema=quantity_schema()))
    labels = label([Condition(">", 5, 5, "dollar", "dollar", 5, 5, ("net", "income"))], mentions)
    names = list(said)
    assert [names[doc] for doc in labels.relevant] == ["very"]
    assert [names[doc] for doc in labels.undecided] == ["less", "more", "far", "bare", "change"]
    assert [names[doc] for doc in labels.negatives] == ["broken"]


def test_an_amount_of_which_the_scale_may_stand_elsewhere_is_undecided():
    said = {"bare": "Net income was 9 dollars.", "scaled": "Net income in millions was 7.00 dollars."}
    said["cents"] = "Net income was 8.00 dollars."
    rows = [
        to_row(name, _amount(value, "net income", said[name], "Net income", value_span=(start, start + length)))
        for name, value, start, length in (("bare", 9, 15, 1), ("scaled", 7, 27, 4), ("cents", 8, 15, 4))
    ]
    condition = Condition(">", 5e6, 5e6, "dollar", "dollar", 5e6, 5e6, ("net", "income"))
    for sources, expected in ((["a", "a", "a"], ["bare"]), (["a", "b", "a"], [])):
        sentences = pl.DataFrame({"doc_id": [*said], "text": [*said.values()], "source_id": sources})
        mentions = load_mentions(sentences, pl.DataFrame(rows, schema=quantity_schema()))
        assert mentions.doc_ids[label([condition], mentions).undecided].to_list() == expected


def test_with_given_quantities_one_thing_meets_all_conditions():
    def said(concept, value, kind):
        base = Quantity(value, value, "=", "dollar", "currency", "dollar", value, value, tuple(concept.split()))
        return replace(base, concept_spans=(kind, (50 + int(value), 51 + int(value))))

    docs = {
        "one": [said("fridge price", 9.0, (0, 6)), said("fridge fee", 8.0, (0, 6))],
        "two": [
            said("fridge price", 9.0, (0, 6)), said("fridge weight", 3.0, (0, 6)), said("fridge fee", 8.0, (20, 26))
        ],
        "no kind": [said("fridge price", 9.0, (1, 2)), said("fridge fee", 8.0, (3, 4))],
        "no kind, two": [
            said("fridge price", 9.0, (1, 2)), said("fridge fee", 8.0, (3, 4)), said("fridge price", 7.0, (5, 6))
        ],
    }  # fmt: skip
    rows = [to_row(name, quantity) for name, found in docs.items() for quantity in found]
    table = pl.DataFrame({"doc_id": list(docs), "text": list(docs)})
    asked = [Condition(">", 5, 5, "dollar", "dollar", 5, 5, ("fridge", what)) for what in ("price", "fee")]
    names = list(docs)
    for known, relevant in ((True, ["one", "no kind"]), (False, names)):
        mentions = load_mentions(table, pl.DataFrame(rows, schema=quantity_schema()), given=known)
        if not known:
            mentions = replace(mentions, doubt=np.full(len(rows), "", dtype=object))
        labels = label(asked, mentions)
        assert [names[doc] for doc in labels.relevant] == relevant
        assert {names[doc] for doc in labels.undecided} == set(names) - set(relevant)


STRETCHES = ((0, 4), (5, 9), (10, 14))
KINDS = {"en": [("price",), ("fee",), ("list", "price")], "zh": [("冰箱价格",), ("冰箱费用",), ("价格",)]}
ASKED_OF = {"en": [("price",), ("fee",), ("list", "price")], "zh": [("价格",), ("费用",), ("冰箱价格",)]}


@st.composite
def given_mentions(draw, kinds):
    """The mentions of a sentence, in a corpus that came with its quantities: of things by name, or of nothing named."""
    found = []
    for place in range(draw(st.integers(0, 4))):
        value, kind = float(draw(st.sampled_from([3, 9]))), draw(st.sampled_from(kinds))
        bound, unit = draw(st.sampled_from(["=", "=", "~", ">"])), draw(st.sampled_from(["dollar", "dollar", "euro"]))
        spans = tuple(draw(st.lists(st.sampled_from(STRETCHES), max_size=3)))
        base = Quantity(value, value, bound, unit, "currency", unit, value, value, kind)
        change = draw(st.sampled_from(["", "", "", "up"]))
        found.append(replace(base, value_span=(20 + place, 21 + place), concept_spans=spans, change=change))
    return found


def _of_one_thing(conditions, quantities, language):
    """As the rule says it, of one sentence."""
    if len(quantities) > 1 and not any({*a.concept_spans} & {*b.concept_spans} for a, b in combinations(quantities, 2)):
        return len({quantity.concept for quantity in quantities}) == len(quantities)
    meeting = [
        [{*one.concept_spans} for one in quantities if holds([condition], [one], language, given=True) == "yes"]
        for condition in conditions
    ]
    return any(set.intersection(*spans) for spans in product(*meeting))


@pytest.mark.parametrize("language", ["en", "zh"])
@given(st.data())
@settings(deadline=None)
def test_what_is_of_one_thing_is_what_the_rule_says_of_each_sentence(language, data):
    said = data.draw(st.lists(given_mentions(KINDS[language]), min_size=1, max_size=6))
    names = [f"d{number}" for number in range(len(said))]
    rows = [to_row(name, quantity) for name, found in zip(names, said, strict=True) for quantity in found]
    table = pl.DataFrame({"doc_id": names, "text": ["some words of twenty and more letters"] * len(said)})
    asked = [Condition(">", 5, 5, "dollar", "dollar", 5, 5, kind) for kind in ASKED_OF[language]]
    asked = asked[: data.draw(st.integers(2, 3))]
    mentions = load_mentions(table, pl.DataFrame(rows, schema=quantity_schema()), language, given=True)
    expected = [
        doc
        for doc, found in enumerate(said)
        if all(holds([condition], found, language, given=True) == "yes" for condition in asked)
        and _of_one_thing(asked, found, language)
    ]
    assert label(asked, mentions).relevant.tolist() == expected


@given(st.lists(st.integers(0, 3), min_size=1, max_size=14), st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_no_document_has_more_than_its_share_of_what_is_kept(sources, share):
    docs, none = np.arange(len(sources)), np.empty(0, dtype=np.int64)
    mentions = SimpleNamespace(alike=docs, source=np.array([*sources, 9]))
    labels = Labels(docs, np.full(docs.size, 2, dtype=np.int8), docs, none, none)
    kept = capped(labels, mentions, GenerationOptions(document_share=share))
    of_each = Counter(np.array(sources)[kept.relevant].tolist())
    assert kept.relevant.size < FEW or max(of_each.values()) <= share * kept.relevant.size
    assert kept.relevant.size >= min(FEW - 1, docs.size)
    assert sorted([*kept.relevant, *kept.undecided]) == docs.tolist()
    if share == 1.0 or docs.size < FEW:
        assert kept.relevant.size == docs.size


def test_a_corpus_of_one_document_has_no_shares():
    docs, none = np.arange(9), np.empty(0, dtype=np.int64)
    labels = Labels(docs, np.full(9, 2, dtype=np.int8), docs, none, none)
    of_one = SimpleNamespace(alike=docs, source=np.zeros(9, dtype=np.int64))
    assert capped(labels, of_one, GenerationOptions()).relevant.size == 9
    boilerplate = SimpleNamespace(alike=np.zeros(9, dtype=np.int64), source=docs)
    assert capped(labels, boilerplate, GenerationOptions()).relevant.size == 5
