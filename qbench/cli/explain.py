"""`qbench explain`: why a document is ranked where it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qbench.retrieval.explaining import DocumentScore, Explanation

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def explain(
    benchmark: Annotated[Path, typer.Argument(help="A benchmark, or a folder in BEIR's layout.")],
    query: Annotated[str, typer.Argument(help="The id of one of its queries, or a query's text.")],
    system: Annotated[str, typer.Option(help="A system whose last stage is with Bind.")] = "BindBM25",
    top: Annotated[int, typer.Option(min=1, help="Number of documents.")] = 3,
    doc: Annotated[
        list[str] | None, typer.Option(help="Id of a document to explain instead of the best; repeat it.")
    ] = None,
    conditions: Annotated[
        Literal["parsed", "given"], typer.Option(help="Where a query of the benchmark has its conditions from.")
    ] = "parsed",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder that keeps the indexes. [default: qbench-leaderboard/NAME]"),
    ] = None,
) -> None:
    """Show what the parts of Bind's score are for a query's best documents, and which value counts for which condition.

    Example: qbench explain my-benchmark "laptop with a weight under 2 kg" --top 5
    """
    from qbench.benchmark.disk import open_benchmark
    from qbench.cli.console import out
    from qbench.cli.leaderboard import HOME
    from qbench.retrieval.explaining import explain as explained
    from qbench.retrieval.grammar import parse_system

    opened = open_benchmark(benchmark)
    found = explained(
        opened,
        parse_system(system),
        query,
        output or HOME / opened.name,
        top=top,
        docs=doc or (),
        source=conditions,
    )
    for line in lines(found):
        out().print(line, markup=False, soft_wrap=True)


def lines(found: Explanation) -> list[str]:
    """The explanation as text."""
    made = [f"words: {_shares(found.words)}"]
    for condition, words in found.conditions:
        values = f"{condition.value:,.15g}" + (
            f" .. {condition.high:,.15g}" if condition.comparator == "between" else ""
        )
        made.append(f"condition: {condition.comparator} {values} {condition.unit}".rstrip() + f": {_shares(words)}")
    for rank, document in enumerate(found.documents, start=1):
        made += ["", *_document(rank, document, found)]
    return made


def _document(rank: int, document: DocumentScore, found: Explanation) -> list[str]:
    from qbench.index.show import printable

    sums = [f"{found.weights[part]:g} x {value:.2f} {part}" for part, value in document.parts.items()]
    made = [f"{rank}. {printable(document.doc_id)}: {document.score:.2f} = {' + '.join(sums)}"]
    made.append(f"   {printable(document.text)}")
    for (condition, _), mentions in zip(found.conditions, document.mentions, strict=True):
        for each in mentions[:3]:
            concept = " ".join((*each.mention.concept, *(f"({word})" for word in each.mention.subject)))
            start, end = each.mention.value_span
            verdict = "satisfies" if each.satisfies else "does not satisfy"
            stated = f"{document.text[start:end]} {each.mention.unit}".rstrip()
            asked = f"{condition.comparator} {condition.value:,.15g}"
            about = f", of: {printable(concept)}" if concept else ""
            made.append(f"   {printable(stated)} {verdict} {asked} ({each.value:.2f}){about}")
    return made


def _shares(words: Mapping[str, float]) -> str:
    ordered = sorted(words.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{word} {share:.2f}" for word, share in ordered) or "none"
