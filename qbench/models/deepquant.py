"""DeepQuant: late interaction over words, comparison of numbers beside it, and a weight between both for each query.

    score(D | Q) = (1 - alpha) sum over a of max over b of rel(b | a) + alpha MaxSim(words of Q, words of D)

Source: *DeepQuant* section 3 and appendices A to C and G; the equations stand in `qbench.models.number_layers`. A query
without numbers has alpha = 1: it is searched as ColBERT searches. A document without numbers has no b, and 0 there.

This module imports torch: import it inside functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qbench.errors import InputError, OptionError
from qbench.models.encoders import choose_device, longest_input, open_encoder
from qbench.models.folders import DEEPQUANT, model_folder, model_kind, require_kind
from qbench.models.limits import check_length, prompt_of, too_long
from qbench.models.multi_vector import load_multi_vector_model, longest_document
from qbench.models.number_layers import (
    NumberEmbedding,
    NumberHeads,
    OperatorHead,
    Towers,
    comparisons,
    max_sim,
    projected,
    quantity_relevance,
    unit_attention,
    with_rows_of,
)
from qbench.models.numbers import NUMBER_MARK, Number, NumberedTokens, UnitList, scientific, with_number_tokens
from qbench.models.saved import read_config, read_weights, save_model
from qbench.models.single_vector import Role

TextScore = Literal["sum", "mean"]


@dataclass(frozen=True, slots=True)
class DeepQuantConfig:
    """What stands around the encoder.

    Attributes:
        units: the units that it tells apart, as in `UnitList`.
        dimension: numbers in a token's vector for MaxSim.
        query_marker, document_marker: ids of the tokens before a text, behind [CLS].
        skipped: ids of tokens of documents that take no part in MaxSim (punctuation).
        query_length: tokens that queries are filled up to with [MASK]; 0: they are not.
        attended: whether the other tokens see these [MASK]s.
        max_length: tokens of a document that are read, markers included.
        text_score: MaxSim's sum over the query's tokens, or its mean, which has the size of the numbers' score.
        sigma: of the mantissas' Gaussian.
        centred_units: whether the logits of units have a mean of 0 (see `NumberHeads`).
    """

    units: tuple[str, ...]
    dimension: int
    query_marker: tuple[int, ...] = ()
    document_marker: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()
    query_length: int = 0
    attended: bool = False
    max_length: int = 512
    text_score: TextScore = "mean"
    sigma: float = 1.0
    centred_units: bool = False

    def __post_init__(self) -> None:
        for name in ("units", "query_marker", "document_marker", "skipped"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # JSON has lists


@dataclass(frozen=True)
class Contextual:
    """Texts after the encoder.

    Attributes:
        vectors: shape (texts, tokens, J); of [CLS] first.
        words: shape (texts, tokens), bool: the tokens that take part in MaxSim.
        places: shape (texts, m), int64: the tokens of each text's numbers, then -1.
    """

    vectors: Tensor
    words: Tensor
    places: Tensor

    @property
    def members(self) -> Tensor:
        """Shape (texts, m): the rows of each text's numbers in `numbers`, then -1."""
        there = self.places >= 0
        return torch.where(there, there.flatten().cumsum(0).reshape(there.shape) - 1, -1)

    @property
    def numbers(self) -> Tensor:
        """The vectors of all numbers, text by text, shape (n, J)."""
        texts, columns = (self.places >= 0).nonzero(as_tuple=True)
        return self.vectors[texts, self.places[texts, columns]]


@dataclass(frozen=True)
class Parts:
    """The parts of the score (eq. 10) of q queries and t texts.

    Attributes:
        text, quantity: shape (q, t).
        alpha: shape (q,); 1 for a query without numbers.
        logits: of N(op, y_a, y_b) for all numbers of all queries and texts, shape (A, B, 3).
    """

    text: Tensor
    quantity: Tensor
    alpha: Tensor
    logits: Tensor

    @property
    def score(self) -> Tensor:
        """(1 - alpha) quantity + alpha text (*DeepQuant* eq. 10), shape (q, t)."""
        return (1 - self.alpha)[:, None] * self.quantity + self.alpha[:, None] * self.text


