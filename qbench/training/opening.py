"""Models of each kind, opened to be trained on triples. A new kind is a class of students and a row of `STUDENTS`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from qbench.errors import UnknownNameError
from qbench.models.encoders import require_neural
from qbench.models.folders import model_folder
from qbench.models.multi_vector import load_multi_vector_encoder
from qbench.models.single_vector import load_model
from qbench.models.sparse import load_sparse_encoder
from qbench.store import MANIFEST, read_manifest
from qbench.training.coded import CodedStudent
from qbench.training.deepquant import open_deepquant_student
from qbench.training.kinds import Kind
from qbench.training.numcolbert import open_numeric_student
from qbench.training.recipes import Precision
from qbench.training.students import (
    MADE_HEAD_SCALE,
    AggretrieverStudent,
    LateInteractionStudent,
    SingleVectorStudent,
    SparseStudent,
    Student,
)


def open_student(
    kind: Kind,
    model: str,
    *,
    max_length: int = 0,
    scale: float = 0.0,
    precision: Precision = "auto",
    chunk: int = 0,
    **options: float,
) -> Student:
    """A student ready to be trained.

    Args:
        kind: a key of `STUDENTS`.
        model: a folder, or a name on the hub.
        max_length: tokens read of a text in training; 0 for the model's own maximum.
        scale: of the scores; 0 for the kind's own.
        precision, chunk: as in `Student`.
        options: of the kind: query_flops, text_flops; dot; agg_dimension, cls_dimension.

    Raises:
        InputError: the model cannot be opened as one of the kind.
        OptionError: the model cannot have these dimensions, or reads fewer tokens.
        MissingPackageError: torch or sentence-transformers is not installed.
        UnknownNameError: there is no such kind.
    """
    if kind not in STUDENTS:
        raise UnknownNameError("unknown kind of model", value=kind, remedy=f"Known: {', '.join(STUDENTS)}")
    student = STUDENTS[kind](model, **({"scale": scale} if scale else {}), **options)
    student.precision, student.chunk = precision, chunk
    if max_length:
        student.limit(max_length)
    return student


def _single_vector(model: str, **options: Any) -> Student:
    network = load_model(model)
    if options.get("dot"):
        # sentence-transformers and our search compare its vectors so, too.
        network.similarity_fn_name = "dot"
        if not any(type(module).__name__ == "Normalize" for module in network):
            # Dot products of whole vectors are large as they are.
            options.setdefault("scale", 1.0)
    return SingleVectorStudent(network, **options)


def _sparse(model: str, **options: Any) -> Student:
    encoder = load_sparse_encoder(model)
    own = _scale_before(model) or (SparseStudent.scale if encoder.trained else MADE_HEAD_SCALE)
    start = "" if encoder.trained else "its MLM head is initialised from the embeddings"
    return SparseStudent(encoder.model, **{"scale": own, "start": start, **options})


def _scale_before(model: str) -> float:
    """The scale with which one of our checkpoints was trained, which its head fits; 0 for others."""
    folder = model_folder(model)
    counts = read_manifest(folder).counts if (folder / MANIFEST).is_file() else {}
    return float(counts.get("scale", 0.0))


def _late_interaction(
    model: str, *, student: type[LateInteractionStudent] = LateInteractionStudent, **options: Any
) -> Student:
    encoder = load_multi_vector_encoder(model)
    return student(encoder.model, **{"start": encoder.start, **options})


def _aggretriever(model: str, **options: Any) -> Student:
    require_neural()  # its module imports torch
    from qbench.models.aggretriever import load_aggretriever

    sizes = {name: int(options.pop(name, 0)) for name in ("agg_dimension", "cls_dimension")}
    network = load_aggretriever(model, **sizes)
    head = "; its embeddings serve as an MLM head" if network.config.head == "embeddings" else ""
    start = "" if network.config.trained else f"its token weights are all the same{head}"
    return AggretrieverStudent(network, **{"start": start, **options})


STUDENTS: dict[Kind, Callable[..., Student]] = {
    "bi-encoder": _single_vector,
    "colbert": _late_interaction,
    "splade": _sparse,
    "aggretriever": _aggretriever,
    "numcolbert": open_numeric_student,
    "deepquant": open_deepquant_student,
    "codedcolbert": partial(_late_interaction, student=CodedStudent),
}
"""How a model of each kind is opened for training."""
