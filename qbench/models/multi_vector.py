"""Multi-vector encoders: one vector for each token of a text, for late interaction (ColBERT).

    E_q = length 1(linear(BERT([Q] query [MASK] ... [MASK])))
    E_d = length 1(linear(BERT([D] document))), without punctuation

Source: Khattab and Zaharia (2020); *Numbers Matter* eq. 6; *WolfPQ* eq. 2.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from qbench.errors import OptionError
from qbench.models.finite import check_finite
from qbench.models.folders import (
    model_folder,
    model_kind,
    readable,
    require_kind,
    require_sentence_transformers,
    require_words,
    transformer_folder,
)
from qbench.models.limits import check_length, positions, prompt_of, too_long_documents, with_smaller_batches
from qbench.models.numbers import Span
from qbench.models.numcolbert import attach_saved, has_numeric_heads
from qbench.models.single_vector import BATCH, Role, load_model

if TYPE_CHECKING:
    import sentence_transformers

WORDS = 1024
"""Documents of one word that go through a model together."""

UNTRAINED = "the projection was not trained: qbench train colbert"
"""What a search says of a model without a projection of its own."""
NEW_PROJECTION = "its projection is made from the embeddings, and not trained"
"""What a training says that begins with such a model."""


class MultiVectorEncoder(Protocol):
    """Turns texts into vectors of their tokens."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    def encode(self, texts: Sequence[str], role: Role = "document") -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Number of vectors of each text, shape (texts,), and all vectors in order, shape (their sum, dimension)."""
        ...

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which documents have more tokens than are read, shape (texts,)."""
        ...


@runtime_checkable
class WordEncoder(Protocol):
    """An encoder whose token vectors stand for one word of its vocabulary each."""

    def alone(self) -> NDArray[np.float32]:
        """The vector of each word in a document of this word alone, shape (words, dimension)."""
        ...


@dataclass(frozen=True)
class MultiVector:
    """A late-interaction model of sentence-transformers.

    Attributes:
        model: on the GPU where there is one.
        trained: whether it was saved as a late-interaction model; else its projection is a start (`colbert_start`).
        batch: texts that go through it together.
        half: whether documents' matrix products are computed in bfloat16; those of queries, which are few, never are.
    """

    model: sentence_transformers.MultiVectorEncoder
    trained: bool = True
    batch: int = BATCH
    half: bool = False

    @property
    def start(self) -> str:
        """What a training says that begins with it: what of it is not trained yet."""
        return "" if self.trained else NEW_PROJECTION

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.model.get_embedding_dimension() or 0)

    def encode(self, texts: Sequence[str], role: Role = "document") -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Number of vectors of each text, shape (texts,), and all vectors in order, shape (their sum, dimension).

        Each has at least one: an empty text has its markers', and a text of which the model keeps nothing a zero
        vector. Texts are batched by length. A document that is longer than the model takes is cut.

        Raises:
            NotFiniteError: a vector is not finite.
            OptionError: a single text does not fit into the GPU's memory.
        """
        if not texts:
            return np.empty(0, np.int64), np.empty((0, self.dimension), np.float32)
        found = self.output(texts, role, convert_to_numpy=True)
        encoded = [rows if len(rows) else np.zeros((1, self.dimension)) for rows in found]
        lengths = np.array([len(rows) for rows in encoded], np.int64)
        vectors = self.exact(np.concatenate(encoded, dtype=np.float32), role)
        starts = np.cumsum(lengths) - lengths
        check_finite(np.logical_and.reduceat(np.isfinite(vectors).all(axis=1), starts), texts)
        return lengths, vectors

    def output(self, texts: Sequence[str], role: Role, **options: Any) -> list[Any]:
        """What sentence-transformers gives for each text, which is batched by length and cut as in `encode`.

        Args:
            texts, role: as there.
            options: of its `encode_document` and `encode_query`.
        """
        import torch

        call = self.model.encode_query if role == "query" else self.model.encode_document
        half = self.half and role == "document"

        def run(batch: int) -> list[Any]:
            with torch.autocast(self.model.device.type, dtype=torch.bfloat16, enabled=half):
                return list(call(list(texts), batch_size=batch, show_progress_bar=False, **options))

        return with_smaller_batches(run, self.batch) if texts else []

    def exact(self, vectors: NDArray[np.float32], role: Role) -> NDArray[np.float32]:
        """Vectors of `output`, shape (n, dimension); documents' that have length 1 have it in single precision."""
        # A query's may have lengths of their own, and so may those of a model that leaves them as they are.
        if not self.half or role == "query" or all(type(module).__name__ != "Normalize" for module in self.model):
            return vectors
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        scaled: NDArray[np.float32] = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
        return scaled

    def token_ids(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tokens of documents that `encode` gives vectors for, without running the model.

        Returns:
            number of vectors of each text, shape (texts,), and the tokens' numbers in the vocabulary, in order; 0 for
            the zero vector of a text of which nothing is kept.
        """
        kept: list[NDArray[np.int64]] = []
        for first in range(0, len(texts), self.batch):
            kept += self._kept(texts[first : first + self.batch])
        lengths = np.array([len(ids) for ids in kept], np.int64)
        return lengths, np.concatenate([*kept, np.empty(0, np.int64)])

    def offsets(self, texts: Sequence[str], role: Role = "document") -> list[list[Span]]:
        """The characters of the tokens that `encode` gives vectors for, text by text, without running the model.

        (0, 0) for a marker, a mask that fills a query up, and the zero vector of a text of which nothing is kept.
        """
        found: list[list[Span]] = []
        for first in range(0, len(texts), self.batch):
            some = texts[first : first + self.batch]
            masks = self._masked(some, role)["attention_mask"].bool().cpu().numpy()
            for mask, spans in zip(masks, token_offsets(self.model, some, role, masks.shape[1]), strict=True):
                of_tokens = [*spans, *[(0, 0)] * (len(mask) - len(spans))]
                found.append([of_tokens[place] for place in np.flatnonzero(mask)] or [(0, 0)])
        return found

    def words(self, text: str, role: Role = "document") -> list[str]:
        """The tokens of a text that `encode` gives vectors for, markers included, in the words of the vocabulary."""
        (ids,) = self._kept([text], role)
        return list(self.model.tokenizer.convert_ids_to_tokens(ids.tolist()))

    def alone(self) -> NDArray[np.float32]:
        """The vector of each word of the vocabulary in a document of this word alone, shape (words, dimension).

        That is the part of a token's vector that does not depend on its context (*WolfPQ* eq. 4.4).

        Raises:
            OptionError: its tokeniser has no token for unknown words.
        """
        import torch
        from sentence_transformers.util import batch_to_device

        stand_in = self.model.tokenizer.unk_token
        if stand_in is None:
            raise OptionError("the model's tokeniser has no token for unknown words, in whose place words are put")
        features = self._features([stand_in])
        place = int((features["input_ids"][0] == self.model.tokenizer.unk_token_id).nonzero()[0])
        words, found = len(self.model.tokenizer), []
        for first in range(0, words, WORDS):
            ids = torch.arange(first, min(first + WORDS, words))
            some = {
                name: value.expand(len(ids), *value.shape[1:]).clone() if torch.is_tensor(value) else value
                for name, value in features.items()
            }
            some["input_ids"][:, place] = ids
            with torch.inference_mode():
                made = self.model.eval()(batch_to_device(some, self.model.device), task="document")["token_embeddings"]
            found.append(made[:, place].float().cpu().numpy())
        return np.concatenate(found, dtype=np.float32)

    def _features(self, texts: Sequence[str], role: Role = "document") -> dict[str, Any]:
        prompt = self.model.prompts.get(role) or None
        features: dict[str, Any] = dict(self.model.preprocess(list(texts), prompt=prompt, task=role))
        return features

    def _masked(self, texts: Sequence[str], role: Role) -> dict[str, Any]:
        """The tokens of some texts, with a mask of those that are kept."""
        from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

        features = self._features(texts, role)
        for module in self.model:
            if isinstance(module, MultiVectorMask):
                features = module(features, task=role)
        return features

    def _kept(self, texts: Sequence[str], role: Role = "document") -> list[NDArray[np.int64]]:
        """For each text the numbers of the tokens that are kept; 0 for the zero vector of one that keeps nothing."""
        features = self._masked(texts, role)
        rows = zip(features["input_ids"], features["attention_mask"], strict=True)
        kept = (row[mask.bool()].cpu().numpy().astype(np.int64) for row, mask in rows)
        return [ids if ids.size else np.zeros(1, np.int64) for ids in kept]

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which documents have more tokens than are read, shape (texts,)."""
        return too_long_documents(self.model, texts, longest_document(self.model))


def load_multi_vector_encoder(
    model: str, *, max_length: int = 0, batch: int = BATCH, half: bool = False
) -> MultiVector:
    """A model ready to encode; other arguments and errors as in `load_multi_vector_model`.

    Args:
        model, max_length: as there.
        batch, half: as in `MultiVector`.
    """
    loaded = load_multi_vector_model(model, max_length=max_length)
    return MultiVector(loaded, model_kind(model_folder(model)) == "multi-vector", batch, half)


def load_multi_vector_model(model: str, *, max_length: int = 0) -> sentence_transformers.MultiVectorEncoder:
    """A late-interaction model in single precision, from safetensors alone, on the GPU where there is one.

    Opens what sentence-transformers saved, a NumColBERT with its heads, checkpoints of PyLate and of the ColBERT
    authors, and as a start for
    training a plain BERT or a single-vector model (`qbench.models.colbert_start` says what it gets).

    Args:
        model: a folder, or a name on the hub.
        max_length: maximum number of tokens read of a document, with markers; 0 for the model's own maximum.
            Queries have a length of their own.

    Raises:
        InputError: it is of another kind, or not whole.
        OptionError: `max_length` is more than the model can read, or too little for any word.
        MissingPackageError: sentence-transformers is not installed.
    """
    folder = model_folder(model)
    start = "a ColBERT, or a BERT or single-vector model to make it of,"
    require_kind(folder, start, "multi-vector", "plain", "single-vector")
    with _whole(folder):
        if model_kind(folder) == "multi-vector":
            loaded = _saved(folder)
        else:
            from qbench.models.colbert_start import late_interaction_from
            from qbench.models.mlm_head import knows_masks

            encoder = load_model(str(folder))
            loaded = late_interaction_from(encoder, augmented=knows_masks(transformer_folder(folder)))
    if max_length:
        limit_documents(loaded, max_length)
    return loaded


def longest_document(model: sentence_transformers.MultiVectorEncoder) -> int:
    """Number of tokens of a document that are read, markers included."""
    own = getattr(model[0], "document_length", None)
    return int(own or model.max_seq_length or 512)


@contextmanager
def _whole(folder: Path) -> Iterator[None]:
    """Faults of loading as errors for people; torch's random numbers go on as if nothing had been loaded."""
    require_sentence_transformers()
    import torch

    # A layer draws its weights before it is given others.
    with readable(folder), torch.random.fork_rng(devices=[]):
        yield


def _saved(folder: Path) -> sentence_transformers.MultiVectorEncoder:
    import torch
    from sentence_transformers import MultiVectorEncoder

    for path in sorted(folder.rglob("pytorch_model*.bin")):
        # The library would unpickle a projection's.
        if not any(path.parent.glob("*.safetensors")):
            raise ValueError(f"weights that are not safetensors: {path.relative_to(folder)}")
    options: dict[str, Any] = {"dtype": torch.float32, "use_safetensors": True}
    loaded = MultiVectorEncoder(str(folder), local_files_only=True, model_kwargs=options)
    if loaded.tokenizer is None:
        raise ValueError("it has no vocabulary")
    require_words(loaded.tokenizer)
    if has_numeric_heads(folder):
        attach_saved(loaded, folder)
    return loaded


def limit_documents(model: sentence_transformers.MultiVectorEncoder, max_length: int) -> None:
    """Limit the number of tokens of a document that the model reads.

    Raises:
        OptionError: that is more than it can read, or too little for any word.
    """
    markers = len(model.tokenizer(prompt_of(model, "document"))["input_ids"])
    check_length(max_length, positions(model), markers)
    transformer: Any = model[0]
    transformer.document_length = max_length


def token_offsets(network: Any, texts: Sequence[str], role: Role, width: int) -> list[list[Span]]:
    """The characters of each text's tokens, as a late-interaction model reads it; (0, 0) for what is not of the text.

    Args:
        network: a MultiVectorEncoder.
        texts: n of them.
        role: as they are embedded.
        width: tokens of the longest that is read, padding included.
    """
    prompt = prompt_of(network, role)
    encoded = network.tokenizer([prompt + text for text in texts], return_offsets_mapping=True)
    found = []
    for offsets in encoded["offset_mapping"]:
        spans = [(start - len(prompt), end - len(prompt)) if start >= len(prompt) else (0, 0) for start, end in offsets]
        if len(spans) > width:  # the last token that is read of a text that is cut is a marker
            spans = [*spans[: width - 1], (0, 0)]
        found.append(spans)
    return found
