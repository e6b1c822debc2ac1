"""`PgVector`: dense vectors in PostgreSQL beside the quantities, alone or fused with BM25, computed by the server.

Vectors are those of `SBERT`, encoded here and written to the server once. A product is pgvector's, in single precision:
scores are ours to about six digits, so that documents whose scores agree in these may change places.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qbench.compression.plain import DTYPES
from qbench.models.folders import model_digest, model_folder
from qbench.models.single_vector import Encoder, load_encoder
from qbench.quantities.types import Condition
from qbench.retrieval.dense import build_dense, encoded_queries
from qbench.retrieval.engines import postgres_sql as sql
from qbench.retrieval.engines.postgres import (
    connect,
    identifier,
    named,
    query_parameters,
    rows_of,
    stored_bytes,
    with_tables,
)
from qbench.retrieval.engines.ranker import ranked
from qbench.retrieval.engines.tables import Weights
from qbench.retrieval.engines.windows import windows
from qbench.retrieval.lexical import with_tokens
from qbench.retrieval.ranker_options import PgVectorOptions
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search
from qbench.retrieval.systems import Stage
from qbench.retrieval.vectors import StoredVectors, open_built

if TYPE_CHECKING:
    import psycopg

ROWS = 4_096
"""Vectors that are read and sent together."""


def open_pgvector(stage: Stage, options: PgVectorOptions, context: RankerContext) -> OpenedRanker:
    """A dense first stage on a PostgreSQL server; tables and vectors are written there if they are missing.

    Raises:
        MissingPackageError: psycopg, or what models need, is not installed.
        InputError: the model is missing, not whole, or of another kind.
        OptionError: the address holds a password.
        ServerError: the server cannot be reached, has no pgvector, or refuses.
    """
    how: dict[str, Any] = {"max_length": options.max_length, "pooling": options.pooling}
    connection = connect(options.dsn)
    try:
        encoder = load_encoder(options.model, similarity=options.similarity, **how)
        model = {"model": model_digest(model_folder(options.model), None), **how}
        return opened(encoder, model, options, context, connection)
    except BaseException:
        connection.close()
        raise


def opened(
    encoder: Encoder,
    how: dict[str, Any],
    options: PgVectorOptions,
    context: RankerContext,
    connection: psycopg.Connection[Any],
) -> OpenedRanker:
    """The first stage with any encoder.

    Args:
        encoder: makes the vectors.
        how: everything that can change them.
        options: how they are searched.
        context: the corpus, and the folder of indexes.
        connection: to the server; closed with the ranker.
    """
    built = build_dense(encoder, how, "float32", context)
    start = time.perf_counter()
    schema = with_tables(connection, context, Weights(options.k1, options.b, options.epsilon))
    table = f"vectors_{built.folder.name}"
    write_vectors(connection, schema, table, open_built(built.folder, DTYPES["float32"]))
    if options.engine == "hnsw":
        with named():
            connection.execute(sql.vectors_index(table).encode())
    seconds = built.seconds + time.perf_counter() - start
    ranker = PgVector(connection, table, encoder, options, context)
    return OpenedRanker(ranker, seconds, stored_bytes(connection, schema), {"similarity": encoder.similarity})


def write_vectors(connection: psycopg.Connection[Any], schema: str, table: str, vectors: StoredVectors) -> bool:
    """Write the vectors of all documents into a table of a schema; several at once do it once.

    Args:
        connection: with the right to create a table, and if pgvector is not in the database yet, an extension.
        schema: that has the tables.
        table: its name.
        vectors: one for each distinct text.

    Returns:
        whether they were written now.

    Raises:
        ServerError: the server has no pgvector, or refuses.
    """
    with named():
        connection.execute(f"SET search_path = {identifier(schema)}, public".encode())
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"{schema}.{table}",))
            found = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f"{identifier(schema)}.{table}",))
            if found.fetchone() == (True,):
                return False
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
            connection.execute(sql.vectors_table(table, vectors.dimension).encode())
            with connection.cursor() as cursor, cursor.copy(f"COPY {table} (doc, vector) FROM STDIN".encode()) as copy:
                for lines in vector_lines(vectors):
                    copy.write(lines)
        connection.execute(f"ANALYZE {table}".encode())
    return True


def vector_lines(vectors: StoredVectors) -> Iterator[bytes]:
    """The vectors of all documents as COPY reads them, some at a time: position, tab, numbers in brackets."""
    shared = vectors.shared
    for start in range(0, len(vectors), ROWS):
        rows = vectors.rows(start, min(start + ROWS, len(vectors)))
        lines = []
        for number, vector in enumerate(rows, start):
            text = written(vector)
            docs = shared.docs[shared.starts[number] : shared.starts[number + 1]]
            lines += [f"{doc}\t{text}\n" for doc in docs.tolist()]
        yield "".join(lines).encode()


def written(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it; nine digits say which number of single precision is meant.

    >>> written(np.array([0.1, -2], np.float32))
    '[0.100000001,-2]'
    """
    return "[" + ",".join(f"{number:.9g}" for number in vector.tolist()) + "]"


