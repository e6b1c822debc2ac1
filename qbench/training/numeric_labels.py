"""What a batch says of its numbers: which tokens are of which number, what it is, and which numbers satisfy a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qbench.models.numbers import OPERATORS, Number, Span, UnitList, scientific, token_owners
from qbench.quantities.conditions import BROKEN, MET, UNDECIDED, verdicts
from qbench.quantities.written import asked_numbers, stated_numbers

if TYPE_CHECKING:
    from qbench.training.batch import Batch
    from qbench.training.losses.numeric import Contrast


@dataclass(frozen=True)
class NumericLabels:
    """The m numbers of n texts.

    Attributes:
        owners: shape (n, tokens): the number that a token is part of, in the order of all; -1 for none.
        known: shape (n,), bool: texts whose numbers are known, such that all other tokens are of none.
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
        known: Sequence[bool],
    ) -> NumericLabels:
        """The labels of n texts.

        Args:
            numbers: of each text.
            offsets: half-open characters of each text's tokens; (0, 0) for markers.
            width: number of tokens of a text, padding included; those beyond are cut off.
            units: the list of units that the model tells apart.
            known: whether the numbers of a text are known.
        """
        owners, first = np.full((len(numbers), width), -1, np.int64), 0
        for row, (some, tokens) in enumerate(zip(numbers, offsets, strict=True)):
            if some:
                found = token_owners(tokens[:width], [number.span for number in some])
                owners[row, : len(found)] = np.where(found >= 0, found + first, -1)
            first += len(some)
        flat = [number for some in numbers for number in some]
        mantissas, exponents = scientific([number.value for number in flat])
        return cls(
            owners,
            np.asarray(known, dtype=bool),
            np.repeat(np.arange(len(numbers)), [len(some) for some in numbers]),
            np.array([number.source for number in flat], np.int64),
            mantissas,
            exponents,
            units.ids([number.unit for number in flat]),
            np.array([OPERATORS.index(n.operator) if n.operator else -1 for n in flat], np.int64),
        )


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
    comparators = np.array([mention.comparator for mention in stated], dtype=object)
    changes = np.array([mention.change for mention in stated], dtype=object)
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
