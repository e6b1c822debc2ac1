"""Train the tagger and parser that `qbench` ships: the lower layers of a small BERT under a biaffine parser.

    python scripts/train_parser.py TREEBANK ENCODER OUT [--layers 3] [--epochs 6] [--more SILVER] [--seed 0]

TREEBANK is a folder with `en_ewt-ud-{train,dev,test}.conllu.gz` (UD_English-EWT, CC BY-SA 4.0); ENCODER that of a
BERT-like model (all-MiniLM-L6-v2). OUT gets the weights in bytes, the vocabulary, and `scores.json`: accuracy on the
test split, by the code that reads the weights in `qbench`. Needs torch and transformers; about 45 minutes on two cores.

The parser is that of Dozat and Manning (2017), without their recurrent layers. Three departures, for the texts that
quantities stand in. Relation subtypes that nothing here reads are folded into their types, so that labels are fewer and
surer. Half of the sentences with commas or quotation marks are seen a second time without them, since headlines, tables
and scraped news lack them. And some sentences are joined to pairs, since their ends can't always be seen.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AutoModel

from qbench.quantities.english.parsers.dense import packed
from qbench.quantities.english.parsers.embedded import SLOPE, VOCABULARY, WEIGHTS, EmbeddedParser
from qbench.quantities.english.parsers.encoder import MARK, PARTS, SHAPES, WordPieces

KEPT_SUBTYPES = frozenset({"nsubj:pass", "nmod:poss", "nsubj:outer", "obl:unmarked", "nmod:unmarked", "acl:relcl"})
DROPPED_MARKS = frozenset({",", "``", "''", '"', "“", "”"})
ARCS, LABELS = 256, 96
"""Width of what the scores of arcs and of their labels are made of."""
DROPOUT = 0.2
WORDS = 1_200
"""Words to a batch, padded."""
ROUND = 16
"""Lengths are padded to multiples of this, so that tensors come in few sizes."""
RATES = (2e-4, 1e-3)
"""Learning rates of the encoder, and of what is new."""
JOINABLE = 25
"""Words of a sentence that may be joined to another, at most."""

log = logging.getLogger("train_parser")
Row = tuple[str, str, int, str]
"""Word, Penn Treebank tag, head (0-based index; -1 for the root), relation."""


def sentences(path: Path) -> Iterator[list[Row]]:
    """The sentences of a CoNLL-U file, their words without multiword and empty tokens."""
    rows: list[Row] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if len(cells) == 10 and cells[0].isdecimal():
                relation = cells[7] if cells[7] in KEPT_SUBTYPES else cells[7].partition(":")[0]
                rows.append((cells[1], cells[4], int(cells[6]) - 1, relation))
            elif not line.strip() and rows:
                yield rows
                rows = []


def without_marks(rows: list[Row]) -> list[Row] | None:
    """The sentence without commas and quotation marks; None if it has none or one governs a word."""
    dropped = {i for i, row in enumerate(rows) if row[0] in DROPPED_MARKS}
    remaining = [i for i in range(len(rows)) if i not in dropped]
    if not dropped or not remaining or any(rows[i][2] in dropped for i in remaining):
        return None
    position = {-1: -1} | {old: new for new, old in enumerate(remaining)}
    return [(rows[i][0], rows[i][1], position[rows[i][2]], rows[i][3]) for i in remaining]


def joined(a: list[Row], b: list[Row]) -> list[Row]:
    """Two sentences as one, with two roots."""
    return a + [(word, tag, -1 if head < 0 else head + len(a), relation) for word, tag, head, relation in b]


class BiaffineParser(nn.Module):
    """What is trained; `EmbeddedParser` computes the same without torch."""

    def __init__(self, encoder: Path, layers: int, relations: int, tags: int) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(encoder, hidden_act="gelu_pytorch_tanh", add_pooling_layer=False)
        self.encoder.encoder.layer = self.encoder.encoder.layer[:layers]
        self.encoder.embeddings.word_embeddings.requires_grad_(False)
        width = self.encoder.config.hidden_size
        self.shapes = nn.Embedding(len(SHAPES), width)
        nn.init.zeros_(self.shapes.weight)
        self.root = nn.Parameter(torch.randn(width) * 0.1)
        self.arc_head, self.arc_child = nn.Linear(width, ARCS), nn.Linear(width, ARCS)
        self.label_head, self.label_child = nn.Linear(width, LABELS), nn.Linear(width, LABELS)
        self.arc = nn.Parameter(torch.empty(ARCS + 1, ARCS))
        nn.init.xavier_uniform_(self.arc)
        self.label = nn.Parameter(torch.zeros(relations, LABELS + 1, LABELS + 1))
        self.tag = nn.Linear(width, tags)
        self.drop = nn.Dropout(DROPOUT)

    def losses(self, batch: Batch) -> Tensor:
        """Mean cross-entropy of heads, of relations to the right heads, and of tags, summed."""
        vectors = self.drop(self._vectors(batch))
        above = torch.cat([self.root.expand(len(vectors), 1, -1), vectors], 1)
        child = _with_one(self._active(self.arc_child(vectors)))
        arcs = child @ self.arc @ self._active(self.arc_head(above)).transpose(1, 2)
        arcs = arcs.masked_fill(~batch.possible, -1e4)
        over = self._active(self.label_head(above))
        over = over.gather(1, batch.heads[..., None].expand(-1, -1, over.size(-1)))
        below = _with_one(self._active(self.label_child(vectors)))
        relations = torch.einsum("bni,rij,bnj->bnr", _with_one(over), self.label, below)
        real = batch.first >= 0
        return (
            F.cross_entropy(arcs[real], batch.heads[real])
            + F.cross_entropy(relations[real], batch.relations[real])
            + F.cross_entropy(self.tag(vectors)[real], batch.tags[real])
        )

    def _vectors(self, batch: Batch) -> Tensor:
        pieces = self.encoder.embeddings.word_embeddings(batch.pieces) + self.shapes(batch.shapes)
        h = self.encoder(inputs_embeds=pieces, attention_mask=batch.filled).last_hidden_state
        tokens: Tensor = h.gather(1, batch.first.clamp(min=0)[..., None].expand(-1, -1, h.size(-1)))
        return tokens

    def _active(self, x: Tensor) -> Tensor:
        projected: Tensor = self.drop(F.leaky_relu(x, float(SLOPE)))
        return projected


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones_like(x[..., :1])], -1)


class Names:
    """Numbers of tags and relations, and of word pieces."""

    def __init__(self, train: list[list[Row]], vocabulary: list[str]) -> None:
        self.tags = sorted({row[1] for rows in train for row in rows})
        self.relations = sorted({row[3] for rows in train for row in rows})
        self.tag = {name: i for i, name in enumerate(self.tags)}
        self.relation = {name: i for i, name in enumerate(self.relations)}
        self.pieces = WordPieces(vocabulary)


class Batch:
    """Padded tensors of some sentences: pieces and shapes of (sentences, pieces), the rest of (sentences, words)."""

    def __init__(self, group: list[list[Row]], names: Names) -> None:
        pieces, shapes, first = [], [], []
        for rows in group:
            own, written, starts = [names.pieces.start], [MARK], []
            for word, *_ in rows:
                starts.append(len(own))
                cut, shape = names.pieces.of(word)
                own += cut
                written += [shape] * len(cut)
            pieces.append([*own, names.pieces.end])
            shapes.append([*written, MARK])
            first.append(starts)
        self.pieces, self.shapes, self.first = _padded(pieces, 0), _padded(shapes, MARK), _padded(first, -1)
        self.filled = _padded([[1] * len(row) for row in pieces], 0)
        self.heads = _padded([[head + 1 for _, _, head, _ in rows] for rows in group], 0)
        self.tags = _padded([[names.tag[tag] for _, tag, _, _ in rows] for rows in group], 0)
        self.relations = _padded([[names.relation[relation] for *_, relation in rows] for rows in group], 0)
        words = self.first >= 0
        heads = torch.cat([torch.ones_like(words[:, :1]), words], 1)
        itself = torch.eye(words.size(1) + 1, dtype=torch.bool)[1:]
        self.possible = heads[:, None, :] & ~itself[None]


def _padded(rows: list[list[int]], filler: int) -> Tensor:
    longest = -(-max(map(len, rows)) // ROUND) * ROUND
    return torch.tensor([row + [filler] * (longest - len(row)) for row in rows])


def grouped(items: list[list[Row]], rng: random.Random) -> list[list[list[Row]]]:
    """Batches of sentences of like length, in random order."""
    batches: list[list[list[Row]]] = [[]]
    for rows in sorted(items, key=len):
        if batches[-1] and len(rows) * (len(batches[-1]) + 1) > WORDS:
            batches.append([])
        batches[-1].append(rows)
    rng.shuffle(batches)
    return batches


def epoch(train: list[list[Row]], more: list[list[Row]], rng: random.Random) -> list[list[list[Row]]]:
    """The training sentences, half of those that can be without their marks, some pairs, and as many others."""
    bare = [rows for rows in map(without_marks, train) if rows is not None]
    short = [rows for rows in train if len(rows) < JOINABLE]
    pairs = [joined(*rng.sample(short, 2)) for _ in range(len(train) // 12)]
    others = rng.sample(more, min(len(more), len(train)))
    return grouped([*train, *rng.sample(bare, len(bare) // 2), *pairs, *others], rng)


def fit(
    model: BiaffineParser,
    train: list[list[Row]],
    more: list[list[Row]],
    names: Names,
    options: argparse.Namespace,
) -> None:
    """Train with AdamW; the rates rise for a twentieth of the steps, then fall to zero."""
    rng = random.Random(options.seed)  # noqa: S311 (no secret)
    low = [p for name, p in model.named_parameters() if name.startswith("encoder") and p.requires_grad]
    high = [p for name, p in model.named_parameters() if not name.startswith("encoder")]
    optimizer = torch.optim.AdamW(
        [{"params": p, "lr": rate} for p, rate in zip((low, high), RATES, strict=True)], weight_decay=0.01
    )
    steps = options.epochs * len(epoch(train, more, rng))
    warm = max(1, steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm)))
    )
    model.train()
    for number in range(options.epochs):
        losses = []
        for group in epoch(train, more, rng):
            loss = model.losses(Batch(group, names))
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            losses.append(loss.item())
        log.info("epoch %d of %d: mean loss %.3f", number + 1, options.epochs, np.mean(losses))


def write(model: BiaffineParser, names: Names, vocabulary: list[str], out: Path) -> None:
    """Write the weights as `EmbeddedParser` reads them: matrices in bytes, pieces of other scripts left out."""
    state = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    pieces = [i for i, piece in enumerate(vocabulary) if not piece.startswith("[unused") and all(map(_common, piece))]
    table, scale = packed(state["encoder.embeddings.word_embeddings.weight"][pieces].T)
    embeddings = "encoder.embeddings."
    weights: dict[str, NDArray[np.generic]] = {
        "piece": table.T,
        "piece.scale": scale,
        "position": _half(
            state[f"{embeddings}position_embeddings.weight"] + state[f"{embeddings}token_type_embeddings.weight"][0]
        ),
        "shape": _half(state["shapes.weight"]),
        "norm": np.stack([state[f"{embeddings}LayerNorm.{field}"] for field in ("weight", "bias")]),
        "heads": np.array(model.encoder.config.num_attention_heads),
        "arc": _half(state["arc"]),
        "label": _half(state["label"].transpose(1, 0, 2).reshape(LABELS + 1, -1)),
        "tag.weight": _half(state["tag.weight"].T),
        "tag.bias": state["tag.bias"],
        "tags": np.array(names.tags),
        "relations": np.array(names.relations),
    }
    for i in range(len(model.encoder.encoder.layer)):
        weights |= _layer(state, f"encoder.encoder.layer.{i}.", f"layer.{i}.")
    for kind in ("arc", "label"):
        for side in ("head", "child"):
            weights[f"{kind}.{side}.weight"] = _half(state[f"{kind}_{side}.weight"].T)
            weights[f"{kind}.{side}.bias"] = state[f"{kind}_{side}.bias"]
        root = state[f"{kind}_head.weight"] @ state["root"] + state[f"{kind}_head.bias"]
        weights[f"root.{kind}"] = np.maximum(root, SLOPE * root)[None]
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / WEIGHTS, **weights)  # type: ignore[arg-type]
    (out / VOCABULARY).write_text("\n".join(vocabulary[i] for i in pieces), encoding="utf-8")


def _layer(state: dict[str, NDArray[np.float32]], theirs: str, ours: str) -> dict[str, NDArray[np.generic]]:
    """The weights of a layer under our names."""
    arrays: dict[str, NDArray[np.generic]] = {}
    three = [f"attention.self.{part}" for part in ("query", "key", "value")]
    for name, parts in zip(
        PARTS, (three, ["attention.output.dense"], ["intermediate.dense"], ["output.dense"]), strict=True
    ):
        matrix = np.concatenate([state[f"{theirs}{part}.weight"] for part in parts]).T
        arrays[ours + name], arrays[f"{ours}{name}.scale"] = packed(matrix)
        arrays[f"{ours}{name}.bias"] = np.concatenate([state[f"{theirs}{part}.bias"] for part in parts])
    norms = [f"{part}.LayerNorm.{half}" for part in ("attention.output", "output") for half in ("weight", "bias")]
    arrays[f"{ours}norms"] = np.stack([state[theirs + name] for name in norms])
    return arrays


def _half(matrix: NDArray[np.float32]) -> NDArray[np.float16]:
    return matrix.astype(np.float16)


def _common(character: str) -> bool:
    """Whether a character is Latin, or of the general marks, currencies and symbols."""
    return character < "\u0250" or "\u2000" <= character < "\u2300"


def scores(out: Path, items: list[list[Row]]) -> dict[str, float]:
    """Accuracy of tags, and unlabelled and labelled attachment without punctuation, in per cent."""
    readings = EmbeddedParser(out).read([[row[0] for row in rows] for rows in items])
    words = attached = heads = labelled = tags = 0
    for rows, reading in zip(items, readings, strict=True):
        for k, (_, tag, head, relation) in enumerate(rows):
            words += 1
            tags += reading.tags[k] == tag
            if relation != "punct":
                attached += 1
                right = reading.heads[k] == (k if head < 0 else head)
                heads += right
                labelled += right and reading.relations[k] == relation
    return {
        "tag_acc": round(100 * tags / words, 1),
        "dep_uas": round(100 * heads / attached, 1),
        "dep_las": round(100 * labelled / attached, 1),
    }


def main() -> None:
    """Train, write the weights, and score them on the test split."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("treebank", type=Path)
    parser.add_argument("encoder", type=Path, help="folder of a BERT-like model")
    parser.add_argument("out", type=Path)
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="further trees, as silver_trees.py makes them")
    parser.add_argument("--layers", type=int, default=3, help="of the encoder, from the bottom")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(options.seed)
    train, dev, test = (
        list(sentences(options.treebank / f"en_ewt-ud-{split}.conllu.gz")) for split in ("train", "dev", "test")
    )
    vocabulary = (options.encoder / VOCABULARY).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    names = Names(train, vocabulary)
    model = BiaffineParser(options.encoder, options.layers, len(names.relations), len(names.tags))
    fit(model, train, [rows for path in options.more for rows in sentences(path)], names, options)
    write(model, names, vocabulary, options.out)
    log.info("dev: %s", scores(options.out, dev))
    figures = scores(options.out, test)
    (options.out / "scores.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    log.info("test: %s", figures)


if __name__ == "__main__":
    main()
