"""`qbench index`: look into an index."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.records import FormatOption, print_records

if TYPE_CHECKING:
    from rich.text import Text

    from qbench.index.disk import Index
    from qbench.index.show import Example

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def _index() -> None:
    """Look into an index."""


@app.command()
def show(
    index: Annotated[Path, typer.Argument(help="Folder of the index.")],
    concept: Annotated[str | None, typer.Option(help='What the numbers are about, for example "net sales".')] = None,
    unit: Annotated[str | None, typer.Option(help='Unit, for example "dollar"; "" for bare numbers.')] = None,
    top: Annotated[int, typer.Option(min=1, help="How many pairs, units or example sentences.")] = 10,
    output_format: FormatOption = "text",
) -> None:
    """Show counts and top pairs; with --concept or --unit, the distribution of values and example sentences.

    With --format the pairs are printed, or the example sentences.

    Example: qbench index show news-index --concept "net sales" --unit dollar
    """
    from qbench.index.disk import Index

    opened = Index.open(index)
    if output_format != "text":
        from qbench.index import show as views

        if concept is not None or unit is not None:
            views.select(opened, concept, unit)  # an error where there is nothing
            print_records(map(asdict, views.examples(opened, concept, unit, top)), output_format)
        else:
            print_records(views.top_pairs_frame(opened, top).to_dicts(), output_format)
    elif concept is None and unit is None:
        _overview(opened, top)
    else:
        _detail(opened, concept, unit, top)


def _overview(index: Index, top: int) -> None:
    from qbench.index.show import counts_lines, top_pairs, top_units

    _print(counts_lines(index))
    _print(["", "pairs with most mentions", *top_pairs(index, top)])
    _print(["", "units with most mentions", *top_units(index, top)])


def _detail(index: Index, concept: str | None, unit: str | None, top: int) -> None:
    from qbench.cli import console
    from qbench.index import show as views

    selection = views.select(index, concept, unit)
    _print([views.printable(selection.title), ""])
    for name, counts in (("units", selection.units), ("concepts", selection.concepts)):
        if len(counts) > 1:
            most = [f"{views.printable(key) or '(none)'} ({count:,})" for key, count in list(counts.items())[:top]]
            _print([f"{len(counts):,} {name}: {', '.join(most)}"])
    if selection.unit is None:
        _print(["Values of several units are not shown together: choose one with --unit"])
    else:
        _print([*views.figures(selection.values), "", *views.histogram(selection.values)])
    _print([""])
    for example in views.examples(index, concept, unit, top):
        console.out().print(_highlighted(example))


def _highlighted(example: Example) -> Text:
    """The sentence with its quantity in bold; a Text holds no markup, so that brackets in a corpus stay brackets."""
    from rich.text import Text

    head = f"{example.quantity}  {example.doc_id}  "
    line = Text(head, style="dim")
    sentence = Text(example.text, style="not dim")
    sentence.stylize("bold reverse", example.start, example.end)
    return line.append_text(sentence)


def _print(lines: list[str]) -> None:
    from qbench.cli import console

    out = console.out()
    for line in lines:
        out.print(line, markup=False)
