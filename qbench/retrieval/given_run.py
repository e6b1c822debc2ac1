"""A run file of another tool as a ranker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.trec import read_run
from qbench.errors import InputError
from qbench.retrieval.ranker_options import RunFileOptions
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search
from qbench.retrieval.systems import Stage


def open_run(stage: Stage, options: RunFileOptions, context: RankerContext) -> OpenedRanker:
    """Open a run file as a ranker."""
    return OpenedRanker(GivenRun(options.path, context.corpus["doc_id"]), 0.0, 0)


class GivenRun:
    """Rankings of a run file."""

    def __init__(self, path: Path, doc_ids: pl.Series) -> None:
        run = read_run(path)
        positions = pl.DataFrame({"doc_id": doc_ids, "doc": pl.Series(range(len(doc_ids)), dtype=pl.Int64)})
        run = run.join(positions, on="doc_id", how="left")
        missing = run.filter(pl.col("doc").is_null())
        if missing.height:
            raise InputError(
                f"the run ranks {missing['doc_id'].n_unique()} documents that the benchmark does not have",
                file=path,
                value=missing["doc_id"][0],
                remedy="Use a run made on this benchmark's corpus",
            )
        run = run.sort("query_id", "doc")
        self._docs, self._scores = run["doc"].to_numpy(), run["score"].to_numpy()
        counts = run.group_by("query_id", maintain_order=True).agg(pl.len())
        ends = counts["len"].cum_sum().to_list()
        self._slices = dict(zip(counts["query_id"], zip([0, *ends], ends, strict=False), strict=True))

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as they are."""
        return list(searches)

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as they are."""
        return list(searches)

    def search(self, search: Search) -> Candidates:
        """The documents that the run ranks for this query, with its scores."""
        first, last = self._slices.get(search.query_id, (0, 0))
        return Candidates(self._docs[first:last], self._scores[first:last])

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> list[NDArray[np.float64]]:
        """The run's scores of each search's candidates; NaN for those that it does not rank."""
        return [self._scores_of(search, batch.docs) for search, batch in zip(searches, candidates, strict=True)]

    def _scores_of(self, search: Search, docs: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        ranked = self.search(search)
        scores = np.full(len(docs), np.nan)
        if ranked.docs.size:
            position = np.minimum(np.searchsorted(ranked.docs, docs), ranked.docs.size - 1)
            held = ranked.docs[position] == docs
            scores[held] = ranked.scores[position[held]]
        return scores
