"""How Chinese text is cut into terms for lexical search: characters, pairs of characters, or words of a segmenter.

    python benchmarks/chinese_search.py DUEE_FIN [-o OUT]

DUEE_FIN is the file of DuEE-fin (JSON lines with `text`, `title` and `event_list`). Three sets of queries, BM25 over
each way of cutting, nDCG@10 of each, and its difference from the one that qbench uses (paired randomisation):

- document: a title looks for its text;
- title: a title looks for the sentences of its text;
- role: "company trigger role" looks for the sentences of its text that say the quantity of that role.

The words are those of rjieba (MIT, 4.6 MB, the Rust form of jieba) where it is installed: `pip install rjieba`. Each
call writes OUT/chinese_search.json and OUT/chinese_search.md.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.evaluation.significance import LEVEL, RESAMPLES, sign_flip_test
from qbench.mining.duee_fin import QUANTITIES
from qbench.quantities.chinese.tokens import pair_up, pieces, search_terms
from qbench.quantities.languages import CHINESE, language_package
from qbench.randomness import generator
from qbench.scoring import bm25

Cut = Callable[[str], list[str]]
Queries = list[tuple[str, list[int]]]

OWN = "characters and pairs"
WHO = frozenset(
    "公司名称 被收购方 收购方 中标公司 破产公司 被投资方 上市公司 股票简称 回购方 质押方 质押物所属公司".split()
)
"""Roles of the company that a query names."""
DEPTH = 10
HAN = re.compile(r"[\u3400-\u9fff]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("duee_fin", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    lines = options.duee_fin.read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    corpora, queries = sets(documents)
    rows, scores = [], {}
    for name, cut in ways():
        row: dict[str, Any] = {"terms": name}
        for corpus, texts in corpora.items():
            index, row[corpus] = indexed(texts, cut)
            for query_set in (name for name in queries if name.split()[0] == corpus):
                scores[name, query_set], row[query_set] = measured(index, cut, queries[query_set])
        rows.append(row)
        print(json.dumps(row, ensure_ascii=False), flush=True)
    found = {"rows": rows, "differences": list(differences(scores))}
    write(options.output, found, {name: len(texts) for name, texts in corpora.items()}, queries)


def ways() -> Iterator[tuple[str, Cut]]:
    """The ways to cut, by name; numbers and Latin words are the same in all."""

    def cutting(han: Cut) -> Cut:
        def cut(text: str) -> list[str]:
            return [term for piece in pieces(text) for term in (han(piece) if HAN.match(piece) else [piece])]

        return cut

    yield OWN, search_terms
    yield "characters", cutting(list)
    yield "pairs", cutting(lambda run: list(pair_up(run)))
    try:
        import rjieba
    except ImportError:
        return
    yield "words (rjieba)", cutting(rjieba.cut)
    yield "words for search (rjieba)", cutting(rjieba.cut_for_search)


def sets(documents: Sequence[dict[str, Any]]) -> tuple[dict[str, list[str]], dict[str, Queries]]:
    """The corpora by name, and the sets of queries with the positions of what is relevant; "NAME of" its corpus."""
    splitter = language_package(CHINESE).sentence_splitter()
    sentences: list[str] = []
    own: list[list[int]] = []
    for document in documents:
        spans = splitter.spans(document["text"])
        own.append(list(range(len(sentences), len(sentences) + len(spans))))
        sentences += [document["text"][a:b] for a, b in spans]
    titled = [(number, document["title"]) for number, document in enumerate(documents) if document["title"]]
    roles: dict[str, set[int]] = {}
    for number, document in enumerate(documents):
        for query, words in asked(document):
            relevant = [at for at in own[number] if words in sentences[at]]
            if relevant:
                roles.setdefault(query, set()).update(relevant)
    return {"documents": [document["text"] for document in documents], "sentences": sentences}, {
        "documents by title": [(title, [number]) for number, title in titled],
        "sentences by title": [(title, own[number]) for number, title in titled if own[number]],
        "sentences by role": [(query, sorted(relevant)) for query, relevant in roles.items()],
    }


def asked(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Queries for the quantities of a document, and the words of each quantity."""
    for event in document.get("event_list", ()):
        who = [row["argument"] for row in event["arguments"] if row["role"] in WHO][:1]
        for row in event["arguments"]:
            if who and row["role"] in QUANTITIES:
                yield f"{who[0]} {event['trigger']} {row['role'].replace('/', ' ')}", row["argument"]


