"""Ask a server many things at once: recorded answers are reused, failed requests repeated, and all are counted."""

from __future__ import annotations

import asyncio
import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qbench.errors import BudgetError, InputError, OptionError, ServerError
from qbench.llm.budget import Budget
from qbench.llm.calls import Answer, Reply, RequestError, Send, Server
from qbench.llm.recording import Recording, Table
from qbench.llm.transport import SLOW
from qbench.progress import Progress, silent

ANSWERS = "answers.sqlite"
"""Default file name of a recording."""

NOT_RECORDED = "not in the recording"

REFUSED = "refused"
"""The only key of what is recorded for an input that the server refuses, where that is recorded; the reason."""

STILL = 5.0
"""Seconds of waiting from which on that is said in a line."""

_ONCE_MORE = 10.0
"""Most seconds for an answer of a server that has been given up."""

_LOOK = 0.2
"""Seconds between two looks for Ctrl-C while waiting."""

REFUSALS = 5
"""A server that refuses this many inputs, and has answered none, is taken to refuse all."""


@dataclass(frozen=True)
class Patience:
    """How long to wait for servers, and how often to try.

    Attributes:
        attempts: most attempts per request.
        first: seconds before the second attempt; doubled for each further one, up to `longest`.
        longest: most seconds between two attempts, unless the server gives a time (Retry-After).
        longest_retry_after: most seconds of a Retry-After; a request whose server asks for more is given up.
        timeout: seconds to wait for an answer, from the request to its last byte.
        longest_in_all: most seconds from a request's first failure to the start of its last attempt.
    """

    attempts: int = 8
    first: float = 0.5
    longest: float = 30.0
    longest_retry_after: float = 120.0
    timeout: float = 120.0
    longest_in_all: float = 300.0

    def pause(self, attempt: int, number: int, retry_after: float | None) -> float:
        """Seconds to wait after an attempt (counted from 1) of request `number`."""
        if retry_after is not None:
            return retry_after
        # Up to a quarter less, different for each request, so that they do not all come back at once.
        return min(self.first * 2.0 ** (attempt - 1), self.longest) * (1 - 0.25 * (number * 0.618 % 1))


def _ignore(line: str) -> None:
    """Drop a message."""


@dataclass(frozen=True)
class Access:
    """How servers may be used.

    Attributes:
        recording: file of the recorded answers; None for the default one, which `recording_in` sets.
        replay: take answers from the recording alone, and ask no server.
        budget: counts calls, and stops at its limit; shared by all that is asked with this access.
        patience: waits and attempts.
        threads: number of requests under way at once.
        notify: called with a line about Ctrl-C when answers are under way, and about a server that is waited for.
        lost: names of the servers that were waited for in vain: they are asked once more, and not waited for again.
    """

    recording: Path | None = None
    replay: bool = False
    budget: Budget = field(default_factory=Budget)
    patience: Patience = Patience()
    threads: int = 4
    notify: Callable[[str], None] = _ignore
    lost: set[str] = field(default_factory=set, compare=False)

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise OptionError("threads is at least 1", value=self.threads)

    def recording_in(self, folder: Path) -> Access:
        """The same access, with the recording of a folder unless one is named."""
        return self if self.recording is not None else replace(self, recording=folder / ANSWERS)

    @property
    def recorded(self) -> Recording:
        """The recording.

        Raises:
            OptionError: none is named.
        """
        if self.recording is None:
            raise OptionError("no recording is named", remedy="Name a file for the answers")
        return Recording(self.recording)


