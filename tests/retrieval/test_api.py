"""Systems that ask a server, on a benchmark: forms, replay, budget, what a run's key holds, what they would ask."""

from __future__ import annotations

import pytest

from qbench.errors import BudgetError, InputError, OptionError
from qbench.llm.budget import Budget, Limit, Price
from qbench.llm.client import Access
from qbench.retrieval.api import expected_calls
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.passages import passages
from tests.api_server import KEY, QUICK, ApiServer, embed
from tests.factories import tiny_benchmark

BENCHMARK = tiny_benchmark()
QUERIES = BENCHMARK.queries_of("test")


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("OPENAI_BASE_URL", "CO_API_URL", "CO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("COHERE_API_KEY", KEY)


@pytest.fixture
def web(monkeypatch):
    with ApiServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("CO_API_URL", server.address)
        yield server


def ask(folder, *names, access=None, **options):
    options.setdefault("settings", ("given",))
    access = access or Access(patience=QUICK)
    return execute(BENCHMARK, [parse_system(name) for name in names], folder, ExecuteOptions(access=access, **options))


def ranking(result, query_id):
    return result.run.filter(query_id=query_id)["doc_id"].to_list()


@pytest.mark.parametrize("name", ["OpenAI", "Cohere"])
def test_it_stands_wherever_a_dense_model_may_stand(web, tmp_path, name):
    forms = [name, f"Q{name}", f"{name}_filter", f"BM25 + {name}", f"BM25 + {name}(k=3)-I(alpha=0.2)"]
    plain, scored, filtered, reranked, fused = ask(tmp_path, *forms, depth=5)
    assert all(len(ranking(plain, query.query_id)) == 5 for query in QUERIES)
    assert set(ranking(filtered, "q7")) <= {"d02"}
    assert scored.run.height > 0
    assert len(ranking(fused, "q4")) == 3
    first, again = ask(tmp_path, "BM25", f"BM25 + {name}")
    assert set(ranking(first, "q4")) == set(ranking(again, "q4"))
    assert reranked.run.equals(ask(tmp_path, forms[3], depth=5)[0].run)
    assert len(list((tmp_path / "indexes").rglob("vectors.npy"))) == 1
    assert plain.meta["documents_cut"] == 0


def test_a_second_run_elsewhere_costs_nothing_and_gives_the_same_bytes(web, tmp_path, monkeypatch):
    recording = tmp_path / "shipped.sqlite"
    names = ("OpenAI", "QOpenAI", "BM25 + Cohere-RRF")
    ask(tmp_path / "a", *names, access=Access(recording, patience=QUICK))
    asked = len(web.seen)
    web.plan.extend([lambda _: (500, {}, b"")] * 99)
    for name in ("OPENAI_API_KEY", "COHERE_API_KEY"):
        monkeypatch.delenv(name)
    ask(tmp_path / "b", *names, access=Access(recording, replay=True))
    assert len(web.seen) == asked
    one, two = ({p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*.parquet")} for n in "ab")
    assert len(one) >= 3
    assert one == two
    arrays = [{p.name: p.read_bytes() for p in (tmp_path / n).rglob("vectors.npy")} for n in "ab"]
    assert arrays[0] == arrays[1]
    with pytest.raises(InputError, match="are not in the recording"):
        ask(tmp_path / "b", "OpenAI(dimensions=8)", access=Access(recording, replay=True))


def test_answers_are_kept_in_the_folder_where_no_recording_is_named(web, tmp_path):
    ask(tmp_path, "OpenAI")
    assert (tmp_path / "answers.sqlite").is_file()


def test_a_budget_stops_a_run_and_the_next_goes_on(web, tmp_path):
    budget = Budget(Limit(calls=2))  # the dimension, then the documents
    with pytest.raises(BudgetError, match="the budget of 2 calls is spent"):
        ask(tmp_path, "OpenAI", access=Access(patience=QUICK, budget=budget))
    assert len(web.seen) == 2
    ask(tmp_path, "OpenAI")
    assert len(web.seen) == 3
    assert sorted(web.texts[-len(QUERIES) :]) == sorted(query.text for query in QUERIES)


def test_queries_of_another_size_than_the_index_are_refused(web, tmp_path):
    ask(tmp_path, "OpenAI")
    (tmp_path / "answers.sqlite").unlink()
    web.embed = lambda texts: embed(texts, size=8)
    with pytest.raises(InputError, match="holds vectors of 16 numbers, and the model gives others"):
        ask(tmp_path, "OpenAI", split="dev")


def test_what_can_change_a_run_changes_its_digest(web, tmp_path, monkeypatch):
    results = ask(
        tmp_path,
        "OpenAI",
        "OpenAI(model=other)",
        "OpenAI(dimensions=8)",
        "OpenAI(max_length=1)",
        "Cohere",
        "BM25 + OpenAI",
        "BM25 + OpenAI(k=2)",
        "BM25 + Cohere",
    )
    assert len({result.digest for result in results}) == len(results)
    (same,) = ask(tmp_path, "OpenAI(batch=5)")
    (named,) = ask(tmp_path, f"OpenAI(base_url={web.url})")
    assert same.digest == named.digest == results[0].digest
    monkeypatch.setenv("OPENAI_BASE_URL", web.address + "//v1")
    (elsewhere,) = ask(tmp_path / "b", f"OpenAI(base_url={web.address}/v1)")
    assert elsewhere.digest == results[0].digest


def test_another_server_is_another_system(web, tmp_path):
    with ApiServer(embed=lambda texts: -embed(texts)) as other:
        one, two = ask(tmp_path, "OpenAI", f"OpenAI(base_url={other.url})")
    assert one.digest != two.digest
    assert len(other.seen) == len(web.seen)


def test_an_address_that_is_none_is_named_before_anything_runs(web, tmp_path):
    with pytest.raises(OptionError, match="base_url is no address"):
        ask(tmp_path, "BM25", "OpenAI(base_url=here)")
    assert not (tmp_path / "runs").exists()


def test_no_byte_in_the_folder_is_the_key_s(web, tmp_path):
    ask(tmp_path, "OpenAI", "Cohere", "BM25 + Cohere")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        assert KEY.encode() not in path.read_bytes()
        assert str(tmp_path).encode() not in path.read_bytes()


def test_what_would_be_asked_is_what_is_asked(web, tmp_path):
    names = ["OpenAI", "QOpenAI(alpha=2)", "BM25 + OpenAI", "Cohere_filter", "BM25"]
    systems = [parse_system(name) for name in names]
    budget = Budget(prices={"text-embedding-3-small": Price(1.0), "embed-english-v3.0": Price(2.0)})
    access = Access(tmp_path / "answers.sqlite", budget=budget, patience=QUICK)

    def expected():
        return expected_calls(systems, passages(BENCHMARK.corpus)["passage"], QUERIES, access, 256)

    lines = expected()
    assert not web.seen
    assert not (tmp_path / "answers.sqlite").exists()
    assert [(line.model, line.roles) for line in lines] == [
        ("text-embedding-3-small", ("document", "query")),
        ("embed-english-v3.0", ("document",)),
        ("embed-english-v3.0", ("query",)),
    ]
    ask(tmp_path, *names, access=access)
    assert sum(line.estimate.inputs for line in lines) == len(web.texts)
    assert sum(line.estimate.calls for line in lines) == len(web.seen) == budget.calls
    assert all(line.estimate.money > 0 for line in lines)
    done = expected()
    assert [line.estimate.inputs for line in done] == [line.estimate.inputs for line in lines]
    assert [(line.estimate.recorded, line.estimate.calls) for line in done] == [
        (line.estimate.inputs, 0) for line in lines
    ]


def test_a_reranker_with_a_quantity_score_is_asked_for_search_words(web, tmp_path):
    names = ["OpenAI", "BM25 + QOpenAI(alpha=2)"]
    access = Access(tmp_path / "answers.sqlite", patience=QUICK)
    systems = [parse_system(name) for name in names]
    (line,) = expected_calls(systems, passages(BENCHMARK.corpus)["passage"], QUERIES, access, 256)
    ask(tmp_path, *names, access=access)
    assert line.estimate.inputs == len(web.texts)
    terms = {query.terms for query in QUERIES if query.conditions}
    assert terms - {query.text for query in QUERIES}
    assert terms <= set(web.texts)
