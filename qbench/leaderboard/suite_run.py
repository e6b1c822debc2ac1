"""Run a suite: mask, train, make the boards, and the tables over them. What was made before is not made again.

    OUTPUT/benchmarks/MASK-KEY    OUTPUT/checkpoints/TRAINING-KEY    OUTPUT/work (runs and indexes)
    OUTPUT/STUDY/BOARD/leaderboard.*    OUTPUT/STUDY/suite.md, suite.json

Suites that name the same folder share checkpoints, runs and indexes: each is kept by what it was made from. A study is
a suite on a benchmark: main-finance, where the suite has an input `bench`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.errors import InputError, OptionError
from qbench.evaluation.significance import RESAMPLES, check_resamples
from qbench.leaderboard.suite_tables import SuiteTable, make_table
from qbench.leaderboard.suites import Suite, filled, recipe_of, systems_of
from qbench.models.folders import model_digest, model_folder
from qbench.progress import Progress, silent
from qbench.store import locked, write_json, write_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from qbench.benchmark.disk import Benchmark
    from qbench.leaderboard.table import Leaderboard
    from qbench.llm.client import Access
    from qbench.store import Manifest


KEY = 8
"""Digits of a digest in a folder's name; the whole one stands in its manifest."""


@dataclass(frozen=True)
class SuiteResult:
    """A suite that ran.

    Attributes:
        suite: what ran.
        boards: name -> leaderboard.
        tables: over them.
        about: what it was made from: inputs, masks, trainings, versions.
    """

    suite: Suite
    boards: Mapping[str, Leaderboard]
    tables: tuple[SuiteTable, ...]
    about: Mapping[str, Any] = field(default_factory=dict)

    def to_markdown(self) -> str:
        """Title, what it was made from, and the tables."""
        from qbench.leaderboard.suite_documents import markdown

        return markdown(self)

    def to_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        from qbench.leaderboard.suite_documents import as_dict

        return as_dict(self)


def plan_suite(suite: Suite, given: Mapping[str, str]) -> list[str]:
    """What a suite would make, a line each.

    Args:
        suite: from `read_suite`.
        given: input -> value.

    Raises:
        OptionError: as in `inputs_of`.
    """
    values = inputs_of(suite, given)
    lines = [f"mask {mask.name}: {mask.what} of {filled(mask.bench, values)}" for mask in suite.masks]
    values |= {name: f"{{{name}}}" for name in suite.made}
    lines += [
        f"train {one.name}: {one.kind} from {filled(one.model, values)} on {filled(one.bench, values)}"
        for one in suite.trainings
    ]
    for board in suite.boards:
        lines.append(f"board {board.name}, on {filled(board.bench, values)}: {', '.join(board.systems)}")
    return lines


def inputs_of(suite: Suite, given: Mapping[str, str]) -> dict[str, str]:
    """The values of a suite's inputs: those given, else their defaults.

    Raises:
        OptionError: one is missing, or there is no input of a name.
    """
    for name in given:
        if name not in suite.inputs:
            known = ", ".join(f"{one} ({what.help})" for one, what in suite.inputs.items()) or "none"
            raise OptionError("this suite has no such input", value=name, remedy=f"Its inputs: {known}")
    values: dict[str, str] = {}
    for name, one in suite.inputs.items():
        if name not in given and one.default is None:
            raise OptionError(f"this suite needs {name}: {one.help}", remedy=f"Add --with {name}=...")
        values[name] = given[name] if name in given else filled(one.default or "", values)
    return values


def run_suite(
    suite: Suite,
    given: Mapping[str, str],
    output: str | Path,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    workers: int | None = None,
    access: Access | None = None,
    progress: Progress = silent,
    tell: Callable[[str], None] = lambda line: None,
) -> SuiteResult:
    """Make everything that a suite names, and write its page.

    Args:
        suite: from `read_suite`.
        given: input -> value: folders, names of models, numbers.
        output: the folder of everything that is made.
        resamples, seed: of the tests.
        workers, access: as in `run_leaderboard`.
        progress: told what is being done.
        tell: told in a line what was done.

    Raises:
        OptionError: an input is missing or unknown, or an option makes no sense.
        InputError: a benchmark or model cannot be read.
        BusyError: another process is writing to `output`.
    """
    check_resamples(resamples)
    folder = Path(output).absolute()
    if folder.exists() and not folder.is_dir():
        raise OptionError("the output is a file, and a folder is needed", file=folder)
    with locked(folder):
        run = _Run(suite, inputs_of(suite, given), folder, progress, tell)
        run.check()
        for mask in suite.masks:
            run.mask(mask.name)
        for training in suite.trainings:
            run.train(training.name)
        boards = {board.name: run.board(board.name, resamples, seed, workers, access) for board in suite.boards}
        tables = tuple(make_table(table, suite, boards, resamples, seed) for table in suite.tables)
        result = SuiteResult(suite, boards, tables, run.about(boards))
        write_text(run.place / "suite.md", result.to_markdown())
        write_json(run.place / "suite.json", result.to_dict())
    return result


def study_name(suite: Suite, given: Mapping[str, str]) -> str:
    """The folder of a suite's pages: its name, and that of the benchmark that is its input `bench`."""
    bench = inputs_of(suite, given).get("bench")
    return suite.name if bench is None else f"{suite.name}-{Path(bench).resolve().name}"


