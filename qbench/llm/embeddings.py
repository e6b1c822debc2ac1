"""Embeddings of texts from servers with OpenAI's interface (POST /embeddings) or Cohere's (POST /v2/embed)."""

from __future__ import annotations

import base64
import binascii
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from qbench.errors import OptionError, ServerError
from qbench.llm.api_keys import AUTO, Key, read_key, server_url
from qbench.llm.calls import Call, Reply, Send
from qbench.llm.transport import LARGEST, Post, posting

OPENAI_URL = "https://api.openai.com/v1"
COHERE_URL = "https://api.cohere.com"

_VECTOR_BYTES = 256_000
"""Most bytes of a vector in an answer: ten thousand decimal numbers, with all their digits."""


def openai_url(given: str = AUTO) -> str:
    """The address of a server with OpenAI's interface; for "auto" that in OPENAI_BASE_URL, or else OpenAI's own.

    Raises:
        OptionError: it is no address.
    """
    return server_url(given, "OPENAI_BASE_URL", OPENAI_URL)


def cohere_url(given: str = AUTO) -> str:
    """The address of a server with Cohere's interface, without /v2; for "auto" that in CO_API_URL, or Cohere's own.

    Raises:
        OptionError: it is no address.
    """
    return server_url(given, "CO_API_URL", COHERE_URL)


def openai_post(url: str, largest: int = LARGEST) -> AbstractAsyncContextManager[Post]:
    """A connection to a server with OpenAI's interface; local servers often need no key.

    Raises:
        OptionError: there is no key, and the server is OpenAI's own.
    """
    key = _needed(read_key(("OPENAI_API_KEY",)), url, "OpenAI", OPENAI_URL)
    # Who is charged, from the variables of OpenAI's own package.
    charged = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
    headers = {header: os.environ[variable] for header, variable in charged.items() if os.environ.get(variable)}
    return posting(url, key, largest, headers)


def cohere_post(url: str, largest: int = LARGEST) -> AbstractAsyncContextManager[Post]:
    """A connection to a server with Cohere's interface.

    Raises:
        OptionError: there is no key, and the server is Cohere's own.
    """
    return posting(url, _needed(read_key(("COHERE_API_KEY", "CO_API_KEY")), url, "Cohere", COHERE_URL), largest)


def _needed(key: Key, url: str, provider: str, own_url: str) -> Key:
    if not key.secret and url == own_url:
        raise OptionError(f"{provider} needs a key", remedy=f"Set the environment variable {key.variable}")
    return key


def largest_answer(vectors: int) -> int:
    """Most bytes that an answer with this number of vectors may have."""
    return LARGEST + vectors * _VECTOR_BYTES


