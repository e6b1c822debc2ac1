"""Cohere's embeddings, by the second version of its HTTP interface (POST /v2/embed)."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from qbench.errors import OptionError
from qbench.llm.calls import Call, Reply, Send
from qbench.llm.keys import AUTO, Key, read_key, server_url
from qbench.llm.replies import (
    LARGEST,
    about_tokens,
    largest_answer,
    no_answer,
    no_connection,
    parsed,
    refusal,
    too_large,
    vectors,
    within,
)

URL = "https://api.cohere.com"
URL_VARIABLE = "CO_API_URL"
KEYS = ("COHERE_API_KEY", "CO_API_KEY")

BATCH = 96
"""Texts that Cohere takes in one request."""
_TOGETHER = 10_000_000
"""Bytes of one request: no rule of Cohere's, which cuts long texts itself."""


def cohere_url(given: str = AUTO) -> str:
    """The address of a server, without /v2; for "auto" that in CO_API_URL, or else Cohere's.

    Raises:
        OptionError: it is no address.
    """
    return server_url(given, URL_VARIABLE, URL)


@dataclass(frozen=True)
class CohereEmbeddings:
    """Vectors of texts, of queries or of documents; no text may be empty. The server cuts texts that are too long.

    Attributes:
        model: as Cohere names it.
        side: what the texts are.
        url: its address.
        dimensions: numbers in a vector, where the server is to shorten them; 0: as many as the model gives.
        batch: texts of one request, at most.
        size: numbers that a vector must have; 0: any.
    """

    model: str
    side: Literal["search_query", "search_document"]
    url: str = URL
    dimensions: int = 0
    batch: int = BATCH
    size: int = 0

    @property
    def name(self) -> str:
        """The provider, and its address."""
        return f"Cohere at {self.url}"

    @property
    def call(self) -> Call:
        """What its answers depend on."""
        parameters = (("dimensions", self.dimensions), ("input_type", self.side), ("server", self.url))
        return Call("cohere embedding", self.model, parameters)

    def requests(self, inputs: Sequence[Any]) -> Iterator[range]:
        """The positions of the texts of each request."""
        return within([len(text.encode()) for text in inputs], min(self.batch, BATCH), _TOGETHER)

    def tokens(self, inputs: Sequence[Any]) -> tuple[int, int]:
        """About how many tokens it reads; it writes none."""
        return about_tokens(inputs), 0

    @contextmanager
    def connected(self, timeout: float) -> Iterator[Send]:
        """What sends requests.

        Raises:
            OptionError: there is no key, and the server is Cohere's.
        """
        key = read_key(KEYS)
        if not key.secret and self.url == URL:
            raise OptionError("Cohere needs a key", remedy=f"Set the environment variable {key.variable}")

        largest = largest_answer(min(self.batch, BATCH))

        def send(texts: Sequence[Any]) -> Reply:
            body: dict[str, Any] = {
                "model": self.model,
                "texts": list(texts),
                "input_type": self.side,
                "embedding_types": ["float"],
                "truncate": "END",
            }
            if self.dimensions:
                body["output_dimension"] = self.dimensions
            return self.read(post(f"{self.url}/v2/embed", body, key, timeout, largest), texts)

        yield send

    def read(self, found: dict[str, Any], texts: Sequence[str]) -> Reply:
        """The reply in the server's answer.

        Raises:
            ServerError: it makes no sense.
        """
        rows = _inside(found, "embeddings", "float")
        used = _inside(found, "meta", "billed_units", "input_tokens")
        answers = vectors(rows, texts, self.size or self.dimensions, self.name)
        return Reply(answers, int(used) if isinstance(used, int | float) and 0 <= used < float("inf") else None)


def _inside(found: object, *names: str) -> Any:
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect could carry the key to another server."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Follow none: it becomes an error like any other status."""


def post(url: str, body: object, key: Key, timeout: float, largest: int) -> dict[str, Any]:
    """Send JSON, get JSON.

    Args:
        url: where to.
        body: what JSON can say.
        key: goes into the header Authorization; none where it is empty.
        timeout: seconds to wait for the next bytes of an answer.
        largest: bytes of it that are read, at most.

    Raises:
        RequestError: there is no answer, or none that is an object.
    """
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "qbench"}
    if key.secret:
        headers["Authorization"] = f"Bearer {key.secret}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310  server_url checked it
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=timeout) as answer:
            said_back = answer.read(largest + 1)
    except urllib.error.HTTPError as fault:
        with fault:
            names = {name.lower(): value for name, value in fault.headers.items()}
            raise refusal(fault.code, names, _text(fault), key) from None
    except (OSError, http.client.HTTPException) as fault:
        reason = fault.reason if isinstance(fault, urllib.error.URLError) else fault
        if isinstance(reason, TimeoutError):
            raise no_answer(timeout) from None
        raise no_connection(key.hidden(str(reason) or type(reason).__name__)) from None
    if len(said_back) > largest:
        raise too_large(largest)
    return parsed(said_back)


def _text(answer: urllib.error.HTTPError) -> str:
    try:
        return answer.read(LARGEST).decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return ""
