"""The steps of an experiment: mask a benchmark, train a model, make a leaderboard, each kept by its key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.mask import mask_benchmark
from qbench.benchmark.types import Split
from qbench.errors import BusyError, InputError, OptionError, QbenchError
from qbench.evaluation.significance import SignificanceTests
from qbench.leaderboard.experiment_types import (
    Experiment,
    LeaderboardPlan,
    Mask,
    Training,
    filled,
    recipe_of,
    systems_of,
)
from qbench.leaderboard.page import write_page
from qbench.leaderboard.run import run_leaderboard, select_queries
from qbench.leaderboard.table import Leaderboard
from qbench.llm.client import Access
from qbench.models.folders import model_digest, model_folder
from qbench.progress import Progress
from qbench.retrieval.jobs import Setting
from qbench.retrieval.systems import System
from qbench.store import Manifest
from qbench.training.recipes import ContrastiveRecipe

KEY = 8
"""Digits of the digest in a folder's name; the manifest has the whole digest."""

WORK = "work"
"""Folder of runs, indexes and answers of servers."""


class Steps:
    """The steps of one run of an experiment, with their shared state.

    Args:
        experiment: the experiment to run.
        values: input -> value.
        folder: output folder.
        progress: called with the number of steps done.
        tell: called with one line for each finished step.
        command: the command line, for the leaderboards.

    Attributes:
        failed: leaderboard -> the error that left it without a single run.
        notes: warnings to print with the figures.
    """

    def __init__(
        self,
        experiment: Experiment,
        values: Mapping[str, str],
        folder: Path,
        progress: Progress,
        tell: Callable[[str], None],
        command: str | None = None,
    ) -> None:
        self.command = command
        self.experiment, self.inputs, self.folder = experiment, dict(values), folder
        self.progress, self.tell = progress, tell
        self.failed: dict[str, QbenchError] = {}
        self.notes: list[str] = []
        # Masked benchmarks and checkpoints to come stand under their own names, so that systems can be checked.
        self._values = {**values, **{name: name for name in experiment.produced}}
        self._opened: dict[tuple[str, str | None], Benchmark] = {}
        self._trained: dict[str, dict[str, Any]] = {}

    def check(self) -> None:
        """Check the inputs before any long computation.

        Raises:
            QbenchError: a benchmark or a model cannot be opened, an option or a system makes no sense, or a benchmark
                lacks what a mask or a leaderboard needs.
        """
        for mask in self.experiment.masks:
            if self._source(mask.bench).quantities is None:
                raise InputError("this benchmark has no quantities to mask", value=self._fill(mask.bench))
        for training in self.experiment.trainings:
            self._check_training(training)
        for leaderboard in self.experiment.leaderboards:
            self._check_leaderboard(leaderboard)
        self._check_queries()

    def _check_training(self, training: Training) -> None:
        recipe = recipe_of(training, self._fill)
        bench = self._source(training.bench)
        if not bench.queries_of("train"):
            raise InputError(
                f"{training.name}: the benchmark has no training split",
                value=self._fill(training.bench),
                remedy="Generate one with `qbench gen-queries`",
            )
        if training.joint is not None:
            self._source(training.joint)
        for model in (training.model, training.teacher):
            if model is not None:
                self._require_model(self._fill(model))
        methods = set() if bench.samples is None else set(bench.samples["method"].unique())
        missing: list[str] = sorted(set(recipe.methods) - methods) if "methods" in training.recipe and methods else []
        kinds = {query.kind for query in bench.queries_of("train")}
        missing += sorted(set(recipe.kinds) - kinds)
        note = f"{training.name}: {bench.name} has no training samples of this kind"
        self.notes += [f"{note}: {kind}." for kind in missing]

    def _check_leaderboard(self, leaderboard: LeaderboardPlan) -> None:
        bench = self._source(leaderboard.bench, leaderboard.qrels)
        queries, _ = select_queries(bench, leaderboard.split)
        if leaderboard.conditions == "given" and not any(query.conditions for query in queries):
            raise OptionError(f"leaderboard {leaderboard.name}: these queries come without conditions", value="given")
        for system in systems_of(leaderboard, self._fill).values():
            for stage in system.stages:
                if stage.entry().is_neural:
                    self._require_model(stage.options().model)

    def _check_queries(self) -> None:
        """Check that leaderboards compared in one table have the same queries."""
        leaderboards = {leaderboard.name: leaderboard for leaderboard in self.experiment.leaderboards}
        for table in self.experiment.tables:
            if table.change_from is None:
                continue
            queries_of = {name: self._queries(leaderboards[name]) for name in table.leaderboards or leaderboards}
            expected = queries_of[table.change_from]
            other = next((name for name, queries in queries_of.items() if queries != expected), None)
            if other is not None:
                raise OptionError(
                    f"table {table.title} compares leaderboards with different queries",
                    value=f"{table.change_from} and {other}",
                    remedy="Remove change_from, or mask one benchmark for both",
                )

    def _queries(self, leaderboard: LeaderboardPlan) -> set[tuple[str, str]]:
        bench = self._source(leaderboard.bench, leaderboard.qrels)
        return {(query.query_id, query.text) for query in bench.queries_of(leaderboard.split)}

    def searched(self) -> list[tuple[Benchmark, list[System], Split, list[Setting]]]:
        """Benchmarks, the systems that search them, split and settings of their queries, without repetitions."""
        together: dict[tuple[str, str | None, Split], tuple[dict[str, System], dict[Setting, None]]] = {}
        for leaderboard in self.experiment.leaderboards:
            place = (self._fill(leaderboard.bench), leaderboard.qrels, leaderboard.split)
            systems, settings = together.setdefault(place, ({}, {}))
            systems.update((str(system), system) for system in systems_of(leaderboard, self._fill).values())
            settings[leaderboard.conditions] = None
        return [
            (self._source(bench, qrels), list(systems.values()), split, list(settings))
            for (bench, qrels, split), (systems, settings) in together.items()
        ]

    def _require_model(self, model: str) -> None:
        if model not in self.experiment.produced:
            model_folder(model)

    def _fill(self, text: str) -> str:
        return filled(text, self._values)

    def _source(self, bench: str, qrels: str | None = None) -> Benchmark:
        """The benchmark of that name; for a masked benchmark of this experiment, its source."""
        path = self._fill(bench)
        mask = next((mask for mask in self.experiment.masks if mask.name == path), None)
        return self._open(path, qrels) if mask is None else self._source(mask.bench)

    def _open(self, path: str, qrels: str | None = None) -> Benchmark:
        if (path, qrels) not in self._opened:
            if not Path(path).exists():
                raise InputError("no such benchmark", file=Path(path))
            self._opened[path, qrels] = open_benchmark(Path(path), qrels=qrels)
        return self._opened[path, qrels]

    def mask(self, mask: Mask) -> None:
        """Write a masked benchmark."""
        masked = mask_benchmark(self._open(self._fill(mask.bench)), mask.what)
        self._values[mask.name] = str(self.folder / "benchmarks" / f"{mask.what}-{masked.digest[:KEY]}")
        write_benchmark(masked, self._values[mask.name])
        self.tell(f"mask {mask.name}: {masked.params['counts']['masked']['spans']:,} {mask.what}")

    def train(self, training: Training) -> None:
        """Train a checkpoint."""
        from qbench.training.contrastive import checkpoint_key, idle_options, setback, train_retriever

        bench, model = self._open(self._fill(training.bench)), self._fill(training.model)
        joint = None if training.joint is None else self._open(self._fill(training.joint))
        teacher = None if training.teacher is None else self._fill(training.teacher)
        recipe = recipe_of(training, self._fill)
        # One file is for benchmarks of all kinds: what says nothing of this one is left out.
        for name, reason in idle_options(recipe, bench, joint).items():
            recipe = replace(recipe, **{name: getattr(ContrastiveRecipe(), name)})
            self.notes.append(f"{training.name}: {name} changes nothing: {reason}.")
        how: dict[str, Any] = {"recipe": recipe, "joint": joint, "teacher": teacher}
        key = checkpoint_key(training.kind, bench, model, **how)
        folder = self.folder / "checkpoints" / f"{training.kind}-{key[:KEY]}"
        manifest = train_retriever(training.kind, bench, folder, model, **how, progress=self.progress)
        self._values[training.name] = str(folder)
        self._trained[training.name] = self._described(training, bench, joint, manifest)
        if worse := setback(manifest.counts):
            self.notes.append(f"{training.name}: {worse}.")
        before, after = (manifest.counts.get(name) for name in ("dev_untrained", "dev"))
        figures = "" if after is None else f"; nDCG@10 {before:.3f} before, {after:.3f} after"
        epochs = f"best epoch {manifest.counts['best_epoch']} of {manifest.counts['epochs']}"
        self.tell(f"train {training.name}: {epochs}{figures}")

    def _described(
        self, training: Training, bench: Benchmark, joint: Benchmark | None, manifest: Manifest
    ) -> dict[str, Any]:
        """What a checkpoint was made from, under the names of this experiment."""
        named = {name: f"{{{name}}}" for name in (*self.inputs, *self.experiment.produced)}
        return {
            **manifest.params,
            "base_name": filled(training.model, named),
            "benchmark_name": bench.name,
            **({} if joint is None else {"joint_name": joint.name}),
            **({} if training.teacher is None else {"teacher_name": filled(training.teacher, named)}),
            "digest": manifest.digest,
            "counts": dict(manifest.counts),
        }

    def leaderboard(
        self,
        leaderboard: LeaderboardPlan,
        output: Path,
        tests: SignificanceTests,
        *,
        workers: int | None,
        access: Access | None,
        page: str | None,
    ) -> Leaderboard | None:
        """Compute a leaderboard; None if every system fails, with the reason in `failed`."""
        systems = systems_of(leaderboard, self._fill)
        try:
            result = run_leaderboard(
                self._open(self._fill(leaderboard.bench), leaderboard.qrels),
                list(systems.values()),
                output=output,
                work=self.folder / WORK,
                labels={str(system): row for row, system in systems.items()},
                command=None if self.command is None else f"{self.command}, leaderboard {leaderboard.name}",
                split=leaderboard.split,
                measures=leaderboard.measures,
                settings=(leaderboard.conditions,),
                depth=leaderboard.depth,
                evidence=page is not None,
                by=tests.by,
                resamples=tests.resamples,
                seed=tests.seed,
                workers=workers,
                access=access,
                progress=self.progress,
            )
        except BusyError:
            raise
        except QbenchError as error:
            self.failed[leaderboard.name] = error
            self.tell(f"leaderboard {leaderboard.name}: no row has a run: {error}")
            return None
        if page is not None:
            write_page(result, output / page)
            # Evidence is not needed after writing; drop it to free memory.
            result = replace(result, evidence=None)
        best = result.rows[0]
        without_run = f"; rows without a run: {len(result.problems)}" if result.problems else ""
        figure = f"{result.primary} {best.cells[result.primary].mean:.3f}"
        self.tell(f"leaderboard {leaderboard.name}: {best.entry.label} first, {figure}{without_run}")
        return result

    def about(self, leaderboards: Mapping[str, Leaderboard]) -> dict[str, Any]:
        """Provenance of the figures without paths: names and digests of benchmarks and models."""
        return {
            "experiment": {"name": self.experiment.name, "digest": self.experiment.digest},
            "inputs": {name: self._named(name, value) for name, value in self.inputs.items()},
            "trainings": self._trained,
            "versions": {
                k: v for leaderboard in leaderboards.values() for k, v in leaderboard.about["versions"].items()
            },
        }

    def _named(self, name: str, value: str) -> dict[str, str]:
        """Name and digest of a benchmark or model, the file name of any other path, any other value unchanged."""
        bench = next((bench for (path, _), bench in self._opened.items() if path == value), None)
        if bench is not None:
            return {"benchmark": bench.name, "digest": bench.digest}
        if any(f"{{{name}}}" in text for text in self._trained_from()) or value in self._searched_with():
            return {"model": Path(value).name, "digest": model_digest(model_folder(value))}
        return {"value": Path(value).name if Path(value).exists() else value}

    def _trained_from(self) -> list[str]:
        """The texts that name a model in trainings, and in the defaults of the inputs that they use."""
        texts = [text for training in self.experiment.trainings for text in (training.model, training.teacher or "")]
        inputs = self.experiment.inputs.items()
        return texts + [entry.default or "" for name, entry in inputs if any(f"{{{name}}}" in text for text in texts)]

    def _searched_with(self) -> set[str]:
        """The models on this machine that systems name; a chat model is none."""
        return {
            value
            for leaderboard in self.experiment.leaderboards
            for system in systems_of(leaderboard, self._fill).values()
            for stage in system.stages
            for value in stage.checkpoints
        }
