"""Runs on disk: the shards of an unfinished one, and the finished one with its cost."""

from __future__ import annotations

import io
import json
import resource
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from qbench.errors import InputError
from qbench.llm.budget import Prices
from qbench.retrieval.bench import meta_prefixes
from qbench.retrieval.jobs import KIND, Job
from qbench.retrieval.pipeline import Rankings
from qbench.retrieval.systems import System
from qbench.retrieval.types import ASKED, ConditionSource, Cost, RunResult, run_schema
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
    notes = {"seconds": result.seconds, "bare": bare, "empty": int((sizes == 0).sum()), "asked": result.asked}
    return Shard({ROWS: rows.getvalue(), NOTES: json.dumps(notes).encode()})


def join_shards(
    folder: Path, names: list[str], system: System, cost: Cost, meta: dict[str, int | float | str]
) -> dict[str, Any]:
    """Write a run into the folder of a draft, from its shards, and sum up what they cost.

    Args:
        folder: of the draft.
        names: of all shards, in order.
        system: what ran.
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
    prefixes, asked = meta_prefixes(len(system.stages)), []
    for position, stage in enumerate(system.stages):
        counts, texts = Counter[str](), dict[str, str]()
        for note in notes:
            for name, value in note.get("asked", {}).get(str(position), {}).items():
                if isinstance(value, str):
                    texts.setdefault(name, value)
                else:
                    counts[name] += value
        if counts:
            asked.append({"model": str(stage.options().model), "counts": dict(counts)})
            meta |= {f"{prefixes[position]}{name}": count for name, count in counts.items()}
            meta |= {f"{prefixes[position]}{name}": text for name, text in texts.items()}
    run = pl.concat([pl.read_parquet(folder / FOLDER / f"{name}{ROWS}", glob=False) for name in names])
    run.write_parquet(folder / "run.parquet", compression="zstd")
    write_json(folder / "cost.json", {"cost": asdict(cost), "meta": meta, "asked": asked})
    return meta


def read_result(job: Job, prices: Prices = MappingProxyType({})) -> RunResult:
    """The finished run of a job.

    Args:
        job: whose run it is.
        prices: of the language models that it asked.

    Raises:
        InputError: it is not there, or a file in it cannot be read.
    """
    return read_run_folder(job.folder, str(job.system), job.source, prices)


def read_run_folder(
    folder: Path, system: str, source: ConditionSource, prices: Prices = MappingProxyType({})
) -> RunResult:
    """A finished run, whose folder is named after its key.

    Args:
        folder: of the run.
        system: what ran.
        source: where it took the queries' conditions from.
        prices: of the language models that it asked.

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
    asked = about.get("asked", [])
    costs = Cost(**about["cost"] | _asked_cost(asked, prices))
    return RunResult(system, source, run, costs, folder.name, about["meta"])


def _asked_cost(asked: Sequence[Mapping[str, Any]], prices: Prices) -> dict[str, Any]:
    """What language models cost: the counts of all stages, and their price where each model has one."""
    costs: dict[str, Any] = {name: sum(one["counts"].get(name, 0) for one in asked) for name in ASKED}
    if asked and all(one["model"] in prices for one in asked):
        costs["money"] = sum(
            prices[one["model"]].of(one["counts"]["tokens_read"], one["counts"]["tokens_written"]) for one in asked
        )
    return costs


def peak_bytes() -> int:
    """The most memory that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
