"""Which queries of an index's pairs make up a benchmark: in order, until each split is full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from qbench.benchmark.types import SPLITS, Query, Split
from qbench.generation.collection import Collection
from qbench.generation.outcomes import Outcome
from qbench.generation.queries import Plan, QueryDraft
from qbench.progress import Progress
from qbench.quantities.concept_match import Concept

REPEATS = "query: repeats an earlier one"


@dataclass
class Selection(Collection):
    """Queries, judgments and samples of an index's pairs.

    Whether a query is taken depends on those before it; what it brings does not, so that `ahead` can be labelled by
    others.
    """

    plan: Plan
    _trained: set[Concept] = field(init=False, default_factory=set)
    _asked: Counter[tuple[Split, str]] = field(init=False, default_factory=Counter)
    _full: set[Split] = field(init=False, default_factory=set)
    _drafts: dict[Split, list[QueryDraft]] = field(init=False, default_factory=dict)
    _realized: dict[QueryDraft, Query | None] = field(init=False, default_factory=dict)

    def fill(self, outcome: Callable[[Query], Outcome], progress: Progress) -> None:
        """Take queries in order until each split has as many as the options say.

        Args:
            outcome: what a query brings.
            progress: called with the number of finished queries of a split.
        """
        for split in SPLITS:
            self._fill(split, outcome, progress)
            self._full.add(split)

    def _fill(self, split: Split, outcome: Callable[[Query], Outcome], progress: Progress) -> None:
        drafts, most, count = self._drafts_of(split), self._most(split), 0
        total = min(most, len(drafts))
        for draft in drafts:
            if count == most:
                break
            reason = self._passed_over(draft)
            query = None if reason else self._query(draft)
            if reason or query is None:
                self.rejected[reason or "query: no value to ask for"] += 1
            elif self._repeats(query):
                self.rejected[REPEATS] += 1
            elif self._keep(query, outcome(query)):
                count += 1
                self._asked[split, self.plan.group(draft)] += 1
                progress(count, total, split)

    def ahead(self) -> Iterator[Query]:
        """The queries that `fill` will ask the outcome of, in order, as far as can be told when each is taken.

        All that it asks are among them: what rules a query out now rules it out later too, but for training queries
        that are still to come.
        """
        for split in SPLITS:
            for draft in self._drafts_of(split):
                if split in self._full:
                    break
                query = None if self._passed_over(draft) else self._query(draft)
                if query is not None and not self._repeats(query):
                    yield query

    def _most(self, split: Split) -> int:
        options = self.plan.options
        return {"train": options.max_train, "dev": options.max_dev, "test": options.max_test}[split]

    def _drafts_of(self, split: Split) -> list[QueryDraft]:
        if split not in self._drafts:
            self._drafts[split] = self.plan.drafts(split) if self._most(split) else []
        return self._drafts[split]

    def _query(self, draft: QueryDraft) -> Query | None:
        if draft not in self._realized:
            self._realized[draft] = self.plan.realize(draft)
        return self._realized[draft]

    def _passed_over(self, draft: QueryDraft) -> str:
        """Why a draft is not looked at; "" if it is."""
        asked = self._asked[draft.split, self.plan.group(draft)]
        if draft.split != "train" and asked >= self.plan.options.per_topic:
            return "query: its topic has enough"
        if draft.split == "test" and draft.kind == "seen" and "train" in self._full and not self._is_trained(draft):
            return "query: no training query asks about its concept"
        return ""

    def _is_trained(self, draft: QueryDraft) -> bool:
        """Whether training queries cover every concept of a draft; assignment to the split is not enough."""
        return all(concept in self._trained for topic in draft.topics for concept in topic.concepts)

    def _repeats(self, query: Query) -> bool:
        """Whether an earlier query has the same meaning in another split, or the same words in this split."""
        meaning = _meaning(query)
        return (
            query.text.lower() in self._texts
            or self._split_of.get(meaning, query.split) != query.split
            or f"{query.terms}\n{meaning}" in self._split_of
        )

    def _keep(self, query: Query, found: Outcome) -> bool:
        self.rejected.update(found.rejected)
        if not found.kept:
            return False
        self._add_samples(found.samples)
        if query.split == "train" and query.kind == "seen":
            self._trained.update(condition.concept for condition in query.conditions)
        self._judge(query.query_id, found.docs, found.grades)
        self.queries.append(query)
        self._texts.add(query.text.lower())
        self._split_of.setdefault(_meaning(query), query.split)
        self._split_of[f"{query.terms}\n{_meaning(query)}"] = query.split
        return True


def _meaning(query: Query) -> str:
    """Normalised form of a query's conditions, independent of its words and units."""
    return "\n".join(
        sorted(
            f"{' '.join(c.concept)} {c.comparator} {c.base_value:.9g} {c.base_high:.9g} {c.base_unit} {c.change}"
            for c in query.conditions
        )
    )
