"""`qbench train`: train a model, one sub-command each."""

from __future__ import annotations

import typer

from qbench.cli import train_bi_encoder, train_description_parser, train_retriever

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def _train() -> None:
    """Train a model on a benchmark, on mined pairs or on a gold set."""


app.command("bi-encoder")(train_bi_encoder.bi_encoder)
app.command("colbert")(train_retriever.colbert)
app.command("splade")(train_retriever.splade)
app.command("aggretriever")(train_retriever.aggretriever)
app.command("description-parser")(train_description_parser.description_parser)
