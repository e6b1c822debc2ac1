"""Aggretriever: the [CLS] vector of BERT joined with agg*, which gathers what its MLM head says of every token.

Each token becomes a distribution over the vocabulary (*WolfPQ* eq. 2.10), is weighted, and of all tokens the maximum is
taken for each term (eq. 2.11). The terms are parted into slices of equal size, and agg* is the maximum of each slice
(figure 2.4; Lin, Li and Lin 2023). Vectors are compared by the dot product (eq. 3.7).

This module imports torch: import it inside functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import layer_norm, linear
from torch.utils.checkpoint import checkpoint

from qbench.errors import InputError, OptionError
from qbench.models.encoders import choose_device, longest_input, open_network
from qbench.models.folders import (
    AGGRETRIEVER,
    model_folder,
    model_kind,
    require_kind,
    transformer_folder,
)
from qbench.models.limits import check_length, too_long
from qbench.models.mlm_head import probes
from qbench.models.saved import read_config, read_weights, save_model
from qbench.models.single_vector import BATCH, Role, Similarity, encode_by_length

AGG_DIMENSION = 640
"""Slices of the vocabulary in Lin et al., who join them with a [CLS] vector of 128 numbers."""

CHUNK = 512
"""Tokens whose scores of all terms are in memory at a time: 62 MB for BERT's vocabulary of 30,522."""

Head = Literal["own", "embeddings"]


@dataclass(frozen=True, slots=True)
class AggretrieverConfig:
    """What stands above the encoder.

    Attributes:
        agg_dimension: numbers in agg*.
        cls_dimension: numbers in the part that comes from [CLS]: as many as the encoder's, or a projection's.
        signed: whether agg* has two slices for each number and keeps the larger maximum, that of the second one
            negated: the variant in the code of Lin et al. The thesis says the maximum of each slice.
        head: "own", the encoder's MLM head; or "embeddings": the terms' input embeddings serve as one.
        trained: whether the weights above the encoder were ever trained.
        max_length: tokens of a text that are read; 0 for as many as the encoder takes.
    """

    agg_dimension: int
    cls_dimension: int
    signed: bool = False
    head: Head = "own"
    trained: bool = False
    max_length: int = 0


SURE = 0.5
"""The highest probability that a new head gives the median token. A trained one is surer of a word that it sees."""


class EmbeddingHead(nn.Module):
    """Scores of the terms for encoders without an MLM head: products with their input embeddings, sharpened.

    A BERT's own head ends likewise: hidden states are normalised, and multiplied with the embeddings. `sharpened` sets
    the one number that is not known. Without it every term has next to no probability, agg* is all but zero beside
    [CLS], and no gradient comes through the softmax.

    Args:
        embeddings: of shape (terms, width), shared with the encoder.
    """

    def __init__(self, embeddings: nn.Parameter) -> None:
        super().__init__()
        self.weight = embeddings
        self.bias = nn.Parameter(torch.zeros(len(embeddings)))
        self.sharpness = nn.Parameter(torch.ones(()))

    def forward(self, hidden: Tensor) -> Tensor:
        """Shape (..., width) to (..., terms)."""
        return linear(self.sharpness * layer_norm(hidden, hidden.shape[-1:]), self.weight, self.bias)

    @torch.no_grad()
    def sharpened(self, hidden: Tensor) -> None:
        """Set the sharpness such that the median token's likeliest term has the probability `SURE`, about.

        Args:
            hidden: states of some texts' tokens, shape (tokens, width).
        """
        low, high = 0.0, 1e3
        for _ in range(40):
            self.sharpness.fill_((low + high) / 2)
            if self(hidden).softmax(dim=-1).amax(dim=-1).median() < SURE:
                low = float(self.sharpness)
            else:
                high = float(self.sharpness)


