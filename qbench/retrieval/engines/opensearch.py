"""`OpenSearch`: BM25 and the filter of *Numbers Matter* (section 4), computed by OpenSearch or Elasticsearch."""

from __future__ import annotations

import re
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qbench.errors import InputError, OptionError, ServerError
from qbench.quantities.types import Condition
from qbench.retrieval.engines import opensearch_json as body
from qbench.retrieval.engines.opensearch_http import Http, Refusal, reasons, shorten_text
from qbench.retrieval.engines.ranker import ServedRanker, ranked, tables_key
from qbench.retrieval.engines.tables import ServedTables, Weights, served_tables
from qbench.retrieval.ranker_options import OpenSearchOptions
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search, Terms
from qbench.retrieval.systems import Stage

PAGE = 10_000
"""Documents of one answer: a server gives no more unless it is told to."""
LOOKED_UP = 1_000
"""Tokens asked about together."""

OLDEST = {"opensearch": (1, 0), "elasticsearch": (7, 0)}
"""Versions from which on the requests are understood."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,200}")
_ITEMS = ("index", "create")


def open_opensearch(stage: Stage, options: OpenSearchOptions, context: RankerContext) -> OpenedRanker:
    """A first stage on a server; the indices are written there if they are missing.

    Raises:
        OptionError: the address is none, or holds a password; an index of that name holds something else.
        ServerError: the server cannot be reached, is too old, or refuses.
    """
    weights = Weights(options.k1, options.b, options.epsilon)
    key = tables_key(context, weights)
    http = Http(options.url, option="url")
    try:
        start, name = time.perf_counter(), f"qbench-{key}"
        check_version(http)
        if not is_complete(http, name, key):
            tables = served_tables(
                context.corpus, context.quantities().table, context.units(), weights=weights, language=context.language
            )
            load(http, name, tables, key)
        seconds = time.perf_counter() - start
        ranker = OpenSearch(http, name, context.corpus.height, options, context.language)
        return OpenedRanker(ranker, seconds, stored_bytes(http, name))
    except BaseException:
        http.close()
        raise


class OpenSearch(ServedRanker):
    """BM25 in an index of a server, and conditions with it.

    Args:
        http: to the server; closed with the ranker.
        name: of the index of documents.
        size: number of documents.
        options: who computes scores, and whether concepts count.
        language: code of the texts' language.

    Raises:
        ServerError: the server does not answer, or its index says nothing of BM25.
    """

    def __init__(self, http: Http, name: str, size: int, options: OpenSearchOptions, language: str) -> None:
        super().__init__(size, language)
        self.name, self.concepts, self.score = name, options.concepts, options.score
        self._http = http
        self._close = weakref.finalize(self, http.close)
        self._settings = settings_of(http, name)
        self._terms: dict[str, tuple[int, float] | None] = {}

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches with the tokens of their texts, whose idf is asked for: once for all."""
        found = super().prepared(searches)
        self._look_up([token for search in found for token in search.tokens])
        return found

    def search(self, search: Search) -> Candidates:
        """The documents that hold at least one of the tokens, with their scores."""
        if (asked := self._body(search.tokens, (), PAGE)) is None:
            return Candidates(np.empty(0, np.intp), np.empty(0))
        # By position, each of which is there once: a page goes on where the one before it ended.
        asked["sort"].reverse()
        rows = [(score, doc) for doc, score in self._pages(asked)]
        return ranked(rows)

    def best(self, searches: Sequence[Search], depth: int) -> list[Candidates]:
        """The best documents of each search, best first."""
        return [self.best_satisfying(search, (), depth) for search in searches]

    def best_satisfying(self, search: Search, conditions: Sequence[Condition], depth: int) -> Candidates:
        """The best documents in which every condition is met; without conditions, the best of all."""
        asked = self._body(search.tokens, conditions, min(depth, PAGE))
        rows: list[list[Any]] = []
        if asked is not None:
            for row in self._pages(asked):
                rows.append(row)
                if len(rows) == depth:
                    break
        return ranked(rows)

    def holding(self, search: Search, terms: Terms) -> NDArray[np.intp]:
        """The documents that hold any, or all, of the tokens."""
        known, lacking = self._known(search.tokens)
        if not known or (lacking and terms == "all"):
            return np.empty(0, np.intp)
        query = body.holding(known, every=terms == "all")
        asked = {"_source": False, "track_total_hits": False, "size": PAGE, "query": query, "sort": [{"doc": "asc"}]}
        return np.array([doc for (doc,) in self._pages(asked)], dtype=np.intp)

    def _body(self, tokens: Sequence[str], conditions: Sequence[Condition], depth: int) -> dict[str, Any] | None:
        """The search for some tokens; None where no document holds one of them."""
        known, _ = self._known(tokens)
        return search_body(tokens, known, self._settings, conditions, self.score, self.concepts, depth)

    def _known(self, tokens: Sequence[str]) -> tuple[list[tuple[int, float]], bool]:
        """Number and idf of the tokens that documents hold, and whether there are others."""
        self._look_up(tokens)
        found = [self._terms[token] for token in tokens]
        known = [each for each in found if each is not None]
        return known, len(known) < len(found)

    def _look_up(self, tokens: Sequence[str]) -> None:
        self._terms |= terms_of(self._http, self.name, [each for each in tokens if each not in self._terms])

    def _pages(self, asked: Mapping[str, Any]) -> Iterator[list[Any]]:
        """The sort values of all documents that a search finds, page after page."""
        after: dict[str, Any] = {}
        while True:
            hits = searched(self._http, self.name, {**asked, **after})
            yield from hits
            if len(hits) < asked["size"]:
                return
            after = {"search_after": hits[-1]}


