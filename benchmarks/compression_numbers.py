"""Do quantities go before words? What compressed vectors still tell apart, for benchmarks/compression.md.

    python benchmarks/compression_numbers.py BENCH... --encoder "SBERT(model=MODEL)" --work FOLDER... [--sentences 300]
        [--json FILE]

BENCH is a generated benchmark, FOLDER the output of a leaderboard over it. A sentence with a quantity is a query, and
its vector is not compressed; two documents are its own text, and that text with one change: another value of the same
unit, another unit, or another word as frequent as the old one. Values, units and words are from the same corpus.
Compressed, is the sentence still nearer to itself? Codebooks are learnt from the whole corpus, as in search.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.disk import open_benchmark
from qbench.compression.codec import WORDS, Codec
from qbench.compression.lexical import LexPQ
from qbench.compression.plain import Float32, Int8
from qbench.compression.product import OPQ, PQ
from qbench.models.word_features import encoder_features
from qbench.randomness import generator
from qbench.retrieval.dense import Dense
from qbench.retrieval.explaining import bench_of
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.vectors import SAMPLE

CODECS: dict[str, Codec] = {
    "float32": Float32(),
    "int8": Int8(),
    "PQ, 96 bytes": PQ(M=96),
    "PQ, 24 bytes": PQ(M=24),
    "PQ, 8 bytes": PQ(M=8),
    "PQ, 9 bytes": PQ(M=8, K=512),
    "OPQ, 9 bytes": OPQ(M=8, K=512),
    "LexPQ, 9 bytes": LexPQ(M=8, K=512),
}
CHANGES = ("value, same magnitude", "value, another magnitude", "unit", "word")
BINS = 3
RESAMPLES = 2000

_WORD = re.compile(r"[A-Za-z][a-z]{3,}")


class Changer:
    """Makes the changes of a benchmark's sentences."""

    def __init__(self, benchmark: Benchmark) -> None:
        quantities = benchmark.quantities
        if quantities is None:
            raise SystemExit(f"{benchmark.name} has no quantities: give a generated benchmark")
        self.texts = dict(benchmark.corpus.select("doc_id", "text").iter_rows())
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.values: dict[str, dict[str, float]] = {}
        self.units: dict[str, dict[str, None]] = {}
        for row in quantities.filter(pl.col("value_start") >= 0).iter_rows(named=True):
            text = self.texts.get(row["doc_id"])
            if text is None:
                continue
            self.rows.setdefault(row["doc_id"], []).append(row)
            self.values.setdefault(row["unit"], {})[text[row["value_start"] : row["value_end"]]] = row["value"]
            if 0 <= row["unit_start"] < row["unit_end"]:
                self.units.setdefault(row["unit"], {})[text[row["unit_start"] : row["unit_end"]]] = None
        words = Counter(word.lower() for text in self.texts.values() for word in set(_WORD.findall(text)))
        self.words = {word: count for word, count in words.items() if 2 <= count <= len(self.texts) / 50}

    def changed(self, doc: str, what: str, random: np.random.Generator) -> str | None:
        """A sentence with a change; None where there is none of this kind."""
        text, mention = self.texts[doc], self.rows[doc][int(random.integers(len(self.rows[doc])))]
        if what == "word":
            return self._other_word(doc, random)
        if what == "unit":
            start, end = mention["unit_start"], mention["unit_end"]
            others = [unit for unit in self.units if unit != mention["unit"]]
            if not 0 <= start < end or not others:
                return None
            forms = list(self.units[others[int(random.integers(len(others)))]])
            return text[:start] + forms[int(random.integers(len(forms)))] + text[end:]
        near = "same" in what
        forms = [
            form
            for form, value in self.values[mention["unit"]].items()
            if value != mention["value"] and (_magnitude(value) == _magnitude(mention["value"])) == near
        ]
        if not forms:
            return None
        chosen = forms[int(random.integers(len(forms)))]
        return text[: mention["value_start"]] + chosen + text[mention["value_end"] :]

    def _other_word(self, doc: str, random: np.random.Generator) -> str | None:
        text = self.texts[doc]
        inside = [(row[f"{part}_start"], row[f"{part}_end"]) for row in self.rows[doc] for part in ("value", "unit")]
        found = [
            match
            for match in _WORD.finditer(text)
            if match[0].lower() in self.words and not any(a < match.end() and match.start() < b for a, b in inside)
        ]
        if not found:
            return None
        match = found[int(random.integers(len(found)))]
        count = self.words[match[0].lower()]
        like = [
            word for word, other in self.words.items() if count / 2 <= other <= count * 2 and word != match[0].lower()
        ]
        return text[: match.start()] + like[int(random.integers(len(like)))] + text[match.end() :]


def _magnitude(value: float) -> int:
    return int(np.floor(np.log10(abs(value)))) if value else -99


Sides = tuple[NDArray[np.float32], list[str]]
"""Vectors, and their texts."""


