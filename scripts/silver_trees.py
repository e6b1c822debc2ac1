"""Parse the sentences of corpora in which quantities stand, for `train_parser.py --more`.

    python scripts/silver_trees.py PARSER CORPUS... -o OUT.conllu.gz [--sentences 30000] [--seed 0]

PARSER is a folder with weights that `train_parser.py` made, best with more layers than the one that is to learn from
it; CORPUS anything that `qbench build-index` reads. OUT gets words, tags, heads and relations: the words as the parser
reads them, with plain words in place of amounts, and each sentence of a corpus once.
"""

from __future__ import annotations

import argparse
import gzip
import logging
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from qbench.corpora.source import open_source, read_documents
from qbench.corpora.types import Problems, ReadOptions
from qbench.quantities.english.amounts import AmountFinder
from qbench.quantities.english.parse import Parser
from qbench.quantities.english.parsers.embedded import EmbeddedParser
from qbench.quantities.english.parsers.words import Reading
from qbench.quantities.english.stand_ins import stand_ins
from qbench.quantities.english.tokens import tokenize
from qbench.quantities.units import load_units

SHORTEST, LONGEST = 4, 70
"""Words of a sentence."""
BATCH = 500
log = logging.getLogger("silver_trees")


def sentences(corpus: str, parser: EmbeddedParser) -> list[list[str]]:
    """The words of each sentence with a quantity, in the order of the corpus, those of a kind once."""
    finder, reader = AmountFinder(load_units()), Parser(parser)
    unique: dict[tuple[str, ...], None] = {}
    for document in read_documents(open_source(corpus), ReadOptions(), Problems()):
        tokens = tokenize(document.text)
        mentions = stand_ins(tokens, finder.find(tokens, document.text))
        for words in reader.sentences(document.text, tokens, mentions):
            if SHORTEST <= len(words) <= LONGEST and all(word.strip() for word in words):
                unique[tuple(words)] = None
    return [list(words) for words in unique]


def rows(words: Sequence[str], reading: Reading) -> Iterator[str]:
    """The lines of a sentence in CoNLL-U."""
    for k, (word, tag, head, relation) in enumerate(
        zip(words, reading.tags, reading.heads, reading.relations, strict=True)
    ):
        yield "\t".join([str(k + 1), word, "_", "X", tag, "_", str(0 if head == k else head + 1), relation, "_", "_"])


def main() -> None:
    """Read the corpora, take a sample, and parse it."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("parser", type=Path)
    arguments.add_argument("corpus", nargs="+")
    arguments.add_argument("-o", "--out", type=Path, required=True)
    arguments.add_argument("--sentences", type=int, default=30_000, help="of all corpora together, at most")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = EmbeddedParser(options.parser)
    rng = random.Random(options.seed)  # noqa: S311 (no secret)
    each = options.sentences // len(options.corpus)
    with gzip.open(options.out, "wt", encoding="utf-8") as file:
        for corpus in options.corpus:
            available = sentences(corpus, parser)
            chosen = rng.sample(available, min(each, len(available)))
            log.info("%s: %d of %d sentences", corpus, len(chosen), len(available))
            for start in range(0, len(chosen), BATCH):
                batch = chosen[start : start + BATCH]
                for words, reading in zip(batch, parser.read(batch), strict=True):
                    if all(reading.tags):  # the parser reached its end
                        file.write("\n".join([*rows(words, reading), "", ""]))


if __name__ == "__main__":
    main()
