"""OpenAI's and Cohere's interfaces, over HTTP to a server of our own: good, slow, failing and nonsense answers."""

from __future__ import annotations

import json
import logging
import socket
import time
from dataclasses import replace

import numpy as np
import pytest

from qbench.errors import OptionError, ServerError
from qbench.llm import embeddings
from qbench.llm.api_keys import Key
from qbench.llm.budget import Budget
from qbench.llm.client import Patience, ask
from qbench.llm.embeddings import COHERE_URL as COHERE
from qbench.llm.embeddings import OPENAI_URL as OPENAI
from qbench.llm.embeddings import CohereEmbeddings, OpenAIEmbeddings, largest_answer
from tests.api_server import KEY, QUICK, ApiServer, access, embed, failing, good, saying, waiting

TEXTS = ["a fox", "the dog", "12 kg"]
VARIABLES = ("OPENAI_API_KEY", "COHERE_API_KEY", "CO_API_KEY", "OPENAI_BASE_URL", "CO_API_URL", "OPENAI_ORG_ID")
VARIABLES = (*VARIABLES, "OPENAI_PROJECT_ID")


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("COHERE_API_KEY", KEY)


@pytest.fixture
def web():
    with ApiServer() as server:
        yield server


@pytest.fixture(params=["openai", "cohere"])
def provider(request):
    """Makes a provider's embeddings from a server."""
    if request.param == "openai":
        return lambda web, **options: OpenAIEmbeddings("some-model", web.url, **options)
    return lambda web, **options: CohereEmbeddings("some-model", web.address, side="search_document", **options)


def test_vectors_are_the_server_s(web, provider, tmp_path):
    budget = Budget()
    found = ask(provider(web), TEXTS, access(tmp_path, budget=budget))
    np.testing.assert_array_equal(np.stack(found), embed(TEXTS).astype(np.float32))
    assert (budget.calls, budget.tokens) == (1, 6)  # as the server says, a token a word
    again = ask(provider(web), TEXTS, access(tmp_path, replay=True))
    assert [v.tobytes() for v in again] == [v.tobytes() for v in found]
    assert len(web.seen) == 1


def test_openai_is_asked_as_its_own_package_asks(web, tmp_path, monkeypatch):
    from openai import OpenAI

    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    ours = ask(OpenAIEmbeddings("some-model", web.url, dimensions=8), TEXTS, access(tmp_path))
    with OpenAI(base_url=web.url, api_key=KEY) as client:
        theirs = client.embeddings.create(model="some-model", input=TEXTS, dimensions=8)
    (path, sent, headers), (their_path, their_sent, their_headers) = web.seen
    assert (path, sent) == (their_path, their_sent)
    for name in ("authorization", "openai-organization", "openai-project"):
        assert headers[name] == their_headers[name]
    assert headers["authorization"] == f"Bearer {KEY}"
    rows = sorted(theirs.data, key=lambda row: row.index)
    np.testing.assert_array_equal(np.stack(ours), np.array([row.embedding for row in rows], np.float32))


def test_a_server_that_knows_no_base64_or_gives_no_places_will_do(web, tmp_path):
    web.base64 = False
    (first,) = ask(OpenAIEmbeddings("m", web.url), TEXTS[:1], access(tmp_path))
    np.testing.assert_array_equal(first, embed(TEXTS[:1])[0].astype(np.float32))
    rows = [{"embedding": row.tolist()} for row in embed(TEXTS)]
    web.plan.append(saying({"data": rows}))
    found = ask(OpenAIEmbeddings("n", web.url), TEXTS, access(tmp_path))
    np.testing.assert_array_equal(np.stack(found), embed(TEXTS).astype(np.float32))


def test_cohere_is_asked_as_its_reference_says(web, tmp_path):
    for side, more in (("search_query", {}), ("search_document", {"dimensions": 8})):
        ask(CohereEmbeddings("embed-english-v3.0", web.address, side=side, **more), TEXTS, access(tmp_path))
    common = {"model": "embed-english-v3.0", "texts": TEXTS, "embedding_types": ["float"], "truncate": "END"}
    (path, query, headers), (_, document, _) = web.seen
    assert path == "/v2/embed"
    assert query == {**common, "input_type": "search_query"}
    assert document == {**common, "input_type": "search_document", "output_dimension": 8}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["content-type"] == "application/json"


def test_requests_are_no_larger_than_the_provider_takes():
    texts = ["word"] * 5000
    assert [len(span) for span in OpenAIEmbeddings("m").requests(texts)] == [2048, 2048, 904]
    assert [len(span) for span in OpenAIEmbeddings("m").requests(["x" * 100_000] * 7)] == [3, 3, 1]
    assert [len(span) for span in OpenAIEmbeddings("m", batch=2000).requests(texts)] == [2000, 2000, 1000]
    assert {len(span) for span in CohereEmbeddings("m").requests(texts)} == {96, 5000 % 96}


