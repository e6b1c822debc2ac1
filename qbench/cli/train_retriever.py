"""`qbench train colbert`, `splade`, `aggretriever`, `numcolbert`, `deepquant`, `codedcolbert`: trained on triples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from qbench.benchmark.types import Split
from qbench.cli.options import Overwrite
from qbench.cli.records import Format, FormatOption, print_table
from qbench.cli.training import Output, best_epoch, report, run
from qbench.options import declared
from qbench.training.kinds import Kind
from qbench.training.recipes import ContrastiveRecipe

Bench = Annotated[
    Path, typer.Argument(metavar="BENCH", help="A benchmark: of `qbench gen-queries`, imported, or a BEIR folder.")
]
Model = Annotated[
    str,
    typer.Option(
        help="Model to start from: a folder, or a name on the hub, of a model of this kind or of a plain BERT."
    ),
]
Joint = Annotated[Path | None, typer.Option(metavar="BENCH", help="A second, general benchmark to learn from.")]


def others_options(kind: Kind) -> frozenset[str]:
    """The fields of `ContrastiveRecipe` that only models of other kinds have."""
    return frozenset(
        option.name for option in declared(ContrastiveRecipe) if kind not in option.extra.get("models", (kind,))
    )


def retriever(kind: Kind, system: str, what: str, example: str) -> Callable[..., None]:
    """The command that trains a retriever.

    Args:
        kind: of model.
        system: what searches with the result, {} for its folder and {recipe} for its recipe.
        what: the model and its source, for the help.
        example: arguments, for the help.
    """

    def train(
        bench: Bench,
        output: Output,
        model: Model,
        recipe: ContrastiveRecipe,
        joint: Joint = None,
        overwrite: Overwrite = False,
        output_format: FormatOption = "text",
    ) -> None:
        train_on_triples(kind, system, bench, output, model, recipe, joint, output_format, overwrite=overwrite)

    train.__name__ = kind
    train.__doc__ = f"""Train {what}.

    An interrupted training resumes after its last evaluation when the same command is run again. Search with the
    result as the system "{system.format("CHECKPOINT", recipe=ContrastiveRecipe())}".

    Example: qbench train {kind} my-benchmark {example}
    """
    return train


COMMANDS: dict[Kind, Callable[..., None]] = {
    "colbert": retriever(
        "colbert",
        "ColBERT_ft(model={})",
        "a ColBERT on a benchmark's triples (ColBERT_ft of Numbers Matter), in the format of sentence-transformers",
        "-o colbert-ft --model colbert-ir/colbertv2.0",
    ),
    "splade": retriever(
        "splade",
        "SPLADE_ft(model={})",
        "a SPLADE on a benchmark's triples (SPLADE_ft of Numbers Matter), in the format of sentence-transformers",
        "-o splade-ft --model naver/splade-cocondenser-ensembledistil",
    ),
    "aggretriever": retriever(
        "aggretriever",
        "Aggretriever(model={})",
        "an Aggretriever on a benchmark's triples (WolfPQ 2.2.3)",
        "-o aggretriever --model bert-base-uncased",
    ),
    "numcolbert": retriever(
        "numcolbert",
        "NumColBERT(model={})",
        "a NumColBERT on a benchmark's triples: a ColBERT that also learns to find, weigh, read and compare numbers",
        "-o numcolbert --model colbert-ir/colbertv2.0",
    ),
    "deepquant": retriever(
        "deepquant",
        "DeepQuant(model={})",
        "a DeepQuant on a benchmark's triples: late interaction over words, and a learnt comparison of numbers",
        "-o deepquant --model bert-base-uncased",
    ),
    "codedcolbert": retriever(
        "codedcolbert",
        "CodedColBERT(model={}, code_weight={recipe.code_weight:g}, token_weight={recipe.token_weight:g})",
        "a ColBERT on a benchmark's triples while codes of quantities compare the values, as CodedColBERT does",
        "-o coded --model colbert-ir/colbertv2.0",
    ),
}
"""By kind of model, which is also the command's name."""


def train_on_triples(
    kind: Kind,
    system: str,
    bench: Path,
    output: Path,
    model: str,
    recipe: ContrastiveRecipe,
    joint: Path | None,
    output_format: Format,
    *,
    teacher: str | None = None,
    overwrite: bool,
) -> None:
    """Train a retriever, and report on it.

    Args:
        kind: of model.
        system: what searches with the result, {} for its folder and {recipe} for its recipe.
        bench, output, model, recipe, joint, teacher, overwrite: as in `qbench.training.contrastive.train_retriever`.
        output_format: of the counts.
    """
    from qbench.benchmark.disk import open_benchmark
    from qbench.training.contrastive import setback, train_retriever

    # The order in which they are given changes nothing.
    recipe = replace(recipe, methods=tuple(sorted(recipe.methods)), kinds=tuple(sorted(recipe.kinds)))
    general = None if joint is None else open_benchmark(joint)
    options = {"joint": general, "teacher": teacher, "overwrite": overwrite}
    counts = run(train_retriever, kind, open_benchmark(bench), output, model, recipe, **options, figures=_figures)
    lines = [
        f"queries: {counts['queries']:,}  positives: {counts['positives']:,}  texts: {counts['texts']:,}",
        f"development: {counts['dev_queries']:,} queries on {counts['dev_documents']:,} documents",
        best_epoch(counts),
    ]
    if counts["dev"] is not None:
        lines.append(f"nDCG@10 there: {counts['dev_untrained']:.3f} untrained, {counts['dev']:.3f} now")
    if counts["dev_numbers"]:
        lines.append(f"numbers there: {', '.join(_read(counts['dev_numbers']))}")
    worse = setback(counts)
    use = f"search with it: --systems '{system.format(output, recipe=recipe)}'"
    report(lines, counts, output_format, output, use, worse and f"Mind: {worse}")


def _figures(record: dict[str, Any]) -> str:
    figure = f"nDCG@10 {record['ndcg']:.3f}" if "ndcg" in record else ""
    return figure + (f"\nThe model begins so: {record['start']}" if "start" in record else "")


def _read(figures: Mapping[str, float]) -> list[str]:
    return [f"{name.replace('_', ' ')} {value:.3f}" for name, value in figures.items()]


def figures(
    bench: Bench,
    model: Annotated[str, typer.Option(help="A trained retriever of any kind: a folder, or a name on the hub.")],
    split: Annotated[Split, typer.Option(help="Split whose queries are read.")] = "dev",
    queries: Annotated[int, typer.Option(min=1, help="Largest number of queries, drawn at random.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the draw; that of the training draws its dev queries.")] = 13,
    output_format: FormatOption = "text",
) -> None:
    """Print how well a trained retriever compares values, and how well a NumColBERT or DeepQuant reads numbers.

    "order" is the share of pairs of documents that differ in one new value alone in which the one that satisfies the
    query has the higher score, by magnitude and operator (a guess: 0.5). Operators, units and comparison networks are
    those in the report of the model's training. Nothing is trained here.

    Example: qbench train figures my-benchmark --model deepquant --split test
    """
    from qbench.benchmark.disk import open_benchmark
    from qbench.training.reading import reading_figures

    found = reading_figures(model, open_benchmark(bench), split=split, most=queries, seed=seed)
    print_table(_read(found) or ["none: no query of this split has a number"], [found], output_format)
