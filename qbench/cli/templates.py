"""`qbench templates`: the templates and prompts that come with qbench, to be read, edited and given back."""

from __future__ import annotations

from typing import Annotated

import typer

from qbench.cli.records import FormatOption, print_table

app = typer.Typer(add_completion=False, rich_markup_mode=None)

OPTIONS = {
    "queries": "gen-queries --templates FILE",
    "expand": "expand-concepts --prompt FILE",
    "rewrite": "gen-queries --rewrite --rewrite-prompt FILE",
    "audit": "benchmark audit --model MODEL --prompt FILE",
    "score": "leaderboard --systems 'BM25 + LLM-itemwise(model=MODEL, prompt=FILE)'",
    "rank": "leaderboard --systems 'BM25 + LLM-listwise(model=MODEL, prompt=FILE)'",
    "compare": "leaderboard --systems 'BM25 + LLM-pairwise(model=MODEL, prompt=FILE)'",
}
"""What takes an edited file of each kind."""


@app.command()
def templates(
    name: Annotated[str | None, typer.Argument(help="What to print. [default: a list]")] = None,
    output_format: FormatOption = "text",
) -> None:
    """List the templates and prompts that come with qbench, or print one, to be edited and given back.

    Example: qbench templates queries > mine.toml && qbench gen-queries my-index -o bench --templates mine.toml
    """
    from difflib import get_close_matches

    from qbench.cli.console import aligned
    from qbench.errors import UnknownNameError

    known = _known()
    if name is None:
        rows = [{"name": each, "what": _what(each), "taken by": _option(each)} for each in known]
        lines = aligned(["name", "taken by"], [[row["name"], f"qbench {row['taken by']}"] for row in rows])
        print_table(lines, rows, output_format)
        return
    if name not in known:
        near = get_close_matches(name, known, n=1)
        remedy = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}"
        raise UnknownNameError("no templates or prompt of this name", value=name, remedy=remedy)
    typer.echo(_text(name), nl=False)


def _known() -> list[str]:
    from qbench.llm.prompts import BUILT_IN

    return ["queries", "queries.zh", *(f"{task}-{name}" for task, names in BUILT_IN.items() for name in names)]


def _option(name: str) -> str:
    return OPTIONS[name.replace(".", "-").partition("-")[0]]


def _what(name: str) -> str:
    """The first line of its comment."""
    return _text(name).splitlines()[0].removeprefix("# ")


def _text(name: str) -> str:
    from qbench.llm.prompts import FOLDER
    from qbench.resources import resource

    path = resource(f"{'templates' if name.startswith('queries') else FOLDER}/{name}.toml")
    return path.read_text(encoding="utf-8")
