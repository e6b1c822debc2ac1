"""What a batch says of its numbers: which tokens are of which number, what it is, and which numbers satisfy a query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qbench.models.numbers import OPERATORS, Number, Span, UnitList, scientific, token_owners
from qbench.quantities.codes import change_signs, comparator_codes
from qbench.quantities.conditions import BROKEN, MET, UNDECIDED, verdicts
from qbench.quantities.types import Condition
from qbench.quantities.written import asked_numbers, stated_numbers

if TYPE_CHECKING:
    from qbench.training.batch import Batch
    from qbench.training.losses.numeric import Contrast


@dataclass(frozen=True)
class NumericLabels:
    """The m numbers of n texts.

    Attributes:
        owners: shape (n, tokens): the number that a token is part of, in the order of all; -1 for none.
        known: shape (n, tokens), bool: tokens of which it is known whether they are part of a number.
        rows, sources: shape (m,): each number's text, and its mention or condition in that text's list.
        mantissas, exponents: shape (m,); see `qbench.models.numbers.scientific`.
        units: shape (m,), numbers in the list of units.
        operators: shape (m,), positions in `OPERATORS`; -1 where unknown.
    """

    owners: NDArray[np.int64]
    known: NDArray[np.bool_]
    rows: NDArray[np.int64]
    sources: NDArray[np.int64]
    mantissas: NDArray[np.float64]
    exponents: NDArray[np.int64]
    units: NDArray[np.int64]
    operators: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        numbers: Sequence[Sequence[Number]],
        offsets: Sequence[Sequence[Span]],
        width: int,
        units: UnitList,
        unsure: Sequence[Sequence[Span] | None],
    ) -> NumericLabels:
        """The labels of n texts.

        Args:
            numbers: of each text.
            offsets: half-open characters of each text's tokens; (0, 0) for markers.
            width: number of tokens of a text, padding included; those beyond are cut off.
            units: the list of units that the model tells apart.
            unsure: characters of each text that may be of other numbers; None where all others may be.
        """
        owners, first = np.full((len(numbers), width), -1, np.int64), 0
        known = np.ones(owners.shape, dtype=bool)
        for row, (some, tokens, others) in enumerate(zip(numbers, offsets, unsure, strict=True)):
            if some:
                found = token_owners(tokens[:width], [number.span for number in some])
                owners[row, : len(found)] = np.where(found >= 0, found + first, -1)
            if others:
                perhaps = token_owners(tokens[:width], others) >= 0
                known[row, : len(perhaps)] = ~perhaps | (owners[row, : len(perhaps)] >= 0)
            elif others is None:
                known[row] = owners[row] >= 0
            first += len(some)
        flat = [number for some in numbers for number in some]
        mantissas, exponents = scientific([number.value for number in flat])
        return cls(
            owners,
            known,
            np.repeat(np.arange(len(numbers)), [len(some) for some in numbers]),
            np.array([number.source for number in flat], np.int64),
            mantissas,
            exponents,
            units.ids([number.unit for number in flat]),
            np.array([OPERATORS.index(n.operator) if n.operator else -1 for n in flat], np.int64),
        )


_DIGITS = re.compile(r"\d(?:[\d.,]*\d)?")


def unsure_spans(query: str, numbers: Sequence[Number], conditions: Sequence[Condition]) -> list[Span] | None:
    """What may be of a number of a query beside those of its conditions: digits; None, any word, if one is not found.

    >>> asked = Number(300.0, "euro", (21, 24))
    >>> price = Condition("<", 300, 300, "euro", "euro", 300, 300, value_text="300", unit_text="euros")
    >>> unsure_spans("phones of 2019 under 300 euros", [asked], [price])
    [(10, 14), (21, 24)]
    """
    if not conditions or len({number.source for number in numbers}) < len(conditions):
        return None
    return [match.span() for match in _DIGITS.finditer(query)]


def query_numbers(batch: Batch) -> list[list[Number]]:
    """The numbers of each query's conditions."""
    rows = zip(batch.queries, batch.conditions, batch.condition_spans, strict=True)
    return [asked_numbers(text, conditions, spans) for text, conditions, spans in rows]


def text_numbers(batch: Batch) -> list[list[Number]]:
    """The numbers of each text's mentions."""
    return [stated_numbers(text, some) for text, some in zip(batch.texts, batch.mentions, strict=True)]


def satisfaction(batch: Batch, queries: NumericLabels, texts: NumericLabels, mode: Contrast) -> list[NDArray[np.int8]]:
    """Whether the numbers of texts satisfy those of queries: MET, BROKEN, or UNDECIDED, which is neither.

    "unit": both have the same base unit. "numeric": the values, each in its base unit, satisfy the comparator, whatever
    these units are. "joint": both at once. "separate": the first two, each for itself. Both ends of a range that is
    asked for have the verdict of the whole range. NumColBERT, section 2 and appendix A.2.

    Args:
        batch: whose conditions and mentions are compared.
        queries, texts: its q and t numbers.
        mode: what is compared.

    Returns:
        matrices of shape (q, t); two for "separate", else one.
    """
    asked = [batch.conditions[row][at] for row, at in zip(queries.rows, queries.sources, strict=True)]
    stated = [batch.mentions[row][at] for row, at in zip(texts.rows, texts.sources, strict=True)]
    low = np.array([mention.base_value for mention in stated], np.float64)
    high = np.array([mention.base_high for mention in stated], np.float64)
    comparators = comparator_codes(mention.comparator for mention in stated)
    changes = change_signs(mention.change for mention in stated)
    base_units = np.array([mention.base_unit for mention in stated], dtype=object)
    shape = (len(asked), len(stated))
    units, values = np.zeros(shape, np.int8), np.full(shape, UNDECIDED, np.int8)
    for row, condition in enumerate(asked):
        units[row] = np.where(base_units == condition.base_unit, MET, BROKEN)
        if mode != "unit" and stated:
            values[row] = verdicts(low, high, comparators, condition, changes)
    if mode == "unit":
        return [units]
    if mode == "numeric":
        return [values]
    return [units, values] if mode == "separate" else [np.where(units == MET, values, BROKEN).astype(np.int8)]
