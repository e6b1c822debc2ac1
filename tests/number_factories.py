"""A tiny DeepQuant, and a benchmark whose queries differ from one another by operator and value alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query
from qbench.quantities.types import to_row
from tests.factories import condition, frame, quantity

UNITS = ("", "gram", "kilogram", "metre")
WORDS = ("lamps", "boxes", "a", "the", "of", "under", "over", "kg", "m", "weight", "length", "is", "with", ".", ",")


def random_deepquant(
    encoder: Path, folder: Path, *, seed: int = 5, units: tuple[str, ...] = UNITS, text_score: str = "sum"
) -> Path:
    """A DeepQuant with random layers around an encoder, saved."""
    import torch

    from qbench.models.deepquant import deepquant_from
    from qbench.models.numbers import UnitList

    folder.mkdir(parents=True)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model, _ = deepquant_from(str(encoder), text_score=text_score)
        model.know(UnitList(units))
    model.save(folder)
    return folder


class WordVectors:
    """The words of a DeepQuant's texts, as other encoders of token vectors give them."""

    def __init__(self, model: str, max_length: int = 0) -> None:
        from qbench.models.deepquant_encoder import load_deepquant_encoder

        self.encoder = load_deepquant_encoder(model, max_length)
        self.cut = self.encoder.cut

    def encode(self, texts: list[str], role: str = "document") -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Lengths and vectors."""
        if role == "document":
            made = self.encoder.documents(texts, [[] for _ in texts])
            return made.lengths, made.vectors
        found = [query.vectors for query in self.encoder.queries(texts, [[] for _ in texts])]
        return np.array([len(rows) for rows in found]), np.concatenate(found)


VALUES = (2, 3, 5, 8, 20, 30, 50, 80, 200, 300, 500, 800)


def operator_benchmark() -> Benchmark:
    """A benchmark in which only the comparator and the value decide: all texts speak of the weight of lamps."""
    texts = [f"the weight of lamps is {value} kg" for value in VALUES]
    corpus = [(f"d{n:02}", text, "", f"page{n}") for n, text in enumerate(texts)]
    quantities = [
        to_row(f"d{n:02}", quantity(text, str(value), value, "kilogram", "weight"))
        for n, (text, value) in enumerate(zip(texts, VALUES, strict=True))
    ]
    queries, qrels, samples, triples = [], [], [], []
    words = (("under", "<"), ("over", ">"))
    asked = [(word, comparator, value) for value in VALUES[1:-1] for word, comparator in words]
    for number, (word, comparator, value) in enumerate(asked):
        name, split = f"q{number:02}", ("train", "train", "dev")[number // 2 % 3]
        text = f"lamps with a weight {word} {value} kg"
        wanted = replace(condition("weight", comparator, value, "kilogram"), unit_text="kg")
        queries.append(Query(name, text, "lamps", (wanted,), split, "seen"))
        met = [other < value if comparator == "<" else other > value for other in VALUES]
        qrels += [(name, f"d{n:02}", 2) for n, is_met in enumerate(met) if is_met]
        if split != "train":
            continue
        for n, is_met in enumerate(met):
            start = texts[n].index(str(VALUES[n]))
            span = (start, start + len(str(VALUES[n])))
            row = (f"{name}-{n}", name, f"d{n:02}", texts[n], int(is_met), "original", float(VALUES[n]), "kilogram")
            samples.append((*row, *span))
        good, bad = ([n for n, is_met in enumerate(met) if is_met is wanted] for wanted in (True, False))
        triples += [(name, f"{name}-{a}", f"{name}-{b}") for a in good for b in bad]
    return Benchmark(
        name="operators",
        corpus=frame("corpus", corpus),
        queries=queries,
        qrels=frame("qrels", qrels),
        samples=frame("samples", samples),
        triples=frame("triples", triples),
        quantities=frame("quantities", quantities),
        params={"quantities": "extracted"},
    )
