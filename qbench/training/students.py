"""What learns from triples: one kind of encoder each, with its way to embed, to score, to learn and to be saved.

All but Aggretriever are models of sentence-transformers, saved and opened by it. A kind is a class and a row of
`STUDENTS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from qbench.errors import OptionError
from qbench.models.limits import limit_texts
from qbench.models.multi_vector import limit_documents, token_offsets
from qbench.models.numbers import token_owners
from qbench.models.single_vector import Role
from qbench.quantities.types import Quantity, Span
from qbench.training.batch import Batch
from qbench.training.losses import Objective
from qbench.training.losses.ranking import flops, info_nce
from qbench.training.outputs import Embedded, Outputs
from qbench.training.recipes import Precision
from qbench.training.trainer import adamw, mixed_precision

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.optim import Optimizer

    from qbench.benchmark.types import Query
    from qbench.models.aggretriever import Aggretriever
    from qbench.models.numbers import Number
    from qbench.training.recipes import ContrastiveRecipe

S = TypeVar("S")
T = TypeVar("T")

GROUP = 24
"""Texts that go through a model together on a CPU."""


class HeldOut(Protocol):
    """Held-out queries and documents: `qbench.training.dev.DevPool`, as students see it."""

    @property
    def queries(self) -> Sequence[Query]:
        """The queries."""
        ...

    @property
    def texts(self) -> Sequence[str]:
        """The documents."""
        ...

    @property
    def query_numbers(self) -> list[list[Number]]:
        """The numbers of each query's conditions."""
        ...

    @property
    def text_numbers(self) -> list[list[Number]]:
        """The numbers of each document's quantities."""
        ...


@dataclass
class Student(ABC):
    """What is trained on triples.

    Attributes:
        network: its model.
        scale: factor of the scores in the loss.
        objective: the loss, of `qbench.training.losses.LOSSES` or of its kind.
        start: the part of the model that is initialised and not trained yet; "" for none.
        precision: in which matrix products are computed (see `Recipe`).
        chunk: texts that have their gradients computed at a time (gradient caching); 0 for all of a batch.
    """

    network: Any
    scale: float = 1.0
    objective: Objective = field(default=info_nce, kw_only=True)
    start: str = field(default="", kw_only=True)
    precision: Precision = field(default="auto", kw_only=True)
    chunk: int = field(default=0, kw_only=True)
    _limit: tuple[int, Callable[[], None]] | None = field(default=None, init=False, repr=False)  # what undoes it, too

    reads_numbers: ClassVar[bool] = False
    """Whether it is given the conditions of queries and the quantities of texts, which others leave unread."""

    @abstractmethod
    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """The texts' vectors, with gradients where torch records them."""

    def embed_numbered(self, texts: Sequence[str], role: Role, numbers: Sequence[Sequence[Number]]) -> Embedded:
        """Texts with other numbers in them than a benchmark has, for a kind that reads their places and values."""
        return self.embed(texts, role)

    def embed_queries(self, queries: Sequence[Query]) -> Embedded:
        """The queries' vectors, for a kind that reads their conditions; the others read the texts alone."""
        return self.embed([query.text for query in queries], "query")

    def embed_documents(self, texts: Sequence[str], mentions: Sequence[Sequence[Quantity]]) -> Embedded:
        """The documents' vectors, for a kind that reads their quantities; the others read the texts alone."""
        return self.embed(texts, "document")

    def scores(self, queries: Embedded, texts: Embedded) -> Tensor:
        """Scaled dot products, shape (queries, texts): cosines where the vectors have length 1."""
        return self.scale * queries.vectors @ texts.vectors.T

    def outputs(self, batch: Batch) -> Outputs:
        """Vectors and scores of a batch."""
        queries, texts = self.embedded(batch)
        return Outputs(self, queries, texts, self.scores(queries, texts))

    def embedded(self, batch: Batch) -> tuple[Embedded, Embedded]:
        """The queries and the texts of a batch."""
        mentions = batch.mentions if self.reads_numbers else [()] * len(batch.texts)
        with mixed_precision(self.network.device, self.precision):
            return self.embed_queries(batch.asked), self.embed_documents(batch.texts, mentions)

    def loss(self, batch: Batch) -> Tensor:
        """The objective's loss of a batch, and what the kind adds to it; shape ()."""
        return self.objective(batch, self.outputs(batch))

    def tokens_within(
        self, texts: Sequence[str], role: Role, spans: Sequence[Sequence[Span]], width: int
    ) -> NDArray[np.bool_]:
        """Which token vectors of texts stand for characters within some spans (see `Scorer`).

        Raises:
            OptionError: the model has one vector for each text.
        """
        raise OptionError("this loss needs token vectors, and the model has one vector for each text")

    def optimizer(self, recipe: ContrastiveRecipe) -> Optimizer:
        """AdamW with the recipe's learning rate and weight decay."""
        return adamw([(self.network.named_parameters(), recipe.lr)], recipe.weight_decay)

    def figures(self, held_out: HeldOut) -> dict[str, float]:
        """Figures of the kind on held-out data, beside how it ranks: how well it reads numbers; {} for none."""
        return {}

    def limit(self, max_length: int) -> None:
        """Read at most `max_length` tokens of a text in training; `whole` is as it was before.

        Raises:
            OptionError: that is more than the model can read, or too little for any word.
        """
        self._limit = max_length, self._limited(max_length)

    def _limited(self, max_length: int) -> Callable[[], None]:
        """Limit the network, and give what undoes it."""
        own = self.network.max_seq_length
        limit_texts(self.network, max_length)
        return partial(setattr, self.network, "max_seq_length", own)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """For a while it reads as much of a text as the model that it comes from, which is what a search reads."""
        if self._limit is None:
            yield
            return
        length, restore = self._limit
        restore()
        try:
            yield
        finally:
            self._limited(length)

    def save(self, folder: Path) -> None:
        """Write it into a folder, as safetensors; it reads as much there as the model that it comes from."""
        with self.whole():
            self._save(folder)

    def _save(self, folder: Path) -> None:
        self.network.save_pretrained(str(folder), create_model_card=False)


