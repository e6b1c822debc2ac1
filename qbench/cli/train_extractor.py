"""`qbench train extractor`: the model of the extractor "neural"."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qbench.cli.options import Overwrite
from qbench.cli.records import FormatOption
from qbench.cli.training import Device, EncoderName, Output, best_epoch, measured, report, run
from qbench.training.recipes import ExtractorRecipe


def extractor(
    annotations: Annotated[
        list[Path],
        typer.Argument(
            metavar="ANNOTATIONS...",
            help="Files of JSON lines with text and quantities: span [start, end], concept [words], core.",
        ),
    ],
    output: Output,
    model: EncoderName,
    recipe: ExtractorRecipe,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the files that lines without a text are from.", metavar="FOLDER")
    ] = None,
    device: Device = "auto",
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Train a model that says which words name what a number measures, for --extractor neural.

    An interrupted training resumes after its last evaluation when the same command is run again.

    Example: qbench train extractor annotated.jsonl -o my-extractor --model sentence-transformers/all-MiniLM-L6-v2
    """
    from qbench.training.annotations import read_annotations
    from qbench.training.extractor import train_extractor

    texts, options = read_annotations(annotations, data), {"device": device, "overwrite": overwrite}
    counts = run(
        train_extractor, texts, output, model, recipe, **options, figures=lambda record: _figures(record.get("dev", {}))
    )
    lines = [
        f"sentences: {counts['sentences']:,}",
        f"quantities: {counts['quantities']:,}, {counts['found']:,} of them found by the rules",
        f"numbers that are no quantities: {counts['no_quantity']:,}",
        f"train: {counts['train']:,}, dev: {counts['dev']:,}",
        best_epoch(counts),
    ]
    if counts["scores"]:
        lines.append(f"dev, words of concepts: {_figures(counts['scores'])}")
    report(lines, counts, output_format, output, f"use it: qbench extract --extractor neural --model {output} TEXT")


def _figures(scores: dict[str, float]) -> str:
    return measured(scores, "f1", "precision", "recall")
