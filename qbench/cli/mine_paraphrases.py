"""`qbench mine-paraphrases`: pairs of descriptions of one fact, by equal values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from qbench.mining.paraphrases import Pairs

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def mine_paraphrases(
    descriptions: Annotated[Path, typer.Argument(help="Folder of descriptions, made by `qbench describe`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the pairs.")],
    k: Annotated[int, typer.Option(help="Candidates of a description: its best others by BM25.")] = 64,
    k1: Annotated[float, typer.Option(help="Of BM25.")] = 1.5,
    b: Annotated[float, typer.Option(help="Of BM25.")] = 0.75,
    min_digits: Annotated[int, typer.Option(help="Significant digits that a value needs, to agree with another.")] = 3,
    min_rounded_digits: Annotated[
        int,
        typer.Option(
            help="Those that it needs where a more precise value rounds to it; with 2, 4.6 billion agrees "
            "with 4,587 million."
        ),
    ] = 3,
    all_confusing: Annotated[
        bool, typer.Option("--all-confusing", help="Keep confusing pairs of descriptions without a paraphrase too.")
    ] = False,
    min_terms: Annotated[int, typer.Option(help="Different words that two descriptions have to share.")] = 3,
    min_probability: Annotated[
        float, typer.Option(help="Leave out pairs whose equal values are too likely by chance (p_fact).")
    ] = 0.99,
    bare: Annotated[
        bool, typer.Option("--bare/--no-bare", help="Search for numbers without a unit too (sections, versions, ...).")
    ] = False,
    same_sentence: Annotated[
        bool, typer.Option("--same-sentence/--no-same-sentence", help="Pairs within a sentence.")
    ] = False,
    same_document: Annotated[
        bool, typer.Option("--same-document/--no-same-document", help="Pairs within a document.")
    ] = True,
    test_share: Annotated[float, typer.Option(help="Share of the documents that are the test split.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of the split.")] = 13,
    threads: Annotated[int | None, typer.Option(help="Threads that search. Default: the number of cores.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace other pairs in the output folder.")] = False,
) -> None:
    """Mine paraphrases: similar descriptions with the same value; and confusing pairs: with another value.

    The output holds pairs.parquet, the descriptions, and report.md with counts and samples to read. An interrupted run
    goes on where it was.

    Example: qbench mine-paraphrases news-descriptions -o news-pairs
    """
    from qbench.cli import console
    from qbench.mining.options import MiningOptions
    from qbench.mining.paraphrases import mine_paraphrases as mine

    options = MiningOptions(
        k=k,
        k1=k1,
        b=b,
        min_digits=min_digits,
        min_rounded_digits=min_rounded_digits,
        all_confusing=all_confusing,
        min_terms=min_terms,
        min_probability=min_probability,
        bare=bare,
        same_sentence=same_sentence,
        same_document=same_document,
        test_share=test_share,
        seed=seed,
    )
    with console.progress("mine-paraphrases") as progress:
        pairs = mine(descriptions, output, options, threads=threads, overwrite=overwrite, progress=progress)
    _report(pairs)


def _report(pairs: Pairs) -> None:
    from qbench.cli import console
    from qbench.mining.report import REPORT, overview

    if not pairs.new:
        console.note(f"{pairs.path}: already mined from the same descriptions, with the same options")
    for line in overview(pairs.manifest.counts):
        console.out().print(line.removeprefix("- "), markup=False, soft_wrap=True)
    if not pairs.manifest.counts["pairs"]["paraphrase"]:
        console.note("no paraphrase was found: try --min-digits 2, or a corpus in which documents repeat facts")
    console.note(f"samples to read: {pairs.path / REPORT}")
