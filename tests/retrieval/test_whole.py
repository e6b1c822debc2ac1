"""Rankings from the scores of all documents are those from lists of what was found."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query, corpus_schema, qrels_schema
from qbench.llm.client import Access
from qbench.progress import silent
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.types import quantity_schema, to_row
from qbench.retrieval.bench import Bench
from qbench.retrieval.first_stage import FirstStage, Input
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.rankers import SumRanker
from qbench.scoring.ranking import LARGE

QUERIES = (
    "tent under 3 kg", "heavy tent with a weight over 3 kg", "bag of exactly 4 kg", "tent from 2 to 5 kg",
    "chair not of 4 kg", "tent over 2 kg and price below 9 dollars", "tent that is 3 kg heavier", "over 4 chairs",
    "heavy tent bag", "unheard under 1 kg", "",
)  # fmt: skip


def sentences() -> list[str]:
    rng = np.random.default_rng(5)
    words = ["tent", "bag", "chair", "heavy tent", "light bag"]
    forms = [
        "The {0} has a weight of {2} kg.", "A {0} of {2} kg and a {1} of {3} kg.", "A {0} costs {2} dollars.",
        "The {0} weighs less than {2} kg with the {1}.", "{2} chairs and a {1} of {3} kg.", "The {0} and the {1}.",
        "The {0} became {2} kg heavier.", "The {0} weighs {2} to {2}0 kg and costs {3} dollars.",
    ]  # fmt: skip
    return [forms[n % len(forms)].format(*rng.choice(words, 2), *rng.integers(2, 9, 2).tolist()) for n in range(120)]


@cache
def bench(folder: Path) -> Bench:
    """A corpus that is large enough for compiled loops, in which many texts are equal."""
    extractor, texts = get_extractor(ExtractorOptions()), sentences()
    mentions = [list(extractor.extract(text)) for text in texts]
    picked = np.random.default_rng(6).integers(0, len(texts), LARGE + 1000).tolist()
    corpus = [
        {"doc_id": f"{doc:05d}", "text": texts[n], "title": "", "source_id": "made"} for doc, n in enumerate(picked)
    ]
    rows = [to_row(f"{doc:05d}", mention) for doc, n in enumerate(picked) for mention in mentions[n]]
    made = Benchmark(
        "many",
        pl.DataFrame(corpus, corpus_schema()),
        [Query(f"q{n}", text) for n, text in enumerate(QUERIES)],
        pl.DataFrame(schema=qrels_schema()),
        quantities=pl.DataFrame(rows, quantity_schema()),
        params={"quantities": "extracted"},
    )
    return Bench(made, "many", folder, "auto", ExtractorOptions(), 1, silent, Access())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench(tmp_path_factory.mktemp("indexes"))


@pytest.mark.parametrize("depth", [10, 1000])
@pytest.mark.parametrize(
    "name",
    [
        "BM25_filter", "QBM25", "QBM25(terms=all)", "QBM25(scale=minmax)", "QBM25(alpha=0.5, phi=far, norm=none)",
        "BindBM25", "BindBM25(pool=3000)", "BindBM25(satisfied=0.1)", "BindBM25(own=8, pool=50)",
    ],
)  # fmt: skip
def test_it_ranks_as_from_a_list(made, name, depth):
    stage = parse_system(name).first
    ranker = made.first_stage(stage, depth).ranker
    assert isinstance(ranker, SumRanker)
    queries = made.benchmark.queries
    index = None if stage.binds else made.quantity_index.index
    binding = made.binding_index.index if stage.binds else None
    first = FirstStage(stage, ranker, index, binding, depth)
    searches = ranker.prepared([made.search(stage, query, "parsed") for query in queries])
    asked = made.asked(queries, "parsed")
    inputs = [
        Input(search, made.conditions(query, "parsed"), one)
        for search, query, one in zip(searches, queries, asked, strict=True)
    ]
    together = first.from_sums(inputs)
    assert together is not None
    for one, found in zip(inputs, together, strict=True):
        expected = first.from_list(ranker.search(one.search), one)
        np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-9)
        # Scores that differ by rounding alone may change places.
        listed = dict(zip(expected.docs.tolist(), expected.scores.tolist(), strict=True))
        last = expected.scores[-1] if expected.scores.size else 0.0
        for doc, score in zip(found.docs.tolist(), found.scores.tolist(), strict=True):
            assert listed.get(doc, last) == pytest.approx(score, rel=1e-9)
        if stage.binds or stage.filters:
            assert found.docs.tolist() == expected.docs.tolist()


def test_a_stage_whose_model_weighs_nothing_takes_the_list(made):
    stage = parse_system("BindBM25(own=0)").first
    first = FirstStage(stage, made.first_stage(stage, 10).ranker, None, made.binding_index.index, 10)
    assert first.from_sums([]) is None
