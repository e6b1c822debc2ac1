"""Ask a server many things at once: what is recorded is not asked again, what fails is tried again, all is counted."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qbench.errors import BudgetError, InputError, OptionError, ServerError
from qbench.llm.budget import Budget
from qbench.llm.calls import Answer, Reply, RequestError, Send, Server
from qbench.llm.recording import Recording, Table
from qbench.llm.waiting import DroppedError, Waiting
from qbench.progress import Progress, silent

ANSWERS = "answers.sqlite"
"""The recording's name where the user gives none."""

NOT_RECORDED = "not in the recording"

_LOOK = 0.2
"""Seconds after which a wait looks whether the user wants to leave."""

REFUSALS = 5
"""A server that refuses so many inputs, and has answered none, refuses them all."""


@dataclass(frozen=True)
class Patience:
    """How long to wait for servers, and how often to try.

    Attributes:
        attempts: how often a request is sent at most.
        first: seconds before the second attempt; doubled for each further one, up to `longest`.
        longest: the longest of these waits; a server's own wish (Retry-After) is followed up to `wish`.
        wish: seconds; where a server wants more, the request is given up.
        timeout: seconds to wait for an answer, from the request to its last byte.
    """

    attempts: int = 8
    first: float = 0.5
    longest: float = 30.0
    wish: float = 120.0
    timeout: float = 120.0

    def pause(self, attempt: int, number: int, wanted: float | None) -> float:
        """Seconds to wait after an attempt (1 is the first) of request `number`."""
        if wanted is not None:
            return wanted
        # Up to a quarter less, different for each request, so that they do not all come back at once.
        return min(self.first * 2.0 ** (attempt - 1), self.longest) * (1 - 0.25 * (number * 0.618 % 1))


def _to_nobody(line: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Access:
    """How servers may be used.

    Attributes:
        recording: the file of answers; None for the usual place, which `kept_in` fills in.
        replay: take answers from the recording alone, and ask nobody.
        budget: counts, and stops where it is spent; shared by all that is asked with this access.
        patience: waits and attempts.
        threads: requests on their way at once.
        tell: told in a line what Ctrl-C does while answers are on their way.
    """

    recording: Path | None = None
    replay: bool = False
    budget: Budget = field(default_factory=Budget)
    patience: Patience = Patience()
    threads: int = 4
    tell: Callable[[str], None] = _to_nobody

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise OptionError("at least one request has to be on its way", value=self.threads)

    def kept_in(self, folder: Path) -> Access:
        """The same; where no recording is named, with the one of a folder."""
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
    progress: Progress = silent,
) -> list[Answer]:
    """The answer to each input, from the recording or from the server.

    Every answer is recorded as soon as it is there, so that a killed call loses only what is on its way. What is
    given back is what the recording holds: the same in this call and in every later one.

    Args:
        server: who is asked, and for what.
        inputs: anything that JSON can say; equal ones are asked once.
        access: recording, budget, patience.
        unanswered: filled with the positions of inputs that the server refuses for what they are (HTTP 400, 413, 422),
            or that replay does not find, and why; their answer is None, and nothing is recorded of it. Without it
            these are errors, and so they are where no input at all has an answer.
        progress: told how many different inputs have an answer.

    Raises:
        BudgetError: the budget is spent; says how much is done.
        ServerError: the server gives no answer, or one that makes no sense; nothing is recorded of that.
        InputError: an answer is missing in replay, or the recording cannot be used.
        OptionError: there is no key.
        MissingPackageError: a package is not installed.
    """
    keys = server.call.keys(inputs)
    with access.recorded.opened(only_read=access.replay) as table:
        known = table.find(dict.fromkeys(keys))
        missing = {key: one for key, one in zip(keys, inputs, strict=True) if key not in known}
        reasons: dict[bytes, str] = {}
        if missing and access.replay:
            if unanswered is None or not known:
                raise _not_recorded(server, table, missing, len(set(keys)), access.recorded)
            reasons = dict.fromkeys(missing, NOT_RECORDED)
        elif missing:
            asking = _Asking(
                server, missing, access, table, len(known), progress, None if unanswered is None else reasons
            )
            asking.run()
            # Read back: another process may have been first with another answer.
            known |= table.find(missing)
    if unanswered is not None:
        unanswered.update((i, reasons[key]) for i, key in enumerate(keys) if key not in known)
    return [known.get(key) if key in reasons else known[key] for key in keys]


