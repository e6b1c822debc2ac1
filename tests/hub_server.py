"""A double of the hub of data sets for tests: the endpoints that huggingface_hub and `datasets` use, on the loopback.

It keeps repositories with commits, tags and large files in memory, asks for a token where the hub does, and refuses
what the hub refuses: a commit on a parent that is no longer the newest, a large file that never arrived.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
import urllib.parse
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import LoopbackServer

TOKEN = "hf_test0123456789notARealToken"
Fault = tuple[str, str, Callable[["Exchange"], bool]]
"""Method, pattern of the path, what happens; it gives whether the request was answered."""


@dataclass
class Repo:
    private: bool
    commits: list[tuple[str, dict[str, str]]] = field(default_factory=list)  # (id, path -> sha256 of the content)
    tags: dict[str, str] = field(default_factory=dict)

    def at(self, revision: str) -> tuple[str, dict[str, str]] | None:
        wanted = self.tags.get(revision, revision)
        if wanted in ("main", "HEAD"):
            return self.commits[-1]
        return next((one for one in self.commits if one[0] == wanted), None)


class HubServer(LoopbackServer):
    """Answers until the block ends.

    Attributes:
        repos: by OWNER/NAME.
        blobs: SHA-256 -> content.
        large: SHA-256s that arrived as large files.
        seen: method and path of each request; `sent` counts the large files that arrived, by their SHA-256.
        faults: what goes wrong next, once each.
        crashes: faults of its own, which no test may cause.
        writers: tokens that may write.
    """

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.blobs: dict[str, bytes] = {}
        self.large: set[str] = set()
        self.seen: list[tuple[str, str]] = []
        self.sent: Counter[str] = Counter()
        self.faults: deque[Fault] = deque()
        self.crashes: list[str] = []
        self.writers = {TOKEN}
        self.lock = threading.RLock()
        super().__init__(_handler(self))

    @property
    def url(self) -> str:
        return self.address

    def put(self, repo_id: str, files: dict[str, bytes], private: bool = False) -> str:
        """A commit that somebody else made."""
        with self.lock:
            repo = self.repos.setdefault(repo_id, Repo(private))
            before = dict(repo.commits[-1][1]) if repo.commits else {}
            return self.add(repo, {**before, **{path: self.keep(data) for path, data in files.items()}})

    def add(self, repo: Repo, tree: dict[str, str]) -> str:
        name = hashlib.sha1(f"{len(repo.commits)} {sorted(tree.items())}".encode()).hexdigest()
        repo.commits.append((name, tree))
        return name

    def keep(self, data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        self.blobs[name] = data
        return name

    def files(self, repo_id: str, revision: str = "main") -> dict[str, bytes]:
        """What a data set holds."""
        found = self.repos[repo_id].at(revision)
        assert found is not None
        return {path: self.blobs[name] for path, name in found[1].items()}

    def entry(self, path: str, name: str) -> dict[str, Any]:
        """A file as the tree lists it."""
        data = self.blobs[name]
        found: dict[str, Any] = {"type": "file", "path": path, "size": len(data), "oid": _git(data)}
        if name in self.large:
            found["lfs"] = {"oid": name, "size": len(data), "pointerSize": 134}
        return found


def fail(status: int, method: str = "", path: str = "", **headers: str) -> Fault:
    """An error in place of an answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def happen(exchange: Exchange) -> bool:
        exchange.body()
        exchange.answer(status, {"error": f"planned {status}"}, named)
        return True

    return method, path, happen


def cut(method: str = "PUT", path: str = "/lfs/") -> Fault:
    """The connection breaks after a part of the body."""

    def happen(exchange: Exchange) -> bool:
        exchange.rfile.read(min(100, int(exchange.headers["Content-Length"])))
        exchange.hang_up()
        return True

    return method, path, happen


