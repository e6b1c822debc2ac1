"""TCT-ColBERT: the mean of ColBERT's token vectors, without its projection, compared by the dot product.

*WolfPQ* eq. 2.8 pools the vectors of eq. 2.5, where a marker stands before each text: [Q] before queries, [D] before
documents. The thesis leaves open what becomes of the markers themselves. We do what the published checkpoints were
tuned and are used with (Lin, Yang and Lin 2021):

- a document is [CLS] [D] and its text, without [SEP];
- a query is [CLS] [Q], its text, and as many [MASK] as make 36 tokens, N_q of eq. 2.5; longer ones are cut there;
- [CLS] and the marker are read, and left out of the mean.

Their vocabularies hold no markers, so that "[D]" is three tokens there. Training does not happen here: the distillation
of eq. 2.7-2.9 needs a ColBERT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from qbench.errors import OptionError
from qbench.models.encoders import choose_device, longest_input, open_encoder, require_neural
from qbench.models.folders import model_folder, require_kind, transformer_folder
from qbench.models.limits import check_length, too_long
from qbench.models.single_vector import BATCH, Encoder, Role, Similarity, encode_by_length, load_encoder

if TYPE_CHECKING:
    from torch import Tensor

QUERY_LENGTH = 36
"""Tokens of a query, markers and [MASK] included."""

_MARKERS: dict[Role, str] = {"query": "[Q]", "document": "[D]"}

Pooling = Literal["mean", "max"]


@dataclass(frozen=True)
class TCTColBERT:
    """A BERT whose texts are marked; an `Encoder` of `qbench.models.single_vector`.

    Attributes:
        network: on the GPU where there is one.
        tokenizer: its tokeniser.
        longest: tokens of a document that are read, markers included.
        pooling: of the tokens' vectors: eq. 2.8 has both.
        batch: texts that go through it together.
    """

    network: Any
    tokenizer: Any
    longest: int
    pooling: Pooling = "mean"
    batch: int = BATCH

    similarity: Similarity = "dot"

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.network.config.hidden_size)

    def encode(self, texts: Sequence[str], role: Role = "document") -> NDArray[np.float32]:
        """One vector per text, shape (texts, dimension); zeros for an empty document, of which no token is left.

        Raises:
            NotFiniteError: a vector is not finite.
            OptionError: a single text does not fit into the GPU's memory.
        """
        return encode_by_length(texts, self.dimension, lambda some: self._run(some, role), self.batch)

    def _run(self, texts: list[str], role: Role) -> NDArray[np.float32]:
        import torch

        with torch.inference_mode():
            vectors: NDArray[np.float32] = self.embed(texts, role).float().cpu().numpy()
        return vectors

    def embed(self, texts: Sequence[str], role: Role) -> Tensor:
        """The vectors of a batch, shape (texts, dimension), with gradients where torch records them."""
        import torch

        prefix = self._prefix(role)
        marked = [self._marked(prefix, ids, role) for ids in self._tokens(texts)]
        width = max(len(ids) for ids in marked)
        ids = torch.full((len(marked), width), self.tokenizer.pad_token_id or 0)
        mask = torch.zeros_like(ids)
        for row, read, tokens in zip(ids, mask, marked, strict=True):
            row[: len(tokens)] = torch.tensor(tokens)
            read[: len(tokens)] = 1
        ids, mask = ids.to(self.network.device), mask.to(self.network.device)
        hidden = self.network(input_ids=ids, attention_mask=mask).last_hidden_state
        return self._pooled(hidden[:, len(prefix) :], mask[:, len(prefix) :])

    def _pooled(self, hidden: Tensor, mask: Tensor) -> Tensor:
        if not hidden.shape[1]:
            return hidden.new_zeros(len(hidden), hidden.shape[2])
        there = mask.unsqueeze(-1)
        if self.pooling == "mean":
            return (hidden * there).sum(dim=1) / there.sum(dim=1).clamp(min=1)
        highest = hidden.masked_fill(there == 0, float("-inf")).amax(dim=1)
        return highest.masked_fill(there.sum(dim=1) == 0, 0.0)

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        options = {"add_special_tokens": False, "return_attention_mask": False, "return_token_type_ids": False}
        ids: list[list[int]] = self.tokenizer(list(texts), truncation=False, verbose=False, **options)["input_ids"]
        return ids

    def _prefix(self, role: Role) -> list[int]:
        return [self.tokenizer.cls_token_id, *self._tokens([_MARKERS[role]])[0]]

    def _marked(self, prefix: list[int], ids: list[int], role: Role) -> list[int]:
        marked = [*prefix, *ids]
        if role == "document":
            return marked[: self.longest]
        length = min(QUERY_LENGTH, self.longest)
        return [*marked, *[self.tokenizer.mask_token_id] * length][:length]

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which documents have more tokens than it reads, shape (texts,)."""
        return too_long(self.tokenizer, texts, self.longest, markers=len(self._prefix("document")))


def load_tct_colbert(
    model: str, *, max_length: int = 0, pooling: str = "mean", markers: str = "colbert", batch: int = BATCH
) -> Encoder:
    """A TCT-ColBERT ready to encode, on the GPU where there is one.

    Args:
        model: a folder, or a name on the hub.
        max_length: tokens of a document that are read, markers included; 0 for as many as the model takes.
        pooling: "mean" or "max" of the tokens' vectors.
        markers: "colbert", as the published checkpoints; or "none" for a model that was tuned without them: texts are
            then [CLS] text [SEP], all of them pooled.
        batch: texts that go through it together.

    Raises:
        InputError: it is no such model, or not whole.
        OptionError: `max_length` is more than the model can read, or too little for a word; or its tokeniser
            lacks [CLS] or [MASK].
        MissingPackageError: torch or transformers is not installed.
    """
    if markers == "none":
        return load_encoder(model, max_length=max_length, batch=batch, pooling=pooling, similarity="dot")
    require_neural()
    folder = model_folder(model)
    require_kind(folder, "a single-vector model", "plain", "single-vector")
    network, tokenizer = open_encoder(transformer_folder(folder))
    for name in ("cls_token_id", "mask_token_id"):
        if getattr(tokenizer, name) is None:
            remedy = "Write markers=none, or use a BERT"
            raise OptionError(f"the model's tokeniser has no {name[:-3]}", value=model, remedy=remedy)
    longest = longest_input(network, tokenizer)
    chosen: Pooling = "max" if pooling == "max" else "mean"
    encoder = TCTColBERT(network.to(choose_device("auto")).eval(), tokenizer, max_length or longest, chosen, batch)
    check_length(max_length, longest, len(encoder._prefix("document")))
    return encoder
