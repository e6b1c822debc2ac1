"""Calls to servers and their replies: the types that all providers share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Answer = Any
"""A server's answer to one input: an array of float32, or a JSON value."""


@dataclass(frozen=True)
class Call:
    """What an answer depends on, apart from its input.

    Attributes:
        kind: kind of call ("openai embedding"), which determines the form of inputs and answers.
        model: name of the model at the server.
        parameters: names and values of everything else, the server's address included; nothing secret.
    """

    kind: str
    model: str
    parameters: tuple[tuple[str, int | float | str], ...] = ()

    @property
    def text(self) -> str:
        """Canonical JSON of the call."""
        return _canonical({"kind": self.kind, "model": self.model, "parameters": dict(self.parameters)})

    def keys(self, inputs: Sequence[Any]) -> list[bytes]:
        """The key of each answer in a recording: 16 bytes of the SHA-256 of the call and the input."""
        start = hashlib.sha256(self.text.encode() + b"\0")
        keys = []
        for value in inputs:
            digest = start.copy()
            digest.update(_canonical(value).encode())
            keys.append(digest.digest()[:16])
        return keys


@dataclass(frozen=True)
class Reply:
    """The reply to one request.

    Attributes:
        answers: one for each input, in order.
        input_tokens, output_tokens: numbers that the server reports; None if it reports none.
    """

    answers: Sequence[Answer]
    input_tokens: int | None = None
    output_tokens: int | None = None


class RequestError(Exception):
    """A request without an answer, and whether to repeat it. Stays inside this room.

    Attributes:
        message: what happened, without anything secret.
        attempts: most attempts that make sense; 1 if a repetition would change nothing.
        wait: seconds that the server asks to wait; None if it does not say.
        charged: whether the server may have done the work, and so may charge it.
        remedy: what the user can do.
        of_input: whether the server refuses this request, and may answer others.
    """

    def __init__(
        self,
        message: str,
        *,
        attempts: int = 1,
        wait: float | None = None,
        charged: bool = False,
        remedy: str = "",
        of_input: bool = False,
    ) -> None:
        super().__init__(message)
        self.message, self.attempts, self.wait = message, attempts, wait
        self.charged, self.remedy, self.of_input = charged, remedy, of_input


Send = Callable[[Sequence[Any]], Awaitable[Reply]]
"""Sends the inputs of one request. Raises `RequestError` without an answer, `ServerError` if it makes no sense."""


class Server(Protocol):
    """One kind of call to one provider."""

    @property
    def name(self) -> str:
        """Provider and address, for people."""
        ...

    @property
    def call(self) -> Call:
        """What its answers depend on."""
        ...

    def requests(self, inputs: Sequence[Any]) -> Iterator[range]:
        """The positions of the inputs of each request, in order, within the provider's limits."""
        ...

    def tokens(self, inputs: Sequence[Any]) -> tuple[int, int]:
        """The approximate number of tokens it reads, and the most that it writes."""
        ...

    def connected(self) -> AbstractAsyncContextManager[Send]:
        """The function that sends requests, several at once; whoever awaits it limits the time.

        Raises:
            OptionError: there is no key.
        """
        ...


def to_blob(answer: Answer) -> tuple[str, bytes]:
    """An answer's form ("float32" or "json") and bytes, for a recording."""
    if isinstance(answer, np.ndarray):
        return "float32", answer.astype("<f4").tobytes()
    return "json", _canonical(answer).encode()


def from_blob(form: str, blob: bytes) -> Answer:
    """The answer that `to_blob` wrote.

    Raises:
        ValueError: it did not write this.
    """
    if form == "float32":
        numbers: NDArray[np.float32] = np.frombuffer(blob, dtype="<f4")
        return numbers
    if form != "json":
        raise ValueError(f"unknown form {form!r}")
    return json.loads(blob)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
