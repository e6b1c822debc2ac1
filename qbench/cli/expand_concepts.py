"""`qbench expand-concepts`: from an index to other names of its concepts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qbench.cli.chat_options import ChatOptions, ChatServerOptions, note_spent, print_forecast
from qbench.cli.from_options import UNRECORDED, CommandLine, command
from qbench.cli.recorded import file_name
from qbench.errors import OptionError
from qbench.generation.options import ExpansionOptions
from qbench.options import option

if TYPE_CHECKING:
    from qbench.generation.expand import Expanded

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True)
class Source:
    """Where names come from."""

    expander: Literal["model", "table"] = option("model", help="Source of the names: a chat model, or a table.")
    table: Path | None = option(
        None, help="With --expander table: a corpus made by `qbench synth`, or a TSV file of your own."
    )
    prompt: str = option(
        "general",
        help="Prompt of the model, in the language of the index: general, finance, medical, products, or a TOML file.",
        recorded=file_name,
    )

    def __post_init__(self) -> None:
        if self.expander == "table" and self.table is None:
            raise OptionError("no table is named", remedy="Name a corpus of `qbench synth` or a TSV file with --table")
        if self.expander != "table" and self.table is not None:
            raise OptionError("a table is only read with --expander table", value=str(self.table))


@command(app, "expand-concepts")
def expand_concepts(
    index: Annotated[Path, typer.Argument(help="Folder of an index, made by `qbench build-index`.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="NAMES", help="TSV file of concepts and their other names.")
    ],
    source: Source,
    options: ExpansionOptions,
    chat: ChatOptions,
    server: ChatServerOptions,
    line: CommandLine,
    rejected: Annotated[
        Path | None, typer.Option(help="Also write rejected names and the reasons to this TSV file."), UNRECORDED
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace another file."), UNRECORDED] = False,
) -> None:
    """Give the concepts of an index other names: synonyms, or a broader kind of thing.

    `qbench gen-queries INDEX --expansions FILE` uses them. Every answer is recorded, so that a second run, or one that
    resumes, requests only missing answers. Names are checked before they are written.

    Example: qbench expand-concepts news-index -o names.tsv --model gpt-4o-mini --prompt finance
    """
    from qbench.cli import console
    from qbench.generation import expand
    from qbench.index.disk import Index

    opened = Index.open(index)
    if source.table is not None:
        named = expand.expand_from_table(opened, output, source.table, options, command=line, overwrite=overwrite)
        _report(named, output)
        return
    if chat.model is None:
        raise OptionError("no model is named", remedy="Name one with --model, or take names from --expander table")
    asking = chat.asking("expand", source.prompt, output, server, opened.extractor_options().language)
    if server.dry_run:
        print_forecast("concepts", asking, expand.expansion_forecast(opened, asking, options))
        return
    with console.progress("expand-concepts") as progress:
        named = expand.expand_concepts(
            opened, output, asking, options, command=line, overwrite=overwrite, progress=progress
        )
    note_spent(asking, named.provenance["asked by"])
    if rejected is not None and named.new:
        expand.write_rejected(rejected, named.rejected)
    elif rejected is not None:
        console.note(f"{rejected} is not written; remove {output} and run the same again, which sends no request")
    _report(named, output)


def _report(result: Expanded, output: Path) -> None:
    from qbench.cli.console import note, note_same, out

    record = result.provenance
    for reason, count in record["rejected"].items():
        note(f"rejected: {count:,} {reason}")
    if record.get("without an answer"):
        note(f"{record['without an answer']:,} concepts have no answer, and may get one in another run")
    if not result.new:
        note_same(output)
    out().print(
        f"{record['concepts with names']:,} of {record['concepts']:,} concepts have other names, "
        f"{record['names']:,} in all",
        markup=False,
    )
    if not record["names"]:
        note("No valid names: see the reasons (--rejected FILE), and use another model, prompt or table")
        raise typer.Exit(1)
