"""The mentions of quantities in training texts: samples and documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from qbench.quantities.types import Quantity, Span, from_row, moved, moved_by
from qbench.quantities.units import load_units

if TYPE_CHECKING:
    from qbench.benchmark.benchmark import Benchmark


@dataclass(frozen=True, slots=True)
class Changed:
    """The quantity that was changed in a sample, as the table of samples has it."""

    value: float
    unit: str
    span: Span


@dataclass(frozen=True)
class Mentions:
    """The quantities of training texts; read when they are first needed.

    Attributes:
        benchmark: whose tables have them.
        texts, doc_ids: of samples or documents, and the document that each is, or was made from.
        changed: the quantity that each sample was made for; () for documents.
    """

    benchmark: Benchmark
    texts: Sequence[str]
    doc_ids: Sequence[str]
    changed: Sequence[Changed] = ()

    @property
    def known(self) -> bool:
        """Whether somebody extracted the documents' quantities: a text without any has none then."""
        return self.benchmark.quantities is not None

    @property
    def units(self) -> set[str]:
        """Canonical names of the units of the texts' quantities."""
        found = {changed.unit for changed in self.changed}
        if self.benchmark.quantities is not None:
            found |= set(self.benchmark.quantities.filter(pl.col("doc_id").is_in(sorted(set(self.doc_ids))))["unit"])
        return found

    def of(self, text: int) -> tuple[Quantity, ...]:
        """The quantities of a text (its position), in order, with spans in it; () where nobody extracted them."""
        written, (document, mentions) = self.texts[text], self._documents.get(self.doc_ids[text], ("", ()))
        if written == document and (mentions or not self.changed):
            return mentions
        if self.changed:
            return sample_mentions(document, mentions, written, self.changed[text])
        title = len(written) - len(document)
        return tuple(moved_by(mention, title) for mention in mentions)

    @cached_property
    def _documents(self) -> dict[str, tuple[str, tuple[Quantity, ...]]]:
        """The text of each document, and its quantities in order."""
        of_these = pl.col("doc_id").is_in(sorted(set(self.doc_ids)))
        mentions: dict[str, list[Quantity]] = {}
        if self.benchmark.quantities is not None:
            for row in self.benchmark.quantities.filter(of_these).sort("doc_id", "value_start").iter_rows(named=True):
                mentions.setdefault(row["doc_id"], []).append(from_row(row))
        texts = self.benchmark.corpus.filter(of_these).select("doc_id", "text")
        return {doc_id: (text, tuple(mentions.get(doc_id, ()))) for doc_id, text in texts.iter_rows()}


def sample_mentions(document: str, mentions: Sequence[Quantity], sample: str, changed: Changed) -> tuple[Quantity, ...]:
    """The mentions of a sample that differs from its document by a value or a unit.

    Mentions that the change did not touch move with the text; of those that it touched only the changed one is kept,
    because what the others say now is unknown.

    Args:
        document: the text before.
        mentions: its quantities.
        sample: the text after.
        changed: the quantity that was changed.
    """
    change = _Change.between(document, sample)
    touched = [mention for mention in mentions if change.touches(mention)]
    untouched = [moved(mention, change.shift) for mention in mentions if mention not in touched]
    before = min(touched, key=lambda mention: abs(mention.value_span[0] - changed.span[0]), default=None)
    return tuple(sorted([*untouched, _own(before, changed, change, sample)], key=lambda mention: mention.value_span))


@dataclass(frozen=True, slots=True)
class _Change:
    """What differs between two texts.

    Attributes:
        start, end: of the difference in the first text.
        longer: number of characters that the second text has more.
    """

    start: int
    end: int
    longer: int

    @classmethod
    def between(cls, first: str, second: str) -> _Change:
        start = _common_beginning(first, second)
        tail = _common_beginning(first[start:][::-1], second[start:][::-1])
        return cls(start, len(first) - tail, len(second) - len(first))

    def shift(self, at: int) -> int:
        """Where a position of the first text is in the second."""
        return at if at <= self.start else at + self.longer if at >= self.end else min(at, self.end + self.longer)

    def meets(self, span: Span) -> bool:
        if self.start == self.end:  # characters were only added
            return span[0] <= self.start <= span[1]
        return span[0] < self.end and self.start < span[1]

    def touches(self, mention: Quantity) -> bool:
        return self.meets(mention.value_span) or (mention.unit_span is not None and self.meets(mention.unit_span))


def _own(before: Quantity | None, changed: Changed, change: _Change, sample: str) -> Quantity:
    """The mention that was changed, as it is now."""
    units = load_units()
    unit, base = units.get(changed.unit), units.to_base(changed.value, changed.unit)
    value: dict[str, Any] = {
        "value": changed.value,
        "high": changed.value,
        "unit": changed.unit,
        "family": unit.family,
        "base_unit": unit.base_unit,
        "base_value": base,
        "base_high": base,
        "value_span": changed.span,
    }
    if before is None:
        return Quantity(comparator="=", **value)
    value["unit_span"] = (now := moved(before, change.shift)).unit_span
    if before.unit_span and change.meets(before.unit_span):
        # The new unit stands beside the number, after it or before it.
        start, end = min(before.unit_span[0], change.start), change.shift(max(before.unit_span[1], change.end))
        sides = ((max(start, changed.span[1]), end), (start, min(end, changed.span[0])))
        value["unit_span"] = next((_trimmed(sample, *side) for side in sides if sample[slice(*side)].strip()), None)
    return replace(now, **value)


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def _common_beginning(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
