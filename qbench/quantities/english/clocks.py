"""Times of the clock: "10:30", "5 a.m.", "between 1900 and 2300 hours", "works nine to five"."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.dates import SPANS, chain_of_numbers, is_month
from qbench.quantities.english.lexicon import CHANGE_VERBS, WEEKDAYS
from qbench.quantities.english.numbers import Number, plain_digits
from qbench.quantities.english.tokens import HYPHENS, Token, glued

_ZONES = frozenset("GMT UTC EST EDT ET CST CDT CT MST MDT PST PDT PT BST CET CEST IST JST AEST AEDT SGT HKT".split())
_SMALL_ZONES = frozenset("gmt utc est edt cst cdt mst mdt pst pdt bst cet cest".split())


def clock_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number is part of a clock time ("10:30", "10.45pm", "5 a.m.", "0401 GMT"); else None."""
    first, last = number.first, number.last
    if number.written and number.value > 12:
        return None
    if last + 1 < len(tokens) and tokens[last].text == ":" and tokens[last + 1].kind == "number":
        if glued(tokens[last - 1], tokens[last]) and glued(tokens[last], tokens[last + 1]):
            chain = chain_of_numbers(tokens, first, ":")
            return _past_pages(tokens, first, first + max(chain, 3))
    if (end := _half_of_day(tokens, _hour(tokens, number), last)) is not None:
        return end
    if last < len(tokens) and len(tokens[first].text) == 4 and tokens[first].text.isdecimal():
        if tokens[last].text in _ZONES or _is_in_small_zone(tokens, first, last):
            return last + 1
        if tokens[last].low in ("hours", "hrs") and _on_the_clock(tokens, first, last):
            return last + 1
        if _opens_hours(tokens, first, last):
            return last + 3
    if _is_hour(tokens, number) or _is_dotted(tokens, number):
        return last
    if (end := _office_hours(tokens, first)) is not None:
        return end
    # "9-11 a.m.", "from 5 to 7 pm": the first of two times
    if last + 1 < len(tokens) and tokens[last].low in SPANS and tokens[last + 1].kind == "number":
        other = tokens[last + 1].text
        small = len(other) <= 5 and other.isascii() and number.value < 13
        if small and _half_of_day(tokens, float(plain_digits(other)), last + 2) is not None:
            return last + 1
    return None


