"""Single-vector encoders: one vector for each text, compared by cosine or by dot product.

Where the cosine is meant, vectors have length 1, so that a dot product gives it: search never asks which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from qbench.errors import OptionError
from qbench.models.finite import check_finite
from qbench.models.folders import (
    model_folder,
    readable,
    require_kind,
    require_sentence_transformers,
    require_words,
)
from qbench.models.limits import limit_texts, too_long_documents, with_smaller_batches

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Role = Literal["query", "document"]
"""Which side of a search a text is on; only models that were tuned with prompts or markers tell them apart."""

Similarity = Literal["cosine", "dot"]

BATCH = 64
BLOCK = 8192
"""Texts that are encoded before their vectors are stored: an interrupted run loses at most these."""


class Encoder(Protocol):
    """Turns texts into vectors."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def similarity(self) -> Similarity:
        """How vectors are compared; "cosine" also says that each has length 1."""
        ...

    def encode(self, texts: Sequence[str], role: Role = "document") -> NDArray[np.float32]:
        """One vector per text, shape (texts, dimension).

        Raises:
            NotFiniteError: a vector is not finite.
        """
        ...

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which documents are longer than the encoder reads, shape (texts,): they are cut."""
        ...


def encode_by_length(
    texts: Sequence[str], dimension: int, run: Callable[[list[str]], NDArray[np.float32]], batch: int = BATCH
) -> NDArray[np.float32]:
    """Encode texts in batches of like length, the longest first, so that little is padded.

    Args:
        texts: n strings.
        dimension: d, numbers in a vector.
        run: from the texts of a batch to their vectors.
        batch: texts that go through the model together; fewer where the GPU's memory does not suffice.

    Returns:
        shape (n, d), in the order of `texts`.

    Raises:
        NotFiniteError: a vector is not finite.
        OptionError: a single text does not fit into the GPU's memory.
    """
    order = sorted(range(len(texts)), key=lambda n: -len(texts[n]))
    vectors = np.empty((len(texts), dimension), dtype=np.float32)

    def encode_all(size: int) -> None:
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            vectors[rows] = run([texts[row] for row in rows])

    with_smaller_batches(encode_all, batch)
    check_finite(np.isfinite(vectors).all(axis=1), texts)
    return vectors


@dataclass(frozen=True)
class SingleVector:
    """A model of sentence-transformers.

    Attributes:
        model: on the GPU where there is one.
        batch: texts that go through it together.
        similarity: how vectors are compared; they have length 1 where it is the cosine.
        half: whether matrix products are computed in bfloat16.
    """

    model: SentenceTransformer
    batch: int = BATCH
    similarity: Similarity = "cosine"
    half: bool = False

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.model.get_embedding_dimension() or 0)

    def encode(self, texts: Sequence[str], role: Role = "document") -> NDArray[np.float32]:
        """One vector per text, shape (texts, dimension).

        Texts are batched by length; a batch that does not fit into the GPU's memory is halved. A text that is longer
        than the model takes is cut.

        Raises:
            NotFiniteError: a vector is not finite.
            OptionError: a single text does not fit into the GPU's memory.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        call = self.model.encode_query if role == "query" else self.model.encode_document
        options: dict[str, Any] = {"show_progress_bar": False, "normalize_embeddings": self.similarity == "cosine"}
        import torch

        with torch.autocast(self.model.device.type, dtype=torch.bfloat16, enabled=self.half):
            encoded = with_smaller_batches(lambda size: call(list(texts), batch_size=size, **options), self.batch)
        vectors: NDArray[np.float32] = np.asarray(encoded, dtype=np.float32)
        if self.half and self.similarity == "cosine":  # of length 1 to single precision
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        check_finite(np.isfinite(vectors).all(axis=1), texts)
        return vectors

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which documents have more tokens than the model reads, its own prompt and markers among them."""
        longest, tokenizer = self.model.max_seq_length, self.model.tokenizer
        if longest is None or not hasattr(tokenizer, "num_special_tokens_to_add"):
            return np.zeros(len(texts), dtype=np.bool_)  # word vectors, which read any length
        return too_long_documents(self.model, texts, longest)


def load_encoder(
    model: str,
    *,
    max_length: int = 0,
    batch: int = BATCH,
    pooling: str = "own",
    similarity: str = "own",
    half: bool = False,
) -> SingleVector:
    """A model ready to encode, on the GPU where there is one.

    A folder without modules of sentence-transformers (a plain BERT) gets mean pooling (*Quantity Retrieval* 5.2).

    Args:
        model: a folder, or a name on the hub.
        max_length: maximum number of tokens read of a text; 0 for the model's own maximum.
        batch: texts that go through it together.
        pooling: how the vectors of a text's tokens become one: "mean", "max", "cls" (the first token's), or "own", as
            the model's files say.
        similarity: "cosine", "dot", or "own".
        half: compute matrix products in bfloat16.

    Raises:
        InputError: it is no such model, or not whole.
        OptionError: `max_length` is more than the model can read, or too little for a word; it pools nothing, or
            compares otherwise.
        MissingPackageError: sentence-transformers is not installed.
    """
    network = load_model(model, max_length=max_length, pooling=pooling)
    return SingleVector(network, batch, _similarity(network, similarity), half)


def load_model(model: str, *, max_length: int = 0, pooling: str = "own") -> SentenceTransformer:
    """A model of sentence-transformers in single precision, from safetensors alone; arguments as in `load_encoder`.

    Raises:
        InputError: it is no such model, or not whole.
        OptionError: `max_length` is more than the model can read, or too little for a word, or it pools nothing.
        MissingPackageError: sentence-transformers is not installed.
    """
    folder = model_folder(model)
    require_kind(folder, "a single-vector model", "plain", "single-vector")
    require_sentence_transformers()
    import torch
    from sentence_transformers import SentenceTransformer

    options: dict[str, Any] = {"dtype": torch.float32, "use_safetensors": True}
    with readable(folder):
        loaded = SentenceTransformer(str(folder), local_files_only=True, model_kwargs=options)
        if hasattr(loaded.tokenizer, "all_special_tokens"):
            require_words(loaded.tokenizer)
    if max_length:
        limit_texts(loaded, max_length)
    if pooling != "own":
        _pool(loaded, pooling)
    return loaded


def _pool(model: SentenceTransformer, pooling: str) -> None:
    from sentence_transformers.sentence_transformer.modules import Pooling

    for name, module in model.named_children():
        if isinstance(module, Pooling):
            setattr(model, name, Pooling(module.embedding_dimension, pooling, module.include_prompt))
            return
    raise OptionError("this model does not pool the vectors of its tokens", value=pooling, remedy="Leave pooling out")


def _similarity(model: SentenceTransformer, similarity: str) -> Similarity:
    name = model.similarity_fn_name if similarity == "own" else similarity
    if name not in ("cosine", "dot"):
        remedy = "Choose one for it: similarity=cosine or similarity=dot"
        raise OptionError(
            "this model compares its vectors neither by cosine nor by dot product", value=name, remedy=remedy
        )
    return "cosine" if name == "cosine" else "dot"