def ask(
    server: Server,
    inputs: Sequence[Any],
    access: Access,
    *,
    unanswered: dict[int, str] | None = None,
    keep_refusals: bool = False,
    progress: Progress = silent,
) -> list[Answer]:
    """The answer to each input, from the recording or from the server.

    Each answer is recorded as soon as it arrives, so that an interrupted call loses only pending requests. The answers
    returned are those of the recording: the same in this call and in every later one.

    Args:
        server: the server and the kind of call.
        inputs: JSON values; equal ones are sent once.
        access: recording, budget, patience.
        unanswered: filled with the positions and reasons of inputs that the server refuses (HTTP 400, 413, 422) or that
            are missing in replay; their answer is None and is not recorded. Without it, and if no input at all has an
            answer, they are errors.
        keep_refusals: record what the server refuses as the answer `{REFUSED: reason}`, so that it is neither asked
            again nor missing in a replay. Where it has never answered, and refuses all, that is an error all the same.
        progress: called with the number of different inputs that have an answer, and what is waited for.

    Raises:
        BudgetError: the budget is spent; the message says how much is done.
        ServerError: the server gives no answer, or one that makes no sense, which is not recorded.
        InputError: an answer is missing in replay, or the recording cannot be used.
        OptionError: there is no key.
    """
    keys = server.call.keys(inputs)
    with access.recorded.opened(read_only=access.replay) as table:
        answers = table.find(dict.fromkeys(keys))
        missing = {key: value for key, value in zip(keys, inputs, strict=True) if key not in answers}
        reasons: dict[bytes, str] = {}
        if missing and access.replay:
            if unanswered is None or not answers:
                raise _not_recorded(server, table, missing, len(set(keys)), access.recorded)
            reasons = dict.fromkeys(missing, NOT_RECORDED)
        elif missing:
            refused = None if unanswered is None and not keep_refusals else reasons
            known = bool(answers) or (keep_refusals and table.has(server.call))
            _Requests(server, missing, access, table, len(answers), progress, refused, known).run()
            if keep_refusals:
                table.add(server.call, {key: {REFUSED: reason} for key, reason in reasons.items()})
                reasons = {}
            # Read back: another process may have been first with another answer.
            answers |= table.find(missing)
    if unanswered is not None:
        unanswered.update((i, reasons[key]) for i, key in enumerate(keys) if key not in answers)
    return [answers.get(key) if key in reasons else answers[key] for key in keys]


def _not_recorded(
    server: Server, table: Table, missing: Mapping[bytes, Any], count: int, recording: Recording
) -> InputError:
    held = "; ".join(f"{number:,} of {call}" for call, number in table.calls().items()) or "none"
    return InputError(
        f"{len(missing):,} of {count:,} answers are not in the recording; wanted {server.call.text}, it holds {held}",
        file=recording.path,
        value=next(iter(missing.values())),
        remedy="Allow to ask the server (leave --replay away), or use the recording of exactly this run",
    )


