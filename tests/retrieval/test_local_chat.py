"""Language models as rerankers with a real, tiny model: answered by transformers behind a server of the tests."""

from __future__ import annotations

import pytest

from qbench.llm.client import Access
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from tests.api_server import KEY, QUICK, ApiServer
from tests.factories import tiny_benchmark
from tests.tiny_chat import LocalChat, tiny_chat_model

BENCHMARK = tiny_benchmark()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    words = [word for text in BENCHMARK.corpus["text"] for word in text.replace(".", " ").split()]
    return tiny_chat_model(tmp_path_factory.mktemp("chat") / "tiny", words)


@pytest.fixture
def web(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ApiServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def ask(folder, name):
    access = Access(patience=QUICK, threads=1)
    (result,) = execute(BENCHMARK, [parse_system(name)], folder, ExecuteOptions(settings=("given",), access=access))
    return result


def test_scores_are_the_expectation_under_the_model_s_own_probabilities(web, tmp_path, folder):
    import torch

    web.chat = LocalChat(folder, only=("1", "2", "3", "4", "5"))
    result = ask(tmp_path, "BM25 + LLM-itemwise(model=tiny, k=3)")
    assert result.cost.calls == result.run.height == len(web.seen) == result.meta["reranker_with_probabilities"]
    assert (result.cost.malformed, result.cost.refused) == (0, 0)
    digits = web.chat.tokenizer.convert_tokens_to_ids(["1", "2", "3", "4", "5"])
    expected = []
    with torch.no_grad():
        for _, sent, _ in web.seen:
            tokens = web.chat.encoded(sent["messages"][-1]["content"])
            chances = web.chat.model(**tokens).logits[0, -1, digits].softmax(-1)
            expected.append(float((chances * torch.arange(1, 6)).sum()))
    assert sorted(result.run["score"]) == pytest.approx(sorted(expected), abs=1e-4)
    assert len({round(score, 6) for score in expected}) > 5


@pytest.mark.parametrize("form", ["listwise", "pairwise"])
def test_whatever_a_model_without_sense_writes_is_counted_and_ranks(web, tmp_path, folder, form):
    web.chat = LocalChat(folder, only=("1", "2", "3", "[", "]", ">"), length=8)
    result = ask(tmp_path, f"BM25 + LLM-{form}(model=tiny, k=3)")
    assert 0 < result.cost.malformed <= result.cost.calls == len(web.seen)
    first = ask(tmp_path, "BM25").run
    found = result.run.group_by("query_id").len().sort("query_id")
    assert found.equals(first.filter(first["rank"] <= 3).group_by("query_id").len().sort("query_id"))