def opened(benchmark: Benchmark, encoder: str, work: Path) -> tuple[Dense, pl.DataFrame]:
    """The encoder with the corpus' vectors, and the corpus."""
    bench = bench_of(benchmark, work)
    ranker = bench.first_stage(parse_system(encoder).first, 10).ranker
    if not isinstance(ranker, Dense):
        raise SystemExit(f"{encoder} has no vector for each text")
    return ranker, bench.context().corpus


def told_apart(dense: Dense, corpus: pl.DataFrame, own: Sides, other: Sides) -> dict[str, NDArray[np.float64]]:
    """By codec: 1 where a sentence is nearer to itself than to the changed one, 1/2 where both have one score."""
    rows = dense.vectors.spread_rows(SAMPLE)
    sample, features = dense.vectors.chosen(rows), encoder_features(dense.encoder)
    shared, found = dense.vectors.shared, {}
    texts = corpus["passage"].gather(shared.docs[shared.starts[rows]]).to_list()
    for name, codec in CODECS.items():
        if codec.needs_words and features is None:
            continue
        fitted = codec.fit_words(sample, features(texts)) if codec.needs_words and features else codec.fit(sample)

        def decoded(side: Sides, fitted: Codec = fitted) -> NDArray[np.float32]:
            if not fitted.needs_words or features is None:
                return fitted.decode(fitted.encode(side[0]))
            words = features(side[1])
            return fitted.decode({**fitted.encode_words(side[0], words), WORDS: words})

        mine, theirs = ((own[0] * decoded(side)).sum(axis=1, dtype=np.float64) for side in (own, other))
        found[name] = (mine > theirs) + 0.5 * (mine == theirs)
    return found


def main() -> None:
    """Run, and print tables."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("bench", type=Path, nargs="+")
    reader.add_argument("--encoder", required=True)
    reader.add_argument("--work", type=Path, nargs="+", required=True)
    reader.add_argument("--sentences", type=int, default=300)
    reader.add_argument("--json", type=Path)
    options = reader.parse_args()
    kinds: list[str] = []
    distances: list[float] = []
    right: dict[str, list[float]] = {name: [] for name in CODECS}
    for path, work in zip(options.bench, options.work, strict=True):
        benchmark = open_benchmark(path)
        changer, (dense, corpus) = Changer(benchmark), opened(benchmark, options.encoder, work)
        random = generator(13, "compression numbers", path.name)
        docs = [sorted(changer.rows)[number] for number in random.permutation(len(changer.rows))[: options.sentences]]
        pairs = [(doc, what, changer.changed(doc, what, random)) for doc in docs for what in CHANGES]
        made = [(doc, what, text) for doc, what, text in pairs if text is not None and text != changer.texts[doc]]
        vectors = dense.encoder.encode([text for _, _, text in made], "document")
        whole = dict(zip(docs, dense.encoder.encode([changer.texts[doc] for doc in docs], "document"), strict=True))
        own = np.stack([whole[doc] for doc, _, _ in made])
        kinds += [what for _, what, _ in made]
        distances += (1 - (own * vectors).sum(axis=1)).tolist()
        both = (own, [changer.texts[doc] for doc, _, _ in made]), (vectors, [text for _, _, text in made])
        for name, values in told_apart(dense, corpus, *both).items():
            right[name] += values.tolist()
    found = figures(np.array(kinds), np.array(distances), {name: np.array(values) for name, values in right.items()})
    for row in found:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


def figures(
    kinds: NDArray[np.str_], distances: NDArray[np.float64], right: dict[str, NDArray[np.float64]]
) -> list[dict[str, Any]]:
    """Shares that are told apart by kind of change: of all pairs, and of those in each third of all distances."""
    edges = np.quantile(distances, np.linspace(0, 1, BINS + 1))
    bins = np.clip(np.searchsorted(edges, distances, side="right") - 1, 0, BINS - 1)
    random = generator(13, "bootstrap")
    rows = []
    for number in (None, *range(BINS)):
        for kind in CHANGES:
            chosen = kinds == kind if number is None else (kinds == kind) & (bins == number)
            span = "all" if number is None else f"{edges[number]:.3f}-{edges[number + 1]:.3f}"
            row: dict[str, Any] = {"distance": span, "change": kind, "pairs": int(chosen.sum())}
            if chosen.sum() >= 10:
                row["median distance"] = round(float(np.median(distances[chosen])), 3)
                for name, values in right.items():
                    some = values[chosen]
                    drawn = some[random.integers(len(some), size=(RESAMPLES, len(some)))].mean(axis=1)
                    low, high = np.quantile(drawn, [0.025, 0.975])
                    row[name] = f"{100 * some.mean():.1f} ({100 * low:.0f}-{100 * high:.0f})"
            rows.append(row)
    return rows


if __name__ == "__main__":
    main()
