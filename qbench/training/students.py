"""The kinds of encoders that learn from triples, each with one way to embed, to score, to be regularised and saved.

All but Aggretriever are models of sentence-transformers, saved and opened by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_args

from qbench.errors import UnknownNameError
from qbench.models.encoders import require_neural
from qbench.models.folders import model_folder
from qbench.models.limits import limit_texts
from qbench.models.single_vector import Role
from qbench.store import MANIFEST, read_manifest
from qbench.training.recipes import Kind

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from qbench.models.aggretriever import Aggretriever

GROUP = 24
"""Texts that go through a model together on a CPU."""


@dataclass(frozen=True)
class Embedded:
    """Texts as tensors.

    Attributes:
        vectors: shape (texts, dimension), or (texts, tokens, dimension) for late interaction.
        mask: shape (texts, tokens), bool, the tokens that count; None where a text is one vector.
    """

    vectors: Tensor
    mask: Tensor | None = None


class Student(Protocol):
    """What is trained.

    Attributes:
        network: its model.
        start: what of it is made and not learnt yet; "" where it all was.
        scale: of the scores in the loss.
    """

    network: Any
    start: str
    scale: float

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """The texts' vectors, with gradients where torch records them."""
        ...

    def scores(self, queries: Embedded, texts: Embedded) -> Tensor:
        """Shape (queries, texts), as the loss takes them."""
        ...

    def penalty(self, queries: Embedded, texts: Embedded) -> Tensor | None:
        """What is added to the loss, if anything is."""
        ...

    def limit(self, max_length: int) -> None:
        """Read so many tokens of a text, at most, in training.

        Raises:
            OptionError: that is more than the model can read, or too little for any word.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write it into a folder, as safetensors; it reads as much there as the model that it comes from."""
        ...


def groups_of(texts: Sequence[str], device: torch.device) -> Iterator[list[int]]:
    """Places of texts that go through a model together.

    On a CPU padding is what costs: texts go through in groups of like length. A GPU takes them all at once.
    """
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    size = len(texts) if device.type == "cuda" else GROUP
    return (order[start : start + size] for start in range(0, len(texts), size))


def forward(network: Any, texts: Sequence[str], role: Role) -> list[tuple[list[int], dict[str, Tensor]]]:
    """The texts through a model, in groups of like length: their places, and the features of each group."""
    from sentence_transformers.util import batch_to_device

    found = []
    for places in groups_of(texts, network.device):
        # As the encoders do: models that were tuned with prompts get them.
        prompt = network.prompts.get(role) or None
        features = network.preprocess([texts[i] for i in places], prompt=prompt, task=role)
        found.append((places, network(batch_to_device(features, network.device), task=role)))
    return found


def sentence_vectors(network: Any, texts: Sequence[str], role: Role) -> Tensor:
    """One vector for each text, in their order, shape (texts, dimension)."""
    import torch

    groups = forward(network, texts, role)
    vectors = torch.cat([features["sentence_embedding"].float() for _, features in groups])
    return _restored(vectors, [places for places, _ in groups])


class _Usual:
    """What most students do: no regularisation, and sentence-transformers saves the network."""

    network: Any
    start = ""
    _put_back: Callable[[], None] = staticmethod(lambda: None)  # what `limit` changed

    def limit(self, max_length: int) -> None:
        """Read so many tokens of a text, at most."""
        own = self.network.max_seq_length
        limit_texts(self.network, max_length)
        self._put_back = partial(setattr, self.network, "max_seq_length", own)

    def penalty(self, queries: Embedded, texts: Embedded) -> Tensor | None:
        """None."""
        return None

    def save(self, folder: Path) -> None:
        """Write it into a folder that sentence-transformers opens."""
        self._put_back()
        self.network.save_pretrained(str(folder), create_model_card=False)


class _DotProducts(_Usual):
    """A student whose vectors are compared by the dot product."""

    scale: float

    def scores(self, queries: Embedded, texts: Embedded) -> Tensor:
        """Scaled dot products: cosines where the vectors have length 1."""
        return self.scale * queries.vectors @ texts.vectors.T


