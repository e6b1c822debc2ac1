"""`qbench expand-concepts`: from an index to other names of its concepts."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.chat_options import (
    AllowMissing,
    BaseUrl,
    ChatRecording,
    MaxTokens,
    Model,
    ModelSeed,
    Temperature,
    Threads,
    Timeout,
    Tries,
    chat_access,
    tell_forecast,
    tell_spent,
)
from qbench.cli.options import BudgetText, DryRun, PricesFile, Replay

if TYPE_CHECKING:
    from qbench.generation.expand import Expanded

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class Expander(StrEnum):
    """Who gives the names."""

    model = "model"
    table = "table"


@app.command()
def expand_concepts(
    index: Annotated[Path, typer.Argument(help="Folder of an index, made by `qbench build-index`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="TSV file of concepts and their other names.")],
    expander: Annotated[Expander, typer.Option(help="Who gives the names: a chat model, or a table.")] = Expander.model,
    table: Annotated[
        Path | None,
        typer.Option(help="With --expander table: the corpus that `qbench synth` made, or a TSV file of your own."),
    ] = None,
    model: Model = None,
    base_url: BaseUrl = "auto",
    prompt: Annotated[
        str, typer.Option(help="What the model is told: general, finance, medical, products, or a TOML file.")
    ] = "general",
    names: Annotated[
        int | None, typer.Option(min=1, help="Names of each concept, at most. Default: 1 of a model, all of a table.")
    ] = None,
    min_sentences: Annotated[
        int, typer.Option(min=2, help="Sentences that a concept needs, as in `qbench gen-queries`.")
    ] = 5,
    max_concepts: Annotated[
        int | None, typer.Option(min=1, help="Concepts to name, at most; those with the most sentences. Default: all.")
    ] = None,
    concepts: Annotated[Path | None, typer.Option(help="Name only the concepts in this file, one a line.")] = None,
    shared: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Names that more concepts share are dropped as too general. Default: 20 with a model, else no limit.",
        ),
    ] = None,
    temperature: Temperature = 1.0,
    seed: ModelSeed = 13,
    max_tokens: MaxTokens = 400,
    tries: Tries = 2,
    threads: Threads = 4,
    timeout: Timeout = 120.0,
    recording: ChatRecording = None,
    replay: Replay = False,
    budget: BudgetText = None,
    prices: PricesFile = None,
    dry_run: DryRun = False,
    allow_missing: AllowMissing = False,
    rejected: Annotated[
        Path | None, typer.Option(help="Also write what was rejected, and why, to this TSV file.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace another file.")] = False,
) -> None:
    """Give the concepts of an index other names: synonyms, or a broader kind of thing.

    `qbench gen-queries INDEX --expansions FILE` asks through them. Every answer is recorded: a second run, and one that
    goes on after a stop, asks only what is missing. Names are checked before they are written.

    Example: qbench expand-concepts news-index -o names.tsv --model gpt-4o-mini --prompt finance
    """
    from qbench.cli import console
    from qbench.errors import OptionError
    from qbench.generation.expand import (
        ExpansionOptions,
        expand_concepts,
        expand_from_table,
        expansion_forecast,
        write_rejected,
    )
    from qbench.index.disk import Index

    options = ExpansionOptions(names, min_sentences, max_concepts, concepts, shared)
    opened = Index.open(index)
    if expander is Expander.table:
        if table is None:
            raise OptionError("no table is named", remedy="Name a corpus of `qbench synth` or a TSV file with --table")
        _report(expand_from_table(opened, output, table, options, overwrite=overwrite), output)
        return
    if table is not None:
        raise OptionError("a table is only read with --expander table", value=str(table))
    if model is None:
        raise OptionError("no model is named", remedy="Name one with --model, or take names from --expander table")
    from qbench.llm.asking import Asking
    from qbench.llm.openai_chat import chat_server
    from qbench.llm.prompts import load_prompt

    server = chat_server(
        model,
        load_prompt("expand", prompt),
        base_url=base_url,
        temperature=temperature,
        seed=seed,
        max_tokens=max_tokens,
    )
    access = chat_access(output, recording, replay, budget, prices, threads, timeout)
    asking = Asking(server, access, tries, allow_missing)
    if dry_run:
        tell_forecast("concepts", asking, expansion_forecast(opened, asking, options))
        return
    with console.progress("expand-concepts") as progress:
        found = expand_concepts(opened, output, asking, options, overwrite=overwrite, progress=progress)
    tell_spent(asking, found.made["asked by"])
    if rejected is not None and found.new:
        write_rejected(rejected, found.rejected)
    elif rejected is not None:
        console.note(f"{rejected} is not written; remove {output} and run the same again, which asks nobody")
    _report(found, output)


def _report(found: Expanded, output: Path) -> None:
    from qbench.cli.console import note, out

    made = found.made
    for reason, count in made["rejected"].items():
        note(f"rejected: {count:,} {reason}")
    if made.get("without an answer"):
        note(f"{made['without an answer']:,} concepts have no answer, and may get one in another run")
    if not found.new:
        note(f"{output} is there already, made from the same")
    out().print(
        f"{made['concepts with names']:,} of {made['concepts']:,} concepts have other names, {made['names']:,} in all",
        markup=False,
    )
    if not made["names"]:
        note("No name will do: see the reasons (--rejected FILE), and take another model, prompt or table")
        raise typer.Exit(1)
