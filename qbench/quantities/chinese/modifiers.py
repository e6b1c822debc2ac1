"""What bounds an amount, and whether it is how much something moved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

from qbench.quantities.chinese.amounts import Amount
from qbench.quantities.chinese.lexicon import alternatives, comparators, phrases
from qbench.quantities.chinese.ranges import Stated
from qbench.quantities.types import Change, MentionComparator, Span

REACH = 24
"""Characters before a number in which the words that go with it stand."""


@dataclass(frozen=True, slots=True)
class Modified:
    """What the words around an amount say of it.

    Attributes:
        comparator, change: as in `Quantity`.
        comparator_span: where the bound is said.
        first: where the words that go with the amount begin.
        last: where they end.
        how: names of the rules.
    """

    comparator: MentionComparator = "="
    change: Change = ""
    comparator_span: Span | None = None
    first: int = 0
    last: int = 0
    how: tuple[str, ...] = ()


@cache
def _before() -> re.Pattern[str]:
    return re.compile(alternatives(comparators("before")) + "(?:了|达|为|是|有|达到)?[ ]?$")


@cache
def _after() -> re.Pattern[str]:
    said = r"[ ]?(?:\((?P<without>不)?含(?:本数)?\))?[(]?(?P<words>" + alternatives(comparators("after")) + ")"
    return re.compile(said + r"(?:\(?含本数\)?)?")


@cache
def _moves() -> re.Pattern[str]:
    """A movement, and what may stand between it and its number."""
    up, down, between = (alternatives(phrases()[name]) for name in ("up", "down", "between"))
    return re.compile(rf"(?:(?P<up>{up})|(?P<down>{down}))(?:{between}[ ]?){{0,3}}(?:人民币)?[ ]?$")


@cache
def _moves_after() -> re.Pattern[str]:
    up, down = (alternatives(phrases()[name]) for name in ("up", "down"))
    return re.compile(
        rf"[ ]?的?(?:同比|环比|年均)?(?:(?P<up>{up})|(?P<down>{down}))(?!到|至|了|的?[^,。;、)的]{{0,3}}\d)"
    )


@cache
def _never_after() -> re.Pattern[str]:
    return re.compile("[ ]?" + alternatives(phrases()["never after"]))


_PAST = re.compile(r"(?:^|[^超经通不])过$|(?:^|[^跌打突])破$")
"""过半, 票房过亿, 破百万."""
_STANDING = "十百千万亿半"
"""What 过 bounds; before digits it says what was done (通过5项)."""
_OF = re.compile(r"(?P<words>不足|不到|不及|超过|超|近|接近|约|大约|约为|高于|低于|少于|多于)[^,。;:、()\d]{1,12}的$")
"""不足去年的一半, 超过对手的两倍: the bound stands before what the share or the multiple is of."""
_DENIED = re.compile(
    r"(?:不(?:得|应(?:当|该)?|能够?|会|宜|可以?|要|允许|准|许|曾|再|该)|禁止|严禁|[并尚从]?未(?:能|曾|有)?"
    r"|[并从]?没有?|无法|难以|切?勿)[ ]?$"
)
"""Before a comparator: it is denied, 不得超过, 不应低于, 从未超过."""
_NO_VERB = ("不", "未", "至", "最", "起码", "顶多", "满", "上限", "下限")
"""Comparators that nobody denies so: 不超过 is one itself."""
_CONTRARY = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}
_OPEN = {">=": ">", "<=": "<"}
"""Bounds after an amount that is not among what they let in: 3亿元(不含)以下."""
_LIMIT = re.compile(
    r"(?P<word>最多|至多|最少|至少|顶多|起码)只?(?:可以?|能够?|需要?|须|应|要|会)"
    r"(?:[一-鿿](?<![年月日时的了])){0,3}[ ]?$"
)
"""最多可容纳, 至少需要: what is allowed or wanted at most or at least."""
_THAN = re.compile(r"比[ ]?$")
_MORE = re.compile(r"[ ]?更?(?:(?P<more>[大高多重长贵快宽深厚远])|[小低少轻短慢窄浅薄近]|便宜)(?![大小多少高低])")
"""比5公斤重, 比5公斤轻."""
_LEVEL = re.compile(r"(?:至|到|成|为)(?:了|约|近|超过|约为)?[ ]?$")
"""Words after a movement that say where something has come to."""


def modified(text: str, said: Stated, floor: int) -> Modified:
    """What the words around an amount say; none of those before `floor` are looked at."""
    amount, start, reach = said.amount, said.start, max(floor, said.start - REACH)
    found = Modified(first=start, last=said.end)
    before = text[reach:start]
    if amount.number.about:
        found = replace(found, comparator="~", comparator_span=(amount.number.start, amount.number.end), how=("about",))
    found = _bound_before(found, text, said, floor)
    if not _never_after().match(text, said.end) and (match := _after().match(text, said.end)):
        comparator = comparators("after")[match["words"]]
        comparator = _OPEN.get(comparator, comparator) if match["without"] else comparator
        if found.comparator in ("=", "~") and not (
            comparator == "<=" and match["words"] == "内" and not _bounded(amount)
        ):
            found = replace(_bounded_by(found, comparator, match.span("words")), last=match.end())
    if _THAN.search(before) and (match := _MORE.match(text, said.end)):
        found = _bounded_by(found, ">" if match["more"] else "<", match.span())
        found = replace(found, first=start - 1, last=match.end())
    if match := _moves().search(before):
        change = "up" if match["up"] else "down"
        if not _LEVEL.search(before):  # "增至" is a level
            first = min(found.first, reach + match.start())
            found = replace(found, change=cast("Change", change), first=first, how=(*found.how, "movement"))
    elif amount.unit.family.startswith("ratio") and (match := _moves_after().match(text, found.last)):
        change = "up" if match["up"] else "down"
        found = replace(found, change=cast("Change", change), last=match.end(), how=(*found.how, "movement"))
    if amount.number.value < 0 and found.change:
        other: Change = "down" if found.change == "up" else "up"
        found = replace(found, change=other)
    return found


def _bound_before(found: Modified, text: str, said: Stated, floor: int) -> Modified:
    """The same, with the bound that stands before the amount, if one does."""
    amount, start, reach = said.amount, said.start, max(floor, said.start - REACH)
    before, known = text[reach:start], comparators("before")
    match = _before().search(before)
    if match and not (match[0].strip() == "近" and _is_recent(amount)):  # 近三年 is the last three years
        words = re.sub(r"(?:了|达|为|是|有|达到)?[ ]?$", "", match[0])
        comparator = known.get(words) or known.get(match[0].strip()) or known.get(words.replace(" ", ""), "=")
        span = (reach + match.start(), reach + match.start() + len(words.rstrip()))
        if not words.startswith(_NO_VERB) and (denied := _DENIED.search(text, reach, span[0])):
            comparator, span = _CONTRARY.get(comparator, comparator), (denied.start(), span[1])
    elif match := _LIMIT.search(before):
        comparator, span = known[match["word"]], (reach + match.start(), reach + match.end("word"))
    elif _PAST.search(text, max(0, start - 2), start) and (text[start] in _STANDING or text[start - 1] == "破"):
        comparator, span = ">", (start - 1, start)
    elif _is_multiple(amount) and (of := _OF.search(text, reach, start)):
        comparator, span = known[of["words"]], of.span("words")
    else:
        return found
    return replace(_bounded_by(found, comparator, span), first=span[0])


def _bounded_by(found: Modified, comparator: str, span: Span) -> Modified:
    return replace(found, comparator=cast("MentionComparator", comparator), comparator_span=span, how=("comparator",))


def _is_recent(amount: Amount) -> bool:
    """Whether 近 before an amount may mean the last so many: 近三年, but 近六个小时 is about six hours."""
    return amount.unit.family == "time" and amount.unit.name not in ("hour", "minute", "second")


def _is_multiple(amount: Amount) -> bool:
    """Whether an amount is a share or a multiple of something: 一半, 三分之一, 两倍."""
    return amount.unit.name == "count" or not {"half", "fraction"}.isdisjoint(amount.how)


def _bounded(amount: Amount) -> bool:
    """Whether "内" after an amount is a bound: of times and distances."""
    return amount.unit.family in ("time", "length")


def shared(text: str, said: Sequence[Stated], read: Sequence[Modified]) -> list[Modified]:
    """The same, with a movement that 分别 says of several: "分别增长5%和3%"."""
    dealt = list(read)
    for at in range(1, len(dealt)):
        before, own = dealt[at - 1], dealt[at]
        joined = _JOINED.fullmatch(text, before.last, own.first) and said[at].unit.name == said[at - 1].unit.name
        if before.change and not own.change and joined and "分别" in text[max(0, before.first - REACH) : before.last]:
            dealt[at] = replace(own, change=before.change, how=(*own.how, "shared movement"))
    return dealt


_JOINED = re.compile(r"[、,和与及 ]|以及")