class PgVector:
    """Dense search by a server.

    Args:
        connection: to the server, its search path set; closed with the ranker.
        table: of the vectors.
        encoder: makes the queries' vectors.
        options: how they are searched.
        context: the number of documents retrieved, and the texts' language.
    """

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        table: str,
        encoder: Encoder,
        options: PgVectorOptions,
        context: RankerContext,
    ) -> None:
        self.table, self.encoder, self.options = table, encoder, options
        self.depth, self.language = context.depth, context.language
        self._connection = connection
        self._close = weakref.finalize(self, connection.close)
        with named():
            connection.execute(f"SET hnsw.ef_search = {options.ef}".encode())

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors, and the tokens of their texts."""
        return with_tokens(encoded_queries(self.encoder, searches), self.language)

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with their vectors, and the tokens of their texts."""
        return self.encoded(searches)

    def search(self, search: Search) -> Candidates:
        """The best documents, as many as it retrieves; of equal scores the lower positions."""
        found = self.best_satisfying(search, (), self.depth)
        order = np.argsort(found.docs)
        return Candidates(found.docs[order], found.scores[order])

    def best(self, searches: Sequence[Search], depth: int) -> list[Candidates]:
        """The best documents of each search, best first."""
        return [self.best_satisfying(search, (), depth) for search in searches]

    def best_satisfying(self, search: Search, conditions: Sequence[Condition], depth: int) -> Candidates:
        """The best documents in which every condition is met; without conditions, the best of all."""
        statement, parameters = nearest_search(self.table, search, conditions, self.options, depth, self.language)
        return ranked((score, doc) for doc, score in rows_of(self._connection, statement, parameters))

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> list[NDArray[np.float64]]:
        """The scores of each search's candidates; NaN for those that are not among the best."""
        scores = []
        for search, some in zip(searches, candidates, strict=True):
            found = self.search(search)
            of = dict(zip(found.docs.tolist(), found.scores.tolist(), strict=True))
            scores.append(np.array([of.get(doc, np.nan) for doc in some.docs.tolist()]))
        return scores


def nearest_search(
    table: str, search: Search, conditions: Sequence[Condition], options: PgVectorOptions, depth: int, language: str
) -> tuple[str, dict[str, Any]]:
    """The statement for the nearest documents, its places named in braces, and its parameters.

    Args:
        table: of the vectors.
        search: with its vector and tokens.
        conditions: that documents must meet.
        options: how they are searched.
        depth: number of documents.
        language: code of the texts' language.
    """
    words = options.hybrid == "bm25"
    shape = [len(windows(condition)) for condition in conditions]
    statement = sql.nearest(table, shape, words=words, graph=options.engine == "hnsw")
    asked = query_parameters(search.tokens, conditions, options.concepts, language)
    asked |= {"vector": written(search.vector), "depth": depth, "rank_constant": options.rank_constant}
    asked["candidates"] = options.candidates if words else depth
    return statement, {name: asked[name] for name in sql.parameters(statement)}
