"""A provider's embeddings as an encoder: of length 1, cut, recorded; going on after a kill; answers of another size."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from qbench.errors import BudgetError, ServerError
from qbench.llm.budget import Budget, Limit
from qbench.llm.client import estimate
from qbench.models.api_encoders import ApiEncoder, embedding_servers, prepared_text
from qbench.retrieval.dense import build_dense
from qbench.retrieval.rankers import RankerContext
from tests.api_server import ApiServer, access, embed, waiting

TEXTS = ["a fox", "the dog", "12 kg", "the lazy dog and the fox"]


@pytest.fixture(autouse=True)
def loopback(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("COHERE_API_KEY", "a-key")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")


@pytest.fixture
def web():
    with ApiServer() as server:
        yield server


@pytest.fixture(params=["OpenAI", "Cohere"])
def provider(request):
    return request.param


def encoder(provider, web, folder, *, max_length=0, access_options=None, **options):
    base = web.url if provider == "OpenAI" else web.address
    servers = embedding_servers(provider, "some-model", base_url=base, **options)
    return ApiEncoder(servers, access(folder, **(access_options or {})), max_length)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("role", ["query", "document"])
def test_vectors_have_length_one_and_the_server_s_direction(provider, web, tmp_path, role):
    one = encoder(provider, web, tmp_path)
    vectors = one.encode(TEXTS, role)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, unit(embed(TEXTS)), atol=1e-6)
    assert one.dimension == 16
    assert web.texts[1:] == TEXTS  # the first was asked to learn the dimension
    if provider == "Cohere":
        assert [sent["input_type"] for _, sent, _ in web.seen] == ["search_document", f"search_{role}"]


def test_the_dimension_is_asked_once_and_then_recorded(provider, web, tmp_path):
    assert encoder(provider, web, tmp_path).dimension == 16
    assert encoder(provider, web, tmp_path, access_options={"replay": True}).dimension == 16
    assert len(web.seen) == 1
    shorter = encoder(provider, web, tmp_path, dimensions=5)
    assert (shorter.dimension, shorter.probes()) == (5, [])
    assert len(web.seen) == 1
    np.testing.assert_allclose(shorter.encode(TEXTS), unit(embed(TEXTS)[:, :5]), atol=1e-6)


def test_a_text_without_signs_is_never_sent_and_near_to_nothing(provider, web, tmp_path):
    vectors = encoder(provider, web, tmp_path).encode(["", "a fox", " \n"])
    np.testing.assert_allclose(vectors[1], unit(embed(["a fox"]))[0], atol=1e-6)
    assert not vectors[[0, 2]].any()
    assert web.texts[1:] == ["a fox"]


def test_long_texts_are_cut_between_letters(provider, web, tmp_path):
    assert prepared_text("abc", 1) == "abc"
    assert prepared_text("abcd", 1) == "abc"
    assert prepared_text("abcd", 0) == "abcd"
    assert prepared_text("ab€", 1) == "ab"
    assert prepared_text("    x", 1) == ""
    encoder(provider, web, tmp_path, max_length=2).encode(["a long text of some words"])
    assert web.texts[1:] == ["a long"]


def test_no_text_gives_no_vector(provider, web, tmp_path):
    assert encoder(provider, web, tmp_path).encode([]).shape == (0, 16)


def test_another_size_is_refused_and_not_recorded(provider, web, tmp_path):
    one = encoder(provider, web, tmp_path)
    one.encode(TEXTS[:1])
    web.embed = lambda texts: embed(texts, size=8)
    with pytest.raises(ServerError, match=r"of 8 numbers, and 16 are needed \(found 'the dog'\)"):
        one.encode(TEXTS)
    with pytest.raises(ServerError, match="of 8 numbers, and 16 are needed"):
        encoder(provider, web, tmp_path).encode(TEXTS)
    web.embed = embed
    np.testing.assert_allclose(one.encode(TEXTS), unit(embed(TEXTS)), atol=1e-6)


def test_a_recording_of_another_model_s_vectors_is_named(provider, web, tmp_path):
    one = encoder(provider, web, tmp_path)
    one.encode(TEXTS)
    one.size = 8
    with pytest.raises(ServerError, match=r"a recorded vector has 16 numbers, and 8 .*another recording"):
        one.encode(TEXTS)


def stored(folder, texts, encoder):
    context = RankerContext(pl.DataFrame({"doc_id": texts, "passage": texts}), "key", folder)
    return np.load(build_dense(encoder, {}, "float32", context).folder / "vectors.npy")


def test_a_corpus_is_asked_in_requests_of_the_provider_s_size(provider, web, tmp_path):
    texts = [f"document {i}" for i in range(250)]
    one = encoder(provider, web, tmp_path)
    vectors = stored(tmp_path, texts, one)
    np.testing.assert_allclose(vectors, unit(embed(texts)), atol=1e-6)
    sizes = sorted(len(sent.get("input", sent.get("texts"))) for _, sent, _ in web.seen)
    assert sizes == ([1, 250] if provider == "OpenAI" else [1, 58, 96, 96])


def test_a_budget_stops_between_requests_and_the_next_call_goes_on(web, tmp_path):
    texts = [f"document {i}" for i in range(250)]
    limited = Budget(Limit(calls=2))
    with pytest.raises(BudgetError, match=r"budget of 2 calls is spent .*96 of 250"):
        stored(tmp_path, texts, encoder("Cohere", web, tmp_path, access_options={"budget": limited}))
    stored(tmp_path, texts, encoder("Cohere", web, tmp_path))
    assert len(web.texts) == 251
    assert len(set(web.texts)) == 251


SCRIPT = """
import sys
from pathlib import Path
import polars as pl
from qbench.llm.client import Access
from qbench.models.api_encoders import ApiEncoder, embedding_servers
from qbench.retrieval.dense import build_dense
from qbench.retrieval.rankers import RankerContext

folder = Path(sys.argv[2])
servers = embedding_servers("Cohere", "some-model", base_url=sys.argv[1], batch=10)
encoder = ApiEncoder(servers, Access(folder / "answers.sqlite", threads=2))
texts = [f"document {i}" for i in range(200)]
build_dense(encoder, {}, "float32", RankerContext(pl.DataFrame({"doc_id": texts, "passage": texts}), "key", folder))
"""


def test_a_killed_encoding_loses_only_what_is_on_its_way(web, tmp_path):
    web.plan.extend([lambda payload: None] * 5 + [waiting(lambda: web, 60)] * 2)
    started = subprocess.Popen([sys.executable, "-c", SCRIPT, web.address, str(tmp_path)])
    end = time.monotonic() + 60
    while len(web.seen) < 7 and time.monotonic() < end:  # a probe, 4 answered, 2 that hang
        assert started.poll() is None
        time.sleep(0.02)
    one = encoder("Cohere", web, tmp_path, batch=10)
    texts = [f"document {i}" for i in range(200)]
    while estimate(one.servers["document"], [texts], one.access).recorded < 40 and time.monotonic() < end:
        time.sleep(0.02)
    os.kill(started.pid, signal.SIGKILL)
    assert started.wait() == -signal.SIGKILL
    before = len(web.texts)
    vectors = stored(tmp_path, texts, one)
    assert before == 1 + 60
    assert len(web.texts) - before == 200 - 40
    np.testing.assert_allclose(vectors, unit(embed(texts)), atol=1e-6)