@pytest.mark.parametrize(
    "trouble",
    [
        failing(500),
        failing(503, "overloaded"),
        failing(429, retry_after="0.01"),
        saying(b"<html>proxy</html>"),
        saying({"error": {"message": "upstream is busy", "code": 503}}),
    ],
)
def test_what_passes_is_tried_again(web, provider, tmp_path, trouble):
    web.plan.extend([trouble, trouble])
    found = ask(provider(web), TEXTS, access(tmp_path))
    assert len(web.seen) == 3
    np.testing.assert_array_equal(np.stack(found), embed(TEXTS).astype(np.float32))


@pytest.mark.parametrize("headers", [{"retry_after": "0.3"}, {"retry_after_ms": "300"}])
def test_a_rate_limit_is_waited_for(web, provider, tmp_path, headers):
    import time

    web.plan.append(failing(429, "slow down", **headers))
    start = time.monotonic()
    ask(provider(web), TEXTS, access(tmp_path))
    assert time.monotonic() - start >= 0.3


def test_a_rate_limit_of_a_day_is_an_error(web, provider, tmp_path):
    web.plan.append(failing(429, "daily limit", retry_after="86400"))
    with pytest.raises(ServerError, match="HTTP 429, daily limit; it wants us to wait 86,400 s"):
        ask(provider(web), TEXTS, access(tmp_path))


def test_a_date_may_stand_for_the_wait(web, provider, tmp_path):
    web.plan.append(failing(429, "later", retry_after="Fri, 31 Dec 2100 23:59:59 GMT"))
    with pytest.raises(ServerError, match="later; it wants us to wait"):
        ask(provider(web), TEXTS, access(tmp_path))
    web.plan.append(failing(429, "sooner", retry_after="Fri, 31 Dec 1999 23:59:59 GMT"))
    assert len(ask(provider(web), TEXTS, access(tmp_path))) == 3


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        (failing(401, f"bad key {KEY}"), r"HTTP 401: it refuses the key in \w+_API_KEY.*Set \w+_API_KEY"),
        (failing(403), "HTTP 403: it refuses the key"),
        (failing(404, "no such model"), "HTTP 404, no such model.*Check model and base_url"),
        (failing(400, "maximum context length exceeded"), "HTTP 400, maximum context length exceeded.*max_length"),
        (failing(413, "x" * 190 + KEY + "y" * 99), r"HTTP 413, x{190}\[key\]y{5} \[\.\.\.\]"),
        (lambda _: (422, {}, b'{"message": "too many texts"}'), "HTTP 422, too many texts"),
        (lambda _: (418, {}, b"tea"), "HTTP 418, tea"),
        (lambda _: (429, {}, json.dumps({"error": {"code": "insufficient_quota", "message": "pay"}}).encode()), "pay"),
        (lambda _: (307, {"Location": "http://127.0.0.1:9/elsewhere"}, b""), "HTTP 307|no connection"),
    ],
)
def test_what_does_not_pass_is_an_error_at_once(web, provider, tmp_path, trouble, says):
    web.plan.append(trouble)
    with pytest.raises(ServerError, match=says) as caught:
        ask(provider(web), TEXTS, access(tmp_path, patience=replace(QUICK, attempts=1)))
    assert KEY not in str(caught.value)
    assert len(web.seen) == 1
    assert "127.0.0.1" in str(caught.value)


def test_errors_that_stay_are_told(web, provider, tmp_path):
    web.plan.extend([failing(500, "still broken")] * 9)
    with pytest.raises(ServerError, match="HTTP 500, still broken; tried 5 times"):
        ask(provider(web), TEXTS, access(tmp_path))
    assert len(web.seen) == 5


def test_a_server_that_never_answers(web, provider, tmp_path):
    web.plan.extend([waiting(lambda: web, 30)] * 9)
    budget = Budget()
    with pytest.raises(ServerError, match=r"no answer within 0\.1 s; tried 3 times"):
        ask(provider(web), TEXTS, access(tmp_path, patience=replace(QUICK, timeout=0.1), budget=budget))
    assert budget.calls == 3  # it may have done the work


def dripping(web, before_headers):
    """Headers or body a byte at a time, each of which comes in time."""

    def drip(exchange):
        if before_headers:
            exchange.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        else:
            exchange.send_response(200)
            exchange.send_header("Content-Length", "1000000")
            exchange.end_headers()
        while not web.closing.wait(0.05):
            exchange.wfile.write(b" ")
            exchange.wfile.flush()

    return lambda payload: drip


