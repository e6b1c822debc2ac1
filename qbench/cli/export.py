"""`qbench export`: `qbench benchmark export` by a shorter name."""

from __future__ import annotations

import typer

from qbench.cli.benchmark import export

app = typer.Typer(add_completion=False, rich_markup_mode=None)
app.command()(export)
