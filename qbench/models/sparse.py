"""Learned sparse encoders: texts become weights of the vocabulary's terms, those that they do not contain among them.

SPLADE asks a masked language model, at every token, which terms could stand there. The weight of term v in a text is

    w(v) = max over tokens i of log(1 + ReLU(logit(i, v)))

and a score is the dot product of two such vectors (*Numbers Matter* eq. 8; Formal et al., SPLADE v2, 2021).

A model without a masked language model's head can be opened too: it gets a head made from its word embeddings. See
`new_head`. That makes an encoder to be trained, not one to be used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from qbench.errors import InputError
from qbench.models.finite import check_finite
from qbench.models.folders import (
    model_folder,
    model_kind,
    modules_of,
    readable,
    require_kind,
    require_sentence_transformers,
    require_words,
    transformer_folder,
)
from qbench.models.limits import limit_texts, too_long_documents, with_smaller_batches
from qbench.models.mlm_head import check_head, new_head
from qbench.models.single_vector import Role

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from sentence_transformers import SparseEncoder

BATCH = 64
LOGITS = {"cpu": 2**24, "cuda": 2**28}
"""Logits of a batch, tokens times vocabulary, of four bytes each; pooling takes as much again. Fewer are also faster on
a CPU, because they stay near to it."""

UNTRAINED = "the MLM head was initialised from the embeddings; train it: qbench train splade"


class TermEncoder(Protocol):
    """Turns texts into weights of terms."""

    @property
    def dimension(self) -> int:
        """Terms of the vocabulary."""
        ...

    @property
    def note(self) -> str:
        """A warning about the model for users; "" for none."""
        ...

    def terms(self) -> list[str]:
        """The vocabulary's terms, in the order of their numbers."""
        ...

    def encode(self, texts: Sequence[str], role: Role = "document") -> csr_array:
        """The weights, shape (texts, dimension), float32; all stored weights are above zero."""
        ...

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts are longer than what it reads, shape (texts,)."""
        ...


@dataclass(frozen=True)
class Splade:
    """A SPLADE model of sentence-transformers.

    Attributes:
        model: on the GPU where there is one.
        trained: whether its head was learnt; else it was just initialised (`new_head`).
        batch: texts that go through it together, where their logits allow it.
    """

    model: SparseEncoder
    trained: bool = True
    batch: int = BATCH

    @property
    def dimension(self) -> int:
        """Terms of the vocabulary."""
        return int(self.model.get_embedding_dimension() or 0)

    @property
    def note(self) -> str:
        """That the head was not trained, where it was not."""
        return "" if self.trained else UNTRAINED

    @property
    def longest(self) -> int:
        """Tokens that it reads, markers included."""
        return int(self.model.max_seq_length or self.model.tokenizer.model_max_length)

    def terms(self) -> list[str]:
        """The vocabulary's terms, in the order of their numbers; "" for numbers without one."""
        terms = [""] * self.dimension
        for term, number in self.model.tokenizer.get_vocab().items():
            if number < len(terms):
                terms[number] = term
        return terms

    def encode(self, texts: Sequence[str], role: Role = "document") -> csr_array:
        """The weights, shape (texts, dimension), float32, terms ascending; all stored weights are above zero.

        Texts are batched by length. A text that is longer than the model takes is cut.

        Raises:
            NotFiniteError: a weight is not finite.
            OptionError: a single text does not fit into the GPU's memory.
        """
        from scipy.sparse import csr_array, vstack

        if not texts:
            return csr_array(np.empty((0, self.dimension), dtype=np.float32))
        rows: list[int] = []
        weights: list[Any] = []
        for group in self._batches(texts):
            dense = with_smaller_batches(partial(self._dense, [texts[row] for row in group], role), len(group))
            weights.append(csr_array(dense))
            rows += group
        order: Any = np.argsort(rows)
        stacked: Any = vstack(weights, format="csr")[order]
        finite = np.ones(len(texts), dtype=np.bool_)
        finite[np.repeat(np.arange(len(texts)), np.diff(stacked.indptr))[~np.isfinite(stacked.data)]] = False
        check_finite(finite, texts)
        return cast("csr_array", stacked)

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts are longer than what it reads, shape (texts,)."""
        return too_long_documents(self.model, texts, self.longest)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Batches of texts of like length, by number, whose logits stay within `LOGITS`."""
        read = self.model.tokenizer(
            list(texts),
            truncation=True,
            max_length=self.longest,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        lengths = np.array([len(ids) for ids in read["input_ids"]])
        room = LOGITS.get(self.model.device.type, LOGITS["cpu"]) // self.dimension
        order = np.argsort(-lengths, kind="stable").tolist()
        while order:
            size = max(1, min(self.batch, room // max(1, int(lengths[order[0]]))))
            yield order[:size]
            order = order[size:]

    def _dense(self, texts: list[str], role: Role, size: int) -> Any:
        """The weights as an array."""
        call = self.model.encode_query if role == "query" else self.model.encode_document
        return call(
            texts, batch_size=size, show_progress_bar=False, convert_to_sparse_tensor=False, save_to_cpu=True
        ).numpy()


def load_sparse_encoder(model: str, *, max_length: int = 0, batch: int = BATCH) -> Splade:
    """A SPLADE model in single precision, from safetensors alone, ready to encode; on the GPU where there is one.

    Args:
        model: a folder or a name on the hub: a SPLADE model that sentence-transformers saved; a masked language model;
            or an encoder without its head, plain or of sentence-transformers, which gets one: see `new_head`.
        max_length: maximum number of tokens read of a text; 0 for the model's own maximum.
        batch: texts that go through it together.

    Raises:
        InputError: it is no such model, or not whole.
        OptionError: `max_length` is more than the model can read, or too little for a word.
        MissingPackageError: sentence-transformers is not installed.
    """
    folder = model_folder(model)
    start = "a SPLADE model, or a masked language model or encoder to make it of,"
    require_kind(folder, start, "sparse", "plain", "single-vector")
    require_sentence_transformers()
    with readable(folder):
        loaded, trained = _read(folder)
    if max_length:
        limit_texts(loaded, max_length)
    return Splade(loaded, trained, batch)


def _read(folder: Path) -> tuple[SparseEncoder, bool]:
    """The model, and whether its head was learnt."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    options: dict[str, Any] = {"dtype": torch.float32, "use_safetensors": True, "local_files_only": True}
    encoder, saved = _transformer(folder)
    headless = check_head(encoder, options)
    if saved:
        if headless:
            raise ValueError("it lacks the weights of its masked language model's head")
        model = SparseEncoder(str(folder), local_files_only=True, model_kwargs=options)
    else:
        # This much of a single-vector model is taken over; its pooling has no use here.
        written = Transformer.load_config(str(encoder))
        settings = {name: written[name] for name in ("max_seq_length", "do_lower_case") if name in written}
        transformer = Transformer(str(encoder), transformer_task="fill-mask", model_kwargs=options, **settings)
        model = SparseEncoder(modules=[transformer, SpladePooling("max")])
    inner, pooling = cast("Any", model.transformers_model), cast("Any", model[-1])
    if pooling.embedding_dimension is None:  # the library waits for the first text
        pooling.embedding_dimension = int(inner.config.vocab_size)
    require_words(model.tokenizer)
    if headless:
        new_head(model)
    return model, not headless


def _transformer(folder: Path) -> tuple[Path, bool]:
    """Where the transformer's files are, and whether the folder holds a SPLADE model of sentence-transformers."""
    kind = model_kind(folder)
    if kind == "plain":
        return folder, False
    modules = [name.rpartition(".")[2] for name, _ in modules_of(folder)]
    if kind == "sparse" and modules in (["Transformer", "SpladePooling"], ["MLMTransformer", "SpladePooling"]):
        return transformer_folder(folder), True
    if kind != "single-vector" or modules[:2] != ["Transformer", "Pooling"]:
        raise InputError(
            f"a {kind} model of {', '.join(modules)}, which gives terms no weights",
            file=folder,
            remedy="Give a SPLADE model, a masked language model, or an encoder to make one of",
        )
    return transformer_folder(folder), False