@dataclass
class SingleVectorStudent(_DotProducts):
    """A bi-encoder: `scale` times the cosine, or the dot product.

    Attributes:
        network: a SentenceTransformer.
        scale: 1 / temperature.
        dot: whether vectors are compared as they are, and not made as long as 1.
    """

    network: Any
    scale: float = 20.0
    dot: bool = False

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """Vectors, of length 1 unless `dot`, shape (texts, dimension)."""
        import torch

        vectors = sentence_vectors(self.network, texts, role)
        return Embedded(vectors if self.dot else torch.nn.functional.normalize(vectors, dim=1))


MADE_HEAD_SCALE = 0.1
"""Of the dot products of a SPLADE whose head was just made. They reach 100 where a trained one's are made to fit the
softmax; as they are, the cheapest way down is to forget terms (from 130 in a query to 30 within 50 steps)."""


@dataclass
class SparseStudent(_DotProducts):
    """SPLADE: dot products over the vocabulary (*Numbers Matter* eq. 8), FLOPS regularisation on both sides.

    Attributes:
        network: a SparseEncoder.
        scale: the dot product's weight in the softmax.
        query_flops, text_flops: weights of the regularisation, raised quadratically up to these by `warm`.
        warm: the share of the regularisation that is on, from 0 to 1.
    """

    network: Any
    scale: float = 1.0
    query_flops: float = 5e-5
    text_flops: float = 3e-5
    warm: float = 1.0

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """Term weights, shape (texts, vocabulary), not negative."""
        return Embedded(sentence_vectors(self.network, texts, role))

    def penalty(self, queries: Embedded, texts: Embedded) -> Tensor:
        """The weighted FLOPS of both sides."""
        from qbench.training.objectives import flops

        return self.warm**2 * (self.query_flops * flops(queries.vectors) + self.text_flops * flops(texts.vectors))


@dataclass
class LateInteractionStudent(_Usual):
    """ColBERT: MaxSim over the tokens' vectors.

    Attributes:
        network: a MultiVectorEncoder.
        scale: the MaxSim's weight in the softmax.
    """

    network: Any
    scale: float = 1.0

    def limit(self, max_length: int) -> None:
        """Read so many tokens of a document, at most; queries have a length of their own."""
        from qbench.models.multi_vector import limit_documents

        own = self.network[0].document_length
        limit_documents(self.network, max_length)
        self._put_back = partial(setattr, self.network[0], "document_length", own)

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """Token vectors of length 1, padded: shape (texts, tokens, dimension)."""
        import torch

        groups = forward(self.network, texts, role)
        longest = max(features["token_embeddings"].shape[1] for _, features in groups)
        vectors, masks = [], []
        for _, features in groups:
            tokens = torch.nn.functional.normalize(features["token_embeddings"].float(), dim=2)
            room = longest - tokens.shape[1]
            vectors.append(torch.nn.functional.pad(tokens, (0, 0, 0, room)))
            masks.append(torch.nn.functional.pad(features["attention_mask"].bool(), (0, room)))
        order = [places for places, _ in groups]
        return Embedded(_restored(torch.cat(vectors), order), _restored(torch.cat(masks), order))

    def scores(self, queries: Embedded, texts: Embedded) -> Tensor:
        """Sums over the query's tokens of the best product with the text's (*Numbers Matter* eq. 6)."""
        import torch

        assert queries.mask is not None  # noqa: S101  for mypy
        assert texts.mask is not None  # noqa: S101
        products = torch.einsum("qid,tjd->qtij", queries.vectors, texts.vectors)
        best = products.masked_fill(~texts.mask[None, :, None, :], float("-inf")).amax(dim=3)
        # A text without a token that counts is as far as can be.
        best = best.clamp(min=-1.0).masked_fill(~queries.mask[:, None, :], 0.0)
        return self.scale * best.sum(dim=2)