def search_body(
    tokens: Sequence[str],
    known: Sequence[tuple[int, float]],
    settings: Mapping[str, Any],
    conditions: Sequence[Condition],
    score: Literal["exact", "lucene"],
    concepts: str,
    depth: int,
) -> dict[str, Any] | None:
    """The search for some tokens; None where no document holds one of them.

    Args:
        tokens: of the query.
        known: number and idf of those that documents hold.
        settings: the row of `ServedTables.settings`.
        conditions: which documents must meet.
        score: who computes it.
        concepts: whether a mention meets a condition only if their concepts share a word.
        depth: number of documents.
    """
    if not known:
        return None
    filters = body.condition_filters(conditions, concepts, str(settings["language"]))
    if score == "lucene":
        return body.lucene_search(tokens, filters, depth)
    return body.exact_search(known, settings, filters, depth)


def searched(http: Http, name: str, asked: Mapping[str, Any]) -> list[list[Any]]:
    """The sort values of the documents that a search finds.

    Raises:
        ServerError: the answer is not whole, or makes no sense.
    """
    answer = http.post(f"/{name}/_search?allow_partial_search_results=false", asked).body
    try:
        if answer["timed_out"] or answer["_shards"]["failed"]:
            raise ServerError(f"{http.url}: it searched only a part of {name}", remedy="Ask again when it is less busy")
        return [hit["sort"] for hit in answer["hits"]["hits"]]
    except (KeyError, TypeError):
        raise ServerError(f"{http.url}: its answer to a search makes no sense") from None


def checked_name(name: str) -> str:
    """A name that an index may have.

    Raises:
        OptionError: it may not.
    """
    if not _NAME.fullmatch(name):
        remedy = "Use small letters, digits, _, - and ., at most 201, and begin with a letter or digit"
        raise OptionError("not an index's name", value=name, remedy=remedy)
    return name


def check_version(http: Http) -> None:
    """Refuse a server that is another one, or too old.

    Raises:
        ServerError: it is.
    """
    version = http.get("/").body.get("version")
    said = version if isinstance(version, dict) else {}
    kind, number = str(said.get("distribution", "elasticsearch")), str(said.get("number", ""))
    found = re.match(r"(\d+)\.(\d+)", number)
    if kind not in OLDEST or found is None:
        raise ServerError(f"{http.url}: neither OpenSearch nor Elasticsearch", value=number or None)
    if (int(found[1]), int(found[2])) < OLDEST[kind]:
        remedy = f"Use {'.'.join(map(str, OLDEST[kind]))} or later"
        raise ServerError(f"{http.url}: its version of {kind} is too old", value=number, remedy=remedy)


def terms_name(name: str) -> str:
    """The index of terms that belongs to an index of documents."""
    return f"{name}-terms"


