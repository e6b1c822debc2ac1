"""OpenSearch as a first stage, and an index written for it: on a server of our own that answers as it does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading

import pytest

from qbench.errors import InputError, OptionError, ServerError
from qbench.llm.client import Patience
from qbench.retrieval.analysis import tokens
from qbench.retrieval.engines import opensearch, serve_opensearch
from qbench.retrieval.engines import opensearch_json as body
from qbench.retrieval.engines.opensearch_http import Http
from tests.factories import condition
from tests.opensearch_server import OpenSearchServer, failing, failure
from tests.retrieval.served import QUICK, odd_tables, run

pytestmark = pytest.mark.usefixtures("direct")


@pytest.fixture
def server():
    with OpenSearchServer() as running:
        yield running


@pytest.fixture
def http(server):
    with Http(server.url, QUICK) as http:
        yield http


def test_the_servers_own_score_finds_the_same_documents(tmp_path, server):
    ours, theirs = run(tmp_path, "BM25_filter", f'OpenSearch_filter(url="{server.url}", score=lucene)')
    assert set(ours.run["doc_id"]) == set(theirs.run["doc_id"])
    assert not ours.run["score"].equals(theirs.run["score"])


def test_zero_has_one_sign():
    assert str(body.finite(-0.0)) == "0.0"
    (found,) = body.condition_filters([condition("x", "<=", -0.0, "kilogram")], "ignored", "en")
    assert "-0.0" not in json.dumps(found)


def load(http, name="odd", key="k", tables=None):
    return opensearch.load(http, name, tables or odd_tables(), key)


def test_words_of_any_text_are_found(server, http):
    assert load(http)
    rows = [server.indices["odd"].rows[str(doc)] for doc in range(5)]
    assert [row["words"].split() for row in rows] == [tokens(row["passage"]) for row in rows]
    long = "one" * 2000
    assert opensearch.terms_of(http, "odd", [long, "absent"])["absent"] is None
    assert opensearch.terms_of(http, "odd", [long])[long] is not None
    assert not load(http)
    assert "refresh_interval" in server.indices["odd"].settings
    assert server.indices["odd"].settings["refresh_interval"] is None


def test_an_interrupted_load_goes_on(server, http, monkeypatch):
    monkeypatch.setattr(body, "ROWS", 2)
    server.next("odd/_bulk", lambda *_: None, lambda *_: None, failing(500))
    with pytest.raises(ServerError, match="HTTP 500"):
        load(http)
    assert len(server.indices["odd"].rows) == 4
    server.seen.clear()
    assert load(http)
    assert [path for _, path, _ in server.seen if "odd/_bulk" in path] == ["/odd/_bulk"] * 2
    assert len(server.indices["odd"].rows) == 5


def test_an_index_of_something_else_is_not_touched(server, http):
    server.answer("PUT", "/odd", json.dumps(body.terms_index({})).encode())
    with pytest.raises(OptionError, match=r"holds something else.*choose another --name"):
        load(http)
    assert not server.indices["odd"].rows
    assert load(http, "mine", "one")
    with pytest.raises(OptionError, match="holds something else"):
        load(http, "mine", "two")


def test_documents_that_are_refused_are_named(server, http):
    load(http)
    server.indices["odd"].mappings["_meta"]["qbench"]["complete"] = False
    server.indices["odd"].rows.clear()
    del server.indices["odd"].mappings["properties"]["passage"]
    with pytest.raises(InputError, match=r"refuses 5 of 5 documents; the first, 0: .*strict.*\[passage\]"):
        load(http)


def busy(*places):
    """An answer to documents in which some are put off."""

    def answer(method, path, sent):
        error = {"type": "es_rejected_execution_exception", "reason": "full"}
        items = [
            {"index": {"_id": str(n), "status": 429, "error": error} if n in places else {"_id": str(n), "status": 201}}
            for n in range(len(sent.splitlines()) // 2)
        ]
        return 200, {"errors": True, "items": items}

    return answer


def test_what_a_busy_server_puts_off_is_sent_again(server, http):
    server.next("odd/_bulk", failing(429), busy(0, 1, 2, 3, 4), failing(503))
    assert load(http)
    server.next("down/_bulk", *[failing(503)] * 3)
    with pytest.raises(ServerError, match=r"HTTP 503.*tried 3 times.*what is written is kept"):
        load(http, "down")
    server.next("more/_bulk", busy(3), *[busy(0)] * 2)
    with pytest.raises(ServerError, match="too busy for 1 documents"):
        load(http, "more")


def test_a_request_that_is_too_large_is_halved(server, http):
    server.next("odd/_bulk", failing(413), lambda *_: None, failing(413))
    assert load(http)
    assert len(server.indices["odd"].rows) == 5


def test_documents_that_are_lost_are_noticed(server, http):
    server.next("odd/_count", lambda *_: (200, {"count": 4}))
    with pytest.raises(ServerError, match="holds 4 of 5"):
        load(http)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ({"number": "6.8.0"}, "too old.*Use 7.0 or later"),
        ({"number": "2.1", "distribution": "solr"}, "neither OpenSearch nor Elasticsearch"),
        ({"number": ""}, "neither OpenSearch nor Elasticsearch"),
    ],
)
def test_another_server_is_refused(version, message):
    with OpenSearchServer(version) as other, Http(other.url, QUICK) as http, pytest.raises(ServerError, match=message):
        opensearch.check_version(http)


@pytest.mark.parametrize("number", ["7.17.0", "8.13.2", "9.0.0"])
def test_elasticsearch_is_taken(number):
    with OpenSearchServer({"number": number}) as server, Http(server.url, QUICK) as http:
        opensearch.check_version(http)


def test_no_server_is_one_line():
    with OpenSearchServer() as server:
        gone = server.url
    with (
        Http(gone, QUICK) as http,
        pytest.raises(ServerError, match=r"no connection.*tried 3 times.*Check the address"),
    ):
        http.get("/")


def test_a_slow_server_is_left(server):
    waiting = threading.Event()
    server.next("/", *[lambda *_: waiting.wait(0.3) and None] * 2)
    quick = Patience(attempts=2, first=0.001, timeout=0.05)
    with Http(server.url, quick) as http, pytest.raises(ServerError, match=r"no answer within 0\.05 s; tried 2 times"):
        http.get("/")
    waiting.set()


def test_answers_that_make_no_sense_are_one_line(server, http):
    load(http)
    for part, answer, ask in (
        ("_search", {"hits": 3}, lambda: opensearch.searched(http, "odd", {})),
        ("_search", {"timed_out": True, "_shards": {"failed": 0}}, lambda: opensearch.searched(http, "odd", {})),
        ("_mget", {"docs": [{"found": True}]}, lambda: opensearch.terms_of(http, "odd", ["one"])),
        ("_stats", {}, lambda: opensearch.stored_bytes(http, "odd")),
        ("_mapping", {}, lambda: opensearch.settings_of(http, "odd")),
    ):
        server.next(part, lambda *_, answer=answer: (200, answer))
        with pytest.raises(ServerError, match=r"makes no sense|only a part|not one of qbench"):
            ask()
    server.next("_mapping", *[lambda *_: b"<html>"] * 3)
    with pytest.raises(ServerError, match="not a JSON object"):
        opensearch.settings_of(http, "odd")


def test_passwords_come_from_the_environment_and_are_not_shown(server, monkeypatch):
    for address in ("http://me:hush@host:9200", "http://host:9200?api_key=hush"):
        with pytest.raises(OptionError) as caught:
            Http(address)
        assert "hush" not in str(caught.value)
    monkeypatch.setenv("OPENSEARCH_USERNAME", "me")
    with pytest.raises(OptionError, match="Set both"):
        Http(server.url)
    monkeypatch.setenv("OPENSEARCH_PASSWORD", "hush-hush")
    with Http(server.url, QUICK) as http:
        http.get("/")
    assert server.seen[-1][2]["authorization"].startswith("Basic ")
    monkeypatch.setenv("OPENSEARCH_API_KEY", "key-key-key")
    server.next("/", lambda *_: (401, failure(401, "security_exception", "no such key key-key-key")))
    with Http(server.url, QUICK) as http, pytest.raises(ServerError, match=r"HTTP 401.*Set OPENSEARCH_USER") as caught:
        http.get("/")
    assert server.seen[-1][2]["authorization"] == "ApiKey key-key-key"
    assert "key-key" not in str(caught.value)


def test_the_search_is_shown_as_a_request(served_index, server):
    first = serve_opensearch.serve(served_index, server.url)
    shown = serve_opensearch.shown(served_index, "laptop under 4 lb", server=server.url, name=first.place)
    head, _, search = shown.partition("\n")
    assert head == f"POST /{first.place}/_search"
    asked = serve_opensearch.shown(served_index, "laptop under 4 lb")
    assert json.loads(asked.partition("\n")[2]) == json.loads(search)
    hits = server.answer("POST", f"/{first.place}/_search", search.encode())[1]["hits"]["hits"]
    assert [server.indices[first.place].rows[hit["_id"]]["doc_id"] for hit in hits] == ["a::1"]
    assert "no document holds" in serve_opensearch.shown(served_index, "zebra")
    with pytest.raises(OptionError, match="not an index's name"):
        serve_opensearch.serve(served_index, server.url, "No")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_files_load_with_curl(served_index, server, tmp_path, monkeypatch):
    monkeypatch.setattr(body, "ROWS", 2)
    assert serve_opensearch.write(served_index, tmp_path / "files", "from_files").new
    assert not serve_opensearch.write(served_index, tmp_path / "files", "from_files").new
    assert len(list((tmp_path / "files").glob("documents-*.ndjson"))) == 2

    def load_files():
        return subprocess.run(
            ["sh", "load.sh"], cwd=tmp_path / "files", env={**os.environ, "OPENSEARCH_URL": server.url},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    server.next("from_files/_bulk", busy(0))
    refused = load_files()
    assert refused.returncode == 1
    assert "documents-000000.ndjson" in refused.stderr
    server.indices.clear()
    done = load_files()
    assert done.returncode == 0, done.stderr
    serve_opensearch.serve(served_index, server.url, "direct")
    made, direct = server.indices["from_files"], server.indices["direct"]
    assert made.rows == direct.rows
    assert made.mappings == direct.mappings
    assert made.settings == direct.settings


def test_postings_hold_number_and_count():
    (first, *_) = [json.loads(line.splitlines()[1]) for line in body.document_lines(odd_tables())]
    numbers = dict(odd_tables().terms.select("term", "token").rows())
    counts = {numbers[code >> body.COUNT_BITS]: code % 2**body.COUNT_BITS for code in first["postings"]}
    assert counts == {token: tokens(first["passage"]).count(token) for token in tokens(first["passage"])}
    assert first["postings"] == sorted(first["postings"])


def test_batches_are_bounded(monkeypatch):
    monkeypatch.setattr(body, "BYTES", 10)
    assert [len(batch) for batch in body.batches(iter([b"12345", b"12345", b"1", b"x" * 50, b"1"]))] == [2, 1, 1, 1]
