"""A server for tests with OpenAI's interface to chat and embeddings, and Cohere's. It listens on the loopback alone."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np

from qbench.llm.client import Access, Patience
from tests.loopback import LoopbackServer

KEY = "sk-test-0123456789-not-a-real-key"

QUICK = Patience(attempts=5, first=0.01, longest=0.02, timeout=5.0)

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers, body."""


def embed(texts: Sequence[str], size: int = 16) -> np.ndarray[Any, Any]:
    """Vectors of any length, the same for the same text; texts that share words are near, and no two equally so."""
    found = np.full((len(texts), size), 0.25)
    for row, text in zip(found, texts, strict=True):
        for word in text.lower().split():
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
            row += np.random.default_rng(seed).normal(size=size)
    return found


def nothing_known(asked: str) -> str:
    """What the model says where a test has no use for chat."""
    return "I have nothing to say."


class ApiServer(LoopbackServer):
    """Answers until the block ends.

    Attributes:
        plan: what to do with the next requests, one each: from the request's JSON to an answer, to what writes one
            itself (given the handler), or None to answer well.
        seen: (path, JSON, headers in lower case) of each request, in order.
        embed: makes the vectors.
        base64: whether OpenAI's answers hold base64 where asked; some servers know only lists.
        chat: what the model writes when it is asked something, from the last message: a text, or the choice of the
            answer whole, as OpenAI calls it ({"message": ..., "logprobs": ...}).
        refuses: parameters of chat that it does not know; "json_schema" and "json_object" are forms of an answer.
    """

    def __init__(
        self,
        plan: Iterable[Callable[[dict[str, Any]], Answer | None]] = (),
        *,
        embed: Callable[..., Any] = embed,
        chat: Callable[[str], str | dict[str, Any] | None] = nothing_known,
        refuses: Iterable[str] = (),
    ) -> None:
        self.plan, self.embed, self.base64 = deque(plan), embed, True
        self.chat, self.refuses = chat, set(refuses)
        self.seen: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.closing = threading.Event()
        super().__init__(_handler(self))

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        super().__exit__()

    @property
    def url(self) -> str:
        """OpenAI's base_url."""
        return f"{self.address}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts that it was asked, in order."""
        return [text for _, payload, _ in self.seen for text in payload.get("input", payload.get("texts"))]

    def answer(self, path: str, payload: dict[str, Any]) -> Answer:
        """What it says to a request."""
        step = self.plan.popleft() if self.plan else None
        planned = step(payload) if step else None
        if planned is not None:
            return planned
        if path == "/v1/embeddings":
            return good(self.openai(payload))
        if path == "/v2/embed":
            return good(self.cohere(payload))
        if path == "/v1/chat/completions":
            return self.openai_chat(payload)
        return 404, {}, b"no such page"

    def openai(self, payload: dict[str, Any]) -> dict[str, Any]:
        """As OpenAI answers, but not in order."""
        texts = payload["input"]
        rows = self.embed(texts)[:, : payload.get("dimensions")]
        data = []
        for i in reversed(range(len(texts))):
            coded = payload.get("encoding_format") == "base64" and self.base64
            row = base64.b64encode(rows[i].astype("<f4").tobytes()).decode() if coded else rows[i].tolist()
            data.append({"object": "embedding", "index": i, "embedding": row})
        return {"object": "list", "data": data, "model": payload["model"], "usage": _usage(texts)}

    def openai_chat(self, payload: dict[str, Any]) -> Answer:
        """As OpenAI answers a talk, with the refusals that servers give to what they do not know."""
        form = payload.get("response_format", {}).get("type", "text")
        for name in sorted(self.refuses & (payload.keys() | {form})):
            where = "response_format.type" if name == form else name
            return failing(400, f"Unsupported value: '{where}' does not support '{name}' with this model.")(payload)
        asked = payload["messages"][-1]["content"]
        said = self.chat(asked)
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        if isinstance(said, dict):
            choice |= said
            said = said["message"]["content"]
        read = sum(len(message["content"].split()) for message in payload["messages"])
        used = {"prompt_tokens": read, "completion_tokens": len((said or "").split())}
        return good({"object": "chat.completion", "model": payload["model"], "choices": [choice], "usage": used})

    def cohere(self, payload: dict[str, Any]) -> dict[str, Any]:
        """As Cohere answers."""
        texts = payload["texts"]
        rows = self.embed(texts)[:, : payload.get("output_dimension")]
        used = _usage(texts)["total_tokens"]
        return {"id": "x", "embeddings": {"float": rows.tolist()}, "meta": {"billed_units": {"input_tokens": used}}}


def _usage(texts: Sequence[str]) -> dict[str, int]:
    count = sum(len(text.split()) for text in texts)
    return {"prompt_tokens": count, "total_tokens": count}


def good(value: object) -> Answer:
    """JSON, with 200."""
    return 200, {}, json.dumps(value).encode()


def failing(status: int, message: str = "no luck", **headers: str) -> Callable[[dict[str, Any]], Answer]:
    """An error, in the form of OpenAI's."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda payload: (status, named, json.dumps({"error": {"message": message}}).encode())


def saying(body: object) -> Callable[[dict[str, Any]], Answer]:
    """A body of one's own, with 200: bytes as they are, anything else as JSON."""
    return lambda payload: (200, {}, body) if isinstance(body, bytes) else good(body)


def waiting(server: Callable[[], ApiServer], seconds: float) -> Callable[[dict[str, Any]], None]:
    """Answers well, late."""

    def wait(payload: dict[str, Any]) -> None:
        server().closing.wait(seconds)

    return wait


def access(folder: Any, **options: Any) -> Access:
    """Quick retries, and a recording in a folder."""
    return Access(**{"recording": folder / "answers.sqlite", "patience": QUICK, **options})


def _handler(server: ApiServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.seen.append((self.path, payload, {name.lower(): value for name, value in self.headers.items()}))
            answer = server.answer(self.path, payload)
            if callable(answer):  # it speaks for itself
                answer(self)
                self.close_connection = True
                return
            status, headers, body = answer
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


def only_key(monkeypatch):
    """The environment names a key, and no server."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
