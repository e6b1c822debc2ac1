"""`qbench train extractor`: the model of the extractor "neural"."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from qbench.cli.options import Device, EncoderName
from qbench.training.recipes import ExtractorRecipe


def extractor(
    annotations: Annotated[
        list[Path],
        typer.Argument(
            metavar="ANNOTATIONS...",
            help="Files of JSON lines with text and quantities: span [start, end], concept [words], core.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="CHECKPOINT", help="Folder of the trained model.")],
    model: EncoderName,
    recipe: ExtractorRecipe,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the files that lines without a text are from.", metavar="FOLDER")
    ] = None,
    device: Device = "auto",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace another extractor's model in the output folder.")
    ] = False,
) -> None:
    """Train a model that says which words name what a number measures, for --extractor neural.

    An interrupted training resumes after its last finished epoch when the same command is run again.

    Example: qbench train extractor annotated.jsonl -o my-extractor --model sentence-transformers/all-MiniLM-L6-v2
    """
    from qbench.cli import console
    from qbench.training.annotations import read_annotations
    from qbench.training.extractor import train_extractor

    texts = read_annotations(annotations, data)
    with console.progress("train") as progress:
        manifest = train_extractor(
            texts,
            output,
            model,
            recipe,
            device=device,
            overwrite=overwrite,
            progress=progress,
            on_epoch=_show_epoch,
        )
    _report(output, manifest.counts)


def _show_epoch(record: dict[str, Any]) -> None:
    from qbench.cli.console import note

    note(f"epoch {record['epoch']:<4} loss {record['loss']:.3f}  {_figures(record.get('dev', {}))}".rstrip())


def _report(output: Path, counts: dict[str, Any]) -> None:
    from qbench.cli.console import note, out

    lines = [
        f"sentences: {counts['sentences']:,}",
        f"quantities: {counts['quantities']:,}, {counts['found']:,} of them found by the rules",
        f"numbers that are no quantities: {counts['no_quantity']:,}",
        f"train: {counts['train']:,}, dev: {counts['dev']:,}",
        f"best epoch: {counts['best_epoch']} of {counts['epochs']}",
    ]
    if counts["scores"]:
        lines.append(f"dev, words of concepts: {_figures(counts['scores'])}")
    for line in lines:
        out().print(line, markup=False)
    note(f"Written to {output}; use it: qbench extract --extractor neural --model {output} TEXT")


def _figures(scores: dict[str, float]) -> str:
    return "  ".join(f"{'F1' if name == 'f1' else name} {value:.3f}" for name, value in sorted(scores.items()))
