"""Measures agree with plain implementations of their definitions, and names are values that parse back."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.evaluation import measures
from qbench.evaluation.measures import DEFAULT_MEASURES, parse_measures, relevant_queries, score_run


def frames(runs: dict[str, list[str]], qrels: dict[str, dict[str, int]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Runs with one constant score, so that only the ranks say the order."""
    run = [(q, d, rank, 1.0) for q, docs in runs.items() for rank, d in enumerate(docs, start=1)]
    judged = [(q, d, grade) for q, docs in qrels.items() for d, grade in docs.items()]
    return (
        pl.DataFrame(
            run,
            schema={"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int32, "score": pl.Float64},
            orient="row",
        ),
        pl.DataFrame(judged, schema={"query_id": pl.String, "doc_id": pl.String, "grade": pl.Int16}, orient="row"),
    )


def scores(runs, qrels, names) -> dict[tuple[str, str], float]:
    run, judged = frames(runs, qrels)
    table = score_run(run, judged, names, relevant_queries(judged))
    return {(q, m): v for q, m, v in table.iter_rows()}


def plain(measure: str, ranking: list[str], grades: dict[str, int]) -> float:
    """The textbook definitions, one query at a time."""
    hits = [grades.get(doc, 0) >= 1 for doc in ranking]
    relevant = sum(grade >= 1 for grade in grades.values())
    if measure == "P@10":
        return sum(hits[:10]) / 10
    if measure == "R@100":
        return sum(hits[:100]) / relevant
    if measure == "RR@10":
        return next((1 / rank for rank, hit in enumerate(hits[:10], start=1) if hit), 0.0)
    if measure == "AP":
        return sum(sum(hits[:rank]) / rank for rank, hit in enumerate(hits, start=1) if hit) / relevant

    def gain(found: list[int]) -> float:
        return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(found[:10], start=1))

    return gain([grades.get(doc, 0) for doc in ranking]) / gain(sorted(grades.values(), reverse=True))


def test_a_ranking_scored_by_hand():
    # Relevant: b (very concept) and d (more specific); a judged and not relevant; c not judged.
    found = scores({"q": ["a", "b", "c", "d"]}, {"q": {"a": 0, "b": 2, "d": 1, "z": 1}}, DEFAULT_MEASURES)
    assert found["q", "P@10"] == pytest.approx(0.2)
    assert found["q", "RR@10"] == pytest.approx(0.5)
    assert found["q", "R@100"] == pytest.approx(2 / 3)
    assert found["q", "AP"] == pytest.approx((1 / 2 + 2 / 4) / 3)
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert found["q", "nDCG@10"] == pytest.approx((2 / math.log2(3) + 1 / math.log2(5)) / ideal)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_agrees_with_the_definitions(data):
    docs = [f"d{i}" for i in range(25)]
    queries = data.draw(st.lists(st.sampled_from("uvwxyz"), min_size=1, max_size=4, unique=True))
    runs = {q: data.draw(st.lists(st.sampled_from(docs), max_size=25, unique=True)) for q in queries}
    qrels = {
        q: {
            **data.draw(st.dictionaries(st.sampled_from(docs), st.integers(0, 2), max_size=12)),
            data.draw(st.sampled_from(docs)): data.draw(st.integers(1, 2)),
        }
        for q in queries
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measures, "BLOCK", data.draw(st.integers(1, 30)))
        found = scores(runs, qrels, DEFAULT_MEASURES)
    expected = {(q, m): plain(m, runs[q], qrels[q]) for q in queries for m in DEFAULT_MEASURES}
    assert found == pytest.approx(expected, abs=1e-9)


def test_equal_scores_do_not_let_measures_disagree():
    """With tied scores ir-measures alone gives P@1 = 0 and RR@10 = 1 for one and the same run."""
    for ranking in (["x", "y"], ["y", "x"]):
        found = scores({"q": ranking}, {"q": {"y": 1}}, ["P@1", "RR@10", "Success@1", "nDCG@1"])
        assert set(found.values()) == ({1.0} if ranking[0] == "y" else {0.0, 0.5})
        assert found["q", "P@1"] == found["q", "Success@1"] == found["q", "nDCG@1"]


def test_order_is_that_of_rank_not_of_rows():
    run, judged = frames({"q": ["a", "b", "c"]}, {"q": {"c": 1}})
    shuffled = run.sort("doc_id", descending=True)
    assert score_run(shuffled, judged, ["RR@10"], ["q"])["value"].to_list() == pytest.approx([1 / 3])