def is_complete(http: Http, name: str, key: str) -> bool:
    """Whether an index of documents is there and whole.

    Raises:
        OptionError: it holds something else.
        ServerError: the server does not answer, or refuses.
    """
    meta = _meta(http, name)
    return meta is not None and bool(_checked(meta, name, key).get("complete"))


def settings_of(http: Http, name: str) -> dict[str, Any]:
    """The parameters of BM25 of an index.

    Raises:
        ServerError: it has none.
    """
    settings = (_meta(http, name) or {}).get("settings")
    if not isinstance(settings, dict):
        raise ServerError(f"{http.url}: the index {name} is not one of qbench's, or is gone")
    return settings


def _meta(http: Http, name: str) -> dict[str, Any] | None:
    """What an index says that it holds; None if there is none, {} if it says nothing."""
    answer = http.get(f"/{name}/_mapping", missing=True)
    if answer.status == 404:
        return None
    mappings = (answer.body.get(name) or {}).get("mappings") or {}
    meta = (mappings.get("_meta") or {}).get("qbench")
    return meta if isinstance(meta, dict) else {}


def _checked(meta: dict[str, Any], name: str, key: str) -> dict[str, Any]:
    if meta.get("key") != key:
        remedy = f"Give --overwrite to replace it, choose another --name, or delete {name} and {terms_name(name)}"
        raise OptionError(f"the index {name} is there, and holds something else", remedy=remedy)
    return meta


def delete_others(http: Http, name: str, key: str) -> None:
    """Delete the two indices of a name if they are of another key.

    Raises:
        OptionError: they are not qbench's.
        ServerError: the server does not answer, or refuses.
    """
    held = {each: _meta(http, each) for each in (checked_name(name), terms_name(name))}
    for each, meta in held.items():
        if meta is not None and "key" not in meta:
            raise OptionError(f"the index {each} is there, and is not qbench's", remedy="Choose another --name")
    for each, meta in held.items():
        if meta is not None and meta["key"] != key:
            http.delete(f"/{each}")


def terms_of(http: Http, name: str, tokens: Sequence[str]) -> dict[str, tuple[int, float] | None]:
    """Number and idf of tokens; None for those that no document holds.

    Raises:
        ServerError: the server does not answer, or its answer makes no sense.
    """
    ids = {body.token_id(token): token for token in tokens}
    names = list(ids)
    found: dict[str, tuple[int, float] | None] = {}
    for start in range(0, len(names), LOOKED_UP):
        answer = http.post(f"/{terms_name(name)}/_mget", {"ids": names[start : start + LOOKED_UP]}).body
        try:
            for each in answer["docs"]:
                source = each["_source"] if each["found"] else None
                found[ids[each["_id"]]] = None if source is None else (int(source["term"]), float(source["idf"]))
        except (KeyError, TypeError, ValueError):
            raise ServerError(f"{http.url}: its answer about terms makes no sense") from None
    return found


def load(http: Http, name: str, tables: ServedTables, key: str) -> bool:
    """Write tables into two indices; what an interrupted call has written is kept, and several at once do no harm.

    Args:
        http: with the right to create an index.
        name: of the index of documents.
        tables: what to write.
        key: of their content.

    Returns:
        whether something was written now; False where all was there.

    Raises:
        OptionError: not a name of an index, or an index of that name holds something else.
        InputError: the server refuses a document.
        ServerError: the server refuses, or does not answer; what was written is kept.
    """
    if is_complete(http, checked_name(name), key):
        return False
    for each, whole in created(name, tables, key).items():
        _create(http, each, whole, key)
    _fill(http, terms_name(name), "term", lambda start: body.term_lines(tables, start), tables.terms.height)
    _fill(http, name, "doc", lambda start: body.document_lines(tables, start), tables.documents.height)
    for each in (terms_name(name), name):
        http.put(f"/{each}/_settings", body.SEARCHED)
        http.put(f"/{each}/_mapping", said(tables, key, complete=True))
    return True


