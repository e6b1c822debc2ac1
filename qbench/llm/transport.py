"""HTTP for all providers: POST a JSON object, read a JSON object, and name what went wrong."""

from __future__ import annotations

import email.utils
import json
import math
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from qbench.errors import shorten
from qbench.llm.api_keys import Key
from qbench.llm.calls import RequestError

if TYPE_CHECKING:
    import httpx2

Post = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Sends a JSON object to a path of the server and returns the JSON object of its answer. Raises `RequestError`."""

MANY = 1000
"""Attempts for errors that pass: the user's `Patience` limits them."""
CONNECTING = 4
"""Attempts to reach a server that does not answer at all: its address may be wrong."""
SLOW = 3
"""Attempts after a time-out or a broken answer, each of which may be charged."""
LARGEST = 4_000_000
"""Bytes of an answer that are read, vectors aside: many times the size of any usable answer."""
_SHOWN = 200
"""Characters of a server's message that are shown."""
_FOR_GOOD = {"insufficient_quota", "billing_hard_limit_reached"}
"""OpenAI's codes of a 429 that waiting does not cure."""


@asynccontextmanager
async def posting(
    url: str, key: Key, largest: int = LARGEST, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Post]:
    """A connection to a server; redirects are refused, since they could carry texts and key to another server.

    It sets no time limit: `qbench.llm.client.ask` has one for the whole answer.

    Args:
        url: address of the server, without a trailing slash.
        key: sent as `Authorization: Bearer`, unless it is empty.
        largest: most bytes of an answer that are read.
        headers: additional headers.
    """
    import httpx2

    # Unpacked, because a small packed answer could become a large one.
    sent = {"Accept-Encoding": "identity", "User-Agent": "qbench", "Content-Type": "application/json"}
    sent |= headers or {}
    if key.secret:
        sent["Authorization"] = f"Bearer {key.secret}"
    async with httpx2.AsyncClient(headers=sent, timeout=None, limits=httpx2.Limits()) as client:

        async def post(path: str, body: Mapping[str, Any]) -> dict[str, Any]:
            try:
                async with client.stream("POST", url + path, content=json.dumps(body)) as response:
                    return await _read(response, largest, key)
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
                reason = key.hidden(_reason(error))
                raise RequestError(f"no connection ({reason})", attempts=CONNECTING, remedy="Check base_url") from None

        yield post


async def _read(response: httpx2.Response, largest: int, key: Key) -> dict[str, Any]:
    body = bytearray()
    async for block in response.aiter_bytes():
        body += block
        if len(body) > largest:
            break
    if not response.is_success:
        raise refusal(response.status_code, response.headers, body.decode(errors="replace"), key)
    if len(body) > largest:
        raise RequestError(
            f"its answer has more than {largest:,} bytes, and is not read", charged=True, of_input=True,
            remedy="Check base_url and model",
        )  # fmt: skip
    try:
        answer = _without_key(parsed(bytes(body)), bytes(body), key)
    except RequestError as failure:
        # What came instead tells a stream, a page of a proxy, or another encoding.
        shown = key.hidden(body.decode(errors="replace"))[:_SHOWN].strip()
        failure.message += f", but {shorten(shown, _SHOWN)}" if shown else ", but empty"
        raise
    code = (error := answer.get("error")) and isinstance(error, dict) and error.get("code")
    if isinstance(code, int) and 400 <= code < 600:  # some servers report errors under status 200
        raise refusal(code, {}, body.decode(errors="replace"), key)
    return answer


def _without_key(answer: dict[str, Any], body: bytes, key: Key) -> dict[str, Any]:
    """An answer in which the server does not repeat the key: answers are recorded, shown and published."""
    if not key.secret or not (key.secret.encode() in body or b"\\" in body or b"%" in body):
        return answer

    def hidden(value: Any) -> Any:
        if isinstance(value, str):
            return key.hidden(value)
        if isinstance(value, dict):
            return {key.hidden(name): hidden(inner) for name, inner in value.items()}
        return [hidden(inner) for inner in value] if isinstance(value, list) else value

    without: dict[str, Any] = hidden(answer)
    return without


def _reason(error: BaseException) -> str:
    """The first cause of a broken connection, in the system's words."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause
    if isinstance(error, OSError) and (error.errno or 0) > 0:
        return os.strerror(error.errno or 0)
    return str(error) or type(error).__name__


def refusal(status: int, headers: Mapping[str, str], body: str, key: Key) -> RequestError:
    """The error for an HTTP status other than success.

    Args:
        status: HTTP status.
        headers: of the answer; names in any case if it is httpx's mapping, else in lower case.
        body: of the answer.
        key: the key that was sent; kept out of the message.
    """
    message, code = _message(body)
    # Hidden before the message is cut, which could leave half a key.
    message = key.hidden(message)
    message = f"{message[:_SHOWN]} [...]" if len(message) > _SHOWN else message.rstrip(".")
    shown = f"HTTP {status}, {message}" if message else f"HTTP {status}"
    if status in (401, 403):
        # The server's message may hold parts of the key.
        refused = f"the key in {key.variable}" if key.secret else f"a call without a key ({key.variable} is not set)"
        return RequestError(
            f"HTTP {status}: it refuses {refused}", remedy=f"Set {key.variable} to a key that is valid there"
        )
    if code in _FOR_GOOD:
        return RequestError(shown, remedy="Ask your provider for more, or use another key")
    if 300 <= status < 400 and (target := key.hidden(headers.get("location", ""))):
        return RequestError(
            f"HTTP {status}: it redirects to {shorten(target, _SHOWN)}, and no redirect is followed",
            remedy="If that server is meant, give its address as base_url",
        )
    if status in (408, 409, 429) or status >= 500:
        return RequestError(shown, attempts=MANY, wait=_retry_after(headers))
    if status == 404:
        return RequestError(shown, remedy="Check model and base_url")
    if status in (400, 413, 422):
        remedy = "If it says that texts are too long or too many, lower max_length or batch"
        return RequestError(shown, remedy=remedy, of_input=True)
    return RequestError(shown)


def _message(body: str) -> tuple[str, str]:
    """The server's message and error code, from the forms that servers use."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        value = body
    code = ""
    while isinstance(value, dict):
        code = str(value.get("code") or code)
        value = next((value[name] for name in ("error", "message", "detail") if value.get(name)), "")
    return " ".join(str(value).split()), code


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, which servers give in milliseconds, in seconds, or as a date; None if they do not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        return max(email.utils.parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, IndexError):
        return None


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object in an answer's body.

    Raises:
        RequestError: there is none. A proxy may have answered, so that another attempt makes sense.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise RequestError("its answer is not a JSON object", attempts=SLOW, charged=True, remedy="Check base_url")
    return value
