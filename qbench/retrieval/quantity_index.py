"""The quantity index: which documents hold which values in which unit (*Numbers Matter*, section 3.2.1).

The mentions of a unit lie together, sorted by value, so that a condition touches only those that can score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.quantities.codes import comparator_codes
from qbench.quantities.conditions import MET, RELATIVE_TOLERANCE, verdicts
from qbench.quantities.types import Condition
from qbench.quantities.units import Units
from qbench.retrieval.rates import amount_of
from qbench.retrieval.stored import mapped, save_arrays
from qbench.scoring.phi import family, phi, phi_of_satisfying
from qbench.store import read_json, write_json

_ARRAYS = (
    "values", "docs", "shares", "unit_shares", "lows", "highs", "comparators", "interval_docs", "interval_shares",
    "interval_unit_shares",
)  # fmt: skip

Norm = Literal["all", "unit", "none"]
"""What a document's Phi scores are divided by: the number of its quantities (eq. 3), of those in the condition's unit
(the code of the paper's authors), or nothing."""


@dataclass(frozen=True)
class QuantityIndex:
    """The mentions of a corpus by base unit.

    Attributes:
        size: number of documents.
        points: base unit -> where its plain numbers lie in `values`, `docs` and `shares`.
        intervals: base unit -> where its ranges and bounded mentions ("more than 5") lie in the other arrays.
        values: shape (p,), in the base unit, ascending within a unit.
        docs: shape (p,), int32, positions of the documents.
        shares: shape (p,), 1 / |Q_i|: one over the number of quantities in the document.
        unit_shares: shape (p,), one over the number of those in the same base unit.
        lows, highs: shape (q,), in the base unit.
        comparators: shape (q,), `comparator_codes`.
        interval_docs, interval_shares, interval_unit_shares: shape (q,), as for points.
    """

    size: int
    points: Mapping[str, slice]
    intervals: Mapping[str, slice]
    values: NDArray[np.float64]
    docs: NDArray[np.int32]
    shares: NDArray[np.float64]
    unit_shares: NDArray[np.float64]
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    comparators: NDArray[np.int8]
    interval_docs: NDArray[np.int32]
    interval_shares: NDArray[np.float64]
    interval_unit_shares: NDArray[np.float64]

    def scores(
        self,
        conditions: Sequence[Condition],
        name: str = "ratio",
        units: Sequence[float] | None = None,
        norm: Norm = "all",
    ) -> NDArray[np.float64]:
        """The quantity scores qs of all documents (eq. 3); for several conditions the mean of theirs.

        Concepts are not compared: in this model the search terms stand for them.

        Args:
            conditions: at least one.
            name: the Phi family.
            units: for each condition, the size of its unit in base units; 1 for all where left out.
            norm: what the sum of a document's Phi scores is divided by.

        Returns:
            shape (size,), each in [0, 1]; with norm="none" at most the number of the document's quantities.
        """
        docs, weights = [np.empty(0, np.int32)], [np.empty(0)]
        for of_part, scores in self.weighted(conditions, name, units, norm):
            docs.append(of_part)
            weights.append(scores)
        means = np.concatenate(weights) / max(len(conditions), 1)
        return np.bincount(np.concatenate(docs), weights=means, minlength=self.size).astype(np.float64, copy=False)

    def weighted(
        self,
        conditions: Sequence[Condition],
        name: str,
        units: Sequence[float] | None,
        norm: Norm,
        among: NDArray[np.float64] | NDArray[np.bool_] | None = None,
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """What `scores` adds up: documents of mentions, and the score of each, divided as `norm` says; shape (n,) each.

        Args:
            conditions, name, units, norm: as for `scores`.
            among: shape (size,), above zero, or true, for the documents that are wanted; None for all.
        """
        family(name)
        shares = {"all": self.shares, "unit": self.unit_shares, "none": None}[norm]
        others = {"all": self.interval_shares, "unit": self.interval_unit_shares, "none": None}[norm]
        for condition, unit in zip(conditions, units or [1.0] * len(conditions), strict=True):
            for where in self._scoring(condition, name, unit):
                part = where if among is None else _held(where, self.docs, among)
                score = phi_of_satisfying(name, condition, self.values[part], unit)
                yield self.docs[part], score if shares is None else score * shares[part]
            if (all_of_them := self.intervals.get(condition.base_unit)) is not None:
                rest = all_of_them if among is None else _held(all_of_them, self.interval_docs, among)
                score = phi(name, condition, self.lows[rest], self.highs[rest], self.comparators[rest], unit)
                yield self.interval_docs[rest], score if others is None else score * others[rest]

    def satisfied(self, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
        """Which documents hold, for every condition, a mention that meets it by unit and value; shape (size,)."""
        satisfying = np.ones(self.size, dtype=bool)
        for condition in conditions:
            holding = np.zeros(self.size, dtype=bool)
            for part in self._meeting(condition):
                holding[self.docs[part]] = True
            if (rest := self.intervals.get(condition.base_unit)) is not None:
                met = verdicts(self.lows[rest], self.highs[rest], self.comparators[rest], condition) == MET
                holding[self.interval_docs[rest][met]] = True
            satisfying &= holding
        return satisfying

    def save(self, folder: Path) -> None:
        """Write the index into a folder; `open_quantity_index` reads it."""
        save_arrays(folder, {name: getattr(self, name) for name in _ARRAYS})
        slices = {
            unit: [x for part in (self.points.get(unit), self.intervals.get(unit)) for x in _ends(part)]
            for unit in sorted({*self.points, *self.intervals})
        }
        write_json(folder / "units.json", {"size": self.size, "units": slices})

    def _meeting(self, condition: Condition) -> Iterator[slice]:
        """Where the plain numbers lie that meet a condition: what `verdicts` says, by binary search."""
        part = self.points.get(condition.base_unit)
        if part is None:
            return
        values, first, last = self.values[part], int(part.start), int(part.stop)
        a, b = condition.base_value, condition.base_high

        def before(edge: float) -> int:
            return first + int(np.searchsorted(values, edge - abs(edge) * RELATIVE_TOLERANCE, side="left"))

        def after(edge: float) -> int:
            return first + int(np.searchsorted(values, edge + abs(edge) * RELATIVE_TOLERANCE, side="right"))

        match condition.comparator:
            case "=" | "between":
                yield slice(before(a), after(b))
            case "!=":
                yield slice(first, before(a))
                yield slice(after(b), last)
            case ">":
                yield slice(after(a), last)
            case ">=":
                yield slice(before(a), last)
            case "<":
                yield slice(first, before(a))
            case "<=":
                yield slice(first, after(a))

    def _scoring(self, condition: Condition, name: str, unit: float) -> Iterator[slice]:
        """Where the plain numbers lie that score; equality is soft, so its neighbours score too."""
        if condition.comparator != "=":
            yield from self._meeting(condition)
        elif (part := self.points.get(condition.base_unit)) is not None:
            x, reach = condition.base_value, family(name).reach(condition.base_value, unit)
            # The tolerance may be wider than the reach: large numbers that differ by rounding alone.
            reach = max(reach, abs(x) * RELATIVE_TOLERANCE)
            first, last = np.searchsorted(self.values[part], (x - reach, x + reach))
            yield slice(part.start + int(first), part.start + int(last))


def build_quantity_index(quantities: pl.DataFrame, doc_ids: pl.Series, units: Units | None = None) -> QuantityIndex:
    """The quantity index of a corpus.

    What is earned or counted in a period ("$5 million annually") is also found as the amount that it is: many ask for
    revenues, salaries and audiences without the period. It counts once in |Q_i|.

    Args:
        quantities: `quantity_schema`; mentions of documents that are not in `doc_ids` are left out.
        doc_ids: shape (n,), the documents in the order in which scores are wanted.
        units: those of the extraction; without them, such rates are found as rates alone.
    """
    counts = quantities.group_by("doc_id").agg(share=1.0 / pl.len())
    quantities = quantities.select("doc_id", "comparator", "unit", "base_unit", "base_value", "base_high")
    if units is not None:
        quantities = pl.concat([quantities, amounts_of_rates(quantities, units)])
    positions = pl.DataFrame({"doc_id": doc_ids, "doc": pl.Series(range(len(doc_ids)), dtype=pl.Int32)})
    point = (pl.col("base_value") == pl.col("base_high")) & pl.col("comparator").is_in(["=", "~", "between"])
    mentions = (
        quantities.join(positions, on="doc_id", how="inner")
        .join(counts, on="doc_id", how="left")
        .with_columns(point=point, unit_share=1.0 / pl.len().over("doc", "base_unit"))
        .sort("base_unit", "base_value", "base_high", "comparator", "doc")
    )
    plain, others = mentions.filter("point"), mentions.filter(~pl.col("point"))
    return QuantityIndex(
        size=len(doc_ids),
        points=_slices(plain),
        intervals=_slices(others),
        values=plain["base_value"].to_numpy(),
        docs=plain["doc"].to_numpy(),
        shares=plain["share"].to_numpy(),
        unit_shares=plain["unit_share"].to_numpy(),
        lows=others["base_value"].to_numpy(),
        highs=others["base_high"].to_numpy(),
        comparators=comparator_codes(others["comparator"]),
        interval_docs=others["doc"].to_numpy(),
        interval_shares=others["share"].to_numpy(),
        interval_unit_shares=others["unit_share"].to_numpy(),
    )


def amounts_of_rates(quantities: pl.DataFrame, units: Units) -> pl.DataFrame:
    """The rates of money and of counted things per time, each as the amount in one period.

    Args:
        quantities: columns unit, base_unit, base_value, base_high and any others.
        units: those of the extraction.

    Returns:
        the rows with such a unit, with the base unit of what is above "per", and values in it.
    """
    rates = [(name, *amount) for name in quantities["unit"].unique() if (amount := amount_of(name, units)) is not None]
    table = pl.DataFrame(rates, {"unit": pl.String, "_base": pl.String, "_factor": pl.Float64}, orient="row")
    return (
        quantities.join(table, on="unit", how="inner", maintain_order="left")
        .with_columns(pl.col("base_value", "base_high") * pl.col("_factor"), base_unit="_base")
        .select(quantities.columns)
    )


def open_quantity_index(folder: Path) -> QuantityIndex:
    """A quantity index that `QuantityIndex.save` wrote, its arrays mapped into memory."""
    about = read_json(folder / "units.json")
    slices = about["units"].items()
    return QuantityIndex(
        size=about["size"],
        points={unit: slice(ends[0], ends[1]) for unit, ends in slices if ends[1] > ends[0]},
        intervals={unit: slice(ends[2], ends[3]) for unit, ends in slices if ends[3] > ends[2]},
        **{name: mapped(folder, name) for name in _ARRAYS},
    )


def _held(part: slice, docs: NDArray[np.int32], among: NDArray[np.float64] | NDArray[np.bool_]) -> NDArray[np.int32]:
    """The positions in a part whose document is above zero in `among`."""
    from qbench.scoring.posting_kernel import held

    positions = np.empty(part.stop - part.start + 1, np.int32)
    return positions[: held(part.start, part.stop, docs, among, positions)]


def _slices(mentions: pl.DataFrame) -> dict[str, slice]:
    """Where each base unit lies in a table that is sorted by it."""
    counts = mentions.group_by("base_unit", maintain_order=True).agg(pl.len())
    ends = counts["len"].cum_sum().to_list()
    starts = [0, *ends][: len(ends)]
    return {unit: slice(a, b) for unit, a, b in zip(counts["base_unit"], starts, ends, strict=True)}


def _ends(part: slice | None) -> tuple[int, int]:
    return (0, 0) if part is None else (part.start, part.stop)
