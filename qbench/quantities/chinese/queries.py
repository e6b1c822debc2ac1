"""The query side: a typed query -> search words and conditions, by the engine that reads documents."""

from __future__ import annotations

import re
from dataclasses import replace
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

    Names of what is measured are left whole: 每股平均价 and 减持 hold words that tell a change.
    """
    left = list(same)
    for start, end in taken:
        left[start:end] = " " * (end - start)
    rest = "".join(left)
    moved = (*phrases()["compared"], *phrases()["up"], *phrases()["down"])
    pattern = re.compile(rf"{alternatives((*words('ask'), *moved))}|[^\w%&+/.\-]|(?<![\w])[.\-/]|[.\-/](?!\w)")
    for match in list(pattern.finditer(rest)):
        if match[0] in moved and any(first <= match.start() < last for first, last in named):
            continue
        rest = rest[: match.start()] + " " * (match.end() - match.start()) + rest[match.end() :]
    # As the user wrote it: what `plain` changed is no other word.
    kept = "".join(original if sign != " " else " " for original, sign in zip(text, rest, strict=True))
    return " ".join(word for word in kept.split() if word not in words("alone"))
