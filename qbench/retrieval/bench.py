"""Shared state of systems on one benchmark: corpus, indexes, rankers, quantities, parsed queries."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query
from qbench.errors import InputError
from qbench.keys import revision
from qbench.llm.client import Access
from qbench.progress import Progress
from qbench.quantities.extractors import Extractor, ExtractorOptions, get_extractor
from qbench.quantities.types import Condition, ParsedQuery
from qbench.quantities.units import Units, load_units
from qbench.retrieval.binding_index import BindingIndex, build_binding_index, open_binding_index
from qbench.retrieval.binding_query import BindingQuery, asked_of, without_values
from qbench.retrieval.document_quantities import FILE, DocumentQuantities, extract_documents, uses_stored
from qbench.retrieval.finishing import Conditions
from qbench.retrieval.mentions import DocumentMentions, document_mentions
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.passages import placed, text_offsets
from qbench.retrieval.quantity_index import QuantityIndex, build_quantity_index, open_quantity_index
from qbench.retrieval.rankers import OpenedRanker, RankerContext, Search
from qbench.retrieval.stored import Stored, stored
from qbench.retrieval.systems import Stage, System
from qbench.retrieval.types import ConditionSource, Cost
from qbench.scoring.binding import Asked

if TYPE_CHECKING:
    from qbench.retrieval.mention_vectors import MentionVectors
    from qbench.work.tasks import Engine


@dataclass(frozen=True)
class BuiltBindingIndex:
    """The index of Bind, with the seconds to build it and its bytes on disk."""

    index: BindingIndex
    seconds: float
    size: int


@dataclass(frozen=True)
class BuiltQuantityIndex:
    """The quantity index of a corpus, with the seconds to build it and its bytes on disk."""

    index: QuantityIndex
    seconds: float
    size: int


class Bench:
    """Shared state of the systems of one call; everything is created on first use.

    Args:
        benchmark: corpus and queries.
        key: key of the benchmark's content.
        root: the folder of all indexes.
        source: source of the documents' quantities.
        extractor: options of the extractor.
        workers: number of processes that extract.
        progress: reports the progress of indexing.
        access: access to servers.
        engine: what extracts and encodes; None for this machine.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        key: str,
        root: Path,
        source: DocumentQuantities,
        extractor: ExtractorOptions,
        workers: int | None,
        progress: Progress,
        access: Access,
        engine: Engine | None = None,
    ) -> None:
        self.benchmark, self.key, self.root = benchmark, key, root
        self.source, self.options, self.workers = source, extractor, workers
        self.progress, self.access, self.engine = progress, access, engine
        self.corpus = placed(benchmark.corpus)
        self._parsed: dict[str, tuple[ParsedQuery, float]] = {}
        self._rerankers: dict[str, OpenedRanker] = {}
        self._mention_vectors: dict[str, tuple[MentionVectors, float, int]] = {}

    def context(self, depth: int = 1000) -> RankerContext:
        """The context to open rankers with."""
        return RankerContext(
            self.corpus,
            self.key,
            self.root,
            depth,
            self.progress,
            self.access,
            quantities=lambda: self.mentions,
            units=lambda: self.units,
            language=self.benchmark.language,
            engine=self.engine,
        )

    def first_stage(self, stage: Stage, depth: int) -> OpenedRanker:
        """A first stage that retrieves `depth` documents."""
        return open_ranker(stage, self.context(depth))

    def reranker(self, stage: Stage) -> OpenedRanker:
        """A reranker; opened once for all systems with the same model and compression."""
        name = str(stage.bare)
        if name not in self._rerankers:
            self._rerankers[name] = open_ranker(stage, self.context())
        return self._rerankers[name]

    @cached_property
    def units(self) -> Units:
        """The units of the extraction."""
        return load_units(self.options.units_file)

    @cached_property
    def _own(self) -> bool:
        """Whether the benchmark's own quantities are used."""
        return uses_stored(self.benchmark, self.source)

    @cached_property
    def _extracted(self) -> Stored:
        """The quantities that are found in the documents, on disk."""
        return extract_documents(
            self.corpus,
            self.key,
            self.options,
            self.root,
            workers=self.workers,
            engine=self.engine,
            progress=self.progress,
        )

    def quantities(self) -> pl.DataFrame:
        """The quantities of the documents (`quantity_schema`, extracted ones with `offset`), read at each call."""
        if not self._own:
            return pl.read_parquet(self._extracted.folder / FILE, glob=False)
        own = self.benchmark.read("quantities")
        if own is None:
            raise InputError("the benchmark holds no quantities of its documents", value=self.benchmark.name)
        return own

    @cached_property
    def mentions(self) -> DocumentMentions:
        """The quantities by document, spans counted from the start of a passage."""
        offsets = text_offsets(self.benchmark.corpus) if self._own else None
        return document_mentions(self.quantities(), self.corpus["doc_id"], offsets)

    @property
    def _of_quantities(self) -> dict[str, Any]:
        """What names the quantities of the corpus in keys."""
        return {"stored": self._own, **({} if self._own else self.options.key())}

    @cached_property
    def quantity_index(self) -> BuiltQuantityIndex:
        """The index of the documents' quantities by value."""
        read: list[pl.DataFrame] = []  # outside the time of the index, and gone when it is made

        def make(folder: Path) -> None:
            build_quantity_index(read.pop(), self.corpus["doc_id"], self.units).save(folder)

        params = {"corpus": self.key, **self._of_quantities}
        index = stored(self.root, "quantity-index", params, make, lambda: read.append(self.quantities()))
        return BuiltQuantityIndex(open_quantity_index(index.folder), index.seconds, index.size)

    @cached_property
    def binding_index(self) -> BuiltBindingIndex:
        """The index of what the documents' quantities are about."""
        language = self.benchmark.language

        def make(folder: Path) -> None:
            build_binding_index(self.corpus["passage"], self.mentions, self.units, language).save(folder)

        params = {"corpus": self.key, **self._of_quantities, "analysis": revision("analysis"), "language": language}
        index = stored(self.root, "binding-index", params, make, lambda: self.mentions)
        return BuiltBindingIndex(open_binding_index(index.folder), index.seconds, index.size)

    def binding(self, encoder: str = "") -> BuiltBindingIndex:
        """The index of what the documents' quantities are about, with the vectors that an encoder makes of them."""
        if not encoder:
            return self.binding_index
        if encoder not in self._mention_vectors:
            from qbench.retrieval.mention_vectors import open_mention_vectors

            found = open_mention_vectors(encoder, self._of_quantities, self.context(), self.mentions)
            self._mention_vectors[encoder] = found
        vectors, seconds, size = self._mention_vectors[encoder]
        built = self.binding_index
        return BuiltBindingIndex(replace(built.index, vectors=vectors), built.seconds + seconds, built.size + size)

    def asked(self, queries: Sequence[Query], source: ConditionSource, encoder: str = "") -> list[Asked]:
        """Queries as Bind asks them, in a setting; with the vectors of their words where it has an encoder."""
        contents = [query if source == "given" else self.parsed(query)[0] for query in queries]
        asked = [
            BindingQuery(query.text, content.terms, tuple(content.conditions))
            for query, content in zip(queries, contents, strict=True)
        ]
        index = self.binding(encoder).index
        made = asked_of(asked, index, self.units, self.benchmark.language)
        if index.vectors is None:
            return made
        vectors = index.vectors.asked([query.terms if query.terms.strip() else query.text for query in asked])
        return [replace(one, vector=vector) for one, vector in zip(made, vectors, strict=True)]

    def parsed(self, query: Query) -> tuple[ParsedQuery, float]:
        """A query's text parsed, and the seconds that it took."""
        if query.query_id not in self._parsed:
            extractor = self._extractor
            start = time.perf_counter()
            result = extractor.parse_query(query.text)
            self._parsed[query.query_id] = result, time.perf_counter() - start
        return self._parsed[query.query_id]

    def conditions(self, query: Query, source: ConditionSource) -> Conditions:
        """The conditions of a query in a setting."""
        conditions: Sequence[Condition] = ()
        if source != "none":
            conditions = query.conditions if source == "given" else self.parsed(query)[0].conditions
        return Conditions(conditions, [abs(self.units.get(condition.unit).factor) for condition in conditions])

    def search(self, stage: Stage, query: Query, source: ConditionSource) -> Search:
        """The input of a stage for a query.

        A stage with a Q searches the query without its conditions, or the full text if no condition is known or no word
        would remain; a lexical one with Bind the text without the conditions' values; all others the full text.
        """
        if source == "none":
            return Search(query.query_id, query.text)
        content = query if source == "given" else self.parsed(query)[0]
        text = query.text
        if stage.takes_terms and content.conditions and content.terms.strip():
            text = content.terms
        elif stage.binds and stage.is_lexical:
            text = without_values(text, content.conditions)
        conditions = tuple(content.conditions) if "conditions" in stage.reads else ()
        terms = content.terms if conditions else ""
        return Search(query.query_id, text, conditions, terms=terms)

    def build(self, system: System) -> None:
        """Open and build everything a system needs besides its first stage, outside the time of queries."""
        if any(stage.compares for stage in system.stages):
            _ = self.quantity_index
        for stage in system.stages:
            if stage.binds:
                self.binding(stage.encoder)
        if any("quantities" in stage.reads for stage in system.stages):
            _ = self.mentions
        for stage in system.rerankers:
            self.reranker(stage)

    def cost(self, system: System, first: OpenedRanker) -> tuple[Cost, dict[str, int | float | str]]:
        """Cost of a system's indexes, and the notes of its rankers, with numbered prefixes for rerankers."""
        rankers = [first, *map(self.reranker, system.rerankers)]
        seconds, size = sum(ranker.seconds for ranker in rankers), sum(ranker.size for ranker in rankers)
        extraction = self._extracted.seconds if system.uses_quantities and not self._own else 0.0
        if any(stage.compares for stage in system.stages):
            seconds, size = seconds + self.quantity_index.seconds, size + self.quantity_index.size
        for encoder in {stage.encoder: None for stage in system.stages if stage.binds}:
            built = self.binding(encoder)
            seconds, size = seconds + built.seconds, size + built.size
        meta = {
            f"{prefix}{name}": value
            for prefix, ranker in zip(meta_prefixes(len(rankers)), rankers, strict=True)
            for name, value in ranker.meta.items()
        }
        return Cost(index_seconds=seconds + extraction, index_bytes=size, extraction_seconds=extraction), meta

    @cached_property
    def _extractor(self) -> Extractor:
        return get_extractor(self.options)


def meta_prefixes(stages: int) -> list[str]:
    """Prefixes of the notes of each stage: "", "reranker_", "reranker2_", "reranker3_", ..."""
    return ["", "reranker_", *(f"reranker{number}_" for number in range(2, stages))][:stages]
