"""Training of the description parser on a gold set (*Quantity Retrieval*, sections 4.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.mining.gold import Gold, GoldSample, split, texts
from qbench.mining.segment_scores import SegmentScores, partial, strict
from qbench.models.encoders import choose_device, require_neural
from qbench.models.folders import model_folder
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.store import Manifest
from qbench.training.recipes import TaggerRecipe
from qbench.training.trainer import EncoderTask, History, Record, train_checkpoint, training_params

if TYPE_CHECKING:
    from torch import Tensor

    from qbench.models.tagger import Tagger

KIND = "description-parser"
IGNORED = -100
"""The tag of tokens that the loss leaves out: special ones, those of the pivot, padding."""


def train_tagger(
    gold: Gold,
    output: Path,
    model: str,
    recipe: TaggerRecipe = TaggerRecipe(),
    *,
    device: str = "auto",
    overwrite: bool = False,
    progress: Progress = silent,
    on_epoch: Callable[[Record], None] | None = None,
) -> Manifest:
    """Train a description parser; keep the epoch that is best on dev, score it on the test split.

    The gold set is split by `qbench.mining.gold.split`. An interrupted call resumes after its last evaluation (see
    `Trainer`). A finished checkpoint is left as it is.

    Args:
        gold: the gold set.
        output: folder of the checkpoint, which `qbench.mining.tagger_parser.TaggerParser` opens.
        model: the encoder, a folder or a name on the hub.
        recipe: the options of the training.
        device: a torch device; "auto" is a GPU where there is one.
        overwrite: replace another checkpoint in `output`.
        progress: is given the number of batches done.
        on_epoch: is called with the record of each epoch.

    Returns:
        the manifest; `counts` holds the gold set's counts, the sizes of the splits, the number of quantities whose text
        is too long for the encoder and was cut to a window, and the scores of the best epoch on dev and test.

    Raises:
        MissingPackageError: the extra `neural` is not installed.
        InputError: the model cannot be opened, or the gold set is too small to be split.
        OptionError: the recipe makes no sense, there is no such device, or `output` holds something else.
        BusyError: another process is writing there.
    """
    recipe.check()
    require_neural()
    from qbench.models.tagger import Tagger

    splits = split(gold.samples, recipe.seed, limit=recipe.limit)
    device = choose_device(device)
    params = training_params(KIND, {"gold": gold.key()}, model, recipe, device=device)

    def make() -> TaggerTask:
        network = Tagger.new(model_folder(model), recipe.seed, recipe.hidden_size)
        return TaggerTask(network.to(device), gold.counts, splits, recipe)

    return train_checkpoint("description-parser training", params, output, make, overwrite, progress, on_epoch)


class TaggerTask(EncoderTask):
    """A tagger that learns the descriptions of a gold set.

    Args:
        network: the tagger.
        gold: counts of the gold set.
        splits: "train", "dev", "test".
        recipe: the options of the training.
    """

    name = "tagger"

    def __init__(
        self,
        network: Tagger,
        gold: Mapping[str, int],
        splits: Mapping[str, Sequence[GoldSample]],
        recipe: TaggerRecipe,
    ) -> None:
        from qbench.models.bieo import tags_of

        self.network, self.gold, self.splits, self.recipe = network, gold, splits, recipe
        self._encoded = network.encode(_items(splits["train"]))
        self.lengths = [len(text.ids) for text in self._encoded]
        self._tags = [
            [
                IGNORED if span is None else tag
                for span, tag in zip(encoded.spans, tags_of(encoded.spans, sample.segments), strict=True)
            ]
            for encoded, sample in zip(self._encoded, splits["train"], strict=True)
        ]

    def loss(self, batch: list[int], step: int, steps: int) -> Tensor:
        """Cross-entropy of the tags, in single precision on any device."""
        import torch

        scores = self.network(*self.network.batch([self._encoded[n] for n in batch]))
        wanted = torch.full(scores.shape[:2], IGNORED)
        for row, n in zip(wanted, batch, strict=True):
            row[: len(self._tags[n])] = torch.tensor(self._tags[n])
        return torch.nn.functional.cross_entropy(
            scores.flatten(0, 1), wanted.flatten().to(scores.device), ignore_index=IGNORED
        )

    def evaluate(self) -> Record:
        """Strict scores of the segments on dev."""
        return {"dev": self.scores("dev")["strict"].to_dict()}

    def figure(self, record: Record) -> float:
        """F1 of the segments on dev."""
        return float(record["dev"]["f1"])

    def save(self, folder: Path) -> None:
        """Write a folder that `Tagger.load` opens."""
        self.network.save(folder)

    def dropout_seed(self, stretch: str) -> int:
        """Seed of torch's random numbers from one evaluation to the next."""
        return int(generator(self.recipe.seed, "tagger dropout", stretch).integers(2**62))

    def counts(self, history: History) -> dict[str, Any]:
        """Counts of the manifest; the network has the weights of the best epoch."""
        every = [sample for samples in self.splits.values() for sample in samples]
        return {
            "gold": self.gold,
            "splits": {
                name: {"texts": texts(samples), "quantities": len(samples)} for name, samples in self.splits.items()
            },
            "cut_to_a_window": sum(encoded.cut for encoded in self.network.encode(_items(every))),
            **super().counts(history),
            **{name: {mode: score.to_dict() for mode, score in self.scores(name).items()} for name in ("dev", "test")},
        }

    def scores(self, name: str) -> dict[str, SegmentScores]:
        """Strict and partial scores on a split."""
        samples = self.splits[name]
        self.network.eval()
        predicted = self.network.segments(_items(samples), self.recipe.batch_size)
        gold = [sample.segments for sample in samples]
        return {"strict": strict(predicted, gold), "partial": partial(predicted, gold)}


def _items(samples: Sequence[GoldSample]) -> list[tuple[str, tuple[int, int]]]:
    return [(sample.text, sample.pivot) for sample in samples]