class OwnStudent(Student):
    """A student whose network has `config.max_length`, `limit` and `save`: one of our own models."""

    def _limited(self, max_length: int) -> Callable[[], None]:
        own = self.network.config.max_length
        self.network.limit(max_length)
        return partial(self.network.limit, own)

    def _save(self, folder: Path) -> None:
        self.network.save(folder)


def groups_of(texts: Sequence[str], device: torch.device, chunk: int = 0) -> list[list[int]]:
    """Positions of texts that go through a model together: `chunk` at a time, or as many as is quick.

    On a CPU padding is what costs: texts go through in groups of like length. A GPU takes them all at once.
    """
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    size = chunk or (len(texts) if device.type == "cuda" else GROUP)
    return [order[start : start + size] for start in range(0, len(texts), size)]


def cached(run: Callable[[S], T], features: S, chunk: int, device: torch.device) -> T:
    """What a group's run through a model gives, without what its gradients need; they run the group again.

    So a batch needs the memory of one group beside the vectors of all: the loss is computed on the vectors, then one
    group after the other runs again with the gradient of its vectors, and with the same dropout (GradCache, Gao et al.
    2021).

    Args:
        run: runs a group through a model; it gives the same again, and leaves the features as they are.
        features: of the group.
        chunk: size of groups; 0 runs it as it is.
        device: where it runs, whose random numbers are repeated beside those of the CPU.
    """
    import torch

    if not chunk or not torch.is_grad_enabled():
        return run(features)
    from torch.utils.checkpoint import checkpoint

    # The generators that are restored are those of the devices of its arguments, and texts are on none.
    there = torch.empty(0, device=device)
    return cast("T", checkpoint(lambda given, _: run(given), features, there, use_reentrant=False))


def forward(
    network: Any, texts: Sequence[str], role: Role, chunk: int = 0
) -> list[tuple[list[int], dict[str, Tensor]]]:
    """The texts through a model, in groups of like length: their positions, and the features of each group."""
    from sentence_transformers.util import batch_to_device

    results = []
    for rows in groups_of(texts, network.device, chunk):
        # As the encoders do: models that were tuned with prompts get them.
        prompt = network.prompts.get(role) or None
        features = network.preprocess([texts[i] for i in rows], prompt=prompt, task=role)
        features = batch_to_device(features, network.device)
        run = partial(_through, network, role)
        results.append((rows, cached(run, features, chunk, network.device)))
    return results


def _through(network: Any, role: Role, features: dict[str, Tensor]) -> dict[str, Tensor]:
    # The network writes into the dictionary that it is given.
    found: dict[str, Tensor] = network(dict(features), task=role)
    return found


def sentence_vectors(network: Any, texts: Sequence[str], role: Role, chunk: int = 0) -> Tensor:
    """One vector for each text, in their order, shape (texts, dimension)."""
    import torch

    groups = forward(network, texts, role, chunk)
    vectors = torch.cat([features["sentence_embedding"].float() for _, features in groups])
    return _in_order(vectors, [rows for rows, _ in groups])


@dataclass
class SingleVectorStudent(Student):
    """A bi-encoder: `scale` times the cosine, or the dot product.

    Attributes:
        network: a SentenceTransformer.
        dot: whether vectors are compared as they are, and not scaled to length 1.
    """

    scale: float = 20.0
    dot: bool = False

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """Vectors, of length 1 unless `dot`, shape (texts, dimension)."""
        import torch

        vectors = sentence_vectors(self.network, texts, role, self.chunk)
        return Embedded(vectors if self.dot else torch.nn.functional.normalize(vectors, dim=1))


