"""`qbench systems`: the retrieval systems, with their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def systems(
    name: Annotated[
        str | None, typer.Argument(help="A system to check and explain, for example 'QBM25(alpha=0.5)'. [default: all]")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the reference page instead of a table.")] = False,
) -> None:
    """List the systems that can be named on the command line, or explain every part of one.

    Example: qbench systems "QBM25(alpha=0.5) + BM25(k=100)-RRF"
    """
    from qbench.retrieval.reference import markdown as page

    if markdown:
        typer.echo(page(), nl=False)
    elif name is None:
        _list()
    else:
        _explain(name)


def _list() -> None:
    from rich.text import Text

    from qbench.cli.console import note, out
    from qbench.retrieval.reference import OTHERS, default, rows

    listed, console = rows(), out()
    for role in ("first stage", *OTHERS):
        some = [row for row in listed if row.role == role]
        if not some:
            continue
        # What a model does stands in the first table already.
        short = role == "reranker"
        titles = ("name", "parameters", "needs") if short else ("name", "what it does", "source", "parameters", "needs")
        table = _table(*titles)
        for row in some:
            about = () if short else (row.what, row.source.replace("*", ""))
            parameters = ", ".join(default(p) for p in row.parameters)
            table.add_row(*map(Text, (row.name, *about, parameters, ", ".join(row.needs))))
        console.print(Text(f"{role}s"), style="bold")
        console.print(table)
        console.print()
    note("Parameters stand in parentheses: QBM25(alpha=0.5). A reranker follows ' + ', a fusion its '-':")
    note("BM25 + BM25(k=100)-I(alpha=0.1). `qbench systems NAME` explains one system.")


def _explain(name: str) -> None:
    from rich.text import Text

    from qbench.cli.console import out
    from qbench.retrieval.grammar import parse_system
    from qbench.retrieval.reference import components, default

    system = parse_system(name)
    console, listed = out(), components(system)
    console.print(Text(str(system)), style="bold")
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
        table.add_column(title, overflow="fold", no_wrap=title == "name")
    return table
