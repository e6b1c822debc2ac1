"""The ranking model: a bi-encoder tuned on mined pairs with online contrastive loss.

Source: *Quantity Retrieval*, section 3.3 (the model) and 5.1 (data and settings). The loss is that of
sentence-transformers: of a batch it takes the paraphrases that lie farther apart than the nearest confusing pair, and
the confusing pairs that lie nearer than the farthest paraphrase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench import keys
from qbench.errors import OptionError
from qbench.models.folders import LOG, model_digest, model_folder, quiet
from qbench.models.single_vector import BATCH, Role, SingleVector, load_model
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.store import Draft, Manifest, drafting, finished, read_manifest, write_json
from qbench.training.epochs import Record, adamw, set_rate, train_epochs
from qbench.training.pairs import PairData, Pairs, read_pairs, sampled
from qbench.training.recipes import PairRecipe
from qbench.training.students import SingleVectorStudent
from qbench.training.verdicts import best_threshold, nearest_is_paraphrase, verdicts

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

    A killed call goes on after the last finished epoch, and then gives the same weights as one that was not killed (on
    a CPU, with the same versions and number of threads). The weights of the epoch with the best F1 on the held-out
    split are kept. Where everything was made already, nothing is done.

    Args:
        pairs: an artefact of `qbench mine-paraphrases`.
        output: the folder of the checkpoint.
        model: what is tuned, a folder or a name on the hub; a plain BERT gets mean pooling.
        recipe: how.
        overwrite: replace another bi-encoder in `output`.
        progress: told the number of steps done.
        on_epoch: called with the record of each epoch, the untrained model's first.

    Returns:
        the manifest; `counts` holds the sizes of the splits, the figures before training, of the best epoch and on the
        test split, down-sampled to `negatives` confusing pairs per query as in the paper: at the threshold that is best
        on the held-out split, and at the test split's own best one.

    Raises:
        InputError: the pairs or the model cannot be used, or nothing can be learnt from the pairs.
        OptionError: the recipe makes no sense, or `output` holds something else.
        MissingPackageError: sentence-transformers is not installed.
        BusyError: another process is writing there.
    """
    from qbench.mining.types import PAIRS_KIND

    recipe.check()
    folder = model_folder(model)
    params = {
        "trained": "bi-encoder",
        "pairs": read_manifest(pairs, PAIRS_KIND).digest,
        "base": model_digest(folder),
        "base_name": Path(model).name,
        **asdict(recipe),
    }
    key = keys.key("bi-encoder training", **{k: v for k, v in params.items() if k != "base_name"})
    if not finished(output, KIND, key):
        with drafting(output, KIND, key, params, overwrite=overwrite) as draft:
            data = read_pairs(pairs, dev_share=recipe.dev_share, seed=recipe.seed)
            network = load_model(str(folder), max_length=recipe.max_length)
            _Training(data, network, recipe, draft, progress, on_epoch).run()
    return read_manifest(output, KIND)


