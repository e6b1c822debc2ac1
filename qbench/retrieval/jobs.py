"""Runs to compute: a system, its source of conditions, and the key of the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query, Split
from qbench.errors import InputError, OptionError
from qbench.keys import key, revision
from qbench.llm.client import Access
from qbench.models.folders import model_digest, model_folder
from qbench.options import Declared, check, declared, option
from qbench.progress import Progress, silent
from qbench.quantities.extractors import ExtractorOptions
from qbench.retrieval.api import identity
from qbench.retrieval.document_quantities import DocumentQuantities, extractor_options, uses_stored
from qbench.retrieval.language_models import language_model_identity
from qbench.retrieval.ranker_options import CohereOptions, LanguageModelOptions, MultiVectorOptions, OpenAIOptions
from qbench.retrieval.systems import Stage, System
from qbench.retrieval.types import ConditionSource
from qbench.store import file_digest, finished
from qbench.work.tasks import Engine

Setting = Literal["given", "parsed"]

SETTINGS: tuple[Setting, ...] = ("given", "parsed")

KIND = "run"


@dataclass(frozen=True)
class ExecuteOptions:
    """How systems run on a benchmark.

    Attributes:
        split: the split with the queries to run.
        settings: where conditions come from: "given" as data (oracle conditions), or "parsed" from the query's text by
            us (predicted conditions).
        depth: documents kept per query.
        document_quantities: whether the documents' quantities are the benchmark's own or found by our extractor; "auto"
            takes its own if they were extracted, and never gold ones.
        extractor: options of our extractor, for documents and queries; by default those of the benchmark.
        workers: processes that extract; as many as cores by default.
        progress: reports the number of queries done.
        access: how servers may be used; by default without a limit, their answers recorded in the folder of the runs.
        engine: what extracts, and encodes documents; processes of this machine, and this process,
            by default. It changes no result.
    """

    split: Split = "test"
    settings: tuple[Setting, ...] = SETTINGS
    depth: int = option(1000, help="documents kept per query", low=1)
    document_quantities: DocumentQuantities = "auto"
    extractor: ExtractorOptions | None = None
    workers: int | None = None
    progress: Progress = silent
    access: Access = field(default_factory=Access)
    engine: Engine | None = None

    def extractor_of(self, benchmark: Benchmark) -> ExtractorOptions:
        """The options of the extractor on a benchmark."""
        return self.extractor or extractor_options(benchmark)


@dataclass(frozen=True)
class Job:
    """A run to compute.

    Attributes:
        system: the system.
        source: source of the queries' conditions.
        key: digest of everything that can change the run.
        folder: folder of the run.
        params: parameters for the manifest.
    """

    system: System
    source: ConditionSource
    key: str
    folder: Path
    params: dict[str, Any]

    @property
    def deep(self) -> int:
        """Number of documents per query of the first stage: the depth of the run, or what looks at more of them."""
        system = self.system
        return max(int(self.params["depth"]), system.first.looks_at, *(stage.k for stage in system.rerankers[:1]), 1)

    @property
    def first_key(self) -> tuple[str, int]:
        """Key of the jobs that can share a first stage."""
        return str(self.system.first.bare), self.deep


def plan(
    benchmark: Benchmark,
    benchmark_key: str,
    systems: Sequence[System],
    queries: Sequence[Query],
    root: Path,
    options: ExecuteOptions,
) -> list[Job]:
    """The jobs, one per system without conditions and one per setting of every other; each once, in order.

    Raises:
        OptionError: an option is invalid, or the setting is given and no query has conditions.
        InputError: a run file or a model is missing.
    """
    check(options)
    sources: tuple[ConditionSource, ...] = tuple(dict.fromkeys(options.settings))
    conditional = [system for system in systems if system.uses_conditions]
    if conditional and not sources:
        raise OptionError(f"{conditional[0]} needs conditions", remedy="Use the setting given or parsed")
    if conditional and "given" in sources and not any(query.conditions for query in queries):
        raise OptionError(
            f"{conditional[0]} is to be given the queries' conditions, and no query of this split has any",
            remedy="Use the setting parsed: conditions are then read from the queries' texts",
        )
    common = {"benchmark": benchmark_key, "split": options.split, "depth": options.depth}
    unconditional: tuple[ConditionSource, ...] = ("none",)
    jobs: dict[tuple[str, str], Job] = {}
    for system in systems:
        stages, extraction = [_content(stage, benchmark.language) for stage in system.stages], {}
        if system.uses_conditions or system.uses_quantities:
            stored = uses_stored(benchmark, options.document_quantities)
            extraction = {"stored": stored, **options.extractor_of(benchmark).key()}
        for source in sources if system.uses_conditions else unconditional:
            # Components instead of the name, which would change with a file's path.
            content = {"stages": stages, "conditions": source, **common, **extraction}
            name = key("run", **content, steps=_revisions(system))
            params = {**common, "system": system.shown(), "conditions": source}
            jobs.setdefault((str(system), source), Job(system, source, name, root / name, params))
    return list(jobs.values())


def _revisions(system: System) -> dict[str, int]:
    used = [step for stage in system.stages for step in stage.entry().steps]
    used += ["compressed vectors"] if any(stage.compression for stage in system.stages) else []
    used += ["analysis", "quantities", "quantity-index"] if system.uses_conditions or system.uses_quantities else []
    used += ["binding-index"] if any(stage.binds for stage in system.stages) else []
    used += ["mention texts", "dense"] if any(stage.encoder for stage in system.stages) else []
    options = system.first.options()
    probes = isinstance(options, MultiVectorOptions) and options.engine != "exact"
    measured = {"candidate recall": revision("candidate recall")} if probes else {}
    return {step: revision(step) for step in used} | measured


def _content(stage: Stage, language: str) -> dict[str, Any]:
    """Content of a stage for keys: files and checkpoints by their digests, servers by their addresses.

    Args:
        stage: of a system.
        language: code of the language of the benchmark's texts.
    """
    others: dict[str, Any] = {}
    if stage.compression is not None:
        if not stage.entry().stores_vectors:
            message = f"{stage.model.name} stores no vectors that could be compressed"
            raise OptionError(message, value=str(stage.compression), remedy="Leave the compression out")
        others["compression"] = [stage.compression.name, stage.compression_options().key()]
    if stage.quantity is not None:
        options = stage.quantity_options()
        others["quantity"] = [stage.quantity.name, _digested(declared(type(options)), asdict(options))]
    if stage.fusion is not None:
        others["fusion"] = [stage.fusion.name, asdict(stage.fusion_options())]
    if stage.entry().version:
        others["version"] = stage.entry().version
    return {"model": stage.model.name, "options": _identity(stage, language), **others, "k": stage.k}


def _identity(stage: Stage, language: str) -> dict[str, Any]:
    """The options of a stage's model."""
    options = stage.options()
    if isinstance(options, OpenAIOptions | CohereOptions):
        return identity(options)
    if isinstance(options, LanguageModelOptions):
        return language_model_identity(options, language)
    values: dict[str, Any] = asdict(options)
    return _digested(stage.entry().declared, values)


def _digested(options: Iterable[Declared], values: dict[str, Any]) -> dict[str, Any]:
    """The values of options, with the digests of files and models in the place of their names."""
    for each in options:
        value = values[each.name]
        if "address" in each.extra:
            del values[each.name]
            continue
        if isinstance(value, Path):
            if not value.is_file():
                raise InputError("no such run file", file=value)
            values[each.name] = file_digest(value)
        if "checkpoint" in each.extra and value:
            values[each.name] = model_digest(model_folder(value), each.extra["checkpoint"])
    return values


def is_finished(job: Job) -> bool:
    """Whether the run exists and is complete."""
    return finished(job.folder, KIND, job.key)
