"""The pooled MS MARCO passages as a BEIR folder with training queries, for benchmarks/compression.md.

    python benchmarks/compression_data.py DATA/retrieval/msmarco-dl OUT [--others 3000] [--train 2500] [--dev 400]
        [--found RUN [--depth 50]]

Test queries are those of TREC Deep Learning 2019 and 2020. Queries to learn from are made of passages that neither year
judged: "what is X" where a sentence begins by saying what X is, else three to six of a sentence's words in its order,
drawn at random, rare ones more often. The one relevant passage of such a query is its own. The corpus has all judged
passages, and some others; with --found only those, judged or not, that a run (the Parquet file of a leaderboard) has
among a test query's best, which encoders that take long can afford.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

YEARS = ("dl19", "dl20")
SHORTEST = 20
"""Words of a passage that a query is made of, at least."""
FREQUENT = 2.5
"""Words with a rarity up to this (in 8 % of the passages) are in no query but "what is"."""

_SENTENCES = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_DEFINED = re.compile(r"(?:(?:an?|the)\s)?((?:[\w-]+\s){1,4})(is|are)\s(?:an?|the)\s", re.IGNORECASE)
_WORDS = re.compile(r"[a-z0-9][a-z0-9'-]+")


def main() -> None:
    """Write the folder."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("data", type=Path)
    reader.add_argument("out", type=Path)
    reader.add_argument("--others", type=int, default=3000, help="passages that neither year judged")
    reader.add_argument("--train", type=int, default=2500)
    reader.add_argument("--dev", type=int, default=400)
    reader.add_argument("--seed", type=int, default=13)
    reader.add_argument("--found", type=Path, help="a run: only passages among the best of its queries are there")
    reader.add_argument("--depth", type=int, default=50, help="of --found")
    options = reader.parse_args()
    with gzip.open(options.data / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        corpus = [json.loads(line) for line in lines]
    judgments = {year: _judgments(options.data / "qrels" / f"{year}.tsv") for year in YEARS}
    judged = {doc for rows in judgments.values() for _, doc, _ in rows}
    if options.found is not None:
        found = set(pl.read_parquet(options.found).filter(pl.col("rank") <= options.depth)["doc_id"])
        corpus = [row for row in corpus if row["_id"] in found]
    rarity = _rarity(corpus)
    random = np.random.default_rng(options.seed)
    others = [row["_id"] for row in corpus if row["_id"] not in judged]
    kept = judged | {others[number] for number in random.permutation(len(others))[: options.others]}
    corpus = [row for row in corpus if row["_id"] in kept]
    open_passages = [row for row in corpus if row["_id"] not in judged and len(row["text"].split()) >= SHORTEST]
    made: dict[str, str] = {}
    for number in random.permutation(len(open_passages)):
        row = open_passages[number]
        text = query_of(row["text"], rarity, random)
        if text and text not in made:
            made[text] = row["_id"]
        if len(made) == options.train + options.dev:
            break
    own = [(f"made-{number}", text, doc) for number, (text, doc) in enumerate(made.items())]
    asked = [
        (f"{year}-{row['_id']}", row["text"])
        for year in YEARS
        for row in map(json.loads, (options.data / f"queries.{year}.jsonl").read_text(encoding="utf-8").splitlines())
    ]
    known, there = {query for query, _ in asked}, {row["_id"] for row in corpus}
    parts = {
        "dev": [(query, doc, "1") for query, _, doc in own[: options.dev]],
        "train": [(query, doc, "1") for query, _, doc in own[options.dev :]],
        "test": [
            (f"{year}-{query}", doc, grade)
            for year in YEARS
            for query, doc, grade in judgments[year]
            if f"{year}-{query}" in known and doc in there
        ],
    }
    (options.out / "qrels").mkdir(parents=True, exist_ok=True)
    _write(options.out / "corpus.jsonl", map(json.dumps, corpus))
    texts = [(query, text) for query, text, _ in own] + asked
    _write(options.out / "queries.jsonl", (json.dumps({"_id": query, "text": text}) for query, text in texts))
    for part, rows in parts.items():
        _write(options.out / "qrels" / f"{part}.tsv", ["query-id\tcorpus-id\tscore", *map("\t".join, rows)])
    print({part: len({row[0] for row in rows}) for part, rows in parts.items()}, f"of {len(corpus)} passages")


def query_of(text: str, rarity: dict[str, float], random: np.random.Generator) -> str:
    """A query whose answer a passage is: what one of its sentences defines, or some of that sentence's words."""
    sentences = [one for one in _SENTENCES.split(text) if len(one.split()) > 4] or [text]
    sentence = sentences[int(random.integers(len(sentences)))]
    if defined := _DEFINED.match(sentence):
        words = defined[1].lower().split()
        if rarity.get(words[-1], 0) > FREQUENT:
            return f"what {defined[2].lower()} {' '.join(words)}"
    words = list(dict.fromkeys(_WORDS.findall(sentence.lower())))
    telling = [word for word in words if rarity.get(word, 0) > FREQUENT]
    weights = np.array([rarity[word] for word in telling])
    count = min(int(random.integers(3, 7)), len(telling))
    drawn = random.choice(len(telling), count, replace=False, p=weights / weights.sum()) if telling else []
    return " ".join(telling[number] for number in sorted(drawn))


def _rarity(corpus: list[dict[str, str]]) -> dict[str, float]:
    """Of words in at least two passages, which leaves out most that are misspelt: -log of the share of passages."""
    counts = Counter(word for row in corpus for word in set(_WORDS.findall(row["text"].lower())))
    return {word: math.log(len(corpus) / count) for word, count in counts.items() if count > 1}


def _judgments(path: Path) -> list[tuple[str, str, str]]:
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return [(row[0], row[-2], row[-1]) for row in rows if row[-1].isdigit()]


def _write(path: Path, lines: object) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in lines)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
