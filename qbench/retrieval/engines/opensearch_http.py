"""HTTP to a search engine: JSON there and back over one kept connection, passing errors waited out, others in words."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qbench.errors import OptionError, ServerError
from qbench.llm.api_keys import Key, read_key, server_url
from qbench.llm.client import Patience

if TYPE_CHECKING:
    import httpx2

URL = "OPENSEARCH_URL"
"""Environment variable of the server's address."""
API_KEY = "OPENSEARCH_API_KEY"
"""That of a key as Elasticsearch makes them."""
USERNAME, PASSWORD = "OPENSEARCH_USERNAME", "OPENSEARCH_PASSWORD"
DEFAULT = "http://localhost:9200"

PATIENCE = Patience(attempts=6, timeout=60)

_PASSING = (429, 502, 503, 504)
"""Statuses of a server that is busy, or is not there at the moment."""
_SHOWN = 300
"""Characters of a server's message that are shown."""


class Refusal(ServerError):  # noqa: N818  it is called by what it is
    """The server answers with an error.

    Attributes:
        status: HTTP status; 0 where the error came from another process.
        kind: the type of error, as the server names it ("resource_already_exists_exception").
    """

    status: int = 0
    kind: str = ""


@dataclass(frozen=True)
class Reply:
    """An answer.

    Attributes:
        status: HTTP status.
        body: the JSON object.
    """

    status: int
    body: dict[str, Any]


class Http:
    """A server with the interface of OpenSearch.

    Args:
        url: its address; "auto" for that in OPENSEARCH_URL, or else http://localhost:9200. User and password, or a key,
            come from OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD, or OPENSEARCH_API_KEY.
        patience: waits and attempts. A request may be sent again: all that is written has its id.
        sleep: waits so many seconds.
        option: where the address was given, for errors.

    Raises:
        OptionError: not an address, or it holds a password; or a password without a user.
    """

    def __init__(
        self,
        url: str = "auto",
        patience: Patience = PATIENCE,
        sleep: Callable[[float], None] = time.sleep,
        option: str = "--server",
    ) -> None:
        import httpx2

        self.url = server_url(url, URL, DEFAULT, option=option, example=DEFAULT)
        self.patience, self._sleep = patience, sleep
        key, user, password = read_key([API_KEY]), os.environ.get(USERNAME, ""), os.environ.get(PASSWORD, "")
        if bool(user) != bool(password):
            raise OptionError(f"one of {USERNAME} and {PASSWORD} is set", remedy="Set both, or none")
        self._secrets = [key, Key(PASSWORD, password)]
        headers = {"User-Agent": "qbench", "Accept-Encoding": "identity"}
        if key.secret:
            headers["Authorization"] = f"ApiKey {key.secret}"
        self._client = httpx2.Client(
            headers=headers,
            auth=(user, password) if user and not key.secret else None,
            timeout=httpx2.Timeout(patience.timeout, connect=min(10.0, patience.timeout)),
        )

    def __enter__(self) -> Http:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def get(self, path: str, missing: bool = False) -> Reply:
        """The answer to GET; with `missing`, that something is not there is an answer, too."""
        return self._asked("GET", path, None, missing)

    def put(self, path: str, body: Mapping[str, Any]) -> Reply:
        """The answer to PUT with a JSON object."""
        return self._asked("PUT", path, _encoded(body))

    def post(self, path: str, body: Mapping[str, Any] | bytes = b"") -> Reply:
        """The answer to POST with a JSON object, or with lines of JSON."""
        return self._asked("POST", path, body if isinstance(body, bytes) else _encoded(body))

    def delete(self, path: str) -> Reply:
        """The answer to DELETE; that it is gone already is one, too."""
        return self._asked("DELETE", path, None, missing=True)

    def pause(self, attempt: int) -> None:
        """Wait before another attempt (counted from 1)."""
        self._sleep(self.patience.pause(attempt, 0, None))

    def _asked(self, method: str, path: str, body: bytes | None, missing: bool = False) -> Reply:
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._once(method, path, body, missing)
            except _PassingError as error:
                if attempt >= self.patience.attempts:
                    tried = f"; tried {attempt} times" if attempt > 1 else ""
                    raise ServerError(f"{self.url}: {error}{tried}", remedy=error.remedy) from None
                self.pause(attempt)

    def _once(self, method: str, path: str, body: bytes | None, missing: bool) -> Reply:
        import httpx2

        kind = "application/x-ndjson" if "_bulk" in path else "application/json"
        headers = {"Content-Type": kind} if body else {}
        try:
            answer = self._client.request(method, f"{self.url}{path}", content=body, headers=headers)
        except httpx2.TimeoutException:
            remedy = "It may still work on it: wait, and run the same command again"
            raise _PassingError(f"no answer within {self.patience.timeout:g} s", remedy) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            reason = self._hidden(str(error) or type(error).__name__)
            remedy = f"Check the address ({URL}), and that the server runs"
            raise _PassingError(f"no connection ({reason})", remedy) from None
        return self._read(answer, missing)

    def _read(self, answer: httpx2.Response, missing: bool) -> Reply:
        status = answer.status_code
        try:
            body = json.loads(answer.content)
        except (ValueError, RecursionError):
            body = None
        if answer.is_success or (missing and status == 404):
            if isinstance(body, dict):
                return Reply(status, body)
            raise _PassingError("its answer is not a JSON object", f"Check the address ({URL})")
        kind, reason = reasons(body) if isinstance(body, dict) else ("", answer.text)
        shown = shorten_text(self._hidden(f"HTTP {status} {kind}: {reason}" if reason else f"HTTP {status} {kind}"))
        if status in _PASSING:
            raise _PassingError(shown, "Run the same command again: what is written is kept")
        refusal = Refusal(f"{self.url}: {shown}", remedy=self._remedy(status))
        refusal.status, refusal.kind = status, kind
        raise refusal

    def _remedy(self, status: int) -> str | None:
        if status in (401, 403):
            return f"Set {USERNAME} and {PASSWORD}, or {API_KEY}, to what is valid there"
        return f"Give the server's own address in {URL}: no redirect is followed" if 300 <= status < 400 else None

    def _hidden(self, text: str) -> str:
        for secret in self._secrets:
            text = secret.hidden(text)
        return text


class _PassingError(Exception):
    """Another attempt may succeed."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def reasons(body: Mapping[str, Any]) -> tuple[str, str]:
    """The type and reason of an error; the first root cause, which says more than what it led to.

    >>> reasons({"error": {"type": "parsing", "reason": "no", "root_cause": []}, "status": 400})
    ('parsing', 'no')
    """
    error = body.get("error", "")
    if not isinstance(error, dict):
        return "", str(error or "")
    causes = error.get("root_cause")
    first = causes[0] if isinstance(causes, list) and causes and isinstance(causes[0], dict) else error
    reason = str(first.get("reason") or error.get("reason") or "")
    within = error.get("caused_by")
    if isinstance(within, dict) and within.get("reason"):
        reason += f" ({within['reason']})"
    return str(first.get("type") or ""), reason


def shorten_text(text: str) -> str:
    """A server's words on one line, cut if they are many."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} [...]"


def _encoded(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
