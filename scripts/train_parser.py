"""Train the tagger and parser that `qbench` ships, from a Universal Dependencies treebank.

    python scripts/train_parser.py TREEBANK OUT [--vectors ENCODER] [--width 96] [--steps 3000] [--seed 0]

TREEBANK is a folder with `en_ewt-ud-{train,dev,test}.conllu.gz` (UD_English-EWT, CC BY-SA 4.0). OUT becomes a spaCy
pipeline of two components on one token-to-vector layer; `scores.json` in it holds the figures on the test part. About
half an hour on one core. The same versions of spaCy and numpy, seed and machine give the same weights.

ENCODER is the folder of a BERT-like model (vocab.txt, model.safetensors): the whole words among its word pieces lend
their input embeddings, reduced to a few dimensions, so that words which the treebank lacks are no strangers.

Two departures from plain training, both for the texts that quantities stand in. Relation subtypes that nothing here
reads are folded into their types, so that labels are fewer and surer. And every sentence with commas or quotation
marks is seen a second time without them, since headlines, tables and scraped news lack them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import spacy
from spacy.cli.init_config import fill_config
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from spacy.util import load_config_from_str
from spacy.vectors import Vectors

KEPT_SUBTYPES = frozenset({"nsubj:pass", "nmod:poss", "nsubj:outer", "obl:unmarked", "nmod:unmarked", "acl:relcl"})
DROPPED_MARKS = frozenset({",", "``", "''", '"', "“", "”"})
GROUP = 5
"""Sentences to a training document, so that the parser meets sentence boundaries."""

Row = tuple[str, str, str, int, str]
"""Word, UPOS, XPOS, head (0-based index; itself for the root), relation."""

CONFIG = """
[paths]
train = null
dev = null
[system]
seed = {seed}
[nlp]
lang = "en"
pipeline = ["tok2vec", "tagger", "parser"]
batch_size = 256
[components]
[components.tok2vec]
factory = "tok2vec"
[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"
[components.tok2vec.model.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = {width}
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = {rows}
include_static_vectors = {vectors}
[components.tok2vec.model.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = {width}
depth = {depth}
window_size = 1
maxout_pieces = 3
[components.tagger]
factory = "tagger"
[components.tagger.model]
@architectures = "spacy.Tagger.v2"
[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = {width}
[components.parser]
factory = "parser"
[components.parser.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "parser"
extra_state_tokens = false
hidden_width = 64
maxout_pieces = 2
use_upper = true
[components.parser.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = {width}
[corpora]
[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${{paths.train}}
[corpora.train.augmenter]
@augmenters = "spacy.lower_case.v1"
level = 0.05
[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${{paths.dev}}
[training]
gpu_allocator = null
seed = {seed}
dev_corpus = "corpora.dev"
train_corpus = "corpora.train"
max_steps = {steps}
max_epochs = 0
patience = 0
eval_frequency = 500
dropout = 0.1
accumulate_gradient = 1
[training.optimizer]
@optimizers = "Adam.v1"
use_averages = true
[training.optimizer.learn_rate]
@schedules = "warmup_linear.v1"
warmup_steps = 200
total_steps = {steps}
initial_rate = 0.002
[training.batcher]
@batchers = "spacy.batch_by_words.v1"
discard_oversize = false
tolerance = 0.2
size = {words}
[initialize]
vectors = null
[training.score_weights]
tag_acc = 0.4
dep_uas = 0.2
dep_las = 0.4
"""


def sentences(path: Path) -> Iterator[list[Row]]:
    """The sentences of a CoNLL-U file, their words without multiword and empty tokens."""
    rows: list[Row] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if len(cells) == 10 and cells[0].isdecimal():
                relation = cells[7] if cells[7] in KEPT_SUBTYPES else cells[7].partition(":")[0]
                head = int(cells[6]) - 1
                rows.append((cells[1], cells[3], cells[4], len(rows) if head < 0 else head, relation))
            elif not line.strip() and rows:
                yield rows
                rows = []


def without_marks(rows: list[Row]) -> list[Row] | None:
    """The sentence without commas and quotation marks; None if it has none or one governs a word."""
    dropped = {i for i, row in enumerate(rows) if row[0] in DROPPED_MARKS}
    if (
        not dropped
        or len(dropped) == len(rows)
        or any(row[3] in dropped for i, row in enumerate(rows) if i not in dropped)
    ):
        return None
    place = {old: new for new, old in enumerate(i for i in range(len(rows)) if i not in dropped)}
    return [(*row[:3], place[row[3]], row[4]) for i, row in enumerate(rows) if i not in dropped]


def document(nlp: spacy.Language, group: list[list[Row]]) -> Doc:
    """One spaCy document of some sentences."""
    words, tags, pos, heads, deps, starts = [], [], [], [], [], []
    for rows in group:
        shift = len(words)
        for i, (word, upos, xpos, head, relation) in enumerate(rows):
            words.append(word)
            pos.append(upos)
            tags.append(xpos)
            heads.append(shift + head)
            deps.append("ROOT" if relation == "root" else relation)
            starts.append(i == 0)
    return Doc(nlp.vocab, words=words, tags=tags, pos=pos, heads=heads, deps=deps, sent_starts=starts)


def pack(nlp: spacy.Language, groups: Iterator[list[list[Row]]], path: Path) -> None:
    """Write documents where spaCy's training reads them."""
    DocBin(docs=[document(nlp, group) for group in groups], store_user_data=False).to_disk(path)


def grouped(items: list[list[Row]], size: int) -> Iterator[list[list[Row]]]:
    """Runs of `size` sentences."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def word_vectors(encoder: Path, dimensions: int) -> tuple[list[str], np.ndarray]:
    """The whole words of an encoder's vocabulary, and their input embeddings on the first principal axes.

    Returns:
        The words (lower-case, alphabetic), and float32 of shape (words, dimensions), of unit variance over all cells.
    """
    from safetensors.numpy import load_file

    pieces = (encoder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    weights = next(
        w for name, w in load_file(encoder / "model.safetensors").items() if name.endswith("word_embeddings.weight")
    )
    kept = [i for i, piece in enumerate(pieces) if piece.isascii() and piece.isalpha()]
    rows = weights[kept].astype(np.float64)
    rows -= rows.mean(axis=0)
    axes = np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :dimensions]
    # An eigenvector's sign is arbitrary: the largest entry is made positive, so that every run gives the same vectors.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimensions)])
    reduced = rows @ axes
    return [pieces[i] for i in kept], (reduced / reduced.std()).astype(np.float32)


def main() -> None:
    """Train, score on the test part, and write the pipeline."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("treebank", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--vectors", type=Path, help="folder of a BERT-like model")
    parser.add_argument("--dimensions", type=int, default=64, help="of the word vectors")
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--words", type=int, default=1500, help="words to a batch")
    parser.add_argument("--rows", type=int, default=2000, help="rows of the embedding of norms; half for the others")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    nlp = spacy.blank("en")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        parts = {
            part: list(sentences(options.treebank / f"en_ewt-ud-{part}.conllu.gz")) for part in ("train", "dev", "test")
        }
        plain = parts["train"]
        bare = [rows for rows in map(without_marks, plain) if rows is not None]
        pack(nlp, (g for part in (plain, bare) for g in grouped(part, GROUP)), work / "train.spacy")
        pack(nlp, grouped(parts["dev"], 1), work / "dev.spacy")
        pack(nlp, grouped(parts["test"], 1), work / "test.spacy")
        if options.vectors is not None:
            words, vectors = word_vectors(options.vectors, options.dimensions)
            nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=vectors, keys=words, attr="LOWER")
            nlp.to_disk(work / "vectors")
        half = options.rows // 2
        config = load_config_from_str(
            CONFIG.format(
                seed=options.seed,
                width=options.width,
                vectors="false" if options.vectors is None else "true",
                depth=options.depth,
                steps=options.steps,
                words=options.words,
                rows=[options.rows, half, half, half],
            )
        )
        config.to_disk(work / "partial.cfg")
        fill_config(work / "config.cfg", work / "partial.cfg")
        overrides = {"paths.train": str(work / "train.spacy"), "paths.dev": str(work / "dev.spacy")}
        if options.vectors is not None:
            overrides["initialize.vectors"] = str(work / "vectors")
        train(work / "config.cfg", work / "run", overrides=overrides)
        trained = spacy.load(work / "run" / "model-best")
        test = list(DocBin().from_disk(work / "test.spacy").get_docs(trained.vocab))
        scores = trained.evaluate(
            [spacy.training.Example(Doc(trained.vocab, words=[t.text for t in doc]), doc) for doc in test]
        )
        _describe(trained, options)
        trained.to_disk(options.out)
    kept = {name: round(100 * scores[name], 1) for name in ("tag_acc", "dep_uas", "dep_las")}
    (options.out / "scores.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _describe(trained: spacy.Language, options: argparse.Namespace) -> None:
    """Say in the pipeline what it is, and nothing of the machine that it was made on."""
    trained.meta.update(
        {
            "name": "qbench_ewt",
            "version": "1.0",
            "spacy_version": ">=3.8,<4.0",
            "spacy_git_version": "",
            "license": "CC BY-SA 4.0",
            "description": "Tagger and parser trained on UD English-EWT",
            "performance": {},
        }
    )
    config = trained.config
    config["paths"] = dict.fromkeys(config["paths"])
    config["initialize"]["vectors"] = None
    trained.config = config


if __name__ == "__main__":
    main()
