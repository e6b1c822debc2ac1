"""An index written for OpenSearch or Elasticsearch: into a server, or into files that curl loads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from qbench.index.disk import Index
from qbench.retrieval.engines import opensearch_json as body
from qbench.retrieval.engines.opensearch import (
    check_version,
    checked_name,
    created,
    delete_others,
    is_complete,
    load,
    said,
    search_body,
    settings_of,
    terms_name,
    terms_of,
)
from qbench.retrieval.engines.opensearch_http import Http
from qbench.retrieval.engines.serving import Served, asked_query, index_key, tables_of, write_files
from qbench.retrieval.engines.tables import terms_and_settings
from qbench.retrieval.passages import passages
from qbench.retrieval.ranker_options import Concepts
from qbench.store import Draft

LOAD = "load.sh"

DOCUMENTS, TERMS = "documents", "terms"


def serve(index: Index, url: str, name: str = "", *, overwrite: bool = False) -> Served:
    """Write an index into a server; what an interrupted call has written is kept.

    Args:
        index: whose sentences are searched.
        url: address of the server, without a password; "auto" for what the environment names.
        name: of the index of documents on the server; by default one of the index's own.
        overwrite: replace another index of qbench's; until the new one is written, searches find nothing, or a part.

    Raises:
        OptionError: not an address or a name, or an index of that name holds something else.
        InputError: the server refuses a document.
        ServerError: the server cannot be reached, is too old, or refuses.
    """
    key = index_key(index, "opensearch")
    name = checked_name(name or f"qbench-{key}")
    with Http(url) as http:
        check_version(http)
        if overwrite:
            delete_others(http, name, key)
        new = not is_complete(http, name, key) and load(http, name, tables_of(index), key)
    return Served(name, new)


def write(index: Index, output: Path, name: str = "qbench", *, overwrite: bool = False) -> Served:
    """Write an index as files for curl: `load.sh`, what creates the indices, and the documents in parts.

    Args:
        index: whose sentences are searched.
        output: the folder.
        name: of the index of documents that `load.sh` makes.
        overwrite: replace another served index in `output`.

    Raises:
        OptionError: not a name, or `output` holds something else.
        BusyError: another process is writing to `output`.
    """
    checked_name(name)

    def make(draft: Draft) -> None:
        tables, key = tables_of(index), index_key(index, "opensearch")
        for kind, each in zip((TERMS, DOCUMENTS), created(name, tables, key).values(), strict=True):
            (draft.folder / f"{kind}-index.json").write_bytes(_lines(each))
        (draft.folder / "settings.json").write_bytes(_lines(body.SEARCHED))
        (draft.folder / "complete.json").write_bytes(_lines(said(tables, key, complete=True)))
        _write_parts(draft.folder, TERMS, body.term_lines(tables))
        _write_parts(draft.folder, DOCUMENTS, body.document_lines(tables))
        (draft.folder / LOAD).write_text(_load(name), encoding="utf-8")
        draft.counts = {kind: getattr(tables, kind).height for kind in (DOCUMENTS, TERMS)}

    new = write_files(index, output, {"engine": "opensearch", "name": name}, make, overwrite)
    return Served(str(output), new)


def shown(
    index: Index,
    query: str,
    *,
    server: str | None = None,
    name: str = "",
    depth: int = 10,
    concepts: Concepts = "ignored",
) -> str:
    """The search that answers a query, for people.

    Args:
        index: whose extractor reads the query.
        query: its text.
        server: asked for the idf of its tokens; by default they are counted in the index.
        name: of the index of documents on the server.
        depth: number of documents.
        concepts: "shared" if the concept of a mention must share a word with its condition's.

    Raises:
        ServerError: the server cannot be reached, or refuses.
    """
    asked = asked_query(index, query)
    if server is None:
        texts = passages(index.sentences().collect())["passage"]
        terms, settings = terms_and_settings(texts, language=asked.language)
        rows = {token: (term, idf) for term, token, idf in terms.select("term", "token", "idf").iter_rows()}
        found = {token: rows.get(token) for token in asked.tokens}
    else:
        with Http(server) as http:
            found, settings = terms_of(http, name, asked.tokens), settings_of(http, name)
    known = [each for token in asked.tokens if (each := found[token]) is not None]
    search = search_body(asked.tokens, known, settings, asked.conditions, "exact", concepts, depth)
    if search is None:
        return f"# {query}: no document holds one of its words"
    return f"POST /{name or 'qbench'}/_search\n{json.dumps(search, ensure_ascii=False, indent=2)}"


def _lines(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"


def _write_parts(folder: Path, kind: str, actions: Iterator[bytes]) -> None:
    """Files each of which a server takes in one request."""
    for number, batch in enumerate(body.batches(actions)):
        (folder / f"{kind}-{number:06d}.ndjson").write_bytes(b"".join(batch))


def _load(name: str) -> str:
    """The script that makes the indices."""
    curl = 'curl -sS --fail-with-body "$@" -H "Content-Type: application'
    lines = [
        "#!/bin/sh",
        "# Run in this folder: OPENSEARCH_URL=https://search.example:9200 sh load.sh [options of curl, as -u USER]",
        "set -eu",
        'url="${OPENSEARCH_URL:-http://localhost:9200}"',
    ]
    for kind, index in ((TERMS, terms_name(name)), (DOCUMENTS, name)):
        lines += [
            f'{curl}/json" -X PUT "$url/{index}" --data-binary @{kind}-index.json > /dev/null',
            f"for part in {kind}-*.ndjson; do",
            f'    answer=$({curl}/x-ndjson" -X POST "$url/{index}/_bulk?filter_path=errors,items.*.error" '
            '--data-binary "@$part")',
            '    case "$answer" in *\'"errors":false\'*) ;; *) echo "$part: $answer" >&2; exit 1 ;; esac',
            "done",
            f'{curl}/json" -X PUT "$url/{index}/_settings" --data-binary @settings.json > /dev/null',
            f'{curl}/json" -X PUT "$url/{index}/_mapping" --data-binary @complete.json > /dev/null',
            f'{curl}/json" -X POST "$url/{index}/_refresh" > /dev/null',
        ]
    return "\n".join(lines) + "\n"
