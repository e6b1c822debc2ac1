"""What is asked of a server and what comes back: the words that all providers and kinds of call share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Answer = Any
"""What a server says to one input: an array of float32, or anything that JSON can say."""


@dataclass(frozen=True)
class Call:
    """What the answer to an input depends on besides the input.

    Attributes:
        kind: what is done ("openai embedding"); names the form of inputs and answers.
        model: as the provider names it.
        parameters: name and value of everything else, the server's address included; nothing secret.
    """

    kind: str
    model: str
    parameters: tuple[tuple[str, int | float | str], ...] = ()

    @property
    def text(self) -> str:
        """It as JSON, the same for equal calls."""
        return _canonical({"kind": self.kind, "model": self.model, "parameters": dict(self.parameters)})

    def keys(self, inputs: Sequence[Any]) -> list[bytes]:
        """What each answer is recorded under: 16 bytes of a SHA-256 of the call and the input."""
        start = hashlib.sha256(self.text.encode() + b"\0")
        found = []
        for one in inputs:
            digest = start.copy()
            digest.update(_canonical(one).encode())
            found.append(digest.digest()[:16])
        return found


@dataclass(frozen=True)
class Reply:
    """What one request gave.

    Attributes:
        answers: one for each input, in order.
        input_tokens, output_tokens: what the server says that it read and wrote; None where it does not say.
    """

    answers: Sequence[Answer]
    input_tokens: int | None = None
    output_tokens: int | None = None


class RequestError(Exception):
    """A request that got no answer, and what may be done about it. Stays inside this room.

    Attributes:
        message: what happened, without anything secret.
        attempts: how often in all such a request is worth sending; 1 for what will not change.
        wait: seconds that the server wants us to wait; None where it does not say.
        charged: whether the server may have done the work, and so may charge it.
        remedy: what the user can do.
        of_input: whether the server refuses this very request, and may answer others.
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
        """Who answers, for people: provider and address."""
        ...

    @property
    def call(self) -> Call:
        """What its answers depend on."""
        ...

    def requests(self, inputs: Sequence[Any]) -> Iterator[range]:
        """The positions of the inputs that go into each request, in order, within the provider's limits."""
        ...

    def tokens(self, inputs: Sequence[Any]) -> tuple[int, int]:
        """About how many tokens it will read, and at most how many it will write."""
        ...

    def connected(self) -> AbstractAsyncContextManager[Send]:
        """The function that sends requests, several at once; whoever awaits it limits the time.

        Raises:
            OptionError: there is no key.
        """
        ...


def to_blob(answer: Answer) -> tuple[str, bytes]:
    """An answer's form ("float32" or "json") and bytes, for a recording."""
    import numpy as np

    if isinstance(answer, np.ndarray):
        return "float32", answer.astype("<f4").tobytes()
    return "json", _canonical(answer).encode()


def from_blob(form: str, blob: bytes) -> Answer:
    """The answer that `to_blob` wrote.

    Raises:
        ValueError: it did not write this.
    """
    import numpy as np

    if form == "float32":
        numbers: NDArray[np.float32] = np.frombuffer(blob, dtype="<f4")
        return numbers
    if form != "json":
        raise ValueError(f"unknown form {form!r}")
    return json.loads(blob)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
