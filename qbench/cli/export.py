"""`qbench export`: `qbench benchmark export` by a shorter name."""

from __future__ import annotations

import typer

from qbench.cli.benchmark import export
from qbench.cli.from_options import command

app = typer.Typer(add_completion=False, rich_markup_mode=None)
command(app, "export")(export)
