"""What every engine of served rankers does alike: it ranks as BM25 here, and holds what was written, once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import OptionError
from qbench.index.build import build_index
from qbench.quantities.conditions import verdict
from qbench.quantities.types import COMPARATORS, MENTION_COMPARATORS, quantity_schema, to_row
from qbench.quantities.units import load_units
from qbench.retrieval.engines import opensearch
from qbench.retrieval.engines.tables import served_tables
from qbench.retrieval.grammar import parse_system
from tests.factories import condition, quantity
from tests.opensearch_server import OpenSearchServer
from tests.retrieval.served import NUMBERS, ODD, OpenSearchEngine, PostgresEngine, odd_tables, run

ENGINES = (OpenSearchEngine, PostgresEngine)


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def engine(request, direct, monkeypatch):
    """An engine that runs. PostgreSQL is the same one in all tests: each loads under a name of its own."""
    if request.param is PostgresEngine:
        yield PostgresEngine(request.getfixturevalue("postgres_address"))
    else:
        monkeypatch.setattr(opensearch, "PAGE", 3)  # so that rankings are of several pages
        with OpenSearchServer() as server:
            yield OpenSearchEngine(server)


def test_equal_mentions_of_a_document_stand_in_the_order_of_the_corpus():
    concepts = ["weight", "height", "width", "age", "price"]
    rows = [to_row('d"1', quantity("5", "5", 5, "kilogram", concept=concept)) for concept in concepts * 40]
    made = served_tables(ODD, pl.DataFrame(rows, schema=quantity_schema(), orient="row"), load_units())
    assert made.mentions["concept"].to_list() == [[concept] for concept in concepts * 40]


@pytest.mark.parametrize("pattern", ["{}", "{}_filter"])
def test_a_server_ranks_as_we_do_to_the_last_bit(tmp_path, engine, pattern):
    ours, theirs = run(tmp_path, pattern.format("BM25"), engine.system(pattern))
    assert ours.run.equals(theirs.run)
    assert ours.run.height
    assert theirs.cost.index_bytes


def test_parameters_of_bm25_are_the_servers_too(tmp_path, engine):
    ours, theirs = run(tmp_path, "BM25(k1=0.9, b=0.4)", engine.system("{}", k1=0.9, b=0.4))
    assert ours.run.equals(theirs.run)


def test_scores_of_ours_follow_a_servers(tmp_path, engine):
    systems = ["QBM25(terms=all)", engine.system("Q{}", terms="all"), "BM25 + BM25", f"{engine.system('{}')} + BM25"]
    systems += ["BindBM25", engine.system("Bind{}")]
    results = run(tmp_path, *systems)
    for ours, theirs in zip(results[::2], results[1::2], strict=True):
        assert ours.run.equals(theirs.run), ours.label


def test_concepts_can_be_asked_for(tmp_path, engine):
    wide, narrow = run(tmp_path, *(engine.system("{}_filter", concepts=each) for each in ("ignored", "shared")))
    assert 0 < narrow.run.height < wide.run.height
    assert narrow.run.join(wide.run, on=["query_id", "doc_id", "score"]).height == narrow.run.height


@pytest.mark.parametrize("pattern", ["{}", "Q{}", "Bind{}"])
@pytest.mark.parametrize("name", [engine.name for engine in ENGINES])
def test_concepts_without_a_filter_are_refused(name, pattern):
    system = pattern.format(name)
    with pytest.raises(OptionError, match="concepts changes nothing without _filter"):
        parse_system(f"{system}(concepts=shared)")
    assert parse_system(f"{system}(concepts=ignored)") == parse_system(system)


@pytest.mark.parametrize("kind", ENGINES, ids=lambda engine: engine.name)
@given(
    stated=st.sampled_from(MENTION_COMPARATORS), asked=st.sampled_from(COMPARATORS),
    mention=st.tuples(NUMBERS, NUMBERS), wanted=st.tuples(NUMBERS, NUMBERS),
)  # fmt: skip
def test_conditions_let_through_what_verdicts_call_met(kind, stated, asked, mention, wanted):
    low, high = sorted(mention) if stated == "between" else (mention[0], mention[0])
    bounds = sorted(wanted) if asked == "between" else (wanted[0], wanted[0])
    held = quantity("5", "5", low, "kilogram", comparator=stated, high=high)
    query = condition("x", asked, bounds[0], "kilogram", high=bounds[1])
    assert kind.meets(held, query) == (verdict(held, query) == "met")


def test_the_address_is_in_no_key(tmp_path, engine):
    once, again = run(tmp_path, engine.system("{}"), engine.system("{}", engine.same_address))
    assert once.run.equals(again.run)
    assert len(list((tmp_path / "runs").iterdir())) == 1


def _expected(engine):
    texts = ODD.rows()
    return texts if engine.keeps_zero_bytes else [(doc_id, text.replace("\x00", "")) for doc_id, text in texts]


def test_any_text_arrives_as_it_is_and_once(engine):
    assert engine.load("arrived", odd_tables())
    assert engine.documents("arrived") == _expected(engine)
    assert not engine.load("arrived", odd_tables())


def test_several_that_load_at_once_write_the_same(engine):
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(lambda _: engine.load("crowded", odd_tables()), range(4)))
    assert any(loaded)
    assert engine.documents("crowded") == _expected(engine)
    assert not engine.load("crowded", odd_tables())


def test_an_index_is_served_once_and_its_search_is_shown(engine, served_index):
    first, second = engine.serve(served_index), engine.serve(served_index)
    assert (first.new, second.new) == (True, False)
    assert first.place == second.place
    assert engine.found(served_index, first.place, "laptop under 4 lb") == ["a::1"]


@pytest.fixture(scope="module")
def other_index(tmp_path_factory):
    """An index of another document."""
    folder = tmp_path_factory.mktemp("other")
    (folder / "corpus.jsonl").write_text(json.dumps({"doc_id": "z", "text": "This laptop weighs 1 lb."}))
    return build_index(folder / "corpus.jsonl", folder / "index", workers=1)


def test_another_index_of_a_name_is_replaced_only_if_asked(engine, served_index, other_index):
    assert engine.serve(served_index, "laptops").new
    assert not engine.serve(served_index, "laptops", overwrite=True).new
    with pytest.raises(OptionError, match=r"laptops is there, and holds something else.*--overwrite.*another --name"):
        engine.serve(other_index, "laptops")
    assert engine.found(served_index, "laptops", "laptop under 4 lb") == ["a::1"]
    assert engine.serve(other_index, "laptops", overwrite=True).new
    assert engine.found(other_index, "laptops", "laptop under 4 lb") == ["z::0"]
    assert not engine.serve(other_index, "laptops").new


@pytest.mark.parametrize("name", ["select", "order", "user"])
def test_reserved_words_are_names(engine, served_index, name):
    assert engine.serve(served_index, name).new
    assert not engine.serve(served_index, name).new
    assert engine.found(served_index, name, "laptop under 4 lb") == ["a::1"]
