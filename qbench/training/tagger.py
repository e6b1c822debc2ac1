"""Training of the description parser on a gold set (*Quantity Retrieval*, sections 4.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench import keys
from qbench.errors import OptionError
from qbench.mining.gold import Gold, GoldSample, split, texts
from qbench.mining.segment_scores import SegmentScores, partial, strict
from qbench.models.encoders import choose_device, require_neural
from qbench.models.folders import LOG, model_digest, model_folder
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.store import Draft, Manifest, drafting, finished, read_manifest, write_json
from qbench.training.epochs import Record, train_epochs
from qbench.training.recipes import TaggerRecipe

if TYPE_CHECKING:
    from torch.optim import Optimizer

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
    """Train a description parser; keep the epoch that is best on the development split, score it on the test split.

    The gold set is split by `qbench.mining.gold.split`. A killed call goes on after the last finished epoch, and then
    gives the same bytes as one that was not killed (on a CPU, with the same versions and number of threads). Where
    everything was made already, nothing is done.

    Args:
        gold: the gold set.
        output: folder of the checkpoint, which `qbench.mining.tagger_parser.TaggerParser` opens.
        model: the encoder, a folder or a name on the hub.
        recipe: how.
        device: a torch device; "auto" is a GPU where there is one.
        overwrite: replace another checkpoint at `output`.
        progress: told of the steps done.
        on_epoch: called with the record of each epoch.

    Returns:
        the manifest; `counts` holds the gold set's counts, the sizes of the splits, how many of their quantities have a
        text too long for the encoder, cut to a window, and the scores of the best epoch on development and test split.

    Raises:
        MissingPackageError: the extra `neural` is not installed.
        InputError: the model cannot be opened, or the gold set is too small to be split.
        OptionError: the recipe makes no sense, there is no such device, or `output` holds something else.
        BusyError: another process is writing there.
    """
    recipe.check()
    require_neural()
    from qbench.models.tagger import Tagger

    parts = split(gold.samples, recipe.seed, limit=recipe.limit)
    folder, device = model_folder(model), choose_device(device)
    params = {
        "trained": KIND,
        "gold": gold.key(),
        "base": model_digest(folder),
        "base_name": Path(model).name,
        "device": device.partition(":")[0],
        **asdict(recipe),
    }
    key = keys.key("description-parser training", **{k: v for k, v in params.items() if k != "base_name"})
    if not finished(output, KIND, key):
        with drafting(output, KIND, key, params, overwrite=overwrite) as draft:
            tagger = Tagger.new(folder, recipe.seed, recipe.hidden_size).to(device)
            training = _Training(tagger, parts, recipe, draft, progress, on_epoch)
            training.run()
            draft.counts = {"gold": gold.counts, **training.counts()}
    return read_manifest(output, KIND)


class _Training:
    """One training: what its steps share."""

    def __init__(
        self,
        tagger: Tagger,
        parts: dict[str, tuple[GoldSample, ...]],
        recipe: TaggerRecipe,
        draft: Draft,
        progress: Progress,
        on_epoch: Callable[[Record], None] | None,
    ) -> None:
        from qbench.models.bieo import tags_of

        self.tagger, self.parts, self.recipe, self.draft = tagger, parts, recipe, draft
        self.progress, self.on_epoch = progress, on_epoch
        self.optimizer = _optimizer(tagger, recipe)
        self.history: list[Record] = []
        self.best = 0
        self.encoded = tagger.encode(_items(parts["train"]))
        self.tags = [
            [
                IGNORED if span is None else tag
                for span, tag in zip(one.spans, tags_of(one.spans, s.segments), strict=True)
            ]
            for one, s in zip(self.encoded, parts["train"], strict=True)
        ]

    def run(self) -> None:
        """Train epoch by epoch, then write the checkpoint."""
        folder = self.draft.folder
        self.history, self.best = train_epochs(
            folder,
            self.tagger,
            self.optimizer,
            lambda number: {"loss": self._epoch(number), "dev": self.scores("dev")["strict"].to_dict()},
            _dev_f1,
            epochs=self.recipe.epochs,
            patience=self.recipe.patience,
            tell=self._tell,
        )
        self.tagger.save(folder)
        write_json(folder / LOG, self.history)

    def counts(self) -> dict[str, Any]:
        """What the manifest says of the data and of the best epoch."""
        every = [sample for part in self.parts.values() for sample in part]
        return {
            "splits": {name: {"texts": texts(part), "quantities": len(part)} for name, part in self.parts.items()},
            "cut_to_a_window": sum(one.cut for one in self.tagger.encode(_items(every))),
            "epochs": len(self.history),
            "best_epoch": self.best,
            **{
                name: {mode: scores.to_dict() for mode, scores in self.scores(name).items()} for name in ("dev", "test")
            },
        }

    def scores(self, part: str) -> dict[str, SegmentScores]:
        """Strict and partial scores on a split."""
        samples = self.parts[part]
        self.tagger.eval()
        found = self.tagger.segments(_items(samples), self.recipe.batch_size)
        gold = [sample.segments for sample in samples]
        return {"strict": strict(found, gold), "partial": partial(found, gold)}

    def _epoch(self, number: int) -> float:
        """Train for one epoch; the mean loss per step."""
        import torch

        batches = list(self._batches(number))
        # The state of the generator is not kept: each epoch begins with its own.
        torch.manual_seed(int(generator(self.recipe.seed, "tagger dropout", str(number)).integers(2**62)))
        self.tagger.train()
        total = 0.0
        for step, batch in enumerate(batches, start=1):
            scores = self.tagger(*self.tagger.batch([self.encoded[n] for n in batch]))
            wanted = torch.full(scores.shape[:2], IGNORED)
            for row, n in zip(wanted, batch, strict=True):
                row[: len(self.tags[n])] = torch.tensor(self.tags[n])
            loss = torch.nn.functional.cross_entropy(
                scores.flatten(0, 1), wanted.flatten().to(scores.device), ignore_index=IGNORED
            )
            if not torch.isfinite(loss):
                message = f"the loss is no longer finite in epoch {number}"
                raise OptionError(message, value=loss.item(), remedy="Lower lr and head_lr")
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
            total += loss.item()
            self.progress((number - 1) * len(batches) + step, self.recipe.epochs * len(batches), f"epoch {number}")
        return total / len(batches)

    def _batches(self, number: int) -> Iterator[list[int]]:
        """Which texts go together: those of about one length, out of stretches of fifty batches; in a random order."""
        random = generator(self.recipe.seed, "tagger batches", str(number))
        order, size = random.permutation(len(self.encoded)).tolist(), self.recipe.batch_size
        batches = []
        for start in range(0, len(order), 50 * size):
            near = sorted(order[start : start + 50 * size], key=lambda n: len(self.encoded[n].ids))
            batches += [near[at : at + size] for at in range(0, len(near), size)]
        for n in random.permutation(len(batches)).tolist():
            yield batches[n]

    def _tell(self, record: Record) -> None:
        if self.on_epoch is not None:
            self.on_epoch(record)


def _items(samples: Sequence[GoldSample]) -> list[tuple[str, tuple[int, int]]]:
    return [(sample.text, sample.pivot) for sample in samples]


def _dev_f1(record: Record) -> float:
    return float(record["dev"]["f1"])


def _optimizer(tagger: Tagger, recipe: TaggerRecipe) -> Optimizer:
    import torch

    groups = [
        {"params": list(tagger.encoder.parameters()), "lr": recipe.lr},
        {"params": [*tagger.lstm.parameters(), *tagger.tags.parameters()], "lr": recipe.head_lr},
    ]
    # On a CPU the fused step is several times quicker; on a GPU it would want its step counts there.
    return torch.optim.Adam(groups, fused=tagger.tags.weight.device.type == "cpu")
