"""Ask a chat model about many items; unusable answers are asked for again, missing ones are errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from qbench.errors import InputError, OptionError, ServerError
from qbench.llm.client import NOT_RECORDED, Access, Estimate, ask, estimate
from qbench.llm.openai_chat import FORMATS, OpenAIChat
from qbench.llm.plain_answers import is_refusal, shown_answer
from qbench.llm.prompts import Slots
from qbench.progress import Progress, silent

TRIES = 2

FIRST = 20
"""Items that are asked about before the others, where usable answers are needed."""

COUNTED = ("calls", "tokens_read", "tokens_written", "refused")
"""What `ask_each` counts."""

AT_ONCE = 1000
"""Questions that are sent together: waiting for many more costs time of its own."""


@dataclass(frozen=True)
class Asking:
    """A chat model and how it is asked.

    Attributes:
        server: the model.
        access: recording, budget, patience.
        tries: most answers per item, each with another seed.
        allow_missing: continue without the items that the server refuses or that replay lacks, and where the first
            answers are of no use; else they are errors.
    """

    server: OpenAIChat
    access: Access = field(default_factory=Access)
    tries: int = TRIES
    allow_missing: bool = False

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise OptionError("tries is at least 1", value=self.tries)

    @property
    def key(self) -> dict[str, Any]:
        """What the answers depend on, for keys and cards; nothing secret."""
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
class AnswerCounts:
    """Counts of answers, the same in a replay.

    Attributes:
        answers: number of answers, further attempts included.
        missing: number of items without an answer.
        formats: number of answers by the way in which JSON was asked for.
        tokens: input and output tokens, as far as the server reports them.
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
        """The counts for a card or a record."""
        used = {form: self.formats[form] for form in FORMATS if self.formats[form]}
        read, written = self.tokens
        return {"answers": self.answers, "without an answer": self.missing, "asked by": used,
                "tokens read": read, "tokens written": written}  # fmt: skip


def ask_until(
    asking: Asking,
    items: Sequence[Slots],
    good: Callable[[int, Any, int], bool],
    progress: Progress = silent,
    *,
    needed: bool = False,
) -> AnswerCounts:
    """Ask about each item, and again about those with an unusable answer, up to `asking.tries` times.

    Args:
        asking: the model, and how it is asked.
        items: the prompt's slots for each item.
        good: called with the position of an item, an answer and the attempt (counted from 0); whether it is usable.
        progress: called with the number of answers of the round.
        needed: ask about the first `FIRST` items before the others, and go no further if none has a usable answer.

    Raises:
        ServerError: the server does not answer, refuses an item that must not be missing, or gave no usable answer
            where one is needed; the answers are recorded.
        InputError: replay lacks an answer that must not be missing, or the recording cannot be used.
        BudgetError, OptionError: as in `qbench.llm.client.ask`.
    """
    counts, inputs = AnswerCounts(), list[Any]()
    every = list(range(len(items)))
    needed = needed and not asking.allow_missing
    for part in filter(None, [every[:FIRST], every[FIRST:]] if needed else [every]):
        unusable = _rounds(asking, items, part, good, counts, inputs, progress)
        if needed and part[0] == 0 and len(unusable) == len(part):
            raise _useless(asking, len(part), unusable[0])
    return counts


def _rounds(
    asking: Asking,
    items: Sequence[Slots],
    left: list[int],
    good: Callable[[int, Any, int], bool],
    counts: AnswerCounts,
    inputs: list[Any],
    progress: Progress,
) -> list[Any]:
    """Ask about some of the items, again about those with an unusable answer.

    Args:
        asking, items, good, progress: as in `ask_until`.
        left: positions of the items.
        counts: of all answers.
        inputs: of earlier rounds; those of these are added.

    Returns:
        the last answer about each item that has no usable one.
    """
    unusable: dict[int, Any] = {}
    for attempt in range(asking.tries):
        start = len(inputs)
        inputs += [asking.server.question(items[i], attempt) for i in left]
        missing: dict[int, str] = {}
        # With the inputs of earlier rounds: they are recorded, and show that the server does answer.
        answers = ask(asking.server, inputs, asking.access, unanswered=missing, progress=progress)
        unusable = {}
        for position, i in enumerate(left, start=start):
            if position not in missing:
                counts.add(answers[position])
                if not good(i, answers[position], attempt):
                    unusable[i] = answers[position]
        new = {left[position - start]: reason for position, reason in missing.items() if position >= start}
        counts.missing += len(new)
        if new and not asking.allow_missing:
            raise _missing(asking, items, new, len(left))
        left = list(unusable)
        if not left:
            break
    return list(unusable.values())


def _useless(asking: Asking, count: int, answer: Any) -> ServerError:
    """The error where none of the first answers is of use; one of them is shown."""
    return ServerError(
        f"{asking.server.name}, {asking.server.model}: no answer about the first {count} items can be used, such as: "
        f"{shown_answer(answer)}",
        remedy="Ask a model that follows instructions (a chat or instruct form, no base model), raise --max-tokens for "
        "one that thinks first, or mend a prompt of your own. Answers are recorded; with --allow-missing it goes on",
    )


def ask_each(
    server: OpenAIChat, items: Sequence[Slots], access: Access, progress: Progress = silent
) -> tuple[list[Any], Counter[str]]:
    """The answer to each item, asked once; what the server refuses is an answer, too (`qbench.llm.plain_answers`).

    Args:
        server: the model.
        items: the prompt's slots for each item.
        access: recording, budget, patience.
        progress: called with the number of answers, and what is waited for.

    Returns:
        the answers, and their counts, the same in a replay: calls, tokens_read, tokens_written, refused. Tokens are
        estimates where the server reports none.

    Raises:
        ServerError, InputError, BudgetError, OptionError: as in `qbench.llm.client.ask`.
    """
    answers: list[Any] = []
    counts = Counter(dict.fromkeys(COUNTED, 0))
    for start in range(0, len(items), AT_ONCE):
        inputs = [server.question(item) for item in items[start : start + AT_ONCE]]
        before = len(answers)

        def in_block(done: float, total: float | None = None, what: str = "", before: int = before) -> None:
            progress(before + int(done), len(items), what)

        found = ask(server, inputs, access, keep_refusals=True, progress=in_block)
        answers += found
        for question, answer in zip(inputs, found, strict=True):
            refused = is_refusal(answer)
            expected = server.tokens([question]) if None in answer.get("tokens", ()) else (0, 0)
            used = answer.get("tokens", (0, 0))
            read, written = (e if u is None else u for e, u in zip(expected, used, strict=True))
            counts.update(calls=1, tokens_read=read, tokens_written=written, refused=int(refused))
        progress(len(answers), len(items))
    return answers, counts


def forecast(asking: Asking, items: Sequence[Slots]) -> Estimate:
    """The expected cost of the first round of `ask_until`; further rounds repeat only unusable answers."""
    return estimate(asking.server, [[asking.server.question(item) for item in items]], asking.access)


def _missing(asking: Asking, items: Sequence[Slots], missing: dict[int, str], count: int) -> InputError | ServerError:
    i, reason = next(iter(missing.items()))
    item = dict(items[i])
    if reason == NOT_RECORDED:
        return InputError(
            f"{len(missing):,} of {count:,} answers are not in the recording",
            file=asking.access.recorded.path,
            value=item,
            remedy="Allow to ask the server (leave --replay away), or continue without them with --allow-missing",
        )
    return ServerError(
        f"{len(missing):,} of {count:,} are refused; the first: {reason}",
        value=item,
        remedy="The other answers are recorded: repeat the command, or continue without these with --allow-missing",
    )