class _Embeddings(ABC):
    """What the providers of embeddings share."""

    model: str
    url: str
    dimensions: int
    batch: int
    size: int

    provider: ClassVar[str]
    most: ClassVar[int]
    """Texts that the provider takes in one request."""
    together: ClassVar[int]
    """Bytes of text that it takes in one request."""

    @property
    def name(self) -> str:
        """The provider and its address."""
        return f"{self.provider} at {self.url}"

    def requests(self, inputs: Sequence[Any]) -> Iterator[range]:
        """The positions of the texts of each request."""
        return within([len(text.encode()) for text in inputs], self._batch, self.together)

    def tokens(self, inputs: Sequence[Any]) -> tuple[int, int]:
        """The approximate number of tokens it reads; it writes none."""
        return about_tokens(inputs), 0

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Send]:
        """The function that sends requests.

        Raises:
            OptionError: there is no key, and the provider needs one.
        """
        async with self._post(largest_answer(self._batch)) as post:

            async def send(texts: Sequence[Any]) -> Reply:
                answer = await post(*self._request(texts))
                rows, used = self._rows(answer, len(texts))
                counted = int(used) if isinstance(used, int | float) and 0 <= used < float("inf") else None
                return Reply(vectors(rows, texts, self.size or self.dimensions, self.name), counted)

            yield send

    @property
    def _batch(self) -> int:
        return min(self.batch or self.most, self.most)

    @abstractmethod
    def _post(self, largest: int) -> AbstractAsyncContextManager[Post]:
        """The connection."""

    @abstractmethod
    def _request(self, texts: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """Path and body of the request."""

    @abstractmethod
    def _rows(self, answer: dict[str, Any], count: int) -> tuple[object, object]:
        """The JSON of the vectors, in the order of the texts, and of the number of tokens that was read.

        Raises:
            ServerError: the answer does not say which vector belongs to which text.
        """


@dataclass(frozen=True)
class OpenAIEmbeddings(_Embeddings):
    """Vectors of texts, none of them empty, from a server with OpenAI's interface.

    Attributes:
        model: name of the model at the server.
        url: address of the server.
        dimensions: length of a vector, if the server is to shorten it; 0 for the model's own.
        batch: most texts per request; 0 for as many as the provider takes.
        size: length that a vector must have; 0 for any.
    """

    model: str
    url: str = OPENAI_URL
    dimensions: int = 0
    batch: int = 0
    size: int = 0

    provider = "OpenAI"
    most = 2048
    together = 300_000  # tokens, by OpenAI's rules; a token has at least one byte, so that as many bytes always fit

    @property
    def call(self) -> Call:
        """What its answers depend on."""
        return Call("openai embedding", self.model, (("dimensions", self.dimensions), ("server", self.url)))

    def _post(self, largest: int) -> AbstractAsyncContextManager[Post]:
        return openai_post(self.url, largest)

    def _request(self, texts: Sequence[str]) -> tuple[str, dict[str, Any]]:
        # base64 takes a quarter of the bytes of decimal numbers.
        body = {"model": self.model, "input": list(texts), "encoding_format": "base64"}
        return "/embeddings", body | ({"dimensions": self.dimensions} if self.dimensions else {})

    def _rows(self, answer: dict[str, Any], count: int) -> tuple[object, object]:
        rows = answer.get("data")
        entries = [row if isinstance(row, dict) else {} for row in rows] if isinstance(rows, list) else []
        ordered: list[Any] = [entry.get("embedding") for entry in entries]
        if len(entries) == count:
            positions = [entry.get("index", i) for i, entry in enumerate(entries)]
            if set(map(repr, positions)) != set(map(str, range(count))):
                raise ServerError(f"{self.name}: its answer does not say which vector is whose", value=positions)
            for position, entry in zip(positions, entries, strict=True):
                ordered[position] = entry.get("embedding")
        return ordered, _inside(answer, "usage", "total_tokens")


@dataclass(frozen=True)
class CohereEmbeddings(_Embeddings):
    """Vectors of texts, none of them empty, from a server with Cohere's interface, which cuts texts that are too long.

    Attributes:
        model, url, dimensions, batch, size: as in `OpenAIEmbeddings`.
        side: what the texts are.
    """

    model: str
    url: str = COHERE_URL
    dimensions: int = 0
    batch: int = 0
    size: int = 0
    side: Literal["search_query", "search_document"] = "search_document"

    provider = "Cohere"
    most = 96
    together = 10_000_000  # no rule of Cohere's

    @property
    def call(self) -> Call:
        """What its answers depend on."""
        parameters = (("dimensions", self.dimensions), ("input_type", self.side), ("server", self.url))
        return Call("cohere embedding", self.model, parameters)

    def _post(self, largest: int) -> AbstractAsyncContextManager[Post]:
        return cohere_post(self.url, largest)

    def _request(self, texts: Sequence[str]) -> tuple[str, dict[str, Any]]:
        body = {"model": self.model, "texts": list(texts), "input_type": self.side}
        body |= {"embedding_types": ["float"], "truncate": "END"}
        return "/v2/embed", body | ({"output_dimension": self.dimensions} if self.dimensions else {})

    def _rows(self, answer: dict[str, Any], count: int) -> tuple[object, object]:
        return _inside(answer, "embeddings", "float"), _inside(answer, "meta", "billed_units", "input_tokens")


def _inside(value: object, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def vectors(rows: object, texts: Sequence[str], size: int, server: str) -> list[NDArray[np.float32]]:
    """The vectors of an answer, one per text.

    Args:
        rows: their JSON: lists of numbers, or base64 of little-endian float32.
        texts: the texts that were sent.
        size: length that a vector must have; 0 for that of the first one.
        server: its name, for errors.

    Raises:
        ServerError: there are more or fewer than texts, or one is no vector of that length with a direction.
    """
    rows = rows if isinstance(rows, list) else []
    if len(rows) != len(texts):
        raise ServerError(
            f"{server}: {len(rows):,} vectors for {len(texts):,} texts", remedy="Check model and base_url"
        )
    read = []
    for text, row in zip(texts, rows, strict=True):
        vector = _vector(row)
        size = size or vector.size
        problem = next(_problems(vector, size), None)
        if problem:
            raise ServerError(f"{server}: it gives this text a vector {problem}", value=text)
        read.append(vector)
    return read


def _vector(row: object) -> NDArray[np.float32]:
    """A vector of any length; an empty one if the JSON holds none."""
    try:
        if isinstance(row, str):
            return np.frombuffer(base64.b64decode(row, validate=True), dtype="<f4")
        if not isinstance(row, list):
            return np.empty(0, dtype=np.float32)
        with np.errstate(over="ignore"):
            return np.array([float(number) for number in row], dtype=np.float32)
    except (TypeError, ValueError, OverflowError, binascii.Error):
        return np.empty(0, dtype=np.float32)


def _problems(vector: NDArray[np.float32], size: int) -> Iterator[str]:
    if not vector.size:
        yield "that cannot be read"
    if vector.size != size:
        yield f"of {vector.size:,} numbers, and {size:,} are needed"
    if not np.isfinite(vector).all():
        yield "that is not finite"
    if not vector.any():
        yield "of zeros"


def within(sizes: Sequence[int], most: int, together: int) -> Iterator[range]:
    """Cut consecutive positions into requests of at most `most` inputs, whose sizes add up to at most `together`.

    An input larger than `together` goes alone.
    """
    start, total = 0, 0
    for i, size in enumerate(sizes):
        if i > start and (i - start == most or total + size > together):
            yield range(start, i)
            start, total = i, 0
        total += size
    if start < len(sizes):
        yield range(start, len(sizes))


def about_tokens(texts: Sequence[str]) -> int:
    """The approximate number of tokens: one for every four bytes, as providers say of English."""
    return sum(-(-len(text.encode()) // 4) for text in texts)
