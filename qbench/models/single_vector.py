"""Single-vector encoders: one vector of length 1 for each text, so that a dot product is a cosine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from qbench.errors import InputError, MissingPackageError, OptionError
from qbench.models.folders import model_folder, quiet
from qbench.progress import Progress, silent
from qbench.store import read_json, write_json

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

Role = Literal["query", "document"]
"""Which side of a search a text is on; only models that were tuned with prompts tell them apart."""

BATCH = 64
BLOCK = 8192
"""Texts that are encoded before they are on disk: a killed run loses at most these."""


class Encoder(Protocol):
    """Turns texts into vectors."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    def encode(self, texts: Sequence[str], role: Role = "document") -> NDArray[np.float32]:
        """One vector per text, shape (texts, dimension), each of length 1."""
        ...


@dataclass(frozen=True)
class SingleVector:
    """A model of sentence-transformers.

    Attributes:
        model: on the GPU where there is one.
        batch: texts that go through it together.
    """

    model: SentenceTransformer
    batch: int = BATCH

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.model.get_embedding_dimension() or 0)

    def encode(self, texts: Sequence[str], role: Role = "document") -> NDArray[np.float32]:
        """One vector per text, shape (texts, dimension), each of length 1.

        Texts are batched by length. A text that is longer than the model takes is cut.

        Raises:
            InputError: a vector is not finite.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        call = self.model.encode_query if role == "query" else self.model.encode_document
        found = call(list(texts), batch_size=self.batch, show_progress_bar=False, normalize_embeddings=True)
        vectors: NDArray[np.float32] = np.asarray(found, dtype=np.float32)
        broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if broken.size:
            raise InputError("the model gives this text a vector that is not finite", value=texts[int(broken[0])])
        return vectors


def load_encoder(model: str, *, max_length: int = 0, batch: int = BATCH) -> SingleVector:
    """A model ready to encode, on the GPU where there is one.

    A folder without modules of sentence-transformers (a plain BERT) gets mean pooling (*Quantity Retrieval* 5.2).

    Args:
        model: a folder, or a name on the hub.
        max_length: tokens of a text that are read; 0 for as many as the model was made for.
        batch: texts that go through it together.

    Raises:
        InputError: it is no such model, or not whole.
        OptionError: `max_length` is more than the model can read.
        MissingPackageError: sentence-transformers is not installed.
    """
    return SingleVector(load_model(model, max_length=max_length), batch)


def load_model(model: str, *, max_length: int = 0) -> SentenceTransformer:
    """A model of sentence-transformers in single precision, from safetensors alone; arguments as in `load_encoder`.

    Raises:
        InputError: it is no such model, or not whole.
        OptionError: `max_length` is more than the model can read.
        MissingPackageError: sentence-transformers is not installed.
    """
    folder = model_folder(model)
    try:
        import torch
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingPackageError(
            "neural models need sentence-transformers", remedy="Install it: pip install 'qbench[neural]'"
        ) from None
    options: dict[str, Any] = {"dtype": torch.float32, "use_safetensors": True}
    try:
        with quiet():
            loaded = SentenceTransformer(str(folder), local_files_only=True, model_kwargs=options)
            _check_vocabulary(loaded)
    except Exception as fault:  # whatever a damaged folder makes the libraries raise
        lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
        raise InputError(
            f"this model cannot be loaded: {lines[0] if lines else type(fault).__name__}",
            file=folder,
            remedy="It needs a configuration, a tokenizer and weights as safetensors",
        ) from fault
    if max_length:
        most = _positions(loaded)
        if most is not None and max_length > most:
            raise OptionError(f"this model reads at most {most} tokens", value=max_length, remedy="Lower max_length")
        loaded.max_seq_length = max_length
    return loaded


def _check_vocabulary(model: SentenceTransformer) -> None:
    # transformers makes up a tokenizer without words where a folder has none: every text would look alike.
    tokenizer = model.tokenizer
    specials = getattr(tokenizer, "all_special_tokens", None)
    if specials is not None and len(tokenizer) <= len(specials):
        raise ValueError("it has no vocabulary")


def _positions(model: SentenceTransformer) -> int | None:
    config = getattr(model.transformers_model, "config", None)
    most = getattr(config, "max_position_embeddings", None)
    return int(most) if most else None


def encode_to(path: Path, texts: pl.Series, encoder: Encoder, progress: Progress = silent) -> None:
    """Encode documents into a `.npy` file of shape (texts, dimension), float32; go on where a killed call was.

    Args:
        path: the file; what is done stands in a hidden file beside it, until all is.
        texts: n strings, the same in every call for this path.
        encoder: makes the vectors, the same in every call.
        progress: told the number of texts done.
    """
    state = path.with_name(f".{path.stem}.json")
    shape = (len(texts), encoder.dimension)
    done = int(read_json(state)["done"]) if state.exists() else 0
    mode: Literal["r+", "w+"] = "r+" if done else "w+"
    array = np.lib.format.open_memmap(path, mode=mode, dtype=np.float32, shape=shape)
    progress(done, len(texts), "encoding")
    for start in range(done, len(texts), BLOCK):
        block = texts.slice(start, BLOCK).to_list()
        array[start : start + len(block)] = encoder.encode(block)
        array.flush()
        write_json(state, {"done": start + len(block)})
        progress(start + len(block), len(texts), "encoding")
    state.unlink(missing_ok=True)
