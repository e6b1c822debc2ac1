"""What a person wants to see of an index, as lines of plain text: counts, top pairs, a histogram, examples."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from qbench.errors import UnknownNameError
from qbench.quantities.languages import not_read
from qbench.quantities.mentions import quantity_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qbench.index.disk import Index

BINS = 16
BAR = 40
"""Rows of a histogram, and width of its longest bar in characters."""

_BLOCKS = " ▏▎▍▌▋▊▉█"
_WIDE_RANGE = 1000.0
"""A histogram is logarithmic where the 95th percentile is so many times the 5th."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Example:
    """A sentence with one mention in it, as `stated` shows it; `start` and `end` are the mention's span in `text`."""

    doc_id: str
    quantity: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Selection:
    """The mentions that a concept, a unit or both select.

    Attributes:
        title: what was asked for.
        values: (n,) float64 values; in `unit` where one was asked for.
        units: unit -> number of mentions, most frequent first.
        concepts: concept -> number of mentions, most frequent first.
        unit: the unit of all values, or None where there are several.
    """

    title: str
    values: NDArray[np.float64]
    units: dict[str, int]
    concepts: dict[str, int]
    unit: str | None


def printable(text: str) -> str:
    """Text from a corpus, fit for a terminal: each control or direction character becomes a space."""
    return _UNPRINTABLE.sub(" ", text)


def number(value: float) -> str:
    """A value with up to 6 significant digits, thousands separated.

    >>> number(3500000.0), number(0.25), number(1e21)
    ('3,500,000', '0.25', '1e+21')
    """
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if 1e3 <= abs(value) < 1e15:
        return f"{value:,.2f}".removesuffix(".00")
    return f"{value:.6g}"


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Rows of cells as lines with aligned columns, two spaces between; the columns in `right` flush right."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def counts_lines(index: Index) -> list[str]:
    """How much there is, and what was left out."""
    counts = index.summary()
    kinds = ("documents", "sentences", "quantities", "pairs", "concepts", "units")
    lines = [", ".join(f"{counts[kind]:,} {kind}" for kind in kinds)]
    if counts["bad"]:
        lines.append("left out: " + ", ".join(f"{count:,} ({reason})" for reason, count in counts["bad"].items()))
        lines.append(_whether_normal(sum(counts["bad"].values()), counts["documents"]))
    if counts.get("unread"):
        options = index.extractor_options()
        lines.append(not_read(counts["unread"], options.language, options.name, "sentences"))
        if ";" in lines[-1]:
            lines.append("an index has one language: give the others' documents a corpus and an index of their own")
    if counts["mended"]:
        lines.append("mended: " + ", ".join(f"{count:,} ({reason})" for reason, count in counts["mended"].items()))
    if counts["ignored_files"]:
        lines.append(f"files of unknown format, not read: {counts['ignored_files']:,}")
    return lines


_BAD = 0.01
"""Share of bad records that is normal in text that was gathered."""


def _whether_normal(bad: int, documents: int) -> str:
    share = bad / (bad + documents)
    told = f"that is {100 * share:.2g} % of the records, "
    if share <= _BAD:
        return told + "which is normal"
    return told + "which is not normal: look at them, and at the options that name the format and the fields"


def top_pairs_frame(index: Index, top: int) -> pl.DataFrame:
    """The pairs with most mentions: concept, unit, mentions, sentences, mean, low, high."""
    columns = ["concept", "unit", pl.col("count").alias("mentions"), "sentences", "mean", "low", "high"]
    order = ["mentions", "concept", "unit"]
    return index.collected(index.pairs().select(columns).sort(order, descending=[True, False, False]).head(top))


def top_pairs(index: Index, top: int) -> list[str]:
    """The lines of `top_pairs_frame`."""
    frame = top_pairs_frame(index, top)
    rows = [frame.columns]
    for concept, unit, *numbers in frame.with_columns(pl.col("mentions", "sentences").cast(pl.Float64)).rows():
        rows.append([_clip(concept), unit_name(unit), *map(number, numbers)])
    return aligned(rows, right=(2, 3, 4, 5, 6))


