"""`qbench describe`: what each quantity of an index is, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.from_options import command
from qbench.cli.options import Language, LicenceName, Overwrite, Workers
from qbench.cli.records import Format, FormatOption, print_table
from qbench.corpora.types import OnError
from qbench.errors import OptionError
from qbench.mining.options import ParserOptions
from qbench.quantities.languages import AUTO
from qbench.work.engines import EngineOptions

if TYPE_CHECKING:
    from qbench.mining.describe import Descriptions

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@command(app, "describe")
def describe(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INDEX",
            help="Folder of an index, made by `qbench build-index`; or a table (.csv, .tsv, .jsonl, "
            ".parquet) with the columns description and quantity, and if you have them id, document and sentence.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the descriptions.")],
    parser: ParserOptions,
    engine: EngineOptions,
    workers: Workers = None,
    on_error: Annotated[
        OnError, typer.Option(help="Bad rows of a table: skip omits and counts them, fail stops at the first.")
    ] = "skip",
    language: Language = AUTO,
    licence: LicenceName = None,
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Find the words that say what each quantity is: indicator, subject, place, time.

    The result is the quantity description corpus of *Quantity Retrieval*. An interrupted run resumes when the same
    command is run again.

    Example: qbench describe news-index -o news-descriptions
    """
    from qbench.cli import console
    from qbench.licences import identifier
    from qbench.mining.describe import describe as make
    from qbench.mining.description_table import import_descriptions
    from qbench.quantities.extractors import ExtractorOptions

    with console.progress("describe") as progress:
        if source.is_file():
            _refuse_running(parser, engine, workers)
            result = import_descriptions(
                source,
                output,
                extractor=ExtractorOptions(language=language),
                on_error=on_error,
                licence=None if licence is None else identifier(licence),
                overwrite=overwrite,
                progress=progress,
            )
        else:
            if language != AUTO:
                raise _in_manifest("language", language)
            if licence is not None:
                raise _in_manifest("licence", licence)
            result = make(
                source,
                output,
                parser=parser,
                workers=workers,
                engine=engine.chosen(workers),
                overwrite=overwrite,
                progress=progress,
            )
    _report(result, output_format)


def _refuse_running(parser: ParserOptions, engine: EngineOptions, workers: int | None) -> None:
    """Refuse what says how the sentences of an index are described: a table has its descriptions."""
    usual = {**vars(ParserOptions()), **vars(EngineOptions()), "workers": None}
    for name, value in {**vars(parser), **vars(engine), "workers": workers}.items():
        if value != usual[name]:
            option = f"--{name.replace('_', '-')} {value}"
            raise OptionError(
                "this option is for an index", value=option, remedy="Leave it out: a table has its descriptions"
            )


def _in_manifest(option: str, value: str) -> OptionError:
    """An option of tables was given with an index, which has it already."""
    remedy = f"State it with build-index --{option}"
    return OptionError(f"the {option} of an index is in its manifest", value=value, remedy=remedy)


SHOWN = 120
"""Characters of a description that are shown."""


def _report(result: Descriptions, output_format: Format) -> None:
    from qbench.cli import console
    from qbench.index.show import printable

    if not result.new:
        console.note_same(result.path)
    counts = dict(result.manifest.counts)
    for example in counts.pop("bad_examples", ()):
        console.note(f"left out: {printable(example)}")
    for reason, number in counts.pop("bad", {}).items():
        console.note(f"left out: {number:,} rows ({reason})")
    lines = [", ".join(f"{number:,} {name}" for name, number in counts.items() if number)]
    for row in result.table().head(5).collect().iter_rows(named=True):
        words = row["description"]
        words = words if len(words) <= SHOWN else f"{words[:SHOWN]}..."
        lines.append(printable(f"  {words} = {row['value']:,.15g} {row['unit']}"))
    print_table(lines, [result.manifest.counts], output_format)
