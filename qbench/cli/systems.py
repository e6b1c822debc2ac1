"""`qbench systems`: the retrieval systems, with their parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qbench.cli.records import FormatOption, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from qbench.retrieval.reference import Row
    from qbench.retrieval.registry import Entry, Value

app = typer.Typer(add_completion=False, rich_markup_mode=None)

WIDTH = 80
"""Columns of the list."""


@app.command()
def systems(
    name: Annotated[
        str | None, typer.Argument(help="A system to check and explain, for example 'QBM25(alpha=0.5)'. [default: all]")
    ] = None,
    output_format: FormatOption = "text",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the reference page instead of a table.")] = False,
) -> None:
    """List the systems that can be named on the command line, or explain every part of one.

    Example: qbench systems "QBM25(alpha=0.5) + BM25(k=100)-RRF"
    """
    from qbench.retrieval.reference import markdown as page
    from qbench.retrieval.reference import rows

    if markdown:
        typer.echo(page(), nl=False)
    elif output_format == "text" and name is not None:
        _explain(name)
    else:
        listed = [(row, {}) for row in rows()] if name is None else _described(name)
        print_table(_list(), (_record(row, given) for row, given in listed), output_format)


def _record(row: Row, given: Mapping[str, Value]) -> dict[str, Any]:
    parameters = [
        {"name": p.name, "default": p.default, "value": given.get(p.name, p.default), "help": p.help}
        for p in row.parameters
    ]
    facts = {"name": row.name, "role": row.role, "what": row.what, "source": row.source.replace("*", "")}
    return {**facts, "needs": row.needs, "parameters": parameters}


def _list() -> list[str]:
    """A line for each model, for what may stand with its name, and for what may follow it."""
    from qbench.retrieval.entries import REGISTRY

    models, scores = REGISTRY.of("first stage"), REGISTRY.of("quantity score")
    needs: dict[tuple[str, ...], list[Entry]] = {}
    for model in models:
        needs.setdefault(tuple(need for need in model.needs if need != "conditions"), []).append(model)
    lines = []
    for wanted, some in needs.items():
        lines += _section(f"models{f', which need {_and(wanted)}' if wanted else ''}", some)
    forms = [(_form(score, models[0]), score) for score in scores]
    lines += _section(f"with any model's name, here {models[0].name}", forms, whole=True)
    alone = [model.name for model in models if model not in REGISTRY.of("reranker")]
    lines += ["rerankers: after ' + ', any model" + (f" but {_and(alone)}" if alone else "")]
    lines += ["  BM25 + ColBERT(model=my-colbert, k=100) ranks BM25's best 100 anew", ""]
    asked = [entry for entry in REGISTRY.of("reranker") if entry not in models]
    lines += _section("rerankers that ask a chat model, after ' + ' alone", asked)
    lines += _section("fusions: after a reranker and '-'", REGISTRY.of("fusion"))
    codecs = REGISTRY.of("compression")
    trained = [codec for codec in codecs if _TRAINED.search(codec.what)]
    plain = [codec for codec in codecs if codec not in trained]
    lines += _section("compressions: after a model that stores vectors, and '-'", plain)
    lines += _section("compressions that `qbench train codebook --variant NAME` trains", trained)
    lines += ["Parameters, source and needs of one: qbench systems NAME, such as"]
    return [*lines, '  qbench systems "QBM25(alpha=0.5) + SBERT(model=my-model)-PQ(M=96)-RRF"']


_TRAINED = re.compile(r" that `qbench train codebook --variant \w+`(?= trained)")


def _section(title: str, entries: Sequence[Entry | tuple[str, Entry]], *, whole: bool = False) -> list[str]:
    named = [entry if isinstance(entry, tuple) else (entry.name, entry) for entry in entries]
    width = max(len(name) for name, _ in named)
    lines = [title]
    for name, entry in named:
        room = WIDTH - width - 4
        (first, *more) = wrap(_TRAINED.sub("", entry.what), room)
        if more and not whole:
            first, more = f"{wrap(first, room - 3)[0]}...", []
        lines += [f"  {name:{width}}  {first}", *(" " * (width + 4) + line for line in more)]
    return [*lines, ""]


def _form(score: Entry, model: Entry) -> str:
    from qbench.retrieval.registry import affixed

    return affixed(score.name, model.name)


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _written(name: str) -> str:
    """A system's name as it is stored; a part's as it is in the list."""
    from qbench.retrieval.grammar import parse_system

    return name if _parts(name) else str(parse_system(name))


def _described(name: str) -> Sequence[tuple[Row, Mapping[str, Value]]]:
    """The parts of a system, with what they were given; or the part of this name."""
    from qbench.retrieval.grammar import parse_system
    from qbench.retrieval.reference import components

    return [(row, {}) for row in _parts(name)] or components(parse_system(name))


def _parts(name: str) -> list[Row]:
    """What is no system, but in the list: a score by its name ("Q", here with the first model), a reranker, a codec."""
    from qbench.retrieval.entries import REGISTRY
    from qbench.retrieval.reference import rows

    model = REGISTRY.of("first stage")[0]
    forms = {score.name.strip("_"): _form(score, model) for score in REGISTRY.of("quantity score")}
    wanted = forms.get(name.strip("_"), name)
    listed = rows()
    if any(row.name == name and row.role == "first stage" for row in listed):
        return []
    return [row for row in listed if row.name == wanted]


def _explain(name: str) -> None:
    from rich.text import Text

    from qbench.cli.console import out
    from qbench.retrieval.reference import default

    console, listed = out(), _described(name)
    console.print(Text(_written(name)), style="bold")
    for row, given in listed:
        if len(listed) > 1:
            console.print()
            console.print(Text(f"{row.role}: {row.name}"), style="bold")
        console.print(Text(f"{row.what}. Source: {row.source.replace('*', '')}."))
        if row.needs:
            console.print(Text(f"Needs: {', '.join(row.needs)}."))
        if row.parameters:
            table = _table("parameter", "here", "default", "allowed", "what it does")
            for p in row.parameters:
                standard = default(p).partition("=")[2]
                table.add_row(*map(Text, (p.name, str(given.get(p.name, standard)), standard, p.allowed(), p.help)))
            console.print(table)


def _table(*titles: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in titles:
        table.add_column(title, overflow="fold", no_wrap=title == "parameter")
    return table
