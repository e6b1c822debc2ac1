"""Tiny encoders for tests: two layers, 32 wide, a vocabulary of a few words; and folders of pairs to train them on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query
from qbench.mining.types import DESCRIPTIONS, PAIRS, PAIRS_KIND, description_schema, pair_schema
from qbench.quantities.types import to_row
from qbench.store import digest, drafting
from tests.factories import condition, frame, quantity

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tiny_bert(folder: Path, words: Iterable[str], *, seed: int = 0, positions: int = 32, head: bool = False) -> Path:
    """A plain BERT with random weights, its tokenizer knowing these words and single letters.

    With `head` it is a masked language model; its weights are larger then, so that some words stand out.
    """
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertModel, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)] + list("0123456789")
    vocabulary = list(dict.fromkeys([*SPECIAL, *sorted(set(words)), *letters, *(f"##{x}" for x in letters)]))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=positions)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=positions,
        initializer_range=0.2 if head else 0.02,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertForMaskedLM(config) if head else BertModel(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def descriptions_frame(rows: Iterable[tuple[str, str, str]]) -> pl.DataFrame:
    """(description_id, description, source_id) as the table of descriptions, everything else neutral."""
    schema = description_schema()
    neutral = {
        "sentence": "",
        "segments": [],
        "comparator": "=",
        "change": "",
        "unit": "",
        "family": "",
        "base_unit": "",
        "digits": 3,
    }
    spans = {name: -1 for name in schema if name.endswith(("_start", "_end"))}
    numbers = {name: 1.0 for name, kind in schema.items() if kind == pl.Float64}
    made = [
        {
            **neutral,
            **spans,
            **numbers,
            "description_id": name,
            "description": text,
            "doc_id": name.partition("#")[0],
            "source_id": source,
        }
        for name, text, source in rows
    ]
    return pl.DataFrame(made, schema=schema)


def pairs_frame(rows: Iterable[tuple[str, str, str, str]]) -> pl.DataFrame:
    """(query_id, doc_id, label, split) as the table of pairs."""
    made = [
        {"query_id": q, "doc_id": d, "label": label, "split": split, "rank": 1, "score": 1.0, "digits": 3, "shared": 1}
        for q, d, label, split in rows
    ]
    return pl.DataFrame(made, schema=pair_schema())


def write_pairs(
    folder: Path, descriptions: Iterable[tuple[str, str, str]], pairs: Iterable[tuple[str, str, str, str]]
) -> Path:
    """A folder of pairs as `qbench mine-paraphrases` makes it."""
    tables = {DESCRIPTIONS: descriptions_frame(descriptions), PAIRS: pairs_frame(pairs)}
    key = digest([str(table.rows()) for table in tables.values()])
    with drafting(folder, PAIRS_KIND, key, {}) as draft:
        for name, table in tables.items():
            table.write_parquet(draft.folder / name)
    return folder


THINGS = ("revenue", "profit", "staff", "debt", "tax", "stock")
YEARS = ("2018", "2019", "2020", "2021")
FILLERS = ("total", "group", "annual", "reported")
WORDS = (*THINGS, *YEARS, *FILLERS, "in", "of", "the")


def regular_pairs(documents: int = 24) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str, str]]]:
    """Pairs with a rule to learn: the fact is the thing; year and filler, which are most of the words, mean nothing.

    Each document describes every thing once; a query's paraphrases are its thing in the next two documents, and its
    confusing pairs other things that share the year and the filler. Every fourth document is of the test split.
    """
    descriptions, pairs = [], []
    for number in range(documents):
        for place, thing in enumerate(THINGS):
            words = FILLERS[(number + place) % 4], YEARS[(number // 2 + place) % 4]
            text = f"the {words[0]} {thing} of {words[1]}" if number % 2 else f"in {words[1]} {words[0]} {thing}"
            descriptions.append((f"d{number}s{place}#0", text, f"d{number}"))
    for number in range(documents):
        part = "test" if number % 4 == 3 else "train"
        for place in range(len(THINGS)):
            query = f"d{number}s{place}#0"
            for step in (1, 2):
                pairs.append((query, f"d{(number + step) % documents}s{place}#0", "paraphrase", part))
            for step in (1, 2, 3):
                other = (place + step) % len(THINGS)
                pairs.append((query, f"d{(number + step) % documents}s{other}#0", "confusing", part))
    return descriptions, pairs


def regular_benchmark(documents: int = 96) -> Benchmark:
    """A benchmark with a rule to learn from its triples: the thing decides; the year, which queries share, does not.

    Queries are conditions on a thing's amount; each sentence states one thing's amount. Every third query is of the
    development split, and every third of the test split.
    """
    corpus, mentions, queries, qrels, samples, triples = [], [], [], [], [], []
    amounts = [(number % len(THINGS), number % 4, 5 + number) for number in range(documents)]
    for number, (thing, year, amount) in enumerate(amounts):
        text = f"in {YEARS[year]} {FILLERS[number % 4]} {THINGS[thing]} {amount}"
        corpus.append((f"d{number:03}", text, "", f"page{number}"))
        stated = quantity(text, str(amount), amount, concept=THINGS[thing])
        span = (len(text) - len(str(amount)), len(text))  # the year may have these digits, too
        mentions.append(to_row(f"d{number:03}", replace(stated, value_span=span)))
    for place, thing in enumerate(THINGS):
        for turn, split in enumerate(("train", "train", "dev", "test")):
            name = f"q{place}{turn}"
            asked = condition(thing, ">", 4 + turn)
            queries.append(Query(name, f"{thing} of {YEARS[turn]} over {4 + turn}", thing, (asked,), split, "seen"))
            good = [n for n, (other, _, amount) in enumerate(amounts) if other == place and amount > 4 + turn]
            bad = [n for n, (other, _, _) in enumerate(amounts) if other != place]
            qrels += [(name, f"d{n:03}", 2) for n in good]
            if split != "train":
                continue
            for label, chosen in ((1, good[:8]), (0, bad[turn : turn + 8])):
                for n in chosen:
                    text, amount = corpus[n][1], amounts[n][2]
                    row = (f"{name}-{n}", name, f"d{n:03}", text, label, "original", float(amount), "")
                    samples.append((*row, len(text) - len(str(amount)), len(text)))
            triples += [(name, f"{name}-{a}", f"{name}-{b}") for a in good[:8] for b in bad[turn : turn + 3]]
    return Benchmark(
        name="regular",
        corpus=frame("corpus", corpus),
        queries=queries,
        qrels=frame("qrels", qrels),
        samples=frame("samples", samples),
        triples=frame("triples", triples),
        quantities=frame("quantities", mentions),
    )