class Aggretriever(nn.Module):
    """The model, with its tokeniser; an `Encoder` of `qbench.models.single_vector`.

    Args:
        encoder: a transformers encoder.
        head: from its hidden states to scores of the terms.
        tokenizer: its tokeniser.
        config: the layers above.

    Raises:
        OptionError: agg* would have more numbers than there are terms.
    """

    similarity: Similarity = "dot"
    batch = BATCH

    def __init__(self, encoder: Any, head: nn.Module, tokenizer: Any, config: AggretrieverConfig) -> None:
        super().__init__()
        width, terms = encoder.config.hidden_size, encoder.config.vocab_size
        if not 1 <= config.agg_dimension * (2 if config.signed else 1) <= terms:
            need = " (twice, because slices are signed)" if config.signed else ""
            message = f"agg_dimension{need} is larger than the vocabulary ({terms})"
            raise OptionError(message, value=config.agg_dimension)
        self.config, self.tokenizer = config, tokenizer
        self.encoder, self.head = encoder, head
        self.weight = nn.Linear(width, 1)
        # All tokens weigh the same to begin with: agg* is useful before it is trained, and the same for every seed.
        nn.init.zeros_(self.weight.weight)
        nn.init.ones_(self.weight.bias)
        self.projection = None if config.cls_dimension == width else nn.Linear(width, config.cls_dimension)

    @classmethod
    def new(
        cls,
        folder: Path,
        *,
        agg_dimension: int = 0,
        cls_dimension: int = 0,
        signed: bool = False,
        max_length: int = 0,
        seed: int = 0,
    ) -> Aggretriever:
        """An Aggretriever to be trained, from a BERT with or without its MLM head.

        Without the head (a plain BERT, a model of sentence-transformers) the input embeddings serve as one: see
        `EmbeddingHead`.

        Args:
            folder: of the encoder; see `qbench.models.folders.model_folder`.
            agg_dimension: numbers in agg*; 0 for 640, or as many as the vocabulary has slices for.
            cls_dimension: numbers in the part that comes from [CLS]; 0 for the encoder's own, without a projection.
            signed: as in `AggretrieverConfig`.
            max_length: as in `AggretrieverConfig`.
            seed: of the projection's random weights.

        Raises:
            InputError: the encoder cannot be opened, or is no masked language model that we know.
            OptionError: a dimension makes no sense.
        """
        encoder, head, tokenizer = _open(transformer_folder(folder))
        kind: Head = "own"
        if head is None:
            kind, head = "embeddings", EmbeddingHead(encoder.get_input_embeddings().weight)
        slices = encoder.config.vocab_size // (2 if signed else 1)
        config = AggretrieverConfig(
            agg_dimension or min(AGG_DIMENSION, slices),
            cls_dimension or encoder.config.hidden_size,
            signed,
            kind,
            max_length=_length(encoder, tokenizer, max_length),
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = cls(encoder, head, tokenizer, config).eval()
        texts = probes(tokenizer)
        if isinstance(head, EmbeddingHead):
            head.sharpened(model._states(texts))
        model._balance(texts)
        return model

    @classmethod
    def load(cls, folder: Path, max_length: int = 0) -> Aggretriever:
        """An Aggretriever that `save` wrote; nothing is downloaded, nothing from the folder is run.

        Args:
            folder: it.
            max_length: tokens of a text that are read; 0 for as many as it was saved with.

        Raises:
            InputError: files are missing or broken, or do not belong together.
            OptionError: `max_length` is more than the encoder takes, or too little for a word.
        """
        config = read_config(folder, AGGRETRIEVER, AggretrieverConfig, "Aggretriever")
        with torch.random.fork_rng(devices=[]):
            encoder, head, tokenizer = _open(folder, weights=False)
            if config.head == "embeddings" or head is None:
                head = EmbeddingHead(encoder.get_input_embeddings().weight)
            length = _length(encoder, tokenizer, max_length or config.max_length)
            model = cls(encoder, head, tokenizer, config)
        model.config = replace(config, max_length=length)
        read_weights(model, folder, model._shared())
        return model.eval()

    def save(self, folder: Path) -> None:
        """Write weights, configurations and tokeniser into a folder; nothing of where the encoder came from."""
        save_model(self, folder, AGGRETRIEVER, self._shared())

    def _shared(self) -> set[str]:
        """Names of weights that are the same numbers as one with an earlier name: they are stored once."""
        seen: dict[int, str] = {}
        return {name for name, tensor in self.state_dict().items() if seen.setdefault(tensor.data_ptr(), name) != name}

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self.config.cls_dimension + self.config.agg_dimension

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return self.weight.weight.device

    @torch.no_grad()
    def _states(self, texts: Sequence[str]) -> Tensor:
        """Hidden states of the tokens of some texts, shape (tokens, width)."""
        features = self.features(texts)
        states: Tensor = self.encoder(**features).last_hidden_state[features["attention_mask"].bool()]
        return states

    @torch.no_grad()
    def _balance(self, texts: Sequence[str]) -> None:
        """Give all tokens the weight that makes agg* as long as [CLS] is, so that both count from the first step on."""
        vectors, own = self.embed(self.features(texts)), self.config.cls_dimension
        first, agg = (half.norm(dim=1).mean() for half in (vectors[:, :own], vectors[:, own:]))
        self.weight.bias.mul_(first / agg.clamp(min=1e-6))

    def embed(self, features: Mapping[str, Tensor]) -> Tensor:
        """The vectors of a batch, differentiable.

        Memory does not grow with tokens times terms: the scores of `CHUNK` tokens are there at a time, and when
        training they are computed again on the way back.

        Args:
            features: `input_ids` and `attention_mask` of shape (texts, tokens), and what else the encoder takes.

        Returns:
            shape (texts, dimension): [CLS], then agg*.
        """
        hidden = self.encoder(**features).last_hidden_state
        first = hidden[:, 0] if self.projection is None else self.projection(hidden[:, 0])
        # All tokens after [CLS], which has its own part; [SEP] is among them, so that an empty text has one.
        agg = self._aggregated(hidden[:, 1:], features["attention_mask"][:, 1:])
        return torch.cat([first, agg], dim=-1)

    forward = embed

    def _aggregated(self, hidden: Tensor, mask: Tensor) -> Tensor:
        slices = self.config.agg_dimension * (2 if self.config.signed else 1)
        step = max(1, CHUNK // len(hidden))
        best = hidden.new_zeros(len(hidden), slices)
        for start in range(0, hidden.shape[1], step):
            chunk = hidden[:, start : start + step], mask[:, start : start + step], slices
            if torch.is_grad_enabled():
                maxima = checkpoint(self._pooled, *chunk, use_reentrant=False)
            else:
                maxima = self._pooled(*chunk)
            best = torch.maximum(best, maxima)
        if not self.config.signed:
            return best
        positive, negative = best[:, 0::2], best[:, 1::2]
        return torch.where(positive > negative, positive, -negative)

    def _pooled(self, hidden: Tensor, mask: Tensor, slices: int) -> Tensor:
        """Eq. 2.10 and 2.11 and the maxima of the slices, for some tokens: shape (texts, slices)."""
        scores = self.head(hidden)
        # A softmax keeps the order of the terms, so that each slice's highest score gives its highest probability.
        highest = sliced_maxima(scores, slices)
        probabilities = torch.exp(highest - torch.logsumexp(scores, dim=-1, keepdim=True))
        weights = self.weight(hidden).abs() * mask.unsqueeze(-1)
        pooled: Tensor = (weights * probabilities).amax(dim=1)
        return pooled

    def encode(self, texts: Sequence[str], role: Role = "document") -> NDArray[np.float32]:
        """One vector per text, shape (texts, dimension), the same in both roles; a longer text is cut.

        Raises:
            NotFiniteError: a vector is not finite.
            OptionError: a single text does not fit into the GPU's memory.
        """
        return encode_by_length(texts, self.dimension, self._run, self.batch)

    @torch.inference_mode()
    def _run(self, texts: list[str]) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = self.embed(self.features(texts)).float().cpu().numpy()
        return vectors

    def features(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """What `embed` takes, on the model's device."""
        options = {"padding": True, "truncation": True, "return_tensors": "pt"}
        features = self.tokenizer(list(texts), max_length=self.config.max_length, **options)
        return {name: tensor.to(self.device) for name, tensor in features.items()}

    def cut(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts have more tokens than it reads, shape (texts,)."""
        return too_long(self.tokenizer, texts, self.config.max_length)

    def limit(self, max_length: int) -> None:
        """Limit the number of tokens of a text that are read.

        Raises:
            OptionError: that is more than the encoder takes.
        """
        self.config = replace(self.config, max_length=_length(self.encoder, self.tokenizer, max_length))

    def notes(self) -> dict[str, str]:
        """What a user should know before trusting its rankings; empty for a trained model."""
        if self.config.trained:
            return {}
        head = "" if self.config.head == "own" else "; it has no MLM head, and its embeddings serve as one"
        return {"note": f"this Aggretriever was not trained{head}"}


def sliced_maxima(scores: Tensor, slices: int) -> Tensor:
    """The highest of each slice of the terms: slice m holds the terms whose number is m modulo `slices`.

    BERT's vocabulary is ordered by frequency, its first thousand terms unused: slices of neighbours would hold all the
    frequent words in a few of them, and nothing in others.

    Args:
        scores: shape (..., terms).
        slices: number of slices, no more than terms.

    Returns:
        shape (..., slices).

    >>> sliced_maxima(torch.tensor([1.0, 5.0, 3.0, 4.0, 9.0]), 3).tolist()
    [4.0, 9.0, 3.0]
    """
    terms = scores.shape[-1]
    whole = terms - terms % slices
    # A view: the scores are large, and are not copied to be filled up.
    maxima: Tensor = scores[..., :whole].view(*scores.shape[:-1], whole // slices, slices).amax(dim=-2)
    if whole == terms:
        return maxima
    rest = terms - whole
    return torch.cat([torch.maximum(maxima[..., :rest], scores[..., whole:]), maxima[..., rest:]], dim=-1)


def load_aggretriever(
    model: str, *, agg_dimension: int = 0, cls_dimension: int = 0, max_length: int = 0, batch: int = BATCH
) -> Aggretriever:
    """An Aggretriever ready to encode, on the GPU where there is one.

    A folder that `Aggretriever.save` did not write, a BERT with or without its MLM head, gives an untrained one.

    Args:
        model: a folder, or a name on the hub.
        agg_dimension, cls_dimension: of an untrained one, as in `Aggretriever.new`.
        max_length: maximum number of tokens read of a text; 0 for the model's own maximum.
        batch: texts that go through it together.

    Raises:
        InputError: it is no such model, or not whole.
        OptionError: `max_length` is more than the model can read, or too little for a word; or a dimension is not
            that of the saved one.
    """
    folder = model_folder(model)
    # A SPLADE has the MLM head that is needed here; what else sentence-transformers saves has an encoder.
    require_kind(folder, "an Aggretriever or a BERT", "aggretriever", "plain", "single-vector", "sparse")
    if model_kind(folder) == "aggretriever":
        loaded = Aggretriever.load(folder, max_length)
        for name, value in (("agg_dimension", agg_dimension), ("cls_dimension", cls_dimension)):
            if value not in (0, own := getattr(loaded.config, name)):
                message = f"this Aggretriever has a {name} of {own}"
                raise OptionError(message, value=value, remedy="Start from a BERT, or leave it out")
    else:
        loaded = Aggretriever.new(
            folder, agg_dimension=agg_dimension, cls_dimension=cls_dimension, max_length=max_length
        )
    loaded.batch = batch
    return loaded.to(choose_device("auto"))


def _open(folder: Path, *, weights: bool = True) -> tuple[Any, nn.Module | None, Any]:
    """Encoder, MLM head (None where the folder has none) and tokeniser; with random weights where none are read."""
    model, tokenizer, missing = open_network(folder, "AutoModelForMaskedLM", weights=weights)
    inner = sorted(key for key in missing if key.startswith(model.base_model_prefix + "."))
    if inner:
        message = f"this model cannot be loaded: its weights lack {inner[0]}"
        raise InputError(message, file=folder, remedy="Fetch or save it anew")
    return model.base_model, None if missing else _head(model, folder), tokenizer


def _head(model: Any, folder: Path) -> nn.Module:
    for name in ("cls", "lm_head"):  # BERT; RoBERTa and its kin
        if hasattr(model, name):
            head: nn.Module = getattr(model, name)
            return head
    if hasattr(model, "vocab_projector"):  # DistilBERT, the base of a published Aggretriever
        return nn.Sequential(model.vocab_transform, model.activation, model.vocab_layer_norm, model.vocab_projector)
    raise InputError("an MLM head of an unknown kind", file=folder, value=type(model).__name__)


def _length(encoder: Any, tokenizer: Any, max_length: int) -> int:
    longest = longest_input(encoder, tokenizer)
    check_length(max_length, longest, tokenizer.num_special_tokens_to_add())
    return max_length or longest
