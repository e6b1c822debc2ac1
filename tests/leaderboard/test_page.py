"""The page as a file: what is in it, that it is the same twice, and that it takes whatever a leaderboard can hold."""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.benchmark.types import Query
from qbench.errors import OptionError
from qbench.evaluation.significance import SignificanceTests
from qbench.evaluation.wins import win_counts
from qbench.leaderboard import page as pages
from qbench.leaderboard.evidence import HEAD, Collection, Evidence, heads
from qbench.leaderboard.page import check_page, page_data, write_page
from qbench.leaderboard.page_evidence import BUDGET, _visible_spans, condition_text, document_block
from qbench.leaderboard.run import run_leaderboard
from qbench.leaderboard.standings import Entry
from qbench.leaderboard.table import make_leaderboard
from qbench.retrieval.types import Cost
from tests.factories import condition, tiny_benchmark
from tests.leaderboard.test_table import MEASURES, entry, full_leaderboard, leaderboard, scored


def data_of(page: str) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def block_of(page: str, name: str) -> bytes:
    return zlib.decompress(base64.b64decode(re.search(rf'id="block-{name}">(.*?)</script>', page)[1]))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    return run_leaderboard(
        tiny_benchmark(),
        ["BM25", "QBM25", "Run(path=nope.run)"],
        output=folder,
        resamples=100,
        workers=1,
        evidence=True,
    )


def test_the_page_has_the_figures_of_the_leaderboard():
    view = full_leaderboard()
    data = data_of(view.to_html())
    assert data["measures"] == list(view.measures)
    for row, told in zip(view.rows, data["rows"], strict=True):
        assert told["number"] == str(row.number)
        assert (told["ranks"] is None) == (row.ranks is None)
        if row.cells:
            assert tuple(told["ranks"][0]) == row.ranks
            means = [row.cells[measure].mean for measure in view.measures]
            assert [cell[0] for cell in told["cells"]] == pytest.approx(means, rel=1e-5)
        else:
            assert told["cells"] is None
            assert "disk | full" in told["problem"]
    pairs = view.pairs.filter(measure=view.primary)
    assert data["pairs"]["measures"][0]["p_holm"] == pytest.approx(pairs["p_holm"].to_list(), rel=1e-5)
    first = [
        (view.rows[a].entry.label, view.rows[b].entry.label)
        for a, b in zip(data["pairs"]["a"], data["pairs"]["b"], strict=True)
    ]
    assert first == pairs.select("a", "b").rows()
    comparator = next(one for one in data["buckets"] if one["dimension"] == "comparator")
    assert comparator["names"] == ["=", "<", ">"]
    assert sum(comparator["sizes"]) == 60
    assert all(mean is None for bucket in comparator["means"][0] for mean in bucket[-1:])


def test_every_score_is_in_the_page_to_four_decimals():
    view = full_leaderboard()
    page = view.to_html()
    data, packed = data_of(page)["queries"], block_of(page, "scores")
    ids = json.loads(block_of(page, "queries"))["ids"]
    ran = [row.entry.label for row in view.rows if row.cells]
    for m, layout in enumerate(data["layout"]):
        values = np.frombuffer(packed, "<u2", len(ran) * len(ids), layout["start"]).reshape(len(ran), -1) / 10_000
        for label, row in zip(ran, values, strict=True):
            part = view.scores.filter(label=label, measure=view.measures[m]).sort("query_id")
            assert part["query_id"].to_list() == ids
            assert np.abs(part["value"].to_numpy() - row).max() <= 0.5e-4 + 1e-12
    wins = np.array(data["wins"])
    shares = {(a, b): share for a, b, share, _ in view.wins.iter_rows()}
    for (a, b), share in shares.items():
        m = view.measures.index(view.win_measure)
        assert wins[m, ran.index(a), ran.index(b)] / len(ids) == pytest.approx(share)


def test_measures_beyond_one_keep_their_values():
    frame = pl.DataFrame({"query_id": ["a", "b", "c"], "measure": "NumRet", "value": [0.0, 1234.5, -2.0]})
    view = make_leaderboard(
        "x", [Entry("one", "one", "none", frame)], ["NumRet"], tests=SignificanceTests(resamples=100)
    )
    page = view.to_html()
    assert data_of(page)["queries"]["layout"] == [{"type": "f4", "start": 0}]
    assert np.frombuffer(block_of(page, "scores"), "<f4").tolist() == [0.0, 1234.5, -2.0]


