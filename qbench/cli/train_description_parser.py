"""`qbench train description-parser`: the tagger of *Quantity Retrieval*."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from qbench.cli.options import Overwrite
from qbench.cli.records import Format, FormatOption
from qbench.cli.training import Device, EncoderName, Output, best_epoch, measured, report, run
from qbench.training.recipes import TaggerRecipe


def description_parser(
    gold: Annotated[
        Path,
        typer.Argument(
            metavar="GOLD",
            help="A MeasEval folder (tsv/ and text/), or a file of JSON lines with text, pivot [start, end] and "
            "segments [[start, end], ...].",
        ),
    ],
    output: Output,
    model: EncoderName,
    recipe: TaggerRecipe,
    context: Annotated[
        Literal["sentence", "paragraph"],
        typer.Option(help="MeasEval: take each quantity in its sentence, or in its whole paragraph."),
    ] = "sentence",
    device: Device = "auto",
    overwrite: Overwrite = False,
    output_format: FormatOption = "text",
) -> None:
    """Train a tagger that finds the words which say what a quantity is.

    The gold set is split 7 : 1.5 : 1.5 into train, dev and test. An interrupted training resumes
    after its last evaluation when the same command is run again.

    Example: qbench train description-parser measeval -o my-parser --model bert-base-uncased
    """
    from qbench.mining.gold import read_gold
    from qbench.training.tagger import train_tagger

    samples, options = read_gold(gold, context=context), {"device": device, "overwrite": overwrite}
    counts = run(
        train_tagger, samples, output, model, recipe, **options, figures=lambda record: _figures(record["dev"])
    )
    _report(output, counts, output_format)


def _report(output: Path, counts: dict[str, Any], output_format: Format) -> None:
    lines = [f"{what}: {count:,}" for what, count in counts["gold"].items()]
    lines.append(f"{'split':6}{'texts':>8}{'quantities':>12}")
    lines += [f"{split:6}{sizes['texts']:>8,}{sizes['quantities']:>12,}" for split, sizes in counts["splits"].items()]
    if counts["cut_to_a_window"]:
        lines.append(f"too long for the encoder, cut to a window: {counts['cut_to_a_window']:,}")
    lines.append(best_epoch(counts))
    for split in ("dev", "test"):
        lines += [f"{split}, {mode}: {_figures(scores)}" for mode, scores in counts[split].items()]
    learnt = counts["dev"]["strict"]["f1"]
    warning = "It has not learnt to find a single segment: give it more gold, more --epochs, or a higher --lr"
    use = f"use it: qbench describe INDEX -o DESCRIPTIONS --parser tagger --checkpoint {output}"
    report(lines, counts, output_format, output, use, None if learnt else warning)


def _figures(scores: dict[str, float]) -> str:
    return measured(scores, "f1", "precision", "recall", "accuracy")