@pytest.mark.parametrize("before_headers", [True, False])
def test_a_server_that_says_a_byte_now_and_then(web, provider, tmp_path, before_headers):
    web.plan.extend([dripping(web, before_headers)] * 9)
    start = time.monotonic()
    with pytest.raises(ServerError, match=r"no answer within 0\.3 s; tried 3 times"):
        ask(provider(web), TEXTS, access(tmp_path, patience=replace(QUICK, timeout=0.3)))
    assert time.monotonic() - start < 5
    assert len(web.seen) == 3


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_that_is_too_large_is_not_read(web, provider, tmp_path, monkeypatch, status):
    monkeypatch.setattr(embeddings, "largest_answer", lambda vectors: 1000)
    web.plan.extend([lambda _: (status, {}, b" " * 5_000_000)] * 9)
    budget = Budget()
    says = "more than 1,000 bytes, and is not read" if status == 200 else "HTTP 500|more than 1,000 bytes"
    with pytest.raises(ServerError, match=says):
        ask(provider(web), TEXTS, access(tmp_path, budget=budget))
    assert budget.calls == (status == 200 or len(web.seen) == 1)


def test_the_largest_vectors_are_read(web, provider, tmp_path):
    web.embed, web.base64 = (lambda texts: embed(texts, 8192)), False
    assert ask(provider(web), TEXTS, access(tmp_path))[0].shape == (8192,)
    assert largest_answer(1) > 8192 * 22


def test_a_redirect_is_told_and_not_followed(web, provider, tmp_path):
    with ApiServer() as other:
        web.plan.append(lambda _: (307, {"Location": f"{other.address}/v2/{KEY}"}, b""))
        with pytest.raises(ServerError, match=r"HTTP 307: it redirects to 'http.*/v2/\[key\]'.*as base_url"):
            ask(provider(web), TEXTS, access(tmp_path))
        assert not other.seen


def test_a_server_that_is_not_there(provider, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))

        class Nobody:
            address = f"http://127.0.0.1:{free.getsockname()[1]}"
            url = address

        budget = Budget()
        with pytest.raises(ServerError, match=r"no connection \(.*refused.*; tried 4 times.*Check base_url"):
            ask(provider(Nobody), TEXTS, access(tmp_path, budget=budget))
        assert budget.calls == 0


def nonsense(kind, rows):
    """An answer of either provider with these vectors."""
    if kind == "openai":
        return {"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]}
    return {"embeddings": {"float": rows}}


GOOD = [1.0, 2.0]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([GOOD, GOOD], "2 vectors for 3 texts"),
        ([GOOD] * 4, "4 vectors for 3 texts"),
        ([], "0 vectors for 3 texts"),
        ([GOOD, [1.0, float("nan")], GOOD], r"not finite \(found 'the dog'\)"),
        ([GOOD, GOOD, [1.0, 1e300]], r"not finite \(found '12 kg'\)"),
        ([GOOD, [1.0], GOOD], r"of 1 numbers, and 2 are needed \(found 'the dog'\)"),
        ([GOOD, GOOD, ["a", "b"]], r"cannot be read \(found '12 kg'\)"),
        ([GOOD, GOOD, None], r"cannot be read \(found '12 kg'\)"),
        ([GOOD, GOOD, "!"], r"cannot be read \(found '12 kg'\)"),
        ([GOOD, GOOD, []], r"cannot be read \(found '12 kg'\)"),
        ([GOOD, [0.0, 0.0], GOOD], r"of zeros \(found 'the dog'\)"),
    ],
)
@pytest.mark.parametrize("kind", ["openai", "cohere"])
def test_nonsense_is_named_and_not_recorded(web, tmp_path, kind, rows, says):
    one = OpenAIEmbeddings("m", web.url) if kind == "openai" else CohereEmbeddings("m", web.address)
    web.plan.append(lambda _: good(nonsense(kind, rows)))
    with pytest.raises(ServerError, match=says):
        ask(one, TEXTS, access(tmp_path))
    assert len(web.seen) == 1
    found = ask(one, TEXTS, access(tmp_path))
    np.testing.assert_array_equal(np.stack(found), embed(TEXTS).astype(np.float32))


@pytest.mark.parametrize("body", [{}, {"data": 1}, {"data": {}, "embeddings": []}, {"embeddings": {"float": None}}])
def test_answers_without_vectors(web, provider, tmp_path, body):
    web.plan.append(saying(body))
    with pytest.raises(ServerError, match="0 vectors for 3 texts"):
        ask(provider(web), TEXTS, access(tmp_path))


