"""Bind from texts to rankings: whose value is it that satisfies the condition?"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Query, corpus_schema, qrels_schema
from qbench.llm.client import Access
from qbench.progress import silent
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.types import quantity_schema, to_row
from qbench.retrieval import binding_index
from qbench.retrieval.bench import Bench
from qbench.retrieval.binding_index import build_binding_index, open_binding_index
from qbench.retrieval.binding_query import BindingQuery, asked_of
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.mentions import document_mentions
from qbench.scoring import records
from qbench.scoring.binding import PARTS, parts
from qbench.scoring.records import COUNTED
from tests.factories import tiny_benchmark

EXTRACTOR = get_extractor(ExtractorOptions(years=True))
TEXTS = {
    "a": "The tent weighs 4 kg and its bag weighs 900 g.",
    "b": "The tent weighs 900 g and its bag weighs 4 kg.",
    "c": "The chair has a weight of 3 kg.",
    "d": "The league earns 90 million dollars annually. Its 12 clubs have 4,000 members.",
    "e": "A Meta score of 71 was given to the film.",
}


def built(texts=TEXTS):
    ids = pl.Series(sorted(texts, reverse=True))
    rows = [to_row(doc, quantity) for doc in ids for quantity in EXTRACTOR.extract(texts[doc])]
    mentions = document_mentions(pl.DataFrame(rows, quantity_schema()), ids)
    passages = pl.Series([texts[doc] for doc in ids], dtype=pl.String)
    return list(ids), build_binding_index(passages, mentions, EXTRACTOR.units, "en")


def ask(text, made):
    parsed = EXTRACTOR.parse_query(text)
    query = BindingQuery(text, parsed.terms, parsed.conditions)
    return asked_of([query], made, EXTRACTOR.units, "en")[0]


def scores(text, texts=TEXTS):
    ids, made = built(texts)
    found = parts(made.records, ask(text, made), np.arange(len(ids)))
    return {doc: dict(zip(PARTS, row.tolist(), strict=True)) for doc, row in zip(ids, found, strict=True)}


def test_an_index_is_the_same_in_blocks_of_any_size(monkeypatch):
    _, whole = built()
    for module in (binding_index, records):
        monkeypatch.setattr(module, "BLOCK", 2)
    _, blocks = built()
    assert blocks.terms == whole.terms
    assert blocks.base_units == whole.base_units
    np.testing.assert_array_equal(blocks.records.pairs, whole.records.pairs)
    np.testing.assert_array_equal(blocks.document_counts, whole.document_counts)
    assert whole.document_counts[whole.terms["tent"]] == 2


def test_the_value_has_to_be_of_what_is_asked_about():
    found = scores("tent that weighs less than 1 kg")
    assert found["a"]["satisfied"] == found["b"]["satisfied"] == 1
    assert found["b"]["ratio"] > found["a"]["ratio"]
    assert found["b"]["binding"] > found["a"]["binding"]
    assert found["a"]["words"] == pytest.approx(found["b"]["words"])
    assert found["c"]["satisfied"] == 0


def test_what_is_earned_in_a_year_answers_for_an_amount_and_members_for_people():
    assert scores("league with earnings over 80 million dollars")["d"]["satisfied"] == pytest.approx(0.8)
    assert scores("league with over 3,000 people")["d"]["satisfied"] == pytest.approx(0.7)


def test_a_compound_stands_for_its_parts():
    found = scores("films with a Metascore above 70")
    assert found["e"]["binding"] > 0.5
    assert found["e"]["words"] == 1.0


def test_a_word_of_another_condition_is_none_of_this_one():
    _, made = built()
    asked = ask("bag weight under 1 kg and score above 70", made)
    slot = asked.terms.tolist().index(made.terms["scor"])
    assert asked.bindings[0, slot] == 0
    assert asked.bindings[1, slot] > 0.3
    assert asked.words.sum() == pytest.approx(1)
    assert (asked.bindings.sum(axis=1) <= 1 + 1e-12).all()


def test_an_unknown_word_of_the_concept_leaves_less_for_the_others():
    _, made = built()
    known, unknown = ask("tent weight under 1 kg", made), ask("tent qualm weight under 1 kg", made)
    assert unknown.bindings.sum() < known.bindings.sum() == pytest.approx(1)
    assert unknown.words.sum() == pytest.approx(1)  # what no text holds tells none apart


def test_the_counted_noun_is_a_word_of_the_condition():
    _, made = built()
    asked = ask("over 10 clubs", made)
    assert asked.targets[0].kind == COUNTED
    assert asked.bindings[0, asked.terms.tolist().index(made.terms["club"])] == pytest.approx(1)


def test_the_counted_noun_is_in_the_language_of_the_query():
    extractor = get_extractor(ExtractorOptions(language="zh"))
    text = "本店回购500万股。"
    mentions = document_mentions(
        pl.DataFrame([to_row("d", q) for q in extractor.extract(text)], quantity_schema()), pl.Series(["d"])
    )
    made = build_binding_index(pl.Series([text]), mentions, extractor.units, "zh")
    parsed = extractor.parse_query("回购超过300万股")
    query = BindingQuery("回购超过300万股", parsed.terms, parsed.conditions)
    asked = asked_of([query], made, extractor.units, "zh")[0]
    weight = {term: asked.bindings[0, asked.terms.tolist().index(made.terms[term])] for term in ("回购", "股")}
    assert weight["股"] > 0
    assert asked.bindings.sum() == pytest.approx(1)  # none is lost to "share", which no text holds


def test_a_chinese_sentence_ends_words_near_a_mention_without_a_space():
    extractor = get_extractor(ExtractorOptions(language="zh"))
    text = "门票收入50万元。雨水下了3天。"
    mentions = document_mentions(
        pl.DataFrame([to_row("d", q) for q in extractor.extract(text)], quantity_schema()), pl.Series(["d"])
    )
    made = build_binding_index(pl.Series([text]), mentions, extractor.units, "zh")
    m, by_number = made.mentions, {number: term for term, number in made.terms.items()}
    first, second = ({by_number[w // 4] for w in m.words[m.word_starts[i] : m.word_starts[i + 1]]} for i in range(2))
    assert not {"雨", "水"} & first
    assert not {"门", "票"} & second
    assert "雨" in second


def test_queries_without_conditions_or_words():
    _, made = built()
    nothing, plain = ask("", made), ask("tent bag", made)
    assert nothing.terms.size == 0
    assert plain.targets == ()
    assert plain.bindings.shape == (0, 2)
    assert scores("tent bag")["a"]["words"] == 1
    assert not any(scores("")["a"].values())


def test_an_index_is_read_back(tmp_path):
    _, made = built()
    made.save(tmp_path)
    again = open_binding_index(tmp_path)
    assert (again.terms, again.base_units) == (made.terms, made.base_units)
    for part in ("mentions", "records", "entries"):
        for name, array in vars(getattr(made, part)).items():
            np.testing.assert_array_equal(getattr(getattr(again, part), name), array)
    np.testing.assert_array_equal(again.mention_idf, made.mention_idf)


def test_no_document_has_a_quantity():
    ids, made = built({"a": "A tent.", "b": ""})
    found = parts(made.records, ask("tent under 1 kg", made), np.arange(2))
    assert dict(zip(ids, found[:, 0], strict=True)) == {"a": 1.0, "b": 0.0}
    assert not found[:, 1:].any()


def test_words_near_a_mention_end_with_the_sentence_and_at_the_next_number():
    _, made = built({"a": "It costs 9 dollars. Rain fell for 3 days on 2 hills."})
    by_number = {number: term for term, number in made.terms.items()}
    m = made.mentions
    words = [{by_number[w // 4] for w in m.words[m.word_starts[i] : m.word_starts[i + 1]]} for i in range(3)]
    assert "rain" not in words[0]
    assert {"rain", "fell"} <= words[1]
    assert "fell" not in words[2]
    assert "on" in words[2]


def benchmark():
    corpus = [{"doc_id": doc, "text": text, "title": "", "source_id": doc} for doc, text in TEXTS.items()]
    queries = [Query("q", "tent that weighs less than 1 kg")]
    qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["b"], "grade": [1]}, qrels_schema())
    return Benchmark("tents", pl.DataFrame(corpus, corpus_schema()), queries, qrels)


def run(folder, *names, made=None, **options):
    systems = [parse_system(name) for name in names]
    return execute(made or benchmark(), systems, folder, ExecuteOptions(**options))


def test_it_ranks_on_a_first_stage_and_as_a_reranker(tmp_path):
    names = ["BM25_filter", "BindBM25", "BM25 + BindBM25(k=5)", "BindBM25(own=0, words=0, pairs=0)"]
    results = run(tmp_path, *names, settings=("parsed",))
    best = [result.run["doc_id"].to_list()[0] for result in results[1:]]
    assert best == ["b", "b", "b"]
    assert [result.label for result in results[1:]] == [f"{name} [parsed]" for name in names[1:]]
    first, reranked = (dict(r.run.select("doc_id", "score").iter_rows()) for r in results[1:3])
    assert reranked == pytest.approx(first)
    assert results[1].cost.index_bytes > 0
    # Weights are of this score's parts: with none but the model's own score the order is the model's.
    nothing = "BindBM25(words=0, pairs=0, satisfied=0, binding=0, ratio=0)"
    plain, alone = run(tmp_path, "BM25", nothing, settings=("parsed",))
    found = plain.run["doc_id"].to_list()
    assert alone.run["doc_id"].to_list()[: len(found)] == found


def test_only_the_pool_is_scored_in_full_and_kept(tmp_path):
    (all_of_them, some) = run(tmp_path, "BindBM25", "BindBM25(pool=1)", settings=("parsed",), depth=1)
    assert some.run.height == all_of_them.run.height == 1
    assert all_of_them.run["doc_id"][0] == "b"
    (deep,) = run(tmp_path, "BindBM25(pool=1)", settings=("parsed",), depth=3)
    assert deep.run.height == 3


def test_both_settings_on_a_generated_benchmark(tmp_path):
    given, parsed = run(tmp_path, "BindBM25", made=tiny_benchmark())
    assert (given.conditions, parsed.conditions) == ("given", "parsed")
    assert given.run["query_id"].n_unique() == parsed.run["query_id"].n_unique() == 4
    assert given.run["score"].is_finite().all()


def test_a_document_is_found_that_holds_other_forms_of_the_words(tmp_path):
    """BM25 compares words as they are written; a value that satisfies finds a document, and stems rank it."""
    texts = {"f": "Kayaks: weights of 9 kilograms.", "g": "Rain fell for 9 days."}
    corpus = [{"doc_id": doc, "text": text, "title": "", "source_id": doc} for doc, text in texts.items()]
    qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["f"], "grade": [1]}, qrels_schema())
    made = Benchmark("kayaks", pl.DataFrame(corpus, corpus_schema()), [Query("q", "kayak weight below 10 kg")], qrels)
    filtered, bound = run(tmp_path, "BM25_filter", "BindBM25", made=made, settings=("parsed",))
    assert filtered.run.height == 0
    assert bound.run["doc_id"].to_list() == ["f"]


def test_bm25_searches_the_query_without_values_but_with_not(tmp_path):
    made = Bench(benchmark(), "tents", tmp_path, "auto", ExtractorOptions(), 1, silent, Access())

    def asked(system, text):
        return made.search(parse_system(system).first, Query("typed " + text, text), "parsed").text.split()

    assert asked("BindBM25", "tents with a weight not 3 kg") == ["tents", "with", "a", "weight", "not", "kg"]
    assert asked("BindBM25", "tent under 3 kg of 3 people") == ["tent", "under", "kg", "of", "people"]
    assert asked("BindBM25", "3") == ["3"]
    # A value is no part of another number, and a model that encodes texts reads the whole query.
    assert asked("BindBM25", "model 1500 under 15 kg") == ["model", "1500", "under", "kg"]
    assert asked("BindSBERT(model=none)", "tent under 3 kg") == ["tent", "under", "3", "kg"]
