"""A server on loopback that answers what we ask OpenSearch as its documentation says; it keeps all in memory.

Written from the reference of OpenSearch 2 (document, index and search APIs; query DSL; Painless' sort context) and of
Elasticsearch 8. It understands the requests that qbench makes, and refuses all others, so that a request that no
page describes fails a test. The script that scores is run as it is written, by turning its few forms into Python.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace
from typing import Any

from tests.loopback import LoopbackServer

Answer = tuple[int, dict[str, Any]]
Step = Callable[[str, str, bytes], "Answer | bytes | None"]

LIMIT = 10_000
"""Documents of one answer."""


class OpenSearchServer(LoopbackServer):
    """Answers until the block ends.

    Attributes:
        plan: what to do with the next requests of a kind, one each: from (method, path, body) to an answer, bytes for a
            body that is no JSON, or None to answer well.
        plans: part of a path -> such steps.
        seen: (method, path, headers in lower case) of each request.
        version: what `GET /` says.
        indices: name -> what is in it.
    """

    def __init__(self, version: Mapping[str, str] | None = None) -> None:
        self.version = dict(version or {"distribution": "opensearch", "number": "2.11.0"})
        self.indices: dict[str, Any] = {}
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self.plans: dict[str, deque[Step]] = {}
        self._lock = threading.Lock()
        super().__init__(_handler(self))

    @property
    def url(self) -> str:
        """Its address."""
        return self.address

    def next(self, part: str, *steps: Step) -> None:
        """What to do with the next requests whose path holds a part."""
        self.plans[part] = deque(steps)

    def answer(self, method: str, path: str, body: bytes) -> Answer | bytes:
        """What it says to a request."""
        with self._lock:
            for part, steps in self.plans.items():
                if part in path and steps and (planned := steps.popleft()(method, path, body)) is not None:
                    return planned
            try:
                return self._answer(method, path.partition("?")[0], body)
            except _Refused as refused:
                return refused.answer

    def _answer(self, method: str, path: str, body: bytes) -> Answer:
        name, _, verb = path.removeprefix("/").partition("/")
        match (method, verb):
            case ("GET", "") if not name:
                return 200, {"name": "node", "version": self.version, "tagline": "The OpenSearch Project"}
            case ("PUT", ""):
                return self._create(name, json.loads(body))
            case ("GET", "_stats/store"):
                held = sum(len(json.dumps(row)) for each in name.split(",") for row in self._of(each).rows.values())
                return 200, {"_all": {"primaries": {"store": {"size_in_bytes": held}}}}
        index = self._of(name)
        match (method, verb):
            case ("DELETE", ""):
                del self.indices[name]
                return 200, {"acknowledged": True}
            case ("GET", "_mapping"):
                return 200, {name: {"mappings": index.mappings}}
            case ("PUT", "_mapping"):
                index.mappings |= json.loads(body)
                return 200, {"acknowledged": True}
            case ("PUT", "_settings"):
                index.settings |= json.loads(body)["index"]
                return 200, {"acknowledged": True}
            case ("POST", "_refresh"):
                index.visible = dict(index.rows)
                return 200, {"_shards": {"total": 1, "successful": 1, "failed": 0}}
            case ("GET", "_count"):
                return 200, {"count": len(index.visible)}
            case ("POST", "_bulk"):
                return 200, index.bulk(body)
            case ("POST", "_mget"):
                return 200, {"docs": [index.get(each) for each in json.loads(body)["ids"]]}
            case ("POST", "_search"):
                return 200, index.search(json.loads(body))
        raise _Refused(405, "illegal_argument_exception", f"{method} {path}")

    def _create(self, name: str, body: dict[str, Any]) -> Answer:
        if name in self.indices:
            raise _Refused(400, "resource_already_exists_exception", f"index [{name}/x] already exists")
        self.indices[name] = _Index(name, body)
        return 200, {"acknowledged": True, "shards_acknowledged": True, "index": name}

    def _of(self, name: str) -> Any:
        if name not in self.indices:
            raise _Refused(404, "index_not_found_exception", f"no such index [{name}]")
        return self.indices[name]


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.answer: Answer = status, failure(status, kind, reason)


def failure(status: int, kind: str, reason: str) -> dict[str, Any]:
    """The body of an error."""
    cause = {"type": kind, "reason": reason}
    return {"error": {"root_cause": [cause], **cause}, "status": status}


def failing(status: int, kind: str = "some_exception", reason: str = "no luck") -> Step:
    """A step that answers with an error."""
    return lambda method, path, body: (status, failure(status, kind, reason))


class _Index:
    def __init__(self, name: str, body: dict[str, Any]) -> None:
        self.name, self.mappings, self.settings = name, body["mappings"], body["settings"]["index"]
        self.rows: dict[str, dict[str, Any]] = {}
        self.visible: dict[str, dict[str, Any]] = {}

    def bulk(self, body: bytes) -> dict[str, Any]:
        lines = body.split(b"\n")
        if lines.pop() != b"" or len(lines) % 2:
            raise _Refused(400, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]")
        pairs = zip(lines[::2], lines[1::2], strict=True)
        items = [self._item(json.loads(head)["index"], json.loads(row)) for head, row in pairs]
        return {"took": 1, "errors": any("error" in each for each in items), "items": [{"index": i} for i in items]}

    def _item(self, head: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
        name = head["_id"]
        if reason := _unmapped(self.mappings["properties"], row) or ("id is too long" if len(name) > 512 else ""):
            return {"_id": name, "status": 400, "error": {"type": "mapper_parsing_exception", "reason": reason}}
        self.rows[name] = row
        return {"_id": name, "status": 201, "result": "created"}

    def get(self, name: str) -> dict[str, Any]:
        found = {"_id": name, "found": name in self.rows}
        return {**found, "_source": self.rows[name]} if name in self.rows else found

    def search(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["size"] > LIMIT:
            raise _Refused(400, "illegal_argument_exception", "Result window is too large")
        scorer = _Scorer(self)
        hits = []
        for name, row in self.visible.items():
            if "query" in body and not scorer.matches(body["query"], row):
                continue
            hits.append((name, [scorer.key(each, body.get("query"), row) for each in body["sort"]]))
        signs = [_order(each) for each in body["sort"]]
        hits.sort(key=lambda hit: [sign * value for sign, value in zip(signs, hit[1], strict=True)])
        if after := body.get("search_after"):
            edge = [sign * value for sign, value in zip(signs, after, strict=True)]
            hits = [hit for hit in hits if [s * v for s, v in zip(signs, hit[1], strict=True)] > edge]
        rows = [{"_id": name, "_score": None, "sort": key} for name, key in hits[: body["size"]]]
        return {"timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"hits": rows}}


def _unmapped(properties: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Why a document does not fit a strict mapping; "" where it does."""
    for name, value in row.items():
        if name not in properties:
            return f"mapping set to strict, dynamic introduction of [{name}] is not allowed"
        kind = properties[name]["type"]
        for each in value if isinstance(value, list) else [value]:
            if kind == "nested":
                if reason := _unmapped(properties[name]["properties"], each):
                    return reason
            elif not _FITS[kind](each):
                return f"failed to parse field [{name}] of type [{kind}]"
    return ""


