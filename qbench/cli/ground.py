"""`qbench ground`: documents, and a table of facts about them, become an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.from_options import command
from qbench.cli.options import LicenceName, Overwrite, Workers
from qbench.corpora.types import OnError, ReadOptions
from qbench.grounding.options import GroundOptions
from qbench.quantities.extractors import ExtractorOptions
from qbench.work.engines import EngineOptions

if TYPE_CHECKING:
    from qbench.index.disk import Index

app = typer.Typer(add_completion=False, rich_markup_mode=None)

SHOWN = 5
"""How many disagreements are printed; the report has all."""


@command(app, "ground")
def ground(
    table: Annotated[
        Path,
        typer.Argument(
            help="A table: .csv, .tsv, .jsonl (each also .gz or .zst) or .parquet; one thing per row. "
            "With --sql also a database of SQLite."
        ),
    ],
    corpus: Annotated[str, typer.Argument(help="The documents, as for `qbench build-index`.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="INDEX", help="Folder of the index.")],
    options: GroundOptions,
    extractor: ExtractorOptions,
    reading: ReadOptions,
    engine: EngineOptions,
    mapping: Annotated[
        Path | None,
        typer.Option(help="TOML file of the columns' meaning, as for `qbench synth`. [default: guessed]"),
    ] = None,
    workers: Workers = None,
    on_error: Annotated[
        OnError, typer.Option(help="Bad rows and records: skip omits and counts them, fail stops at the first.")
    ] = "skip",
    licence: LicenceName = None,
    overwrite: Overwrite = False,
) -> None:
    """Index your documents, with a table of facts about them.

    Rows and documents are joined by id. A report says which facts the documents state, and where they say something
    else. Continue with `qbench gen-queries INDEX -o BENCH`: its queries are about things and their facts, and its
    labels follow from the table.

    Example: qbench ground laptops.csv pages.jsonl -o laptops-index --id sku --mapping laptops.toml
    """
    from qbench.cli import console
    from qbench.grounding.ground import ground as make
    from qbench.licences import identifier

    with console.progress("ground") as progress:
        index = make(
            table,
            corpus,
            output,
            options,
            mapping=mapping,
            extractor=extractor,
            reading=reading,
            workers=workers,
            engine=engine.chosen(workers),
            on_error=on_error,
            licence=None if licence is None else identifier(licence),
            overwrite=overwrite,
            progress=progress,
        )
    _report(index)


def _report(index: Index) -> None:
    from qbench.cli.console import note, note_same, out
    from qbench.grounding.report import DISAGREEMENTS, coverage_lines, read_report
    from qbench.index.facts import MAPPING
    from qbench.index.show import aligned, counts_lines, printable

    grounding, counts = index.manifest.params["grounding"], index.summary()["grounding"]
    if not index.new:
        note_same(index.path)
    if grounding["guessed"]:
        note(f"Guessed this mapping; edit {index.path / MAPPING} and give it with --mapping to change it:")
        note(printable(grounding["mapping"].rstrip()).replace(" [attributes]", "\n[attributes]"))
    for reason, number in counts["documents left out"].items():
        note(f"left out: {number:,} documents {reason}")
    for reason, number in counts["rows left out"].items():
        note(f"left out: {number:,} rows: {reason}")
    if counts["ids without a document"]:
        note(f"{counts['ids without a document']:,} ids of the table have no document")
    for column, found in zip(counts["coverage"], counts["cells"], strict=True):
        if found["unreadable"]:
            shown = ", ".join(map(repr, found["examples"]))
            note(f"{column['column']}: {found['unreadable']:,} cells are no quantity (such as {printable(shown)})")
    lines = [*counts_lines(index), "", *coverage_lines(counts["coverage"]), ""]
    lines.append(f"{counts['disagreements']:,} disagreements between text and table: {index.path / DISAGREEMENTS}")
    rows = read_report(index.path)[: SHOWN + 1]
    cells = [[printable(cell)[:40] for cell in row[:-1]] for row in rows]
    lines += ["  " + line for line in aligned(cells, right=(3,))]
    for line in lines:
        out().print(line, markup=False, soft_wrap=True)