def _not_recorded(
    server: Server, table: Table, missing: Mapping[bytes, Any], asked: int, recording: Recording
) -> InputError:
    there = "; ".join(f"{count:,} of {call}" for call, count in table.calls().items()) or "none"
    return InputError(
        f"{len(missing):,} of {asked:,} answers are not in the recording; wanted {server.call.text}, it holds {there}",
        file=recording.path,
        value=next(iter(missing.values())),
        remedy="Allow to ask the server (leave --replay away), or use the recording of exactly this run",
    )


@contextmanager
def _on_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """Until the end of the block Ctrl-C acts, and raises nothing. Only the main thread gets it, so that others pass."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


class _Asking:
    """Gets the missing answers of one `ask`; `kept` are recorded already, `refused` gets why others have none."""

    def __init__(
        self,
        server: Server,
        missing: Mapping[bytes, Any],
        access: Access,
        table: Table,
        kept: int,
        progress: Progress,
        refused: dict[bytes, str] | None,
    ) -> None:
        self.server, self.access, self.table = server, access, table
        self.keys, self.inputs = list(missing), list(missing.values())
        self.total, self.kept = kept + len(missing), kept
        self.progress, self.refused = progress, refused
        self.stop = threading.Event()
        self.waiting = Waiting(access.patience.timeout)

    def run(self) -> None:
        """Send all requests, a few at once, and record the answers."""
        with (
            self.server.connected(self.access.patience.timeout) as send,
            ThreadPoolExecutor(self.access.threads) as pool,
        ):
            spans = list(self.server.requests(self.inputs))
            futures = {pool.submit(self.request, send, span, i): span for i, span in enumerate(spans)}
            try:
                self.gather(futures)
            except BaseException as fault:
                self.stop.set()
                for future in futures:
                    future.cancel()
                self.take_in(futures, interrupted=isinstance(fault, KeyboardInterrupt))
                if isinstance(fault, BudgetError) or (isinstance(fault, ServerError) and self.kept):
                    fault.remedy = " ".join(filter(None, (fault.remedy and f"{fault.remedy}.", self.how_far())))
                raise

    def take_in(self, futures: dict[Future[Reply], range], *, interrupted: bool) -> None:
        """What is on its way is paid for: wait for it, and keep it, unless the user has no time for that."""
        left = len(self.waiting) if interrupted else 0
        try:
            # A handler: an exception may be lost where it arrives, in a callback of the interpreter's own.
            with _on_interrupt(self.waiting.drop) if left else nullcontext():
                if left:
                    answers = "an answer is on its way" if left == 1 else f"{left} answers are on their way"
                    what, them = ("it is", "it") if left == 1 else ("they are", "them")
                    self.access.tell(f"{answers}, and waited for, because {what} paid for; Ctrl-C again drops {them}")
                with suppress(Exception):  # the first error is the one to tell
                    self.gather(futures, all_of_them=True)
        except BaseException:
            self.waiting.drop()
            raise

    def gather(self, futures: dict[Future[Reply], range], *, all_of_them: bool = False) -> None:
        """Record the answers as they come; raise the first error, at once or after the last answer."""
        first: BaseException | None = None
        while futures:
            # Not without end: where polars is loaded, Ctrl-C does not wake a thread that waits so.
            ready, _ = wait(futures, timeout=_LOOK, return_when="FIRST_COMPLETED")
            for future in ready:
                span = futures.pop(future)
                fault = None if future.cancelled() else future.exception()
                if future.cancelled():
                    continue
                if fault is None:
                    keys = [self.keys[i] for i in span]
                    self.table.keep(self.server.call, dict(zip(keys, future.result().answers, strict=True)))
                    self.kept += len(span)
                elif isinstance(fault, _RefusedError) and self.refused is not None:
                    self.refused.update((self.keys[i], fault.message) for i in span)
                    if not self.kept and len(self.refused) >= min(REFUSALS, len(self.keys)):
                        self.stop.set()
                        first = first or fault
                elif not isinstance(fault, _StoppedError | DroppedError):
                    first = first or fault
                self.progress(self.kept, self.total)
            if first is not None and not all_of_them:
                raise first
        if first is not None:
            raise first

    def request(self, send: Send, span: range, number: int) -> Reply:
        """One request; where it fails for good, those that are not on their way stay here."""
        try:
            return self.answered(send, span, number)
        except BaseException as fault:
            if self.refused is None or not isinstance(fault, _RefusedError):
                self.stop.set()
            raise

    def answered(self, send: Send, span: range, number: int) -> Reply:
        """One request, sent again as often as that makes sense."""
        inputs, patience = [self.inputs[i] for i in span], self.access.patience
        attempt = 0
        while True:
            if self.stop.is_set():
                raise _StoppedError
            attempt += 1
            try:
                return self.counted(send, inputs)
            except RequestError as trouble:
                most = min(trouble.attempts, patience.attempts)
                impatient = trouble.wait is not None and trouble.wait > patience.wish
                if attempt >= most or impatient:
                    raise self.given_up(trouble, attempt, impatient) from None
                if self.stop.wait(patience.pause(attempt, number, trouble.wait)):
                    raise _StoppedError from None

    def counted(self, send: Send, inputs: Sequence[Any]) -> Reply:
        """One attempt, counted by the budget."""
        budget, model = self.access.budget, self.server.call.model
        estimate = self.server.tokens(inputs)
        budget.reserve(model, *estimate)
        try:
            reply = self.waiting(send, inputs)
        except RequestError as trouble:
            if not trouble.charged:
                budget.take_back(model, *estimate)
            raise
        read, written = reply.input_tokens, reply.output_tokens
        used = (estimate[0] if read is None else read, estimate[1] if written is None else written)
        budget.settle(model, estimate, used)
        return reply

    def given_up(self, trouble: RequestError, attempt: int, impatient: bool) -> ServerError:
        """The error for a request that is not sent again."""
        message = f"{self.server.name}: {trouble.message}"
        if impatient:
            message += f"; it wants us to wait {trouble.wait:,.0f} s"
        elif attempt > 1:
            message += f"; tried {attempt} times"
        return (_RefusedError if trouble.of_input else ServerError)(message, remedy=trouble.remedy)

    def how_far(self) -> str:
        """What is done, and how to go on."""
        name = self.access.recorded.path.name
        return (
            f"{self.kept:,} of {self.total:,} answers that are needed here are kept in {name}; "
            "run the same again to go on from there"
        )


class _RefusedError(ServerError):
    """The server refuses this very input; others may do."""


class _StoppedError(Exception):
    """Another request has failed; this one is not sent."""


@dataclass(frozen=True)
class Estimate:
    """What asking would take.

    Attributes:
        inputs: different ones.
        recorded: of these, those whose answer is recorded.
        calls: requests for the others.
        input_tokens, output_tokens: about how many; the output is an upper bound.
        money: by the prices; None where the model has none.
    """

    inputs: int
    recorded: int
    calls: int
    input_tokens: int
    output_tokens: int
    money: float | None


def estimate(server: Server, batches: Iterable[Sequence[Any]], access: Access) -> Estimate:
    """What several calls of `ask` would take, without asking.

    Args:
        server, access: as in `ask`.
        batches: the inputs of each call, in order.

    Raises:
        InputError: the recording cannot be used.
    """
    first: list[dict[bytes, Any]] = []
    seen: set[bytes] = set()
    for batch in batches:
        first.append({key: one for key, one in zip(server.call.keys(batch), batch, strict=True) if key not in seen})
        seen |= first[-1].keys()
    held: set[bytes] = set()
    if access.recorded.path.exists():
        with access.recorded.opened(only_read=True) as table:
            held = table.held(seen)
    missing = [[one for key, one in batch.items() if key not in held] for batch in first]
    tokens = [server.tokens(batch) for batch in missing]
    read, written = sum(one for one, _ in tokens), sum(other for _, other in tokens)
    price = access.budget.prices.get(server.call.model)
    return Estimate(
        inputs=len(seen),
        recorded=len(held),
        calls=sum(1 for batch in missing for _ in server.requests(batch)),
        input_tokens=read,
        output_tokens=written,
        money=None if price is None else price.of(read, written),
    )
