"""A made task in which numbers decide: boats and trains of some length or speed, queries for them above or below."""

from __future__ import annotations

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query
from qbench.quantities.types import to_row
from tests.factories import condition, frame, quantity

KINDS = {"boats": ("long", "metre"), "trains": ("fast", "second"), "stones": ("heavy", "kilogram")}
COMPARED = (("over", ">"), ("under", "<"), ("of", "="))
NUMBERS = tuple(range(2, 10))
NUMERIC_WORDS = [*KINDS, *(word for pair in KINDS.values() for word in pair), *(word for word, _ in COMPARED), "some"]


def numeric_benchmark(*, quantities: bool = True) -> Benchmark:
    """Every kind with every number from 2 to 9; queries over, under and of each number but the ends.

    A query's unit is the one of its kind. Its samples are documents as they stand: those that satisfy it, against
    those of its kind that do not and those of other kinds.
    """
    corpus, mentions, queries, qrels, samples, triples = [], [], [], [], [], []
    documents = [(kind, number) for kind in KINDS for number in NUMBERS]
    for place, (kind, number) in enumerate(documents):
        text = f"some {kind} {KINDS[kind][0]} {number} {KINDS[kind][1]}"
        corpus.append((f"d{place:03}", text, "", f"page{place}"))
        mentions.append(to_row(f"d{place:03}", quantity(text, str(number), number, KINDS[kind][1], kind)))
    for turn, (kind, (_, unit)) in enumerate(KINDS.items()):
        for word, comparator in COMPARED:
            for number in NUMBERS[1:-1]:
                name = f"{kind}{word}{number}"
                # Every number is asked for with every comparator in training, of some kind.
                split = ("train", "train", "dev", "train", "train", "test")[(number + 2 * turn) % 6]
                asked = condition(kind, comparator, number, unit)
                queries.append(Query(name, f"{kind} {word} {number} {unit}", kind, (asked,), split, "seen"))
                met = {">": lambda n, m=number: n > m, "<": lambda n, m=number: n < m}.get(
                    comparator, lambda n, m=number: n == m
                )
                good = [n for n, (other, x) in enumerate(documents) if other == kind and met(x)]
                near = [n for n, (other, x) in enumerate(documents) if other == kind and not met(x)]
                far = [n for n, (other, _) in enumerate(documents) if other != kind]
                qrels += [(name, f"d{n:03}", 2) for n in good]
                if split != "train":
                    continue
                bad = near + far[number : number + 2]
                for label, chosen in ((1, good), (0, bad)):
                    for n in chosen:
                        text, row = corpus[n][1], mentions[n]
                        key = (f"{name}-{n}", name, f"d{n:03}", text, label, "original")
                        samples.append((*key, row["value"], row["unit"], row["value_start"], row["value_end"]))
                triples += [(name, f"{name}-{a}", f"{name}-{b}") for a in good for b in bad]
    return Benchmark(
        name="numeric",
        corpus=frame("corpus", corpus),
        queries=queries,
        qrels=frame("qrels", qrels),
        samples=frame("samples", samples),
        triples=frame("triples", triples),
        quantities=frame("quantities", mentions) if quantities else None,
    )
