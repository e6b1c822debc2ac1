"""The number, or the order of numbers, in a chat model's answer in plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qbench.llm.chat_answers import without_thought
from qbench.llm.client import REFUSED

_NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:\.\d+)?(?![\w,]*\d)")
_OUT_OF = re.compile(r"(?<=\d)\s*(?:/|out of)\s*\d+", re.IGNORECASE)
_BRACKETED = re.compile(r"\[\s*(\d{1,9})\s*\]")
_ANY = re.compile(r"(?<![\d.])\d{1,9}(?![\d.]*\d)")


def is_refusal(answer: Any) -> bool:
    """Whether the server refused the question, its filter stopped the answer, or the model declined to answer."""
    return bool(answer.get(REFUSED)) or answer.get("finish") == "content_filter"


def choice_in(answer: Any, choices: Sequence[str]) -> float | None:
    """The number that an answer of `OpenAIChat` gives, out of those offered.

    With log-probabilities of the offered numbers, their expectation: the sum of each number times its probability,
    divided by the sum of those probabilities. Without them the number itself, which may lie between two of those
    offered. An answer may say more than the number, but no other number: "4", "Score: 4/5".

    Args:
        answer: as the recording holds it.
        choices: whole numbers, ascending.

    Returns:
        None where the answer gives no such number.

    >>> choice_in({"text": "4", "finish": "stop"}, "12345")
    4.0
    >>> choice_in({"text": "4", "said": "4", "chances": {"4": 0.6, "5": 0.2}}, "12345")
    4.25
    """
    number = _number_in(answer, choices)
    if number is None or not has_chances(answer, choices):
        return None if number is None else float(number)
    chances: dict[str, float] = answer["chances"]
    return sum(int(word) * chance for word, chance in chances.items()) / sum(chances.values())


def has_chances(answer: Any, choices: Sequence[str]) -> bool:
    """Whether an answer has log-probabilities of the number that it gives, so that `choice_in` is their expectation."""
    number = _number_in(answer, choices)
    return number is not None and answer.get("said") == number and bool(answer.get("chances"))


def _number_in(answer: Any, choices: Sequence[str]) -> str | None:
    written = _OUT_OF.sub("", without_thought(answer))
    numbers = set(_NUMBER.findall(written))
    if len(numbers) != 1:
        return None
    (number,) = numbers
    return number if float(choices[0]) <= float(number) <= float(choices[-1]) else None


@dataclass(frozen=True)
class Permutation:
    """An order of texts that a model gave.

    Attributes:
        order: positions from 0, each once: those that the answer names in its order, then the others as they stood.
        missing: number of texts that the answer leaves out.
        repeated: number of times that it names a text again.
        unknown: number of times that it names a text that was not shown.
    """

    order: tuple[int, ...]
    missing: int = 0
    repeated: int = 0
    unknown: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the answer named every text once, and nothing else."""
        return not (self.missing or self.repeated or self.unknown)


def permutation_in(answer: Any, count: int) -> Permutation:
    """The order of `count` numbered texts that an answer of `OpenAIChat` gives, such as `[2] > [3] > [1]`.

    Numbers in brackets count; where there are none, all whole numbers. An answer without any leaves the texts as they
    stand, all of them missing.

    Source: RankZephyr (Pradeep et al. 2023). Its authors' code, RankLLM, makes an order whole in the same way, but it
    takes every run of digits for a number, in brackets or not ("The 3 texts: [2] > [1] > [3]" is 3, 2, 1 there), and
    digits in circles, too. Its analysis counts each answer once, by the first thing that is wrong with it; here texts
    are counted, and an answer with any fault is malformed.

    >>> permutation_in({"text": "[2] > [2] > [7]"}, 3)
    Permutation(order=(1, 0, 2), missing=2, repeated=1, unknown=1)
    """
    written = without_thought(answer)
    named = [int(number) - 1 for number in _BRACKETED.findall(written) or _ANY.findall(written)]
    known = [place for place in named if 0 <= place < count]
    first = dict.fromkeys(known)
    others = [place for place in range(count) if place not in first]
    return Permutation((*first, *others), len(others), len(known) - len(first), len(named) - len(known))
