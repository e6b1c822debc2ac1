"""The expressions of time in a sentence, and the mentions that each of them dates.

An expression is a run of tokens outside all mentions: "2019", "the third quarter of fiscal 2023", "March 31, 2024",
"last year". It dates the mention that it follows, or, at the beginning of a clause, those after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from qbench.quantities.english.dates import is_month
from qbench.quantities.english.noun_phrases import TIMES
from qbench.quantities.english.tokens import Token

Span = tuple[int, int]
T = TypeVar("T")

_WORDS = (TIMES - {"time", "past", "rest"}) | frozenset(
    "fiscal monday tuesday wednesday thursday friday saturday sunday half-year tomorrow spring summer autumn".split()
)
_BEFORE = frozenset(
    "last this next previous prior past first second third fourth full calendar same latest current late early mid "
    "ended ending half nine six three twelve year-ago".split()
)
"""Words that belong to an expression of time if one of `_WORDS` or a date follows."""
_BETWEEN = frozenset({"of", ",", "the", "-", "and", "to", "through", "–", "a"})
"""Words allowed inside an expression, between two of its words."""
_ENDED = frozenset({"ended", "ending"})
_QUARTERS = frozenset("1234")
_COMPARING = frozenset("from than versus vs against compared comparison over".split())
"""Words that introduce a time of comparison: "rose 5 % from 2019"."""
NEAR = 12
"""Maximum number of tokens between a mention and a later time that dates it."""
REACH = 60
"""Maximum number of tokens between a list of mentions and a list of times."""
_CLAUSES = frozenset({";", ":", "while", "whereas", "but"})
"""Words that begin another clause, with times of its own."""


@dataclass(frozen=True, slots=True)
class Time:
    """An expression of time at tokens first..last-1.

    Attributes:
        compared: whether it is a time of comparison.
        section: whether it heads a part of a table in running text: the "Year" of "Net 5 vs 4 Year Net 9 vs 8".
        short: whether it shares the end of the next period: the "three" of "three and six months ended June 30".
    """

    first: int
    last: int
    compared: bool = False
    section: bool = False
    short: bool = False


def find_times(tokens: Sequence[Token], owner: Sequence[int], periods: Sequence[Span] = ()) -> list[Time]:
    """The expressions of time of a text, in order.

    Args:
        tokens: of the text.
        owner: for each token the mention that it belongs to, or -1.
        periods: the mentions that begin an expression ("three months" before "ended March 31"): see `is_period`.
    """
    is_time = [owner[k] == -1 and _is_time_word(tokens, k) for k in range(len(tokens))]
    headed = {first: last for first, last in periods if _is_section(tokens, owner, first, last)}
    for first in headed:
        is_time[first] = True
    starts = {last: first for first, last in periods}
    times: list[Time] = []
    k = 0
    while k < len(tokens):
        if not is_time[k]:
            k += 1
            continue
        first, last = k, headed.get(k, k + 1)
        while (gap := _gap(tokens, owner, is_time, last)) is not None:
            last = gap + 1
        while first and owner[first - 1] == -1 and tokens[first - 1].low in _BEFORE:
            first -= 1
        first = max(starts.get(first, first), times[-1].last if times else 0)
        times.append(Time(first, last, _is_compared(tokens, first), _is_section(tokens, owner, first, last)))
        k = last
    times += [
        Time(*span, _is_compared(tokens, span[0]), short=True) for span in periods if _is_short(tokens, owner, *span)
    ]
    return sorted(times, key=lambda time: time.first)


def is_period(tokens: Sequence[Token], owner: Sequence[int], first: int, last: int) -> bool:
    """Whether a length of time at tokens first..last-1 dates other mentions, and is no fact of its own.

    A date follows it ("the nine months ended June 30"), it is listed with such a one ("the three and nine months
    ended"), or it heads a part of a table.
    """
    if last < len(tokens) and tokens[last].low in _ENDED:
        return True
    return _is_short(tokens, owner, first, last) or _is_section(tokens, owner, first, last)


def _is_short(tokens: Sequence[Token], owner: Sequence[int], first: int, last: int) -> bool:
    """Whether a period is in a list of periods whose last one is followed by a date."""
    k = last
    while k < len(tokens) and tokens[k].low in (",", "and", "or", "the", "-"):
        k += 1
    if not last < k < len(tokens) or owner[k] in (-1, owner[first]):
        return False
    end = k
    while end < len(tokens) and owner[end] == owner[k]:
        end += 1
    dated = any(tokens[m].low in _WORDS for m in range(k, end)) and end < len(tokens) and tokens[end].low in _ENDED
    return dated or _is_short(tokens, owner, k, end)


def _is_section(tokens: Sequence[Token], owner: Sequence[int], first: int, last: int) -> bool:
    """Whether a time heads a part of a table: right behind an amount, with a capital, and before another capital."""
    if not 0 < first < last < len(tokens) or owner[first - 1] in (-1, owner[first]):
        return False
    label = tokens[last]
    capital = tokens[first].kind == "number" or tokens[first].text.istitle()
    return capital and owner[last] == -1 and label.kind == "word" and label.text.istitle() and not is_month(label)


def dated(tokens: Sequence[Token], mentions: Sequence[Span], times: Sequence[Time]) -> list[list[Time]]:
    """The times that date each mention, in order.

    A time right after a mention is its own. One that opens a clause dates all its mentions. A mention without a time
    takes that of the mention it is listed with ("5 % of sales and 3 % of profit in 2019"). A list of times behind a
    list of as many mentions is distributed over them, with or without "respectively". A time that heads a part of a
    table holds up to the next.
    """
    sections, times = [t for t in times if t.section], [t for t in times if not t.section]
    own: list[list[Time]] = [[] for _ in mentions]
    opening: list[Time] = []
    dealt = _dealt(tokens, mentions, times)
    previous: tuple[Time, int] | None = None
    for time in times:
        if any(time == assigned[-1] for assigned in dealt.values()):
            continue
        before = max((n for n, (_, last) in enumerate(mentions) if last <= time.first), default=None)
        after = next((n for n, (first, _) in enumerate(mentions) if first >= time.last), None)
        listed = previous is not None and _is_list(tokens, previous[0].last, time.first)
        if listed and previous is not None and before == previous[1]:
            own[previous[1]].append(time)
            previous = time, previous[1]
        elif before is not None and _follows(tokens, mentions[before][1], time.first):
            own[before].append(time)
            previous = time, before
        elif after is not None:
            # Of two times that open a clause, the first is a heading or another clause's, unless they are a list.
            own[after] = [t for t in own[after] if t not in opening or _is_list(tokens, t.last, time.first)]
            opening = [t for t in opening if _is_list(tokens, t.last, time.first)]
            opening.append(time)
            own[after].append(time)
        elif before is not None:
            own[before].append(time)
    _share(tokens, mentions, own, opening)
    for own_times, (first, _) in zip(own, mentions, strict=True):
        if all(time.compared for time in own_times):
            own_times += [t for t in sections if t.last <= first][-1:]
    return [sorted(set(dealt.get(n, times)), key=lambda t: t.first) for n, times in enumerate(own)]


def _dealt(tokens: Sequence[Token], mentions: Sequence[Span], times: Sequence[Time]) -> dict[int, list[Time]]:
    """Mention -> its times, for lists of as many times as mentions: "5 and 8 in 2019 and 2020".

    The times follow, or else they come first; two lists of mentions may share one list of times.
    """
    dealt: dict[int, list[Time]] = {}
    runs = _lists(tokens, times, [(time.first, time.last) for time in times])
    for group in _lists(tokens, range(len(mentions)), mentions):
        start, end = mentions[group[0]][0], mentions[group[-1]][1]
        alike = [run for run in runs if len(run) == len(group)]
        behind = [run for run in alike if run[0].first >= end and _near(tokens, end, run[0].first)]
        ahead = [run for run in alike if run[-1].last <= start and _near(tokens, run[-1].last, start)]
        for run in [*behind[:1], *ahead[-1:]][:1]:
            dealt |= {
                n: [*_prefix(tokens, run[0], time), time, *_suffix(tokens, time, run[-1])]
                for n, time in zip(group, run, strict=True)
            }
    return dealt


def _near(tokens: Sequence[Token], a: int, b: int) -> bool:
    return b - a <= REACH and _same_clause(tokens, a, b)


def _lists(tokens: Sequence[Token], items: Sequence[T], spans: Sequence[Span]) -> list[list[T]]:
    """The lists of two or more items."""
    runs: list[list[T]] = []
    for n, item in enumerate(items):
        if n and _is_list(tokens, spans[n - 1][1], spans[n][0]):
            runs[-1].append(item)
        else:
            runs.append([item])
    return [run for run in runs if len(run) > 1]


def _prefix(tokens: Sequence[Token], head: Time, time: Time) -> list[Time]:
    """The words that a year shares with the first of its list: all but the year of "the years ended June 30, 2024"."""
    short = time.last - time.first == 1 and _is_year(tokens[time.first])
    if not short or time is head or head.last - head.first < 2 or not _is_year(tokens[head.last - 1]):
        return []
    last = head.last - 1
    while tokens[last - 1].kind == "mark":
        last -= 1
    return [Time(head.first, last, head.compared)]


def _suffix(tokens: Sequence[Token], time: Time, tail: Time) -> list[Time]:
    """The words that a short period shares with the last of its list: "months ended June 30" for "three and six"."""
    if not time.short or tail.short:
        return []
    unit = next((k for k in range(tail.first, tail.last) if tokens[k].low in _WORDS), tail.last)
    has_unit = any(tokens[k].low in _WORDS for k in range(time.first, time.last))
    return [Time(unit + has_unit, tail.last, tail.compared)]


def _is_year(token: Token) -> bool:
    return len(token.text) == 4 and token.text.isdecimal() and 1900 <= int(token.text) <= 2100


def _is_list(tokens: Sequence[Token], a: int, b: int) -> bool:
    """Whether two positions are items of a list: with nothing but commas and "and" between."""
    return a <= b and b - a <= 3 and all(t.low in (",", "and", "or", "the", "&") for t in tokens[a:b])


def _share(tokens: Sequence[Token], mentions: Sequence[Span], own: list[list[Time]], opening: Sequence[Time]) -> None:
    """Give each mention without a time the one of its clause, or of its neighbour in a list."""
    for n, (first, _) in enumerate(mentions):
        if all(time.compared for time in own[n]):
            own[n] += [t for t in opening if t.last <= first and _same_clause(tokens, t.last, first)]
    for n in range(len(mentions) - 2, -1, -1):
        if not own[n] and _joined(tokens, mentions[n][1], mentions[n + 1][0]):
            own[n] += [t for t in own[n + 1] if not t.compared]
    for n in range(1, len(mentions)):
        if not own[n] and _joined(tokens, mentions[n - 1][1], mentions[n][0]):
            own[n] += [t for t in own[n - 1] if not t.compared]


def _is_time_word(tokens: Sequence[Token], k: int) -> bool:
    token = tokens[k]
    if token.kind == "word":
        quarter = token.text == "Q" and k + 1 < len(tokens) and tokens[k + 1].text in _QUARTERS
        return quarter or token.low in _WORDS or is_month(token)
    if token.text in _QUARTERS and k and tokens[k - 1].text == "Q":
        return True
    if token.kind != "number" or not token.text.isdecimal():
        return False
    if _is_year(token):
        return True
    near = (m for m in (k - 1, k + 1) if 0 <= m < len(tokens))
    return len(token.text) <= 2 and any(is_month(tokens[m]) for m in near)


def _gap(tokens: Sequence[Token], owner: Sequence[int], is_time: Sequence[bool], last: int) -> int | None:
    """The token at which the expression that ends before `last` continues, after up to three small words, or None."""
    for k in range(last, min(last + 4, len(tokens))):
        if owner[k] != -1:
            return None
        if is_time[k]:
            # A year ends a date: "2022 and 2021", "2021, 2022" are two.
            return None if _is_year(tokens[last - 1]) and any(t.low in ("and", ",") for t in tokens[last:k]) else k
        if tokens[k].low not in _BETWEEN | _BEFORE:
            return None
    return None


def _is_compared(tokens: Sequence[Token], first: int) -> bool:
    return any(t.low in _COMPARING for t in tokens[max(0, first - 4) : first])


def _follows(tokens: Sequence[Token], end: int, first: int) -> bool:
    """Whether the time at `first` stands right behind the mention that ends at `end`."""
    return first - end <= NEAR and _same_clause(tokens, end, first) and all(t.text != "," for t in tokens[end:first])


def _same_clause(tokens: Sequence[Token], a: int, b: int) -> bool:
    return all(t.low not in _CLAUSES for t in tokens[a:b])


def _joined(tokens: Sequence[Token], a: int, b: int) -> bool:
    """Whether two positions are in one list or clause, without a comparison in between."""
    return b - a <= NEAR and all(t.low not in _CLAUSES | _COMPARING for t in tokens[a:b])
