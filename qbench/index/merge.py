"""From shards to the index's tables, in the order of the corpus and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from qbench.corpora.streams import reading_parquet
from qbench.index.schemas import Schema, arrow, arrow_schema, pair_schema
from qbench.quantities.types import quantity_schema
from qbench.randomness import generator

GROUP_ROWS = 1 << 16
GROUP_BYTES = 1 << 24
"""A row group of a merged table is full when it has so many rows, or bytes in memory."""

PAIR_ROWS = 50_000
"""About how many mentions are grouped at a time."""

ROWS_HELD = 20_000
"""Rows that `TableRows` keeps in memory."""

_SAMPLE = 100_000
_MOST_RANGES = 256
"""How many concepts are looked at to cut them into ranges, and how many ranges there may be (each is an open file)."""


@contextmanager
def table_writer(path: Path, schema: pa.Schema) -> Iterator[Any]:
    """A Parquet writer whose bytes depend only on the tables that it is given."""
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        yield writer


def concatenate(shards: Iterable[Path], target: Path, schema: pa.Schema) -> int:
    """Write the rows of all shards, in order, into one Parquet file; returns their number.

    Raises:
        InputError: a shard is damaged.
    """
    held: list[pa.Table] = []
    rows = size = total = 0
    with table_writer(target, schema) as writer:
        for shard in shards:
            damaged = reading_parquet(shard, "a shard is damaged", "Delete it, and run the same command again")
            with damaged, pq.ParquetFile(shard) as file:  # pq.read_table would import pandas
                table = file.read().cast(schema)
            held.append(table)
            rows, size, total = rows + table.num_rows, size + table.nbytes, total + table.num_rows
            if rows >= GROUP_ROWS or size >= GROUP_BYTES:
                write_group(writer, pa.concat_tables(held))
                held, rows, size = [], 0, 0
        if rows:
            write_group(writer, pa.concat_tables(held))
    return total


def write_group(writer: pq.ParquetWriter, rows: pa.Table) -> None:
    """Write a row group, whose bytes depend on its rows alone: Arrow's pages end where the pieces of a table do."""
    writer.write_table(rows.combine_chunks(), row_group_size=rows.num_rows)


def write_frames(frames: Iterable[pl.DataFrame], target: Path, schema: Schema) -> int:
    """Write the rows of all frames, in order, into one Parquet file; returns their number.

    The bytes do not depend on how the rows are cut into frames.
    """
    held, total = pl.DataFrame(schema=schema), 0
    with table_writer(target, arrow_schema(schema)) as writer:
        for frame in frames:
            total += frame.height
            held = pl.concat([held, frame])
            while held.height >= GROUP_ROWS:
                write_group(writer, arrow(held.head(GROUP_ROWS)))
                held = held.slice(GROUP_ROWS)
        if held.height:
            write_group(writer, arrow(held))
    return total


def write_pairs(quantities: Path, target: Path, limit: int = PAIR_ROWS) -> dict[str, int]:
    """Group the mentions of a quantity table that have a concept into (concept, unit) pairs (schema `pair_schema`).

    The mentions are first dealt to scratch files by ranges of concepts, and then grouped file by file, so that memory
    depends on `limit` and on the largest concept, not on the corpus. The rows do not depend on `limit`.

    Args:
        quantities: the table.
        target: the file to write.
        limit: about how many mentions to group at a time; more, where that would make over 256 files.

    Returns:
        Numbers of "pairs", "concepts" and "units".
    """
    pairs = concepts = 0
    units: set[str] = set()
    schema = arrow_schema(pair_schema())
    with (
        TemporaryDirectory(prefix=".pairs-", dir=target.parent) as scratch,
        table_writer(target, schema) as writer,
    ):
        for dealt in _deal(quantities, concept_cuts(quantities, limit), Path(scratch)):
            with pa.OSFile(str(dealt)) as file:
                frame = group_pairs(pl.DataFrame(pl.from_arrow(pa.ipc.open_stream(file).read_all())))
            pairs += frame.height
            concepts += frame["concept"].n_unique()
            units.update(frame["unit"].unique())
            writer.write_table(arrow(frame).cast(schema), row_group_size=GROUP_ROWS)
    return {"pairs": pairs, "concepts": concepts, "units": len(units)}


def concept_cuts(quantities: Path, limit: int) -> list[str]:
    """Concepts that cut all concepts, sorted, into ranges of about `limit` mentions each, by a random sample."""
    with pq.ParquetFile(quantities) as table:
        rows = table.metadata.num_rows
        limit = max(limit, rows // _MOST_RANGES)
        if rows <= limit:
            return []
        # A sample of every n-th row would fall in step with corpora that repeat a pattern.
        random = generator(0, "concept ranges")
        sample: list[str] = []
        for batch in table.iter_batches(GROUP_ROWS, columns=["concept"]):
            chosen = random.random(batch.num_rows) < _SAMPLE / rows
            sample += pl.DataFrame(pl.from_arrow(batch))["concept"].filter(pl.Series(chosen)).to_list()
    sample.sort()
    return sorted(set(sample[:: max(1, round(len(sample) * limit / rows))]) - {"", *sample[:1]})


def _deal(quantities: Path, cuts: list[str], scratch: Path) -> list[Path]:
    """Write the mentions that have a concept into one Arrow file per range of concepts, in the order of the table."""
    columns = ["concept", "unit", "family", "base_unit", "value", "doc_id"]
    schema = arrow_schema({name: quantity_schema()[name] for name in columns})
    files = [scratch / f"{number:04d}.arrow" for number in range(len(cuts) + 1)]
    with ExitStack() as stack, pq.ParquetFile(quantities) as table:
        writers = [
            stack.enter_context(pa.ipc.new_stream(stack.enter_context(pa.OSFile(str(file), "wb")), schema))
            for file in files
        ]
        for batch in table.iter_batches(GROUP_ROWS, columns=columns):
            frame = pl.DataFrame(pl.from_arrow(batch)).filter(pl.col("concept") != "")
            cut = pl.Series(cuts, dtype=pl.String).search_sorted(frame["concept"], side="right")
            for (number,), part in (
                frame.with_columns(cut.alias("cut")).partition_by("cut", as_dict=True, include_key=False).items()
            ):
                writers[number].write_table(arrow(part.select(columns)))
    return files


def group_pairs(mentions: pl.DataFrame) -> pl.DataFrame:
    """The pairs of some mentions, sorted by concept and unit; the order of the mentions stays within a pair.

    Args:
        mentions: columns concept, unit, family, base_unit, value, doc_id of a quantity table, in its order.
    """
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


class TableRows:
    """A Parquet file that grows block by block, from rows as dicts."""

    def __init__(self, path: Path, schema: dict[str, Any]) -> None:
        # Nested lists go from Python to Arrow several times faster than to polars.
        self._schema = arrow_schema(schema)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._held: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        """Append a row."""
        self._held.append(row)
        if len(self._held) >= ROWS_HELD:
            self._flush()

    def __enter__(self) -> TableRows:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is held, and the file's end."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if not self._held:
            return
        columns = {name: [row[name] for row in self._held] for name in self._schema.names}
        self._writer.write_table(pa.Table.from_pydict(columns, schema=self._schema))
        self._held.clear()