def created(name: str, tables: ServedTables, key: str) -> dict[str, dict[str, Any]]:
    """The bodies that create the indices: name -> body.

    Args:
        name: of the index of documents.
        tables: what they will hold.
        key: of its content.
    """
    (settings,) = tables.settings.to_dicts()
    meta = said(tables, key)["_meta"]
    most = int(np.bincount(tables.mentions["doc"].to_numpy(), minlength=1).max())
    return {terms_name(name): body.terms_index(meta), name: body.documents_index(settings, most, meta)}


def said(tables: ServedTables, key: str, *, complete: bool = False) -> dict[str, Any]:
    """What an index says that it holds, within its mapping."""
    (settings,) = tables.settings.to_dicts()
    return {"_meta": {"qbench": {"key": key, "settings": settings, "complete": complete}}}


def _create(http: Http, name: str, whole: Mapping[str, Any], key: str) -> None:
    """Create an index, unless it is there."""
    if _meta(http, name) is None:
        try:
            http.put(f"/{name}", whole)
        except Refusal as refusal:
            if refusal.kind != "resource_already_exists_exception":  # by another process, just now
                raise
    _checked(_meta(http, name) or {}, name, key)


def _fill(http: Http, name: str, number: str, lines: Any, count: int) -> None:
    """Write the documents that are not there yet, in their order, and see that all are."""
    start = _written(http, name, number)
    for batch in body.batches(lines(start)):
        _send(http, name, batch)
    http.post(f"/{name}/_refresh")
    held = http.get(f"/{name}/_count").body.get("count")
    if held != count:
        raise ServerError(
            f"{http.url}: the index {name} holds {held} of {count} documents", remedy="Delete it, and write it again"
        )


def _written(http: Http, name: str, number: str) -> int:
    """From which number on documents may be missing: they are sent in order, so only those of the last batch may."""
    http.post(f"/{name}/_refresh")
    asked = {"size": 1, "_source": False, "track_total_hits": False, "sort": [{number: "desc"}]}
    last = searched(http, name, asked)
    return max(int(last[0][0]) + 1 - body.ROWS, 0) if last else 0


def _send(http: Http, name: str, batch: Sequence[bytes]) -> None:
    """Index some documents; those that a busy server puts off are sent again, and those alone."""
    attempt = 0
    while True:
        attempt += 1
        try:
            answer = http.post(f"/{name}/_bulk", b"".join(batch)).body
        except Refusal as refusal:
            if refusal.status != 413 or len(batch) == 1:
                raise
            half = len(batch) // 2
            _send(http, name, batch[:half])
            _send(http, name, batch[half:])
            return
        later = _put_off(http, answer, batch)
        if not later:
            return
        if attempt >= http.patience.attempts:
            remedy = "Run the same command again: what is written is kept"
            raise ServerError(f"{http.url}: too busy for {len(later)} documents of {name}", remedy=remedy)
        batch = later
        http.pause(attempt)


def _put_off(http: Http, answer: Mapping[str, Any], batch: Sequence[bytes]) -> list[bytes]:
    """The documents of a batch that the server was too busy for.

    Raises:
        InputError: it refuses others for good.
        ServerError: its answer makes no sense.
    """
    items = answer.get("items")
    if not isinstance(items, list) or len(items) != len(batch):
        raise ServerError(f"{http.url}: its answer to {len(batch)} documents makes no sense")
    later, refused = [], []
    for item, sent in zip(items, batch, strict=True):
        result = next((item[name] for name in _ITEMS if isinstance(item, dict) and name in item), None) or {}
        status = result.get("status", 0)
        if status in (429, 503):
            later.append(sent)
        elif not 200 <= status < 300:
            refused.append((result.get("_id"), " ".join(filter(None, reasons(result))) or f"status {status}"))
    if refused:
        first, why = refused[0]
        message = f"{http.url}: it refuses {len(refused)} of {len(batch)} documents; the first, {first}: {why}"
        raise InputError(shorten_text(message), remedy="Nothing after this batch was sent")
    return later


def stored_bytes(http: Http, name: str) -> int:
    """Bytes of the indices on the server, without copies."""
    stats = http.get(f"/{name},{terms_name(name)}/_stats/store").body
    try:
        return int(stats["_all"]["primaries"]["store"]["size_in_bytes"])
    except (KeyError, TypeError, ValueError):
        raise ServerError(f"{http.url}: its answer about sizes makes no sense") from None
