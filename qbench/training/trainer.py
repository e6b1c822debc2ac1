"""The course of every training: a task is trained epoch by epoch, resumed, stopped early, and saved.

Between two evaluations of an epoch lies a stretch of its batches, after which the state is kept.
A task is a network with its batches, its loss and its figures on held-out data: a retriever on triples, a bi-encoder on
mined pairs, a tagger on a gold set.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from qbench import keys
from qbench.errors import OptionError
from qbench.models.encoders import require_neural
from qbench.models.folders import LOG, model_digest, model_folder, quiet
from qbench.models.limits import refusing_a_full_gpu
from qbench.progress import Progress
from qbench.randomness import generator
from qbench.store import Manifest, drafting, read_manifest, write_json
from qbench.training.checkpoints import best_evaluation, load_best, resume, save_state, save_untrained
from qbench.training.recipes import Precision, Recipe

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
    from torch.optim import Optimizer

Record = dict[str, Any]
"""One evaluation of a history: `epoch` done (0: before training; 1.25: a quarter into the second), mean `loss` of the
batches since the last one, and the task's figures."""

Batch = TypeVar("Batch")


@dataclass(frozen=True)
class History:
    """What a training did.

    Attributes:
        records: of all evaluations, in order; the first has epoch 0 where the task is evaluated before training.
        best: the epoch after which the weights are as they are kept; 0 where none was better than the untrained model.
        steps: of the optimiser.
    """

    records: Sequence[Record]
    best: float
    steps: int

    def record(self, epoch: float) -> Record:
        """The record of an epoch; {} where there is none."""
        return next((record for record in self.records if record["epoch"] == epoch), {})

    @property
    def epochs(self) -> float:
        """Number of epochs trained."""
        return self.records[-1]["epoch"]  # type: ignore[no-any-return]


class Task(ABC, Generic[Batch]):
    """What is trained, on what, and how well it does.

    Attributes:
        network: whose weights are trained, kept and resumed.
        recipe: the options of the training.
    """

    network: Any
    recipe: Any

    @abstractmethod
    def batches(self, epoch: int) -> Sequence[Batch]:
        """The batches of an epoch (from 1), in order; every epoch has the same number."""

    @abstractmethod
    def loss(self, batch: Batch, step: int, steps: int) -> Tensor:
        """The loss of a batch, shape ().

        Args:
            batch: one of `batches`.
            step: of the optimiser that it belongs to, from 0.
            steps: in the whole training.
        """

    @abstractmethod
    def evaluate(self) -> Record:
        """Figures on held-out data; {} where nothing is held out."""

    @abstractmethod
    def figure(self, record: Record) -> float | None:
        """The figure of a record that should be high; None (the last weights are kept) where nothing is held out."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the trained model into a folder."""

    def untrained(self) -> Record | None:
        """The record of epoch 0, before training; None for no such record."""
        return self.evaluate()

    def patient_until(self) -> float:
        """Share of the steps, the first, after which patience begins: those that teach something else."""
        return 0.0

    def epoch_figures(self) -> Record:
        """Figures of what was trained since the last evaluation, in addition to its loss."""
        return {}

    def optimizer(self) -> Optimizer:
        """AdamW with the recipe's learning rate and weight decay."""
        return adamw([(self.network.named_parameters(), self.recipe.lr)], self.recipe.weight_decay)

    def dropout_seed(self, stretch: str) -> int:
        """Seed of torch's random numbers from one evaluation to the next."""
        return int(generator(self.recipe.seed, "dropout", stretch).integers(2**63))

    def counts(self, history: History) -> dict[str, Any]:
        """Counts of the manifest; the network has the weights of the best epoch."""
        return {"epochs": history.epochs, "best_epoch": history.best, "steps": history.steps}


class EncoderTask(Task[list[int]]):
    """A task whose network is an encoder with new layers above it; a batch is a list of positions of training texts.

    Attributes:
        lengths: number of tokens of each training text.
    """

    name: ClassVar[str]
    """What its random choices are named after."""
    lengths: Sequence[int]

    def batches(self, epoch: int) -> list[list[int]]:
        """Texts of similar length together, in random order."""
        random = generator(self.recipe.seed, f"{self.name} batches", str(epoch))
        return batches_by_length(self.lengths, self.recipe.batch_size, random)

    def untrained(self) -> None:
        """None: the new layers are random before training."""
        return

    def optimizer(self) -> Optimizer:
        """AdamW with a learning rate for the encoder and one for the layers above it."""
        return adamw_with_head(self.network, self.recipe.lr, self.recipe.head_lr, self.recipe.weight_decay)


