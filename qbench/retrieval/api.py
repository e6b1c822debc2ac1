"""Dense search with a provider's embeddings: `OpenAI` and `Cohere`, as first stages and rerankers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from qbench.llm.client import Access, Estimate, estimate
from qbench.models.api_encoders import BYTES, ApiEncoder, EmbeddingServer, Provider, embedding_servers, prepared_text
from qbench.retrieval.dense import dense_search, distinct
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.grammar import first_values, reranker_values
from qbench.retrieval.rankers import Opened, Place

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
    call = encoder.servers["document"].call.text
    params = {"call": call, "max_length": encoder.max_length, "corpus": place.corpus_key}
    dense, found = dense_search(encoder, params, place)
    # So that queries of another size are refused, whoever answers them.
    encoder.known = dense.vectors.shape[1]
    longest = BYTES * encoder.max_length
    cut = int((place.corpus["passage"].str.len_bytes() > longest).sum()) if longest else 0
    return Opened(dense, found.seconds, found.size, {"documents_cut": cut})


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
    systems: Iterable[System], passages: pl.Series, queries: Iterable[Query], access: Access
) -> list[Asked]:
    """What running systems would ask of servers, without asking.

    Search words that are to be parsed from a query's text count as those that the query names itself.

    Args:
        systems: any; those without a server's model ask nothing.
        passages: the corpus as first stages see it.
        queries: those that are asked.
        access: whose recording knows some of the answers.
    """
    documents, every = distinct(passages)[0].to_list(), list(queries)
    wanted: dict[str, _Wanted] = {}
    for system in systems:
        for values, terms in _with_servers(system):
            encoder = api_encoder(values, access)
            asked: dict[Role, list[str]] = {
                "document": [*encoder.probes(), *documents],
                "query": [query.text for query in every] + [query.terms for query in every if terms],
            }
            for role, texts in asked.items():
                server = encoder.servers[role]
                one = wanted.setdefault(server.call.text, _Wanted(server))
                one.roles[role] = None
                one.texts |= dict.fromkeys(t for t in (prepared_text(t, encoder.max_length) for t in texts) if t)
    return [
        Asked(one.server.name, one.server.model, tuple(one.roles), estimate(one.server, one.texts, access))
        for one in wanted.values()
    ]


@dataclass
class _Wanted:
    """Different texts to be asked of one server, and their roles."""

    server: EmbeddingServer
    roles: dict[Role, None] = field(default_factory=dict)
    texts: dict[str, None] = field(default_factory=dict)


def _with_servers(system: System) -> Iterable[tuple[dict[str, Value], bool]]:
    """The parameters of a system's stages that ask servers, and whether they ask for search words too."""
    first = system.first.model.name
    if REGISTRY.find(first, "first stage").family == "api":
        terms = system.quantity is not None and system.quantity.name == "Q"
        yield {"entry": first, **first_values(system)}, terms
    if system.reranker is not None and REGISTRY.find(system.reranker.model.name, "reranker").family == "api":
        yield {"entry": system.reranker.model.name, **reranker_values(system)}, False