@contextmanager
def _on_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """Until the block ends, Ctrl-C calls `act` and raises nothing; only the main thread can arrange that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


class _Requests:
    """The requests of one `ask`: sent from an event loop in a thread of its own, recorded in the caller's thread.

    The loop has its own thread because the caller's may run one already, as in a notebook.
    """

    def __init__(
        self,
        server: Server,
        missing: Mapping[bytes, Any],
        access: Access,
        table: Table,
        recorded: int,
        progress: Progress,
        refused: dict[bytes, str] | None,
        answers: bool,
    ) -> None:
        self.server, self.access, self.table = server, access, table
        self.keys, self.inputs = list(missing), list(missing.values())
        self.total, self.recorded = recorded + len(missing), recorded
        self.progress, self.refused = progress, refused
        self.slots = asyncio.Semaphore(access.threads)
        self.stopping = self.dropping = False
        self.any_answer, self.refusals = answers, 0
        self.under_way: set[range] = set()
        self.waiting, self.waiting_since, self.told = "", 0.0, False

    def run(self) -> None:
        """Send all requests, several at once, and record the answers."""
        from anyio.from_thread import start_blocking_portal

        with start_blocking_portal() as portal, portal.wrap_async_context_manager(self.server.connected()) as send:
            spans = list(self.server.requests(self.inputs))
            futures = {portal.start_task_soon(self.request, send, span, i): span for i, span in enumerate(spans)}
            try:
                self.gather(futures)
            except BaseException as error:
                # In the loop's thread, so that no request is sent in between.
                under_way = portal.call(self.stop)
                self.finish(
                    {future: span for future, span in futures.items() if future.done() or span in under_way},
                    len(under_way) if isinstance(error, KeyboardInterrupt) else 0,
                )
                if isinstance(error, BudgetError) or (isinstance(error, ServerError) and self.recorded):
                    error.remedy = " ".join(filter(None, (error.remedy and f"{error.remedy}.", self.how_far())))
                raise  # and the portal cancels what is left

    def stop(self) -> set[range]:
        """Send nothing more; returns the requests that are under way."""
        self.stopping = True
        return set(self.under_way)

    def finish(self, futures: dict[Future[Reply], range], interrupted: int) -> None:
        """Wait for the requests under way, which are paid for, and record them.

        Args:
            futures: those requests.
            interrupted: their number after Ctrl-C; a second Ctrl-C then drops them. 0 if an error stopped the others.
        """
        if interrupted:
            answers, what, them = (
                ("an answer is on its way", "it is", "it")
                if interrupted == 1
                else (f"{interrupted} answers are on their way", "they are", "them")
            )
            self.access.notify(f"{answers}, and waited for, because {what} paid for; Ctrl-C again drops {them}")
        # A handler: an exception may be lost where it arrives, in a callback of the interpreter's own.
        with _on_interrupt(self.drop) if interrupted else nullcontext(), suppress(Exception):  # the first error counts
            self.gather(futures, to_the_end=True)

    def drop(self) -> None:
        """Stop waiting for answers."""
        self.dropping = True

    def gather(self, futures: dict[Future[Reply], range], *, to_the_end: bool = False) -> None:
        """Record the answers as they come; raise the first error, at once or after the last answer."""
        first: BaseException | None = None
        while futures:
            # With a time limit: after polars is loaded, Ctrl-C does not wake a thread that waits without one.
            ready, _ = wait(futures, timeout=_LOOK, return_when="FIRST_COMPLETED")
            if self.dropping:
                raise KeyboardInterrupt
            for future in ready:
                span = futures.pop(future)
                error = future.exception()
                if error is None:
                    keys = [self.keys[i] for i in span]
                    self.table.add(self.server.call, dict(zip(keys, future.result().answers, strict=True)))
                    self.recorded += len(span)
                elif isinstance(error, _RefusedError) and self.refused is not None:
                    self.refused.update((self.keys[i], error.message) for i in span)
                    if self.refuses_all():
                        first = first or error
                elif not isinstance(error, _StoppedError):
                    first = first or error
            if ready or self.waiting:
                self.progress(self.recorded, self.total, self.waiting)
            self.tell_of_waiting()
            if first is not None and not to_the_end:
                raise first
        if first is not None:
            raise first

    def tell_of_waiting(self) -> None:
        """Say once that a server is waited for: where there is no bar, nothing else would."""
        if self.waiting and not self.told and time.monotonic() - self.waiting_since >= STILL:
            self.told = True
            patience = self.access.patience
            self.access.notify(
                f"{self.waiting}; up to {patience.attempts} attempts in at most {patience.longest_in_all:g} s "
                "(Ctrl-C stops; answers are kept)"
            )

    async def request(self, send: Send, span: range, number: int) -> Reply:
        """One request, repeated while that makes sense; if it fails for good, no further ones are sent."""
        async with self.slots:
            try:
                reply = await self.answered(send, span, number)
            except _RefusedError:
                self.refusals += len(span)
                self.stopping |= self.refused is None or self.refuses_all()
                raise
            except Exception:
                self.stopping = True
                raise
            self.any_answer = True
            return reply

    def refuses_all(self) -> bool:
        """Whether the server seems to refuse whatever it is asked."""
        return not self.any_answer and self.refusals >= min(REFUSALS, len(self.keys))

    async def answered(self, send: Send, span: range, number: int) -> Reply:
        """One request, repeated while that makes sense."""
        patience, name, attempt, first_failure = self.access.patience, self.server.name, 0, math.inf
        while True:
            if self.stopping:
                raise _StoppedError
            attempt += 1
            try:
                reply = await self.counted(send, span)
            except RequestError as error:
                now, pause = time.monotonic(), patience.pause(attempt, number, error.wait)
                first_failure = min(first_failure, now)
                most = 1 if name in self.access.lost else min(error.attempts, patience.attempts)
                impatient = error.wait is not None and error.wait > patience.longest_retry_after
                if attempt >= most or impatient or now + pause > first_failure + patience.longest_in_all:
                    failure = self.given_up(error, attempt, impatient)
                    if error.attempts > 1:
                        self.access.lost.add(name)
                    raise failure from None
                if not self.waiting:
                    self.waiting_since = now
                self.waiting = f"waiting for {name}: {error.message}, attempt {attempt + 1} in {pause:.0f} s"
                await asyncio.sleep(pause)
            else:
                self.access.lost.discard(name)
                self.waiting, self.told = "", False
                return reply

    async def counted(self, send: Send, span: range) -> Reply:
        """One attempt, counted by the budget."""
        budget, model, timeout = self.access.budget, self.server.call.model, self.access.patience.timeout
        timeout = min(timeout, _ONCE_MORE) if self.server.name in self.access.lost else timeout
        inputs = [self.inputs[i] for i in span]
        estimate = self.server.tokens(inputs)
        budget.reserve(model, *estimate)
        self.under_way.add(span)
        try:
            # One limit for the whole answer: a server may send a byte now and then for ever.
            async with asyncio.timeout(timeout):
                reply = await send(inputs)
        except TimeoutError:
            raise RequestError(f"no answer within {timeout:g} s", attempts=SLOW, charged=True) from None
        except RequestError as error:
            if not error.charged:
                budget.release(model, *estimate)
            raise
        finally:
            self.under_way.discard(span)
        read, written = reply.input_tokens, reply.output_tokens
        used = (estimate[0] if read is None else read, estimate[1] if written is None else written)
        budget.settle(model, estimate, used)
        return reply

    def given_up(self, error: RequestError, attempt: int, impatient: bool) -> ServerError:
        """The error for a request that is not sent again."""
        message = f"{self.server.name}: {error.message}"
        if impatient:
            message += f"; it wants us to wait {error.wait:,.0f} s"
        elif attempt > 1:
            message += f"; tried {attempt} times"
        elif self.server.name in self.access.lost:
            message += "; waited for before in vain, and asked once more"
        return (_RefusedError if error.of_input else ServerError)(message, remedy=error.remedy)

    def how_far(self) -> str:
        """The number of recorded answers, and how to continue."""
        return (
            f"{self.recorded:,} of {self.total:,} answers that are needed here are kept in "
            f"{self.access.recorded.path.name}; run the same command again to resume"
        )


class _RefusedError(ServerError):
    """The server refuses this input; others may be answered."""


class _StoppedError(Exception):
    """Not sent, because another request has failed."""


@dataclass(frozen=True)
class Estimate:
    """The expected cost of asking.

    Attributes:
        inputs: number of different inputs.
        recorded: number of those whose answer is recorded.
        calls: requests for the others.
        input_tokens, output_tokens: approximate numbers; the output is an upper bound.
        money: by the prices; None if the model has none.
    """

    inputs: int
    recorded: int
    calls: int
    input_tokens: int
    output_tokens: int
    money: float | None


def recorded_answers(server: Server, access: Access) -> int:
    """The number of recorded answers of a server's kind of call, whatever was asked.

    Raises:
        InputError: the recording cannot be used.
    """
    if not access.recorded.path.exists():
        return 0
    with access.recorded.opened(read_only=True) as table:
        return table.calls().get(server.call.text, 0)


def estimate(server: Server, batches: Iterable[Sequence[Any]], access: Access) -> Estimate:
    """The expected cost of several calls of `ask`; no server is asked.

    Args:
        server, access: as in `ask`.
        batches: the inputs of each call, in order.

    Raises:
        InputError: the recording cannot be used.
    """
    distinct: list[dict[bytes, Any]] = []
    seen: set[bytes] = set()
    for batch in batches:
        keyed = zip(server.call.keys(batch), batch, strict=True)
        distinct.append({key: value for key, value in keyed if key not in seen})
        seen |= distinct[-1].keys()
    recorded: set[bytes] = set()
    if access.recorded.path.exists():
        with access.recorded.opened(read_only=True) as table:
            recorded = table.recorded(seen)
    missing = [[value for key, value in batch.items() if key not in recorded] for batch in distinct]
    tokens = [server.tokens(batch) for batch in missing]
    read, written = sum(read for read, _ in tokens), sum(written for _, written in tokens)
    price = access.budget.prices.get(server.call.model)
    return Estimate(
        inputs=len(seen),
        recorded=len(recorded),
        calls=sum(1 for batch in missing for _ in server.requests(batch)),
        input_tokens=read,
        output_tokens=written,
        money=None if price is None else price.of(read, written),
    )
