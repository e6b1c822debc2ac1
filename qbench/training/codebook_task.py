"""A codebook as it is trained: for distortion and then for ranking, measured as it would be stored.

Source: *WolfPQ* 5.3.4 and 5.3.5. Documents and queries are encoded once; what is trained is the quantiser.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.compression.quantiser import Quantiser, Semantic
from qbench.compression.trained import encoder_of
from qbench.evaluation.measures import score_run
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.retrieval.types import run_schema
from qbench.retrieval.vectors import SAMPLE
from qbench.scoring.fusion import interpolated
from qbench.scoring.product import product_codebook
from qbench.scoring.ranking import top_k
from qbench.scoring.rotation import learnt_rotation
from qbench.scoring.semantic import Network
from qbench.training.codebook_data import CodebookData, Held
from qbench.training.codebook_recipe import CodebookRecipe
from qbench.training.losses.quantisers import distortion
from qbench.training.trainer import History, Record, Task, seeded

if TYPE_CHECKING:
    from torch import Tensor

    from qbench.models.product_quantiser import ProductQuantiser

Quantised = Callable[[NDArray[np.float32]], NDArray[np.float32]]
MEASURE = "nDCG@10"
ROTATIONS = 10
"""How often OPQ's rotation is improved, as in its system."""

VECTORS = 512
"""Vectors in a step of pre-training."""