def _is_in_small_zone(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether four digits are a time in a zone that newswires write small: "closes at 1300 pdt"."""
    text, before = tokens[first].text, tokens[first - 1].low if first else ""
    clock = int(text[:2]) <= 24 and int(text[2:]) < 60
    return clock and before in _TELLING_TIME and tokens[last].text in _SMALL_ZONES


_TELLING_TIME = frozenset("at by until till from of to before after around about".split())


def _past_pages(tokens: Sequence[Token], first: int, end: int) -> int:
    """Past the last page of "2017;66:389-397", which is no time of day."""
    volume = first > 1 and tokens[first - 1].text == ";" and tokens[first - 2].kind == "number"
    paged = end + 1 < len(tokens) and tokens[end].text in "-–" and tokens[end + 1].kind == "number"
    return end + 2 if volume and paged and glued(tokens[end - 1], tokens[end]) else end


def _is_hour(tokens: Sequence[Token], number: Number) -> bool:
    """ "it closes at 7.", "the match tonight at around 8": a small number after "at", of what has its hour."""
    first, last = number.first, number.last
    if not number.value.is_integer() or not 1 <= number.value <= 12 or number.scaled or first < 1:
        return False
    k = first - 1 - (tokens[first - 1].low in ("around", "about"))
    if k < 0 or tokens[k].low not in ("at", "until", "till"):
        return False
    after = tokens[last] if last < len(tokens) else None
    if after is not None and after.low not in _AFTER_HOURS:
        return False
    return any(t.low in _TIMED for t in tokens[max(0, k - _NEAR) : k])


def _is_dotted(tokens: Sequence[Token], number: Number) -> bool:
    """ "16.9.2008 at 13.32", "on May 5 at 8.30 local time": hours and minutes with a stop, after a date."""
    first, last = number.first, number.last
    hours, stop, minutes = tokens[first].text.partition(".")
    if not stop or len(minutes) != 2 or len(hours) > 2 or int(hours or 99) > 23 or int(minutes) > 59 or first < 2:
        return False
    after = tokens[last] if last < len(tokens) else None
    if tokens[first - 1].low != "at" or (after is not None and (after.text in "%$€£-" or after.text.islower())):
        return False
    near = tokens[max(0, first - 1 - _NEAR) : first - 1]
    return any(is_month(t) or (len(t.text) == 4 and t.text.isdecimal() and t.text[:2] in ("19", "20")) for t in near)


_NEAR = 6
"""Tokens from an hour back to what has it at most."""
_AFTER_HOURS = frozenset(". , ; ! ? ) and or on in so but tonight tomorrow today sharp".split())
_TIMED = frozenset(
    "open opens opened close closes closed closing start starts started begin begins began tonight tomorrow today meet "
    "meets meeting dinner lunch breakfast game match show evening morning afternoon night monday tuesday wednesday "
    "thursday friday saturday sunday arrive arrives arrived leave leaves left".split()
)


def _opens_hours(tokens: Sequence[Token], first: int, last: int) -> bool:
    """ "between 1900 and 2300 hours": two hours of the day."""
    if last + 2 >= len(tokens) or tokens[last].low not in ("and", "to", "-", "–") or first == 0:
        return False
    ends = tokens[last + 1].text
    if tokens[first - 1].low not in ("between", "from") or tokens[last + 2].low not in ("hours", "hrs"):
        return False
    if last + 3 < len(tokens) and tokens[last + 3].low in ("a", "per", "of", "each"):
        return False
    return all(len(t) == 4 and t.isdecimal() and int(t) <= 2400 and int(t[2:]) < 60 for t in (tokens[first].text, ends))


def _on_the_clock(tokens: Sequence[Token], first: int, last: int) -> bool:
    """ "at 1900 hours", "1900 hours local time": an hour of the day, and no length of time."""
    hours, minutes = int(tokens[first].text[:2]), int(tokens[first].text[2:])
    local = last + 1 < len(tokens) and (tokens[last + 1].low == "local" or tokens[last + 1].text in _ZONES)
    return hours < 24 and minutes < 60 and (local or (first > 0 and tokens[first - 1].low in ("at", "by", "until")))


def _hour(tokens: Sequence[Token], number: Number) -> float:
    """The hour of a number; that of "13.30 pm" is one."""
    hours, stop, minutes = tokens[number.first].text.partition(".")
    noon = stop and len(minutes) == 2 and hours.isdecimal() and 13 <= int(hours) < 24 and int(minutes or 60) < 60
    return number.value - 12 if noon else number.value


def _half_of_day(tokens: Sequence[Token], value: float, k: int) -> int | None:
    """The token after "a.m." or "pm" at token k, if the value is an hour."""
    if value >= 13 or k >= len(tokens):
        return None
    if tokens[k].low in ("a", "p") and "".join(t.low for t in tokens[k : k + 3]) in ("a.m", "p.m"):
        return k + (4 if k + 3 < len(tokens) and tokens[k + 3].text == "." else 3)
    if tokens[k].low == "o" and k + 2 < len(tokens) and tokens[k + 2].low == "clock":
        return k + 3
    # "3 pM" is a concentration.
    return k + 1 if tokens[k].low in ("am", "pm") and tokens[k].text not in ("pM", "aM") else None


def _office_hours(tokens: Sequence[Token], first: int) -> int | None:
    """Past the "nine to five" of "she works nine to five", "a 9-to-5 job"."""
    spelt = [k for k in range(first, min(len(tokens), first + 5)) if tokens[k].text not in HYPHENS]
    if tuple(tokens[k].low for k in spelt[:3]) not in (("nine", "to", "five"), ("9", "to", "5")):
        return None
    end = spelt[2] + 1
    after = tokens[end] if end < len(tokens) else None
    if after is not None and after.low in _OFFICES:
        return end
    lead = [t.low for t in tokens[max(0, first - _NEAR_WORK) : first]]
    said = {t.low for t in tokens[max(0, first - 2 * _NEAR_WORK) : first]}
    if not said.isdisjoint(_SCORES) or not CHANGE_VERBS.isdisjoint(lead):
        return None  # "the number of shifts fell from nine to five", "the ratio of jobs was 9 to 5"
    opens = end + 1 < len(tokens) and lead == ["from"] and tokens[end].text == ","
    if not (opens or any(low in _WORKING or low in _WEEKDAYS for low in lead)):
        return None
    return end if after is None or after.text in ".,;:!?)" or after.low in _DAILY | _WEEKDAYS else None


_OFFICES = frozenset("job jobs shift shifts schedule schedules office worker workers routine grind".split())
_WORKING = frozenset("work works worked working open opens opened staffed job jobs shift shifts hours lines".split())
_SCORES = frozenset("ratio odds score vote votes number game match".split())
_DAILY = frozenset("every each on at in for to and or but are is daily except with local eastern central".split())
_WEEKDAYS = WEEKDAYS | {day + "s" for day in WEEKDAYS} | {"weekday", "weekdays"}
_NEAR_WORK = 4
"""Tokens from "works" to "nine to five" at most."""
