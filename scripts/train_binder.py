"""Train the binder that `qbench` ships: which words of a sentence name what each of its numbers measures.

    python scripts/train_binder.py OUT ANNOTATED... [--data FOLDER] [--silver FILE...] [--epochs 12] [--seeds 3]

ANNOTATED are JSON lines as `qbench.training.annotations` reads them: `text`, and `quantities` with `span` (characters
of the number with its unit), `concept` (words of the text, in order), `core` (what of it people would search for),
`unit` and `change`. `annotations/` holds what qbench's own was trained on. Texts of others stay where they are, in
FOLDER. Whether a number is the size of a rise or fall is learnt, too, and whose unit a bare number shares; and that a
number which is not annotated is no quantity.

SILVER are lines with `text` alone, which the binders of all seeds read, so that the one that is kept learns from the
mean of their probabilities (Hinton et al. 2015), which is surer than those of a single one. OUT gets the weights in
bytes and `scores.json`: precision, recall and F1 of the concepts' words on documents that were left out, by the code
that reads the weights in `qbench`. Needs torch; about ten minutes for 7,000 mentions on a core, for each seed.

Word vectors are the parser's and stay as they are. A part of the rules' concepts is hidden in training, so that the
binder knows when not to follow them.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from numpy.typing import NDArray
from torch import Tensor, nn

from qbench.quantities.english.binder.concepts import EVEN, named
from qbench.quantities.english.binder.features import MENTION_COLUMNS, WORD_COLUMNS, Labels, Pivot, Sentence
from qbench.quantities.english.binder.model import OUTPUTS
from qbench.quantities.english.concepts import Concept, find_concepts
from qbench.quantities.english.parse import Parse, Parser
from qbench.quantities.english.parsers.dense import packed
from qbench.quantities.english.parsers.embedded import EmbeddedParser
from qbench.quantities.english.rules import RulesExtractor
from qbench.quantities.units import load_units
from qbench.training.annotations import (
    LOSSES,
    AnnotatedText,
    hide_rules,
    labels_of,
    read_annotations,
    targets,
    word_scores,
)

WIDTH, LAYERS, HEADS = 128, 2, 4
DROPOUT = 0.2
HIDDEN = 0.15
"""Share of mentions whose rules' concept is hidden in a batch."""
BATCH = 32
RATE = 1e-3
TRUST = 0.3
"""Share of the networks' probabilities in the targets of annotated mentions in the training that learns from them."""
THRESHOLD = 0.4

log = logging.getLogger("train_binder")


@dataclass(slots=True)
class Example:
    """A mention with its features, the raw vectors of the tokens of its window, and what it is about.

    Attributes:
        own: raw vectors of the tokens of its number and of its anchor, of shape (2, width of the parser).
        targets, counted: the right outputs, and those that are asked for; see `qbench.training.annotations.Target`.
    """

    group: int
    view: Pivot
    vectors: NDArray[np.float16]
    own: NDArray[np.float16]
    targets: NDArray[np.float32]
    counted: NDArray[np.float32]


def sentences(texts: Sequence[str]) -> list[Sentence | None]:
    """The mentions of each text with the parser's whole vectors."""
    parser = Parser(EmbeddedParser(project=lambda vectors: vectors))
    extractor = RulesExtractor(load_units(None), spacy_model="embedded")
    read_texts = extractor.read_many(texts, parser)
    return [None if text is None else text.sentence() for text in read_texts]


def examples(
    texts: Sequence[AnnotatedText],
    parsed: Sequence[Sentence | None],
    concepts: Sequence[Sequence[Concept]],
    labels: Labels,
) -> Iterator[Example]:
    """One for each mention that the binder can read."""
    for target in targets(texts, parsed, concepts, labels):
        view, sentence = target.view, parsed[target.sentence]
        if sentence is not None and sentence.parse.vectors is not None:
            vectors = sentence.parse.vectors[view.start : view.start + len(view.words)]
            ends = sentence.parse.vectors[[view.number, view.anchor]]
            yield Example(target.sentence, view, vectors, ends, target.marks, target.counted)


