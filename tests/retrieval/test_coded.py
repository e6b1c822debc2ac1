"""CodedColBERT: satisfied conditions rank first, in the index and search of every multi-vector model."""

from __future__ import annotations

import math
import re

import numpy as np
import polars as pl
import pytest

from qbench.errors import OptionError
from qbench.llm.client import Access
from qbench.models.multi_vector import load_multi_vector_encoder
from qbench.progress import silent
from qbench.quantities.extractors import ExtractorOptions
from qbench.quantities.types import to_row
from qbench.retrieval.bench import Bench
from qbench.retrieval.coded import search_tokens, searched_tokens
from qbench.retrieval.coded_words import WordCodes
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.late_interaction import LateInteraction
from qbench.retrieval.mentions import document_mentions
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.passages import passages
from qbench.retrieval.rankers import RankerContext, Search
from qbench.scoring.value_code import DIMENSION, WORD_SIGNS
from tests.encoder_factories import tiny_bert
from tests.factories import condition, frame, quantity
from tests.numeric_factories import KINDS, NUMERIC_WORDS, numeric_benchmark

BENCHMARK = numeric_benchmark()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", NUMERIC_WORDS)


def opened(tiny, root, more="", codec="", quantities=BENCHMARK.quantities):
    (stage,) = parse_system(f"CodedColBERT(model={tiny}{more}){codec}").stages
    corpus = passages(BENCHMARK.corpus)
    context = RankerContext(
        corpus, "key", root, 100, quantities=lambda: document_mentions(quantities, corpus["doc_id"])
    )
    return open_ranker(stage, context), corpus["passage"].to_list()


@pytest.mark.parametrize(("more", "codec"), [("", ""), (", engine=centroids, nprobe=1000", ""), ("", "-int8")])
def test_documents_that_satisfy_the_condition_come_first(tiny, tmp_path, more, codec):
    made, texts = opened(tiny, tmp_path, f", token_weight=1{more}", codec)
    assert isinstance(made.ranker, LateInteraction)
    for number, unit in ((4, "metre"), (6, "second")):
        asked = Search("q", f"boats over {number} {unit}", (condition("boats", ">", number, unit),), terms="boats")
        found = made.ranker.search(asked)
        ranked = [texts[doc] for doc in found.docs[np.argsort(-found.scores, kind="stable")]]
        met = {text for text in texts if text.endswith(unit) and int(text.split()[-2]) > number}
        assert set(ranked[: len(met)]) == met


@pytest.mark.parametrize(("comparator", "value"), [(">", 4), ("<", 6), ("=", 5)])
def test_what_is_earned_in_a_period_is_found_as_the_amount_that_it_is(tiny, tmp_path, comparator, value):
    """ "earns 5 dollars a year", asked for in dollars."""
    corpus = passages(BENCHMARK.corpus)
    texts = {doc: text for doc, text in zip(corpus["doc_id"], corpus["passage"], strict=True) if "boats" in text}
    rates = [
        to_row(doc, quantity(text, text.split()[-2], int(text.split()[-2]), "dollar per year", "boats"))
        for doc, text in texts.items()
    ]
    made, passed = opened(tiny, tmp_path, ", token_weight=1", quantities=frame("quantities", rates))
    asked = Search("q", f"boats {value} dollar", (condition("boats", comparator, value, "dollar"),), terms="boats")
    found = made.ranker.search(asked)
    ranked = [passed[doc] for doc in found.docs[np.argsort(-found.scores, kind="stable")]]
    holds = {">": lambda n: n > value, "<": lambda n: n < value, "=": lambda n: n == value}[comparator]
    met = {text for text in texts.values() if holds(int(text.split()[-2]))}
    assert met
    assert set(ranked[: len(met)]) == met