_FITS: dict[str, Callable[[Any], bool]] = {
    "integer": lambda value: type(value) is int and abs(value) < 2**31,
    "long": lambda value: type(value) is int and abs(value) < 2**63,
    "double": lambda value: type(value) in (int, float) and math.isfinite(value),
    "boolean": lambda value: type(value) is bool,
    "keyword": lambda value: type(value) is str,
    "text": lambda value: type(value) is str,
}


def _order(sort: dict[str, Any]) -> int:
    (spec,) = sort.values()
    return -1 if (spec["order"] if isinstance(spec, dict) else spec) == "desc" else 1


class _Scorer:
    """Queries on one index; a keyword longer than the mapping says is not found."""

    def __init__(self, index: _Index) -> None:
        self.index = index
        self.lengths = {name: len(row.get("words", "").split()) for name, row in index.visible.items()}
        self.frequencies: Counter[str] = Counter()
        for row in index.visible.values():
            self.frequencies.update(set(row.get("words", "").split()))

    def matches(self, query: dict[str, Any], row: dict[str, Any], prefix: str = "") -> bool:
        (kind, spec), *more = query.items()
        assert not more
        if kind == "bool":
            unknown = spec.keys() - {"filter", "should", "minimum_should_match"}
            assert not unknown, unknown
            least = spec.get("minimum_should_match", 0)
            should = sum(self.matches(each, row, prefix) for each in spec.get("should", []))
            return should >= least and all(self.matches(each, row, prefix) for each in spec.get("filter", []))
        if kind == "nested":
            path = spec["path"]
            assert self.index.mappings["properties"][path]["type"] == "nested"
            return any(self.matches(spec["query"], each, f"{path}.") for each in row[path])
        (name, asked), *more = spec.items()
        assert not more
        assert name.startswith(prefix)
        return self._holds(kind, name, asked, row[name.removeprefix(prefix)])

    def _holds(self, kind: str, name: str, asked: Any, value: Any) -> bool:
        field = self.index.mappings
        for part in name.split("."):
            field = field["properties"][part]
        assert field.get("index", True), f"{name} is not indexed"
        values = value.split() if field["type"] == "text" else value if isinstance(value, list) else [value]
        if kind == "range":
            assert field["type"] == "double"
            signs = {"gte": lambda a, b: _sortable(a) >= _sortable(b), "lte": lambda a, b: _sortable(a) <= _sortable(b)}
            return any(all(signs[sign](each, limit) for sign, limit in asked.items()) for each in values)
        wanted = asked if kind == "terms" else [asked["value"]]
        assert kind in ("term", "terms"), kind
        longest = field.get("ignore_above", math.inf)
        return any(each in wanted for each in values if not isinstance(each, str) or len(each) <= longest)

    def key(self, sort: dict[str, Any], query: dict[str, Any] | None, row: dict[str, Any]) -> Any:
        ((name, spec),) = sort.items()
        if name == "_script":
            assert spec["type"] == "number"
            return run_painless(spec["script"]["source"], spec["script"]["params"], self._doc_values(row))
        return self.lucene(query, row) if name == "_score" else row[name]

    def _doc_values(self, row: dict[str, Any]) -> dict[str, Any]:
        """What a script sees: fields with doc values, their values sorted."""
        properties = self.index.mappings["properties"]
        kinds = {name for name, each in properties.items() if each["type"] in ("integer", "long")}
        return {name: _DocValues(row[name]) for name in kinds if properties[name].get("doc_values", True)}

    def lucene(self, query: dict[str, Any] | None, row: dict[str, Any]) -> float:
        """The BM25 of Lucene, whose lengths have one byte, in doubles."""
        spec = self.index.settings["similarity"]["qbench"]
        counts, size = Counter(row["words"].split()), len(self.index.visible)
        mean = sum(self.lengths.values()) / size
        length = _one_byte(len(row["words"].split()))
        score = 0.0
        for each in query["bool"]["should"] if query else []:
            token, boost = each["term"]["words"]["value"], each["term"]["words"]["boost"]
            if count := counts[token]:
                held = self.frequencies[token]
                idf = math.log(1 + (size - held + 0.5) / (held + 0.5))
                norm = spec["k1"] * (1 - spec["b"] + spec["b"] * length / mean)
                score += boost * idf * count / (count + norm)
        return score


