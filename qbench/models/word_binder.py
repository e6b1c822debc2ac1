"""A BERT that says of each word of a sentence how it stands to one of the quantities there.

The quantity stands between the marks of `qbench.models.marked`, as the pivot of *Quantity Retrieval*, section 3.1. What
the caller knows of each word and of the quantity (its place in a parse, the answer of some rules) comes as whole
numbers and is added to the embeddings of the word's tokens, as BERT adds those of positions; so the encoder can weigh
the text against them.

This module imports torch: import it inside functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qbench.models.folders import EXTRACTOR
from qbench.models.marked import MARKS, MarkedModel, new_model, window

_SPREAD = 0.02
"""Standard deviation of new embeddings, as BERT's own."""


@dataclass(frozen=True, slots=True)
class WordBinderConfig:
    """What stands around the encoder.

    Attributes:
        words: number of values of each column that describes a word.
        mentions: number of values of each column that describes the quantity.
        outputs: number of questions that are answered yes or no of each word.
        labels: lists of strings that the numbers in some columns stand for; kept for the caller.
        threshold: probability from which a word is taken to be of the concept.
        dropout: before the last layer.
        max_tokens: longest sequence, special tokens included; of a longer text the model sees a window.
    """

    words: list[int]
    mentions: list[int]
    outputs: int
    labels: list[list[str]]
    threshold: float = 0.5
    dropout: float = 0.1
    max_tokens: int = 512


class Pointed(NamedTuple):
    """A text with one of its quantities pointed at.

    Attributes:
        words: of the text.
        pivot: indexes of the quantity's first word and of the one after its last.
        columns: what is known of each word, of shape (words, columns).
        mention: what is known of the quantity, of shape (columns,).
    """

    words: Sequence[str]
    pivot: tuple[int, int]
    columns: NDArray[np.int64]
    mention: NDArray[np.int64]


class Encoded(NamedTuple):
    """A pointed text in tokens: their ids, special ones included, and the word of each; -1 for special tokens."""

    ids: list[int]
    owners: list[int]


