"""`qbench serve-index`: an index for a search engine, with the query that ranks as BM25_filter does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qbench.cli.options import Overwrite

if TYPE_CHECKING:
    from qbench.index.disk import Index
    from qbench.retrieval.engines.serving import Served

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def serve_index(
    index: Annotated[Path, typer.Argument(help="Folder of an index, made by `qbench build-index`.")],
    engine: Annotated[
        Literal["postgres", "opensearch"],
        typer.Option(help="What serves it; opensearch is for Elasticsearch, too."),
    ] = "postgres",
    server: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Write into this server: an address without a password, for PostgreSQL as libpq reads it, or auto for "
            "what PGHOST, PGSERVICE and their kin, or OPENSEARCH_URL, name.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write files that the engine's own tools load.")
    ] = None,
    name: Annotated[
        str,
        typer.Option(help="Name of the schema, or of the index. [default: one of the index's key; in files, qbench]"),
    ] = "",
    query: Annotated[
        str | None,
        typer.Option(
            help="Show the statement and its parameters, or the search, that answers this query. "
            "[default: one about the most frequent concept and unit of the index]"
        ),
    ] = None,
    concepts: Annotated[
        Literal["ignored", "shared"],
        typer.Option(
            help="shared: in the query shown, the concept of a quantity must share a word with its condition's."
        ),
    ] = "ignored",
    vectors: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="Also write the vectors of this single-vector model, and show the query that fuses both (pgvector).",
        ),
    ] = "",
    overwrite: Overwrite = False,
) -> None:
    """Write an index's documents, postings and quantities for a search engine, and show the query that ranks.

    Without --server and --output, only the query is shown.

    Example: qbench serve-index news-index -o news-postgres --query "revenue above 3 billion"
    Example: qbench serve-index news-index --engine opensearch --server http://localhost:9200
    """
    from qbench.cli import console
    from qbench.errors import OptionError
    from qbench.index.disk import Index
    from qbench.retrieval.engines import serve_opensearch, serve_postgres
    from qbench.retrieval.engines.serving import example_query

    if server is not None and output is not None:
        raise OptionError("a server and a folder of files, and one is needed", remedy="Leave out --server or -o")
    if vectors and engine != "postgres":
        raise OptionError("vectors are written for PostgreSQL alone", value=engine, remedy="Leave out --vectors")
    opened = Index.open(index)
    served = None
    if server is not None or output is not None:
        with console.progress("serve-index"):
            served = _written(opened, engine, server, output, name, vectors, overwrite)
        console.note(f"{served.place}: {'written' if served.new else 'already there'}")
    place = name if served is None or server is None else served.place
    query = example_query(opened) if query is None else query
    if engine == "postgres":
        shown = serve_postgres.shown(opened, query, model=vectors, concepts=concepts)
    else:
        shown = serve_opensearch.shown(opened, query, server=server, name=place, concepts=concepts)
    console.out().print(shown, markup=False, highlight=False, soft_wrap=True)


def _written(
    index: Index, engine: str, server: str | None, output: Path | None, name: str, vectors: str, overwrite: bool
) -> Served:
    from qbench.retrieval.engines import serve_opensearch, serve_postgres

    if engine == "postgres":
        if output is not None:
            return serve_postgres.write(index, output, name or "qbench", model=vectors, overwrite=overwrite)
        return serve_postgres.serve(index, server or "auto", name, model=vectors, overwrite=overwrite)
    if output is not None:
        return serve_opensearch.write(index, output, name or "qbench", overwrite=overwrite)
    return serve_opensearch.serve(index, server or "auto", name, overwrite=overwrite)
