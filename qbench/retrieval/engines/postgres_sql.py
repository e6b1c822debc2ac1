"""The SQL of an index in PostgreSQL: its tables, and the query that ranks. Plain SQL, without extensions.

The parameters of a condition are those of its windows (`qbench.retrieval.engines.windows`). Scores are those of
`qbench.scoring.bm25`, to the last bit: the same numbers in the same order, each term in the order of the query.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

TABLES = """\
CREATE TABLE documents (
    doc     integer NOT NULL,           -- position; of equal scores, the lower one comes first
    doc_id  text NOT NULL,
    passage text NOT NULL,
    tokens  integer NOT NULL
);
CREATE TABLE terms (
    term      integer NOT NULL,
    token     text NOT NULL,
    documents integer NOT NULL,         -- how many hold it
    idf       double precision NOT NULL
);
CREATE TABLE postings (
    term   integer NOT NULL,
    doc    integer NOT NULL,
    count  integer NOT NULL,            -- of the term in the document
    tokens integer NOT NULL             -- of the document
);
CREATE TABLE mentions (
    doc        integer NOT NULL,
    comparator text NOT NULL,
    value      double precision NOT NULL,  -- as stated: value to value_high, in unit
    value_high double precision NOT NULL,
    unit       text NOT NULL,
    change     text NOT NULL,              -- up, down, or empty
    base_unit  text NOT NULL,              -- in which values compare
    low        double precision NOT NULL,  -- the possible values, in base_unit
    high       double precision NOT NULL,
    low_open   boolean NOT NULL,           -- low is itself impossible: "more than 5"
    high_open  boolean NOT NULL,
    concept    text[] NOT NULL             -- the folded words of what the number is about
);
CREATE TABLE settings (
    version integer NOT NULL, documents integer NOT NULL, mean_tokens double precision NOT NULL,
    language text NOT NULL,
    k1 double precision NOT NULL, b double precision NOT NULL, epsilon double precision NOT NULL,
    key text NOT NULL                      -- of all that can change these tables
);
"""
"""The tables, with the columns of `qbench.retrieval.engines.tables.ServedTables`, and the key of their content."""

ORDER = ("terms", "mentions", "postings", "settings", "documents")
"""The tables in the order in which the queries below ask for them: who takes their locks so waits for no one that waits
for it."""

GRANTS = """\
SELECT format('GRANT %%s ON %%I TO %%s', privilege_type, relname,
              CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
FROM pg_class, aclexplode(relacl)
WHERE relnamespace = to_regnamespace(%(schema)s) AND relname = ANY(%(tables)s) AND grantee <> relowner"""
"""The statements that give others their rights on tables of a schema again."""

INDEXES = """\
ALTER TABLE documents ADD PRIMARY KEY (doc);
ALTER TABLE terms ADD PRIMARY KEY (term);
ALTER TABLE postings ADD PRIMARY KEY (term, doc) INCLUDE (count, tokens);
-- Words and ids may be longer than a B-tree allows.
CREATE INDEX documents_doc_id ON documents USING hash (doc_id);
CREATE INDEX terms_token ON terms USING hash (token);
-- Ranges of values within a unit: from below, from above; and what a number is about.
CREATE INDEX mentions_low ON mentions (base_unit, low, high);
CREATE INDEX mentions_high ON mentions (base_unit, high, low);
CREATE INDEX mentions_concept ON mentions USING gin (concept);
"""

_ASKED = """\
asked AS MATERIALIZED (
    SELECT query.place, terms.term, terms.idf
    FROM unnest({tokens}) WITH ORDINALITY AS query (token, place) JOIN terms USING (token)
)"""

_SATISFYING = """\
satisfying_{number} AS (
    SELECT DISTINCT doc FROM mentions
    WHERE base_unit = {{base_unit_{number}}} AND ({windows})
        AND ({{concept_{number}}} = '{{{{}}}}' OR concept && {{concept_{number}}})
)"""

_WINDOW = """\
low >= {{low_from_{number}_{window}}} AND (low_open OR low >= {{low_above_{number}_{window}}})
        AND high <= {{high_to_{number}_{window}}} AND (high_open OR high <= {{high_below_{number}_{window}}})"""

_FOUND = """\
SELECT doc, sum(idf * (count * (k1 + 1) / (count + k1 * (1 - b + b * tokens / mean_tokens))) ORDER BY place) AS score
FROM asked JOIN postings USING (term){join} CROSS JOIN settings
GROUP BY doc
ORDER BY score DESC, doc
LIMIT {depth}"""

SEARCH = f"WITH {_ASKED}\n{_FOUND.format(join='', depth='{depth}')}"
"""The documents that hold a token, best first."""


def filtered(shape: Sequence[int]) -> str:
    """The statement for those of them in which every condition is met by a mention.

    One for each shape, so that the server plans it by the values of its parameters.

    Args:
        shape: for each condition the number of its windows.
    """
    satisfying, joins = _satisfying(shape)
    return "WITH " + ",\n".join([_ASKED, *satisfying]) + "\n" + _FOUND.format(join=joins, depth="{depth}")


def _satisfying(shape: Sequence[int]) -> tuple[list[str], str]:
    """The documents in which each condition is met, and what joins all of them to a table with `doc`."""
    blocks, joins = [], ""
    for number, count in enumerate(shape):
        inside = [_WINDOW.format(number=number, window=window) for window in range(count)]
        alternatives = "\n        OR ".join(inside)
        blocks.append(_SATISFYING.format(number=number, windows=alternatives).replace("{{}}", "{}"))
        joins += f" JOIN satisfying_{number} USING (doc)"
    return blocks, joins


_NEAREST = """\
nearest AS (
    SELECT doc, -(vector <#> {{vector}}) AS product FROM {table}{join}
    ORDER BY {order} LIMIT {{candidates}}
)"""

_FUSED = """\
SELECT doc, coalesce(1.0::double precision / ({rank_constant} + near.rank), 0)
    + coalesce(1.0::double precision / ({rank_constant} + worded.rank), 0) AS score
FROM (SELECT doc, rank() OVER (ORDER BY product DESC) FROM nearest) near
    FULL JOIN (SELECT doc, rank() OVER (ORDER BY score DESC) FROM by_words) worded USING (doc)
ORDER BY score DESC, doc
LIMIT {depth}"""

_PRODUCTS = "SELECT doc, product AS score FROM nearest ORDER BY score DESC, doc LIMIT {depth}"


def vectors_table(name: str, dimension: int) -> str:
    """The table of a model's vectors, by document."""
    return f"CREATE TABLE {name} (doc integer PRIMARY KEY, vector vector({dimension}) NOT NULL);"


def vectors_index(name: str) -> str:
    """A graph of pgvector over them, for the inner product; the vectors of a cosine have length 1."""
    return f"CREATE INDEX IF NOT EXISTS {name}_hnsw ON {name} USING hnsw (vector vector_ip_ops);"


def nearest(table: str, shape: Sequence[int], *, words: bool = False, graph: bool = False) -> str:
    """The statement for the documents nearest to a vector, in which every condition is met.

    Args:
        table: of vectors.
        shape: for each condition the number of its windows.
        words: those with the best BM25 are found as well, and the ranks of both are fused (RRF).
        graph: the graph of pgvector may propose them. With conditions it is not used: it would look for the nearest of
            all, and keep the few of these that meet them.
    """
    satisfying, joins = _satisfying(shape)
    # An index answers only what is ordered by the operator itself.
    order = "vector <#> {vector}" if graph and not shape else "(vector <#> {vector}) + 0, doc"
    blocks = [*satisfying, _NEAREST.format(table=table, join=joins, order=order).replace("{{", "{").replace("}}", "}")]
    if not words:
        return "WITH " + ",\n".join(blocks) + "\n" + _PRODUCTS
    by_words = f"by_words AS (\n{_FOUND.format(join=joins, depth='{candidates}')}\n)"
    return "WITH " + ",\n".join([_ASKED, *blocks, by_words]) + "\n" + _FUSED


HOLDING = "\n".join(
    (
        f"WITH {_ASKED}",
        "SELECT doc FROM asked JOIN postings USING (term) GROUP BY doc",
        "HAVING count(DISTINCT term) >= {least} ORDER BY doc",
    )
)
"""The documents that hold at least so many of the tokens."""

TYPES: Mapping[str, str] = {
    "tokens": "text[]",
    "base_unit": "text",
    "low_from": "double precision",
    "low_above": "double precision",
    "high_to": "double precision",
    "high_below": "double precision",
    "concept": "text[]",
    "depth": "integer",
    "least": "integer",
    "vector": "vector",
    "candidates": "integer",
    "rank_constant": "integer",
}
"""The parameters of the statements, without the numbers of condition and window that follow their names."""

_PLACE = re.compile(r"\{(\w+)\}")


def for_psycopg(statement: str) -> str:
    """A statement with the named parameters of psycopg: %(tokens)s::text[]."""
    return _PLACE.sub(lambda match: f"%({match[1]})s::{kind(match[1])}", statement)


def prepared(name: str, statement: str) -> str:
    """A statement as `PREPARE` takes it, its parameters in the order of `parameters`."""
    names = parameters(statement)
    numbered = _PLACE.sub(lambda match: f"${names.index(match[1]) + 1}", statement)
    types = ", ".join(kind(each) for each in names)
    return f"PREPARE {name} ({types}) AS\n{numbered};\n"


def kind(parameter: str) -> str:
    """The type of a parameter.

    >>> kind("low_from_0_1"), kind("depth")
    ('double precision', 'integer')
    """
    return TYPES[re.sub(r"(_\d+)+$", "", parameter)]


def parameters(statement: str) -> list[str]:
    """The names of a statement's parameters, each once, in order.

    >>> parameters(SEARCH)
    ['tokens', 'depth']
    """
    return list(dict.fromkeys(_PLACE.findall(statement)))
