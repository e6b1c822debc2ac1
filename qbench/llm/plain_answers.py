"""The number, or the order of numbers, in a chat model's answer in plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qbench.errors import shorten
from qbench.llm.chat_answers import without_thought
from qbench.llm.client import REFUSED

_SHOWN = 160
"""Characters of an answer that are shown."""

_LETTER = r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]"
"""A letter of a word. Chinese and Japanese characters stand beside numbers: 评分4, 4分."""
_NUMBER = re.compile(rf"(?<![\d_.,])(?<!{_LETTER})-?\d+(?:\.\d+)?(?!(?:{_LETTER}|[\d_,])*\d)")
_OUT_OF = re.compile(
    r"(?<=\d)\s*(?:(?:/|out of)\s*\d+|分?\s*[/(,、]?\s*满分\s*(?:[为是:]\s*)?\d+\s*分?\)?)", re.IGNORECASE
)
_BRACKETED = re.compile(r"\[\s*(\d{1,9})\s*\]")
_ANY = re.compile(r"(?<![\d.])\d{1,9}(?![\d.]*\d)")

_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {ord("【"): "[", ord("】"): "]"}
"""Signs as East Asian texts write them, as wide as a character: ４, ［2］, 【2】."""

_APOLOGY = (
    r"(?:(?:(?:i['’]?m|i am|we['’]?re|we are)\s+(?:\w+\s+)?)?sorry|i apologi[sz]e|my apologies|unfortunately"
    r"|regrettably|as an? (?:ai|artificial|large|language)\b)"
)
_DECLINES_EN = (
    r"(?:i|we)(?:['’](?:m|re)|\s+am|\s+are)?\s+"
    r"(?:cannot|can\s?not|can['’]?t|could\s?n['’]?t|won['’]?t|will not|un(?:able|willing)"
    r"|not (?:able|comfortable|allowed|permitted|willing)|(?:(?:must|have to) )?(?:decline|refuse))\b"
)
_IMPERSONAL_EN = (
    r"(?:i|we) (?:do not|don['’]?t) (?:feel comfortable|provide|give|rate|rank|assign)\b"
    r"|it (?:is|['’]s) (?:not possible|impossible) (?:for me )?to\b"
)
_DECLINES_ZH = re.compile(
    r"(?:对不起|對不起|抱歉|不好意思|遗憾|遺憾|作为|作為)[^\d。！？\n]{0,40}?"
    r"(?:[无無]法|不能|不可以|不会|[没沒]办法|[没沒]有(?:办法|学会)|不便|不予)"
    r"|(?:[无無]法|不能|不可以|不会|[没沒]有?办法|[没沒]有学会|不便|不予)[^\d。！？，,\n]{0,8}?"
    r"(?:回答|提供|[评評]|[给給]出?|[协協]助|[帮幫]|排[序名]|打分|[讨討][论論]|[处處]理|完成)"
    r"|\A\W*我们?[^\d。，,！？\n]{0,6}?(?:[无無]法|不能|不可以|没有?办法|不便|拒[绝絕]|不予)"
    r"|拒[绝絕](?:回答|[评評]|提供)"
)
_DECLINES = re.compile(rf"\A\W*(?:{_APOLOGY}[^.!?\n]{{0,120}}?\W)?(?:{_DECLINES_EN}|{_IMPERSONAL_EN})", re.IGNORECASE)
"""How models begin that decline to answer; in Chinese the words may stand anywhere."""
_AT_THE_END = re.compile(
    r"(?:[:：=]|^|[给給打是为為]|\b(?:so|give|is|rate it|score))[\s*]*-?\d+(?:\.\d+)?\s*分?[\s*.。]*\Z"
    r"|[给給评評打][一-鿿]?\s*\d(?:\.\d+)?\s*分(?![到至~-])",
    re.MULTILINE | re.IGNORECASE,
)
"""A number after a colon or a word for scoring, or on a line of its own: an answer whatever is said before."""


def is_refusal(answer: Any) -> bool:
    """Whether the server refused the question, its filter stopped the answer, or the model declined to answer.

    A model may decline in words; where an answer follows all the same, it counts.

    >>> is_refusal({"text": "Sorry, I cannot give a score from 1 to 5."}), is_refusal({"text": "抱歉，我无法评分。"})
    (True, True)
    >>> is_refusal({"text": "I cannot find a number in it. Score: 3"}), is_refusal({"text": "I do not know."})
    (False, False)
    """
    if answer.get(REFUSED) or answer.get("finish") == "content_filter":
        return True
    written = _plain(answer)
    if not (_DECLINES.search(written) or _DECLINES_ZH.search(written)) or len(_BRACKETED.findall(written)) > 1:
        return False
    return _AT_THE_END.search(_OUT_OF.sub("", written)) is None


def shown_answer(answer: Any) -> str:
    """An answer that could not be used, for people: quoted, on one line, cut; or why there is none.

    >>> shown_answer({"text": "I love them all.", "finish": "stop"}), shown_answer({"text": "", "finish": "stop"})
    ("'I love them all.'", 'empty')
    >>> shown_answer({"text": "<think>The weight", "finish": "length"}), shown_answer({"refused": "HTTP 400, no"})
    ("'<think>The weight', cut off at max_tokens", 'HTTP 400, no')
    """
    if isinstance(reason := answer.get(REFUSED), str):
        return reason
    text = str(answer.get("text") or "").strip()
    stopped = {"length": ", cut off at max_tokens", "content_filter": ", stopped by the server's filter"}
    return (shorten(text, _SHOWN) if text else "empty") + stopped.get(str(answer.get("finish")), "")


def _plain(answer: Any) -> str:
    """What a model wrote after its thoughts, in signs of usual width, without marks for bold type."""
    return without_thought(answer).translate(_HALF_WIDTH).replace("**", "")


def choice_in(answer: Any, choices: Sequence[str]) -> float | None:
    """The number that an answer of `OpenAIChat` gives, out of those offered.

    With log-probabilities of the offered numbers, their expectation: the sum of each number times its probability,
    divided by the sum of those probabilities. Without them the number itself, which may lie between two of those
    offered. An answer may say more than the number, but no other number: "4", "Score: 4/5", "评分：4分".

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
    written = _OUT_OF.sub("", _plain(answer))
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
    written = _plain(answer)
    named = [int(number) - 1 for number in _BRACKETED.findall(written) or _ANY.findall(written)]
    known = [place for place in named if 0 <= place < count]
    first = dict.fromkeys(known)
    others = [place for place in range(count) if place not in first]
    return Permutation((*first, *others), len(others), len(known) - len(first), len(named) - len(known))
