"""Training of the description parser on a gold set (*Quantity Retrieval*, sections 4.2 and 4.3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.errors import OptionError
from qbench.mining.gold import Gold, GoldSample, split, texts
from qbench.mining.segment_scores import SegmentScores, partial, strict
from qbench.models.encoders import choose_device, require_neural
from qbench.progress import Progress, silent
from qbench.randomness import generator
from qbench.store import Draft, digest, drafting, finished, read_json, refuse_foreign, write_json, write_text

if TYPE_CHECKING:
    import torch

    from qbench.models.tagger import Encoded, Tagger

KIND = "description-parser"
METRICS, REPORT = "metrics.jsonl", "report.json"
IGNORED = -100
"""The tag of tokens that the loss leaves out: special ones, those of the pivot, padding."""


@dataclass(frozen=True, slots=True)
class TaggerTraining:
    """How a description parser is trained.

    Attributes:
        learning_rate: of the encoder; 2e-5 in the paper.
        head_learning_rate: of the layers above it. The paper has one rate for all; with a gold set of a thousand
            quantities they hardly move at that, so that our default is higher.
        batch_size: quantities per step; batches hold texts of about one length.
        epochs: at most.
        patience: stop after so many epochs without a better F1 on the development part (strict, of segments).
        hidden_size: of the LSTM, in each direction; 512 in the paper.
        limit: train on the first so many sentences of the training part, for a learning curve; None for all.
        seed: of the split, the new weights, the batches and the dropout.
        device: a torch device, or "auto". The same run gives the same bytes on the CPU, with as many threads; a GPU
            promises no such thing.
    """

    learning_rate: float = 2e-5
    head_learning_rate: float = 1e-3
    batch_size: int = 16
    epochs: int = 20
    patience: int = 4
    hidden_size: int = 512
    limit: int | None = None
    seed: int = 13
    device: str = "auto"

    def check(self) -> None:
        """Refuse values that make no sense.

        Raises:
            OptionError: a number is not positive.
        """
        for name, value in asdict(self).items():
            if isinstance(value, int | float) and name != "seed" and not 0 < value < float("inf"):
                raise OptionError(f"{name.replace('_', ' ')} must be more than 0", value=value)


@dataclass(frozen=True, slots=True)
class TrainedTagger:
    """A finished checkpoint. `report` is its `report.json`; `new` is False where it was there already."""

    path: Path
    report: dict[str, Any]
    new: bool


@dataclass(slots=True)
class _State:
    """Where training stands after an epoch; the weights are in files beside it."""

    history: list[dict[str, float]] = field(default_factory=list)
    best: int = 0

    @property
    def epoch(self) -> int:
        return len(self.history)

    def over(self, options: TaggerTraining) -> bool:
        return self.epoch >= options.epochs or self.epoch - self.best >= options.patience


def train_tagger(
    gold: Gold,
    output: Path,
    model: str,
    options: TaggerTraining = TaggerTraining(),
    *,
    overwrite: bool = False,
    progress: Progress = silent,
) -> TrainedTagger:
    """Train a description parser, keep the epoch that is best on the development part, score it on the test part.

    The gold set is split by `qbench.mining.gold.split`. An interrupted run goes on after its last whole epoch, and ends
    with the same bytes.

    Args:
        gold: the gold set.
        output: folder of the checkpoint, which `qbench.mining.tagger_parser.TaggerParser` opens.
        model: the encoder's folder, or its name on the hub.
        options: see there.
        overwrite: replace another checkpoint at `output`.
        progress: told of batches; in words of the last epoch's F1.

    Raises:
        MissingPackageError: the extra `neural` is not installed.
        InputError: the model cannot be opened, or the gold set is too small to be split.
        OptionError: an option makes no sense, or `output` holds something else.
    """
    options.check()
    require_neural()
    from qbench.models.tagger import Tagger

    device = choose_device(options.device)
    parts = split(gold.samples, options.seed, limit=options.limit)
    output = output.absolute()
    tagger = Tagger.new(model, options.seed, options.hidden_size)
    params = {"model": _model_name(model), **asdict(options), "device": device}
    key = _key(gold, tagger, params)
    if finished(output, KIND, key):
        return TrainedTagger(output, read_json(output / REPORT), new=False)
    refuse_foreign(output, KIND, overwrite)
    tagger.to(device)
    with drafting(output, KIND, key, params, overwrite=overwrite) as draft:
        state = _trained(tagger, parts, options, draft, progress)
        report = _finish(tagger, parts, state, gold, options, draft)
    return TrainedTagger(output, report, new=True)


def _model_name(model: str) -> str:
    return Path(model).name if Path(model).is_dir() else model


def _key(gold: Gold, tagger: Tagger, params: dict[str, Any]) -> str:
    """A digest of all that can change the checkpoint; of the model its weights and tokeniser, not its name."""
    import hashlib

    from qbench import __version__

    weights = hashlib.sha256()
    for name, tensor in tagger.state_dict().items():
        weights.update(name.encode())
        weights.update(tensor.numpy().tobytes())
    tokenizer = tagger.tokenizer.backend_tokenizer.to_str()
    return digest([gold.key(), weights.hexdigest(), tokenizer, params, __version__])


def _trained(
    tagger: Tagger,
    parts: dict[str, tuple[GoldSample, ...]],
    options: TaggerTraining,
    draft: Draft,
    progress: Progress,
) -> _State:
    """Train epoch by epoch; at the end the tagger has the weights of the best one."""
    from qbench.models.bieo import tags_of
    from qbench.training.states import load_state, load_weights, save_state

    encoded = tagger.encode([(sample.text, sample.pivot) for sample in parts["train"]])
    tags = [
        [IGNORED if span is None else tag for span, tag in zip(one.spans, tags_of(one.spans, s.segments), strict=True)]
        for one, s in zip(encoded, parts["train"], strict=True)
    ]
    optimizer = _optimizer(tagger, options)
    best = draft.folder / ".best.safetensors"
    state = _State(**load_state(draft.folder, tagger, optimizer))
    while not state.over(options):
        tell = _telling(progress, state, options)
        loss = _epoch(tagger, optimizer, encoded, tags, options, state.epoch, tell)
        dev = _scores(tagger, parts["dev"], options)["strict"]
        state.history.append({"epoch": state.epoch + 1, "loss": loss, **dev.to_dict()})
        if dev.f1 > max([row["f1"] for row in state.history[:-1]], default=-1.0):
            state.best = state.epoch
            tagger.save_weights(best)
        save_state(draft.folder, tagger, optimizer, asdict(state))
    load_weights(tagger, best)
    return state


def _optimizer(tagger: Tagger, options: TaggerTraining) -> torch.optim.Optimizer:
    import torch

    head = [*tagger.lstm.parameters(), *tagger.tags.parameters()]
    return torch.optim.Adam(
        [
            {"params": list(tagger.encoder.parameters()), "lr": options.learning_rate},
            {"params": head, "lr": options.head_learning_rate},
        ],
        fused=True,
    )


def _epoch(
    tagger: Tagger,
    optimizer: torch.optim.Optimizer,
    encoded: Sequence[Encoded],
    tags: Sequence[Sequence[int]],
    options: TaggerTraining,
    epoch: int,
    tell: Callable[[int, int], None],
) -> float:
    """One pass over the training part; the mean loss of its steps."""
    import torch

    batches = list(_batches([len(one.ids) for one in encoded], options, epoch))
    total = 0.0
    tagger.train()
    # Seeded by epoch: a run that goes on after an epoch draws what an uninterrupted one would.
    with torch.random.fork_rng():
        torch.manual_seed(int(generator(options.seed, "tagger dropout", str(epoch)).integers(2**62)))
        for done, batch in enumerate(batches, start=1):
            scores = tagger(*tagger.batch([encoded[n] for n in batch]))
            wanted = torch.full(scores.shape[:2], IGNORED)
            for row, n in zip(wanted, batch, strict=True):
                row[: len(tags[n])] = torch.tensor(tags[n])
            loss = torch.nn.functional.cross_entropy(
                scores.flatten(0, 1), wanted.flatten().to(scores.device), ignore_index=IGNORED
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += loss.item()
            tell(done, len(batches))
    tagger.eval()
    return total / len(batches)


def _batches(lengths: Sequence[int], options: TaggerTraining, epoch: int) -> Iterator[list[int]]:
    """Which texts go together: those of about one length, in stretches of fifty batches; in a random order."""
    random = generator(options.seed, "tagger batches", str(epoch))
    order = random.permutation(len(lengths)).tolist()
    stretch = 50 * options.batch_size
    batches = []
    for start in range(0, len(order), stretch):
        near = sorted(order[start : start + stretch], key=lambda n: lengths[n])
        batches += [near[at : at + options.batch_size] for at in range(0, len(near), options.batch_size)]
    for n in random.permutation(len(batches)).tolist():
        yield batches[n]


def _telling(progress: Progress, state: _State, options: TaggerTraining) -> Callable[[int, int], None]:
    what = f"epoch {state.epoch + 1}"
    if state.history:
        what += f" (F1 {state.history[-1]['f1']:.3f}, best {state.history[state.best - 1]['f1']:.3f})"

    def tell(done: int, batches: int) -> None:
        progress(state.epoch * batches + done, options.epochs * batches, what)

    return tell


def _scores(tagger: Tagger, samples: Sequence[GoldSample], options: TaggerTraining) -> dict[str, SegmentScores]:
    found = tagger.segments([(sample.text, sample.pivot) for sample in samples], options.batch_size)
    gold = [sample.segments for sample in samples]
    return {"strict": strict(found, gold), "partial": partial(found, gold)}


def _finish(
    tagger: Tagger,
    parts: dict[str, tuple[GoldSample, ...]],
    state: _State,
    gold: Gold,
    options: TaggerTraining,
    draft: Draft,
) -> dict[str, Any]:
    """Write the checkpoint, the log and the report."""
    counts = {
        f"{part} {what}": count
        for part, rows in parts.items()
        for what, count in (("texts", texts(rows)), ("quantities", len(rows)))
    }
    every = [sample for rows in parts.values() for sample in rows]
    cut = sum(one.cut for one in tagger.encode([(sample.text, sample.pivot) for sample in every]))
    counts |= {"texts cut to a window": cut, "epochs": state.epoch, "best epoch": state.best}
    report: dict[str, Any] = {"gold": gold.counts, **counts}
    for part in ("dev", "test"):
        report[part] = {mode: scores.to_dict() for mode, scores in _scores(tagger, parts[part], options).items()}
    write_text(draft.folder / METRICS, "".join(json.dumps(row) + "\n" for row in state.history))
    write_json(draft.folder / REPORT, report)
    tagger.save(draft.folder)
    draft.counts = {**counts, "test strict F1": report["test"]["strict"]["f1"]}
    return report