class _Training:
    """One training: what its steps share."""

    def __init__(
        self,
        data: PairData,
        network: SentenceTransformer,
        recipe: PairRecipe,
        draft: Draft,
        progress: Progress,
        on_epoch: Callable[[Record], None] | None,
    ) -> None:
        from sentence_transformers.sentence_transformer.losses import OnlineContrastiveLoss

        self.data, self.network, self.recipe, self.draft = data, network, recipe, draft
        self.progress, self.on_epoch = progress, on_epoch
        self.student = SingleVectorStudent(network)
        self.loss = OnlineContrastiveLoss(network, margin=recipe.margin)
        self.optimizer = adamw(network, recipe.lr, recipe.weight_decay)
        # Every epoch has as many pairs as the first.
        self.steps = -(-len(self._epoch_pairs(1)) // recipe.batch_size)

    def run(self) -> None:
        untrained = {"epoch": 0, **self._on_dev()}
        self._tell(untrained)
        history, best = train_epochs(
            self.draft.folder,
            self.network,
            self.optimizer,
            lambda number: {"loss": self._epoch(number), **self._on_dev()},
            _dev_f1,
            epochs=self.recipe.epochs,
            patience=self.recipe.patience,
            tell=self._tell,
        )
        self._write([untrained, *history], best)

    def _write(self, log: list[Record], best: int) -> None:
        threshold = log[best].get("dev", {}).get("threshold")
        self.draft.counts = {
            **self.data.counts,
            "epochs": len(log) - 1,
            "best_epoch": best,
            "dev_untrained": log[0].get("dev"),
            "dev": log[best].get("dev"),
            "test_downsampled": self._figures(self.data.test, "test", threshold),
            "test_downsampled_best_threshold": self._figures(self.data.test, "test", None),
        }
        with quiet():
            self.network.save_pretrained(str(self.draft.folder), create_model_card=False)
        write_json(self.draft.folder / LOG, log)

    def _epoch(self, number: int) -> float:
        """Train for one epoch; the mean loss per step."""
        import torch

        pairs = self._epoch_pairs(number)
        # The state of the generator is not kept: each epoch begins with its own.
        torch.manual_seed(int(generator(self.recipe.seed, "dropout", str(number)).integers(2**63)))
        self.network.train()
        total = 0.0
        for step, batch in enumerate(_batches(pairs, self.recipe.batch_size)):
            done = (number - 1) * self.steps + step
            set_rate(self.optimizer, self.recipe.lr, done, self.recipe.epochs * self.steps, self.recipe.warmup)
            loss = self._loss(batch)
            if not torch.isfinite(loss):
                raise OptionError(
                    f"the loss is no longer finite in epoch {number}", value=loss.item(), remedy="Lower the lr"
                )
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            total += loss.item()
            self.progress(done + 1, self.recipe.epochs * self.steps, f"epoch {number}")
        return total / self.steps

    def _epoch_pairs(self, number: int) -> Pairs:
        recipe, train = self.recipe, self.data.train
        rows = sampled(self.data, train, recipe.negatives, recipe.seed, str(number), max_pairs=recipe.max_pairs)
        return train.rows(generator(recipe.seed, "order", str(number)).permutation(rows))

    def _loss(self, batch: Pairs) -> Tensor:
        import torch

        device = self.network.device
        half = device.type == "cuda" and torch.cuda.is_bf16_supported()
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
            sides = [self._embed(batch.query, "query"), self._embed(batch.doc, "document")]
        labels = torch.from_numpy(batch.positive.astype(np.int64)).to(device)
        loss: Tensor = self.loss.compute_loss_from_embeddings([side.float() for side in sides], labels)
        return loss

    def _embed(self, positions: NDArray[np.int64], role: Role) -> Tensor:
        return self.student.embed([self.data.texts[i] for i in positions], role).vectors

    def _on_dev(self) -> Record:
        figures = self._figures(self.data.dev, "dev", None)
        return {} if figures is None else {"dev": figures}

    def _figures(self, part: Pairs, name: str, threshold: float | None) -> Record | None:
        """How well the model tells the pairs of a split, down-sampled; None where it has no pairs of both kinds.

        The threshold is the best one of the split itself where none is given.
        """
        part = part.rows(sampled(self.data, part, self.recipe.negatives, self.recipe.seed, name))
        if not part.positive.any() or part.positive.all():
            return None
        scores = self._cosines(part)
        chosen = best_threshold(scores, part.positive) if threshold is None else threshold
        return {
            **verdicts(scores, part.positive, chosen),
            "threshold": chosen,
            "threshold_from": name if threshold is None else "dev",
            "nearest_is_paraphrase": nearest_is_paraphrase(scores, part.positive, part.starts()),
            **part.counts(),
        }

    def _cosines(self, pairs: Pairs) -> NDArray[np.float64]:
        encoder = SingleVector(self.network, max(BATCH, self.recipe.batch_size))

        def vectors(positions: NDArray[np.int64], role: Any) -> NDArray[np.float32]:
            distinct, back = np.unique(positions, return_inverse=True)
            return encoder.encode([self.data.texts[i] for i in distinct], role)[back]

        products = vectors(pairs.query, "query") * vectors(pairs.doc, "document")
        return np.asarray(products.sum(axis=1), dtype=np.float64)

    def _tell(self, record: Record) -> None:
        if self.on_epoch is not None:
            self.on_epoch(record)


def _dev_f1(record: Record) -> float | None:
    return float(record["dev"]["f1"]) if "dev" in record else None


def _batches(pairs: Pairs, size: int) -> Iterator[Pairs]:
    for start in range(0, len(pairs), size):
        yield pairs.rows(np.arange(start, min(start + size, len(pairs))))
