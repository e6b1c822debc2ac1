"""`qbench build-index`: from a corpus to its concept/unit index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.options import LicenceName

if TYPE_CHECKING:
    from qbench.index.disk import Index

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def build_index(
    corpus: Annotated[
        str,
        typer.Argument(
            help="A file (.jsonl, .csv, .tsv, .txt, each also .gz or .zst; .parquet), a folder of such files, a folder "
            "of the datasets package, a corpus made by `qbench synth`, hf:NAME[:CONFIG][:SPLIT], or irds:ID."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the index.")],
    extractor: Annotated[
        str, typer.Option(help="rules, quantulum3, or given (the quantities that came with a `qbench synth` corpus).")
    ] = "rules",
    years: Annotated[bool, typer.Option("--years/--no-years", help="Take calendar years as quantities too.")] = False,
    units: Annotated[
        Path | None, typer.Option(help="A file with units of your own, added to the built-in ones.")
    ] = None,
    spacy_model: Annotated[
        str,
        typer.Option(
            help="What parses sentences for counted nouns and concepts: embedded, an installed spaCy pipeline, a "
            "folder with one, or none (word lists alone: several times faster, worse concepts)."
        ),
    ] = "embedded",
    workers: Annotated[int | None, typer.Option(help="Worker processes. Default: the number of cores.")] = None,
    on_error: Annotated[
        str, typer.Option(help="skip: leave bad records out and count them; fail: stop at the first.")
    ] = "skip",
    encoding: Annotated[
        list[str] | None, typer.Option(help="Encoding; repeat it to try several on each line. Default: utf-8.")
    ] = None,
    id_field: Annotated[str | None, typer.Option(help="Field of the id. Default: recognised, else FILE#ROW.")] = None,
    text_field: Annotated[
        list[str] | None, typer.Option(help="Field of the text; repeat it to join several. Default: recognised.")
    ] = None,
    title_field: Annotated[str | None, typer.Option(help="Field of the title. Default: recognised.")] = None,
    licence: LicenceName = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace another index in the output folder.")] = False,
) -> None:
    """Read a corpus, extract its quantities, write the concept/unit index.

    An interrupted run goes on where it was when the same command is given again.

    Example: qbench build-index news.jsonl.gz -o news-index
    """
    from qbench.cli import console
    from qbench.corpora import ReadOptions
    from qbench.index import build_index as build
    from qbench.licences import known
    from qbench.quantities.extractors import ExtractorOptions

    with console.progress("build-index") as progress:
        index = build(
            corpus,
            output,
            extractor=ExtractorOptions(extractor, years, units, spacy_model),
            reading=ReadOptions(id_field, tuple(text_field or ()), title_field, tuple(encoding or ["utf-8"])),
            workers=workers,
            on_error=on_error,  # type: ignore[arg-type]  # checked where it is used
            licence=None if licence is None else known(licence),
            overwrite=overwrite,
            progress=progress,
        )
    _report(index)


def _report(index: Index) -> None:
    from qbench.cli import console
    from qbench.index.show import counts_lines, printable

    if not index.new:
        console.note(f"{index.path}: already built from the same input, with the same options")
    for example in index.summary()["bad_examples"]:
        console.note(f"left out: {printable(example)}")
    for line in counts_lines(index):
        console.out().print(line, markup=False)