def test_the_same_leaderboard_gives_the_same_bytes_without_a_path(tiny, tmp_path):
    again = run_leaderboard(
        tiny_benchmark(),
        ["BM25", "QBM25", "Run(path=nope.run)"],
        output=tmp_path / "o",
        resamples=100,
        workers=1,
        evidence=True,
    )
    # Costs are measured, so they differ from run to run; everything else is the same.
    one, other = (
        replace(view, rows=tuple(replace(row, entry=replace(row.entry, cost=None)) for row in view.rows)).to_html()
        for view in (tiny, again)
    )
    assert one == other
    assert str(tmp_path) not in one
    assert tiny.to_html() == tiny.to_html()


def test_what_was_retrieved_is_there_with_judgments_and_quantities(tiny):
    page = tiny.to_html()
    queries, block = json.loads(block_of(page, "queries")), json.loads(block_of(page, "documents"))
    bench = tiny_benchmark()
    asked = {query.query_id: query for query in bench.queries}
    grades = {(q, d): g for q, d, g in bench.qrels.iter_rows()}
    texts = dict(bench.corpus.select("doc_id", "text").iter_rows())
    assert data_of(page)["queries"]["documents"]["queries"] == len(block["shown"]) == 4
    marked = 0
    for number, docs, told, places, met, relevant in block["shown"]:
        query_id = queries["ids"][number]
        assert queries["texts"][number] == asked[query_id].text
        names = [block["docs"][doc][0] for doc in docs]
        assert told == [grades.get((query_id, name)) for name in names]
        assert relevant == sum(grade > 0 for (q, _), grade in grades.items() if q == query_id)
        run = tiny.evidence.collections[0].runs
        for row, places_of in zip([row for row in tiny.rows if row.cells], places, strict=True):
            part = run.filter(label=row.entry.label, query_id=query_id).sort("rank")["doc_id"].to_list()
            assert [names[place] for place in places_of] == part[:HEAD]
        for doc, spans in zip(docs, met, strict=True):
            name, _, text, cut, flat = block["docs"][doc]
            assert text == texts[name]
            assert cut == 0
            for span in spans:
                marked += 1
                assert re.search(r"\d", text[flat[2 * span] : flat[2 * span + 1]])
    assert marked


def test_a_query_over_two_kilograms_marks_what_is_over_two_kilograms(tiny):
    page = tiny.to_html()
    queries, block = json.loads(block_of(page, "queries")), json.loads(block_of(page, "documents"))
    number, docs, _, _, met, _ = next(
        one for one in block["shown"] if queries["texts"][one[0]] == "laptop weight over 2 kg"
    )
    assert queries["conditions"][number] == "laptop weight > 2 kilogram"
    found = [
        block["docs"][doc][2][slice(*block["docs"][doc][4][2 * s : 2 * s + 2])]
        for doc, spans in zip(docs, met, strict=True)
        for s in spans
    ]
    assert found
    assert all(float(re.match(r"[\d.]+", text)[0]) > 2 for text in found)


def test_nothing_from_outside_is_markup():
    bad = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    frame = scored(0.5, queries=3)
    queries = tuple(Query(f"q{i}", bad) for i in range(3))
    corpus = pl.DataFrame({"doc_id": [bad], "text": [bad], "title": [bad], "source_id": ["s"]})
    run = pl.DataFrame({"query_id": ["q0"], "doc_id": [bad], "rank": [1]})
    qrels = pl.DataFrame({"query_id": ["q0"], "doc_id": [bad], "grade": [1]})
    view = make_leaderboard(
        bad,
        [Entry(bad, bad, "none", frame, meta={bad: bad}), Entry("lost", "lost", "none", problem=bad)],
        MEASURES,
        about={"command": bad, bad: {bad: bad}},
        notes=[bad],
        evidence=Evidence(queries, None, (Collection(heads({bad: run}), qrels, corpus),)),
        tests=SignificanceTests(resamples=100),
    )
    page = view.to_html()
    assert "alert(1)" in page
    plain = full_leaderboard().to_html()
    count = plain.count("<script") + 1  # documents are one block more
    assert page.count("<script") == count
    assert "<img" not in page


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_costs_that_are_no_numbers_are_missing(value):
    cost = Cost(index_seconds=value, index_bytes=5, ms_median=value, ms_p95=1.0)
    view = leaderboard(entry("a", 0.5, cost=cost), entry("b", 0.4))
    data = page_data(view)
    told = next(row for row in data["rows"] if row["label"] == "a")["cost"]
    assert told["ms_median"] is None
    assert told["index_bytes"] == 5
    assert "NaN" not in view.to_html()


