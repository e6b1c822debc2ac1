"""Ask a chat model about many things; an answer that will not do is asked for again, a missing one is an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from qbench.errors import InputError, OptionError, ServerError
from qbench.llm.client import NOT_RECORDED, Access, Estimate, ask, estimate
from qbench.llm.openai_chat import FORMATS, OpenAIChat
from qbench.llm.prompts import Slots
from qbench.progress import Progress, silent

TRIES = 2


@dataclass(frozen=True)
class Asking:
    """How a model is asked.

    Attributes:
        server: who.
        access: recording, budget, patience.
        tries: how often one thing is asked at most, each time with another seed.
        allow_missing: go on without what the server refuses or replay does not find; else that is an error.
    """

    server: OpenAIChat
    access: Access = field(default_factory=Access)
    tries: int = TRIES
    allow_missing: bool = False

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise OptionError("everything has to be asked at least once", value=self.tries)

    @property
    def key(self) -> dict[str, Any]:
        """What the answers depend on, for digests and cards; nothing secret."""
        prompt = self.server.prompt
        return {
            "model": self.server.model,
            "prompt": prompt.name,
            "prompt version": prompt.version,
            "prompt digest": prompt.digest,
            **{name: value for name, value in self.server.call.parameters if name != "prompt"},
            "tries": self.tries,
        }


@dataclass
class Heard:
    """What asking gave, in numbers that are the same in a replay.

    Attributes:
        answers: that were looked at, further attempts included.
        missing: things without an answer.
        formats: how many answers came by each way to ask for JSON.
        tokens: read and written, as far as the server said.
    """

    answers: int = 0
    missing: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    tokens: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, answer: Any) -> None:
        """Count an answer."""
        self.answers += 1
        self.formats[answer["format"]] += 1
        for i, count in enumerate(answer["tokens"]):
            self.tokens[i] += count or 0

    @property
    def counts(self) -> dict[str, Any]:
        """For a card or a record."""
        used = {form: self.formats[form] for form in FORMATS if self.formats[form]}
        read, written = self.tokens
        return {"answers": self.answers, "without an answer": self.missing, "asked by": used,
                "tokens read": read, "tokens written": written}  # fmt: skip


def ask_until(
    asking: Asking, things: Sequence[Slots], good: Callable[[int, Any, int], bool], progress: Progress = silent
) -> Heard:
    """Ask about each thing, and again about those whose answer will not do, `asking.tries` times at most.

    Args:
        asking: who, and how.
        things: the prompt's slots for each.
        good: told the position of a thing, an answer, and the attempt (0 is the first); whether it will do.
        progress: told how many answers there are in this round.

    Raises:
        ServerError: the server does not answer, or refuses a thing and nothing may be missing; what was answered is
            recorded.
        InputError: an answer is missing in replay and nothing may be missing, or the recording cannot be used.
        BudgetError, OptionError, MissingPackageError: as in `qbench.llm.client.ask`.
    """
    heard = Heard()
    inputs: list[Any] = []
    left = list(range(len(things)))
    for attempt in range(asking.tries):
        start = len(inputs)
        inputs += [asking.server.question(things[i], attempt) for i in left]
        missing: dict[int, str] = {}
        # Earlier rounds are asked along: they are recorded, and show that the server does answer.
        answers = ask(asking.server, inputs, asking.access, unanswered=missing, progress=progress)
        again = []
        for place, i in enumerate(left, start=start):
            if place not in missing:
                heard.add(answers[place])
                if not good(i, answers[place], attempt):
                    again.append(i)
        now = {place: reason for place, reason in missing.items() if place >= start}
        heard.missing += len(now)
        if now and not asking.allow_missing:
            raise _missing(asking, things, now, left, start)
        left = again
        if not left:
            break
    return heard


def forecast(asking: Asking, things: Sequence[Slots]) -> Estimate:
    """What the first round of `ask_until` would take; further rounds ask only what will not do."""
    return estimate(asking.server, [[asking.server.question(thing) for thing in things]], asking.access)


def _missing(
    asking: Asking, things: Sequence[Slots], missing: dict[int, str], left: Sequence[int], start: int
) -> InputError | ServerError:
    place, reason = next(iter(missing.items()))
    thing = dict(things[left[place - start]])
    if reason == NOT_RECORDED:
        return InputError(
            f"{len(missing):,} of {len(left):,} answers are not in the recording",
            file=asking.access.recorded.path,
            value=thing,
            remedy="Allow to ask the server (leave --replay away), or go on without them with --allow-missing",
        )
    return ServerError(
        f"{len(missing):,} of {len(left):,} are refused; the first: {reason}",
        value=thing,
        remedy="The other answers are recorded: run the same again, or go on without these with --allow-missing",
    )