class CodebookTask(Task[NDArray[np.int64]]):
    """A quantiser that learns from pairs; a batch is some queries. A subclass says which one, and its loss.

    Args:
        data: vectors, pairs and held-out queries.
        recipe: the options of the training.
        progress: is given the steps of pre-training.
    """

    network: ProductQuantiser

    def __init__(self, data: CodebookData, recipe: CodebookRecipe, progress: Progress = silent) -> None:
        self.data, self.recipe = data, recipe
        self._judged: pl.DataFrame | None = None
        sample = self.sampled(data.vectors.spread_rows(SAMPLE))
        cut, rotation = self.cut(sample), None
        if recipe.start == "OPQ":
            rotation = learnt_rotation(cut, recipe.M, recipe.K, rounds=ROTATIONS)
            cut = cut @ rotation
        start = product_codebook(cut, recipe.M, recipe.K)
        with seeded(recipe.seed):
            self.network = self.started(start)
            self.network.turn(rotation)
            self.pretrain(sample, progress)
        self._sample = sample[:: max(len(sample) // 4096, 1)]
        self._started = _distortion(self._sample, Quantiser(start, rotation=rotation).quantised(self.cut(self._sample)))

    @abstractmethod
    def started(self, codebook: NDArray[np.float32]) -> Any:
        """The quantiser before training.

        Args:
            codebook: of a PQ or an OPQ, shape (M, K, H / M).
        """

    def sampled(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """What the quantiser gets for some stored vectors: themselves, shape (n, H), and it may be more beside them."""
        return self.data.vectors.chosen(rows)

    def cut(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """What is cut into parts of what `sampled` returned, shape (n, H)."""
        return vectors

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """All queries in random order."""
        order = generator(self.recipe.seed, "order", str(epoch)).permutation(len(self.data.pairs.queries))
        return [order[first : first + self.recipe.batch_size] for first in range(0, len(order), self.recipe.batch_size)]

    def texts(self, batch: NDArray[np.int64]) -> tuple[NDArray[np.int64], Tensor]:
        """The texts of a batch's pairs, each once, and which are the pairs, shape (queries, pairs, 2)."""
        import torch

        pairs = self.data.pairs
        docs = np.stack([pairs.positives[batch], pairs.negatives[batch]], axis=2)
        distinct, back = np.unique(docs, return_inverse=True)
        return distinct, torch.from_numpy(back.reshape(docs.shape))

    def documents(self, batch: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The vectors of a batch's texts, shape (n, H), and which are its pairs, shape (queries, pairs, 2)."""
        import torch

        distinct, places = self.texts(batch)
        return torch.from_numpy(self.data.vectors.chosen(distinct)), places

    def scaled(self, scores: Tensor, batch: NDArray[np.int64]) -> Tensor:
        """Scores, shape (queries, ...), times `scale`; divided by the query's highest where the recipe normalises."""
        import torch

        highest = torch.ones(len(batch))
        if self.recipe.norm != "none":
            highest = torch.from_numpy(self.data.pairs.highest[batch, 0])
        scaled: Tensor = self.recipe.scale * scores / highest.reshape(-1, *(1,) * (scores.dim() - 1))
        return scaled

    def evaluate(self) -> Record:
        """Distortion, and nDCG@10 on dev, of the quantiser as it would be stored."""
        quantised = self.quantised()
        found: Record = {"distortion": round(_distortion(self._sample, quantised(self._sample)), 6)}
        if self.data.held is not None:
            found["ndcg"] = self._ndcg(self.data.held, quantised)
        return found

    def figure(self, record: Record) -> float | None:
        """nDCG@10 on dev, by what the recipe chooses with."""
        return float(record["ndcg"]) if "ndcg" in record else None

    def save(self, folder: Path) -> None:
        """Write the quantiser."""
        about = {"variant": self.recipe.variant, "vectors": encoder_of(self.data.vectors.about)}
        quantiser_of(self.network).save(folder, **about)

    def counts(self, history: History) -> dict[str, Any]:
        """Counts of the manifest; the network has the weights of the best epoch."""
        best = history.record(history.best)
        return {
            "queries": len(self.data.pairs.queries),
            "dev_queries": 0 if self.data.held is None else len(self.data.held.ids),
            **super().counts(history),
            "distortion_pq": round(self._started, 6),
            "distortion": best.get("distortion"),
            "dev_untrained": history.record(0).get("ndcg"),
            "dev": best.get("ndcg"),
        }

    def held_queries(self, held: Held) -> NDArray[np.float32]:
        """The vectors of held-out queries, shape (queries, H)."""
        return held.queries

    def pretrain(self, sample: NDArray[np.float32], progress: Progress) -> None:
        """Lower the distortion (eq. 5.28)."""
        import torch

        steps, optimizer = self.recipe.pretraining, self.optimizer()
        random = generator(self.recipe.seed, "pretraining")
        self.network.train()
        for step in range(steps if len(sample) else 0):
            rows = random.choice(len(sample), min(VECTORS, len(sample)), replace=False)
            some = torch.from_numpy(sample[np.sort(rows)])
            for group in optimizer.param_groups:
                group["lr"] = self.recipe.lr * (1 - step / steps)
            optimizer.zero_grad()
            quantised = self.network(some)
            loss = distortion(some[:, : quantised.shape[1]], quantised) / self.network.size**2
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            progress(step + 1, steps, "pre-training")

    def quantised(self) -> Quantised:
        """The present quantiser as it would be stored: from what `sampled` returns to vectors of shape (n, H)."""
        return quantiser_of(self.network).quantised

    def relevance(self, query: NDArray[np.float32], texts: NDArray[np.intp], quantised: Quantised) -> Any:
        """The scores of texts, shape (texts,).

        Args:
            query: as in `Held`.
            texts: their numbers.
            quantised: of the present quantiser.
        """
        return quantised(self.data.vectors.chosen(texts)) @ query

    def _ndcg(self, held: Held, quantised: Quantised) -> float:
        run = self._best(held, self.held_queries(held), quantised)
        qrels = held.qrels if self.recipe.choose == "nDCG" else self._taught(held)
        return float(score_run(run, qrels, [MEASURE], held.ids)["value"].to_numpy().mean())

    def _taught(self, held: Held) -> pl.DataFrame:
        """The best ten of held-out queries by the uncompressed vectors, as judgments."""
        if self._judged is None:
            run = self._best(held, held.queries, lambda vectors: vectors)
            self._judged = run.select("query_id", "doc_id", pl.lit(1, pl.Int8).alias("grade"))
        return self._judged

    def _best(self, held: Held, queries: NDArray[np.float32], quantised: Quantised) -> pl.DataFrame:
        """A run of held-out queries, ten documents each."""
        of, rows = self.data.vectors.shared.of, []
        for query_id, query, found in zip(held.ids, queries, held.found, strict=True):
            own = self.relevance(query, of[found.docs], quantised).astype(np.float64)
            if self.recipe.interpolated:
                own = interpolated(found.scores, own, self.recipe.alpha, raw=self.recipe.norm == "none")
            best = top_k(own, 10)
            rows += [(query_id, held.doc_ids[int(found.docs[at])], rank, -rank) for rank, at in enumerate(best, 1)]
        return pl.DataFrame(rows, schema=run_schema(), orient="row", strict=False)


def quantiser_of(network: ProductQuantiser) -> Quantiser:
    """A quantiser as it would be stored."""
    from qbench.models.wolfpq import WolfPQ

    def array(tensor: Tensor) -> NDArray[np.float32]:
        return np.ascontiguousarray(tensor.detach().numpy())

    keys, semantic = network.keys(), None
    if isinstance(network, WolfPQ) and network.semantic:
        layers = (network.first.weight, network.first.bias, network.second.weight, network.second.bias)
        semantic = Semantic(Network(*map(array, layers)), network.gamma.item(), network.mdf)
    rotation = None if network.rotation is None else array(network.rotation)
    return Quantiser(array(network.stored()), None if keys is None else array(keys), semantic, rotation)


def _distortion(vectors: NDArray[np.float32], quantised: NDArray[np.float32]) -> float:
    """The mean squared distance; of vectors, shape (n, H) or more, the first H numbers count."""
    return float(((vectors[:, : quantised.shape[1]] - quantised) ** 2).sum(axis=1).mean()) if len(vectors) else 0.0
