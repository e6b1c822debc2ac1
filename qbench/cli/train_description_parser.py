"""`qbench train description-parser`: the tagger of *Quantity Retrieval*."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from qbench.cli.options import Device, EncoderName
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
    output: Annotated[Path, typer.Option("--output", "-o", metavar="CHECKPOINT", help="Folder of the trained tagger.")],
    model: EncoderName,
    recipe: TaggerRecipe,
    context: Annotated[
        Literal["sentence", "paragraph"],
        typer.Option(help="MeasEval: take each quantity in its sentence, or in its whole paragraph."),
    ] = "sentence",
    device: Device = "auto",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace another description parser in the output folder.")
    ] = False,
) -> None:
    """Train a tagger that finds the words which say what a quantity is.

    The gold set is split 7 : 1.5 : 1.5 into train, dev and test. An interrupted training resumes
    after its last finished epoch when the same command is run again.

    Example: qbench train description-parser measeval -o my-parser --model bert-base-uncased
    """
    from qbench.cli import console
    from qbench.mining.gold import read_gold
    from qbench.training.tagger import train_tagger

    samples = read_gold(gold, context=context)
    with console.progress("train") as progress:
        manifest = train_tagger(
            samples,
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

    note(f"epoch {record['epoch']:<4} loss {record['loss']:.3f}  {_figures(record['dev'])}")


def _report(output: Path, counts: dict[str, Any]) -> None:
    from qbench.cli.console import note, out

    lines = [f"{what}: {count:,}" for what, count in counts["gold"].items()]
    lines.append(f"{'split':6}{'texts':>8}{'quantities':>12}")
    lines += [f"{split:6}{sizes['texts']:>8,}{sizes['quantities']:>12,}" for split, sizes in counts["splits"].items()]
    if counts["cut_to_a_window"]:
        lines.append(f"too long for the encoder, cut to a window: {counts['cut_to_a_window']:,}")
    lines.append(f"best epoch: {counts['best_epoch']} of {counts['epochs']}")
    for split in ("dev", "test"):
        lines += [f"{split}, {mode}: {_figures(scores)}" for mode, scores in counts[split].items()]
    for line in lines:
        out().print(line, markup=False)
    if not counts["dev"]["strict"]["f1"]:
        note("It has not learnt to find a single segment: give it more gold, more --epochs, or a higher --lr")
    note(f"Written to {output}; use it: qbench describe INDEX -o DESCRIPTIONS --parser tagger --checkpoint {output}")


def _figures(scores: dict[str, float]) -> str:
    return (
        f"F1 {scores['f1']:.3f}  precision {scores['precision']:.3f}  recall {scores['recall']:.3f}  "
        f"accuracy {scores['accuracy']:.3f}"
    )