def test_judgments_may_stand_in_any_order(monkeypatch):
    monkeypatch.setattr(measures, "BLOCK", 2)
    run, judged = frames({"q": ["a", "b"], "r": ["b", "c"]}, {"q": {"a": 1, "b": 2, "c": 1}, "r": {"b": 2, "c": 1}})
    mixed = judged.sort("doc_id")
    assert mixed["query_id"].to_list() == ["q", "q", "r", "q", "r"]
    expected = score_run(run, judged, DEFAULT_MEASURES, ["q", "r"])
    assert score_run(run, mixed, DEFAULT_MEASURES, ["q", "r"]).equals(expected)


def test_a_query_without_results_scores_zero_and_a_foreign_one_is_ignored():
    found = scores({"there": ["a"], "foreign": ["a"]}, {"there": {"a": 1}, "absent": {"a": 1}}, ["AP", "P@1"])
    assert found == {("there", "AP"): 1.0, ("there", "P@1"): 1.0, ("absent", "AP"): 0.0, ("absent", "P@1"): 0.0}


def test_an_empty_run_scores_zero_everywhere():
    found = scores({}, {"a": {"x": 1}, "b": {"y": 2}}, [*DEFAULT_MEASURES, "ERR@10"])
    assert len(found) == 12
    assert set(found.values()) == {0.0}


def test_rows_are_ordered_by_query_then_measure():
    run, judged = frames({"b": ["x"], "a": ["x"]}, {"b": {"x": 1}, "a": {"x": 1}})
    table = score_run(run, judged, ["RR@10", "AP"], ["b", "a", "b"])
    assert table.select("query_id", "measure").rows() == [("a", "RR@10"), ("a", "AP"), ("b", "RR@10"), ("b", "AP")]


def test_grades_count_from_one_and_a_threshold_can_be_named():
    found = scores({"q": ["one", "two"]}, {"q": {"one": 1, "two": 2}}, ["P@2", "P(rel=2)@2"])
    assert found == {("q", "P@2"): 1.0, ("q", "P(rel=2)@2"): 0.5}


@pytest.mark.parametrize("measure", [*DEFAULT_MEASURES, "Exist@1", "AP_found@10"])
def test_an_undecided_document_is_neither_a_hit_nor_a_miss(measure):
    ranking, grades = ["a", "b", "c", "d"], {"b": 2, "c": 0, "d": 1}
    expected = scores({"q": ranking[1:]}, {"q": grades}, [measure])
    assert scores({"q": ranking}, {"q": {**grades, "a": -1, "e": -1}}, [measure]) == expected
    assert scores({"q": ranking}, {"q": grades}, [measure]) != expected or measure in ("P@10", "R@100")


def test_any_text_may_be_an_id():
    """Providers that write files must not stumble over spaces, tabs or letters in ids."""
    query, doc = "a b\tc", "d 1\u2028"
    found = scores({query: [doc]}, {query: {doc: 1}}, ["ERR@10", "RR@10", "AP"])
    assert found[query, "RR@10"] == found[query, "AP"] == 1.0
    assert found[query, "ERR@10"] > 0


def test_relevant_queries_are_sorted_and_have_a_positive_grade():
    _, judged = frames({}, {"b": {"x": 1, "y": 2}, "a": {"x": 2}, "zero": {"x": 0}, "minus": {"x": -1}})
    assert relevant_queries(judged) == ["a", "b"]


@pytest.mark.parametrize(
    "name", [*DEFAULT_MEASURES, "Success@5", "ERR@20", "Rprec", "P(rel=2)@10", "nDCG(dcg='exp-log2')@10"]
)
def test_names_parse_back(name):
    (canonical,) = parse_measures([name])
    assert parse_measures([canonical]) == (canonical,)


def test_aliases_become_one_name_and_the_primary_comes_first():
    assert parse_measures(["MRR@10", "RR@10", " AP"]) == ("RR@10", "AP")
    assert parse_measures(["P@10", "AP"], primary="AP") == ("AP", "P@10")
    assert parse_measures(["P@10"], primary="nDCG@10") == ("nDCG@10", "P@10")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ndcg@10", "did you mean nDCG"),
        ("P", "P@10"),
        ("nothing@10", "nDCG@10"),
        ("P@0", "at least 1"),
        ("P@-1", "P@10"),
        ("P(colour=1)@10", "P@10"),
        ("__import__('os')", "nDCG@10"),
        ("nDCG@10; AP", "nDCG@10"),
        ("", "nDCG@10"),
    ],
)
def test_an_unknown_name_says_what_would_work(name, hint):
    with pytest.raises(UnknownNameError) as caught:
        parse_measures(["AP", name])
    assert hint in str(caught.value)
    assert repr(name) in str(caught.value)


