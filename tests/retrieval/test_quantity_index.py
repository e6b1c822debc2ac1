"""The quantity index against a plain loop over the mentions."""

from __future__ import annotations

import runpy

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.errors import UnknownNameError
from qbench.quantities.codes import comparator_codes
from qbench.quantities.conditions import MET, verdicts
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.types import Condition, quantity_schema, to_row
from qbench.retrieval import ranker_options
from qbench.retrieval.quantity_index import build_quantity_index, open_quantity_index
from qbench.scoring.phi import FAMILIES, Family, phi
from tests.scoring.reciprocal import reciprocal

DOCS = ["e", "d", "c", "b", "a"]
UNITS = ["", "dollar", "kilogram"]

numbers = st.one_of(st.integers(-4, 12).map(float), st.sampled_from([0.1, 0.3, 1e6, 1e6 + 1, 3e12]))
comparators = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "between"])
mentions = st.lists(
    st.tuples(
        st.sampled_from(DOCS),
        st.sampled_from(UNITS),
        numbers,
        numbers,
        st.sampled_from(["=", "=", "=", "~", "<", "<=", ">", ">=", "between"]),
    ),
    max_size=15,
)


@st.composite
def conditions(draw):
    comparator, unit = draw(comparators), draw(st.sampled_from([*UNITS, "meter"]))
    low, high = sorted((draw(numbers), draw(numbers)))
    high = high if comparator == "between" else low
    return Condition(comparator, low, high, unit, unit, low, high)


def table(rows):
    made = []
    for doc, unit, value, high, comparator in rows:
        low, high = (min(value, high), max(value, high)) if comparator == "between" else (value, value)
        made.append((doc, comparator, unit, unit, low, high))
    return pl.DataFrame(made, {name: quantity_schema()[name] for name in BRIEF}, orient="row")


BRIEF = ("doc_id", "comparator", "unit", "base_unit", "base_value", "base_high")


def by_hand(frame, condition, name, unit, norm="all"):
    """qs by eq. 3, or divided otherwise, and whether the condition is met, document by document."""
    scores, met = [], []
    for doc in DOCS:
        own = frame.filter(doc_id=doc)
        like = own.filter(base_unit=condition.base_unit)
        arrays = (
            like["base_value"].to_numpy(),
            like["base_high"].to_numpy(),
            comparator_codes(like["comparator"]),
        )
        by = {"all": own.height, "unit": like.height, "none": 1}[norm]
        scores.append(phi(name, condition, *arrays[:2], arrays[2], unit).sum() / max(by, 1))
        met.append(bool((verdicts(*arrays, condition) == MET).any()))
    return np.array(scores), np.array(met)


@given(
    mentions,
    st.lists(conditions(), min_size=1, max_size=3),
    st.sampled_from(sorted(FAMILIES)),
    st.sampled_from(["all", "unit", "none"]),
)
@settings(max_examples=60, deadline=None)
def test_scores_and_filter_are_those_of_a_plain_loop(rows, asked, name, norm):
    frame = table(rows)
    index = build_quantity_index(frame, pl.Series(DOCS))
    units = [1.0, 2.0, 0.5][: len(asked)]
    expected = [by_hand(frame, condition, name, unit, norm) for condition, unit in zip(asked, units, strict=True)]
    np.testing.assert_allclose(
        index.scores(asked, name, units, norm), np.mean([scores for scores, _ in expected], axis=0), atol=1e-15
    )
    assert index.satisfied(asked).tolist() == np.all([met for _, met in expected], axis=0).tolist()


def test_an_index_reads_back_as_it_was_written(tmp_path):
    rows = [("a", "dollar", 5.0, 5.0, "="), ("a", "", 1.0, 1.0, "="), ("c", "dollar", 4.0, 9.0, "between")]
    index = build_quantity_index(table(rows), pl.Series(DOCS))
    index.save(tmp_path)
    again = open_quantity_index(tmp_path)
    assert (again.size, again.points, again.intervals) == (index.size, index.points, index.intervals)
    condition = Condition(">", 3, 3, "dollar", "dollar", 3, 3)
    assert again.scores([condition]).tolist() == [0, 0, 3 / 4, 0, 3 / 5 / 2]
    assert again.satisfied([condition]).tolist() == [False, False, True, False, True]


