"""Servers that speak OpenAI's interface, through its package: OpenAI itself, and many that run at home."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from qbench.errors import MissingPackageError, OptionError, ServerError
from qbench.llm.calls import Call, Reply, Send
from qbench.llm.keys import AUTO, Key, read_key, server_url
from qbench.llm.replies import (
    TooLargeError,
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

if TYPE_CHECKING:
    from openai import OpenAI

URL = "https://api.openai.com/v1"
URL_VARIABLE = "OPENAI_BASE_URL"
KEYS = ("OPENAI_API_KEY",)

BATCH = 2048
"""Texts that OpenAI takes in one request."""
TOGETHER = 300_000
"""Tokens that it takes in one request. A token is at least a byte, so as many bytes always fit."""


def openai_url(given: str = AUTO) -> str:
    """The address of a server; for "auto" that in OPENAI_BASE_URL, or else OpenAI's.

    Raises:
        OptionError: it is no address.
    """
    return server_url(given, URL_VARIABLE, URL)


@contextmanager
def openai_client(url: str, timeout: float, largest: int) -> Iterator[tuple[OpenAI, Key]]:
    """A client of the openai package that tries once, because `ask` tries again itself.

    It follows no redirect, which could carry texts and key to another server.

    Args:
        url: the server's address.
        timeout: seconds to wait for the next byte.
        largest: bytes of an answer that are read, at most.

    Raises:
        MissingPackageError: the package is not installed.
        OptionError: there is no key, and the server is OpenAI's. Servers at home often need none.
    """
    try:
        from openai import DefaultHttpxClient, OpenAI
    except ImportError:
        raise MissingPackageError(
            "servers that speak OpenAI's interface need openai", remedy="Install it: pip install 'qbench[llm]'"
        ) from None
    key = read_key(KEYS)
    if not key.secret and url == URL:
        raise OptionError("OpenAI needs a key", remedy=f"Set the environment variable {key.variable}")
    # Packed, a small answer could become a large one.
    web = DefaultHttpxClient(
        timeout=timeout,
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [partial(_limit, largest)]},
    )
    with OpenAI(api_key=key.secret or "none", base_url=url, max_retries=0, timeout=timeout, http_client=web) as client:
        yield client, key


def _limit(largest: int, response: Any) -> None:
    """Makes a response of httpx, or of the httpx2 of newer openai packages, end with an error where it is too large."""
    library = import_module(type(response).__module__.partition(".")[0])
    stream = response.stream

    class Limited(library.SyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for block in stream:
                size += len(block)
                if size > largest:
                    raise TooLargeError(largest)
                yield block

        def close(self) -> None:
            stream.close()

    response.stream = Limited()


@contextmanager
def request_errors(key: Key, timeout: float) -> Iterator[None]:
    """Turns the openai package's errors into `RequestError`."""
    import openai

    try:
        yield
    except openai.APITimeoutError:
        raise no_answer(timeout) from None
    except openai.APIConnectionError as fault:
        if isinstance(fault.__cause__, TooLargeError):  # as older packages tell it
            raise too_large(fault.__cause__.largest) from None
        raise no_connection(key.hidden(str(fault.__cause__ or fault))) from None
    except TooLargeError as fault:
        raise too_large(fault.largest) from None
    except openai.APIStatusError as fault:
        headers = {name.lower(): value for name, value in fault.response.headers.items()}
        raise refusal(fault.status_code, headers, fault.response.text, key) from None


@dataclass(frozen=True)
class OpenAIEmbeddings:
    """Vectors of texts; no text may be empty.

    Attributes:
        model: as the server names it.
        url: its address.
        dimensions: numbers in a vector, where the server is to shorten them; 0: as many as the model gives.
        batch: texts of one request, at most.
        size: numbers that a vector must have; 0: any.
    """

    model: str
    url: str = URL
    dimensions: int = 0
    batch: int = BATCH
    size: int = 0

    @property
    def name(self) -> str:
        """The provider, and its address."""
        return f"OpenAI at {self.url}"

    @property
    def call(self) -> Call:
        """What its answers depend on."""
        return Call("openai embedding", self.model, (("dimensions", self.dimensions), ("server", self.url)))

    def requests(self, inputs: Sequence[Any]) -> Iterator[range]:
        """The positions of the texts of each request."""
        return within([len(text.encode()) for text in inputs], min(self.batch, BATCH), TOGETHER)

    def tokens(self, inputs: Sequence[Any]) -> tuple[int, int]:
        """About how many tokens it reads; it writes none."""
        return about_tokens(inputs), 0

    @contextmanager
    def connected(self, timeout: float) -> Iterator[Send]:
        """What sends requests; errors as in `openai_client`."""
        with openai_client(self.url, timeout, largest_answer(min(self.batch, BATCH))) as (client, key):

            def send(texts: Sequence[Any]) -> Reply:
                options: dict[str, Any] = {"dimensions": self.dimensions} if self.dimensions else {}
                with request_errors(key, timeout):
                    # The package's own default; a quarter of the bytes of decimal numbers.
                    raw = client.embeddings.with_raw_response.create(
                        model=self.model, input=list(texts), encoding_format="base64", **options
                    )
                    body = raw.http_response.content
                return self.read(parsed(body), texts)

            yield send

    def read(self, found: dict[str, Any], texts: Sequence[str]) -> Reply:
        """The reply in a server's answer.

        Raises:
            ServerError: it makes no sense.
        """
        rows = found.get("data")
        entries = [row if isinstance(row, dict) else {} for row in rows] if isinstance(rows, list) else []
        ordered: list[Any] = [entry.get("embedding") for entry in entries]
        if len(entries) == len(texts):
            places = [entry.get("index", i) for i, entry in enumerate(entries)]
            if set(map(repr, places)) != set(map(str, range(len(texts)))):
                raise ServerError(f"{self.name}: its answer does not say which vector is whose", value=places)
            for place, entry in zip(places, entries, strict=True):
                ordered[place] = entry.get("embedding")
        usage = found.get("usage")
        used = usage.get("total_tokens") if isinstance(usage, dict) else None
        answers = vectors(ordered, texts, self.size or self.dimensions, self.name)
        return Reply(answers, used if isinstance(used, int) and used >= 0 else None)
