"""Search an index, or the corpus of a benchmark, with queries of one's own, by any system of the grammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.parquet import empty
from qbench.benchmark.types import Query, corpus_schema
from qbench.errors import InputError, OptionError
from qbench.index.disk import Index
from qbench.progress import Progress, silent
from qbench.quantities.conditions import verdict
from qbench.quantities.types import Condition, Quantity, Span, quantity_schema
from qbench.quantities.units import Units
from qbench.retrieval.bench import Bench
from qbench.retrieval.explaining import bench_of
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import Job
from qbench.retrieval.pipeline import Pipeline
from qbench.retrieval.rates import comparable
from qbench.store import MANIFEST, read_manifest

if TYPE_CHECKING:
    from qbench.retrieval.types import ConditionSource

RUN = "Run"
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
        OptionError: `top` is below 1, the queries are no list of texts, or the system is a run.
        UnknownNameError: there is no such system.
        MissingPackageError: the system needs a package that is not installed.
    """
    if isinstance(queries, str) or not all(isinstance(text, str) for text in queries):
        raise OptionError("queries are a list of texts", value=queries, remedy="Put the query into one")
    if top < 1:
        raise OptionError("top is at least 1", value=top)
    if any(not text.strip() for text in queries):
        raise InputError("the query is empty", remedy='For example: "laptop under 2 kg"')
    parsed, bench = parse_system(system), _bench(source, output, progress)
    if any(stage.model.name == RUN for stage in parsed.stages):
        raise OptionError("a run ranks the queries that it was made for alone", value=system, remedy="Name a system")
    if not queries:
        return []
    conditions_of: ConditionSource = "parsed" if parsed.uses_conditions else "none"
    asked = [Query(f"typed {number}", text) for number, text in enumerate(queries)]
    job = Job(parsed, conditions_of, "", Path(), {"depth": max(DEPTH, top)})
    first = bench.first_stage(parsed.first, job.deep)
    bench.build(parsed)
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
        if beside.is_file():
            remedy = f"Make an index of it: `qbench build-index {beside} -o FOLDER`"
            raise InputError("an index or a benchmark is searched, and this is a file", file=beside, remedy=remedy)
    if isinstance(source, str | Path):
        is_index = (beside / MANIFEST).is_file() and read_manifest(beside).kind == "index"
        source = Index.open(beside) if is_index else open_benchmark(beside)
    place = beside.resolve()
    root = Path(output) if output is not None else place.with_name(f".{place.name}.search")
    if isinstance(source, Index):
        return bench_of(as_benchmark(source), root, source.extractor_options(), progress)
    return bench_of(source, root, progress=progress)


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
    met = [_span(one) for one in mentions if any(_meets(one, condition, bench.units) for condition in conditions)]
    return Hit(bench.corpus["doc_id"][doc], bench.corpus["passage"][doc], score, tuple(sorted(set(met))))


def _meets(mention: Quantity, condition: Condition, units: Units) -> bool:
    """Whether a mention meets a condition, a rate as the amount in one period, too: rankings compare both."""
    compared = comparable(mention, condition, units)
    return compared is not None and verdict(compared, condition) == "met"


def _span(mention: Quantity) -> Span:
    """The characters of a value, with its unit where that stands beside it."""
    (start, end), unit = mention.value_span, mention.unit_span
    if unit is None or min(abs(unit[0] - end), abs(start - unit[1])) > 1:
        return start, end
    return min(start, unit[0]), max(end, unit[1])
