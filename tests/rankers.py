"""What tests of rankers share."""

from __future__ import annotations

import numpy as np

from qbench.retrieval.rankers import Candidates


def scores_of(ranker, search, docs):
    """A ranker's scores of some documents for one search that is encoded."""
    (scores,) = ranker.rerank([search], [Candidates(docs, np.zeros(len(docs)))])
    return scores
