"""What a server's answer means: refusals by status, and vectors read from JSON and checked."""

from __future__ import annotations

import base64
import binascii
import email.utils
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.errors import ServerError, shorten
from qbench.llm.calls import RequestError
from qbench.llm.keys import Key

if TYPE_CHECKING:
    from numpy.typing import NDArray

MANY = 1000
"""As often as the user's patience allows."""
CONNECTING = 4
"""Attempts to reach a server that is not there: its address may simply be wrong."""
SLOW = 3
"""Attempts after a time-out, each of which may be charged."""
LARGEST = 4_000_000
"""Bytes of an answer that are read, besides its vectors: many times what any that can be used has."""
_OF_A_VECTOR = 256_000
"""Bytes of a vector in an answer: ten thousand decimal numbers, with all their digits."""
_SHOWN = 200
"""Characters of a server's message that are shown."""

_FOR_GOOD = {"insufficient_quota", "billing_hard_limit_reached"}
"""What OpenAI calls a 429 that waiting does not cure."""


def refusal(status: int, headers: Mapping[str, str], body: str, key: Key) -> RequestError:
    """What to make of an answer that is none.

    Args:
        status: of HTTP, anything but 200.
        headers: by name in lower case.
        body: of the answer.
        key: the one that was sent; kept out of the message.
    """
    said, code = _message(body)
    # Before it is cut, which could leave half a key.
    said = key.hidden(said)
    said = f"{said[:_SHOWN]} [...]" if len(said) > _SHOWN else said.rstrip(".")
    shown = f"HTTP {status}, {said}" if said else f"HTTP {status}"
    if status in (401, 403):
        # What such an answer says may hold parts of the key.
        held = f"the key in {key.variable}" if key.secret else f"a call without a key ({key.variable} is not set)"
        return RequestError(
            f"HTTP {status}: it refuses {held}", remedy=f"Set {key.variable} to a key that is valid there"
        )
    if code in _FOR_GOOD:
        return RequestError(shown, remedy="Ask your provider for more, or use another key")
    if 300 <= status < 400 and (where := key.hidden(headers.get("location", ""))):
        return RequestError(
            f"HTTP {status}: it redirects to {shorten(where, _SHOWN)}, and no redirect is followed",
            remedy="If that server is meant, give its address as base_url",
        )
    if status in (408, 409, 429) or status >= 500:
        return RequestError(shown, attempts=MANY, wait=_wish(headers))
    if status == 404:
        return RequestError(shown, remedy="Check model and base_url")
    if status in (400, 413, 422):
        remedy = "If it says that texts are too long or too many, lower max_length or batch"
        return RequestError(shown, remedy=remedy, of_input=True)
    return RequestError(shown)


class TooLargeError(Exception):
    """Raised in the midst of an answer that has more than `largest` bytes."""

    def __init__(self, largest: int) -> None:
        super().__init__(f"more than {largest:,} bytes")
        self.largest = largest


def largest_answer(vectors: int) -> int:
    """Bytes that an answer with so many vectors may have."""
    return LARGEST + vectors * _OF_A_VECTOR


def too_large(largest: int) -> RequestError:
    """What to make of an answer that is too large to be read: others need not be."""
    return RequestError(
        f"its answer has more than {largest:,} bytes, and is not read", charged=True, of_input=True,
        remedy="Check base_url and model",
    )  # fmt: skip


def no_answer(timeout: float) -> RequestError:
    """What to make of a server that says nothing for so many seconds: what it was asked for may be charged."""
    return RequestError(f"no answer within {timeout:g} s", attempts=SLOW, charged=True)


def no_connection(reason: str) -> RequestError:
    """What to make of a server that cannot be reached; the reason holds no key."""
    return RequestError(f"no connection ({reason})", attempts=CONNECTING, remedy="Check base_url")


def _message(body: str) -> tuple[str, str]:
    """What a server says went wrong, and its code for that, from the forms that servers use."""
    try:
        found: Any = json.loads(body)
    except ValueError:
        found = body
    code = ""
    while isinstance(found, dict):
        code = str(found.get("code") or code)
        found = next((found[name] for name in ("error", "message", "detail") if found.get(name)), "")
    return " ".join(str(found).split()), code


def _wish(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server wants us to wait: in milliseconds, in seconds, or until a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "")
        try:
            seconds = float(text) * unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        return max(email.utils.parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, IndexError):
        return None


def parsed(body: str | bytes) -> dict[str, Any]:
    """The object that an answer's body is.

    Raises:
        RequestError: it is none; a proxy may have answered, so that asking again makes sense.
    """
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise RequestError("its answer is no JSON object", attempts=SLOW, charged=True, remedy="Check base_url")
    return found


def vectors(rows: object, texts: Sequence[str], size: int, server: str) -> list[NDArray[np.float32]]:
    """The vectors of an answer, one for each text.

    Args:
        rows: what stands in their place: lists of numbers, or base64 of little-endian float32.
        texts: that were sent.
        size: numbers that a vector must have; 0 for as many as the first one has.
        server: its name, for errors.

    Raises:
        ServerError: there are more or fewer than texts, or one is no vector of that size with a direction.
    """
    found = rows if isinstance(rows, list) else []
    if len(found) != len(texts):
        raise ServerError(
            f"{server}: {len(found):,} vectors for {len(texts):,} texts", remedy="Check model and base_url"
        )
    read = []
    for text, row in zip(texts, found, strict=True):
        vector = _vector(row)
        size = size or vector.size
        problem = next(_problems(vector, size), None)
        if problem:
            raise ServerError(f"{server}: it gives this text a vector {problem}", value=text)
        read.append(vector)
    return read


def _vector(row: object) -> NDArray[np.float32]:
    """A vector of any size; an empty one where this is none."""
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
    """Consecutive positions cut into requests of at most `most` inputs, whose sizes add up to at most `together`.

    An input that is larger than `together` goes alone.
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
    """About how many tokens these texts are: one for every four bytes, as providers say of English."""
    return sum(-(-len(text.encode()) // 4) for text in texts)
