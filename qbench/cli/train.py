"""`qbench train`: a model from gold data or from mined pairs; one file per command."""

from __future__ import annotations

import typer

from qbench.cli.train_bi_encoder import bi_encoder

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Train a model on a gold set or on mined pairs.",
)


@app.callback()
def _train() -> None:
    """Keeps the commands' names even where there is only one."""


app.command("bi-encoder")(bi_encoder)
