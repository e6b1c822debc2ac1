"""What becomes of one query, whatever the others are: its judgments and samples, each checked again, or why it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qbench.benchmark.types import UNDECIDED, Query, Split
from qbench.generation.labels import Labels, capped, confirmed, label
from qbench.generation.mentions import Mentions
from qbench.generation.options import GenerationOptions
from qbench.generation.recheck import Rechecker
from qbench.generation.samples import Row, Sampler
from qbench.index.disk import Index
from qbench.quantities.extractors import get_extractor
from qbench.quantities.units import load_units
from qbench.randomness import generator

_NO_DOCS = np.empty(0, dtype=np.int64)
_NO_GRADES = np.empty(0, dtype=np.int8)


@dataclass(frozen=True)
class Outcome:
    """What a query brings to a benchmark.

    Attributes:
        kept: whether it can be asked at all.
        docs: shape (n,), the judged sentences, as rows of `Mentions.texts`, ascending.
        grades: shape (n,), their judgments.
        samples: rows of `sample_schema`.
        rejected: reason -> how many labels, samples or queries.
    """

    kept: bool
    docs: NDArray[np.int64] = field(default_factory=lambda: _NO_DOCS)
    grades: NDArray[np.int8] = field(default_factory=lambda: _NO_GRADES)
    samples: list[Row] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Labeller:
    """Labels queries one by one; the same query has the same outcome in every process, in any order.

    Attributes:
        sampler: makes the samples, of all mentions.
        blocked: split -> shape (sentences,), those that samples of the split may not use.
    """

    sampler: Sampler
    blocked: Mapping[Split, NDArray[np.bool_]]

    def outcome(self, query: Query) -> Outcome:
        """Label a query, sample for it unless it is a test query, and check both again."""
        mentions, options = self.sampler.mentions, self.sampler.options
        labels = capped(label(query.conditions, mentions), mentions, options)
        if not labels.relevant.size:
            return Outcome(False, rejected=Counter({"query: no sentence satisfies it": 1}))
        rows: list[Row] = []
        rejected: Counter[str] = Counter()
        if query.split != "test":
            self.sampler.rejected = rejected
            rows = self.sampler.samples(query, labels, self.blocked[query.split])
            if not rows:
                return Outcome(False, rejected=rejected)
        docs, grades, wrong = _judged(query, labels, mentions, options)
        if wrong:
            rejected["judgment does not hold"] += wrong
        return Outcome(True, docs, grades, rows, rejected)


def _judged(
    query: Query, labels: Labels, mentions: Mentions, options: GenerationOptions
) -> tuple[NDArray[np.int64], NDArray[np.int8], int]:
    """Judgments of the relevant sentences and some hard negatives, each checked again, and how many did not hold."""
    rng = generator(options.seed, "judged", query.query_id)
    few = rng.choice(labels.negatives, min(labels.negatives.size, options.judged), replace=False)
    docs = np.concatenate([labels.relevant, few])
    grades = np.concatenate([labels.grades, np.zeros(few.size, dtype=np.int8)])
    order = np.argsort(docs)
    docs, grades = docs[order], grades[order]
    sure = confirmed(query.conditions, docs, grades, mentions)
    rest = labels.undecided
    docs, grades = np.concatenate([docs[sure], rest]), np.concatenate([grades[sure], np.full(rest.size, UNDECIDED)])
    order = np.argsort(docs)
    return docs[order], grades[order].astype(np.int8), int((~sure).sum())


def labeller(
    index: Index, mentions: Mentions, blocked: Mapping[Split, NDArray[np.bool_]], options: GenerationOptions
) -> Labeller:
    """The labeller of an index's queries, with the extractor that read its sentences.

    Args:
        index: where the mentions come from.
        mentions: all of them.
        blocked: split -> shape (sentences,), those that samples of the split may not use.
        options: of the generation.
    """
    found = index.extractor_options()
    rechecker = Rechecker(None if index.given else get_extractor(found), found.language)
    return Labeller(Sampler(mentions, load_units(found.units_file), rechecker, options), blocked)