def lose_answer(method: str = "POST", path: str = "/commit/") -> Fault:
    """The request is carried out, and its answer is lost."""

    def happen(exchange: Exchange) -> bool:
        exchange.mute = True
        exchange.route()
        exchange.hang_up()
        return True

    return method, path, happen


class Exchange(BaseHTTPRequestHandler):
    """One request and its answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    hub: HubServer
    mute = False

    def handle_one(self) -> None:
        self.mute = False
        self.close_connection = False
        with self.hub.lock:
            self.hub.seen.append((self.command, self.path))
            for fault in list(self.hub.faults):
                method, pattern, happen = fault
                if method in ("", self.command) and re.search(pattern, self.path):
                    self.hub.faults.remove(fault)
                    if happen(self):
                        return
                    break
            self.route()

    do_GET = do_HEAD = do_POST = do_PUT = handle_one  # noqa: N815

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.close()

    def answer(
        self, status: int, value: object = None, headers: dict[str, str] | None = None, data: bytes = b""
    ) -> None:
        if self.mute:
            return
        data = data if value is None else json.dumps(value).encode()
        self.send_response(status)
        given = {"Content-Type": "application/json", **(headers or {})}
        given.setdefault("Content-Length", str(len(data)))
        for name, one in given.items():
            self.send_header(name, one)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def refuse(self, status: int, code: str = "", message: str = "no") -> None:
        self.answer(
            status, {"error": message}, {"X-Error-Message": message, **({"X-Error-Code": code} if code else {})}
        )

    @property
    def token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    def route(self) -> None:
        path = urllib.parse.urlsplit(self.path).path
        for method, pattern, act in _ROUTES:
            found = re.fullmatch(pattern, path)
            if found and self.command in method.split():
                body = self.body()
                if self.token and self.token not in self.hub.writers:
                    self.refuse(401, message="Invalid credentials in Authorization header")
                    return
                if self.command in ("POST", "PUT") and not path.startswith("/lfs/") and not self.token:
                    self.refuse(401, message="Invalid username or password.")
                    return
                groups = {name: urllib.parse.unquote(one or "") for name, one in found.groupdict().items()}
                try:
                    act(self, body, **groups)
                except Exception as fault:
                    self.hub.crashes.append(repr(fault))
                    self.refuse(501, message=repr(fault))
                return
        self.body()
        self.refuse(404, message=f"no such page: {path}")

    def repo(self, repo_id: str) -> Repo | None:
        """The data set, where the asker may see it; else the request is answered."""
        repo = self.hub.repos.get(repo_id)
        if repo is None or (repo.private and self.token not in self.hub.writers):
            # The hub hides what is private behind the answer that it gives for what is not there.
            self.refuse(404 if self.token else 401, "RepoNotFound", "Repository not found")
            return None
        return repo

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _create(one: Exchange, body: bytes) -> None:
    asked = json.loads(body)
    name = f"{asked['organization'] or 'tester'}/{asked['name']}"
    if asked["organization"] not in (None, "me"):
        one.refuse(403, message="You don't have the rights to create a dataset under this namespace")
    elif name in one.hub.repos:
        one.answer(409, {"error": "You already created this dataset repo", "url": f"{one.hub.url}/datasets/{name}"})
    else:
        one.hub.put(name, {".gitattributes": b"*.parquet filter=lfs\n"}, private=asked.get("visibility") == "private")
        one.answer(200, {"url": f"{one.hub.url}/datasets/{name}", "name": name})


def _info(one: Exchange, body: bytes, repo: str, revision: str = "main") -> None:
    found = one.repo(repo)
    if found is None:
        return
    at = found.at(revision)
    if at is None:
        one.refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return
    siblings = [{"rfilename": path} for path in sorted(at[1])]
    value = {"id": repo, "sha": at[0], "private": found.private, "siblings": siblings, "tags": [], "downloads": 0}
    one.answer(200, {**value, "likes": 0, "gated": False, "disabled": False, "cardData": _card(one, at[1])})


def _card(one: Exchange, tree: dict[str, str]) -> dict[str, Any]:
    import yaml

    text = one.hub.blobs[tree["README.md"]].decode() if "README.md" in tree else ""
    return yaml.safe_load(text.split("---")[1]) if text.startswith("---") else {}


def _tree(one: Exchange, body: bytes, repo: str, revision: str, folder: str = "") -> None:
    found = one.repo(repo)
    at = found and found.at(revision)
    if not at:
        return
    recursive = "recursive=true" in one.path.lower()
    start = f"{folder.strip('/')}/" if folder.strip("/") else ""
    entries: dict[str, dict[str, Any]] = {}
    for path, name in sorted(at[1].items()):
        if not path.startswith(start):
            continue
        parts = path[len(start) :].split("/")
        for depth in range(1, len(parts)):
            above = start + "/".join(parts[:depth])
            if depth == 1 or recursive:
                entries.setdefault(above, {"type": "directory", "path": above, "size": 0, "oid": "0" * 40})
        if recursive or len(parts) == 1:
            entries[path] = one.hub.entry(path, name)
    if start and not entries:
        one.refuse(404, "EntryNotFound", f"{folder} does not exist")
        return
    one.answer(200, list(entries.values()))


def _paths(one: Exchange, body: bytes, repo: str, revision: str) -> None:
    found = one.repo(repo)
    at = found and found.at(revision)
    if not at:
        return
    if one.headers.get("Content-Type", "").startswith("application/json"):
        asked = json.loads(body)["paths"]
    else:
        asked = urllib.parse.parse_qs(body.decode()).get("paths", [])
    entries = []
    for path in [asked] if isinstance(asked, str) else asked:
        if path in at[1]:
            entries.append(one.hub.entry(path, at[1][path]))
        elif any(name.startswith(f"{path}/") for name in at[1]):
            entries.append({"type": "directory", "path": path, "size": 0, "oid": "0" * 40})
    one.answer(200, entries)


def _refs(one: Exchange, body: bytes, repo: str) -> None:
    found = one.repo(repo)
    if found is None:
        return
    tags = [{"name": n, "ref": f"refs/tags/{n}", "targetCommit": c} for n, c in found.tags.items()]
    main = {"name": "main", "ref": "refs/heads/main", "targetCommit": found.commits[-1][0]}
    one.answer(200, {"branches": [main], "tags": tags, "converts": []})


def _tag(one: Exchange, body: bytes, repo: str, revision: str) -> None:
    found = one.repo(repo)
    at = found and found.at(revision)
    if not found or not at:
        return
    name = json.loads(body)["tag"]
    if name in found.tags:
        one.refuse(409, message="Tag reference exists already")
        return
    found.tags[name] = at[0]
    one.answer(200, {})


def _preupload(one: Exchange, body: bytes, repo: str, revision: str) -> None:
    found = one.repo(repo)
    if found is None:
        return
    tree, files = found.commits[-1][1], []
    for file in json.loads(body)["files"]:
        path = file["path"]
        mode = "lfs" if path.endswith((".parquet", ".png")) else "regular"
        held = tree.get(path)
        oid = None if held is None else held if mode == "lfs" else _git(one.hub.blobs[held])
        files.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
    one.answer(200, {"files": files})


def _batch(one: Exchange, body: bytes, repo: str) -> None:
    if one.repo(repo) is None:
        return
    objects = []
    for asked in json.loads(body)["objects"]:
        found = {"oid": asked["oid"], "size": asked["size"]}
        if asked["oid"] not in one.hub.blobs:
            found["actions"] = {"upload": {"href": f"{one.hub.url}/lfs/{asked['oid']}"}}
        objects.append(found)
    one.answer(200, {"transfer": "basic", "objects": objects})


def _put_large(one: Exchange, body: bytes, oid: str) -> None:
    if hashlib.sha256(body).hexdigest() != oid:
        one.refuse(400, message="the content is not what was announced")
        return
    one.hub.keep(body)
    one.hub.large.add(oid)
    one.hub.sent[oid] += 1
    one.answer(200, {})


def _commit(one: Exchange, body: bytes, repo: str, revision: str) -> None:
    found = one.repo(repo)
    if found is None:
        return
    head, tree = found.commits[-1]
    tree = dict(tree)
    for line in body.splitlines():
        item = json.loads(line)
        value = item["value"]
        if item["key"] == "header" and value.get("parentCommit", head) != head:
            one.refuse(412, message="A commit has happened since. Please refresh and try again.")
            return
        if item["key"] == "file":
            tree[value["path"]] = one.hub.keep(base64.b64decode(value["content"]))
        elif item["key"] == "lfsFile":
            if value["oid"] not in one.hub.blobs:
                one.refuse(400, message=f"LFS pointer pointed to a file that does not exist: {value['path']}")
                return
            one.hub.large.add(value["oid"])
            tree[value["path"]] = value["oid"]
        elif item["key"] == "deletedFile":
            del tree[value["path"]]
    commit = one.hub.add(found, tree)
    one.answer(
        200, {"success": True, "commitOid": commit, "commitUrl": f"{one.hub.url}/datasets/{repo}/commit/{commit}"}
    )


def _resolve(one: Exchange, body: bytes, repo: str, revision: str, path: str) -> None:
    found = one.repo(repo)
    if found is None:
        return
    at = found.at(revision)
    if at is None:
        one.refuse(404, "RevisionNotFound", "Invalid rev id")
    elif path not in at[1]:
        one.answer(404, {"error": "Entry not found"}, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": at[0]})
    else:
        name = at[1][path]
        data = one.hub.blobs[name]
        etag = name if name in one.hub.large else _git(data)
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": at[0], "Content-Type": "application/octet-stream"}
        status, wanted = 200, re.fullmatch(r"bytes=(\d+)-(\d*)", one.headers.get("Range", ""))
        if wanted and one.command == "GET":
            first, last = int(wanted[1]), int(wanted[2] or len(data) - 1)
            headers["Content-Range"] = f"bytes {first}-{min(last, len(data) - 1)}/{len(data)}"
            status, data = 206, data[first : last + 1]
        one.answer(status, headers={**headers, "Content-Length": str(len(data))}, data=data)


def _fine(one: Exchange, body: bytes) -> None:
    one.answer(200, {"errors": [], "warnings": []})


_NAME = r"(?P<repo>[^/]+/[^/]+)"
_API = rf"/api/datasets/{_NAME}"
_ROUTES: list[tuple[str, str, Callable[..., None]]] = [
    ("POST", "/api/repos/create", _create),
    ("POST", "/api/validate-yaml", _fine),
    ("GET", rf"{_API}/refs", _refs),
    ("GET", rf"{_API}/revision/(?P<revision>[^/]+)", _info),
    ("GET", rf"{_API}/tree/(?P<revision>[^/]+)(?P<folder>/.*)?", _tree),
    ("POST", rf"{_API}/paths-info/(?P<revision>[^/]+)", _paths),
    ("POST", rf"{_API}/tag/(?P<revision>[^/]+)", _tag),
    ("POST", rf"{_API}/preupload/(?P<revision>[^/]+)", _preupload),
    ("POST", rf"{_API}/commit/(?P<revision>[^/]+)", _commit),
    ("GET", _API, _info),
    ("POST", rf"/datasets/{_NAME}\.git/info/lfs/objects/batch", _batch),
    ("PUT", "/lfs/(?P<oid>[0-9a-f]{64})", _put_large),
    ("GET HEAD", rf"/datasets/{_NAME}/resolve/(?P<revision>[^/]+)/(?P<path>.+)", _resolve),
]


def _git(data: bytes) -> str:
    return hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()


def _handler(server: HubServer) -> type[Exchange]:
    return type("Handler", (Exchange,), {"hub": server})
