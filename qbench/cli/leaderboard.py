"""`qbench leaderboard`: run systems on a benchmark, test the differences, show a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.options import (
    BudgetText,
    DryRun,
    Measures,
    Page,
    Part,
    PricesFile,
    Qrels,
    Recorded,
    Replay,
    Resamples,
    Seed,
    Wins,
    server_access,
)

if TYPE_CHECKING:
    from qbench.retrieval.jobs import Setting

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HOME = Path("qbench-leaderboard")


class Conditions(StrEnum):
    """Where systems take a query's conditions from."""

    given = "given"
    parsed = "parsed"
    both = "both"


class Quantities(StrEnum):
    """Whose quantities of the documents systems see."""

    auto = "auto"
    stored = "stored"
    extracted = "extracted"


@app.command()
def leaderboard(
    context: typer.Context,
    benchmark: Annotated[
        Path | None,
        typer.Argument(
            help="A benchmark or a test set that qbench made, or a BEIR folder as it is. "
            "[default: a small one, made here]"
        ),
    ] = None,
    systems: Annotated[
        list[str] | None,
        typer.Option(
            help="A system, as `qbench systems` lists them; repeat it for more. [default: BM25, BM25_filter, QBM25] "
            "On a test set with the corpus in front: C_s- for sentences, C_q- for descriptions. "
            "[default: C_s-BM25, C_q-BM25]"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for runs and tables. [default: qbench-leaderboard/NAME]"),
    ] = None,
    split: Annotated[Part, typer.Option(help="Split whose queries are asked.")] = Part.test,
    measures: Measures = None,
    conditions: Annotated[
        Conditions | None,
        typer.Option(
            help="Give systems the queries' conditions as data, parse them from the text, or both, a row each. "
            "[default: both where the benchmark has conditions, else parsed]"
        ),
    ] = None,
    document_quantities: Annotated[
        Quantities,
        typer.Option(
            help="Show systems the benchmark's own quantities of its documents (stored), or those that qbench finds in "
            "the texts (extracted). auto: its own where an extractor found them, never gold ones."
        ),
    ] = Quantities.auto,
    qrels: Qrels = None,
    buckets: Annotated[bool, typer.Option(help="Show means by comparator, kind, unit, magnitude, constraints.")] = True,
    depth: Annotated[int, typer.Option(min=1, help="Documents per query that a run keeps.")] = 1000,
    pool: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Count as relevant only what some system found among its first N. [default: all that is relevant]",
        ),
    ] = None,
    wins: Wins = False,
    html: Page = None,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that extract quantities. [default: as many as cores]")
    ] = None,
    recording: Recorded = None,
    replay: Replay = False,
    budget: BudgetText = None,
    prices: PricesFile = None,
    dry_run: DryRun = False,
    suite: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Run a study instead: trainings, several boards, tables over them. A file, or one that comes with "
            "qbench: main, cross_dataset, masking, augmentation, numconq, alpha, storage.",
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=VALUE", help="An input of the suite; repeat it for more."),
    ] = None,
) -> None:
    """Run systems on a benchmark, score them, test their differences, show and write a table.

    Finished runs are kept and not made again; a run that was killed goes on where it was. With --suite a file says what
    is trained and run; the benchmark is then its input "bench", and --html names a page in each board's folder.

    Example: qbench leaderboard my-benchmark --systems BM25 --systems "QBM25(alpha=0.5)"
    """
    from qbench.cli.console import note, out, progress, show_forecast
    from qbench.cli.suite import needs_a_suite, show_suite
    from qbench.leaderboard.forecast import forecast
    from qbench.leaderboard.page import check_page, write_page
    from qbench.leaderboard.run import run_leaderboard
    from qbench.leaderboard.terminal import show

    access = server_access(recording, replay, budget, prices)
    if suite is not None:
        options = {"resamples": resamples, "seed": seed, "workers": workers, "access": access, "html": html}
        show_suite(context, suite, benchmark, given or [], output, dry_run, options)
        return
    needs_a_suite(context)
    if html is not None:
        check_page(html)
    with progress("leaderboard") as advance:
        if benchmark is None:
            from qbench.synth.embedded import embedded_benchmark

            place = HOME / "embedded"
            benchmark = embedded_benchmark(place, advance)
        else:
            place = HOME / (benchmark.resolve().name or "benchmark")
        folder = output or place
        if dry_run:
            allowed = access.kept_in(folder)
            show_forecast(*forecast(benchmark, systems, split=split.value, qrels=qrels, access=allowed))
            return
        board = run_leaderboard(
            benchmark,
            systems,
            output=folder,
            split=split.value,
            qrels=qrels,
            measures=measures,
            settings=_settings(conditions),
            document_quantities=document_quantities.value,
            buckets=buckets,
            evidence=html is not None,
            depth=depth,
            pool=pool,
            resamples=resamples,
            seed=seed,
            workers=workers,
            access=access,
            progress=advance,
        )
        if html is not None:
            write_page(board, html)
    show(out(), [*board.table(), *(board.win_table() if wins else []), *board.bucket_tables()])
    note(f"Written to {folder}: leaderboard.md, .tex, .json, .parquet; scores, significance and buckets as Parquet")
    if html is not None:
        note(f"The page: {html}")
    if access.budget.calls:
        note(f"Asked of servers: {access.budget}; their answers are kept in {access.kept_in(folder).recording}")
    if board.problems:
        note(f"{len(board.problems)} of {len(board.rows)} rows have no run; the reasons stand under the table")
        raise typer.Exit(1)


def _settings(conditions: Conditions | None) -> tuple[Setting, ...] | None:
    if conditions is None:
        return None
    every: tuple[Setting, ...] = ("given", "parsed")
    return every if conditions is Conditions.both else tuple(one for one in every if one == conditions.value)
