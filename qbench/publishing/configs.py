"""The configurations of a data set: tables with the splits and columns that other tools load."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.export import triple_texts
from qbench.benchmark.types import SPLITS

Configs = Mapping[str, Mapping[str, pl.DataFrame]]
"""Configuration -> split -> rows."""

SHARD = 256 << 20
"""Approximate bytes in memory per Parquet file; a broken upload continues with the file that broke off."""

TABLES: Mapping[str, Mapping[str, str]] = {
    "benchmark": {"conditions": "queries", "quantities": "quantities", "facts": "facts", "samples": "samples"},
    "pairs": {"mined": "pairs", "descriptions": "descriptions"},
    "descriptions": {"descriptions": "descriptions"},
}
"""Kind of artefact -> configuration -> the artefact's own table that it shows unchanged."""


def benchmark_configs(benchmark: Benchmark, *, texts: bool = True) -> Configs:
    """The layout of MTEB's retrieval tasks, and triples in that of sentence-transformers.

    Args:
        benchmark: the benchmark.
        texts: whether the corpus' texts may be published; without them there are neither corpus nor triples.

    Returns:
        corpus (`_id`, `title`, `text`) and queries (`_id`, `text`), one split each; qrels (`query-id`, `corpus-id`,
        `score`) and triples (`anchor`, `positive`, `negative`) with the benchmark's splits; none without rows.
    """
    queries = benchmark.query_table()
    parts = queries.select("query_id", "split")
    qrels = benchmark.qrels.join(parts, on="query_id", how="left", maintain_order="left").select(
        pl.col("query_id").alias("query-id"),
        pl.col("doc_id").alias("corpus-id"),
        pl.col("grade").cast(pl.Int32).alias("score"),
        "split",
    )
    configs = {
        "queries": {"queries": queries.select(pl.col("query_id").alias("_id"), "text")},
        "qrels": _by_split(qrels),
    }
    if texts:
        corpus = benchmark.corpus.select(pl.col("doc_id").alias("_id"), "title", "text")
        configs = {"corpus": {"corpus": corpus}, **configs, "triples": _by_split(triple_texts(benchmark))}
    filled = {name: {s: f for s, f in splits.items() if f.height} for name, splits in configs.items()}
    return {name: splits for name, splits in filled.items() if splits}


def pair_configs(pairs: pl.DataFrame, descriptions: pl.DataFrame) -> Configs:
    """Mined pairs in the layout of sentence-transformers' losses for labelled pairs.

    Args:
        pairs: `qbench.mining.types.pair_schema`.
        descriptions: `qbench.mining.types.description_schema`.

    Returns:
        pairs (`sentence1`, `sentence2`, `label`: 1 for a paraphrase, 0 for a confusing pair) with its splits;
        duplicates are left out.
    """
    texts = descriptions.select("description_id", "description")
    labelled = pairs.filter(pl.col("label") != "duplicate")
    for column, side in (("query_id", "sentence1"), ("doc_id", "sentence2")):
        named = texts.rename({"description_id": column, "description": side})
        labelled = labelled.join(named, on=column, how="inner", maintain_order="left")
    label = (pl.col("label") == "paraphrase").cast(pl.Int32).alias("label")
    splits = _by_split(labelled.select("sentence1", "sentence2", label, "split"))
    splits = {split: frame for split, frame in splits.items() if frame.height}
    return {"pairs": splits} if splits else {}


def write_configs(configs: Configs, folder: Path) -> dict[str, dict[str, list[str]]]:
    """Write each split as Parquet files.

    Returns:
        configuration -> split -> paths of its files in `folder`, with slashes.
    """
    names: dict[str, dict[str, list[str]]] = {}
    for config, splits in configs.items():
        for split, frame in splits.items():
            files = names.setdefault(config, {}).setdefault(split, [])
            for number, (count, shard) in enumerate(_shards(frame)):
                path = folder / config / f"{split}-{number:05d}-of-{count:05d}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                shard.rechunk().write_parquet(path, compression="zstd", statistics=True)
                files.append(path.relative_to(folder).as_posix())
    return names


def _shards(frame: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    count = max(1, math.ceil(frame.estimated_size() / SHARD))
    rows = math.ceil(frame.height / count)
    count = math.ceil(frame.height / rows)
    for number in range(count):
        yield count, frame.slice(number * rows, rows)


def _by_split(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """A table with a column `split` by its values, in the order train, dev, test."""
    return {split: frame.filter(pl.col("split") == split).drop("split") for split in SPLITS}