class DeepQuant(nn.Module):
    """The model, with its tokeniser.

    Args:
        encoder: a transformers encoder.
        tokenizer: its tokeniser, which knows [num].
        config: what stands around them.

    Raises:
        OptionError: the tokeniser has no [CLS] or [SEP].
    """

    def __init__(self, encoder: Any, tokenizer: Any, config: DeepQuantConfig) -> None:
        super().__init__()
        if tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
            remedy = "Start from a BERT or one of its kin"
            raise OptionError("DeepQuant reads alpha off [CLS], and the encoder has none", remedy=remedy)
        width = encoder.config.hidden_size
        self.config = config
        self.encoder, self.tokenizer = encoder, tokenizer
        self.units = UnitList(config.units)
        # Of the input's size, which is not that of the vectors in an ELECTRA or ALBERT.
        self.number = NumberEmbedding(encoder.get_input_embeddings().embedding_dim, config.sigma)
        self.projection = nn.Linear(width, config.dimension, bias=False)
        self.heads = NumberHeads(width, len(self.units), config.centred_units)
        self.operators = OperatorHead(width)
        self.towers = Towers(width)
        self.alpha = nn.Linear(width, 1)
        self.token = int(tokenizer.convert_tokens_to_ids(NUMBER_MARK))

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return self.alpha.weight.device

    @property
    def dimension(self) -> int:
        """Numbers in a token's vector for MaxSim."""
        return self.config.dimension

    @classmethod
    def load(cls, folder: Path) -> DeepQuant:
        """A model that `save` wrote; nothing is downloaded, nothing from the folder is run.

        Raises:
            InputError: files are missing or broken, or do not belong together.
        """
        config = read_config(folder, DEEPQUANT, DeepQuantConfig, "DeepQuant", "Train one: qbench train deepquant")
        with torch.random.fork_rng(devices=[]):
            model = cls(*open_encoder(folder, weights=False), config)
        read_weights(model, folder)
        return model.eval()

    def save(self, folder: Path) -> None:
        """Write weights, configurations, tokeniser and list of units into a folder."""
        save_model(self, folder, DEEPQUANT)

    def limit(self, max_length: int) -> None:
        """Read at most `max_length` tokens of a document, markers included; 0 leaves it as it is.

        Raises:
            OptionError: that is more than the encoder takes, or leaves no room for a word.
        """
        markers = 2 + len(self.config.document_marker)
        check_length(max_length, longest_input(self.encoder, self.tokenizer), markers)
        if max_length:
            self.config = replace(self.config, max_length=max_length)

    def know(self, units: UnitList) -> None:
        """Tell other units apart; those that it knew keep their weights, by name."""
        self.heads.unit = with_rows_of(self.heads.unit, torch.from_numpy(units.places_in(self.units)))
        self.units, self.config = units, replace(self.config, units=units.names)

    def tokens(self, texts: Sequence[str], numbers: Sequence[Sequence[Number]], role: Role) -> list[NumberedTokens]:
        """The tokens of texts with [num] for numbers and the markers around them, as long as the encoder reads."""
        query = role == "query"
        before = [self.tokenizer.cls_token_id, *(self.config.query_marker if query else self.config.document_marker)]
        longest = longest_input(self.encoder, self.tokenizer) if query else self.config.max_length
        made = []
        for tokens in with_number_tokens(self.tokenizer, texts, numbers, self.token):
            kept = tokens.cut(longest - len(before) - 1)
            ids = [*before, *kept.ids, self.tokenizer.sep_token_id]
            made.append(NumberedTokens(ids, [place + len(before) for place in kept.places]))
        return made

    def contextual(
        self, texts: Sequence[str], numbers: Sequence[Sequence[Number]], role: Role = "document"
    ) -> Contextual:
        """Texts through the encoder, with gradients where torch records them.

        Args:
            texts: n of them.
            numbers: of each text, ascending; numbers behind the tokens that are read are left out.
            role: whose markers and filters they get.
        """
        tokens = self.tokens(texts, numbers, role)
        ids, seen, words = self._counted(tokens, role)
        places = _ragged([each.places for each in tokens])
        device = self.device
        embedded = self.encoder.get_input_embeddings()(ids.to(device))
        flat = [number for each, some in zip(tokens, numbers, strict=True) for number in some[: len(each.places)]]
        if flat:
            mantissas, exponents = scientific([number.value for number in flat])
            added = self.number(torch.from_numpy(mantissas).float().to(device), torch.from_numpy(exponents).to(device))
            rows, columns = (places >= 0).nonzero(as_tuple=True)
            embedded = embedded.index_put(
                (rows.to(device), places[rows, columns].to(device)), added.to(embedded.dtype), accumulate=True
            )
        hidden = self.encoder(inputs_embeds=embedded, attention_mask=seen.to(device)).last_hidden_state
        return Contextual(hidden.float(), words.to(device), places.to(device))

    def word_ids(
        self, texts: Sequence[str], numbers: Sequence[Sequence[Number]], role: Role = "document"
    ) -> list[NDArray[np.int64]]:
        """The tokens of each text that take part in MaxSim, by their numbers in the vocabulary, in order."""
        ids, _, words = self._counted(self.tokens(texts, numbers, role), role)
        return [row[kept].numpy() for row, kept in zip(ids, words, strict=True)]

    def alone(self, words: Tensor) -> Tensor:
        """The vectors of words, each in a document of this word alone, shape (n, dimension).

        Args:
            words: shape (n,), numbers in the vocabulary.
        """
        before = torch.tensor([self.tokenizer.cls_token_id, *self.config.document_marker])
        last = torch.full((len(words), 1), self.tokenizer.sep_token_id)
        ids = torch.cat([before.expand(len(words), -1), words[:, None], last], dim=1).to(self.device)
        hidden = self.encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        return projected(hidden[:, len(before)].float(), self.projection)

    def _counted(self, tokens: Sequence[NumberedTokens], role: Role) -> tuple[Tensor, Tensor, Tensor]:
        """Ids, what the encoder sees, and what counts in MaxSim, each of shape (texts, tokens)."""
        filled = self.config.query_length if role == "query" else 0
        ids, seen, words = _padded([each.ids for each in tokens], filled, self.tokenizer, self.config.attended)
        if role == "document" and self.config.skipped:
            words &= ~torch.isin(ids, torch.tensor(self.config.skipped))
        words &= ids != self.token
        return ids, seen, words

    def parts(self, queries: Contextual, texts: Contextual) -> Parts:
        """The parts of the score of every query and text (*DeepQuant* eq. 10)."""
        asked, stated = queries.numbers, texts.numbers
        logits = comparisons(self.towers.query(asked), self.towers.document(stated))
        attention = unit_attention(self.heads.units(asked), self.heads.units(stated), texts.members)
        best = quantity_relevance(self.operators(asked), attention, torch.sigmoid(logits), texts.members)
        owners = (queries.places >= 0).nonzero(as_tuple=True)[0]
        quantity = best.new_zeros(len(queries.places), len(texts.places)).index_add(0, owners, best)
        words = [projected(each.vectors, self.projection) for each in (queries, texts)]
        text = max_sim(words[0], queries.words, words[1], texts.words)
        if self.config.text_score == "mean":
            text = text / queries.words.sum(dim=1, keepdim=True)
        return Parts(text, quantity, self.alphas(queries), logits)

    def alphas(self, queries: Contextual) -> Tensor:
        """Alpha = sigmoid(N_alpha . y[CLS]) (*DeepQuant* eq. 12), shape (q,); 1 for a query without numbers."""
        alphas = torch.sigmoid(self.alpha(queries.vectors[:, 0]))[:, 0]
        return torch.where((queries.places >= 0).any(dim=1), alphas, 1.0)

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which documents have more tokens than are read, shape (texts,); numbers count as they are written."""
        return too_long(self.tokenizer, texts, self.config.max_length, 2 + len(self.config.document_marker))


def load_deepquant(model: str, max_length: int = 0) -> DeepQuant:
    """A trained DeepQuant, on the GPU where there is one.

    Args:
        model: a folder, or a name on the hub.
        max_length: tokens of a document that are read; 0 for as many as it was trained with.

    Raises:
        InputError: it is of another kind, or not whole.
        OptionError: `max_length` is more than it can read, or too little for any word.
    """
    folder = model_folder(model)
    require_kind(folder, "a DeepQuant (qbench train deepquant)", "deepquant")
    loaded = DeepQuant.load(folder)
    loaded.limit(max_length)
    return loaded.to(choose_device("auto"))


def deepquant_from(
    model: str, *, text_score: TextScore | None = None, sigma: float = 1.0, centred_units: bool | None = None
) -> tuple[DeepQuant, str]:
    """A DeepQuant to be trained, on the GPU where there is one: a trained one, or a new one around another model.

    A new one has the encoder, markers, filter, query augmentation and projection of the ColBERT that the model is, or
    that `qbench.models.colbert_start` makes of it; its other layers are random, from torch's random numbers.

    Args:
        model: a folder, or a name on the hub.
        text_score, centred_units: as in `DeepQuantConfig`; None for those of a trained one, in a new one the defaults.
        sigma: of a new one.

    Returns:
        it, and what of it is not trained yet; "" for nothing.

    Raises:
        InputError: it is of a kind that has no ColBERT in it, or not whole.
        OptionError: its encoder has no [CLS].
    """
    folder = model_folder(model)
    if model_kind(folder) == "deepquant":
        loaded = load_deepquant(model)
        chosen: dict[str, Any] = {"text_score": text_score, "centred_units": centred_units}
        given = {name: value for name, value in chosen.items() if value is not None}
        loaded.config = replace(loaded.config, **given)
        loaded.heads.centred = loaded.config.centred_units
        return loaded, ""
    colbert: Any = load_multi_vector_model(model)
    transformer = colbert[0]
    dense = [module for module in colbert if type(module).__name__ == "Dense"]
    if len(dense) != 1 or dense[0].linear.bias is not None:
        raise InputError("a DeepQuant begins with one projection without a bias", file=folder)
    tokenizer, encoder = colbert.tokenizer, transformer.model
    _add_mark(encoder, tokenizer)
    expansion = transformer.query_expansion or {}
    masks = [module for module in colbert if type(module).__name__ == "MultiVectorMask"]
    skipped = [word for mask in masks for word in mask.skiplist_words]
    projection = dense[0].linear.weight.detach()
    config = DeepQuantConfig(
        units=(),
        dimension=len(projection),
        query_marker=_marker(colbert, "query"),
        document_marker=_marker(colbert, "document"),
        skipped=tuple(sorted(set(tokenizer.convert_tokens_to_ids(skipped)))),
        query_length=int(expansion.get("length") or 0),
        attended=bool(expansion.get("attend")),
        max_length=longest_document(colbert),
        text_score=text_score or "mean",
        sigma=sigma,
        centred_units=bool(centred_units),
    )
    made = DeepQuant(encoder, tokenizer, config)
    with torch.no_grad():
        made.projection.weight.copy_(projection)
    return made.to(colbert.device), "its layers for numbers are random"


def _marker(colbert: Any, role: Role) -> tuple[int, ...]:
    return tuple(colbert.tokenizer(prompt_of(colbert, role), add_special_tokens=False)["input_ids"])


def _add_mark(encoder: Any, tokenizer: Any) -> None:
    """Let the tokeniser know [num]; its embedding is the mean of all."""
    before = len(tokenizer)
    if not tokenizer.add_tokens([NUMBER_MARK], special_tokens=True):
        return
    words = encoder.get_input_embeddings()
    mean = words.weight.detach()[:before].mean(dim=0)
    if len(tokenizer) > words.num_embeddings:
        words = encoder.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with torch.no_grad():
        words.weight[before] = mean


def _padded(rows: Sequence[list[int]], filled: int, tokenizer: Any, attended: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, what the encoder sees, and what counts in MaxSim, each of shape (texts, tokens).

    Args:
        rows: the ids of each text.
        filled: number of tokens that shorter ones are filled up to with [MASK], which counts.
        tokenizer: whose [PAD] and [MASK] are used.
        attended: whether [MASK] is seen.
    """
    width = max([len(row) for row in rows], default=0)
    width = max(width, filled)
    ids = torch.full((len(rows), width), tokenizer.pad_token_id or 0)
    seen, words = torch.zeros(ids.shape, dtype=torch.int64), torch.zeros(ids.shape, dtype=torch.bool)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
        if filled > len(row):
            ids[place, len(row) : filled] = tokenizer.mask_token_id
        seen[place, : max(len(row), filled if attended else 0)] = 1
        words[place, : max(len(row), filled)] = True
    return ids, seen, words


def _ragged(rows: Sequence[list[int]]) -> Tensor:
    """Lists of different lengths, filled up with -1, shape (lists, longest)."""
    width = max([len(row) for row in rows], default=0)
    filled = [[*row, *[-1] * (width - len(row))] for row in rows]
    return torch.tensor(filled, dtype=torch.int64).reshape(len(rows), width)
