"""What is said of runs under a table: queries without conditions or results, documents cut, documents not judged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

from qbench.benchmark.types import UNDECIDED
from qbench.leaderboard.board import Ran
from qbench.retrieval.faiss_index import LEAST
from qbench.retrieval.types import RunResult

_OF_RERANKER = re.compile(r"reranker\d*_")

TOP = 10
"""Depth of the check for unjudged documents."""


def run_notes(
    groups: Sequence[tuple[Sequence[Ran], pl.DataFrame]], query_ids: Sequence[str], *, judged_fully: bool, depth: int
) -> list[str]:
    """Notes about the runs, each with the rows it applies to.

    Args:
        groups: rows that searched one benchmark, and its judgments.
        query_ids: the queries to score.
        judged_fully: whether documents without a judgment are known not to be relevant.
        depth: number of documents per query that runs keep.
    """
    rows: dict[str, list[str]] = {}
    for group, qrels in groups:
        for ran in group:
            notes = _notes_of(ran.result)
            notes += crowded(ran.result.run, qrels, query_ids, depth)
            if not judged_fully:
                notes += unjudged(ran.result.run, qrels, query_ids)
            for note in notes:
                rows.setdefault(note, []).append(ran.label)
    return [f"{', '.join(labels)}: {note}" for note, labels in rows.items()]


def _notes_of(result: RunResult) -> list[str]:
    """Notes from the metadata of a run."""
    notes, queries = [], result.meta.get("queries", 0)
    bare, empty = result.meta.get("queries_without_condition", 0), result.meta.get("queries_without_results", 0)
    if bare:
        verb = "found in the text" if result.conditions == "parsed" else "given"
        notes.append(f"no condition was {verb} for {bare} of {queries} queries.")
    if empty:
        notes.append(f"no results for {empty} of {queries} queries; they score 0.")
    stages: dict[str, dict[str, int | float | str]] = {}
    for name, value in result.meta.items():
        found = _OF_RERANKER.match(name)
        of = found.group() if found else ""
        stages.setdefault(of, {})[name.removeprefix(of)] = value
    for prefix in sorted(stages, key=lambda prefix: (len(prefix), prefix)):
        # "reranker_" says "reranker: ", "reranker2_" says "reranker 2: "
        stage = f"{prefix.removesuffix('_').replace('reranker', 'reranker ').strip()}: " if prefix else ""
        notes += [f"{stage}{note}" for note in _stage_notes(stages[prefix])]
    return notes


def _stage_notes(meta: Mapping[str, int | float | str]) -> list[str]:
    """Notes from what a stage of a system reports."""
    notes = []
    if cut := meta.get("documents_cut", 0):
        notes.append(f"{cut} documents are longer than the model reads, and were cut.")
    if "faiss_recall" in meta:
        share = 100 * float(meta["faiss_recall"])
        whole = f" Its copies are whole: copy=pq takes {LEAST:,} vectors or more." if "faiss_copy" in meta else ""
        notes.append(f"faiss proposes {share:.1f} % of what exact search finds nearest.{whole}")
    if "candidate_recall" in meta:
        share, asked = 100 * float(meta["candidate_recall"]), meta["candidate_recall_queries"]
        notes.append(f"candidates hold {share:.1f} % of what exact MaxSim finds best, on {asked} queries of the board.")
    if "compression" in meta:
        codes, learnt, times = (meta[name] for name in ("codes_bytes", "codebook_bytes", "compression"))
        notes.append(
            f"vectors take {codes:,} bytes, and {learnt:,} for the codebook and what else was learnt: together "
            f"{times} times smaller than in single precision."
        )
    if "note" in meta:
        notes.append(f"{meta['note']}.")
    left, twice, unknown = (meta.get(f"{name}_texts", 0) for name in ("missing", "repeated", "unknown"))
    if left or twice or unknown:
        notes.append(
            f"of the texts that it was to put in order the model left out {left}, named {twice} again, and named "
            f"{unknown} that were not shown; those left out follow the others in their order before."
        )
    if unusable := meta.get("unusable_answer"):
        faulty = f"{meta.get('refused', 0)} refused and {meta.get('malformed', 0)} malformed"
        notes.append(f"of {meta.get('calls', 0)} answers {faulty}, such as: {unusable}.")
    calls, sure = meta.get("calls", 0), meta.get("with_probabilities")
    if sure is not None and sure != calls:
        notes.append(f"the server gave probabilities with {sure} of {calls} answers; the others are the number alone.")
    return notes


def crowded(run: pl.DataFrame, qrels: pl.DataFrame, query_ids: Sequence[str], depth: int) -> list[str]:
    """Note with the number of queries whose ranking is nearly used up by undecided documents; empty for none.

    Args:
        run: columns query_id, doc_id, rank.
        qrels: columns query_id, doc_id, grade.
        query_ids: the queries to score.
        depth: number of documents per query that the run keeps.
    """
    undecided = qrels.filter(pl.col("grade") == UNDECIDED).with_columns(open=1)
    counts = (
        run.filter(pl.col("query_id").is_in(list(query_ids)))
        .join(undecided, on=["query_id", "doc_id"], how="left")
        .group_by("query_id")
        .agg(ranked=pl.len(), left=pl.col("open").is_null().sum())
    )
    # A ranking that ends before has all that the system found.
    cut = pl.col("ranked") >= depth
    crowded = counts.filter(cut & (pl.col("left") < TOP) & (pl.col("left") < pl.col("ranked"))).height
    if not crowded:
        return []
    return [
        f"for {crowded} of {len(query_ids)} queries undecided documents fill the ranking, and fewer than {TOP} others "
        "are left; a larger depth finds more."
    ]


def unjudged(run: pl.DataFrame, qrels: pl.DataFrame, query_ids: Sequence[str]) -> list[str]:
    """Note with the share of unjudged documents in the top 10 of a run; empty if all are judged.

    Args:
        run: columns query_id, doc_id, rank.
        qrels: columns query_id, doc_id, grade; grade 0 is a judgment too.
        query_ids: the queries to score.
    """
    top = run.filter(pl.col("query_id").is_in(list(query_ids)) & (pl.col("rank") <= TOP))
    missing = top.join(qrels, on=["query_id", "doc_id"], how="anti").height
    if not missing:
        return []
    share = 100 * missing / top.height
    return [f"{share:.1f} % of the documents in the top {TOP} are not judged; they count as not relevant."]
