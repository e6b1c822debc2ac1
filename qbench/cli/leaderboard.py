"""`qbench leaderboard`: run systems on a benchmark, test the differences, show a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from qbench.cli.from_options import BY_NAME, UNRECORDED, CommandLine, changed, command
from qbench.cli.options import ModelOptions, ServerOptions, ShowOptions, TableOptions
from qbench.cli.recorded import named_input
from qbench.cli.records import print_records
from qbench.errors import OptionError
from qbench.options import option
from qbench.work.engines import EngineOptions

if TYPE_CHECKING:
    from qbench.leaderboard.table import Leaderboard
    from qbench.llm.client import Access
    from qbench.progress import Progress
    from qbench.retrieval.jobs import Setting

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HOME = Path("qbench-leaderboard")


def _shown(system: str) -> str:
    """A system as it is recorded."""
    from qbench.leaderboard.views import shown_name

    return shown_name(system)


@dataclass(frozen=True)
class RunOptions:
    """The systems, and how they are run."""

    systems: tuple[str, ...] = option(
        (),
        help="A system, as `qbench systems` lists them; repeat it for more. LABEL=SYSTEM names its row. "
        "[default: those of the board in the folder; of a new one BM25, BM25_filter, QBM25, BindBM25] "
        "On a test set with the corpus in front: C_s- for sentences, C_q- for descriptions. "
        "[default: C_s-BM25, C_q-BM25]",
        recorded=_shown,
    )
    only: bool = option(
        False,
        help="Begin a new board with these systems alone, instead of adding them to that in the folder.",
        recorded=False,
    )
    conditions: Literal["given", "parsed", "both"] | None = option(
        None,
        help="Give systems the queries' conditions as data, parse them from the text, or both, a row each. "
        "[default: both where the benchmark has conditions, else parsed]",
    )
    document_quantities: Literal["auto", "stored", "extracted"] = option(
        "auto",
        help="Show systems the benchmark's own quantities of its documents (stored), or those extracted from the "
        "texts by qbench (extracted). auto: its own where an extractor made them, never gold ones.",
    )
    depth: int = option(
        1000,
        help="Number of documents kept per query. Those whose judgment is undecided are left out after that.",
        low=1,
    )
    pool: int | None = option(
        None,
        help="Count as relevant only documents that some system ranked among its first N. [default: all relevant ones]",
        low=1,
        metavar="N",
    )

    @property
    def settings(self) -> tuple[Setting, ...] | None:
        """Where systems take conditions from; None for the default."""
        if self.conditions is None:
            return None
        return ("given", "parsed") if self.conditions == "both" else (self.conditions,)


@dataclass(frozen=True)
class ExperimentOptions:
    """The file of an experiment, and its inputs."""

    experiment: Path | None = option(
        None,
        help="Run an experiment instead: trainings, several leaderboards, tables over them. A file, or one that comes "
        "with qbench: main, cross_dataset, masking, augmentation, numconq, alpha, storage, compression, "
        "language_models.",
        metavar="NAME|FILE",
    )
    inputs: tuple[str, ...] = option(
        (),
        help="An input of the experiment; repeat it for more.",
        flag="with",
        metavar="NAME=VALUE",
        recorded=named_input,
    )
    suite: Path | None = option(None, help="An older name of --experiment.", hidden=True)

    @property
    def file(self) -> Path | None:
        """The file, or its name."""
        return self.experiment or self.suite


@command(app, "leaderboard")
def leaderboard(
    run: RunOptions,
    models: ModelOptions,
    table: TableOptions,
    shown: ShowOptions,
    server: ServerOptions,
    experiment: ExperimentOptions,
    engine: EngineOptions,
    line: CommandLine,
    benchmark: Annotated[
        Path | None,
        typer.Argument(
            help="A benchmark or a test set that qbench made, or a BEIR folder as it is. "
            "[default: a small one, made here]"
        ),
        BY_NAME,
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for runs and tables. [default: qbench-leaderboard/NAME]"),
        UNRECORDED,
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes that extract quantities. [default: number of cores]"),
        UNRECORDED,
    ] = None,
) -> None:
    """Run systems on a benchmark, score them, test their differences, show and write a table.

    Finished runs are reused, and interrupted ones resume. Another call into the same folder adds rows to its board.
    With --experiment a file says what is trained and run; the
    benchmark is then its input "bench", and --html names a page in each leaderboard's folder.

    Example: qbench leaderboard my-benchmark --systems BM25 --systems "QBM25(alpha=0.5)"
    """
    from qbench.cli.console import progress, show_forecast
    from qbench.cli.experiment import show_experiment
    from qbench.leaderboard.forecast import forecast
    from qbench.leaderboard.page import check_page
    from qbench.leaderboard.run import run_leaderboard
    from qbench.leaderboard.views import with_models

    access = server.access()
    if experiment.file is not None:
        _refuse_own(run, models, engine, table, shown)
        show_experiment(
            experiment.file,
            benchmark,
            experiment.inputs,
            output,
            tests=table.tests,
            shown=shown,
            dry_run=server.dry_run,
            workers=workers,
            access=access,
            command=line,
        )
        return
    if experiment.inputs:
        raise OptionError("this option is for experiments", value="--with", remedy="Name one with --experiment")
    if shown.html is not None:
        check_page(shown.html)
    with progress("leaderboard") as advance:
        benchmark, home = _benchmark(benchmark, advance)
        chosen = [with_models(name, models.models) for name in run.systems] or None
        if server.dry_run:
            show_forecast(*forecast(benchmark, chosen, work=output or home, access=access, **_runs(run, table)))
            return
        make = partial(
            run_leaderboard,
            benchmark,
            chosen,
            command=line,
            evidence=shown.html is not None,
            workers=workers,
            engine=engine.chosen(workers),
            access=access,
            progress=advance,
            **_runs(run, table),
            **_figures(run, table),
        )
        result, folder = _made_in(output, home, make)
    _report(result, shown, folder, access)


def _runs(run: RunOptions, table: TableOptions) -> dict[str, Any]:
    """What decides which runs are made, and so what servers are asked."""
    return {
        "split": table.split,
        "qrels": table.qrels,
        "settings": run.settings,
        "depth": run.depth,
        "document_quantities": run.document_quantities,
    }


def _figures(run: RunOptions, table: TableOptions) -> dict[str, Any]:
    """What decides which figures are made of the runs."""
    return {
        "add": not run.only,
        "measures": table.measures or None,
        "buckets": table.buckets,
        "pool": run.pool,
        "by": table.by,
        "resamples": table.resamples,
        "seed": table.seed,
    }


def _benchmark(benchmark: Path | None, progress: Progress) -> tuple[Path, Path]:
    """The benchmark, by default a small one that is made here, and where its leaderboard goes by default."""
    if benchmark is not None:
        return benchmark, HOME / (benchmark.resolve().name or "benchmark")
    from qbench.synth.embedded import embedded_benchmark

    return embedded_benchmark(HOME / "embedded", progress), HOME / "embedded"


def _made_in(output: Path | None, home: Path, make: Callable[..., Leaderboard]) -> tuple[Leaderboard, Path]:
    """The board, and its folder: by default the first of NAME, NAME-2, ... without a board of another benchmark."""
    from qbench.cli.console import note
    from qbench.leaderboard.board import OtherBenchmarkError

    if output is not None:
        return make(output=output), output
    folder = home
    for number in count(2):
        try:
            result = make(output=folder)
            break
        except OtherBenchmarkError:
            folder = home.with_name(f"{home.name}-{number}")
    if folder != home:
        note(f"{home} holds the board of another benchmark of this name; this one has its own folder")
    return result, folder


def _report(result: Leaderboard, shown: ShowOptions, folder: Path, access: Access) -> None:
    """Show a board and what its runs asked of servers; it is a failure if a row has no run."""
    from qbench.cli.console import note, note_asked, warn_of_answers

    show_leaderboard(result, shown, folder)
    warn_of_answers(result)
    note_asked(access.recording_in(folder))
    if result.problems:
        note(f"{len(result.problems)} of {len(result.rows)} rows have no run; the reasons stand under the table")
        raise typer.Exit(1)


def show_leaderboard(result: Leaderboard, shown: ShowOptions, folder: Path | None) -> None:
    """Print a leaderboard, and write its page; `folder` is where its tables were written."""
    from qbench.cli.console import note, out
    from qbench.leaderboard.page import write_page
    from qbench.leaderboard.terminal import show

    if shown.html is not None:
        write_page(result, shown.html)  # before the tables, whose reader may leave
    if shown.format != "text":
        print_records(result.to_frame().to_dicts(), shown.format)
    else:
        explain, console = shown.explain, out()
        tables = result.table(explain=explain, width=console.width if console.is_terminal else None)
        if shown.wins:
            tables += result.win_table(width=console.width)
        show(console, [*tables, *result.bucket_tables(explain=explain, width=console.width)])
        if not explain:
            note("How to read these tables: --explain")
    if folder is not None:
        note(f"Written to {folder}: leaderboard.md, .tex, .json, .parquet; scores, significance and buckets as Parquet")
    if shown.html is not None:
        note(f"The page: {shown.html}")


def _refuse_own(
    run: RunOptions, models: ModelOptions, engine: EngineOptions, table: TableOptions, shown: ShowOptions
) -> None:
    """Refuse the options that an experiment's own file states."""
    flags = [*changed(run), *changed(models), *changed(engine), *changed(table, "by", "resamples", "seed")]
    for flag in [*flags, *changed(shown, "html", "format")]:
        raise OptionError("an experiment's own file says this", value=flag, remedy="Omit it, or change the file")