class _Run:
    """One run of a suite: what its steps share."""

    def __init__(
        self,
        suite: Suite,
        values: dict[str, str],
        folder: Path,
        progress: Progress,
        tell: Callable[[str], None],
    ) -> None:
        self.suite, self.inputs, self.folder = suite, dict(values), folder
        self.place = folder / study_name(suite, values)
        self.progress, self.tell = progress, tell
        # What is not made yet stands for itself, so that systems can be checked.
        self.values = values | {name: name for name in suite.made}
        self.opened: dict[str, Benchmark] = {}
        self.trained: dict[str, Manifest] = {}

    def check(self) -> None:
        """Whatever can be wrong is said before hours of work."""
        made = set(self.suite.made)
        texts = [one.bench for one in self.suite.masks] + [one.bench for one in self.suite.boards]
        for one in self.suite.trainings:
            texts += [one.bench] + ([] if one.joint is None else [one.joint])
        for place in dict.fromkeys(self.fill(text) for text in texts):
            if place not in made:
                self.open(place)
        for training in self.suite.trainings:
            recipe_of(training, self.fill)
            for model in (training.model, training.teacher):
                if model is not None and self.fill(model) not in made:
                    model_folder(self.fill(model))
        for board in self.suite.boards:
            systems_of(board, self.fill)

    def fill(self, text: str) -> str:
        return filled(text, self.values)

    def open(self, place: str, qrels: str | None = None) -> Benchmark:
        from qbench.benchmark.disk import open_benchmark

        key = f"{place}\x1f{qrels}"
        if key not in self.opened:
            if not Path(place).exists():
                raise InputError("no such benchmark", file=Path(place))
            self.opened[key] = open_benchmark(Path(place), qrels=qrels)
        return self.opened[key]

    def mask(self, name: str) -> None:
        from qbench.benchmark.disk import write_benchmark
        from qbench.benchmark.mask import mask_benchmark

        mask = next(one for one in self.suite.masks if one.name == name)
        made = mask_benchmark(self.open(self.fill(mask.bench)), mask.what)
        self.values[name] = str(self.folder / "benchmarks" / f"{name}-{made.digest[:KEY]}")
        write_benchmark(made, self.values[name])
        self.tell(f"mask {name}: {made.params['counts']['masked']['spans']:,} {mask.what}")

    def train(self, name: str) -> None:
        from qbench.training.contrastive import checkpoint_key, train_retriever

        training = next(one for one in self.suite.trainings if one.name == name)
        what = training.kind, self.open(self.fill(training.bench))
        model, recipe = self.fill(training.model), recipe_of(training, self.fill)
        joint = None if training.joint is None else self.open(self.fill(training.joint))
        teacher = None if training.teacher is None else self.fill(training.teacher)
        key = checkpoint_key(*what, model, recipe, joint=joint, teacher=teacher)
        place = self.folder / "checkpoints" / f"{name}-{key[:KEY]}"
        manifest = train_retriever(*what, place, model, recipe, joint=joint, teacher=teacher, progress=self.progress)
        self.values[name] = str(place)
        self.trained[name] = manifest
        before, after = (manifest.counts.get(key) for key in ("dev_untrained", "dev"))
        figures = "" if after is None else f"; nDCG@10 {before:.3f} before, {after:.3f} after"
        self.tell(f"train {name}: best epoch {manifest.counts['best_epoch']} of {manifest.counts['epochs']}{figures}")

    def board(self, name: str, resamples: int, seed: int, workers: int | None, access: Access | None) -> Leaderboard:
        from qbench.leaderboard.run import run_leaderboard

        board = next(one for one in self.suite.boards if one.name == name)
        systems = systems_of(board, self.fill)
        made = run_leaderboard(
            self.open(self.fill(board.bench), board.qrels),
            list(systems.values()),
            output=self.place / name,
            work=self.folder / "work",
            names={str(system): row for row, system in systems.items()},
            command=f"qbench leaderboard --suite {self.suite.name}.toml, board {name}",
            split=board.split,
            measures=board.measures,
            settings=(board.conditions,),
            depth=board.depth,
            resamples=resamples,
            seed=seed,
            workers=workers,
            access=access,
            progress=self.progress,
        )
        best = made.rows[0]
        lost = f"; {len(made.problems)} rows have no run" if made.problems else ""
        self.tell(f"board {name}: {best.entry.label} first, {made.primary} {best.cells[made.primary].mean:.3f}{lost}")
        return made

    def about(self, boards: Mapping[str, Leaderboard]) -> dict[str, Any]:
        """What the figures come from, without a path: benchmarks and models by what is in them."""
        return {
            "suite": {"name": self.suite.name, "digest": self.suite.digest},
            "inputs": {name: self._named(value) for name, value in self.inputs.items()},
            "trainings": {name: _training(manifest) for name, manifest in self.trained.items()},
            "versions": {k: v for board in boards.values() for k, v in board.about["versions"].items()},
        }

    def _named(self, value: str) -> dict[str, str]:
        """A folder by its name and digest; anything else as it is."""
        known = next((bench for place, bench in self.opened.items() if place.startswith(f"{value}\x1f")), None)
        if known is not None:
            return {"benchmark": known.name, "digest": known.digest}
        if Path(value).is_dir():
            return {"model": Path(value).name, "digest": model_digest(model_folder(value))}
        return {"value": value}


def _training(manifest: Manifest) -> dict[str, Any]:
    kept = ("trained", "base_name", *(name for name in ("joint", "teacher") if manifest.params.get(name)))
    recipe = {name: manifest.params[name] for name in (*kept, "epochs", "batch_size", "lr", "loss", "methods", "kinds")}
    recipe |= {name: manifest.params[name] for name in ("max_pairs", "max_length", "seed")}
    return {**recipe, "digest": manifest.digest, "counts": dict(manifest.counts)}
