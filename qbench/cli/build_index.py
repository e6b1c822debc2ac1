"""`qbench build-index`: from a corpus to its concept/unit index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.from_options import command
from qbench.cli.options import LicenceName, Overwrite, Workers
from qbench.cli.records import Format, FormatOption, print_table
from qbench.corpora.types import OnError, ReadOptions
from qbench.quantities.extractors import ExtractorOptions
from qbench.work.engines import EngineOptions

if TYPE_CHECKING:
    from qbench.index.disk import Index

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@command(app, "build-index")
def build_index(
    corpus: Annotated[
        str,
        typer.Argument(
            help="A file (.jsonl, .csv, .tsv, .txt, each also .gz or .zst; .parquet), a folder of such files, a folder "
            "of the datasets package, a corpus made by `qbench synth`, hf:NAME[:CONFIG][:SPLIT], irds:ID, or a URL "
            "that fsspec reads (s3://bucket/shards)."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the index.")],
    extractor: ExtractorOptions,
    reading: ReadOptions,
    engine: EngineOptions,
    workers: Workers = None,
    on_error: Annotated[
        OnError, typer.Option(help="Bad records: skip omits and counts them, fail stops at the first.")
    ] = "skip",
    licence: LicenceName = None,
    workers_read: Annotated[
        bool,
        typer.Option(
            "--workers-read",
            help="Workers read the corpus themselves: Parquet files, local or at a URL, that all of them reach.",
        ),
    ] = False,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Read a corpus, extract its quantities, write the concept/unit index.

    An interrupted run resumes when the same command is run again.

    Example: qbench build-index news.jsonl.gz -o news-index
    """
    from qbench.cli import console
    from qbench.index import build_index as build
    from qbench.licences import identifier

    with console.progress("build-index") as progress:
        index = build(
            corpus,
            output,
            extractor=extractor,
            reading=reading,
            workers=workers,
            engine=engine.chosen(workers),
            on_error=on_error,
            licence=None if licence is None else identifier(licence),
            workers_read=workers_read,
            overwrite=overwrite,
            progress=progress,
        )
    _report(index, output_format)


def _report(index: Index, output_format: Format) -> None:
    from qbench.cli import console
    from qbench.index.show import counts_lines, printable

    if not index.new:
        console.note_same(index.path, "built from the same input")
    for example in index.summary()["bad_examples"]:
        console.note(f"left out: {printable(example)}")
    print_table(counts_lines(index), [index.summary()], output_format)