def test_no_measure_is_an_error():
    with pytest.raises(OptionError, match="no measure"):
        parse_measures([])


def test_a_document_ranked_twice_is_an_error():
    run, judged = frames({"q": ["a", "b", "a"]}, {"q": {"a": 1}})
    with pytest.raises(InputError, match="document a appears twice for query q"):
        score_run(run, judged, ["AP"], ["q"])


@pytest.mark.parametrize("query", ["zero", "unjudged"])
def test_a_query_that_cannot_be_scored_is_an_error(query):
    run, judged = frames({"q": ["a"]}, {"q": {"a": 1}, "zero": {"a": 0}})
    with pytest.raises(InputError, match="no relevant document") as caught:
        score_run(run, judged, ["AP"], ["q", query])
    assert query in str(caught.value)


def test_the_measures_of_quantity_retrieval_by_hand():
    # Relevant among the first four: ranks 1 and 4; e is relevant too and ranked fifth, z is not found.
    run, judged = {"q": ["a", "b", "c", "d", "e"]}, {"q": {"a": 1, "d": 1, "e": 2, "z": 1, "b": 0}}
    found = scores(run, judged, ["AP_found@4", "AP_found@1", "AP@4", "MAP@4", "Exist@1", "nDCG@10"])
    # sum P@i R_i = 1/1 + 2/4; two relevant ones stand within the cutoff, four are relevant in all.
    assert found["q", "AP_found@4"] == pytest.approx((1 + 2 / 4) / 2)
    assert found["q", "AP@4"] == pytest.approx((1 + 2 / 4) / 4)
    assert found["q", "AP_found@1"] == found["q", "Exist@1"] == 1
    assert ("q", "MAP@4") not in found


def test_nothing_found_is_zero():
    found = scores(
        {"q": ["b", "a"]}, {"q": {"a": 1}, "r": {"a": 1}}, ["Exist@1", "AP_found@1", "Exist@2", "AP_found@2"]
    )
    assert [found["q", m] for m in ("Exist@1", "AP_found@1", "Exist@2", "AP_found@2")] == [0, 0, 1, 0.5]
    assert {value for (query, _), value in found.items() if query == "r"} == {0}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_measures_of_quantity_retrieval_agree_with_their_definitions(data):
    docs = [f"d{i}" for i in range(12)]
    runs = {q: data.draw(st.lists(st.sampled_from(docs), max_size=12, unique=True)) for q in "uvw"}
    qrels = {q: {**data.draw(st.dictionaries(st.sampled_from(docs), st.integers(0, 2))), "d0": 1} for q in "uvw"}
    n = data.draw(st.integers(1, 12))
    found = scores(runs, qrels, [f"Exist@{n}", f"AP_found@{n}", f"Success@{n}", f"AP@{n}"])
    for q in "uvw":
        hits = [int(qrels[q].get(doc, 0) >= 1) for doc in runs[q][:n]]
        expected = sum(sum(hits[:i]) / i * hits[i - 1] for i in range(1, len(hits) + 1)) / max(sum(hits), 1)
        assert found[q, f"AP_found@{n}"] == pytest.approx(expected)
        assert found[q, f"Exist@{n}"] == found[q, f"Success@{n}"] == float(any(hits))
        assert found[q, f"AP@{n}"] <= found[q, f"AP_found@{n}"] + 1e-12 <= found[q, f"Exist@{n}"] + 2e-12


def test_own_names_parse_back_and_map_stays_what_it_was():
    assert parse_measures([" Exist@1", "AP_found@010", "MAP@10"]) == ("Exist@1", "AP_found@10", "AP@10")
    assert parse_measures(["Exist@1"], "AP_found@3") == ("AP_found@3", "Exist@1")


@pytest.mark.parametrize("name", ["Exist", "Exist@0", "AP_found", "AP_found@0"])
def test_own_names_need_a_cutoff(name):
    with pytest.raises(UnknownNameError, match="Give a cutoff, as in"):
        parse_measures([name])


def test_own_names_are_suggested():
    with pytest.raises(UnknownNameError, match="Did you mean Exist@10"):
        parse_measures(["exist@1"])