def top_units(index: Index, top: int) -> list[str]:
    """The units with most mentions; those of mentions without a concept count too."""
    frame = index.collected(
        index.quantities()
        .group_by("unit", "family")
        .agg(pl.len().alias("mentions"), pl.col("concept").filter(pl.col("concept") != "").n_unique().alias("concepts"))
        .sort("mentions", "unit", "family", descending=[True, False, False])
        .head(top)
    )
    rows = [["unit", "family", "mentions", "concepts"]]
    rows += [[unit_name(unit), family, f"{n:,}", f"{m:,}"] for unit, family, n, m in frame.rows()]
    return aligned(rows, right=(2, 3))


def unit_name(unit: str) -> str:
    """The unit's name for a person."""
    return _clip(unit) or "(no unit)"


def select(index: Index, concept: str | None, unit: str | None) -> Selection:
    """The mentions of a concept, of a unit, or of both.

    Args:
        index: where to look.
        concept: its words, in order; upper and lower case alike.
        unit: a unit's name, or a surface form of one; "" for mentions without a unit.

    Raises:
        UnknownNameError: nothing matches; close names are given.
    """
    pairs = index.pairs()
    named = []
    if concept is not None:
        concept = " ".join(concept.lower().split())
        pairs = pairs.filter(pl.col("concept") == concept)
        named.append(f"concept {concept!r}")
    if unit is not None:
        unit = _unit(index, unit)
        pairs = pairs.filter(pl.col("unit") == unit)
        named.append(f"unit {unit_name(unit)!r}")
    selected = index.collected(pairs.select("concept", "unit", "count", "values"))
    if selected.is_empty():
        raise UnknownNameError(
            f"nothing in this index with {' and '.join(named)}", remedy=_suggest(index, concept, unit)
        )
    units = _tally(selected, "unit")
    values = selected["values"].explode(empty_as_null=False).drop_nulls().to_numpy()
    only = next(iter(units)) if len(units) == 1 else None
    return Selection(", ".join(named), values, units, _tally(selected, "concept"), only)


def histogram(values: NDArray[np.float64], bins: int = BINS) -> list[str]:
    """A histogram as lines with bars; bins equal in width, or in ratio where most are positive and the range is wide.

    Args:
        values: (n,) finite values, n > 0.
        bins: number of bins; fewer where there are fewer different values.
    """
    import numpy as np

    positive = values[values > 0]
    if len(positive) > len(values) / 2:
        early, late = np.quantile(positive, [0.05, 0.95])
        if late >= _WIDE_RANGE * early:
            rows = _bins(positive, np.geomspace(positive.min(), positive.max(), bins + 1))
            below = len(values) - len(positive)
            return _bars([("", "0 or less", below), *rows] if below else rows)
    low, high = float(values.min()), float(values.max())
    bins = max(1, min(bins, len(np.unique(values)))) if low < high else 1
    return _bars(_bins(values, low + (high - low) * (np.arange(bins + 1) / bins)))


def _bins(values: NDArray[np.float64], edges: NDArray[np.float64]) -> list[tuple[str, str, int]]:
    """(from, to, number of values) of each bin; the last one holds its upper edge."""
    import numpy as np

    # The outer edges may miss the extremes by a rounding error.
    counts = np.bincount(
        np.clip(np.searchsorted(edges, values, "right") - 1, 0, len(edges) - 2), minlength=len(edges) - 1
    )
    return [(number(float(a)), number(float(b)), int(n)) for (a, b), n in zip(pairwise(edges), counts, strict=True)]


def _bars(rows: list[tuple[str, str, int]]) -> list[str]:
    most = max(count for _, _, count in rows)
    return aligned(
        [[low, "-" if low else "", high, f"{count:,}", _bar(count / most)] for low, high, count in rows],
        right=(0, 2, 3),
    )


def figures(values: NDArray[np.float64]) -> list[str]:
    """Number, mean, quantiles and most frequent values of a distribution."""
    import numpy as np

    quantiles = np.quantile(values, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1])
    names = ("lowest", "5 %", "25 %", "median", "75 %", "95 %", "highest")
    distinct, counts = np.unique(values, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:8]
    return [
        f"{len(values):,} mentions, {len(distinct):,} different values, mean {number(float(values.mean()))}",
        ", ".join(f"{name} {number(float(value))}" for name, value in zip(names, quantiles, strict=True)),
        "most frequent: " + ", ".join(f"{number(float(distinct[i]))} ({counts[i]:,})" for i in frequent),
    ]


