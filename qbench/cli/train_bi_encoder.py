"""`qbench train bi-encoder`: the ranking model of *Quantity Retrieval*."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def bi_encoder(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS", help="A folder that `qbench mine-paraphrases` made.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="CHECKPOINT", help="Folder of the tuned model.")],
    model: Annotated[
        str,
        typer.Option(
            help="What is tuned: a folder, or a name on the hub, of a sentence-transformers model or of a plain BERT."
        ),
    ],
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the paraphrases.")] = 20,
    batch_size: Annotated[int, typer.Option(min=2, help="Pairs per step.")] = 120,
    lr: Annotated[float, typer.Option(help="Highest learning rate.")] = 2e-5,
    margin: Annotated[float, typer.Option(help="Cosine distance that confusing pairs are pushed to.")] = 0.5,
    negatives: Annotated[int, typer.Option(min=1, help="Confusing pairs per query and epoch, at most.")] = 5,
    max_length: Annotated[
        int, typer.Option(min=0, help="Tokens of a description that are read; 0: as many as the model was made for.")
    ] = 0,
    max_pairs: Annotated[
        int, typer.Option(min=0, help="Pairs per epoch, at most, those of queries with a paraphrase first; 0: all.")
    ] = 0,
    dev_share: Annotated[
        float, typer.Option(help="Share of the training documents that is held out to choose the best epoch; 0: none.")
    ] = 0.1,
    patience: Annotated[int, typer.Option(min=1, help="Stop after so many epochs without a better F1 there.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of every choice.")] = 13,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace another bi-encoder in the output folder.")
    ] = False,
) -> None:
    """Tune an encoder on mined paraphrases, so that descriptions of one fact get vectors close together.

    An interrupted training goes on after its last finished epoch when the same command is given again. Search with the
    result as the system "BERT-WS(model=CHECKPOINT)", or open it with sentence-transformers.

    Example: qbench train bi-encoder pairs -o ranker --model bert-base-chinese
    """
    from qbench.cli import console
    from qbench.training.bi_encoder import Recipe, train_bi_encoder

    recipe = Recipe(
        epochs=epochs,
        batch_size=batch_size,
        lr=lr,
        margin=margin,
        negatives=negatives,
        max_length=max_length,
        max_pairs=max_pairs,
        dev_share=dev_share,
        patience=patience,
        seed=seed,
    )
    with console.progress("train") as progress:
        manifest = train_bi_encoder(
            pairs, output, model, recipe, overwrite=overwrite, progress=progress, on_epoch=_show_epoch
        )
    _report(output, manifest.counts)


def _show_epoch(record: dict[str, Any]) -> None:
    from qbench.cli.console import note

    name = f"epoch {record['epoch']}" if record["epoch"] else "untrained"
    loss = f"loss {record['loss']:.3f}  " if "loss" in record else ""
    note(f"{name:10} {loss}{_figures(record['dev']) if 'dev' in record else ''}".rstrip())


def _report(output: Path, counts: dict[str, Any]) -> None:
    from qbench.cli.console import note, out

    lines = [f"{'part':6}{'queries':>10}{'paraphrases':>13}{'confusing':>12}"]
    for part, sizes in counts["parts"].items():
        lines.append(f"{part:6}{sizes['queries']:>10,}{sizes['paraphrases']:>13,}{sizes['confusing']:>12,}")
    lines += [f"left out, {reason.replace('_', ' ')}: {n:,}" for reason, n in counts["left_out"].items() if n]
    lines.append(f"best epoch: {counts['best_epoch']} of {counts['epochs']}")
    for name, title in _FIGURES.items():
        if counts[name]:
            lines.append(f"{title}: {_figures(counts[name])}")
    for line in lines:
        out().print(line, markup=False)
    note(f"Written to {output}; search with it: --systems 'BERT-WS(model={output})'")


_FIGURES = {
    "dev_untrained": "dev, untrained",
    "dev": "dev",
    "test_downsampled": "test, down-sampled, threshold of dev",
    "test_downsampled_best_threshold": "test, down-sampled, its own best threshold",
}


def _figures(found: dict[str, Any]) -> str:
    nearest = found["nearest_is_paraphrase"]
    shown = "" if nearest is None else f"  nearest is paraphrase {nearest:.3f}"
    return f"F1 {found['f1']:.3f}  precision {found['precision']:.3f}  recall {found['recall']:.3f}{shown}"