def _sortable(value: float) -> tuple[float, float]:
    """As Lucene orders doubles: the negative zero lies below the positive one."""
    return (value, math.copysign(1, value))


def _one_byte(length: int) -> int:
    """A length as a norm keeps it: 40 and fewer whole, of longer ones four leading bits (Lucene's SmallFloat)."""
    if length < 40:
        return length
    shift = max((length - 24).bit_length() - 4, 0)
    return 24 + ((length - 24) >> shift << shift)


class _DocValues:
    def __init__(self, value: Any) -> None:
        self.values = sorted(value) if isinstance(value, list) else [value]

    @property
    def value(self) -> Any:
        return self.values[0]

    def size(self) -> int:
        return len(self.values)

    def get(self, place: int) -> Any:
        return self.values[place]


class _Values(list[Any]):
    """A list of Painless."""

    def size(self) -> int:
        return len(self)

    def get(self, place: int) -> Any:
        return self[place]


_FORMS: Iterable[tuple[str, str]] = (
    (r"(?:double) (\w+) = (.+);", r"\1 = float(\2)"),
    (r"(?:int|long) (\w+) = (.+);", r"\1 = int(\2)"),
    (r"for \(int (\w+) = 0; \1 < (.+); \1\+\+\) \{", r"for \1 in range(\2):"),
    (r"while \((.+)\) \{", r"while \1:"),
    (r"if \((.+)\) \{", r"if \1:"),
    (r"\} else if \((.+)\) \{", r"elif \1:"),
    (r"\} else \{", r"else:"),
    (r"(\w+ \+?= .+);", r"\1"),
    (r"return (\w+);", r"result = \1"),
    (r"break;", r"break"),
    (r"\}", r""),
)


def run_painless(source: str, params: Mapping[str, Any], doc: Mapping[str, Any]) -> float:
    """What a script gives; only the forms of Painless that mean the same in Python, once rewritten, are known."""
    code = _compiled(source)
    given = SimpleNamespace(**{k: _Values(v) if isinstance(v, list) else v for k, v in params.items()})
    names: dict[str, Any] = {"params": given, "doc": doc, "float": float, "int": int, "range": range}
    exec(code, {"__builtins__": {}}, names)
    return float(names["result"])


_CODE: dict[str, Any] = {}


def _compiled(source: str) -> Any:
    if source not in _CODE:
        lines = []
        for line in source.splitlines():
            indent, text = line[: len(line) - len(line.lstrip())], line.strip()
            form, there = next((form, there) for form, there in _FORMS if re.fullmatch(form, text))
            # Doubles divide as in Python; whole numbers are never divided.
            lines.append(indent + re.sub(r"(\d)L\b", r"\1", re.sub(form, there, text)))
        _CODE[source] = compile("\n".join(lines), "painless", "exec")
    return _CODE[source]


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _handler(server: OpenSearchServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            server.seen.append((self.command, self.path, {name.lower(): v for name, v in self.headers.items()}))
            answer = server.answer(self.command, self.path, body)
            status, sent = (200, answer) if isinstance(answer, bytes) else (answer[0], _compact(answer[1]))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
