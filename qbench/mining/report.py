"""The report of a mining run: counts, and pairs to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from qbench.randomness import generator
from qbench.store import write_text

REPORT = "report.md"
SAMPLES = 20
_CELL = 300
"""Maximum number of characters of a sentence in the report."""


def write_report(
    folder: Path,
    counts: Mapping[str, Any],
    table: pl.LazyFrame,
    pairs: pl.LazyFrame,
    searched: pl.DataFrame,
    seed: int,
) -> None:
    """Write `report.md`: counts, in all and by digits and unit family, and samples with their evidence.

    Args:
        folder: of the report.
        counts: of the run.
        table: `description_schema`.
        pairs: `pair_schema`.
        searched: columns digits, family, candidates: a row for each description that was searched with.
        seed: of the samples.
    """
    paraphrases = pairs.filter(pl.col("label") == "paraphrase").collect()
    written = table.select("description_id", "family", written="digits")
    named = paraphrases.lazy().join(written, left_on="query_id", right_on="description_id").collect()
    lines = ["# Paraphrases by value coincidence", "", *overview(counts)]
    for title, column, pairs_by in (("digits", "digits", "written"), ("unit family", "family", "family")):
        lines += ["", f"## By {title} of the description searched for", ""]
        lines += _by(column, searched, named.select(pl.col(pairs_by).alias(column)))
    lines += ["", "## Paraphrases by digits on which they agree", ""]
    lines += _table(("digits", "pairs"), _counted(paraphrases["digits"]))
    lines += ["", f"## {SAMPLES} paraphrases to read", "", *samples(table, paraphrases, SAMPLES, seed)]
    write_text(folder / REPORT, "\n".join(lines) + "\n")


def _by(column: str, searched: pl.DataFrame, pairs: pl.DataFrame) -> list[str]:
    """Descriptions, candidates and paraphrases for each value of a column, the most frequent first."""
    rows = (
        searched.group_by(column)
        .agg(pl.len().alias("searched for"), pl.col("candidates").sum())
        .join(pairs.group_by(column).agg(pl.len().alias("paraphrases")), on=column, how="left")
        .with_columns(pl.col("paraphrases").fill_null(0))
        .sort("searched for", column, descending=[True, False])
    )
    lines = [f"| {' | '.join(rows.columns)} |", "|---|---:|---:|---:|"]
    for name, *numbers in rows.iter_rows():
        lines.append(f"| {_inline(str(name)) or '(none)'} | {' | '.join(f'{number:,}' for number in numbers)} |")
    return lines


def samples(table: pl.LazyFrame, pairs: pl.DataFrame, number: int, seed: int) -> list[str]:
    """Random pairs with descriptions, values and sentences, as lines of Markdown; no pair beside its mirror image.

    Args:
        table: `description_schema`.
        pairs: `pair_schema`.
        number: maximum number of pairs.
        seed: of the choice.
    """
    chosen = sample(pairs, number, seed)
    rows = table.select("description_id", "description", "value", "unit", "sentence", "source_id")
    named = pl.concat([chosen["query_id"], chosen["doc_id"]]).unique()
    by_name = {
        row[0]: row for row in rows.filter(pl.col("description_id").is_in(named.implode())).collect().iter_rows()
    }
    lines: list[str] = []
    for n, pair in enumerate(chosen.iter_rows(named=True), start=1):
        lines.append(f"{n}. {pair['digits']} digits, BM25 {pair['score']:.1f}, p_fact {pair['p_fact']:.3f}")
        for side in ("query_id", "doc_id"):
            _, words, value, unit, sentence, source = by_name[pair[side]]
            lines.append(f"   - **{_inline(words)}** = {value:,.15g} {_inline(unit)} ({_inline(source)})")
            if sentence:
                lines.append(f"     > {_inline(sentence)}")
    return lines


def sample(pairs: pl.DataFrame, number: int, seed: int) -> pl.DataFrame:
    """Random pairs, none of them the mirror image of another."""
    order = pl.concat_list(pl.min_horizontal("query_id", "doc_id"), pl.max_horizontal("query_id", "doc_id"))
    once = pairs.unique(order.list.join("\x1f"), keep="first", maintain_order=True) if pairs.height else pairs
    picked = generator(seed, "samples").permutation(once.height)[:number]
    return once[sorted(picked.tolist())]


def overview(counts: Mapping[str, Any]) -> list[str]:
    """The counts of a run as lines of Markdown."""
    plain = ("descriptions", "documents", "searched for", "candidates")
    lines = [f"- {name}: {counts[name]:,}" for name in plain]
    lines += [f"- {name} pairs: {number:,}" for name, number in counts["pairs"].items()]
    per_split = counts["queries with a paraphrase"].items()
    lines += [f"- queries with a paraphrase, {split}: {number:,}" for split, number in per_split]
    lines += [f"- left out, {reason}: {number:,}" for reason, number in counts["left out"].items()]
    return lines


def _counted(column: pl.Series) -> list[tuple[str, int]]:
    pairs = column.value_counts(sort=True).iter_rows()
    return sorted(((str(name), number) for name, number in pairs), key=lambda pair: (-pair[1], pair[0]))


def _table(header: Sequence[str], rows: Sequence[tuple[str, int]]) -> list[str]:
    body = [f"| {_inline(name) or '(none)'} | {number:,} |" for name, number in rows]
    return [f"| {' | '.join(header)} |", "|---|---:|", *body]


def _inline(text: str) -> str:
    """A text on one line with the signs of Markdown escaped; a long one is cut."""
    flat = " ".join(text.split())
    cut = flat if len(flat) <= _CELL else flat[: _CELL - 3] + "..."
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>|#" else c for c in cut)
