"""Dense search with a provider's embeddings: `OpenAI` and `Cohere`, as first stages and rerankers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from qbench.llm.client import Access, Estimate, estimate
from qbench.models.api_encoders import ApiEncoder, EmbeddingServer, Provider, embedding_servers, prepared_text
from qbench.models.single_vector import BLOCK
from qbench.retrieval.dense import opened
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.grammar import first_values, reranker_values
from qbench.retrieval.rankers import Opened, Place
from qbench.retrieval.registry import RERANKED
from qbench.retrieval.shared_texts import distinct

if TYPE_CHECKING:
    import polars as pl

    from qbench.benchmark.types import Query
    from qbench.models.single_vector import Role
    from qbench.retrieval.grammar import System
    from qbench.retrieval.registry import Value


def api_encoder(values: Mapping[str, Value], access: Access) -> ApiEncoder:
    """The encoder that an entry's parameters describe.

    Args:
        values: `entry`, its name; `model`, `base_url`, `dimensions`, `batch` and, for OpenAI, `max_length`.
        access: recording, budget, patience.

    Raises:
        OptionError: the address is none.
    """
    servers = embedding_servers(
        cast("Provider", values["entry"]),
        str(values["model"]),
        base_url=str(values["base_url"]),
        dimensions=int(values["dimensions"]),
        batch=int(values["batch"]),
    )
    return ApiEncoder(servers, access, int(values.get("max_length", 0)))


def identity(values: Mapping[str, Value]) -> dict[str, Any]:
    """What of an entry's parameters can change a vector: for the keys of runs and indexes.

    Raises:
        OptionError: the address is none.
    """
    encoder = api_encoder(values, Access())
    return {
        "calls": [encoder.servers[role].call.text for role in ("query", "document")],
        "max_length": encoder.max_length,
    }


def open_api(values: Mapping[str, Value], place: Place) -> Opened:
    """Dense search ready to answer; what it asks a server is recorded.

    Args:
        values: as in `api_encoder`.
        place: the corpus, where vectors are kept, and how servers may be used.

    Raises:
        QbenchError: as in `ApiEncoder.encode`.
    """
    encoder = api_encoder(values, place.access.kept_in(place.root))
    how = {"call": encoder.servers["document"].call.text, "max_length": encoder.max_length}
    return opened(encoder, how, values, place)


@dataclass(frozen=True)
class Asked:
    """What systems ask of one server for one kind of text.

    Attributes:
        name: the server.
        model: the one that is asked.
        roles: of the texts: "document", "query", or both where they are asked alike.
        estimate: how much.
    """

    name: str
    model: str
    roles: tuple[Role, ...]
    estimate: Estimate


def expected_calls(
    systems: Iterable[System], passages: pl.Series, queries: Iterable[Query], access: Access, part: int
) -> list[Asked]:
    """What running systems would ask of servers, without asking.

    Search words that are to be parsed from a query's text count as those that the query names itself, and vectors that
    are on disk already count as missing where the recording does not hold them.

    Args:
        systems: any; those without a server's model ask nothing.
        passages: the corpus as first stages see it.
        queries: those that are asked.
        access: whose recording knows some of the answers.
        part: queries that are asked together.
    """
    documents, every = distinct(passages)[0], list(queries)
    wanted: dict[str, _Wanted] = {}
    for values, terms in _with_servers(systems):
        encoder = api_encoder(values, access)
        blocks = [documents.slice(start, BLOCK).to_list() for start in range(0, len(documents), BLOCK)]
        asked: dict[Role, list[list[str]]] = {
            "document": [encoder.probes(), *blocks],
            "query": [_texts(every[start : start + part], terms) for start in range(0, len(every), part)],
        }
        for role, batches in asked.items():
            server = encoder.servers[role]
            one = wanted.setdefault(server.call.text, _Wanted(server))
            one.roles[role] = None
            one.batches += [_sent(batch, encoder.max_length) for batch in batches]
    return [
        Asked(one.server.name, one.server.model, tuple(one.roles), estimate(one.server, one.batches, access))
        for one in wanted.values()
    ]


@dataclass
class _Wanted:
    """Texts to be asked of one server, those that go together in a list, and their roles."""

    server: EmbeddingServer
    roles: dict[Role, None] = field(default_factory=dict)
    batches: list[list[str]] = field(default_factory=list)


def _texts(queries: list[Query], terms: bool) -> list[str]:
    return [query.text for query in queries] + [query.terms for query in queries if terms]


def _sent(texts: list[str], max_length: int) -> list[str]:
    return [text for text in (prepared_text(t, max_length) for t in texts) if text]


def _with_servers(systems: Iterable[System]) -> list[tuple[dict[str, Value], bool]]:
    """The different models that ask servers, with their parameters, and whether they are asked for search words too."""
    found: dict[str, tuple[dict[str, Value], bool]] = {}

    def add(name: str, values: dict[str, Value], terms: bool) -> None:
        if name in _SERVED:
            key = f"{name} {sorted(values.items())}"
            found[key] = {"entry": name, **values}, terms or (key in found and found[key][1])

    for system in systems:
        for (stage, _), values in zip(system.stages, (first_values(system), reranker_values(system)), strict=False):
            own = {name: value for name, value in values.items() if name != RERANKED.name}
            add(stage.model.name, own, stage.asks_for_terms)
    return list(found.values())


_SERVED = {entry.name for entry in REGISTRY.entries if entry.family == "api"}
