"""`qbench retrieve-quantity`: from a description to quantities with their evidence."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.records import FormatOption, print_records

if TYPE_CHECKING:
    from rich.text import Text

    from qbench.mining.retrieve import Answer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def retrieve_quantity(
    index: Annotated[
        Path,
        typer.Argument(help="Folder of an index, of descriptions, or of pairs. An index is described first, once."),
    ],
    description: Annotated[str, typer.Argument(help='What is wanted: "number of R&D staff in 2019".')],
    system: Annotated[
        str, typer.Option(help='What ranks: BM25, or an encoder such as "BERT-WS(model=FOLDER)".')
    ] = "BM25",
    top: Annotated[int, typer.Option(min=1, help="Answers.")] = 5,
    output_format: FormatOption = "text",
) -> None:
    """Answer a description: quantity, unit and evidence, with the words that say what it is.

    Example: qbench retrieve-quantity news-index "unemployment rate in France"
    """
    from qbench.cli import console
    from qbench.errors import InputError
    from qbench.mining.retrieve import open_descriptions
    from qbench.mining.retrieve import retrieve_quantity as answer
    from qbench.quantities.languages import language_package
    from qbench.quantities.scripts import told, unread

    if not description.strip():
        raise InputError("the description is empty", remedy='Say what is wanted: "net sales in 2020"')
    with console.progress("describe") as progress:
        descriptions = open_descriptions(index, progress=progress)
    if other := unread([description], language_package(descriptions.language).SCRIPTS):
        console.note(f"the question is in another script than the texts ({told(other)}; {descriptions.language})")
    (answers,) = answer(descriptions, [description], system=system, top=top)
    if not answers:
        console.note("no results: no description shares a word with the query")
    if output_format != "text":
        print_records(map(asdict, answers), output_format)
        return
    for n, result in enumerate(answers, start=1):
        for line in _lines(n, result):
            console.out().print(line, soft_wrap=True)


def _lines(n: int, answer: Answer) -> list[Text]:
    from rich.text import Text

    from qbench.index.show import printable
    from qbench.quantities.mentions import quantity_text

    quantity = printable(quantity_text(answer.value, answer.high, answer.comparator, answer.change, answer.unit))
    lines = [Text.assemble(f"{n}. ", (quantity, "bold"), f"  {printable(answer.description)}")]
    if answer.sentence:
        lines += [Text("   ") + _evidence(answer)]
    return [*lines, Text(f"   {printable(answer.doc_id)}, score {answer.score:.3g}", style="dim")]


def _evidence(answer: Answer) -> Text:
    """The sentence, with the number and the description marked."""
    from qbench.cli.console import marked

    marks = [(span, "bold green", "[[", "]]") for span in answer.mention]
    marks += [(span, "underline", "[", "]") for span in answer.segments]
    return marked(answer.sentence, marks)