def test_documents_that_are_not_asked_for_are_left_out():
    index = build_quantity_index(table([("elsewhere", "", 5.0, 5.0, "=")]), pl.Series(DOCS))
    assert index.satisfied([Condition("=", 5, 5, "", "", 5, 5)]).sum() == 0


def test_only_values_near_enough_are_touched_by_equality():
    rows = [("a", "", float(value), float(value), "=") for value in range(0, 10_000, 10)]
    index = build_quantity_index(table(rows), pl.Series(DOCS))
    (part,) = index._scoring(Condition("=", 500, 500, "", "", 500, 500), "ratio", 1.0)
    assert part.stop - part.start < 10


def test_a_phi_score_is_a_function_and_a_row(monkeypatch):
    monkeypatch.setitem(FAMILIES, "reciprocal", Family(reciprocal, reciprocal))
    rows = [("a", "", 8.0, 8.0, "="), ("b", "", 5.0, 5.0, "="), ("c", "", 1e6, 1e6, "=")]
    index = build_quantity_index(table(rows), pl.Series(["a", "b", "c"]))
    above, equal = (Condition(comparator, 5, 5, "", "", 5, 5) for comparator in (">", "="))
    np.testing.assert_allclose(index.scores([above], "reciprocal"), [1 / 4, 0, 1 / (1e6 - 4)])
    np.testing.assert_allclose(index.scores([equal], "reciprocal"), [1 / 4, 1, 1 / (1e6 - 4)])
    # The grammar takes the words of the option `phi` from the table.
    options = runpy.run_path(ranker_options.__file__)["QuantityScoreOptions"]
    assert "reciprocal" in options.__dataclass_fields__["phi"].metadata["choices"]


def test_what_is_earned_in_a_year_is_found_as_an_amount():
    texts = ["It earns 5,000,000 USD annually.", "90 cents per share", "It runs 60 km per hour.", "90 fans a day"]
    extractor = get_extractor(ExtractorOptions(spacy_model="none"))
    rows = [to_row(doc, extractor.extract(text)[0]) for doc, text in zip("abcd", texts, strict=True)]
    index = build_quantity_index(pl.DataFrame(rows, quantity_schema()), pl.Series(list("abcd")), extractor.units)

    def found(unit, value):
        made = Condition(">", value, value, unit, unit, value, value)
        assert (index.satisfied([made]) == (index.scores([made]) > 0)).all()
        return "".join(doc for doc, met in zip("abcd", index.satisfied([made]), strict=True) if met)

    assert found("dollar", 4e6) == "a"
    assert found("dollar", 0.5) == "a"  # 90 cents per share are a price, no amount
    assert found("kilometre", 1) == found("metre", 1) == ""
    assert found("fan", 80) == "d"
    assert found("dollar per second", 0.1) == "a"
    assert index.scores([Condition(">", 4e6, 4e6, "dollar", "dollar", 4e6, 4e6)])[0] == pytest.approx(0.8)


def test_a_number_by_a_time_is_found_as_a_number_and_by_any_unit_of_its_kind():
    texts = [
        "A pulse of 110/min.",
        "A pulse of 95 bpm.",
        "A density of 900/km2.",
        "A score of 120.",
        "950 people per km2",
    ]
    extractor = get_extractor(ExtractorOptions(spacy_model="none"))
    rows = [to_row(doc, extractor.extract(text)[0]) for doc, text in zip("abcde", texts, strict=True)]
    index = build_quantity_index(pl.DataFrame(rows, quantity_schema()), pl.Series(list("abcde")), extractor.units)

    def found(query):
        (asked,) = extractor.parse_query(query).conditions
        return "".join(doc for doc, met in zip("abcde", index.satisfied([asked]), strict=True) if met)

    assert found("pulse over 100") == "acd"
    assert found("pulse over 90 per minute") == "ab"
    assert found("pulse over 100 bpm") == "a"
    assert found("density over 2,000 per square mile") == "ce"


def test_an_unknown_family_is_refused():
    index = build_quantity_index(table([]), pl.Series(DOCS))
    with pytest.raises(UnknownNameError):
        index.scores([Condition("=", 5, 5, "", "", 5, 5)], "linear")
