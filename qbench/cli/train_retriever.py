"""`qbench train colbert`, `splade` and `aggretriever`: retrievers tuned on a benchmark's triples."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from qbench.training.recipes import Kind


class LossName(StrEnum):
    """The losses over triples."""

    infonce = "infonce"
    pairwise = "pairwise"


Bench = Annotated[
    Path, typer.Argument(metavar="BENCH", help="A benchmark: of `qbench gen-queries`, imported, or a BEIR folder.")
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="CHECKPOINT", help="Folder of the tuned model.")]
Model = Annotated[
    str,
    typer.Option(help="What is tuned: a folder, or a name on the hub, of a model of this kind or of a plain BERT."),
]
Accumulation = Annotated[int, typer.Option(min=1, help="Batches per step of the optimiser.")]
Loss = Annotated[
    LossName,
    typer.Option(
        help="infonce: against a query's own negatives and the other texts of its batch that cannot satisfy it; "
        "pairwise: against its own negatives, one at a time."
    ),
]
Negatives = Annotated[int, typer.Option(min=1, help="Own negatives of a positive, drawn anew in each epoch.")]
Scale = Annotated[
    float,
    typer.Option(
        min=0,
        help="Of the scores in the softmax; 0: 20 for cosines, 1 for MaxSim and dot products, 0.1 for a SPLADE whose "
        "head was just made.",
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help="Samples to learn from: original, unit, value; repeat it for more. [default: all]"),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", help="Kinds of queries to learn from (seen, expansion); repeat it for more. [default: all]"),
]
Joint = Annotated[
    Path | None, typer.Option(metavar="BENCH", help="Another benchmark to learn from besides, a general one.")
]
JointShare = Annotated[float, typer.Option(min=0, max=0.9, help="Share of the batches that come from --joint.")]
LowestGrade = Annotated[
    int,
    typer.Option(
        min=1,
        help="Lowest grade of a positive, where a benchmark has judgments and no triples (2 for TREC Deep Learning).",
    ),
]
MaxLength = Annotated[
    int, typer.Option(min=0, help="Tokens of a text that are read; 0: as many as the model was made for.")
]
MaxPairs = Annotated[
    int, typer.Option(min=0, help="Positives per epoch, at most, every query's first before any second; 0: all.")
]
DevQueries = Annotated[
    int, typer.Option(min=0, help="Development queries that choose the best epoch by nDCG@10, at most; 0: none.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace another checkpoint of this kind in the output folder.")
]
Epochs = Annotated[int, typer.Option(min=1, help="Passes over the positives.")]
BatchSize = Annotated[int, typer.Option(min=1, help="Positives that are scored together.")]
Patience = Annotated[int, typer.Option(min=1, help="Stop after so many epochs without a better nDCG@10.")]
Seed = Annotated[int, typer.Option(help="Seed of every choice.")]


def colbert(
    bench: Bench,
    output: Output,
    model: Model,
    epochs: Epochs = 2,
    batch_size: BatchSize = 32,
    accumulation: Accumulation = 1,
    lr: Annotated[float, typer.Option(help="Highest learning rate; 0: this one.")] = 1e-5,
    loss: Loss = LossName.infonce,
    negatives: Negatives = 1,
    scale: Scale = 0.0,
    method: Methods = None,
    kind: Kinds = None,
    joint: Joint = None,
    joint_share: JointShare = 0.25,
    lowest_grade: LowestGrade = 1,
    max_length: MaxLength = 0,
    max_pairs: MaxPairs = 0,
    dev_queries: DevQueries = 200,
    patience: Patience = 2,
    seed: Seed = 13,
    overwrite: Overwrite = False,
) -> None:
    """Tune a ColBERT on a benchmark's training triples (ColBERT_ft of Numbers Matter).

    An interrupted training goes on after its last finished epoch when the same command is given again. Search with the
    result as the system "ColBERT_ft(model=CHECKPOINT)", or open it with sentence-transformers.

    Example: qbench train colbert my-benchmark -o colbert-ft --model colbert-ir/colbertv2.0
    """
    train_on_triples("colbert", "ColBERT_ft(model={})", locals())


def aggretriever(
    bench: Bench,
    output: Output,
    model: Model,
    epochs: Epochs = 2,
    batch_size: BatchSize = 32,
    accumulation: Accumulation = 1,
    lr: Annotated[float, typer.Option(help="Highest learning rate; 0: this one.")] = 2e-5,
    loss: Loss = LossName.infonce,
    negatives: Negatives = 1,
    scale: Scale = 0.0,
    agg_dimension: Annotated[
        int, typer.Option(min=0, help="Numbers in agg*, where MODEL is a BERT; 0: 640, as in the paper.")
    ] = 0,
    cls_dimension: Annotated[
        int,
        typer.Option(min=0, help="Numbers that [CLS] is projected to (128 in the paper); 0: all of it, no projection."),
    ] = 0,
    method: Methods = None,
    kind: Kinds = None,
    joint: Joint = None,
    joint_share: JointShare = 0.25,
    lowest_grade: LowestGrade = 1,
    max_length: MaxLength = 0,
    max_pairs: MaxPairs = 0,
    dev_queries: DevQueries = 200,
    patience: Patience = 2,
    seed: Seed = 13,
    overwrite: Overwrite = False,
) -> None:
    """Tune an Aggretriever on a benchmark's training triples (WolfPQ 2.2.3).

    An interrupted training goes on after its last finished epoch when the same command is given again. Search with the
    result as the system "Aggretriever(model=CHECKPOINT)".

    Example: qbench train aggretriever my-benchmark -o aggretriever --model bert-base-uncased
    """
    train_on_triples("aggretriever", "Aggretriever(model={})", locals())


def splade(
    bench: Bench,
    output: Output,
    model: Model,
    epochs: Epochs = 2,
    batch_size: BatchSize = 32,
    accumulation: Accumulation = 1,
    lr: Annotated[float, typer.Option(help="Highest learning rate; 0: this one.")] = 2e-5,
    loss: Loss = LossName.infonce,
    negatives: Negatives = 1,
    scale: Scale = 0.0,
    query_flops: Annotated[float, typer.Option(help="Weight of the FLOPS regularisation of queries.")] = 5e-5,
    text_flops: Annotated[float, typer.Option(help="Weight of the FLOPS regularisation of documents.")] = 3e-5,
    method: Methods = None,
    kind: Kinds = None,
    joint: Joint = None,
    joint_share: JointShare = 0.25,
    lowest_grade: LowestGrade = 1,
    max_length: MaxLength = 0,
    max_pairs: MaxPairs = 0,
    dev_queries: DevQueries = 200,
    patience: Patience = 2,
    seed: Seed = 13,
    overwrite: Overwrite = False,
) -> None:
    """Tune a SPLADE on a benchmark's training triples (SPLADE_ft of Numbers Matter).

    An interrupted training goes on after its last finished epoch when the same command is given again. Search with the
    result as the system "SPLADE_ft(model=CHECKPOINT)", or open it with sentence-transformers.

    Example: qbench train splade my-benchmark -o splade-ft --model naver/splade-cocondenser-ensembledistil
    """
    train_on_triples("splade", "SPLADE_ft(model={})", locals())


def train_on_triples(kind: Kind, system: str, given: dict[str, Any]) -> None:
    """Train with the options of a command.

    Args:
        kind: of model.
        system: what searches with the result, {} for its folder.
        given: bench, output, model, joint, teacher, overwrite, method and kind (lists), options of `ContrastiveRecipe`.
    """
    from qbench.benchmark.disk import open_benchmark
    from qbench.cli import console
    from qbench.training.contrastive import train_retriever
    from qbench.training.recipes import ContrastiveRecipe

    options = dict(given)
    bench, output, model = (options.pop(name) for name in ("bench", "output", "model"))
    joint, overwrite, teacher = options.pop("joint"), options.pop("overwrite"), options.pop("teacher", None)
    methods, kinds = options.pop("method"), options.pop("kind")
    if methods:
        options["methods"] = tuple(sorted(methods))
    recipe = ContrastiveRecipe(**options, kinds=tuple(sorted(kinds or ())))
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
