"""How well a trained NumColBERT or DeepQuant reads numbers: the figures of its training, on any split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qbench.errors import InputError
from qbench.models.folders import model_folder, model_kind
from qbench.models.numcolbert import has_numeric_heads
from qbench.training.dev import dev_pool
from qbench.training.kinds import Kind
from qbench.training.opening import open_student

if TYPE_CHECKING:
    from qbench.benchmark.benchmark import Benchmark
    from qbench.benchmark.types import Split


def reading_figures(
    model: str, benchmark: Benchmark, *, split: Split = "dev", most: int = 200, seed: int = 13
) -> dict[str, float]:
    """The figures of a checkpoint's heads: see `qbench.training.number_figures`, and `head_figures` of NumColBERT.

    Args:
        model: a folder, or a name on the hub.
        benchmark: with judged queries in the split, and for DeepQuant the quantities of its documents.
        split: whose queries are read; "dev" with the draw of a training gives what the training reports.
        most, seed: largest number of queries, and seed of their draw.

    Returns:
        shares in [0, 1] by name; {} where no query has a number.

    Raises:
        InputError: the model has no heads for numbers, or the split has no judged query.
    """
    folder = model_folder(model)
    kind: Kind = "deepquant" if model_kind(folder) == "deepquant" else "numcolbert"
    if kind == "numcolbert" and not has_numeric_heads(folder):
        remedy = "Name a checkpoint of `qbench train numcolbert` or `qbench train deepquant`"
        raise InputError("this model has no heads that read numbers", file=folder, remedy=remedy)
    held_out = dev_pool(benchmark, most, seed, split)
    if held_out is None:
        raise InputError(f"the split {split} has no judged query", value=benchmark.name)
    return open_student(kind, model).figures(held_out)