def test_one_row_none_with_a_run_and_unknown_runs():
    assert data_of(leaderboard(entry("only", 0.5)).to_html())["pairs"]["a"] == []
    lost = leaderboard(entry("a", None), entry("b", None))
    assert data_of(lost.to_html())["queries"] is None
    assert [row["problem"] for row in page_data(lost)["rows"]] == ["out of memory"] * 2


def test_huge_names_and_reasons_are_cut():
    view = make_leaderboard(
        "n" * 10**6,
        [Entry("x" * 10**6, "x", "none", scored(0.5)), Entry("y", "y", "none", problem="z" * 10**6)],
        MEASURES,
        notes=["w" * 10**6],
        tests=SignificanceTests(resamples=100),
    )
    page = view.to_html()
    assert len(page) < 300_000
    assert "more characters" in page


def evidence_of(queries: int, words: int) -> Evidence:
    """Random texts, so that nothing compresses."""
    rng = np.random.default_rng(1)
    text = [" ".join(map(str, rng.integers(0, 10**9, words))) for _ in range(queries)]
    corpus = pl.DataFrame({"doc_id": [f"d{i}" for i in range(queries)], "text": text, "title": "", "source_id": "s"})
    run = pl.DataFrame({"query_id": [f"q{i}" for i in range(queries)], "doc_id": corpus["doc_id"], "rank": 1})
    qrels = pl.DataFrame({"query_id": run["query_id"], "doc_id": run["doc_id"], "grade": 1})
    asked = tuple(Query(f"q{i}", f"query {i}") for i in range(queries))
    return Evidence(asked, None, (Collection(heads({"a": run, "b": run}), qrels, corpus),))


@pytest.mark.parametrize("queries", [60, 900])
def test_documents_are_left_out_until_they_fit_and_the_page_says_so(queries):
    frames = [scored(level, queries=queries, seed=n) for n, level in enumerate((0.5, 0.4))]
    entries = [Entry(name, name, "none", frame) for name, frame in zip("ab", frames, strict=True)]
    view = make_leaderboard(
        "x", entries, MEASURES, evidence=evidence_of(queries, 20), tests=SignificanceTests(resamples=100)
    )
    ids = sorted(f"q{i}" for i in range(queries))
    primary = np.array([frame.filter(measure=MEASURES[0]).sort("query_id")["value"] for frame in frames])
    content, said = document_block(view, ids, primary, budget=4_000)
    shown = json.loads(content)["shown"]
    assert 1 <= len(shown) < queries
    assert said["documents"]["queries"] == len(shown)
    assert len(zlib.compress(content, 6)) <= 4_000
    # The one on which the systems differ most is there.
    assert int(np.abs(primary[0] - primary[1]).argmax()) in [one[0] for one in shown]
    everything, said = document_block(view, ids, primary, BUDGET)
    assert said["documents"]["queries"] == len(json.loads(everything)["shown"]) == queries


def test_scores_of_single_queries_are_left_out_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr(pages, "CELLS", 100)
    view = leaderboard(entry("a", 0.5), entry("b", 0.4, seed=1))
    page = view.to_html()
    data = data_of(page)["queries"]
    assert (data["all"], data["here"], len(data["layout"])) == (60, 50, 1)
    values = view.scores.filter(measure=view.primary).pivot("label", index="query_id", values="value").sort("query_id")
    gaps = (values["a"] - values["b"]).abs()
    kept = set(json.loads(block_of(page, "queries"))["ids"])
    left = values.filter(~pl.col("query_id").is_in(list(kept)))
    assert (left["a"] - left["b"]).abs().max() <= gaps.sort()[10]


def test_documents_make_room_for_the_scores(monkeypatch):
    queries = 60
    entries = [Entry(name, name, "none", scored(0.5, queries=queries, seed=n)) for n, name in enumerate("ab")]
    view = make_leaderboard(
        "x", entries, MEASURES, evidence=evidence_of(queries, 20), tests=SignificanceTests(resamples=100)
    )
    whole = data_of(view.to_html())["queries"]["documents"]["queries"]
    monkeypatch.setattr(pages, "PACKED", 4_000)
    page = view.to_html()
    assert data_of(page)["queries"]["documents"]["queries"] < whole == queries
    sizes = [len(found) * 3 / 4 for found in re.findall(r'id="block-\w+">(.*?)</script>', page)]
    assert sum(sizes) < 4_100


