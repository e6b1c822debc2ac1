"""The explanation on a leaderboard's page: which row, which query, and figures that are those of `qbench explain`."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from qbench.leaderboard.page import write_page
from qbench.leaderboard.pictures import MOST, Bar, Picture, explained_row, picture
from qbench.leaderboard.run import run_leaderboard
from qbench.retrieval.explaining import explain
from qbench.retrieval.grammar import parse_system
from tests.encoder_factories import tiny_bert
from tests.factories import tiny_benchmark
from tests.number_factories import WORDS, operator_benchmark, random_deepquant


def data_of(page: str) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["BM25", "BM25_filter", "QBM25"], "BM25_filter"),
        (["BM25", "QBM25", "BindBM25"], "BindBM25"),
        (["BindBM25", "DeepQuant(model=x)"], "DeepQuant(model=x)"),
        (["BM25", "Run(path=x)", "BM25 + QBM25", "SBERT(model=x)", "QSBERT(model=x)", "BindBM25(encoder=x)"], None),
        ([], None),
    ],
)
def test_the_row_whose_score_says_most_is_drawn(names, chosen):
    found = explained_row((name, parse_system(name)) for name in names)
    assert (found and found[0]) == chosen


def board(folder, *systems, benchmark=None, **options):
    return run_leaderboard(
        benchmark or tiny_benchmark(), systems, output=folder, resamples=100, workers=1, evidence=True, **options
    )


@pytest.mark.parametrize("name", ["QBM25", "BM25_filter", "BindBM25"])
def test_the_page_has_the_parts_of_a_score(tmp_path, name):
    view = board(tmp_path, "BM25", name, settings=["parsed"])
    drawn = view.evidence.picture
    assert name in drawn.label
    told = data_of(view.to_html())["picture"]
    assert told["query"] == drawn.query in {query.text for query in view.evidence.queries}
    assert told["text"] == dict(tiny_benchmark().corpus.select("doc_id", "text").iter_rows())[told["doc"]]
    assert [title for title, _ in told["groups"]] == [title for title, _ in drawn.groups]
    if name == "BindBM25":
        query = next(query for query in tiny_benchmark().queries if query.text == drawn.query)
        (best,) = explain(tiny_benchmark(), parse_system(name), query.query_id, tmp_path, top=1).documents
        title, bars = drawn.groups[0]
        assert title == f"{best.score:.2f} in all"
        assert sum(bar.value for bar in bars) == pytest.approx(best.score)


def test_deepquants_picture_has_both_scores_operators_and_numbers(tmp_path):
    plain = tiny_bert(tmp_path / "plain", WORDS, positions=48)
    model = random_deepquant(plain, tmp_path / "model")
    bench = operator_benchmark()
    drawn = picture(bench, ("mine", parse_system(f"DeepQuant(model={model})")), bench.queries, tmp_path, "given")
    titles = [title for title, _ in drawn.groups]
    assert titles[1] == "operator read in the query"
    assert titles[2].startswith("relevance for ")
    (_, both), (_, operators), (_, numbers) = drawn.groups
    assert float(titles[0].split()[0]) == pytest.approx(sum(bar.value for bar in both), abs=1e-3)
    assert sum(bar.value for bar in operators) == pytest.approx(1, abs=1e-5)
    assert [bar.note[:5] for bar in numbers] == ["unit "] * len(numbers)


def test_nothing_is_drawn_without_conditions_without_a_model_or_with_other_quantities(tmp_path):
    bench, row = tiny_benchmark(), ("a", parse_system("BindBM25"))
    bare = [replace(query, conditions=()) for query in bench.queries]
    assert picture(bench, row, bare, tmp_path, "parsed") is None
    gone = ("b", parse_system(f"DeepQuant(model={tmp_path / 'gone'})"))
    assert picture(bench, gone, bench.queries, tmp_path, "parsed") is None
    view = board(tmp_path / "board", "BindBM25", document_quantities="extracted")
    assert view.evidence.picture is None
    assert data_of(view.to_html())["picture"] is None


def test_what_a_corpus_says_is_text_on_the_page(open_page, tmp_path):
    bad = "<img src=x onerror=\"document.title='owned'\">"
    view = board(tmp_path, "BindBM25")
    bars = tuple(Bar(bad, value, bad) for value in (1.0, -2.0, float("nan")) * MOST)
    evil = Picture(bad, bad, bad, bad, ((bad, bars), ("none", ())))
    page = open_page(write_page(replace(view, evidence=replace(view.evidence, picture=evil)), tmp_path / "page.html"))
    page.wait_for_selector("html[data-ready=all]")
    assert page.locator("#picture .bars th").first.inner_text() == bad
    assert "owned" not in page.title()
