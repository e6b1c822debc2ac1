"""Training of WolfPQ: codewords, rotations and selection, for distortion and then for ranking.

Source: *WolfPQ* 5.3.4 and 5.3.5. Documents and queries are encoded once; what is trained is the quantiser alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.compression.trained import ABOUT, CODEBOOK, KIND, WEIGHTS, encoder_of
from qbench.evaluation.measures import score_run
from qbench.models.encoders import require_neural
from qbench.models.folders import LOG, model_digest, model_folder
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.retrieval.systems import Stage
from qbench.retrieval.types import run_schema
from qbench.retrieval.vectors import SAMPLE
from qbench.scoring.fusion import interpolated
from qbench.scoring.product import decoded, encoded, packed, product_codebook
from qbench.scoring.ranking import top_k
from qbench.scoring.semantic import Network, semantic_codes
from qbench.store import Manifest, drafting, finished, read_manifest, write_json
from qbench.training.codebook_data import CodebookData, Held, encoder_stage, read_codebook_data
from qbench.training.codebook_recipe import CodebookRecipe
from qbench.training.losses.quantisers import distortion, margin_mse, ranknet
from qbench.training.trainer import History, Record, Task, seeded, train_checkpoint, training_key

if TYPE_CHECKING:
    from torch import Tensor

MEASURE = "nDCG@10"
VECTORS = 512
"""Vectors in a step of pre-training."""


def train_codebook(
    benchmark: Benchmark,
    output: Path,
    encoder: str,
    recipe: CodebookRecipe = CodebookRecipe(),
    *,
    work: Path,
    overwrite: bool = False,
    progress: Progress = silent,
    on_epoch: Callable[[Record], None] | None = None,
) -> Manifest:
    """Train a codebook for the vectors of an encoder; the artefact is what `-WolfPQ(codebook=...)` and its kin take.

    An interrupted call resumes after its last evaluation. The weights with the best nDCG@10 on dev are kept, those
    after pre-training among the candidates.

    Args:
        benchmark: with judged training queries.
        output: the folder of the artefact.
        encoder: a system's name, such as TCT-ColBERT(model=my-tct).
        recipe: the options of the training.
        work: its folder `indexes` keeps the documents' vectors, as a leaderboard's output does.
        overwrite: replace another codebook in `output`.
        progress: is given the number of batches done.
        on_epoch: is called with the record of each epoch, that before fine-tuning first.

    Returns:
        the manifest; `counts` has the distortion on the sample that PQ started from, before and after, and nDCG@10 on
        dev.

    Raises:
        OptionError: the recipe or the encoder makes no sense, or `output` holds something else.
        InputError: nothing can be learnt from the benchmark.
        MissingPackageError: torch is not installed.
    """
    recipe.check()
    require_neural()
    stage = encoder_stage(encoder)
    params = {
        "trained": KIND,
        "benchmark": benchmark_key(benchmark),
        "encoder": [stage.model.name, _identity(stage)],
        "base_name": str(stage.model),
        **asdict(recipe),
    }

    def make() -> CodebookTask:
        return CodebookTask(read_codebook_data(benchmark, stage, work, recipe, progress), recipe, progress)

    if recipe.variant != "WolfPQPre":
        return train_checkpoint("codebook training", params, output, make, overwrite, progress, on_epoch)
    key = training_key("codebook training", params)
    if not finished(output, KIND, key):
        with drafting(output, KIND, key, params, overwrite=overwrite) as draft:
            task = make()
            record = {"epoch": 0, **task.evaluate()}
            task.save(draft.folder)
            write_json(draft.folder / LOG, [record])
            draft.counts = task.counts(History([record], 0, 0))
    return read_manifest(output, KIND)


def _identity(stage: Stage) -> dict[str, Any]:
    values: dict[str, Any] = asdict(stage.options())
    for option in stage.entry().declared:
        if "checkpoint" in option.extra:
            values[option.name] = model_digest(model_folder(values[option.name]), option.extra["checkpoint"])
    return {name: value for name, value in values.items() if name not in ("dtype", "engine", "nprobe")}


class CodebookTask(Task[NDArray[np.int64]]):
    """A quantiser that learns from pairs; a batch is some queries.

    Args:
        data: vectors, pairs and held-out queries.
        recipe: the options of the training.
        progress: is given the steps of pre-training.
    """

    def __init__(self, data: CodebookData, recipe: CodebookRecipe, progress: Progress = silent) -> None:
        from qbench.models.wolfpq import WolfPQ

        self.data, self.recipe = data, recipe
        sample = data.vectors.chosen(data.vectors.spread_rows(SAMPLE))
        start = product_codebook(sample, recipe.M, recipe.K)
        with seeded(recipe.seed):
            self.network = WolfPQ(start, semantic=recipe.semantic, mdf=recipe.mdf, temperature=recipe.temperature)
            self._pretrain(sample, progress)
        self._sample = sample[:: max(len(sample) // 4096, 1)]
        self._started = _distortion(self._sample, decoded(packed(encoded(self._sample, start), recipe.K), start))

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """All queries in random order."""
        order = generator(self.recipe.seed, "order", str(epoch)).permutation(len(self.data.pairs.queries))
        return [order[first : first + self.recipe.batch_size] for first in range(0, len(order), self.recipe.batch_size)]

    def loss(self, batch: NDArray[np.int64], step: int, steps: int) -> Tensor:
        """MarginMSE against the uncompressed scores (eq. 5.29), or its mixture with RankNet (eq. 5.30)."""
        import torch

        pairs, recipe = self.data.pairs, self.recipe
        docs = np.stack([pairs.positives[batch], pairs.negatives[batch]], axis=2)
        distinct, back = np.unique(docs, return_inverse=True)
        vectors = torch.from_numpy(self.data.vectors.chosen(distinct))
        places = torch.from_numpy(back.reshape(docs.shape))
        queries = torch.from_numpy(pairs.queries[batch])[:, None, None]
        taught = (vectors[places] * queries).sum(dim=-1)
        learnt: Tensor = (self.network(vectors)[places] * queries).sum(dim=-1)
        if not recipe.interpolated:
            return margin_mse(taught, learnt)
        lexical, highest = torch.from_numpy(pairs.lexical[batch]), torch.from_numpy(pairs.highest[batch])
        if recipe.norm == "none":
            highest = torch.ones_like(highest)

        def mixed(scores: Tensor) -> Tensor:
            own, first = scores / highest[:, :1, None], lexical / highest[:, 1:, None]
            both: Tensor = recipe.scale * ((1 - recipe.alpha) * own + recipe.alpha * first)
            return both

        taught, learnt = mixed(taught), mixed(learnt)
        ranked = ranknet(learnt[..., 0], learnt[..., 1])
        mixture: Tensor = (1 - recipe.lip) * margin_mse(taught, learnt) + recipe.lip * ranked
        return mixture

    def evaluate(self) -> Record:
        """Distortion, and nDCG@10 on dev, of the quantiser as it would be stored."""
        codebook = self._codebook()
        found: Record = {"distortion": round(_distortion(self._sample, self._quantised(self._sample, codebook)), 6)}
        if self.data.held is not None:
            found["ndcg"] = self._ndcg(self.data.held, codebook)
        return found

    def figure(self, record: Record) -> float | None:
        """nDCG@10 on dev."""
        return float(record["ndcg"]) if "ndcg" in record else None

    def save(self, folder: Path) -> None:
        """Write the rotated codewords, and the network of a semantic selection."""
        np.save(folder / CODEBOOK, self._codebook(), allow_pickle=False)
        about: dict[str, Any] = {"variant": self.recipe.variant, "vectors": encoder_of(self.data.vectors.about)}
        if self.network.semantic:
            network = self._layers()
            for name in WEIGHTS:
                np.save(folder / f"{name}.npy", getattr(network, name), allow_pickle=False)
            about |= {"gamma": self.network.gamma.item(), "mdf": self.network.mdf}
        write_json(folder / ABOUT, about)

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

    def _pretrain(self, sample: NDArray[np.float32], progress: Progress) -> None:
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
            loss = distortion(some, self.network(some)) / self.network.size**2
            loss.backward()
            optimizer.step()
            progress(step + 1, steps, "pre-training")

    def _codebook(self) -> NDArray[np.float32]:
        codebook: NDArray[np.float32] = self.network.rotated().detach().numpy()
        return np.ascontiguousarray(codebook)

    def _layers(self) -> Network:
        first, second = self.network.first, self.network.second
        return Network(*(part.detach().numpy() for part in (first.weight, first.bias, second.weight, second.bias)))

    def _quantised(self, vectors: NDArray[np.float32], codebook: NDArray[np.float32]) -> NDArray[np.float32]:
        if not self.network.semantic:
            codes = encoded(vectors, codebook)
        else:
            gamma = self.network.gamma.item()
            codes = semantic_codes(vectors, codebook, self._layers(), gamma, self.network.mdf)
        return decoded(packed(codes, codebook.shape[1]), codebook)

    def _ndcg(self, held: Held, codebook: NDArray[np.float32]) -> float:
        of, rows = self.data.vectors.shared.of, []
        for query_id, query, found in zip(held.ids, held.queries, held.found, strict=True):
            own = (self._quantised(self.data.vectors.chosen(of[found.docs]), codebook) @ query).astype(np.float64)
            if self.recipe.interpolated:
                own = interpolated(found.scores, own, self.recipe.alpha, raw=self.recipe.norm == "none")
            best = top_k(own, 10)
            rows += [(query_id, held.doc_ids[int(found.docs[at])], rank, -rank) for rank, at in enumerate(best, 1)]
        run = pl.DataFrame(rows, schema=run_schema(), orient="row", strict=False)
        return float(score_run(run, held.qrels, [MEASURE], held.ids)["value"].to_numpy().mean())


def _distortion(vectors: NDArray[np.float32], quantised: NDArray[np.float32]) -> float:
    return float(((vectors - quantised) ** 2).sum(axis=1).mean()) if len(vectors) else 0.0