MADE_HEAD_SCALE = 0.1
"""Scale of the dot products of a SPLADE without a trained head. They reach 100 where a trained one's fit the
softmax; as they are, the cheapest way down is to forget terms (from 130 in a query to 30 within 50 steps)."""


@dataclass
class SparseStudent(Student):
    """SPLADE: dot products over the vocabulary (*Numbers Matter* eq. 8), FLOPS regularisation on both sides.

    Attributes:
        network: a SparseEncoder.
        query_flops, text_flops: weights of the regularisation, raised quadratically over the first third of the steps.
    """

    query_flops: float = 5e-5
    text_flops: float = 3e-5

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """Term weights, shape (texts, vocabulary), not negative."""
        return Embedded(sentence_vectors(self.network, texts, role, self.chunk))

    def loss(self, batch: Batch) -> Tensor:
        """The objective's loss of a batch, and the weighted FLOPS of both sides."""
        outputs = self.outputs(batch)
        warm = min(1.0, 3 * (batch.step + 1) / batch.steps)
        both = self.query_flops * flops(outputs.queries.vectors) + self.text_flops * flops(outputs.texts.vectors)
        return self.objective(batch, outputs) + warm**2 * both


@dataclass
class LateInteractionStudent(Student):
    """ColBERT: MaxSim over the tokens' vectors.

    Attributes:
        network: a MultiVectorEncoder.
    """

    def _limited(self, max_length: int) -> Callable[[], None]:
        # Queries have a length of their own.
        own = self.network[0].document_length
        limit_documents(self.network, max_length)
        return partial(setattr, self.network[0], "document_length", own)

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """Token vectors of length 1, padded: shape (texts, tokens, dimension)."""
        import torch

        groups = forward(self.network, texts, role, self.chunk)
        vectors = torch.nn.functional.normalize(padded(groups, "token_embeddings").float(), dim=2)
        return Embedded(vectors, padded(groups, "attention_mask").bool())

    def tokens_within(
        self, texts: Sequence[str], role: Role, spans: Sequence[Sequence[Span]], width: int
    ) -> NDArray[np.bool_]:
        """Which token vectors of texts stand for characters within some spans."""
        within = np.zeros((len(texts), width), dtype=bool)
        for row, offsets in enumerate(token_offsets(self.network, texts, role, width)):
            within[row, : len(offsets)] = token_owners(offsets[:width], spans[row]) >= 0
        return within

    def scores(self, queries: Embedded, texts: Embedded) -> Tensor:
        """Sums over the query's tokens of the best product with the text's (*Numbers Matter* eq. 6)."""
        import torch

        products = torch.einsum("qid,tjd->qtij", queries.vectors, texts.vectors)
        best = products.masked_fill(~texts.counted[None, :, None, :], float("-inf")).amax(dim=3)
        # A text without a token that counts is as far as can be.
        best = best.masked_fill(~texts.counted.any(dim=1)[None, :, None], -1.0)
        best = best.masked_fill(~queries.counted[:, None, :], 0.0)
        return self.scale * best.sum(dim=2)


@dataclass
class AggretrieverStudent(OwnStudent):
    """Aggretriever: dot products of [CLS] and agg* (*WolfPQ* eq. 3.7), which are learnt together.

    Attributes:
        network: a `qbench.models.aggretriever.Aggretriever`.
    """

    network: Aggretriever

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """Vectors, shape (texts, dimension)."""
        import torch

        groups = groups_of(texts, self.network.device, self.chunk)
        features = (self.network.features([texts[i] for i in rows]) for rows in groups)
        vectors = [cached(self.network.embed, given, self.chunk, self.network.device) for given in features]
        return Embedded(_in_order(torch.cat(vectors).float(), groups))

    def _save(self, folder: Path) -> None:
        self.network.config = replace(self.network.config, trained=True)
        super()._save(folder)


def padded(groups: list[tuple[list[int], dict[str, Tensor]]], name: str) -> Tensor:
    """A feature of tokens from all groups of `forward`, in the order of the texts: shape (texts, tokens, ...).

    Texts of a shorter group are filled up with zeros.
    """
    import torch

    longest = max(features[name].shape[1] for _, features in groups)
    parts = []
    for _, features in groups:
        room = longest - features[name].shape[1]
        sides = (0, 0) * (features[name].dim() - 2)
        parts.append(torch.nn.functional.pad(features[name], (*sides, 0, room)))
    return _in_order(torch.cat(parts), [rows for rows, _ in groups])


def _in_order(rows: Tensor, groups: list[list[int]]) -> Tensor:
    """Rows in the order of the texts."""
    import torch

    order = torch.tensor([row for group in groups for row in group], device=rows.device)
    return rows[torch.argsort(order)]
