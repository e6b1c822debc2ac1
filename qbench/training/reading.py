"""How well a trained retriever reads and compares numbers: the figures of its training and more, on any split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qbench.errors import InputError
from qbench.models.folders import Kind as ModelKind
from qbench.models.folders import model_folder, model_kind
from qbench.models.numcolbert import has_numeric_heads
from qbench.training.dev import dev_pool
from qbench.training.kinds import Kind
from qbench.training.opening import open_student
from qbench.training.value_order import order_figures

if TYPE_CHECKING:
    from pathlib import Path

    from qbench.benchmark.benchmark import Benchmark
    from qbench.benchmark.types import Split

_KINDS: dict[ModelKind, Kind] = {
    "single-vector": "bi-encoder",
    "plain": "bi-encoder",
    "sparse": "splade",
    "aggretriever": "aggretriever",
    "deepquant": "deepquant",
}


def reading_figures(
    model: str, benchmark: Benchmark, *, split: Split = "dev", most: int = 200, seed: int = 13
) -> dict[str, float]:
    """The figures of a checkpoint's heads, if it has any, and how it ranks documents that differ in a value alone.

    See `qbench.training.number_figures`, `head_figures` of NumColBERT, and `qbench.training.value_order`.

    Args:
        model: a folder, or a name on the hub.
        benchmark: with judged queries in the split, and with the quantities of its documents.
        split: whose queries are read; "dev" with the draw of a training gives what the training reports.
        most, seed: largest number of queries, and seed of their draw.

    Returns:
        shares in [0, 1] by name; {} where no query has a number.

    Raises:
        InputError: the model is no retriever, or the split has no judged query.
    """
    kind = _kind_of(model_folder(model))
    held_out = dev_pool(benchmark, most, seed, split)
    if held_out is None:
        raise InputError(f"the split {split} has no judged query", value=benchmark.name)
    student = open_student(kind, model)
    return {**student.figures(held_out), **order_figures(student, held_out)}


def _kind_of(folder: Path) -> Kind:
    kind = model_kind(folder)
    if kind == "multi-vector":
        return "numcolbert" if has_numeric_heads(folder) else "colbert"
    if kind not in _KINDS:
        remedy = "Name a checkpoint of `qbench train`, such as one of colbert or deepquant"
        raise InputError(f"a {kind} ranks no documents", file=folder, remedy=remedy)
    return _KINDS[kind]