@dataclass
class AggretrieverStudent(_DotProducts):
    """Aggretriever: dot products of [CLS] and agg* (*WolfPQ* eq. 3.7), which are learnt together.

    Attributes:
        network: a `qbench.models.aggretriever.Aggretriever`.
        scale: the dot product's weight in the softmax.
    """

    network: Aggretriever
    scale: float = 1.0

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """Vectors, shape (texts, dimension)."""
        import torch

        groups = list(groups_of(texts, self.network.device))
        made = [self.network.embed(self.network.features([texts[i] for i in places])) for places in groups]
        return Embedded(_restored(torch.cat(made).float(), groups))

    def limit(self, max_length: int) -> None:
        """Read so many tokens of a text, at most."""
        own = self.network.config.max_length
        self.network.limit(max_length)
        self._put_back = partial(self.network.limit, own)

    def save(self, folder: Path) -> None:
        """Write it into a folder that `Aggretriever.load` opens, as a trained one."""
        self._put_back()
        self.network.config = replace(self.network.config, trained=True)
        self.network.save(folder)


def _restored(rows: Tensor, groups: list[list[int]]) -> Tensor:
    """Rows in the order of the texts."""
    import torch

    places = torch.tensor([place for some in groups for place in some], device=rows.device)
    return rows[torch.argsort(places)]


def open_student(kind: Kind, model: str, *, max_length: int = 0, scale: float = 0.0, **options: float) -> Student:
    """A student ready to be trained.

    Args:
        kind: which.
        model: a folder, or a name on the hub.
        max_length: tokens that are read in training; 0 for as many as the model was made for.
        scale: of the scores; 0 for the kind's own.
        options: of the kind: query_flops, text_flops; dot; agg_dimension, cls_dimension.

    Raises:
        InputError: the model cannot be opened as one of the kind.
        OptionError: it cannot have such dimensions, or does not read so many tokens.
        MissingPackageError: torch or sentence-transformers is not installed.
        UnknownNameError: there is no such kind.
    """
    given: dict[str, Any] = {"scale": scale, **options} if scale else dict(options)
    student = _opened(kind, model, given)
    if max_length:
        student.limit(max_length)
    return student


def _scale_before(model: str) -> float:
    """The scale with which one of our checkpoints was trained, which its head fits; 0 for others."""
    folder = model_folder(model)
    counts = read_manifest(folder).counts if (folder / MANIFEST).is_file() else {}
    return float(counts.get("scale", 0.0))


def _opened(kind: Kind, model: str, given: dict[str, Any]) -> Student:
    if kind == "bi-encoder":
        from qbench.models.single_vector import load_model

        network = load_model(model)
        if given.get("dot"):
            # So is it searched with, then, here and in sentence-transformers.
            network.similarity_fn_name = "dot"
            if not any(type(module).__name__ == "Normalize" for module in network):
                # Dot products of whole vectors are large as they are.
                given.setdefault("scale", 1.0)
        return SingleVectorStudent(network, **given)
    if kind == "splade":
        from qbench.models.sparse import load_sparse_encoder

        encoder = load_sparse_encoder(model)
        given.setdefault("scale", _scale_before(model) or (SparseStudent.scale if encoder.trained else MADE_HEAD_SCALE))
        sparse = SparseStudent(encoder.model, **given)
        sparse.start = "" if encoder.trained else "its MLM head is initialised from the embeddings"
        return sparse
    if kind == "colbert":
        from qbench.models.multi_vector import load_multi_vector_encoder

        found = load_multi_vector_encoder(model)
        late = LateInteractionStudent(found.model, **given)
        late.start = "" if found.trained else "its projection is made from the embeddings, and not trained"
        return late
    if kind == "aggretriever":
        require_neural()  # its module imports torch
        from qbench.models.aggretriever import load_aggretriever

        sizes = {name: int(given.pop(name, 0)) for name in ("agg_dimension", "cls_dimension")}
        made = AggretrieverStudent(load_aggretriever(model, **sizes), **given)
        config = made.network.config
        head = "; its embeddings serve as an MLM head" if config.head == "embeddings" else ""
        made.start = "" if config.trained else f"its token weights are all the same{head}"
        return made
    raise UnknownNameError("unknown kind of model", value=kind, remedy=f"Known: {', '.join(get_args(Kind))}")
