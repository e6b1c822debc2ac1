"""`qbench train description-parser`: from a gold set to the checkpoint of a tagger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from qbench.training.tagger import TrainedTagger


def train_description_parser(
    gold: Annotated[
        Path,
        typer.Argument(
            help="A MeasEval folder (tsv/ and text/), or a file of JSON lines with text, pivot [start, end] and "
            "segments [[start, end], ...]."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the checkpoint.")],
    model: Annotated[
        str, typer.Option(help="The encoder: a folder with a BERT and its tokenizer.json, or a name on the hub.")
    ],
    context: Annotated[
        str, typer.Option(help="MeasEval: take each quantity in its sentence, or in its whole paragraph.")
    ] = "sentence",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Train on so many sentences only, for a learning curve.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training part, at most.")] = 20,
    patience: Annotated[int, typer.Option(min=1, help="Stop after so many epochs without a better F1.")] = 4,
    batch_size: Annotated[int, typer.Option(min=1, help="Quantities per step.")] = 16,
    learning_rate: Annotated[float, typer.Option(help="Of the encoder.")] = 2e-5,
    head_learning_rate: Annotated[
        float, typer.Option(help="Of the new layers. The paper has 2e-5 for all; small gold sets want more.")
    ] = 1e-3,
    hidden_size: Annotated[int, typer.Option(min=1, help="Of the LSTM, in each direction.")] = 512,
    seed: Annotated[int, typer.Option(help="Of the split, the new weights, the batches.")] = 13,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto.")] = "auto",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace another checkpoint in the folder.")] = False,
) -> None:
    """Train a tagger that finds the words which say what a quantity is.

    The gold set is split 7 : 1.5 : 1.5 into training, development and test part. An interrupted run goes on after its
    last whole epoch when the same command is given again.

    Example: qbench train description-parser measeval -o my-parser --model bert-base-uncased
    """
    from qbench.cli import console
    from qbench.mining.gold import read_gold
    from qbench.training.tagger import TaggerTraining, train_tagger

    options = TaggerTraining(
        learning_rate=learning_rate,
        head_learning_rate=head_learning_rate,
        batch_size=batch_size,
        epochs=epochs,
        patience=patience,
        hidden_size=hidden_size,
        limit=limit,
        seed=seed,
        device=device,
    )
    samples = read_gold(gold, context=context)  # type: ignore[arg-type]  # checked where it is used
    with console.progress("train") as progress:
        trained = train_tagger(samples, output, model, options, overwrite=overwrite, progress=progress)
    _report(trained)


def _report(trained: TrainedTagger) -> None:
    from qbench.cli import console

    if not trained.new:
        console.note(f"{trained.path}: already trained on the same gold set, with the same options")
    report = trained.report
    for what, count in (*report["gold"].items(), *(row for row in report.items() if isinstance(row[1], int))):
        console.out().print(f"{what:<36}{count:>8,}", markup=False)
    for part in ("dev", "test"):
        for mode, scores in report[part].items():
            figures = "  ".join(f"{name} {value:.3f}" for name, value in scores.items())
            console.out().print(f"{part:<5}{mode:<8} {figures}", markup=False)
