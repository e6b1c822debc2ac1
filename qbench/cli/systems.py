"""`qbench systems`: the retrieval systems that are known, with their parameters."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def systems(
    name: Annotated[
        str | None, typer.Argument(help="A system to check and explain, for example 'QBM25(alpha=0.5)'. Default: all.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the reference page instead of a table.")] = False,
) -> None:
    """List the systems that can be named on the command line.

    Example: qbench systems "QBM25(alpha=0.5)"
    """
    from qbench.retrieval.reference import markdown as page

    if markdown:
        typer.echo(page(), nl=False)
    elif name is None:
        _list()
    else:
        _explain(name)


def _list() -> None:
    from rich.table import Table
    from rich.text import Text

    from qbench.cli.console import note, out
    from qbench.retrieval.reference import default, rows

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("system", "what it does", "source", "parameters", "needs"):
        table.add_column(title, overflow="fold", no_wrap=title == "system")
    for row in rows():
        parameters = ", ".join(default(p) for p in row.parameters)
        source = row.source.replace("*", "")
        table.add_row(*map(Text, (row.name, row.what, source, parameters, ", ".join(row.needs))))
    out().print(table)
    note("Parameters stand in parentheses: QBM25(alpha=0.5). `qbench systems NAME` explains one system.")


def _explain(name: str) -> None:
    from rich.table import Table
    from rich.text import Text

    from qbench.cli.console import out
    from qbench.retrieval.grammar import parse_system
    from qbench.retrieval.reference import default, rows

    system = parse_system(name)
    first = system.written_first
    row = next(row for row in rows() if row.name == first)
    console = out()
    console.print(Text(str(system)), style="bold")
    console.print(Text(f"{row.what}. Source: {row.source.replace('*', '')}."))
    if row.needs:
        console.print(Text(f"Needs: {', '.join(row.needs)}."))
    given = dict(system.first.model.params) | dict(system.quantity.params if system.quantity else ())
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("parameter", "here", "default", "allowed", "what it does"):
        table.add_column(title, overflow="fold")
    for p in row.parameters:
        standard = default(p).partition("=")[2]
        table.add_row(*map(Text, (p.name, str(given.get(p.name, standard)), standard, p.allowed(), p.help)))
    console.print(table)