def test_two_collections_keep_their_documents_apart():
    frame = scored(0.5, queries=1)
    asked = (Query("q0", "what"),)
    parts = []
    for label, text in (("C_s-x", "a sentence"), ("C_q-x", "a description")):
        run = pl.DataFrame({"query_id": ["q0"], "doc_id": ["1"], "rank": [1]})
        corpus = pl.DataFrame({"doc_id": ["1"], "text": [text], "title": [""], "source_id": ["1"]})
        qrels = pl.DataFrame({"query_id": ["q0"], "doc_id": ["1"], "grade": [1 if label == "C_s-x" else 0]})
        parts.append(Collection(heads({label: run}), qrels, corpus))
    entries = [Entry(label, label, "none", frame) for label in ("C_s-x", "C_q-x")]
    view = make_leaderboard(
        "x", entries, MEASURES, evidence=Evidence(asked, None, tuple(parts)), tests=SignificanceTests(resamples=100)
    )
    block = json.loads(block_of(view.to_html(), "documents"))
    _, docs, grades, places, _, relevant = block["shown"][0]
    by_label = {row.entry.label: block["docs"][docs[places[i][0]]][2] for i, row in enumerate(view.rows)}
    assert by_label == {"C_s-x": "a sentence", "C_q-x": "a description"}
    assert sorted(grades) == [0, 1]
    assert relevant == 1


@settings(max_examples=60)
@given(st.text(max_size=40), st.lists(st.tuples(st.integers(-2, 45), st.integers(-2, 45)), max_size=8))
def test_visible_spans_neither_overlap_nor_leave_the_text(text, spans):
    flat, places = _visible_spans(spans, text)
    units = len(text.encode("utf-16-le", "replace")) // 2
    assert flat == sorted(flat)
    assert all(0 <= one <= units for one in flat)
    assert all(flat[2 * i] < flat[2 * i + 1] for i in range(len(flat) // 2))
    assert all(0 <= place < len(flat) // 2 for place in places.values())


def test_spans_count_as_javascript_does():
    text = "\U0001f600 5 kg"
    flat, _ = _visible_spans([(2, 6)], text)
    assert flat == [3, 7]


def test_conditions_are_written_out():
    query = Query(
        "q", "t", conditions=(condition("net income", ">", 1.39e8, "dollar"), condition("", "between", 2, "", 3))
    )
    assert condition_text(query) == "net income > 139,000,000 dollar; between 2 and 3"


def test_wins_are_counted_as_in_the_matrix():
    values = np.array([[[1.0, 0.5, 0.5]], [[0.0, 0.5, 0.5 + 1e-12]]])
    assert win_counts(values).tolist() == [[[0, 1], [0, 0]]]


def test_what_is_no_page_is_not_written_over(tmp_path):
    with pytest.raises(OptionError, match="folder"):
        check_page(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(OptionError, match="file"):
        check_page(tmp_path / "file" / "page.html")
    with pytest.raises(OptionError, match="not an HTML page"):
        check_page(tmp_path / "file")
    path = write_page(leaderboard(entry("a", 0.5)), tmp_path / "new" / "page.html")
    assert check_page(path) == path
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_scripts_use_no_way_to_make_markup_of_text():
    for name in pages.SCRIPTS:
        script = (pages.FILES / f"{name}.js").read_text(encoding="utf-8")
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "fetch(",
            "http://",
            "https://",
        ):
            # The namespace of SVG is a name, not an address.
            assert word not in script.replace("http://www.w3.org/2000/svg", ""), (name, word)
    assert {path.stem for path in pages.FILES.glob("*.js")} == set(pages.SCRIPTS)


COLOUR_BLINDNESS = {
    # Matrices of Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
    "none": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
}


@pytest.mark.parametrize("kind", COLOUR_BLINDNESS)
@pytest.mark.parametrize("mode", [0, 1])
def test_colours_of_systems_are_told_apart(mode, kind):
    style = re.findall(r":root \{(.*?)\}", (pages.FILES / "page.css").read_text(encoding="utf-8"), re.DOTALL)[mode]
    colours = re.findall(r"--(back|c\d): #(\w{6})", style)
    assert len(colours) == 9
    values = np.array([[int(code[i : i + 2], 16) / 255 for i in (0, 2, 4)] for _, code in colours])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    light = linear @ [0.2126, 0.7152, 0.0722] + 0.05
    # Marks are at least as clear on the ground as WCAG asks of graphics.
    assert (np.maximum(light[1:], light[0]) / np.minimum(light[1:], light[0])).min() >= 3
    seen = np.clip(linear[1:] @ np.array(COLOUR_BLINDNESS[kind]).T, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = seen @ np.array(to_xyz).T / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    lab = np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)[np.triu_indices(8, 1)]
    assert apart.min() > 20
