"""What all `qbench train` commands do: show the epochs while a model is trained, then its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qbench.cli.records import Format, print_table

if TYPE_CHECKING:
    from qbench.store import Manifest

Output = Annotated[Path, typer.Option("--output", "-o", metavar="CHECKPOINT", help="Folder of the trained model.")]
EncoderName = Annotated[
    str, typer.Option(help="The encoder: a folder, or a name on the hub, of a BERT with safetensors.")
]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto: a GPU where there is one.")]


def run(
    train: Callable[..., Manifest], *args: Any, figures: Callable[[dict[str, Any]], str], **options: Any
) -> dict[str, Any]:
    """Train with a progress bar and a line for each epoch; returns the counts of the manifest.

    Args:
        train: the function that trains.
        args, options: its arguments.
        figures: the figures of an epoch's record, in words.
    """
    from qbench.cli.console import note, progress

    def show(record: dict[str, Any]) -> None:
        name = f"epoch {record['epoch']}" if record["epoch"] else "untrained"
        loss = f"loss {record['loss']:.3f}  " if "loss" in record else ""
        note(f"{name:10} {loss}{figures(record)}".rstrip())

    with progress("train") as bar:
        return train(*args, **options, progress=bar, on_epoch=show).counts


def report(
    lines: Sequence[str],
    counts: Mapping[str, Any],
    output_format: Format,
    output: Path,
    use: str,
    warning: str | None = None,
) -> None:
    """Print what came out of a training, and how its model is used.

    Args:
        lines, counts, output_format: as in `qbench.cli.records.print_table`; the counts are one record.
        output: folder of the model.
        use: what to do with it.
        warning: what to mind.
    """
    from qbench.cli.console import note

    print_table(lines, [counts], output_format)
    if warning:
        note(warning)
    note(f"Written to {output}; {use}")


def measured(scores: dict[str, Any], *names: str) -> str:
    """Figures in a line, each after its name."""
    return "  ".join(f"{'F1' if name == 'f1' else name} {scores[name]:.3f}" for name in names if name in scores)


def best_epoch(counts: dict[str, Any]) -> str:
    """The epoch whose weights were kept, in words."""
    return f"best epoch: {counts['best_epoch']} of {counts['epochs']}"
