"""Servers that speak OpenAI's interface, through its package: OpenAI itself, and many that run at home."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qbench.errors import MissingPackageError, OptionError, ServerError
from qbench.llm.calls import Call, Reply, RequestError, Send
from qbench.llm.keys import AUTO, Key, read_key, server_url
from qbench.llm.replies import CONNECTING, SLOW, about_tokens, parsed, refusal, vectors, within

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
def openai_client(url: str, timeout: float) -> Iterator[tuple[OpenAI, Key]]:
    """A client of the openai package that tries once, because `ask` tries again itself.

    Raises:
        MissingPackageError: the package is not installed.
        OptionError: there is no key, and the server is OpenAI's. Servers at home often need none.
    """
    try:
        from openai import OpenAI
    except ImportError:
        raise MissingPackageError(
            "servers that speak OpenAI's interface need openai", remedy="Install it: pip install 'qbench[llm]'"
        ) from None
    key = read_key(KEYS)
    if not key.secret and url == URL:
        raise OptionError("OpenAI needs a key", remedy=f"Set the environment variable {key.variable}")
    with OpenAI(api_key=key.secret or "none", base_url=url, max_retries=0, timeout=timeout) as client:
        yield client, key


@contextmanager
def request_errors(key: Key, timeout: float) -> Iterator[None]:
    """Turns the openai package's errors into `RequestError`."""
    import openai

    try:
        yield
    except openai.APITimeoutError:
        raise RequestError(f"no answer within {timeout:g} s", attempts=SLOW, charged=True) from None
    except openai.APIConnectionError as fault:
        reason = key.hidden(str(fault.__cause__ or fault))
        raise RequestError(f"no connection ({reason})", attempts=CONNECTING, remedy="Check base_url") from None
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
        with openai_client(self.url, timeout) as (client, key):

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