class Network(nn.Module):
    """As `qbench.quantities.english.binder.model` reads it."""

    def __init__(self, width: int, size: int = WIDTH) -> None:
        super().__init__()
        self.projection = nn.Linear(width, size, bias=False)
        self.pivot = nn.Linear(2 * size, size)
        self.words = nn.ModuleList([nn.Embedding(n, size) for n in WORD_COLUMNS.values()])
        self.mentions = nn.ModuleList([nn.Embedding(n, size) for n in MENTION_COLUMNS.values()])
        for table in [*self.words, *self.mentions]:
            nn.init.normal_(table.weight, std=0.1)
        self.norm = nn.LayerNorm(size, eps=1e-12)
        self.dropout = nn.Dropout(DROPOUT)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                size, HEADS, 4 * size, DROPOUT, lambda x: F.gelu(x, approximate="tanh"), 1e-12, batch_first=True
            )
            for _ in range(LAYERS)
        )
        self.out = nn.Linear(size, len(OUTPUTS))

    def forward(self, vectors: Tensor, own: Tensor, words: Tensor, mention: Tensor, mask: Tensor) -> Tensor:
        """Scores of shape (mentions, tokens, `OUTPUTS`)."""
        if self.training:
            vectors = F.dropout(vectors, 0.1)
            words, mention = words.clone(), mention.clone()
            shown = torch.stack([torch.rand(len(words)), torch.rand(len(words))]) > HIDDEN
            hide_rules(words, mention, shown.long())
        h = self.projection(vectors) + sum(table(words[:, :, i]) for i, table in enumerate(self.words))
        whole = self.pivot(self.projection(own).flatten(1))
        whole = whole + sum(table(mention[:, i]) for i, table in enumerate(self.mentions))
        h = self.dropout(self.norm(h + whole[:, None]))
        for layer in self.layers:
            h = layer(h, src_key_padding_mask=~mask)
        scores: Tensor = self.out(h)
        return scores


Batch = tuple[list[Example], tuple[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor, Tensor]


def batches(data: Sequence[Example], size: int, rng: random.Random | None = None) -> Iterator[Batch]:
    """Mentions of like windows together, with their targets and the tokens that count."""
    order = sorted(range(len(data)), key=lambda i: len(data[i].view.words) + (8 * rng.random() if rng else 0))
    groups = [order[i : i + size] for i in range(0, len(order), size)]
    if rng is not None:
        rng.shuffle(groups)
    for group in groups:
        each = [data[i] for i in group]
        longest = max(len(e.view.words) for e in each)
        shape = (len(each), longest)
        vectors = np.zeros((*shape, each[0].vectors.shape[1]), dtype=np.float32)
        words = np.zeros((*shape, len(WORD_COLUMNS)), dtype=np.int64)
        mask = np.zeros(shape, dtype=bool)
        targets = np.zeros((*shape, len(OUTPUTS)), dtype=np.float32)
        counted = np.zeros_like(targets)
        for i, e in enumerate(each):
            n = len(e.view.words)
            vectors[i, :n], words[i, :n], mask[i, :n] = e.vectors, e.view.words, True
            targets[i, :n], counted[i, :n] = e.targets, e.counted
        own = np.stack([e.own for e in each]).astype(np.float32)
        mention = np.stack([e.view.mention for e in each])
        given = tuple(torch.from_numpy(array) for array in (vectors, own, words, mention, mask))
        yield each, given, torch.from_numpy(targets), torch.from_numpy(counted)  # type: ignore[misc]


def train(data: Sequence[Example], epochs: int, seed: int) -> Network:
    """A network that has seen the examples."""
    torch.manual_seed(seed)
    rng = random.Random(seed)  # noqa: S311 (no secret)
    net = Network(data[0].vectors.shape[1])
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=0.05)
    steps = epochs * -(-len(data) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.1)
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for each, given, wanted, counted in batches(data, BATCH, rng):
            losses = F.binary_cross_entropy_with_logits(net(*given), wanted, reduction="none")
            loss = (losses * counted * torch.from_numpy(LOSSES)).sum() / len(each)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 4.0)
            optimizer.step()
            schedule.step()
            total += loss.item() * len(each)
        log.info("seed %d, epoch %d of %d: loss %.3f", seed, epoch + 1, epochs, total / len(data))
    return net


def taught(nets: Sequence[Network], data: Sequence[Example]) -> list[Example]:
    """The examples with the mean of the networks' probabilities as targets."""
    sums: dict[int, NDArray[np.float32]] = {}
    for net in nets:
        net.eval()
        with torch.no_grad():
            for each, given, _, _ in batches(data, 2 * BATCH):
                for e, scores in zip(each, torch.sigmoid(net(*given)).numpy(), strict=True):
                    sums[id(e)] = sums.get(id(e), 0) + scores[: len(e.view.words)] / len(nets)
    return [replace(e, targets=sums[id(e)].astype(np.float32)) for e in data]


def softened(nets: Sequence[Network], data: Sequence[Example]) -> list[Example]:
    """The examples with targets between what was annotated and what the networks say."""
    return [
        replace(e, targets=((1 - TRUST) * e.targets + TRUST * said.targets).astype(np.float32))
        for e, said in zip(data, taught(nets, data), strict=True)
    ]


