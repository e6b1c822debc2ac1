"""Documents that differ in a value alone: how they are written, and which share of pairs is ranked rightly."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from qbench.evaluation.buckets import MAGNITUDES
from qbench.models.numbers import Number
from qbench.quantities.written import asked_numbers
from qbench.training.dev import dev_pool
from qbench.training.reading import reading_figures
from qbench.training.value_order import carriers, order_figures, with_value
from tests.encoder_factories import tiny_bert
from tests.number_factories import WORDS, operator_benchmark

POOL = dev_pool(operator_benchmark(), 20, 0)

WRITTEN = st.lists(st.tuples(st.text("abc ", max_size=5), st.integers(0, 10**7)), min_size=1, max_size=4)


@given(WRITTEN, st.integers(0, 3), st.sampled_from([0.001234, 5.0, 99.95, 1234.0, 1.234e8]))
def test_one_number_changes_and_nothing_else(parts, at, value):
    text, numbers = "", []
    for words, number in parts:
        start = len(text) + len(words) + 1
        text += f"{words} {number}"
        numbers.append(Number(float(number), "metre", (start, len(text)), (len(text), len(text) + 2)))
        text += " m"
    at %= len(numbers)
    changed, moved = with_value(text, numbers, at, value)
    for place, (before, after) in enumerate(zip(numbers, moved, strict=True)):
        written = changed[slice(*after.span)]
        assert float(written.replace(",", "")) == after.value == (value if place == at else before.value)
        assert changed[slice(*after.unit_span)] == text[slice(*before.unit_span)] == " m"
        assert replace(after, value=before.value, span=before.span, unit_span=before.unit_span) == before
    start, end = numbers[at].span
    assert changed.startswith(text[:start])
    assert changed.endswith(text[end:])


def test_a_carrier_is_a_query_with_a_document_that_satisfies_it():
    found = carriers(POOL, 3)
    assert [one.operator for one in found] == ["<"] * 3 + [">"] * 3
    for one in found:
        asked, stated = one.asked[0].value, one.stated[one.at].value
        assert stated < asked if one.operator == "<" else stated > asked
    ranges = [replace(q, conditions=(replace(q.conditions[0], comparator="between"),)) for q in POOL.queries]
    assert carriers(replace(POOL, queries=ranges)) == []


class Judge:
    """Scores pairs by a function of the operator and both values."""

    network = torch.nn.Dropout()

    def __init__(self, judge):
        self.judge = judge

    def embed_numbered(self, texts, role, numbers):
        return [some[0] for some in numbers]

    def scores(self, queries, documents):
        assert not self.network.training
        return torch.tensor([[float(self.judge(a.operator, a.value, b.value)) for b in documents] for a in queries])


@pytest.mark.parametrize(
    ("judge", "less", "more"),
    [
        (lambda operator, a, b: b < a if operator == "<" else b > a, 1.0, 1.0),
        (lambda operator, a, b: b >= a if operator == "<" else b <= a, 0.0, 0.0),
        (lambda operator, a, b: b, 0.0, 1.0),
        (lambda operator, a, b: 1, 0.5, 0.5),
    ],
)
def test_shares_are_of_pairs_that_are_ranked_rightly(judge, less, more):
    found = order_figures(Judge(judge), POOL)
    assert found["order <"] == less
    assert found["order >"] == more
    assert found["order"] == pytest.approx((less + more) / 2)
    assert list(found) == ["order", *(f"order {bucket}" for bucket in MAGNITUDES[1:]), "order <", "order >"]
    assert Judge.network.training


def test_equality_is_compared_with_either_side():
    query = POOL.queries[0]
    asked = asked_numbers(query.text, [replace(query.conditions[0], comparator="=")])
    pool = SimpleNamespace(
        queries=[replace(query, conditions=(replace(query.conditions[0], comparator="="),))],
        query_numbers=[asked],
        doc_ids=["d"],
        texts=[query.text],
        text_numbers=[[replace(asked[0], operator="")]],
        qrels=pl.DataFrame({"query_id": [query.query_id], "doc_id": ["d"], "grade": [1]}),
    )
    assert order_figures(Judge(lambda operator, a, b: b == a), pool)["order ="] == 1
    assert order_figures(Judge(lambda operator, a, b: b), pool)["order ="] == 0.5


def test_a_model_without_heads_has_these_figures_alone(tmp_path):
    plain = tiny_bert(tmp_path / "plain", WORDS, positions=48)
    found = reading_figures(str(plain), operator_benchmark())
    assert found
    assert all(name.startswith("order") and 0 <= share <= 1 for name, share in found.items())


def test_without_a_condition_there_is_none():
    bare = SimpleNamespace(**{**vars(POOL), "queries": [], "query_numbers": []})
    assert order_figures(Judge(lambda *_: 0), bare) == {}