def batches_by_length(lengths: Sequence[int], size: int, random: np.random.Generator) -> list[list[int]]:
    """Positions of texts of similar length together, out of stretches of fifty batches; the batches in random order.

    >>> batches_by_length([5, 1, 5, 1, 5], 2, np.random.default_rng(0))
    [[0], [3, 1], [2, 4]]
    """
    order, batches = random.permutation(len(lengths)).tolist(), []
    for start in range(0, len(order), 50 * size):
        stretch = sorted(order[start : start + 50 * size], key=lengths.__getitem__)
        batches += [stretch[at : at + size] for at in range(0, len(stretch), size)]
    return [batches[n] for n in random.permutation(len(batches)).tolist()]


@dataclass(frozen=True)
class Stretch(Generic[Batch]):
    """The batches of an epoch between two evaluations.

    Attributes:
        epoch: its number, from 1.
        part, parts: the number of this stretch in the epoch, from 0, and how many the epoch has.
        start: position of the first of `batches` in the epoch.
        batches: what is trained on.
        whole: number of batches in the epoch.
    """

    epoch: int
    part: int
    parts: int
    start: int
    batches: Sequence[Batch]
    whole: int

    @property
    def name(self) -> str:
        """What random choices are named after; the first of an epoch is named as the epoch."""
        return f"{self.epoch}.{self.part}" if self.part else str(self.epoch)

    @property
    def end(self) -> float:
        """Epochs done after it: a whole number after the last one of an epoch.

        >>> Stretch(2, 0, 4, 0, [], 8).end, Stretch(2, 3, 4, 6, [], 8).end
        (1.25, 2)
        """
        return self.epoch if self.part == self.parts - 1 else round(self.epoch - 1 + (self.part + 1) / self.parts, 4)


