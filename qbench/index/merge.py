"""From part files to the index's tables, in the order of the corpus and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.errors import InputError
from qbench.index.schemas import arrow, arrow_schema, pair_schema

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

GROUP_ROWS = 1 << 16
GROUP_BYTES = 1 << 24
"""A row group of a merged table is full when it has so many rows, or bytes in memory."""

PAIR_ROWS = 200_000
"""About how many mentions are grouped at a time."""

_SAMPLE = 100_000
"""How many concepts are looked at to cut the concepts into ranges of about `PAIR_ROWS` mentions."""


@contextmanager
def table_writer(path: Path, schema: pa.Schema) -> Iterator[Any]:
    """A Parquet writer whose bytes depend only on the tables that it is given."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        yield writer


def concatenate(parts: Iterable[Path], target: Path, schema: pa.Schema) -> int:
    """Write the rows of all parts, in order, into one Parquet file; returns their number.

    Raises:
        InputError: a part file is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    held: list[pa.Table] = []
    rows = size = total = 0
    with table_writer(target, schema) as writer:
        for part in parts:
            try:
                table = pq.read_table(part, schema=schema)
            except (pa.ArrowException, OSError) as fault:
                message = f"a part file is damaged: {(str(fault).splitlines() or ['unreadable'])[0]}"
                raise InputError(message, file=part, remedy="Delete it, and run the same command again") from fault
            held.append(table)
            rows, size, total = rows + table.num_rows, size + table.nbytes, total + table.num_rows
            if rows >= GROUP_ROWS or size >= GROUP_BYTES:
                writer.write_table(pa.concat_tables(held), row_group_size=rows)
                held, rows, size = [], 0, 0
        if rows:
            writer.write_table(pa.concat_tables(held), row_group_size=rows)
    return total


def write_pairs(quantities: Path, target: Path, limit: int = PAIR_ROWS) -> dict[str, int]:
    """Group the mentions of a quantity table that have a concept into (concept, unit) pairs (schema `pair_schema`).

    Ranges of concepts are grouped one after the other, so that memory depends on `limit` and on the largest concept,
    not on the corpus. The bytes do not depend on `limit`, but for where row groups end.

    Args:
        quantities: the table.
        target: the file to write.
        limit: about how many mentions to group at a time.

    Returns:
        Numbers of "pairs", "concepts" and "units".
    """
    pairs = concepts = 0
    units: set[str] = set()
    schema = arrow_schema(pair_schema())
    with table_writer(target, schema) as writer:
        for low, high in concept_ranges(quantities, limit):
            frame = group_pairs(_mentions(quantities, low, high))
            if frame.is_empty():
                continue
            pairs += frame.height
            concepts += frame["concept"].n_unique()
            units.update(frame["unit"].unique())
            writer.write_table(arrow(frame).cast(schema), row_group_size=GROUP_ROWS)
    return {"pairs": pairs, "concepts": concepts, "units": len(units)}


def concept_ranges(quantities: Path, limit: int) -> list[tuple[str, str | None]]:
    """Half-open ranges [low, high) that hold all concepts, in order; the last one has no upper end (None).

    Each holds about `limit` mentions, by an evenly spaced sample of the rows; more, if one concept has more.
    """
    import pyarrow.parquet as pq

    with pq.ParquetFile(quantities) as table:
        rows = table.metadata.num_rows
        if rows <= limit:
            return [("", None)]
        stride = max(1, rows // _SAMPLE)
        sample: list[str] = []
        seen = 0
        for batch in table.iter_batches(GROUP_ROWS, columns=["concept"]):
            sample += batch.column(0)[-seen % stride :: stride].to_pylist()
            seen += batch.num_rows
    sample.sort()
    cuts = dict.fromkeys(sample[:: max(1, limit // stride)][1:])
    cuts.pop("", None)
    bounds: Sequence[str | None] = ["", *cuts, None]
    return [(low or "", high) for low, high in pairwise(bounds)]


def group_pairs(mentions: pl.DataFrame) -> pl.DataFrame:
    """The pairs of some mentions, sorted by concept and unit; the order of the mentions stays within a pair.

    Args:
        mentions: columns concept, unit, family, base_unit, value, doc_id of a quantity table, in its order.
    """
    import polars as pl

    grouped = mentions.group_by("concept", "unit", maintain_order=True).agg(
        pl.col("family").first(),
        pl.col("base_unit").first(),
        pl.col("value").alias("values"),
        pl.col("doc_id").alias("doc_ids"),
    )
    # Figures are taken of the finished lists: sums then have one order, whatever the number of threads.
    return (
        grouped.with_columns(
            pl.col("values").list.len().cast(pl.UInt32).alias("count"),
            pl.col("doc_ids").list.n_unique().cast(pl.UInt32).alias("sentences"),
            pl.col("values").list.mean().alias("mean"),
            pl.col("values").list.min().alias("low"),
            pl.col("values").list.max().alias("high"),
        )
        .select(list(pair_schema()))
        .sort("concept", "unit")
    )


def _mentions(quantities: Path, low: str, high: str | None) -> pl.DataFrame:
    import polars as pl

    concept = pl.col("concept")
    within = (concept >= low) & (concept != "")
    if high is not None:
        within &= concept < high
    frame = pl.scan_parquet(quantities, glob=False).filter(within)
    return frame.select("concept", "unit", "family", "base_unit", "value", "doc_id").collect()
