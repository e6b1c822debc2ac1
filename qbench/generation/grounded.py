"""A benchmark from a grounded index: queries about things, labels from the table (`qbench ground`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.matching import Matcher
from qbench.benchmark.types import (
    SPLITS,
    UNDECIDED,
    Query,
    Split,
    corpus_schema,
    known_schema,
)
from qbench.errors import OptionError
from qbench.generation.collection import Collection
from qbench.generation.fact_table import NO, FactTable, Judged
from qbench.generation.options import GenerationOptions
from qbench.generation.samples import Row
from qbench.generation.things import Asked, Asker, Topic
from qbench.generation.wording import Wording
from qbench.index.disk import Index
from qbench.progress import Progress
from qbench.quantities.conditions import BROKEN, MET, verdicts
from qbench.quantities.units import load_units
from qbench.randomness import generator, shuffled
from qbench.store import digest

FEW = 5
"""Test queries of a topic, at most: there are many topics."""

LOOKED_AT = 40
"""Documents that are looked through for negatives of a query."""

MOST = 0.5
"""Share of the things that may be what a query asks for."""


@dataclass
class GroundedQueries(Collection):
    """Queries, judgments and samples of a grounded index.

    Args:
        index: a grounded index.
        wording: of its domain.
        options: of the generation.
    """

    index: Index
    wording: Wording
    options: GenerationOptions
    _trained: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        units = load_units(self.index.extractor_options().units_file)
        self.table = FactTable.load(self.index, units)
        self.sentences = self.index.collected(self.index.sentences())
        self.quantities = self.index.collected(self.index.quantities())
        language = self.index.extractor_options().language
        self._matcher = Matcher(self.quantities, language, given=True)
        mentions = self._mentions()
        self._place = {place: row for row, place in enumerate(mentions.select("doc_id", "value_start").iter_rows())}
        self._mention_rows = mentions.select("value", "unit", "value_start", "value_end").rows()
        self.asker = Asker(self.table, self.wording, units, self.options, self._surfaces(mentions), language)

    def _mentions(self) -> pl.DataFrame:
        """The mentions that are about a fact, with the attribute."""
        stated = self.index.collected(self.index.stated().select("doc_id", "value_start", "attribute", "agrees"))
        stated = stated.unique(["doc_id", "value_start"], keep="first", maintain_order=True)
        return stated.join(self.quantities, on=["doc_id", "value_start"], how="inner", maintain_order="left")

    def _surfaces(self, mentions: pl.DataFrame) -> pl.DataFrame:
        """Of each mention that states a fact: attribute, unit, value, how the unit is written, whether before it."""
        texts = self.sentences.select("doc_id", "text")
        first, last = pl.col("unit_start"), pl.col("unit_end")
        return (
            mentions.filter("agrees")
            .join(texts, on="doc_id", how="left", maintain_order="left")
            .select(
                "attribute",
                "unit",
                "value",
                surface=pl.when(first >= 0).then(pl.col("text").str.slice(first, last - first)).otherwise(pl.lit("")),
                before=first < pl.col("value_start"),
            )
        )

    def make(self, progress: Progress) -> None:
        """Make all queries.

        Raises:
            OptionError: none is left.
        """
        topics = list(self.asker.topics())
        most = {"train": self.options.max_train, "dev": self.options.max_dev, "test": self.options.max_test}
        for split in SPLITS:
            wanted = [(variant, topic) for variant in range(self._variants(split)) for topic in topics]
            order = shuffled(wanted, self.options.seed, f"order of {split}", lambda item: f"{item[0]} {item[1].name}")
            order.sort(key=lambda item: item[0])
            count = 0
            for variant, topic in order:
                if count >= most[split]:
                    break
                count += self._add(split, topic, variant)
                progress(count, min(most[split], len(order)), split)
        if not self.queries:
            raise OptionError(
                "these facts and options leave no query",
                value=", ".join(f"{number:,} {reason}" for reason, number in self.rejected.most_common(3)) or None,
                remedy="See the index's report.md: the documents may state none of the table's facts",
            )

    def _variants(self, split: Split) -> int:
        """How many queries of a topic a split gets."""
        most = self.options.per_topic
        return {"train": 4 * (1 + self.options.random_sets), "dev": min(2, most), "test": min(FEW, most)}[split]

    def _add(self, split: Split, topic: Topic, variant: int) -> bool:
        number = variant + {"train": 100, "dev": 10, "test": 0}[split]
        asked = self.asker.ask(topic, number)
        if asked is None:
            self.rejected["query: no value to ask for"] += 1
            return False
        meaning = _meaning(asked)
        if asked.text.lower() in self._texts or self._split_of.get(meaning, split) != split:
            self.rejected["query: repeats an earlier one"] += 1
            return False
        judged = self.table.judge(topic.category.scope, asked.conditions, table_only=self.options.table_only)
        relevant = int((judged.things == 1).sum())
        if not (judged.grades == 2).any():
            self.rejected["query: no document states what it asks for"] += 1
            return False
        if relevant > MOST * self.table.values.shape[0]:
            self.rejected["query: most things are what it asks for"] += 1
            return False
        query = Query(
            query_id=f"{split}-{digest([topic.name, number])[:12]}",
            text=asked.text,
            terms=asked.terms,
            conditions=tuple(condition for _, condition in asked.conditions),
            split=split,
            kind="seen",
            template=self.options.domain if self.options.templates is None else self.options.templates.name,
            seed=self.options.seed,
            topic=topic.name,
        )
        if split == "test" and self.options.max_train and not self._trained.issuperset(topic.attributes):
            self.rejected["query: no training query asks about its attributes"] += 1
            return False
        negatives = self._negatives(query, asked, judged, topic)
        if split != "test":
            rows = self._sampled(query, asked, judged, negatives)
            if not rows:
                self.rejected["query: no sample that states what it needs"] += 1
                return False
            self._add_samples(rows)
        if split == "train":
            self._trained.update(topic.attributes)
        self._judge(query.query_id, *self._judged_units(query, judged, negatives))
        self.queries.append(query)
        self._texts.add(asked.text.lower())
        self._split_of[meaning] = split
        return True

    def _negatives(self, query: Query, asked: Asked, judged: Judged, topic: Topic) -> NDArray[np.int64]:
        """Some units of things of the category that say themselves that they are not what is asked for.

        None of their mentions may be taken for one that meets all conditions: a page may speak of two things.
        """
        wrong = (judged.things == NO) & (topic.category.scope != NO)
        saying = np.zeros(judged.grades.size, dtype=bool)
        for attribute, condition in asked.conditions:
            said = self.table.sayings[attribute]
            broken = said.agrees & (verdicts(said.low, said.high, said.comparator, condition) == BROKEN)
            saying[said.unit[broken]] = True
        units = np.flatnonzero(saying & wrong[self.table.thing])
        rng = generator(self.options.seed, "negatives", query.query_id)
        some = np.sort(rng.choice(units, min(units.size, LOOKED_AT), replace=False))
        names = [self.table.doc_ids[unit] for unit in some.tolist()]
        meeting = self._matcher.grades(query.conditions, names)
        return some[[name not in meeting for name in names]]

    def _sampled(self, query: Query, asked: Asked, judged: Judged, negatives: NDArray[np.int64]) -> list[Row]:
        """Original samples of a query, as many positives as negatives; [] if there is none of either."""
        positives = np.flatnonzero(judged.grades == 2)
        n = min(self.options.samples, positives.size, negatives.size)
        rng = generator(self.options.seed, "samples", query.query_id)
        rows: list[Row] = []
        for label, units in ((1, positives), (0, negatives)):
            for unit in sorted(rng.choice(units, n, replace=False).tolist()):
                mention = self._mention_of(asked, unit, label)
                if mention is not None:
                    rows.append(self._row(query, unit, label, mention, len(rows)))
        return rows if len({row["label"] for row in rows}) == 2 else []

    def _mention_of(self, asked: Asked, unit: int, label: int) -> tuple[Any, ...] | None:
        """Value, unit and span of the mention by which a unit is a positive, or a negative."""
        for attribute, condition in asked.conditions:
            said = self.table.sayings[attribute]
            rows = np.flatnonzero((said.unit == unit) & said.agrees)
            codes = verdicts(said.low[rows], said.high[rows], said.comparator[rows], condition)
            for row in rows[codes == (MET if label else BROKEN)].tolist():
                place = self._place.get((self.table.doc_ids[unit], int(said.start[row])))
                if place is not None:
                    return self._mention_rows[place]
        return None

    def _row(self, query: Query, unit: int, label: int, mention: tuple[Any, ...], number: int) -> Row:
        value, name, start, end = mention
        return {
            "sample_id": f"{query.query_id}-{number}",
            "query_id": query.query_id,
            "doc_id": self.table.doc_ids[unit],
            "text": self.sentences["text"][unit],
            "label": label,
            "method": "original",
            "value": value,
            "unit": name,
            "value_start": start,
            "value_end": end,
        }

    def _judged_units(
        self, query: Query, judged: Judged, negatives: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """The units that a query has judgments of, ascending, and their grades."""
        rng = generator(self.options.seed, "judged", query.query_id)
        few = rng.choice(negatives, min(negatives.size, self.options.judged), replace=False)
        units = np.union1d(np.flatnonzero(judged.grades), few)
        return units, judged.grades[units]

    def corpus(self) -> pl.DataFrame:
        """The retrieval units."""
        return self.sentences.select(list(corpus_schema()))

    def facts(self) -> pl.DataFrame:
        """What the table says of each document."""
        number, text = pl.lit(0.0), pl.lit("")
        facts = self.index.facts().with_columns(text=text).select(list(known_schema())).collect()
        things = self.index.things()
        words = [
            things.filter(pl.col(column) != "").select(
                "source_id",
                name=pl.lit(name),
                value=number,
                unit=text,
                base_unit=text,
                base_value=number,
                status=text,
                text=pl.col(column),
            )
            for column, name in (("name", "name"), ("kind", "kind"), ("qualifier", "qualifier"))
        ]
        return pl.concat([*(frame.collect() for frame in words), facts])

    def counts(self) -> dict[str, Any]:
        """What the card says of how it was made."""
        undecided = sum(int((grades == UNDECIDED).sum()) for _, _, grades in self._judged)
        return {
            "things": len(self.table.kinds),
            "facts": self.index.summary()["grounding"]["coverage"],
            "disagreements": self.index.summary()["grounding"]["disagreements"],
            "undecided judgments": undecided,
            "rejected": dict(sorted(self.rejected.items())),
        }


def _meaning(asked: Asked) -> str:
    """What a query's conditions say, whatever its category: queries of two splits share no conditions."""
    return "; ".join(sorted(f"{a} {c.comparator} {c.base_value:.9g} {c.base_high:.9g}" for a, c in asked.conditions))
