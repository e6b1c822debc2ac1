"""The query side: a typed query -> search words and conditions, by the engine that reads documents."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, cast

from qbench.quantities.chinese.characters import plain
from qbench.quantities.chinese.lexicon import alternatives, phrases, words
from qbench.quantities.types import NEGATED, Comparator, Condition, ParsedQuery, Quantity, Span

if TYPE_CHECKING:
    from qbench.quantities.languages import Extractor

_NOT = re.compile(r"(?:不是|不等于|不为|并非|而非|除了|除|不要|!=|≠|不在|不介于)[ ]?(?:介于|在)?$")
REACH = 6
"""Characters before an amount in which a negation of it stands."""


def parse_query(text: str, extractor: Extractor) -> ParsedQuery:
    """Read a query's search words and conditions from its text.

    "营业收入超过10亿元的公司" -> terms "营业收入 公司", condition > 1000000000 yuan of 营业收入. A number without
    a bound asks for equality; 约 does too. 不是 before a number without a bound asks for any other value.
    """
    same = plain(text)
    mentions = extractor.extract(text)
    taken: list[Span] = []
    named = [span for mention in mentions for span in mention.concept_spans]
    conditions = []
    for mention in mentions:
        first, last = mention.extent
        negated = _NOT.search(same, max(0, first - REACH), first)
        conditions.append(_condition(text, mention, negated is not None))
        taken.append((negated.start() if negated else first, last))
    return ParsedQuery(_terms(text, same, taken, named), tuple(conditions))


def _condition(text: str, mention: Quantity, negated: bool) -> Condition:
    comparator = {"~": "="}.get(mention.comparator, mention.comparator)
    if negated and comparator in ("=", "between"):
        comparator = "!="
    elif negated:
        comparator = NEGATED[comparator]
    written = "" if mention.unit_span is None else text[slice(*mention.unit_span)]
    condition = Condition(
        comparator="between" if mention.high > mention.value and comparator == "=" else cast("Comparator", comparator),
        value=mention.value,
        high=mention.high,
        unit=mention.unit,
        base_unit=mention.base_unit,
        base_value=mention.base_value,
        base_high=mention.base_high,
        concept=mention.concept,
        value_text=text[slice(*mention.value_span)],
        unit_text=written,
        change=mention.change,
    )
    if condition.comparator != "between" and condition.high > condition.value and comparator != "!=":
        return replace(condition, high=condition.value, base_high=condition.base_value)
    return condition


def _terms(text: str, same: str, taken: list[Span], named: list[Span]) -> str:
    """What is left of a query: without the conditions' numbers, and without words that ask or join.

    Names are left whole, also those that hold a word that moves or states: 每股平均价, 净利润, 减持, 润达.
    """
    rest = _SIGN.sub(lambda match: " " * len(match[0]), same)
    for span in taken:
        rest = _gone(rest, span)
    for match in list(_asking().finditer(rest)):
        rest = _gone(rest, match.span())
    while beside := [match.span() for match in _beside().finditer(rest) if not _within(match, named)]:
        rest = _gone(rest, beside[0])
    # As the user wrote it: what `plain` changed is no other word.
    kept = "".join(original if sign not in (" ", _GONE) else " " for original, sign in zip(text, rest, strict=True))
    return " ".join(word for word in kept.split() if word not in (*words("alone"), *words("ask")))


_GONE = "\0"
_SIGN = re.compile(r"[^\w%&+/.\-]|(?<![\w])[.\-/]|[.\-/](?!\w)")
_ALWAYS = "的吗呢吧"
"""Words of one character that ask or join wherever they stand; others are parts of names, too (和平, 润达)."""


def _gone(text: str, span: Span) -> str:
    return text[: span[0]] + _GONE * (span[1] - span[0]) + text[span[1] :]


def _within(match: re.Match[str], named: list[Span]) -> bool:
    """Whether a word of movement is a part of a name."""
    moves = match["before"] or match["behind"]
    return moves is not None and any(first <= match.start() < last for first, last in named)


@cache
def _asking() -> re.Pattern[str]:
    return re.compile(alternatives(tuple(word for word in words("ask") if len(word) > 1 or word in _ALWAYS)))


@cache
def _beside() -> re.Pattern[str]:
    """Words of movement, and short ones that ask or join, beside what is gone already."""
    moved = alternatives((*phrases()["compared"], *phrases()["up"], *phrases()["down"]))
    joined = alternatives(tuple(word for word in words("ask") if len(word) == 1))
    return re.compile(
        rf"(?:(?P<before>{moved})|{joined})(?= *{_GONE})|(?<={_GONE})(?:(?P<behind>{moved})(?=$|[ {_GONE}])|{joined})"
    )