@pytest.mark.parametrize("places", [[0, 0, 1], [0, 1, 3], [0, 1, "2"], [0, 1, None]])
def test_an_answer_that_does_not_say_whose_a_vector_is(web, tmp_path, places):
    rows = [{"index": place, "embedding": GOOD} for place in places]
    web.plan.append(saying({"data": rows}))
    with pytest.raises(ServerError, match="which vector is whose"):
        ask(OpenAIEmbeddings("m", web.url), TEXTS, access(tmp_path))


def test_a_vector_of_another_size_than_asked_for(web, provider, tmp_path):
    with pytest.raises(ServerError, match="of 16 numbers, and 5 are needed"):
        ask(provider(web, size=5), TEXTS, access(tmp_path))


@pytest.mark.parametrize("body", [b"", b"[1, 2]", b"nonsense", b"\xff\xfe", b'{"data": [', b"null"])
def test_garbage_that_stays_is_told(web, provider, tmp_path, body):
    web.plan.extend([saying(body)] * 9)
    with pytest.raises(ServerError, match=r"its answer is not a JSON object, but .*; tried 3 times"):
        ask(provider(web), TEXTS, access(tmp_path))


def test_the_key_is_in_no_error_no_log_and_no_file(web, provider, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    steps = [failing(500, f"your header was Bearer {KEY}"), failing(429, KEY), failing(404, f"{KEY} knows no model")]
    web.plan.extend(steps)
    with pytest.raises(ServerError) as caught:
        ask(provider(web), TEXTS, access(tmp_path))
    ask(provider(web), TEXTS, access(tmp_path))
    assert len(web.seen) == 4
    assert "[key] knows no model" in str(caught.value)
    chain, fault = [], caught.value
    while fault is not None:
        chain.append(repr(fault) + str(fault))
        fault = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
    for text in (*chain, caplog.text, repr(provider(web)), repr(access(tmp_path))):
        assert KEY not in text
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert all(KEY.encode() not in path.read_bytes() for path in written)
    assert all(word.encode() not in path.read_bytes() for path in written for word in TEXTS)


def test_a_server_at_home_needs_no_key(web, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("COHERE_API_KEY")
    assert len(ask(OpenAIEmbeddings("m", web.url), TEXTS, access(tmp_path))) == 3
    assert len(ask(CohereEmbeddings("m", web.address, side="search_query"), TEXTS, access(tmp_path))) == 3
    assert "authorization" not in web.seen[1][2]
    web.plan.extend([failing(401), failing(401)])
    for one, name in (
        (OpenAIEmbeddings("n", web.url), "OPENAI_API_KEY"),
        (CohereEmbeddings("n", web.address, side="search_query"), "COHERE_API_KEY"),
    ):
        with pytest.raises(ServerError, match=rf"refuses a call without a key \({name} is not set\)"):
            ask(one, TEXTS, access(tmp_path))


@pytest.mark.parametrize(
    ("server", "says"),
    [
        (OpenAIEmbeddings("m", OPENAI), "OpenAI needs a key.*OPENAI_API_KEY"),
        (CohereEmbeddings("m", COHERE, side="search_query"), "Cohere needs a key.*COHERE_API_KEY"),
    ],
)
def test_the_providers_themselves_need_a_key(tmp_path, monkeypatch, server, says):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(OptionError, match=says):
        ask(server, TEXTS, access(tmp_path))


def test_many_requests_are_on_their_way_at_once(web, provider, tmp_path):
    import threading

    together = threading.Barrier(4, timeout=10)

    def meet(payload):
        together.wait()

    web.plan.extend([meet] * 4)
    texts = [f"text {i}" for i in range(8)]
    found = ask(provider(web, batch=2), texts, access(tmp_path, threads=4, patience=Patience(timeout=20)))
    np.testing.assert_array_equal(np.stack(found), embed(texts).astype(np.float32))


@pytest.mark.parametrize("form", [KEY, KEY.replace("-", "%2D"), "".join(f"\\u{ord(c):04x}" for c in KEY)])
def test_a_key_that_the_server_repeats_in_a_good_answer_goes_no_further(form):
    from qbench.llm.transport import _without_key, parsed

    body = ('{"choices": [{"text": "you sent ' + form + '", "' + form + '": [1.5]}]}').encode()
    hidden = _without_key(parsed(body), body, Key("OPENAI_API_KEY", KEY))
    assert KEY not in json.dumps(hidden)
    if form == KEY:
        assert hidden == {"choices": [{"text": "you sent [key]", "[key]": [1.5]}]}


def test_an_answer_that_is_too_deep_is_none():
    from qbench.llm.calls import RequestError
    from qbench.llm.transport import parsed, refusal

    with pytest.raises(RequestError, match="not a JSON object"):
        parsed(b"[" * 100_000)
    assert "HTTP 500" in str(refusal(500, {}, "[" * 100_000, Key("OPENAI_API_KEY", KEY)))
