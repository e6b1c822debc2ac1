"""What is to be run: a system, where it takes conditions from, and the key under which its run is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from qbench.errors import InputError, OptionError
from qbench.keys import key, revision
from qbench.retrieval.document_quantities import DocumentQuantities, uses_stored
from qbench.retrieval.ranker_options import CohereOptions, OpenAIOptions
from qbench.retrieval.types import ConditionSource, Cost, RunResult
from qbench.store import file_digest, finished, read_json, read_manifest, write_json

if TYPE_CHECKING:
    import polars as pl

    from qbench.benchmark.disk import Benchmark
    from qbench.benchmark.types import Query
    from qbench.quantities.extractors import ExtractorOptions
    from qbench.retrieval.systems import Stage, System

Setting = Literal["given", "parsed"]

SETTINGS: tuple[Setting, ...] = ("given", "parsed")

KIND = "run"


@dataclass(frozen=True)
class Job:
    """One run to be made.

    Attributes:
        system: what runs.
        source: where it takes the queries' conditions from.
        key: the digest of everything that can change the run.
        folder: where the run is kept.
        params: for the manifest.
    """

    system: System
    source: ConditionSource
    key: str
    folder: Path
    params: dict[str, Any]

    @property
    def deep(self) -> int:
        """Documents per query that the first stage gives: what is kept of them, or what is ranked again."""
        return max(int(self.params["depth"]), *(stage.k for stage in self.system.rerankers[:1]), 1)

    @property
    def first_key(self) -> tuple[str, int]:
        """The same for all jobs that can share a first stage."""
        return str(self.system.first.bare), self.deep


def plan(
    benchmark: Benchmark,
    benchmark_key: str,
    systems: Sequence[System],
    queries: Sequence[Query],
    settings: Sequence[Setting],
    depth: int,
    root: Path,
    quantities: tuple[DocumentQuantities, ExtractorOptions],
) -> list[Job]:
    """The jobs, one per system without conditions and one per setting of every other; each once, in order.

    Raises:
        OptionError: an option makes no sense, or conditions are to be given and no query has any.
        InputError: a run file or a model is missing.
    """
    if depth < 1:
        raise OptionError("a run keeps at least one document per query", value=depth)
    sources: tuple[ConditionSource, ...] = tuple(dict.fromkeys(settings))
    for setting in settings:
        if setting not in SETTINGS:
            raise OptionError("unknown setting", value=setting, remedy="Use given or parsed")
    conditional = [system for system in systems if system.uses_conditions]
    if conditional and not sources:
        raise OptionError(f"{conditional[0]} needs conditions", remedy="Use the setting given or parsed")
    if conditional and "given" in sources and not any(query.conditions for query in queries):
        raise OptionError(
            f"{conditional[0]} is to be given the queries' conditions, and no query of this split has any",
            remedy="Use the setting parsed: conditions are then read from the queries' texts",
        )
    where, options = quantities
    common = {"benchmark": benchmark_key, "split": queries[0].split, "depth": depth}
    unconditional: tuple[ConditionSource, ...] = ("none",)
    jobs: dict[tuple[str, str], Job] = {}
    for system in systems:
        stages = [_content(stage) for stage in system.stages]
        extraction = {"stored": uses_stored(benchmark, where), **options.key()} if system.uses_conditions else {}
        for source in sources if system.uses_conditions else unconditional:
            # The components say what is computed; the name would change with a file's path.
            what = {"stages": stages, "conditions": source, **common, **extraction}
            name = key("run", **what, steps=_revisions(system))
            params = {**common, "system": str(system), "conditions": source}
            jobs.setdefault((str(system), source), Job(system, source, name, root / name, params))
    return list(jobs.values())


def _revisions(system: System) -> dict[str, int]:
    used = [step for stage in system.stages for step in stage.entry().steps]
    used += ["analysis", "quantities", "quantity-index"] if system.uses_conditions else []
    return {step: revision(step) for step in used}


def _content(stage: Stage) -> dict[str, Any]:
    """What a stage computes: a file or a checkpoint by what is in it, a server by its address."""
    tails = {"compression": stage.compression, "quantity": stage.quantity, "fusion": stage.fusion}
    return {
        "model": stage.model.name,
        "options": _identity(stage),
        **{name: str(tail) for name, tail in tails.items() if tail is not None},
        "k": stage.k,
    }


def _identity(stage: Stage) -> dict[str, Any]:
    """The options of a stage's model."""
    options = stage.options()
    if isinstance(options, OpenAIOptions | CohereOptions):
        from qbench.retrieval.api import identity

        return identity(options)
    values: dict[str, Any] = asdict(options)
    for option in stage.entry().declared:
        value = values[option.name]
        if isinstance(value, Path):
            if not value.is_file():
                raise InputError("no such run file", file=value)
            values[option.name] = file_digest(value)
        if "checkpoint" in option.extra:
            from qbench.models.folders import model_digest, model_folder

            values[option.name] = model_digest(model_folder(value), option.extra["checkpoint"])
    return values


def is_finished(job: Job) -> bool:
    """Whether the run is there already, whole."""
    return finished(job.folder, KIND, job.key)


def write_result(folder: Path, run: pl.DataFrame, cost: Cost, meta: dict[str, Any]) -> None:
    """Write a run and its cost into the folder of a draft."""
    run.write_parquet(folder / "run.parquet", compression="zstd")
    write_json(folder / "cost.json", {"cost": asdict(cost), "meta": meta})


def read_result(job: Job) -> RunResult:
    """A finished run.

    Raises:
        InputError: it is not there, or a file in it cannot be read.
    """
    import polars as pl

    read_manifest(job.folder, KIND)
    kept = read_json(job.folder / "cost.json")
    path = job.folder / "run.parquet"
    try:
        run = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError):
        remedy = "Remove its folder: it is then made again"
        raise InputError("a finished run cannot be read", file=path, remedy=remedy) from None
    return RunResult(str(job.system), job.source, run, Cost(**kept["cost"]), job.key, kept["meta"])
