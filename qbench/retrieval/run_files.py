"""Runs on disk: the shards of an unfinished one, and the finished one with its cost."""

from __future__ import annotations

import io
import json
import resource
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from qbench.errors import InputError
from qbench.retrieval.jobs import KIND, Job
from qbench.retrieval.pipeline import Rankings
from qbench.retrieval.types import ConditionSource, Cost, RunResult, run_schema
from qbench.store import read_json, read_manifest, write_json
from qbench.work.shards import FOLDER
from qbench.work.tasks import Shard

ROWS, NOTES = ".parquet", ".json"
"""Endings of a shard's files, in the order in which they are written."""


def run_shard(query_ids: Sequence[str], result: Rankings, bare: int, doc_ids: pl.Series) -> Shard:
    """The rankings of a batch of queries, and what is counted for them.

    Args:
        query_ids: the batch.
        result: what was ranked.
        bare: number of queries that were to have conditions and have none.
        doc_ids: shape (documents,), in the order of positions.
    """
    sizes = np.array([ranking.docs.size for ranking in result.rankings], dtype=np.int64)
    docs = np.concatenate([ranking.docs for ranking in result.rankings]).astype(np.int64)
    run = pl.DataFrame(
        {
            "query_id": pl.Series(query_ids, dtype=pl.String).gather(np.repeat(np.arange(sizes.size), sizes)),
            "doc_id": doc_ids.gather(docs),
            "rank": np.concatenate([np.arange(1, size + 1, dtype=np.int32) for size in sizes]),
            "score": np.concatenate([ranking.scores for ranking in result.rankings]),
        },
        schema=run_schema(),
    )
    rows = io.BytesIO()
    run.write_parquet(rows, compression="zstd")
    notes = {"seconds": result.seconds, "bare": bare, "empty": int((sizes == 0).sum())}
    return Shard({ROWS: rows.getvalue(), NOTES: json.dumps(notes).encode()})


def join_shards(folder: Path, names: list[str], cost: Cost, meta: dict[str, int | float | str]) -> dict[str, Any]:
    """Write a run into the folder of a draft, from its shards, and sum up what they cost.

    Args:
        folder: of the draft.
        names: of all shards, in order.
        cost: of building the indexes.
        meta: what else is known of the run.

    Returns:
        `meta` with the counts of queries.
    """
    notes = [read_json(folder / FOLDER / f"{name}{NOTES}") for name in names]
    milliseconds = 1000 * np.array([s for note in notes for s in note["seconds"]])
    cost = replace(
        cost,
        ms_median=float(np.median(milliseconds)),
        ms_p95=float(np.percentile(milliseconds, 95)),
        peak_bytes=peak_bytes(),
    )
    meta |= {
        "queries": int(milliseconds.size),
        "queries_without_condition": sum(note["bare"] for note in notes),
        "queries_without_results": sum(note["empty"] for note in notes),
    }
    run = pl.concat([pl.read_parquet(folder / FOLDER / f"{name}{ROWS}", glob=False) for name in names])
    run.write_parquet(folder / "run.parquet", compression="zstd")
    write_json(folder / "cost.json", {"cost": asdict(cost), "meta": meta})
    return meta


def read_result(job: Job) -> RunResult:
    """The finished run of a job.

    Raises:
        InputError: it is not there, or a file in it cannot be read.
    """
    return read_run_folder(job.folder, str(job.system), job.source)


def read_run_folder(folder: Path, system: str, source: ConditionSource) -> RunResult:
    """A finished run, whose folder is named after its key.

    Args:
        folder: of the run.
        system: what ran.
        source: where it took the queries' conditions from.

    Raises:
        InputError: it is not there, or a file in it cannot be read.
    """
    read_manifest(folder, KIND)
    about = read_json(folder / "cost.json")
    path = folder / "run.parquet"
    try:
        run = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError):
        remedy = "Remove its folder: it is then made again"
        raise InputError("a finished run cannot be read", file=path, remedy=remedy) from None
    return RunResult(system, source, run, Cost(**about["cost"]), folder.name, about["meta"])


def peak_bytes() -> int:
    """The most memory that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
