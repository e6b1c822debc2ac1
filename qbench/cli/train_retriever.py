"""`qbench train colbert`, `splade` and `aggretriever`: retrievers trained on a benchmark's triples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from qbench.options import declared
from qbench.training.kinds import Kind
from qbench.training.recipes import ContrastiveRecipe

Bench = Annotated[
    Path, typer.Argument(metavar="BENCH", help="A benchmark: of `qbench gen-queries`, imported, or a BEIR folder.")
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="CHECKPOINT", help="Folder of the trained model.")]
Model = Annotated[
    str,
    typer.Option(
        help="Model to start from: a folder, or a name on the hub, of a model of this kind or of a plain BERT."
    ),
]
Joint = Annotated[
    Path | None, typer.Option(metavar="BENCH", help="Another benchmark to learn from besides, a general one.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace another checkpoint of this kind in the output folder.")
]


def others_options(kind: Kind) -> frozenset[str]:
    """The fields of `ContrastiveRecipe` that only models of other kinds have."""
    return frozenset(
        option.name for option in declared(ContrastiveRecipe) if kind not in option.extra.get("models", (kind,))
    )


def colbert(
    bench: Bench,
    output: Output,
    model: Model,
    recipe: ContrastiveRecipe,
    joint: Joint = None,
    overwrite: Overwrite = False,
) -> None:
    """Train a ColBERT on a benchmark's triples (ColBERT_ft of Numbers Matter).

    An interrupted training resumes after its last finished epoch when the same command is run again. Search with the
    result as the system "ColBERT_ft(model=CHECKPOINT)", or open it with sentence-transformers.

    Example: qbench train colbert my-benchmark -o colbert-ft --model colbert-ir/colbertv2.0
    """
    train_on_triples("colbert", "ColBERT_ft(model={})", bench, output, model, recipe, joint, overwrite=overwrite)


def aggretriever(
    bench: Bench,
    output: Output,
    model: Model,
    recipe: ContrastiveRecipe,
    joint: Joint = None,
    overwrite: Overwrite = False,
) -> None:
    """Train an Aggretriever on a benchmark's triples (WolfPQ 2.2.3).

    An interrupted training resumes after its last finished epoch when the same command is run again. Search with the
    result as the system "Aggretriever(model=CHECKPOINT)".

    Example: qbench train aggretriever my-benchmark -o aggretriever --model bert-base-uncased
    """
    train_on_triples("aggretriever", "Aggretriever(model={})", bench, output, model, recipe, joint, overwrite=overwrite)


def splade(
    bench: Bench,
    output: Output,
    model: Model,
    recipe: ContrastiveRecipe,
    joint: Joint = None,
    overwrite: Overwrite = False,
) -> None:
    """Train a SPLADE on a benchmark's triples (SPLADE_ft of Numbers Matter).

    An interrupted training resumes after its last finished epoch when the same command is run again. Search with the
    result as the system "SPLADE_ft(model=CHECKPOINT)", or open it with sentence-transformers.

    Example: qbench train splade my-benchmark -o splade-ft --model naver/splade-cocondenser-ensembledistil
    """
    train_on_triples("splade", "SPLADE_ft(model={})", bench, output, model, recipe, joint, overwrite=overwrite)


def train_on_triples(
    kind: Kind,
    system: str,
    bench: Path,
    output: Path,
    model: str,
    recipe: ContrastiveRecipe,
    joint: Path | None,
    *,
    teacher: str | None = None,
    overwrite: bool,
) -> None:
    """Train a retriever, and report on it.

    Args:
        kind: of model.
        system: what searches with the result, {} for its folder.
        bench, output, model, recipe, joint, teacher, overwrite: as in `qbench.training.contrastive.train_retriever`.
    """
    from qbench.benchmark.disk import open_benchmark
    from qbench.cli import console
    from qbench.training.contrastive import train_retriever

    # The order in which they are given changes nothing.
    recipe = replace(recipe, methods=tuple(sorted(recipe.methods)), kinds=tuple(sorted(recipe.kinds)))
    with console.progress("train") as progress:
        manifest = train_retriever(
            kind,
            open_benchmark(bench),
            output,
            model,
            recipe,
            joint=None if joint is None else open_benchmark(joint),
            teacher=teacher,
            overwrite=overwrite,
            progress=progress,
            on_epoch=_show_epoch,
        )
    _report(output, system, manifest.counts)


def _show_epoch(record: dict[str, Any]) -> None:
    from qbench.cli.console import note

    name = f"epoch {record['epoch']}" if record["epoch"] else "untrained"
    loss = f"loss {record['loss']:.3f}  " if "loss" in record else ""
    figure = f"nDCG@10 {record['ndcg']:.3f}" if "ndcg" in record else ""
    note(f"{name:10} {loss}{figure}".rstrip())
    if "start" in record:
        note(f"The model begins so: {record['start']}")


def _report(output: Path, system: str, counts: dict[str, Any]) -> None:
    from qbench.cli.console import note, out
    from qbench.training.contrastive import setback

    lines = [
        f"queries: {counts['queries']:,}  positives: {counts['positives']:,}  texts: {counts['texts']:,}",
        f"development: {counts['dev_queries']:,} queries on {counts['dev_documents']:,} documents",
        f"best epoch: {counts['best_epoch']} of {counts['epochs']}",
    ]
    if counts["dev"] is not None:
        lines.append(f"nDCG@10 there: {counts['dev_untrained']:.3f} untrained, {counts['dev']:.3f} now")
    for line in lines:
        out().print(line, markup=False)
    if worse := setback(counts):
        note(f"Mind: {worse}")
    note(f"Written to {output}; search with it: --systems '{system.format(output)}'")
