"""Waiting for answers no longer than was said, and not at all once nobody wants them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any

from qbench.llm.calls import Reply, RequestError, Send
from qbench.llm.replies import SLOW


class DroppedError(Exception):
    """Nobody waits for this answer any more."""


class Waiting:
    """Requests on their way, each in a thread of its own that can be left behind.

    The packages that send them count their time from one byte to the next: a server that says a byte now and then
    would hold them for ever. A thread that was left behind ends with its connection, or with the process.

    Attributes:
        timeout: seconds to wait for an answer, from the request to its last byte.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self._lock = threading.Lock()
        self._open: set[Future[Reply]] = set()
        self._dropped = False

    def __len__(self) -> int:
        """How many answers are waited for."""
        with self._lock:
            return len(self._open)

    def __call__(self, send: Send, inputs: Sequence[Any]) -> Reply:
        """Send a request, and wait for its answer.

        Raises:
            RequestError: it did not come in time; or what `send` raises.
            DroppedError: `drop` was called meanwhile.
        """
        answer: Future[Reply] = Future()
        with self._lock:
            if self._dropped:
                raise DroppedError
            self._open.add(answer)
        threading.Thread(target=_send, args=(send, inputs, answer), daemon=True).start()
        try:
            return answer.result(self.timeout)
        except TimeoutError:
            raise RequestError(f"no answer within {self.timeout:g} s", attempts=SLOW, charged=True) from None
        finally:
            with self._lock:
                self._open.discard(answer)

    def drop(self) -> None:
        """Let all that is on its way go: whoever waits gets `DroppedError` at once."""
        with self._lock:
            self._dropped, left = True, list(self._open)
        for answer in left:
            with suppress(InvalidStateError):  # it has just come
                answer.set_exception(DroppedError())


def _send(send: Send, inputs: Sequence[Any], answer: Future[Reply]) -> None:
    """Puts what `send` gives or raises where it is waited for, unless nobody does any more."""
    try:
        reply = send(inputs)
    except BaseException as fault:
        with suppress(InvalidStateError):
            answer.set_exception(fault)
    else:
        with suppress(InvalidStateError):
            answer.set_result(reply)