def written(net: Network, labels: Labels, threshold: float) -> dict[str, NDArray[np.generic]]:
    """The weights by name, as `Binder` reads them."""
    arrays: dict[str, NDArray[np.generic]] = {
        f"labels.{field}": np.array(list(names), dtype=str) for field, names in zip(Labels._fields, labels, strict=True)
    }
    state = {name: tensor.detach().numpy() for name, tensor in net.state_dict().items()}
    arrays |= {"threshold": np.float32(threshold), "heads": np.int64(HEADS), "layers": np.int64(LAYERS)}  # type: ignore[dict-item]
    arrays["projection"] = state["projection.weight"].T.astype(np.float16)
    arrays["pivot"], arrays["bias"] = state["pivot.weight"].T.astype(np.float16), state["pivot.bias"]
    for kind, columns in (("word", WORD_COLUMNS), ("mention", MENTION_COLUMNS)):
        for i, name in enumerate(columns):
            arrays[f"{kind}.{name}"] = state[f"{kind}s.{i}.weight"].astype(np.float16)
    arrays["norm"] = np.stack([state["norm.weight"], state["norm.bias"]])
    for i in range(LAYERS):
        ours, theirs = f"layer.{i}.", f"layers.{i}."
        named = {"mix": "self_attn.in_proj_", "out": "self_attn.out_proj.", "up": "linear1.", "down": "linear2."}
        for name, part in named.items():
            arrays[ours + name], arrays[f"{ours}{name}.scale"] = packed(state[f"{theirs}{part}weight"].T)
            arrays[f"{ours}{name}.bias"] = state[f"{theirs}{part}bias"]
        norms = [state[f"{theirs}norm{k}.{part}"] for k in (1, 2) for part in ("weight", "bias")]
        arrays[ours + "norms"] = np.stack(norms)
    arrays["out"], arrays["out.bias"] = state["out.weight"].T, state["out.bias"]
    return arrays


def scores(folder: Path, data: Sequence[Example]) -> dict[str, float]:
    """Precision, recall and F1 of the words of concepts, by the weights in a folder."""
    from qbench.quantities.english.binder.model import Binder

    binder = Binder(folder)

    def taken(e: Example) -> NDArray[np.bool_]:
        rows = binder.project(e.vectors.astype(np.float32)).astype(np.float16)
        own = binder.project(e.own.astype(np.float32)).astype(np.float16)
        vectors = np.zeros(
            (max(e.view.start + len(rows), e.view.number + 1, e.view.anchor + 1), rows.shape[1]), np.float16
        )
        vectors[e.view.start : e.view.start + len(rows)] = rows
        vectors[[e.view.number, e.view.anchor]] = own
        likely = binder.probabilities([(e.view, Sentence((), (), Parse((), (), (), vectors)))])[0]
        words: NDArray[np.bool_] = named(likely, binder.threshold)
        return words

    quantities = (e for e in data if e.targets[:, -1].max() <= EVEN)
    figures = word_scores((taken(e), e.targets, e.counted) for e in quantities)
    return {name: round(100 * value, 1) for name, value in figures.items()}


def main() -> None:
    """Train, write, score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("annotated", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, help="folder with the files that lines without a text are from")
    parser.add_argument("--silver", type=Path, nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--limit", type=int, help="sentences that are drawn of the annotated ones, for a learning curve"
    )
    parser.add_argument("--test", type=float, default=0.1, help="share of the documents that is left out")
    parser.add_argument("--threshold", type=float, default=THRESHOLD)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    items = read_annotations(options.annotated, options.data)
    if options.limit:
        random.Random(0).shuffle(items)  # noqa: S311 (no secret)
        items = items[: options.limit]
    unread = [json.loads(line)["text"] for path in options.silver for line in path.open(encoding="utf-8")]
    texts = [*items, *(AnnotatedText(text, None, "") for text in unread)]
    parsed = sentences([text.text for text in texts])
    concepts = [[] if sentence is None else find_concepts(*sentence) for sentence in parsed]
    labels = labels_of(parsed, concepts)
    data = list(examples(texts, parsed, concepts, labels))
    left_out = {n for n, item in enumerate(items) if zlib.crc32(item.group.encode()) % 1000 < 1000 * options.test}
    training = [e for e in data if e.group < len(items) and e.group not in left_out]
    log.info("%d mentions of %d sentences, %d left out", len(data), len(items), len(left_out))
    nets = [train(training, options.epochs, seed) for seed in range(options.seeds)]
    net = nets[0]
    if options.silver:
        silver = [e for e in data if e.group >= len(items)]
        net = train(softened(nets, training) + taught(nets, silver), options.epochs, options.seeds)
    options.out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(options.out / "weights.npz", **written(net, labels, options.threshold))
    result = scores(options.out, [e for e in data if e.group in left_out])
    (options.out / "scores.json").write_text(json.dumps(result) + "\n", encoding="utf-8")
    log.info("%s", result)


if __name__ == "__main__":
    main()