@pytest.mark.parametrize("comparator", ["=", "<", ">", "between"])
def test_extreme_values_many_mentions_and_unknown_units(tiny, tmp_path, comparator):
    """1e-300, 1e300, negative, zero, NaN and infinity after extraction; 200 quantities in one document."""
    table = BENCHMARK.quantities
    odd = [1e-300, 1e300, -1e300, -5.0, 0.0, math.nan, math.inf]
    values = pl.Series([odd[place % len(odd)] for place in range(table.height)])
    names = ("value", "high", "base_value", "base_high")
    changed = table.with_columns(values.alias(name) for name in names)
    first = changed.filter(doc_id=changed["doc_id"][0])
    changed = pl.concat([changed, *[first] * (200 // first.height)])
    made, texts = opened(tiny, tmp_path, ", token_weight=1", quantities=changed)
    for value, unit in ((1e300, "metre"), (-1e300, "second"), (0.0, "metre"), (1e-300, "parsec")):
        asked = condition("boats", comparator, value, unit)
        found = made.ranker.search(Search("q", "boats over 4 metre", (asked,), terms="boats"))
        assert len(found.docs) == len(texts)
        assert np.isfinite(found.scores).all()


def test_without_conditions_and_terms_it_is_colbert(tiny, tmp_path):
    made, texts = opened(tiny, tmp_path, ", dtype=float32, term_weight=0")
    plain = load_multi_vector_encoder(str(tiny)).model
    found = made.ranker.search(Search("q", "boats over 4"))
    expected = plain.similarity(plain.encode_query(["boats over 4"]), plain.encode_document(texts))[0].numpy()
    np.testing.assert_allclose(found.scores, expected[found.docs], atol=1e-4)
    assert made.ranker.tokens.dimension == plain.get_embedding_dimension() + DIMENSION
    words, _ = opened(tiny, tmp_path, ", dtype=float32, term_weight=1")
    assert words.ranker.tokens.dimension == made.ranker.tokens.dimension + WORD_SIGNS
    # A word that no text has changes nothing.
    unknown = Search("q", "boats over 4", terms="ships")
    np.testing.assert_allclose(words.ranker.search(unknown).scores, found.scores, atol=1e-4)


def test_models_may_compute_documents_in_bfloat16(tiny, tmp_path):
    exact, quick = (opened(tiny, tmp_path, more)[0].ranker for more in ("", ", precision=bfloat16"))
    assert len(list(tmp_path.rglob("vector_starts.npy"))) == 4, "and those of the model alone"
    one, other = (ranker.tokens.rows(0, len(ranker.tokens)) for ranker in (exact, quick))
    model = one.shape[1] - DIMENSION - WORD_SIGNS
    assert not np.array_equal(one[:, :model], other[:, :model])
    np.testing.assert_array_equal(one[:, model:], other[:, model:])


def test_weights_of_nearly_zero_leave_colbert(tiny, tmp_path):
    made, _ = opened(tiny, tmp_path, ", code_weight=1e-9, token_weight=0, term_weight=0")
    asked = Search("q", "boats over 4 metre", (condition("boats", ">", 4, "metre"),))
    np.testing.assert_allclose(
        made.ranker.search(asked).scores, made.ranker.search(Search("q", asked.text)).scores, atol=1e-6
    )
    with pytest.raises(OptionError, match="codes change nothing"):
        opened(tiny, tmp_path, ", code_weight=0, token_weight=0, term_weight=0")


def test_a_word_of_the_query_is_worth_its_share_in_texts_that_have_it(tiny, tmp_path):
    """In any form: "boat" is the word of "boats"; a word of the condition's value and one that is unknown are none."""
    with_terms, texts = opened(tiny, tmp_path, ", dtype=float32, term_weight=100")
    without, _ = opened(tiny, tmp_path, ", dtype=float32, term_weight=0")
    share = WordCodes.of(pl.Series(texts)).shares["boat"]
    asked = Search("q", "boat quux over 6 metre", (condition("boat", ">", 6, "metre"),), terms="boat quux")
    plain, found = without.ranker.search(asked), with_terms.ranker.search(asked)
    gained = dict(zip(found.docs, found.scores, strict=True))
    for doc, score in zip(plain.docs, plain.scores, strict=True):
        expected = 100 * share if "boats" in texts[doc] else 0
        # Other words are not quite orthogonal.
        assert math.isclose(gained[doc] - score, expected, abs_tol=100 * share * 0.5), texts[doc]
    ranked = [texts[doc] for doc in found.docs[np.argsort(-found.scores, kind="stable")]]
    assert all("boats" in text for text in ranked[: sum("boats" in text for text in texts)])


@pytest.mark.parametrize(
    ("concept", "terms", "expected"),
    [("boat", "red boat", ["boat"]), ("", "red boat", ["red", "boat"]), ("ship", "red boat", ["red", "boat"])],
)
def test_a_condition_asks_with_its_own_words(concept, terms, expected):
    text = "red boat over 6 metre"
    offsets = [(0, 0), (0, 3), (4, 8), (9, 13), (14, 15), (16, 21)]
    asked = condition(concept, ">", 6, "metre")
    searched = searched_tokens(text, offsets, (asked,), terms)
    ((*found,),) = search_tokens(text, offsets, (asked,), searched)
    assert [text[slice(*offsets[place])] for place in found] == expected


def test_what_adds_to_a_score_is_said_with_the_quantities(tiny, tmp_path):
    made, texts = opened(tiny, tmp_path, ", dtype=float32")
    asked = Search("q", "boats over 6 metre", (condition("boats", ">", 6, "metre"),), terms="boats")
    found = made.ranker.search(asked)
    doc = int(found.docs[found.scores.argmax()])
    (search,) = made.ranker.encoded([asked])
    terms = made.ranker.term_scores(search, doc, texts[doc])
    assert sum(term.score for term in terms) == pytest.approx(found.scores.max(), rel=1e-4)
    coded = [term for term in terms if term.asked.endswith("(> 6 metre)")]
    assert coded
    for term in coded:
        assert term.asked.startswith(("boat", "##"))
        value = float(re.fullmatch(r".* \(.*?([\d.]+) metre\)", term.found)[1])
        assert value > 6
        assert f"{value:g} metre" in texts[doc]


def test_it_runs_in_both_settings_reranks_and_is_fused(tiny, tmp_path):
    names = [f"CodedColBERT(model={tiny})", f"BM25 + CodedColBERT(model={tiny}, k=10)-I(alpha=0.2)"]
    results = execute(BENCHMARK, [parse_system(name) for name in names], tmp_path, ExecuteOptions())
    assert [result.label.rpartition(" ")[2] for result in results] == ["[given]", "[parsed]"] * 2
    assert all(result.run.height for result in results)


def test_searches_carry_the_search_words_of_a_model_that_reads_conditions(tiny, tmp_path):
    query = BENCHMARK.queries_of("test")[0]
    assert query.terms in KINDS
    (stage,) = parse_system(f"CodedColBERT(model={tiny})").stages
    bench = Bench(BENCHMARK, "key", tmp_path, "auto", ExtractorOptions(), 1, silent, Access())
    search = bench.search(stage, query, "given")
    assert (search.text, search.terms, search.conditions) == (query.text, query.terms, query.conditions)


def test_words_of_a_query_are_whole_words():
    """ "a" is no piece of "rate", and "at" none of "battery"; pieces of a word are all its own."""
    text = "trial at a rate of 7 hour"
    offsets = [(0, 5), (6, 8), (9, 10), (11, 13), (13, 15), (16, 18), (19, 20), (21, 25)]
    asked = condition("rate", "=", 7, "hour")
    searched = searched_tokens(text, offsets, (asked,), "trial rate battery")
    assert searched == [0, 3, 4]
    assert search_tokens(text, offsets, (asked,), searched) == [[3, 4]]


def test_words_that_are_written_together_are_found_too():
    text = "营业收入超过5元"
    offsets = [(place, place + 1) for place in range(len(text))]
    asked = condition("营业收入", ">", 5)
    searched = searched_tokens(text, offsets, (asked,), "营业收入")
    assert search_tokens(text, offsets, (asked,), searched) == [[0, 1, 2, 3]]
