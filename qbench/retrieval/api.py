"""Dense search with a provider's embeddings: `OpenAI` and `Cohere`, as first stages and rerankers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from qbench.llm.client import Access, Estimate, estimate
from qbench.models.api_encoders import ApiEncoder, EmbeddingServer, embedding_servers, prepared_text
from qbench.models.single_vector import BLOCK
from qbench.retrieval.dense import opened
from qbench.retrieval.ranker_options import CohereOptions, OpenAIOptions, VectorOptions
from qbench.retrieval.shared_texts import distinct

if TYPE_CHECKING:
    import polars as pl

    from qbench.benchmark.types import Query
    from qbench.models.single_vector import Role
    from qbench.retrieval.rankers import OpenedRanker, RankerContext
    from qbench.retrieval.systems import Stage, System

ApiOptions = OpenAIOptions | CohereOptions


def api_encoder(options: ApiOptions, access: Access) -> ApiEncoder:
    """The encoder that an entry's options describe.

    Args:
        options: of the provider.
        access: recording, budget, patience.

    Raises:
        OptionError: `base_url` is no address.
    """
    servers = embedding_servers(
        options.provider,
        options.model,
        base_url=options.base_url,
        dimensions=options.dimensions,
        batch=options.batch,
    )
    return ApiEncoder(servers, access, options.max_length)


def identity(options: ApiOptions) -> dict[str, Any]:
    """What of a provider's options can change a vector: for the keys of runs and indexes.

    Raises:
        OptionError: `base_url` is no address.
    """
    encoder = api_encoder(options, Access())
    return {
        "calls": [encoder.servers[role].call.text for role in ("query", "document")],
        "max_length": encoder.max_length,
    }


def open_api(stage: Stage, options: ApiOptions, context: RankerContext) -> OpenedRanker:
    """Dense search ready to answer; answers of the server are recorded.

    Raises:
        QbenchError: as in `ApiEncoder.encode`.
    """
    encoder = api_encoder(options, context.access.recording_in(context.root))
    how = {"call": encoder.servers["document"].call.text, "max_length": encoder.max_length}
    return opened(encoder, how, stage, VectorOptions(), context)


@dataclass(frozen=True)
class ExpectedCalls:
    """The calls that systems are expected to make to one server for one kind of text.

    Attributes:
        name: of the server.
        model: as the server names it.
        roles: of the texts: "document", "query", or both where they are sent alike; or the rerankers that ask.
        estimate: number of texts, calls and tokens.
        inputs: what the inputs are.
        at_most: whether the calls are an upper bound, of which the recorded answers, as many as there are at most, may
            save some.
    """

    name: str
    model: str
    roles: tuple[str, ...]
    estimate: Estimate
    inputs: str = "texts"
    at_most: bool = False


def expected_calls(
    systems: Iterable[System], passages: pl.Series, queries: Iterable[Query], access: Access, batch: int
) -> list[ExpectedCalls]:
    """The calls that running systems would take; none is made.

    Search words that are to be parsed from a query's text count as those that the query names itself, and vectors that
    are on disk already count as missing where the recording does not hold them.

    Args:
        systems: any; those without a server's model make no calls.
        passages: the corpus as first stages see it.
        queries: of the benchmark.
        access: its recording holds some of the answers.
        batch: number of queries that are encoded together.
    """
    documents, every = distinct(passages)[0], list(queries)
    wanted: dict[str, _Calls] = {}
    for options, terms in _with_servers(systems):
        encoder = api_encoder(options, access)
        blocks = [documents.slice(start, BLOCK).to_list() for start in range(0, len(documents), BLOCK)]
        texts: dict[Role, list[list[str]]] = {
            "document": [encoder.probes(), *blocks],
            "query": [_texts(every[start : start + batch], terms) for start in range(0, len(every), batch)],
        }
        for role, batches in texts.items():
            server = encoder.servers[role]
            calls = wanted.setdefault(server.call.text, _Calls(server))
            calls.roles[role] = None
            calls.batches += [_sent(some, encoder.max_length) for some in batches]
    return [
        ExpectedCalls(c.server.name, c.server.model, tuple(c.roles), estimate(c.server, c.batches, access))
        for c in wanted.values()
    ]


@dataclass
class _Calls:
    """Texts for one server, those that go together in a list, and their roles."""

    server: EmbeddingServer
    roles: dict[Role, None] = field(default_factory=dict)
    batches: list[list[str]] = field(default_factory=list)


def _texts(queries: list[Query], terms: bool) -> list[str]:
    return [query.text for query in queries] + [query.terms for query in queries if terms]


def _sent(texts: list[str], max_length: int) -> list[str]:
    return [text for text in (prepared_text(t, max_length) for t in texts) if text]


def _with_servers(systems: Iterable[System]) -> list[tuple[ApiOptions, bool]]:
    """Options of the different models on servers, and whether they encode search words too."""
    terms: dict[ApiOptions, bool] = {}
    for stage in (stage for system in systems for stage in system.stages):
        options = stage.options()
        if isinstance(options, OpenAIOptions | CohereOptions):
            terms[options] = terms.get(options, False) or stage.takes_terms
    return list(terms.items())
