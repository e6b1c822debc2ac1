"""Dense vectors on a PostgreSQL server with pgvector, beside the quantities: on a real server, where there is one."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from qbench.errors import OptionError, ServerError
from qbench.index.build import build_index
from qbench.progress import silent
from qbench.quantities.conditions import verdict
from qbench.quantities.extractors import ExtractorOptions
from qbench.retrieval.bench import Bench
from qbench.retrieval.engines import pgvector, postgres, serve_postgres
from qbench.retrieval.engines import postgres_sql as sql
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.lexical import build_bm25, open_bm25
from qbench.retrieval.passages import passages
from qbench.retrieval.ranker_options import PgVectorOptions
from qbench.retrieval.rankers import Search
from qbench.scoring.fusion import reciprocal_rank
from tests.factories import tiny_benchmark
from tests.postgres_server import lacking_vectors, program_with_vectors, running
from tests.retrieval.served import LINES

BENCHMARK = tiny_benchmark()
SIZE = 16


class Words:
    """An encoder whose vectors are the sum of one for each word."""

    dimension, similarity = SIZE, "cosine"

    def encode(self, texts, role="document"):
        rows = np.zeros((len(texts), SIZE), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row += np.random.default_rng(sum(map(ord, word))).normal(size=SIZE)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def cut(self, texts):
        return np.zeros(len(texts), bool)


@pytest.fixture(scope="module")
def server():
    if reason := lacking_vectors():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="qbench-pgvector-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with running(folder, program_with_vectors) as address:
            yield address


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    folder, options = tmp_path_factory.mktemp("indexes"), ExecuteOptions()
    extractor = options.extractor_of(BENCHMARK)
    bench = Bench(BENCHMARK, "tiny", folder, options.document_quantities, extractor, 1, silent, options.access)
    return bench.context()


def opened(server, context, **options):
    options = PgVectorOptions(model="words", dsn=server, **options)
    return pgvector.opened(Words(), {"model": "words"}, options, context, postgres.connect(server))


QUERIES = [query for query in BENCHMARK.queries if query.conditions]


def asked(ranker, query):
    return ranker.prepared([Search(query.query_id, query.text, query.conditions)])[0]


def products(context, text):
    vectors = Words().encode(context.corpus["passage"].to_list()).astype(np.float64)
    return vectors @ Words().encode([text], "query")[0].astype(np.float64)


@pytest.mark.parametrize("engine", ["exact", "hnsw"])
def test_a_server_ranks_as_dense_search_does(server, context, engine):
    found = opened(server, context, engine=engine)
    assert found.size
    for query in QUERIES:
        scores = products(context, query.text)
        (best,) = found.ranker.best([asked(found.ranker, query)], 5)
        order = np.lexsort((np.arange(scores.size), -scores.round(6)))[:5]
        assert best.docs.tolist() == order.tolist()
        assert best.scores == pytest.approx(scores[best.docs], abs=1e-6)


def satisfying(context, conditions):
    """Positions of the documents in which each condition is met."""
    mentions = context.quantities()
    return [
        doc
        for doc in range(context.corpus.height)
        if all(any(verdict(each, one) == "met" for each in mentions.of(doc)) for one in conditions)
    ]


@pytest.mark.parametrize("engine", ["exact", "hnsw"])
def test_conditions_are_met_by_all_that_is_found(server, context, engine):
    ranker = opened(server, context, engine=engine).ranker
    for query in QUERIES:
        best = ranker.best_satisfying(asked(ranker, query), query.conditions, 1000)
        # All documents that meet them: the vectors of all of these are compared.
        assert sorted(best.docs.tolist()) == satisfying(context, query.conditions)
        assert (np.diff(best.scores) <= 0).all()


def test_both_rankings_are_fused_as_ranks(server, context, tmp_path):
    ranker = opened(server, context, hybrid="bm25", candidates=4, rank_constant=3).ranker
    weights = {"k1": 1.5, "b": 0.75, "epsilon": 0.25}
    words = open_bm25(build_bm25(context.corpus["passage"], weights, "tiny", tmp_path).folder)
    for query in QUERIES:
        rows = np.full((2, context.corpus.height), np.nan)
        near = products(context, query.text)
        best = np.lexsort((np.arange(near.size), -near.round(6)))[:4]
        rows[0, best] = near[best].round(6)
        (by_words,) = words.best(words.prepared([Search("q", query.text)]), 4)
        rows[1, by_words.docs] = by_words.scores
        fused = reciprocal_rank(list(rows), k=3)
        found = ranker.best_satisfying(asked(ranker, query), (), 10)
        assert dict(zip(found.docs.tolist(), found.scores.tolist(), strict=True)) == pytest.approx(
            {doc: fused[doc] for doc in np.flatnonzero(fused).tolist()}
        )


def test_vectors_are_written_once(server, context):
    first, second = opened(server, context), opened(server, context)
    assert first.size == second.size
    with postgres.connect(server) as connection:
        rows = connection.execute("SELECT count(*) FROM pg_tables WHERE tablename = %s", (first.ranker.table,))
        assert rows.fetchone() == (1,)


def test_a_server_without_the_extension_is_one_line(server):
    with postgres.connect(server) as connection, pytest.raises(ServerError, match="pgvector"), postgres.named():
        connection.execute("CREATE EXTENSION not_there")


@pytest.fixture
def index(tmp_path, monkeypatch):
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, LINES)))
    monkeypatch.setattr(serve_postgres, "load_encoder", lambda model: Words())
    monkeypatch.setattr(serve_postgres, "vectors_name", lambda model: f"vectors_{model}")
    extractor = ExtractorOptions(spacy_model="none", language="en")
    return build_index(tmp_path / "corpus.jsonl", tmp_path / "index", extractor=extractor, workers=1)


def test_an_index_is_served_with_vectors(server, index, tmp_path):
    served = serve_postgres.serve(index, server, "direct", model="words")
    assert served.new
    assert not serve_postgres.serve(index, server, "direct", model="words").new
    places = [served.place]
    if (psql := program_with_vectors("psql")) is not None:
        serve_postgres.write(index, tmp_path / "files", "from_files", model="words")
        command = [psql, server, "-v", "ON_ERROR_STOP=1", "-q", "-f", "load.sql"]
        done = subprocess.run(command, cwd=tmp_path / "files", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        places.append("from_files")
    statement, parameters = serve_postgres.shown_search(index, "laptop under 4 lb", model="words")
    found = []
    for place in places:
        with postgres.connect(server) as connection:
            connection.execute(f"SET search_path = {place}, public")
            found.append(connection.execute(statement, parameters).fetchall())
    ids = passages(index.sentences().collect())["doc_id"]
    # The second shares no word with the query: its vector found it.
    assert [ids[doc] for doc, _ in found[0]] == ["a::1", "c::0"]
    assert all(rows == found[0] for rows in found)
    assert ", ...]" in serve_postgres.shown(index, "laptop under 4 lb", model="words")


def test_vectors_are_written_as_single_precision():
    row = np.array([0.1, -1e-20, 3.4e38, 0], np.float32)
    back = np.array([float(each) for each in pgvector.written(row)[1:-1].split(",")], np.float32)
    assert np.array_equal(row, back)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("PgVector(model=m, ef=5)", "ef changes nothing without engine=hnsw"),
        ("PgVector(model=m, candidates=5)", "candidates changes nothing without hybrid=bm25"),
        ("PgVector(model=m, k1=2)", "k1 changes nothing without hybrid=bm25"),
        ("PgVector(model=m, concepts=shared)", "concepts changes nothing without _filter"),
        ('PgVector(model=m, dsn="password=hush")', "holds a password"),
    ],
)
def test_idle_options_are_refused(name, message):
    with pytest.raises(OptionError, match=message):
        parse_system(name)


def test_a_graph_is_asked_only_without_conditions():
    assert "+ 0" not in sql.nearest("v", [], graph=True)
    assert "+ 0" in sql.nearest("v", [1], graph=True)
    assert "+ 0" in sql.nearest("v", [])
