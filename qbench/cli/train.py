"""`qbench train`: train a model, one sub-command each."""

from __future__ import annotations

import typer

from qbench.cli import train_bi_encoder, train_codebook, train_description_parser, train_extractor, train_retriever
from qbench.cli.from_options import command
from qbench.cli.train_retriever import others_options

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def _train() -> None:
    """Train a model on a benchmark, on mined pairs or on annotated texts."""


command(app, "train bi-encoder")(train_bi_encoder.bi_encoder)
for kind, function in train_retriever.COMMANDS.items():
    command(app, f"train {kind}", without=others_options(kind))(function)
command(app, "train figures")(train_retriever.figures)
command(app, "train codebook")(train_codebook.codebook)
command(app, "train description-parser")(train_description_parser.description_parser)
command(app, "train extractor")(train_extractor.extractor)
