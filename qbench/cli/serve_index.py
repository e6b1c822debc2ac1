"""`qbench serve-index`: an index for a search engine, with the query that ranks as BM25_filter does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qbench.cli.options import Overwrite

if TYPE_CHECKING:
    from qbench.index.disk import Index
    from qbench.retrieval.engines.serve import Served

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def serve_index(
    index: Annotated[Path, typer.Argument(help="Folder of an index, made by `qbench build-index`.")],
    engine: Annotated[Literal["postgres"], typer.Option(help="What serves it.")] = "postgres",
    server: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Write into this server: an address as libpq reads it, without a password, or auto for what PGHOST, "
            "PGSERVICE and their kin name.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write files that the engine's own tools load.")
    ] = None,
    name: Annotated[
        str, typer.Option(help="Name of the schema. [default: one made from the index's key; in files, qbench]")
    ] = "",
    query: Annotated[
        str, typer.Option(help="Show the statement and the parameters that answer this query.")
    ] = "laptop under 2 lb",
    overwrite: Overwrite = False,
) -> None:
    """Write an index's documents, postings and quantities for a search engine, and show the query that ranks.

    Without --server and --output, only the query is shown.

    Example: qbench serve-index news-index -o news-postgres --query "revenue above 3 billion"
    """
    from qbench.cli import console
    from qbench.errors import OptionError
    from qbench.index.disk import Index
    from qbench.retrieval.engines.serve import shown_search

    if server is not None and output is not None:
        raise OptionError("a server and a folder of files, and one is needed", remedy="Leave out --server or -o")
    opened = Index.open(index)
    if server is not None or output is not None:
        with console.progress("serve-index"):
            served = _written(opened, server, output, name, overwrite)
        console.note(f"{served.place}: {'written' if served.new else 'already there'}")
    statement, parameters = shown_search(opened, query)
    console.out().print(statement, markup=False, highlight=False, soft_wrap=True)
    shown = json.dumps(parameters, ensure_ascii=False)
    console.out().print(f"\n-- {query}\n-- {shown}", markup=False, highlight=False, soft_wrap=True)


def _written(index: Index, server: str | None, output: Path | None, name: str, overwrite: bool) -> Served:
    from qbench.retrieval.engines import serve

    if output is not None:
        return serve.write_postgres(index, output, name or "qbench", overwrite=overwrite)
    return serve.serve_postgres(index, server or "auto", name)
