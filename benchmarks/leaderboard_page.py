"""Size of a leaderboard's page, the time to make it, and the time until a browser shows its table.

    python benchmarks/leaderboard_page.py [--systems 40] [--queries 5000] [--output results.json]

The leaderboard is made by a generator: systems of different quality find relevant documents among distractors, with
texts of sentence length, quantities, conditions, buckets and costs. The browser is a headless Chromium, `chromium` on
the PATH or what QBENCH_CHROMIUM names.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from qbench.benchmark.types import Query
from qbench.evaluation.buckets import query_buckets
from qbench.evaluation.significance import SignificanceTests
from qbench.leaderboard.evidence import Collection, Evidence, heads
from qbench.leaderboard.standings import Entry
from qbench.leaderboard.table import Leaderboard, make_leaderboard
from qbench.quantities.types import COMPARATORS, Condition, Quantity, quantity_schema, to_row
from qbench.retrieval.types import Cost

MEASURES = ("nDCG@10", "P@10", "RR@10", "R@100", "AP")
WORDS = [
    a + b for a in "ba ce di fo gu ha ki lo mu ne po ra si to vu".split() for b in "lan mer tis ron dal pex".split()
]


def made_leaderboard(systems: int, queries: int, resamples: int) -> Leaderboard:
    """A leaderboard with all that its page can show."""
    rng = np.random.default_rng(5)
    corpus, quantities = _corpus(rng, 20 * queries)
    asked = [_query(i, rng) for i in range(queries)]
    ids = [query.query_id for query in asked]
    hard = rng.beta(1.2, 1.5, queries)
    entries, runs = [], {}
    for s in range(systems):
        label = f"System {s:02d} (alpha={s / 10})"
        base = np.clip(hard * (0.5 + s / systems) + rng.normal(0, 0.15, queries), 0, 1)
        frames = [
            pl.DataFrame({"query_id": ids, "measure": m, "value": np.clip(base + rng.normal(0, 0.05, queries), 0, 1)})
            for m in MEASURES
        ]
        cost = Cost(
            float(rng.lognormal(2)), int(rng.lognormal(18)), float(rng.lognormal(1)), float(rng.lognormal(3)), 10**9
        )
        entries.append(Entry(label, label, "none", pl.concat(frames), cost, digest=f"{s:016x}"))
        near = (np.arange(queries)[:, None] * 20 + rng.integers(0, 28, (queries, 10))) % corpus.height
        runs[label] = _run(ids, near)
    qrels = pl.DataFrame(
        {
            "query_id": [query_id for query_id in ids for _ in range(4)],
            "doc_id": [f"d{i * 20 + k}" for i in range(queries) for k in range(4)],
            "grade": [2, 1, 1, 0] * queries,
        },
        schema_overrides={"grade": pl.Int16},
    )
    buckets = query_buckets(asked, lambda unit: {"kilogram": "mass", "dollar": "currency"}.get(unit, "count"))
    return make_leaderboard(
        "made",
        entries,
        MEASURES,
        buckets=buckets,
        about={"benchmark": {"name": "made", "split": "test", "queries": queries, "documents": corpus.height}},
        evidence=Evidence(tuple(asked), buckets, (Collection(heads(runs), qrels, corpus, lambda: quantities),)),
        tests=SignificanceTests(resamples=resamples),
    )


def _corpus(rng: np.random.Generator, size: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    texts, rows = [], []
    for i in range(size):
        words = [WORDS[k] for k in rng.integers(0, len(WORDS), 18)]
        value = int(rng.integers(1, 10_000))
        head, tail = " ".join(words[:9]), " ".join(words[9:])
        texts.append(f"{head} {value} kg {tail}.")
        start = len(head) + 1
        end = start + len(str(value))
        spans = {"value_span": (start, end), "unit_span": (end + 1, end + 3)}
        rows.append(to_row(f"d{i}", Quantity(value, value, "=", "kilogram", "mass", "kilogram", value, value, **spans)))
    names = [f"d{i}" for i in range(size)]
    corpus = pl.DataFrame({"doc_id": names, "text": texts, "title": [""] * size, "source_id": names})
    return corpus, pl.DataFrame(rows, schema=quantity_schema())


def _query(i: int, rng: np.random.Generator) -> Query:
    value = float(rng.integers(1, 10_000))
    comparator = COMPARATORS[int(rng.integers(0, len(COMPARATORS)))]
    unit = ("kilogram", "dollar", "employee")[int(rng.integers(0, 3))]
    high = value * 2 if comparator == "between" else value
    condition = Condition(comparator, value, high, unit, unit, value, high, (WORDS[i % len(WORDS)],))
    kind = ("seen", "unseen")[i % 2]
    return Query(f"q{i:05d}", f"{WORDS[i % len(WORDS)]} {comparator} {value:g} {unit}", "", (condition,), "test", kind)  # type: ignore[arg-type]


def _run(ids: list[str], near: np.ndarray) -> pl.DataFrame:
    rows = []
    for query_id, docs in zip(ids, near.tolist(), strict=True):
        rows += [(query_id, f"d{doc}", rank) for rank, doc in enumerate(dict.fromkeys(docs), start=1)]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "rank"], orient="row")


WATCH = """new MutationObserver(() => {
  const state = document.documentElement && document.documentElement.dataset.ready;
  if (state) (window.seen ??= {})[state] ??= performance.now();
}).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-ready"] });"""


def opened(path: Path) -> dict[str, float] | None:
    """Seconds from the start of loading: until the table is drawn, until it is painted, until queries are listed.

    Each is the median of five pages; None without a browser.
    """
    browser = os.environ.get("QBENCH_CHROMIUM") or shutil.which("chromium")
    if browser is None:
        print("no chromium: the page was not opened", file=sys.stderr)
        return None
    from playwright.sync_api import sync_playwright

    times: list[tuple[float, float, float]] = []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for _ in range(5):
            page = running.new_page()
            page.add_init_script(WATCH)
            page.goto(path.absolute().as_uri(), wait_until="commit")
            page.wait_for_selector(".queries tbody tr")
            table, listed = page.evaluate("[seen.table, performance.now()]")
            paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            times.append((table, paint, listed))
            page.close()
        running.close()
    names = ("table_drawn", "table_painted", "queries_listed")
    return {name: float(np.median(values)) / 1000 for name, values in zip(names, zip(*times, strict=True), strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=40)
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--resamples", type=int, default=20_000)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--page", type=Path, help="keep the page here")
    given = parser.parse_args()
    leaderboard = made_leaderboard(given.systems, given.queries, given.resamples)
    start = time.perf_counter()
    page = leaderboard.to_html()
    seconds = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        path = given.page or Path(folder) / "page.html"
        path.write_text(page, encoding="utf-8")
        shown = opened(path)
        size = path.stat().st_size
    result = {
        "systems": given.systems,
        "queries": given.queries,
        "bytes": size,
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, load average {os.getloadavg()[0]:.1f}",
        "seconds_to_make": round(seconds, 2),
        "seconds_to_open": None if shown is None else {name: round(value, 2) for name, value in shown.items()},
        "same_bytes_again": page == leaderboard.to_html(),
    }
    print(json.dumps(result, indent=2))
    if given.output is not None:
        given.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