def indexed(texts: Sequence[str], cut: Cut) -> tuple[tuple[dict[str, int], bm25.Postings], dict[str, float]]:
    """BM25 over the texts, and what it costs."""
    cut(texts[0])  # dictionaries are loaded
    start = time.process_time()
    lists = [cut(text) for text in texts]
    seconds = time.process_time() - start
    vocabulary: dict[str, int] = {}
    ids = [vocabulary.setdefault(term, len(vocabulary)) for terms in lists for term in terms]
    lengths = np.array([len(terms) for terms in lists], np.int64)
    postings = bm25.build(np.array(ids, np.int32), lengths, len(vocabulary), k1=1.5, b=0.75, epsilon=0.25)
    size = sum(getattr(postings, name).nbytes for name in ("starts", "docs", "weights"))
    cost = {"million characters/s": sum(map(len, texts)) / seconds / 1e6, "MB": size / 1e6, "terms": len(vocabulary)}
    return (vocabulary, postings), cost


def measured(
    index: tuple[dict[str, int], bm25.Postings], cut: Cut, queries: Queries
) -> tuple[NDArray[np.float64], dict[str, float]]:
    """nDCG@10 of each query, and its mean with the time of a query."""
    vocabulary, postings = index
    discount = 1 / np.log2(np.arange(2, DEPTH + 2))
    scores = []
    start = time.process_time()
    for text, relevant in queries:
        docs, _ = bm25.best(postings, [vocabulary[term] for term in cut(text) if term in vocabulary], DEPTH)
        gains = np.isin(docs[:DEPTH], relevant) @ discount[: docs[:DEPTH].size]
        scores.append(gains / discount[: len(relevant)].sum())
    milliseconds = 1000 * (time.process_time() - start) / len(queries)
    return np.array(scores), {"nDCG@10": float(np.mean(scores)), "ms": milliseconds}


def differences(scores: dict[tuple[str, str], NDArray[np.float64]]) -> Iterator[dict[str, Any]]:
    """Each way's difference from ours, by set of queries."""
    for (name, query_set), values in scores.items():
        if name != OWN:
            apart = values - scores[OWN, query_set]
            rng = generator(0, "cut", f"{name}\n{query_set}")
            p = sign_flip_test(apart[None, :], RESAMPLES, rng)
            yield {"terms": name, "queries": query_set, "difference": float(apart.mean()), "p": float(p[0])}


def write(folder: Path, found: dict[str, Any], sizes: dict[str, int], queries: dict[str, Queries]) -> None:
    """Write the figures as JSON and as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    found |= {"corpora": sizes, "queries": {name: len(some) for name, some in queries.items()}}
    (folder / "chinese_search.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / "chinese_search.md").write_text("\n".join(page(found)) + "\n", "utf-8")


def page(found: dict[str, Any]) -> Iterator[str]:
    """The figures as Markdown."""
    yield "# Terms of Chinese text\n"
    yield "Made by `benchmarks/chinese_search.py`, which says how; nDCG@10 of BM25. \\*: another mean than that of"
    yield f"{OWN} (p < .05, paired randomisation).\n"
    heads = [f"{name} ({size:,})" for name, size in found["queries"].items()]
    yield f"| terms | {' | '.join(heads)} | million characters/s | MB | ms/query |"
    yield "|---|" + "---:|" * (len(heads) + 3)
    sure = {(row["terms"], row["queries"]) for row in found["differences"] if row["p"] < LEVEL}
    for row in found["rows"]:
        marks = {name: " \\*" if (row["terms"], name) in sure else "" for name in found["queries"]}
        cells = [f"{row[name]['nDCG@10']:.3f}{mark}" for name, mark in marks.items()]
        cost = row["sentences"]
        last = f"{cost['million characters/s']:.2f} | {cost['MB']:.1f} | {row['sentences by role']['ms']:.2f}"
        yield f"| {row['terms']} | {' | '.join(cells)} | {last} |"
    yield "\nSpeed of cutting, size of posting lists and time of a query are those over sentences, one thread."


if __name__ == "__main__":
    main()