def examples(index: Index, concept: str | None, unit: str | None, count: int) -> list[Example]:
    """Sentences with a mention of the selection, spread evenly over its values, lowest first."""
    mentions = index.quantities().filter(pl.col("concept") != "")
    if concept is not None:
        mentions = mentions.filter(pl.col("concept") == " ".join(concept.lower().split()))
    if unit is not None:
        mentions = mentions.filter(pl.col("unit") == _unit(index, unit))
    spans = ["value_start", "value_end", "unit_start", "unit_end"]
    columns = ["doc_id", "value", "high", "comparator", "change", "unit", *spans]
    selected = (
        index.collected(mentions.select(columns))
        .sort("value", "doc_id", "value_start")
        .unique("doc_id", maintain_order=True)
    )
    if selected.height > count:
        selected = selected[[round(i * (selected.height - 1) / max(1, count - 1)) for i in range(count)]]
    wanted = selected["doc_id"].to_list()
    texts = dict(
        index.collected(index.sentences().filter(pl.col("doc_id").is_in(wanted)).select("doc_id", "text")).iter_rows()
    )
    shown = []
    for doc_id, value, high, comparator, change, name, start, end, unit_start, unit_end in selected.rows():
        ends = [start, end] + ([unit_start, unit_end] if unit_start >= 0 else [])
        quantity = printable(quantity_text(value, high, comparator, change, name or "(no unit)"))
        shown.append(Example(doc_id, quantity, printable(texts[doc_id]), min(ends), max(ends)))
    return shown


def _bar(share: float) -> str:
    eighths = round(share * BAR * 8)
    if share > 0:
        eighths = max(eighths, 1)
    return "█" * (eighths // 8) + _BLOCKS[eighths % 8].strip()


def _clip(text: str, width: int = 60) -> str:
    text = printable(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def _tally(pairs: pl.DataFrame, column: str) -> dict[str, int]:
    grouped = pairs.group_by(column).agg(pl.col("count").sum()).sort("count", column, descending=[True, False])
    return dict(grouped.iter_rows())


def _unit(index: Index, unit: str) -> str:
    """The canonical name of a unit: as it is in the index, or by a surface form that the extractor knows."""
    if index.collected(index.pairs().filter(pl.col("unit") == unit).head(1)).height:
        return unit
    from qbench.quantities.units import load_units

    match = load_units(index.extractor_options().units_file).lookup(unit)
    return unit if match is None else match.name


def _suggest(index: Index, concept: str | None, unit: str | None) -> str:
    """What the person may have meant."""
    pairs = index.pairs()
    if concept is not None and unit is not None:
        for column, value, other in (("concept", concept, "unit"), ("unit", unit, "concept")):
            there = index.collected(pairs.filter(pl.col(column) == value).sort("count", descending=True).head(8))
            if there.height:
                listed = ", ".join(repr(_clip(name)) for name in there[other])
                return f"With the {column} {value!r} there are, by {other}: {listed}"
    if concept:
        words = [re.escape(word) for word in concept.split()]
        similar = pl.col("concept").str.contains("|".join(words))
        ranked = pairs.group_by("concept").agg(pl.col("count").sum()).sort("count", "concept", descending=[True, False])
        names = index.collected(ranked.filter(similar).head(8))["concept"].to_list()
        names = names or difflib.get_close_matches(
            concept, index.collected(ranked.head(20_000))["concept"].to_list(), 8
        )
        what = "concepts"
    else:
        ranked = pairs.group_by("unit").agg(pl.col("count").sum()).sort("count", "unit", descending=[True, False])
        units = index.collected(ranked)["unit"].to_list()
        names = difflib.get_close_matches(unit or "", units, 8) or units[:8]
        what = "units"
    return f"Close {what}: " + (", ".join(repr(_clip(name)) for name in names) or "none")
