"""What is to be run: a system, where it takes conditions from, and the key under which its run is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from qbench.errors import InputError, OptionError
from qbench.keys import key, revision
from qbench.retrieval.document_quantities import DocumentQuantities, uses_stored
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.grammar import System, first_values, fusion_values, reranker_values
from qbench.retrieval.types import ConditionSource, Cost, RunResult
from qbench.store import file_digest, finished, read_json, read_manifest, write_json

if TYPE_CHECKING:
    import polars as pl

    from qbench.benchmark.disk import Benchmark
    from qbench.benchmark.types import Query
    from qbench.quantities.extractors import ExtractorOptions
    from qbench.retrieval.registry import Family, Value

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
        again = int(reranker_values(self.system)["k"]) if self.system.reranker else 0
        return max(int(self.params["depth"]), again)

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
        first, second = system.first.model, system.reranker.model if system.reranker else None
        values = _content(first.name, first_values(system))
        again = _content(second.name, reranker_values(system)) if second else {}
        extraction = {"stored": uses_stored(benchmark, where), **options.key()} if system.uses_conditions else {}
        for source in sources if system.uses_conditions else unconditional:
            # The parts say what is computed; the name would change with a file's path.
            parts = {**asdict(system), "first_values": values, "conditions": source}
            parts["first"]["model"]["params"] = ()
            if system.reranker is not None:
                parts |= {"reranker_values": again, "fusion_values": fusion_values(system)}
                parts["reranker"]["model"]["params"] = ()
            name = key("run", **common, **parts, **extraction, steps=_revisions(system))
            params = {**common, "system": str(system), "conditions": source}
            jobs.setdefault((str(system), source), Job(system, source, name, root / name, params))
    return list(jobs.values())


_STEPS: dict[Family, tuple[str, ...]] = {
    "lexical": ("bm25", "analysis"),
    "run": (),
    "single-vector": ("dense", "faiss"),
    "tct-colbert": ("dense",),
    "aggretriever": ("dense",),
    "api": ("dense",),
    "multi-vector": ("token vectors", "centroid index"),
    "sparse": ("sparse",),
}
"""The steps whose results a run of each family of models rests on."""


def _revisions(system: System) -> dict[str, int]:
    models = [system.first.model] + ([system.reranker.model] if system.reranker else [])
    families = {entry.name: entry.family for entry in REGISTRY.entries}
    used = [step for model in models if (family := families[model.name]) for step in _STEPS[family]]
    used += ["analysis", "quantities", "quantity-index"] if system.uses_conditions else []
    return {step: revision(step) for step in used}


def _content(name: str, given: Mapping[str, Value]) -> dict[str, Any]:
    """A model's parameters, a file or a checkpoint by what is in it, a server by its address."""
    values: dict[str, Any] = dict(given)
    families = {entry.name: entry.family for entry in REGISTRY.entries}
    if families[name] == "api":
        from qbench.retrieval.api import identity

        kept = {"k": values["k"]} if "k" in values else {}
        return {**kept, **identity({"entry": name, **given})}
    if "path" in values:
        path = Path(str(values["path"]))
        if not path.is_file():
            raise InputError("no such run file", file=path)
        values["path"] = file_digest(path)
    if "model" in values:
        from qbench.models.folders import model_digest, model_folder

        values["model"] = model_digest(model_folder(str(values["model"])), families[name])
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
