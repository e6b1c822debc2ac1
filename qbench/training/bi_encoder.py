"""The ranking model: a bi-encoder tuned on mined pairs with online contrastive loss.

Source: *Quantity Retrieval*, section 3.3 (the model) and 5.1 (data and settings). The loss is that of
sentence-transformers: of a batch it takes the paraphrases that lie farther apart than the nearest confusing pair, and
the confusing pairs that lie nearer than the farthest paraphrase.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.mining.types import PAIRS_KIND
from qbench.models.folders import model_folder
from qbench.models.single_vector import BATCH, Role, SingleVector, load_model
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.store import Manifest, read_manifest
from qbench.training.mined_pairs import PairData, Pairs, read_pairs, sampled
from qbench.training.pair_measures import best_threshold, classification, nearest_is_paraphrase
from qbench.training.recipes import PairRecipe
from qbench.training.students import SingleVectorStudent
from qbench.training.trainer import (
    History,
    Record,
    Task,
    mixed_precision,
    seeded,
    train_checkpoint,
    training_params,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer
    from torch import Tensor

KIND = "bi-encoder"


def train_bi_encoder(
    pairs: Path,
    output: Path,
    model: str,
    recipe: PairRecipe = PairRecipe(),
    *,
    overwrite: bool = False,
    progress: Progress = silent,
    on_epoch: Callable[[Record], None] | None = None,
) -> Manifest:
    """Tune an encoder on mined pairs; write it as a folder that sentence-transformers opens.

    An interrupted call resumes after its last evaluation (see `Trainer`). The weights with the best F1 on dev are
    kept, the untrained ones among the candidates. A finished checkpoint is left as it is.

    Args:
        pairs: an artefact of `qbench mine-paraphrases`.
        output: the folder of the checkpoint.
        model: a folder or a name on the hub; a plain BERT gets mean pooling.
        recipe: the options of the training.
        overwrite: replace another bi-encoder in `output`.
        progress: is given the number of batches done.
        on_epoch: is called with the record of each epoch, the untrained model's first.

    Returns:
        the manifest; `counts` holds the sizes of the splits, the figures before training, of the best epoch and on the
        test split, down-sampled to `negatives` confusing pairs per query as in the paper: at the threshold that is best
        on dev, and at the test split's own best one.

    Raises:
        InputError: the pairs or the model cannot be used, or nothing can be learnt from the pairs.
        OptionError: the recipe makes no sense, or `output` holds something else.
        MissingPackageError: sentence-transformers is not installed.
        BusyError: another process is writing there.
    """
    recipe.check()
    params = training_params(KIND, {"pairs": read_manifest(pairs, PAIRS_KIND).digest}, model, recipe)

    def make() -> PairTask:
        data = read_pairs(pairs, dev_share=recipe.dev_share, seed=recipe.seed)
        with seeded(recipe.seed):
            network = load_model(str(model_folder(model)), max_length=recipe.max_length)
        return PairTask(data, network, recipe)

    return train_checkpoint("bi-encoder training", params, output, make, overwrite, progress, on_epoch)


class PairTask(Task[Pairs]):
    """A bi-encoder that learns to tell paraphrases from confusing pairs.

    Args:
        data: the pairs of each split.
        network: the model.
        recipe: the options of the training.
    """

    def __init__(self, data: PairData, network: SentenceTransformer, recipe: PairRecipe) -> None:
        from sentence_transformers.sentence_transformer.losses import OnlineContrastiveLoss

        self.data, self.network, self.recipe = data, network, recipe
        self._student = SingleVectorStudent(network)
        self._loss = OnlineContrastiveLoss(network, margin=recipe.margin)

    def batches(self, epoch: int) -> list[Pairs]:
        """All paraphrases and some confusing pairs of each query, in random order."""
        recipe, train = self.recipe, self.data.train
        rows = sampled(self.data, train, recipe.negatives, recipe.seed, str(epoch), max_pairs=recipe.max_pairs)
        pairs = train.rows(generator(recipe.seed, "order", str(epoch)).permutation(rows))
        starts = range(0, len(pairs), recipe.batch_size)
        return [pairs.rows(np.arange(start, min(start + recipe.batch_size, len(pairs)))) for start in starts]

    def loss(self, batch: Pairs, step: int, steps: int) -> Tensor:
        """The online contrastive loss."""
        import torch

        device = self.network.device
        with mixed_precision(device, self.recipe.precision):
            sides = [self._embed(batch.query, "query"), self._embed(batch.doc, "document")]
        labels = torch.from_numpy(batch.positive.astype(np.int64)).to(device)
        loss: Tensor = self._loss.compute_loss_from_embeddings([side.float() for side in sides], labels)
        return loss

    def evaluate(self) -> Record:
        """Figures on the dev split at its best threshold."""
        figures = self._figures(self.data.dev, "dev", None)
        return {} if figures is None else {"dev": figures}

    def figure(self, record: Record) -> float | None:
        """F1 on dev."""
        return float(record["dev"]["f1"]) if "dev" in record else None

    def save(self, folder: Path) -> None:
        """Write a folder that sentence-transformers opens."""
        self.network.save_pretrained(str(folder), create_model_card=False)

    def counts(self, history: History) -> dict[str, Any]:
        """Counts of the manifest; the network has the weights of the best epoch."""
        best = history.record(history.best).get("dev")
        threshold = best and best["threshold"]
        return {
            **self.data.counts,
            **super().counts(history),
            "dev_untrained": history.record(0).get("dev"),
            "dev": best,
            "test_downsampled": self._figures(self.data.test, "test", threshold),
            "test_downsampled_best_threshold": self._figures(self.data.test, "test", None),
        }

    def _embed(self, positions: NDArray[np.int64], role: Role) -> Tensor:
        return self._student.embed([self.data.texts[i] for i in positions], role).vectors

    def _figures(self, pairs: Pairs, split: str, threshold: float | None) -> Record | None:
        """How well the model tells the down-sampled pairs of a split; None where it lacks one of both kinds.

        The threshold is the best one of the split itself where none is given.
        """
        pairs = pairs.rows(sampled(self.data, pairs, self.recipe.negatives, self.recipe.seed, split))
        if not pairs.positive.any() or pairs.positive.all():
            return None
        scores = self._cosines(pairs)
        chosen = best_threshold(scores, pairs.positive) if threshold is None else threshold
        return {
            **classification(scores, pairs.positive, chosen),
            "threshold": chosen,
            "threshold_from": split if threshold is None else "dev",
            "nearest_is_paraphrase": nearest_is_paraphrase(scores, pairs.positive, pairs.starts()),
            **pairs.counts(),
        }

    def _cosines(self, pairs: Pairs) -> NDArray[np.float64]:
        encoder = SingleVector(self.network, max(BATCH, self.recipe.batch_size))

        def vectors(positions: NDArray[np.int64], role: Any) -> NDArray[np.float32]:
            distinct, back = np.unique(positions, return_inverse=True)
            return encoder.encode([self.data.texts[i] for i in distinct], role)[back]

        products = vectors(pairs.query, "query") * vectors(pairs.doc, "document")
        return np.asarray(products.sum(axis=1), dtype=np.float64)
