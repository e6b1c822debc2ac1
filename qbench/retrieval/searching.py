"""Search an index, or the corpus of a benchmark, with queries of one's own, by any system of the grammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.parquet import empty
from qbench.benchmark.types import Query, corpus_schema
from qbench.errors import InputError, OptionError
from qbench.index.disk import Index
from qbench.progress import Progress, silent
from qbench.quantities.conditions import verdict
from qbench.quantities.types import Condition, Quantity, Span, quantity_schema
from qbench.retrieval.bench import Bench
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions, Job
from qbench.retrieval.pipeline import Pipeline
from qbench.store import MANIFEST, read_manifest

if TYPE_CHECKING:
    from qbench.retrieval.types import ConditionSource

DEPTH = 1000
"""Documents that a first stage retrieves which does not retrieve all that match, as on a leaderboard."""


@dataclass(frozen=True)
class Hit:
    """A document that was found.

    Attributes:
        doc_id, text: the document.
        score: of the system's last stage.
        met: characters of the values that meet a condition of the query; () for a system that reads no quantities.
    """

    doc_id: str
    text: str
    score: float
    met: tuple[Span, ...] = ()


def search(
    source: str | Path | Index | Benchmark,
    queries: Sequence[str],
    *,
    system: str = "BindBM25",
    top: int = 10,
    output: str | Path | None = None,
    progress: Progress = silent,
) -> list[list[Hit]]:
    """Rank the documents of an index or a benchmark for some queries, best first, as on a leaderboard.

    Args:
        source: an index or a benchmark, or its folder; a benchmark's own queries and judgments play no part.
        queries: texts; conditions are read from them.
        system: of the grammar (`qbench systems`).
        top: documents for each query, at most.
        output: folder that keeps the indexes of the system; by default `.NAME.search` beside the source's folder, or
            here for a benchmark in memory.
        progress: reports how far an index is that takes long.

    Raises:
        InputError: the folder is neither, or damaged; or a query is empty.
        OptionError: `top` is below 1, or the queries are one text.
        UnknownNameError: there is no such system.
        MissingPackageError: the system needs a package that is not installed.
    """
    if isinstance(queries, str):
        raise OptionError("queries are a list", value=queries, remedy="Put the query into one")
    if top < 1:
        raise OptionError("top is at least 1", value=top)
    if any(not text.strip() for text in queries):
        raise InputError("the query is empty", remedy='For example: "laptop under 2 kg"')
    parsed, bench = parse_system(system), _bench(source, output, progress)
    conditions_of: ConditionSource = "parsed" if parsed.uses_conditions else "none"
    if not queries:
        return []
    asked = [Query(str(number), text) for number, text in enumerate(queries)]
    depth = max(DEPTH, top, *(stage.k for stage in parsed.rerankers))
    first = bench.first_stage(parsed.first, depth)
    bench.build(parsed)
    job = Job(parsed, conditions_of, "", Path(), {"depth": depth})
    rankings = Pipeline(bench, first.ranker, [job], asked).run(job).rankings
    found = []
    for query, ranking in zip(asked, rankings, strict=True):
        conditions = bench.conditions(query, conditions_of).conditions
        best = zip(ranking.docs[:top].tolist(), ranking.scores[:top].tolist(), strict=True)
        found.append([_hit(bench, doc, score, conditions) for doc, score in best])
    return found


def _bench(source: str | Path | Index | Benchmark, output: str | Path | None, progress: Progress) -> Bench:
    if isinstance(source, Index):
        beside = source.path
    else:
        beside = Path(source.name if isinstance(source, Benchmark) else source)
    if isinstance(source, str | Path):
        is_index = (beside / MANIFEST).is_file() and read_manifest(beside).kind == "index"
        source = Index.open(beside) if is_index else open_benchmark(beside)
    benchmark = as_benchmark(source) if isinstance(source, Index) else source
    root = Path(output) if output is not None else beside.absolute().with_name(f".{beside.absolute().name}.search")
    options = ExecuteOptions()
    return Bench(
        benchmark, benchmark_key(benchmark), root / "indexes", options.document_quantities,
        options.extractor_of(benchmark), None, progress, options.access.recording_in(root),
    )  # fmt: skip


def as_benchmark(index: Index) -> Benchmark:
    """The sentences of an index and their quantities as a benchmark without queries."""
    params = {"quantities": "extracted", "extractor": index.extractor_options().key()}
    return Benchmark(
        name=index.path.name,
        corpus=index.collected(index.sentences().select(*corpus_schema())),
        queries=[],
        qrels=empty("qrels"),
        quantities=lambda: index.collected(index.quantities().select(*quantity_schema())),
        params=params,
        digest=index.manifest.digest,
    )


def _hit(bench: Bench, doc: int, score: float, conditions: Sequence[Condition]) -> Hit:
    mentions = bench.mentions.of(doc) if conditions else ()
    met = [_span(one) for one in mentions if any(verdict(one, condition) == "met" for condition in conditions)]
    return Hit(bench.corpus["doc_id"][doc], bench.corpus["passage"][doc], score, tuple(sorted(set(met))))


def _span(mention: Quantity) -> Span:
    """The characters of a value, with its unit where that stands beside it."""
    start, end = mention.value_span
    unit = mention.unit_span
    return (start, max(end, unit[1])) if unit is not None and 0 <= unit[0] - end <= 1 else (start, end)
