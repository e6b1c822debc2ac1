"""What the tests of served rankers share: texts, tables, and the engines as their contract asks them."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from functools import cache

import polars as pl
from hypothesis import strategies as st

from qbench.index.disk import Index
from qbench.llm.client import Patience
from qbench.quantities.types import Condition, Quantity, quantity_schema, to_row
from qbench.quantities.units import load_units
from qbench.retrieval.engines import opensearch, postgres, serve_opensearch, serve_postgres
from qbench.retrieval.engines import opensearch_json as body
from qbench.retrieval.engines.opensearch_http import Http
from qbench.retrieval.engines.serving import Served
from qbench.retrieval.engines.tables import ServedTables, served_tables
from qbench.retrieval.engines.windows import windows
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.passages import passages
from tests.factories import quantity, tiny_benchmark
from tests.opensearch_server import OpenSearchServer, _Scorer

BENCHMARK = tiny_benchmark()
NUMBERS = st.sampled_from((0.0, 1.0, -2.0, 5.0, 5.000000001, 5.00000001, 4.999999999, 8.0, 3e9))
QUICK = Patience(attempts=3, first=0.001, timeout=5)
LINES = [
    {"doc_id": "a", "text": "The old laptop weighs 3 kg. The new laptop weighs 1.2 kg."},
    {"doc_id": "b", "text": "A laptop of more than 2 kg costs $900."},
    {"doc_id": "c", "text": "The parcel weighs 1 kg."},
]
ODD = pl.DataFrame(
    {
        "doc_id": ['d"1', "d,2", "d\n3", "d\\4", ""],
        "passage": ['a "quoted" one, and 5', "zero\x00byte", "línea\r\nother \\N \\. one", "one" * 2000, ""],
    }
).sort("doc_id", descending=True)


def odd_tables() -> ServedTables:
    kept = [quantity("5", "5", 5, "kilogram", concept='a"b c\\d NULL {x,y}')]
    rows = [to_row('d"1', each) for each in kept]
    return served_tables(ODD, pl.DataFrame(rows, schema=quantity_schema(), orient="row"), load_units())


def run(folder, *names, benchmark=BENCHMARK):
    return execute(benchmark, [parse_system(name) for name in names], folder, ExecuteOptions(settings=("given",)))


class Engine(ABC):
    """An engine of served rankers that runs at an address."""

    name: str
    """Its name in the names of systems."""
    option: str
    """The option that holds its address."""
    keeps_zero_bytes: bool
    """Whether a text may hold a zero byte there."""

    def __init__(self, address: str) -> None:
        self.address = address

    def system(self, pattern: str, address: str | None = None, **options: object) -> str:
        """The name of a system, whose pattern holds the engine's name as `{}`: "Q{}", "{}_filter"."""
        given = [f'{self.option}="{address or self.address}"', *(f"{key}={value}" for key, value in options.items())]
        return f"{pattern.format(self.name)}({', '.join(given)})"

    @property
    @abstractmethod
    def same_address(self) -> str:
        """The address, written otherwise."""

    @staticmethod
    @abstractmethod
    def meets(held: Quantity, asked: Condition) -> bool:
        """Whether the engine's conditions let a mention through."""

    @abstractmethod
    def load(self, name: str, tables: ServedTables) -> bool:
        """Load tables under a name; whether they were new."""

    @abstractmethod
    def documents(self, name: str) -> list[tuple[str, str]]:
        """Ids and texts that are stored under a name, in order."""

    @abstractmethod
    def serve(self, index: Index, name: str = "", *, overwrite: bool = False) -> Served:
        """Write an index there."""

    @abstractmethod
    def found(self, index: Index, place: str, query: str) -> list[str]:
        """Ids of the documents that the shown search finds."""


def _bounds(held: Quantity) -> dict[str, float | bool]:
    return {
        "low": -math.inf if held.comparator in ("<", "<=") else held.base_value,
        "high": math.inf if held.comparator in (">", ">=") else held.base_high,
        "low_open": held.comparator == ">",
        "high_open": held.comparator == "<",
    }


class PostgresEngine(Engine):
    name, option, keeps_zero_bytes = "Postgres", "dsn", False

    @property
    def same_address(self):
        return f"{self.address} application_name=x"

    @staticmethod
    def meets(held, asked):
        return any(window.holds(**_bounds(held)) for window in windows(asked))

    def load(self, name, tables):
        with postgres.connect(self.address) as connection:
            return postgres.load(connection, name, tables, "k")

    def documents(self, name):
        with postgres.connect(self.address) as connection:
            return connection.execute(f"SELECT doc_id, passage FROM {name}.documents ORDER BY doc").fetchall()

    def serve(self, index, name="", *, overwrite=False):
        return serve_postgres.serve(index, self.address, name, overwrite=overwrite)

    def found(self, index, place, query):
        statement, parameters = serve_postgres.shown_search(index, query)
        with postgres.connect(self.address) as connection:
            connection.execute(f'SET search_path = "{place}"')
            rows = connection.execute(statement, parameters).fetchall()
        ids = passages(index.sentences().collect())["doc_id"]
        return [ids[doc] for doc, _ in rows]


class OpenSearchEngine(Engine):
    name, option, keeps_zero_bytes = "OpenSearch", "url", True

    def __init__(self, server: OpenSearchServer) -> None:
        super().__init__(server.url)
        self.server = server

    @property
    def same_address(self):
        return f"{self.address}/"

    @staticmethod
    def meets(held, asked):
        bounds = _bounds(held)
        row = bounds | {"base_unit": "kilogram", **{name: body.finite(bounds[name]) for name in ("low", "high")}}
        (found,) = body.condition_filters([asked], "ignored", "en")
        return _Scorer(_empty()).matches(found, {"mentions": [row]})

    def load(self, name, tables):
        with Http(self.address, QUICK) as http:
            return opensearch.load(http, name, tables, "k")

    def documents(self, name):
        rows = self.server.indices[name].rows
        return [(rows[str(doc)]["doc_id"], rows[str(doc)]["passage"]) for doc in range(len(rows))]

    def serve(self, index, name="", *, overwrite=False):
        return serve_opensearch.serve(index, self.address, name, overwrite=overwrite)

    def found(self, index, place, query):
        shown = serve_opensearch.shown(index, query, server=self.address, name=place)
        with Http(self.address, QUICK) as http:
            answer = http.post(f"/{place}/_search", json.loads(shown.partition("\n")[2]))
        return [self.documents(place)[int(hit["_id"])][0] for hit in answer.body["hits"]["hits"]]


@cache
def _empty():
    whole = body.documents_index({"k1": 1.5, "b": 0.75}, 0, {})
    with OpenSearchServer() as server:
        server.answer("PUT", "/x", json.dumps(whole).encode())
        return server.indices["x"]
