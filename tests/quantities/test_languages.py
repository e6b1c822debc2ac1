"""A language is a package and a row: a toy one is read, indexed, searched and compared like English."""

import polars as pl
import pytest

from qbench.benchmark.benchmark import Benchmark
from qbench.errors import UnknownNameError
from qbench.index import build_index
from qbench.quantities.concept_match import folded
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.languages import LANGUAGES, language_package
from qbench.retrieval.analysis import token_ids, tokens
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.rankers import RankerContext, Search
from qbench.retrieval.systems import Component, Stage
from qbench.work.tasks import in_this_process

TOY = ExtractorOptions(language="xx")


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(LANGUAGES, "xx", "tests.quantities.toy_language")


def test_a_corpus_of_the_language_is_cut_and_read_by_its_rules(tmp_path, toy, monkeypatch):
    # The row stands in this process alone.
    monkeypatch.setattr("qbench.index.build.in_processes", lambda workers: in_this_process)
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "d", "text": "a7k. b12k|c5k"}\n')
    index = build_index(corpus, tmp_path / "index", extractor=TOY)
    assert index.sentences().collect()["text"].to_list() == ["a7k. b12k", "c5k"]
    assert index.quantities().collect().select("concept", "value").rows() == [("a", 7.0), ("b", 12.0), ("c", 5.0)]
    assert index.manifest.params["extractor"]["language"] == "xx"
    assert index.extractor_options() == TOY


def test_english_reads_the_same_text_in_another_way(toy):
    assert get_extractor(TOY).extract("a7k") != get_extractor().extract("a7k")
    assert TOY.key() != ExtractorOptions().key()


def test_words_are_folded_by_the_language(toy):
    assert folded(("incomes", "DOGS"), "xx") == {"incomes", "dogs"}
    assert folded(("incomes", "DOGS")) == {"income", "dog"}


def test_lexical_search_cuts_texts_by_the_language(tmp_path, toy):
    assert tokens("ab c", "xx") == ["a", "b", " ", "c"]
    assert token_ids(pl.Series(["aba", "b"]), "xx")[0] == ["a", "b"]
    corpus = pl.DataFrame({"doc_id": ["3", "2", "1"], "passage": ["zebra", "a1b", "cc"]})

    def hits(language):
        stage = Stage(Component("BM25", ()))
        ranker = open_ranker(stage, RankerContext(corpus, "key", tmp_path, language=language)).ranker
        (search,) = ranker.encoded([Search("q", "b")])
        return ranker.search(search).docs.tolist()

    assert hits("xx") == [0, 1]
    assert hits("en") == []


@pytest.mark.parametrize(
    ("params", "language"),
    [({}, "en"), ({"extractor": TOY.key}, "xx"), ({"language": "xx"}, "xx"), ({"extractor": None}, "en")],
)
def test_a_benchmark_knows_its_language(toy, params, language):
    params = {name: value() if callable(value) else value for name, value in params.items()}
    empty = pl.DataFrame()
    assert Benchmark("b", empty, [], empty, params=params).language == language


def test_an_unknown_language_is_an_error_that_names_the_known_ones(tmp_path):
    unknown = ExtractorOptions(language="tlh")
    for call in (lambda: get_extractor(unknown), lambda: folded(["word"], "tlh"), lambda: tokens("word", "tlh")):
        with pytest.raises(UnknownNameError, match=r"unknown language \(found 'tlh'\). Known: en"):
            call()
    with pytest.raises(UnknownNameError, match="unknown language"):
        build_index(tmp_path, tmp_path / "index", extractor=unknown)


def test_an_extractor_belongs_to_its_language(toy):
    assert get_extractor(ExtractorOptions("other", language="xx")).name == "other"
    with pytest.raises(UnknownNameError, match="Known: rules, other"):
        get_extractor(ExtractorOptions("quantulum3", language="xx"))


def test_every_language_has_what_is_asked_of_one():
    for code in LANGUAGES:
        package = language_package(code)
        assert "rules" in package.EXTRACTORS
        assert [len(list_) for list_ in package.tokenized(pl.Series(["", "a"])).to_list()] == [0, 1]
        assert package.sentence_splitter().spans("") == []
        assert package.fold("A") == "a"
