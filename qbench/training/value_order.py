"""How well any trained retriever compares values: two documents that differ in a value alone, ranked by its score.

A held-out query with one condition gets a new value, and so does a number in a document that is relevant to it. The
document is written three times, with a value below the one asked for, equal to it and above it; which of them satisfies
the query is known. New values are those of `qbench.training.number_figures.value_pairs`, by magnitude.

The share of pairs in which the document that satisfies has the higher score is *DeepQuant*'s comparison accuracy for
models that have no comparison networks: chance is 1/2, and a tie is half a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from qbench.evaluation.buckets import MAGNITUDES
from qbench.models.numbers import OPERATORS, Number, Span
from qbench.training.deepquant import comparison_holds
from qbench.training.number_figures import ValuePair, value_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qbench.training.dev import DevPool
    from qbench.training.students import Student

CARRIERS = 8
"""Queries of each operator whose values are replaced, each with a relevant document."""


@dataclass(frozen=True)
class Carrier:
    """A query, and a document that is relevant to it: texts whose values are replaced.

    Attributes:
        query, document: texts.
        asked, stated: their numbers.
        at: which number of the document satisfies the query's.
    """

    query: str
    asked: list[Number]
    document: str
    stated: list[Number]
    at: int

    @property
    def operator(self) -> str:
        """What the query asks of its number, one of `OPERATORS`."""
        return self.asked[0].operator


def with_value(text: str, numbers: Sequence[Number], at: int, value: float) -> tuple[str, list[Number]]:
    """A text with another value in the place of one of its numbers, and its numbers then.

    Args:
        text: the text.
        numbers: ascending, without overlaps.
        at: which of them is replaced.
        value: written in digits.

    >>> numbers = [Number(2.0, "", (0, 1)), Number(3.5e6, "gram", (11, 22))]
    >>> with_value("2 lamps of 3.5 million grams", numbers, 1, 4200.0)[0]
    '2 lamps of 4,200 grams'
    """
    start, end = numbers[at].span
    written = f"{value:,.12g}"
    longer = len(written) - (end - start)
    moved = [
        replace(
            number,
            span=_moved(number.span, end, longer),
            unit_span=number.unit_span and _moved(number.unit_span, end, longer),
        )
        for number in numbers
    ]
    moved[at] = replace(moved[at], value=value, span=(start, start + len(written)))
    return text[:start] + written + text[end:], moved


def _moved(span: Span, end: int, by: int) -> Span:
    return span if span[0] < end else (span[0] + by, span[1] + by)


def carriers(pool: DevPool, most: int = CARRIERS) -> list[Carrier]:
    """Queries with one number, each with its first relevant document that states a number in the same unit.

    Args:
        pool: held-out queries and documents.
        most: largest number for each operator.
    """
    places = {doc_id: place for place, doc_id in enumerate(pool.doc_ids)}
    relevant = pool.qrels.filter(pl.col("grade") > 0).sort("query_id", "doc_id")
    documents: dict[str, list[str]] = dict(relevant.group_by("query_id", maintain_order=True).agg("doc_id").iter_rows())
    found: dict[str, list[Carrier]] = {operator: [] for operator in OPERATORS}
    for query, asked in zip(pool.queries, pool.query_numbers, strict=True):
        if [condition.comparator == "between" for condition in query.conditions] != [False] or len(asked) != 1:
            continue
        kept = found.get(asked[0].operator)
        if kept is None or len(kept) >= most:
            continue
        for place in (places[doc_id] for doc_id in documents.get(query.query_id, ())):
            stated = pool.text_numbers[place]
            fits = (at for at, number in enumerate(stated) if _satisfies(asked[0], number))
            if (at := next(fits, None)) is not None:
                kept.append(Carrier(query.text, asked, pool.texts[place], stated, at))
                break
    return [carrier for some in found.values() for carrier in some]


def _satisfies(asked: Number, stated: Number) -> bool:
    holds = comparison_holds([asked.value], [stated.value])[0, 0]
    return stated.unit == asked.unit and bool(holds[OPERATORS.index(asked.operator)])


def order_figures(student: Student, pool: DevPool) -> dict[str, float]:
    """Shares of pairs that are ranked rightly: "order" of all, "order BUCKET" by magnitude, "order <" by operator.

    Args:
        student: what scores; it is asked without gradients.
        pool: held-out queries and documents.

    Returns:
        {} where no query has a relevant document that states a number in its unit.
    """
    import torch

    carrying = carriers(pool)
    if not carrying:
        return {}
    training = student.network.training
    student.network.eval()
    rows: list[tuple[str, str, float]] = []
    with torch.no_grad():
        pairs = value_pairs(len(carrying))
        triples = list(zip(*[iter(pairs)] * len(OPERATORS), strict=True))
        for start in range(0, len(triples), len(carrying)):
            block = triples[start : start + len(carrying)]
            for carrier, values, scores in zip(carrying, block, _scores(student, carrying, block), strict=True):
                shares = _won(carrier.operator, values, scores.tolist())
                rows += [(values[0].bucket, carrier.operator, share) for share in shares]
    student.network.train(training)
    table = pl.DataFrame(rows, schema={"bucket": pl.String, "operator": pl.String, "won": pl.Float64}, orient="row")
    return {
        "order": _mean(table),
        **{f"order {bucket}": _mean(table.filter(bucket=bucket)) for bucket in MAGNITUDES[1:]},
        **{f"order {op}": _mean(part) for op in OPERATORS if (part := table.filter(operator=op)).height},
    }


def _mean(table: pl.DataFrame) -> float:
    return float(np.mean(table["won"].to_numpy()))


def _scores(
    student: Student, carrying: Sequence[Carrier], triples: Sequence[tuple[ValuePair, ...]]
) -> NDArray[np.float64]:
    """The scores of each carrier's documents with each of its three values, shape (carriers, 3)."""
    asked = [
        with_value(carrier.query, carrier.asked, 0, values[0].asked)
        for carrier, values in zip(carrying, triples, strict=True)
    ]
    stated = [
        with_value(carrier.document, carrier.stated, carrier.at, one.stated)
        for carrier, values in zip(carrying, triples, strict=True)
        for one in values
    ]
    queries = student.embed_numbered([text for text, _ in asked], "query", [numbers for _, numbers in asked])
    documents = student.embed_numbered([text for text, _ in stated], "document", [numbers for _, numbers in stated])
    all_scores: NDArray[np.float64] = student.scores(queries, documents).double().cpu().numpy()
    return np.array([row[3 * n : 3 * n + 3] for n, row in enumerate(all_scores)])


def _won(operator: str, values: Sequence[ValuePair], scores: Sequence[float]) -> list[float]:
    """1 for each pair whose satisfying document has the higher score, 0 if the other has, 1/2 for a tie.

    An equal value may satisfy "at least" and "at most", and is left out where one of these, or a plain bound, is asked.
    """
    wrong = set(OPERATORS) - {operator} if operator == "=" else set(OPERATORS) - {operator, "="}
    right = [score for one, score in zip(values, scores, strict=True) if one.operator == operator]
    others = [score for one, score in zip(values, scores, strict=True) if one.operator in wrong]
    return [float(good > bad) + 0.5 * (good == bad) for good in right for bad in others]