class Trainer(Generic[Batch]):
    """Trains a task as its recipe says.

    An interrupted training resumes after its last evaluation, of which an epoch may have several, and ends with the
    weights of an uninterrupted one (on a CPU, with the same versions and number of threads).

    Args:
        task: what is trained.
        folder: of the draft; it holds the state until the training ends, then the model and `log.json`.
        progress: is given the number of batches done.
        on_epoch: is called with the record of every evaluation, those of an interrupted training included.
    """

    def __init__(
        self,
        task: Task[Batch],
        folder: Path,
        progress: Progress,
        on_epoch: Callable[[Record], None] | None = None,
    ) -> None:
        self.task, self.folder, self.progress = task, folder, progress
        self.on_epoch = on_epoch or (lambda record: None)
        self.recipe: Recipe = task.recipe
        self.optimizer = task.optimizer()
        self.peaks = [group["lr"] for group in self.optimizer.param_groups]

    def run(self) -> History:
        """Train; leave the best weights in the network, and write them and the history into the folder.

        Raises:
            OptionError: a loss is not finite, or a batch does not fit into the GPU's memory.
        """
        import torch

        task = self.task
        remedy = "Lower batch_size (accumulation makes up for it) or max_length, or use gradient caching where it is"
        with torch.random.fork_rng(), refusing_a_full_gpu(remedy):
            untrained = task.untrained()
            first: list[Record] = [] if untrained is None else [{"epoch": 0, **untrained}]
            save_untrained(self.folder, task.network)
            trained = resume(self.folder, task.network, self.optimizer)
            for record in [*first, *trained]:
                self.on_epoch(record)
            for stretch in self._stretches(len(trained)):
                if self._stalled(first, trained, stretch.parts):
                    break
                trained.append({"epoch": stretch.end, **self._train(stretch), **task.evaluate()})
                best = best_evaluation(first, trained, task.figure) == len(trained)
                save_state(self.folder, task.network, self.optimizer, trained, best=best)
                self.on_epoch(trained[-1])
            best_of_all = best_evaluation(first, trained, task.figure)
            load_best(self.folder, task.network, best_of_all)
            records = [*first, *trained]
            best_epoch = trained[best_of_all - 1]["epoch"] if best_of_all else 0
            steps = round(records[-1]["epoch"] * self._steps(len(task.batches(1))))
            history = History(records, best_epoch, steps)
        with quiet():
            task.save(self.folder)
        write_json(self.folder / LOG, history.records)
        return history

    def _steps(self, batches: int) -> int:
        """Steps of the optimiser in an epoch."""
        return -(-batches // self.recipe.accumulation)

    def _stretches(self, done: int) -> Iterator[Stretch[Batch]]:
        """What is trained from one evaluation to the next, without the first `done`."""
        number, every = 0, self.recipe.accumulation
        for epoch in range(1, self.recipe.epochs + 1):
            batches = self.task.batches(epoch)
            steps = self._steps(len(batches))
            parts = min(self.recipe.evaluations, steps)
            # Between steps alone: a step's batches stay together.
            ends = [round(part * steps / parts) * every for part in range(parts + 1)]
            for part in range(parts):
                number += 1
                if number > done:
                    yield Stretch(epoch, part, parts, ends[part], batches[ends[part] : ends[part + 1]], len(batches))

    def _stalled(self, first: list[Record], trained: list[Record], parts: int) -> bool:
        measured = bool(trained) and self.task.figure(trained[-1]) is not None
        begun = math.ceil(self.task.patient_until() * self.recipe.epochs * parts)
        since = len(trained) - max(best_evaluation(first, trained, self.task.figure), begun)
        return measured and since >= self.recipe.patience * parts

    def _train(self, stretch: Stretch[Batch]) -> Record:
        """Train until the next evaluation."""
        import torch

        task, every = self.task, self.recipe.accumulation
        before, whole = (stretch.epoch - 1) * stretch.whole, self.recipe.epochs * stretch.whole
        first, steps = (stretch.epoch - 1) * self._steps(stretch.whole), self._steps(stretch.whole) * self.recipe.epochs
        # The state of torch's generator is not kept: each stretch begins with its own.
        torch.manual_seed(task.dropout_seed(stretch.name))
        task.network.train()
        total = 0.0
        for position, batch in enumerate(stretch.batches, stretch.start):
            step = first + position // every
            if position % every == 0:
                self._set_rates(step, steps)
                self.optimizer.zero_grad()
            loss = task.loss(batch, step, steps)
            if not torch.isfinite(loss):
                message = f"the loss is no longer finite in epoch {stretch.epoch}"
                raise OptionError(message, value=loss.item(), remedy="Lower the learning rate")
            (loss / every).backward()  # type: ignore[no-untyped-call]
            if position % every == every - 1 or position == stretch.whole - 1:
                self._update()
            total += loss.item()
            self.progress(before + position + 1, whole, f"epoch {stretch.epoch}")
        return {"loss": total / len(stretch.batches), **task.epoch_figures()}

    def _set_rates(self, step: int, steps: int) -> None:
        share = rate_share(step, steps, self.recipe.warmup, self.recipe.schedule)
        for group, peak in zip(self.optimizer.param_groups, self.peaks, strict=True):
            group["lr"] = peak * share

    def _update(self) -> None:
        import torch

        if self.recipe.clip:
            torch.nn.utils.clip_grad_norm_(self.task.network.parameters(), self.recipe.clip)
        self.optimizer.step()


def adamw(
    groups: Iterable[tuple[Iterable[tuple[str, nn.Parameter]], float]], weight_decay: float, *, fused: bool = False
) -> Optimizer:
    """AdamW; biases and norms do not decay.

    Args:
        groups: named parameters, each group with its peak learning rate.
        weight_decay: of all other parameters.
        fused: use torch's fused step, which on a CPU is several times quicker and rounds differently.
    """
    import torch

    split: list[dict[str, Any]] = []
    for named, lr in groups:
        trained = [(name, parameter) for name, parameter in named if parameter.requires_grad]
        decaying = [parameter for name, parameter in trained if not _is_still(name)]
        still = [parameter for name, parameter in trained if _is_still(name)]
        split += [{"params": decaying, "lr": lr, "weight_decay": weight_decay}]
        split += [{"params": still, "lr": lr, "weight_decay": 0.0}]
    return torch.optim.AdamW(split, fused=fused)


def adamw_with_head(network: Any, lr: float, head_lr: float, weight_decay: float) -> Optimizer:
    """AdamW with one learning rate for `network.encoder` and one for all around it."""
    head = [pair for pair in network.named_parameters() if not pair[0].startswith("encoder.")]
    groups = [(network.encoder.named_parameters(), lr), (head, head_lr)]
    # A GPU would want the fused step's counts there, which a resumed state has on the CPU.
    return adamw(groups, weight_decay, fused=head[0][1].device.type == "cpu")


def _is_still(name: str) -> bool:
    return "bias" in name.rpartition(".")[2] or "norm" in name.lower()


def rate_share(step: int, steps: int, warmup: float, schedule: str) -> float:
    """The share of the peak learning rate in a step.

    Args:
        step: from 0.
        steps: in the whole training.
        warmup: share of the steps in which the rate rises in a straight line.
        schedule: "linear" falls to 0 after that, "constant" stays.

    >>> [rate_share(step, 4, 0.5, "linear") for step in range(4)]
    [0.5, 1.0, 1.0, 0.5]
    """
    rising = round(warmup * steps)
    if step < rising:
        return (step + 1) / rising
    return 1.0 if schedule == "constant" else (steps - step) / max(steps - rising, 1)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's random numbers from a seed: those of weights that a base model lacks, such as a pooler nobody uses.

    Raises:
        MissingPackageError: torch is not installed.
    """
    require_neural()
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def mixed_precision(device: torch.device, precision: Precision = "auto") -> AbstractContextManager[Any]:
    """Matrix products in bfloat16; with "auto" on a GPU that can, and nowhere else."""
    import torch

    able = device.type == "cuda" and torch.cuda.is_bf16_supported()
    half = able if precision == "auto" else precision == "bfloat16"
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=half)


def train_checkpoint(
    step: str,
    params: Mapping[str, Any],
    output: Path,
    make: Callable[[], Task[Any]],
    overwrite: bool,
    progress: Progress,
    on_epoch: Callable[[Record], None] | None,
) -> Manifest:
    """Train a model and write it as an artefact; nothing is done where it is finished.

    Args:
        step: name of the training in `qbench.keys.REVISIONS`.
        params: of the manifest, from `training_params`.
        output: folder of the artefact.
        make: reads the data and opens the model.
        overwrite: replace another checkpoint of the kind.
        progress, on_epoch: as in `Trainer`.

    Raises:
        OptionError: `output` holds something else.
        BusyError: another process is writing there.
    """
    kind, key = params["trained"], training_key(step, params)
    with drafting(output, kind, key, params, overwrite=overwrite) as draft:
        if draft is not None:
            task = make()
            draft.counts = task.counts(Trainer(task, draft.folder, progress, on_epoch).run())
    return read_manifest(output, kind)


def training_params(
    kind: str,
    inputs: Mapping[str, Any],
    model: str,
    recipe: Recipe,
    *,
    device: str | None = None,
    model_kind: str | None = None,
) -> dict[str, Any]:
    """The parameters of a checkpoint's manifest.

    Args:
        kind: of the artefact.
        inputs: keys of what is learnt from, by name.
        model: the one to start from, a folder or a name on the hub.
        recipe: the options of the training.
        device: that it is trained on, where users choose it.
        model_kind: as in `qbench.models.folders.model_digest`.

    Raises:
        InputError: the model cannot be opened.
    """
    return {
        "trained": kind,
        **inputs,
        "base": model_digest(model_folder(model), model_kind),
        "base_name": Path(model).name,
        **({} if device is None else {"device": device.partition(":")[0]}),
        **asdict(recipe),
    }


def training_key(step: str, params: Mapping[str, Any]) -> str:
    """The key of a checkpoint.

    Args:
        step: name of the training in `qbench.keys.REVISIONS`.
        params: everything that can change it, and the model's `base_name`, which cannot.
    """
    return keys.key(step, **{name: value for name, value in params.items() if name != "base_name"})
