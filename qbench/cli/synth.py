"""`qbench synth`: from a table of facts to a corpus whose quantities are known exactly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qbench.cli.options import LicenceName, Overwrite
from qbench.cli.records import Format, FormatOption, print_table
from qbench.corpora.types import OnError

if TYPE_CHECKING:
    from qbench.store import Manifest

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def synth(
    table: Annotated[
        Path, typer.Argument(help="A table: .csv, .tsv, .jsonl (each also .gz or .zst) or .parquet; one thing per row.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the corpus.")],
    mapping: Annotated[
        Path | None,
        typer.Option(help="TOML file of the columns' meaning. [default: guessed, and written into the corpus]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of every choice.")] = 13,
    sentences_per_row: Annotated[int, typer.Option(min=1, help="Maximum number of sentences per row.")] = 2,
    on_error: Annotated[
        OnError, typer.Option(help="Lines that cannot be read: skip omits and counts them, fail stops at the first.")
    ] = "skip",
    licence: LicenceName = None,
    comparisons: Annotated[
        bool, typer.Option(help="Some sentences compare with another row; not for queries with several constraints.")
    ] = True,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Turn a table of facts into a corpus of varied sentences, with gold quantities.

    Each row gives sentences that state some of its cells, in several units and forms, beside values of other rows and
    numbers that are no quantities. Continue with `qbench build-index CORPUS -o INDEX --extractor given`, and with
    `qbench gen-queries INDEX -o BENCH --expansions CORPUS/expansions.tsv`. With --format the columns are printed.

    Example: qbench synth laptops.csv -o laptops-corpus --mapping laptops.toml
    """
    from qbench.cli import console
    from qbench.licences import identifier
    from qbench.store import read_manifest
    from qbench.synth.make import KIND, synthesize

    with console.progress("synth") as progress:
        folder = synthesize(
            table,
            output,
            mapping=mapping,
            seed=seed,
            sentences_per_row=sentences_per_row,
            on_error=on_error,
            licence=None if licence is None else identifier(licence),
            comparisons=comparisons,
            overwrite=overwrite,
            progress=progress,
        )
    _report(folder, read_manifest(folder, KIND), output_format)


def _report(folder: Path, manifest: Manifest, output_format: Format) -> None:
    from qbench.cli.console import note

    counts: dict[str, Any] = manifest.counts
    if manifest.params["guessed"]:
        note(f"Guessed this mapping; edit {folder / 'mapping.toml'} and give it with --mapping to change it:")
        note(manifest.params["mapping"].rstrip())
    for example in counts["examples"]:
        note(f"left out: {example}")
    for column, cells in counts["columns"].items():
        if not cells["used"]:
            note(f"nothing usable in column {column}: {cells['empty']:,} empty, {cells['unreadable']:,} unreadable")
    for pair in counts["overlapping"]:
        note(f"a query for the first of these concepts is answered by the second, too: {pair}")
    columns = ({"column": column, **cells} for column, cells in counts["columns"].items())
    print_table(_lines(counts), columns, output_format)


def _lines(counts: dict[str, Any]) -> list[str]:
    lines = [
        f"rows        {counts['rows']:>10,}",
        f"sentences   {counts['sentences']:>10,}",
        f"quantities  {counts['quantities']:>10,}",
        f"concepts    {counts['concepts']:>10,}",
    ]
    if counts["skipped"]:
        lines += ["skipped", *(f"{number:>10,}  {reason}" for reason, number in counts["skipped"].items())]
    lines.append(f"{'used':>10}  {'empty':>10}  {'unreadable':>10}  column")
    for column, cells in counts["columns"].items():
        shown = ", ".join(map(repr, cells["examples"]))
        tail = f"  (such as {shown})" if shown else ""
        lines.append(f"{cells['used']:>10,}  {cells['empty']:>10,}  {cells['unreadable']:>10,}  {column}{tail}")
    return lines
