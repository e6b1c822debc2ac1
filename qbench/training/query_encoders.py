"""Encoders of queries that are trained while documents keep their vectors: dense ones, opened as search opens them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from qbench.errors import OptionError
from qbench.models.single_vector import SingleVector
from qbench.models.tct_colbert import TCTColBERT
from qbench.training.students import AggretrieverStudent, SingleVectorStudent, Student

if TYPE_CHECKING:
    from torch import Tensor


class QueryEncoder(Protocol):
    """What is trained."""

    @property
    def network(self) -> Any:
        """Its module."""
        ...

    def embed(self, texts: Sequence[str]) -> Tensor:
        """The queries' vectors, shape (texts, H), with gradients where torch records them."""
        ...

    def save(self, folder: Path) -> None:
        """Write a folder that the encoder's system opens."""
        ...


@dataclass(frozen=True)
class StudentQueries:
    """The queries' side of a student of triples."""

    student: Student

    @property
    def network(self) -> Any:
        """The student's module."""
        return self.student.network

    def embed(self, texts: Sequence[str]) -> Tensor:
        """The queries' vectors."""
        return self.student.embed(texts, "query").vectors

    def save(self, folder: Path) -> None:
        """Write it as the student does."""
        self.student.save(folder)


@dataclass(frozen=True)
class TctQueries:
    """The queries' side of a TCT-ColBERT with its markers."""

    encoder: TCTColBERT

    @property
    def network(self) -> Any:
        """The BERT."""
        return self.encoder.network

    def embed(self, texts: Sequence[str]) -> Tensor:
        """The queries' vectors; all queries have the same number of tokens."""
        return self.encoder.embed(texts, "query").float()

    def save(self, folder: Path) -> None:
        """Write the BERT and its tokeniser."""
        self.network.config._name_or_path = ""
        self.network.save_pretrained(folder, safe_serialization=True)
        self.encoder.tokenizer.save_pretrained(folder)


def open_query_encoder(encoder: object) -> QueryEncoder:
    """The trainable side of an encoder that search has opened; it is trained in place.

    Raises:
        OptionError: it is none of ours, such as one behind a provider's server.
    """
    if isinstance(encoder, SingleVector):
        return StudentQueries(SingleVectorStudent(encoder.model, dot=encoder.similarity == "dot"))
    if isinstance(encoder, TCTColBERT):
        return TctQueries(encoder)
    from qbench.models.aggretriever import Aggretriever

    if isinstance(encoder, Aggretriever):
        return StudentQueries(AggretrieverStudent(encoder))
    remedy = "Write --query-lr 0 to train the codewords alone"
    raise OptionError("this encoder cannot be trained here", value=type(encoder).__name__, remedy=remedy)