class WordBinder(MarkedModel):
    """The model, with its tokeniser.

    Args:
        encoder: a transformers encoder, its embeddings as many as the tokeniser's tokens.
        tokenizer: a fast tokeniser that knows `MARKS`.
        config: what stands around it.
    """

    FILE, CONFIG, KIND = EXTRACTOR, WordBinderConfig, "model of an extractor"
    REMEDY = "Make one with `qbench train extractor`"

    def __init__(self, encoder: Any, tokenizer: Any, config: WordBinderConfig) -> None:
        super().__init__()
        self.config, self.tokenizer, self.encoder = config, tokenizer, encoder
        size = encoder.config.hidden_size
        self.words = nn.ModuleList([nn.Embedding(n, size) for n in config.words])
        self.mentions = nn.ModuleList([nn.Embedding(n, size) for n in config.mentions])
        for table in [*self.words, *self.mentions]:
            nn.init.normal_(table.weight, std=_SPREAD)
        self.dropout = nn.Dropout(config.dropout)
        self.out = nn.Linear(size, config.outputs)

    @classmethod
    def new(
        cls,
        folder: Path,
        seed: int,
        *,
        words: Sequence[int],
        mentions: Sequence[int],
        outputs: int,
        labels: Sequence[Sequence[str]],
    ) -> WordBinder:
        """A model to be trained, see `new_model`; `words`, `mentions`, `outputs`, `labels` as in `WordBinderConfig`."""

        def make(encoder: Any, tokenizer: Any, longest: int) -> WordBinder:
            names = [list(column) for column in labels]
            config = WordBinderConfig(list(words), list(mentions), outputs, names, max_tokens=longest)
            return cls(encoder, tokenizer, config)

        return new_model(folder, seed, make)

    def forward(self, ids: Tensor, mask: Tensor, columns: Tensor, mentions: Tensor) -> Tensor:
        """Scores of the tokens.

        Args:
            ids: token ids of shape (texts, tokens), padded at the end.
            mask: the tokens of words (2), special ones (1) and padding (0), of shape (texts, tokens).
            columns: what is known of each token's word, of shape (texts, tokens, columns); counts where the mask is 2.
            mentions: what is known of the quantities, of shape (texts, columns).

        Returns:
            logits of shape (texts, tokens, outputs).
        """
        known = torch.stack([table(columns[..., n]) for n, table in enumerate(self.words)]).sum(dim=0)
        whole = torch.stack([table(mentions[..., n]) for n, table in enumerate(self.mentions)]).sum(dim=0)
        embedded = self.encoder.get_input_embeddings()(ids) + whole[:, None] + known * (mask == 2)[..., None]
        read = self.encoder(inputs_embeds=embedded, attention_mask=(mask > 0).long())
        scores: Tensor = self.out(self.dropout(read.last_hidden_state))
        return scores

    def encode(self, items: Sequence[Pointed]) -> list[Encoded]:
        """Pointed texts in tokens, each word cut by itself."""
        unseen = list({word: None for item in items for word in item.words})
        if not unseen:
            return []
        pieces = self.token_ids(unseen)["input_ids"]
        # A word of which the tokeniser keeps nothing (a soft hyphen) still has a place.
        unknown = self.tokenizer.unk_token_id or 0
        tokens = {word: ids or [unknown] for word, ids in zip(unseen, pieces, strict=True)}
        return [self._marked(item, tokens) for item in items]

    def _marked(self, item: Pointed, tokens: dict[str, list[int]]) -> Encoded:
        start, end = self.tokenizer.convert_tokens_to_ids(list(MARKS))
        ids = [piece for word in item.words for piece in tokens[word]]
        owners = [n for n, word in enumerate(item.words) for _ in tokens[word]]
        before = sum(len(tokens[word]) for word in item.words[: item.pivot[0]])
        inside = sum(len(tokens[word]) for word in item.words[slice(*item.pivot)])
        after = len(ids) - before - inside
        left, middle, right = window(before, inside, after, self.config.max_tokens - 4)
        ranges = [(before - left, before), (before, before + middle), (before + inside, before + inside + right)]
        marked, of = [self.tokenizer.cls_token_id], [-1]
        for (a, b), mark in zip(ranges, (start, end, self.tokenizer.sep_token_id), strict=True):
            marked += [*ids[a:b], mark]
            of += [*owners[a:b], -1]
        return Encoded(marked, of)

    def batch(self, items: Sequence[Pointed], encoded: Sequence[Encoded]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What `forward` takes, on the model's device."""
        shape = (len(items), max(len(text.ids) for text in encoded))
        ids = np.full(shape, self.tokenizer.pad_token_id or 0, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        columns = np.zeros((*shape, len(self.words)), dtype=np.int64)
        for n, (item, text) in enumerate(zip(items, encoded, strict=True)):
            owners = np.array(text.owners)
            ids[n, : len(owners)] = text.ids
            mask[n, : len(owners)] = 1 + (owners >= 0)
            columns[n, : len(owners)] = item.columns[owners]  # of special tokens, the last word's, which nobody reads
        mentions = np.stack([item.mention for item in items])
        a, b, c, d = (torch.from_numpy(array).to(self.out.weight.device) for array in (ids, mask, columns, mentions))
        return a, b, c, d

    @torch.inference_mode()
    def probabilities(self, items: Sequence[Pointed], batch_size: int = 32) -> list[NDArray[np.float32]]:
        """How likely the answer to each question is yes.

        Args:
            items: texts, each with a quantity. Put the model into `eval` mode before.
            batch_size: number of texts that go through the model together; they are sorted by length for that.

        Returns:
            for each item an array of shape (words, outputs); 0 for words that the model did not see.
        """
        encoded = self.encode(items)
        order = sorted(range(len(items)), key=lambda n: len(encoded[n].ids))
        found = [np.zeros((len(item.words), self.config.outputs), dtype=np.float32) for item in items]
        for start in range(0, len(order), batch_size):
            group = order[start : start + batch_size]
            scores = self(*self.batch([items[n] for n in group], [encoded[n] for n in group]))
            for n, row in zip(group, torch.sigmoid(scores.float()).cpu().numpy(), strict=True):
                words, places = first_tokens(encoded[n])
                found[n][words] = row[places]
        return found


def first_tokens(text: Encoded) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The words of a text that the model sees, and the place of the first token of each, which speaks for its word.

    >>> [found.tolist() for found in first_tokens(Encoded([2, 7, 8, 9, 3], [-1, 4, 4, 5, -1]))]
    [[4, 5], [1, 3]]
    """
    words, places = np.unique(np.array(text.owners), return_index=True)
    return words[words >= 0], places[words >= 0]
