"""Dates and calendar years: numbers that tell when, not how much."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qbench.quantities.english.lexicon import FUNCTION_WORDS, MONTHS, VERBS
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import Token, glued

YEAR_CUES = frozenset(
    (
        "in of since by until till before after during from to fiscal year years early late mid through "
        "between and the for ended ending circa"
    ).split()
)
_FUTURE_CUES = frozenset("in by until till since before after year circa".split())
_PLAIN_MONTHS = frozenset(m.lower() for m in MONTHS if len(m) > 3 and m not in ("March", "August", "Sept"))
"""Months whose name in small letters is no other word."""
_SHORT_MONTHS = frozenset("jan feb apr jun jul aug sep sept oct nov dec".split())
_ERAS = frozenset("BC BCE CE AD".split())
_YEAR_AND_PAGE = re.compile(r"(?:19|20)\d\d\.\d{1,3}")
"""A year at the end of a sentence with what is glued to it: the number of a page or a note."""
SPANS = ("-", "–", "—", "to", "and", "through", "until", "or", "/", "&")


def date_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number is part of a date; None if it is not."""
    if number.scaled:
        return None
    first = number.first
    if number.written:
        return _day_in_words(tokens, number)
    if _YEAR_AND_PAGE.fullmatch(tokens[first].text) and first > 1 and tokens[first - 1].text == ",":
        return number.last if tokens[first - 2].kind == "number" or is_month(tokens[first - 2]) else None
    if (end := _day(tokens, number)) is not None:
        return end
    if _year_of_issue(tokens, number):
        return number.last
    # 12/31/2023, 2024-01-05, 12.31.2023; 2023-24, 1995–96, 2019/20
    if _is_months_of_year(tokens, first):
        return first + 5
    chain = chain_of_numbers(tokens, first, "/-–.")
    if chain >= 5:
        memory = tokens[first + 1].text == "/" and first + chain < len(tokens) and tokens[first + chain].low in _BYTES
        year = len(tokens[first + chain - 1].text) == 4
        return None if memory and not year else first + chain  # "64/128/256 GB"
    if chain == 3 and tokens[first + 1].text in "-–/" and _is_short_year(tokens, first):
        return first + 3
    if (chain == 3 or _is_bracketed(tokens, first)) and _is_lifetime(tokens, first):
        return first + 3
    return _era(tokens, number) or _short_year(tokens, number) or _month_and_day(tokens, number)


_BYTES = frozenset("gb tb mb".split())


def _is_months_of_year(tokens: Sequence[Token], first: int) -> bool:
    """ "1-9/2008": some months of a year."""
    if first + 4 >= len(tokens) or tokens[first + 1].text not in "-–" or tokens[first + 3].text != "/":
        return False
    a, b, year = (tokens[k].text for k in (first, first + 2, first + 4))
    if not (a.isdecimal() and b.isdecimal() and year.isdecimal() and len(year) == 4):
        return False
    return int(a) < int(b) <= 12 and all(glued(tokens[k], tokens[k + 1]) for k in range(first, first + 4))


def _year_of_issue(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a year and the code of a currency begin the name of a paper: "the 2024 USD Notes"."""
    year, last = tokens[number.first].text, number.last
    if len(year) != 4 or not year.isdecimal() or not 1980 <= int(year) <= 2060 or last + 1 >= len(tokens):
        return False
    code = tokens[last].text
    apart = not glued(tokens[last - 1], tokens[last])
    return apart and len(code) == 3 and code.isupper() and tokens[last + 1].text.istitle()


def is_month(token: Token) -> bool:
    """Whether a token names a month, abbreviated or not."""
    if token.text in MONTHS or token.low in _PLAIN_MONTHS or token.low in _SHORT_MONTHS:
        return True
    return token.text.isupper() and token.text.capitalize() in MONTHS


def chain_of_numbers(tokens: Sequence[Token], first: int, marks: str) -> int:
    """How many tokens from `first` are whole numbers glued together by one and the same mark."""
    n = 1
    if not tokens[first].text.isdecimal():
        return 0
    while (
        first + n + 1 < len(tokens)
        and tokens[first + n].text in marks
        and tokens[first + n].text == tokens[first + 1].text
        and tokens[first + n + 1].text.isdecimal()
        and glued(tokens[first + n - 1], tokens[first + n])
        and glued(tokens[first + n], tokens[first + n + 1])
    ):
        n += 2
    return n


_BOUNDS = frozenset("under below over above least most".split())
"""Words before a number of four digits that ends a query ("tvs under 2000"); "above 2002 levels" is of the year."""


def _closes(tokens: Sequence[Token], k: int) -> bool:
    if k + 1 < len(tokens) and tokens[k].low == "and" and _is_like_year(tokens[k + 1].text):
        return False  # "spread over 2011 and 2012"
    return k >= len(tokens) or tokens[k].low in ("with", "and", "but")


def is_year(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a bare number is a calendar year: 1900-2100, or 1500-2200 after a word that announces years."""
    token = tokens[number.first]
    if number.last != number.first + 1 or len(token.text) != 4 or not token.text.isdecimal():
        return False
    before = tokens[number.first - 1] if number.first else None
    year = int(token.text)
    if before is not None and (before.low == "than" or (before.low in _BOUNDS and _closes(tokens, number.last))):
        return False
    if any(_joins_sides(tokens, k) for k in (number.first - 1, number.last)):
        return False
    if 2100 < year <= 2200:
        return before is not None and before.low in _FUTURE_CUES
    if not 1500 <= year <= 2100:
        return False
    return before is None or year >= 1900 or announces_year(before)


def announces_year(token: Token) -> bool:
    """Whether the number behind a token is a year whatever follows: "since 2010"."""
    return token.low in YEAR_CUES or token.text in MONTHS or token.text in ",("


def _joins_sides(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is the x of a size, "1920 x 1080", "2000 × 1500 mm"; "3 x 2010" are three of a year."""
    if not 0 < k < len(tokens) - 1 or tokens[k].low not in ("x", "×"):
        return False
    return all(len(side.text) > 2 and side.text[0].isdecimal() for side in (tokens[k - 1], tokens[k + 1]))


def _day(tokens: Sequence[Token], number: Number) -> int | None:
    """ "Aug. 14", "June 5-8", "2 December", "2 and 3 December": the day of a month."""
    first, last = number.first, number.last
    if not _may_be_day(tokens, first):
        return None
    before = tokens[first - 1] if first else None
    if before is not None and before.text == "." and first > 1 and tokens[first - 2].end == before.start:
        before = tokens[first - 2]
    if before is not None and (is_month(before) or _is_typed_month(tokens, number)):
        return _last_day(tokens, last)
    if last < len(tokens) and is_month(tokens[last]):
        return last + 1
    if last + 2 < len(tokens) and tokens[last].low in SPANS and _may_be_day(tokens, last + 1):
        if is_month(tokens[last + 2]) and tokens[last + 2].text != "May":
            return last + 3
    return None


def _is_typed_month(tokens: Sequence[Token], number: Number) -> bool:
    """Whether "march" or "may" in small letters is the month before a day: "on may 5", "march 4, 2020"."""
    k = number.first - 1
    if tokens[k].text not in ("march", "may"):
        return False
    year = [t.text for t in tokens[number.last : number.last + 2]]
    dated = year[:1] == [","] and len(year) > 1 and _is_like_year(year[1])
    return dated or (k > 0 and tokens[k - 1].low in _DATING)


_DATING = frozenset("on by since until till before after from through ended ending dated".split())
"""Words before "march" and "may" that make months of them."""


def _day_in_words(tokens: Sequence[Token], number: Number) -> int | None:
    """ "on May one", "Record April Three", "the May one deadline": nothing follows that the number could count."""
    first, last = number.first, number.last
    if not first or not is_month(tokens[first - 1]) or not 1 <= number.value <= 31:
        return None
    if first > 1 and tokens[first - 2].low in ("the", "a", "this"):
        return last
    after = tokens[last] if last < len(tokens) else None
    counts = after is not None and after.text.islower() and after.low not in FUNCTION_WORDS | VERBS
    return None if counts or (after is not None and after.text in "-%") else last


def _last_day(tokens: Sequence[Token], last: int) -> int:
    """Past the second day of "June 5-8" or "June 5 to 8", where no word follows that the number could count."""
    if last + 1 >= len(tokens) or tokens[last].low not in SPANS or not _may_be_day(tokens, last + 1):
        return last
    after = tokens[last + 2] if last + 2 < len(tokens) else None
    counts = after is not None and after.text.islower() and after.low not in FUNCTION_WORDS | VERBS | _RELATIVE
    percent = after is not None and after.text in "%°"
    sure = tokens[last].text in _DAYS_APART or (after is not None and after.low == "period")
    sure = sure or (tokens[last].low == "through" and last > 2 and tokens[last - 3].low in ("the", "from", "between"))
    return last if percent or (counts and not sure) else last + 2


_DAYS_APART = ("-", "–", "—", "/")
"""What stands between two days, whatever follows: "the March 11-20 sales"."""


_RELATIVE = frozenset("last this next each every inclusive".split())
"""What may follow a date, and is counted by no number: "September 23 and 30 last year"."""


def _may_be_day(tokens: Sequence[Token], i: int) -> bool:
    text = tokens[i].text
    return text.isdecimal() and len(text) <= 2 and 1 <= int(text) <= 31


def _is_short_year(tokens: Sequence[Token], first: int) -> bool:
    year, end = tokens[first].text, tokens[first + 2].text
    return len(year) == 4 and 1900 <= int(year) <= 2100 and len(end) == 2


def _is_bracketed(tokens: Sequence[Token], first: int) -> bool:
    """ "Ada Lund (1566 – 1624)": two numbers and a dash in the brackets behind a name."""
    if first < 2 or first + 3 >= len(tokens) or not tokens[first - 2].text.istitle():
        return False
    around = tokens[first - 1].text, tokens[first + 3].text
    return around == ("(", ")") and tokens[first + 1].text in "-–" and tokens[first + 2].text.isdecimal()


def _is_lifetime(tokens: Sequence[Token], first: int) -> bool:
    """ "1703-1791", "(1736–1737)": two years, where nothing that they could count follows."""
    start, end = tokens[first].text, tokens[first + 2].text
    if tokens[first + 1].text not in "-–" or len(start) != 4 or len(end) != 4:
        return False
    after = tokens[first + 3] if first + 3 < len(tokens) else None
    counts = after is not None and (after.text in "%$€£°" or (after.kind == "word" and after.text.islower()))
    if counts and after is not None and after.low in FUNCTION_WORDS | VERBS:
        counts = False
    return 1000 <= int(start) < int(end) <= 2100 and int(end) - int(start) <= _LONGEST_LIFE and not counts


_LONGEST_LIFE = 120


def is_earlier(tokens: Sequence[Token], number: Number, k: int) -> bool:
    """Whether token k and the singular before it only say when: "157,000 week ago", "5.6 mln year earlier"."""
    after = tokens[k].low if k < len(tokens) else ""
    if not k or tokens[k - 1].low not in _PERIODS:
        return False
    return (after == "ago" and number.value > 1) or (after == "earlier" and number.value > 1)


_PERIODS = frozenset("year month week quarter day season decade".split())


def _era(tokens: Sequence[Token], number: Number) -> int | None:
    """ "1260 BC", "300 B.C.", "A.D. 1000", "AD 70"."""
    first, last = number.first, number.last
    if last + 2 < len(tokens) and tokens[last].low in SPANS and tokens[last + 2].text in _ERAS:
        return last + 3 if tokens[last + 1].text.isdecimal() else None  # "276-194 BC"
    if last < len(tokens) and tokens[last].text in _ERAS:
        after = tokens[last + 1] if last + 1 < len(tokens) else None
        named = after is not None and after.text.islower() and after.low.endswith("s")
        return None if named and after is not None and after.low not in FUNCTION_WORDS | VERBS else last + 1
    if last < len(tokens) and tokens[last].text == "B":
        return last + 4 if "".join(t.text for t in tokens[last : last + 4]) == "B.C." else None
    if first and tokens[first - 1].text == "AD":
        return last
    if first > 2 and tokens[first - 1].text == "." and tokens[first - 2].text == "D":
        return last if "".join(t.text for t in tokens[max(0, first - 4) : first]) == "A.D." else None
    return None


def _short_year(tokens: Sequence[Token], number: Number) -> int | None:
    """ "the class of '99": an apostrophe that opens two digits."""
    first = number.first
    if not first or tokens[first - 1].text not in ("'", "’", "‘") or len(tokens[first].text) != 2:
        return None
    opens = glued(tokens[first - 1], tokens[first]) and (first < 2 or not glued(tokens[first - 2], tokens[first - 1]))
    closes = number.last < len(tokens) and tokens[number.last].text in ("'", "’")
    return number.last if opens and not closes else None


def _month_and_day(tokens: Sequence[Token], number: Number) -> int | None:
    """ "on 12/31": month and day, where a word announces a date; and the names 9/11 and 24/7."""
    first = number.first
    if chain_of_numbers(tokens, first, "/") != 3:
        return None
    pair = (tokens[first].text, tokens[first + 2].text)
    if pair in (("9", "11"), ("24", "7"), ("20", "20"), ("50", "50")):
        return first + 3
    announced = first > 0 and tokens[first - 1].low in ("on", "dated")
    short = all(len(part) <= 2 for part in pair)
    return first + 3 if announced and short and int(pair[0]) <= 12 and int(pair[1]) <= 31 else None


def names_a_year(tokens: Sequence[Token], first: int) -> bool:
    """Whether a bare number before a noun is the year of it, not the count: "its 2018 sales", "above 2002 levels".

    A number from 1900 to 2035 without separators (to 2100 after a month) is one, unless what follows is usually
    counted ("2012 patients") or a word before it counts or acts ("about 2012 boats", "sold 2019 cars"); a round one
    (1900, 1950, 2000) only after a name or a possessive.
    """
    text = tokens[first].text
    if len(text) != 4 or not text.isdecimal() or not 1900 <= int(text) <= 2100:
        return False
    before = tokens[first - 1] if first else None
    if before is not None and first > 1 and before.text in MONTHS:
        return True  # "the May 2028 notes"
    if int(text) > _LAST_YEAR:
        return False
    owned = before is not None and (before.text.endswith(("'s", "’s", "s'", "s’")) or before.low in _OWNERS)
    if owned or first + 1 >= len(tokens):
        return True
    if before is not None and before.low in ("and", "or", ",") and first > 1 and _is_like_year(tokens[first - 2].text):
        return True  # "2023 and 2024 plans"
    if first + 2 < len(tokens) and tokens[first + 1].low in _PARTS_OF_YEARS and tokens[first + 2].low in _YEAR_PARTS:
        return True  # "it sees 1987 first quarter results"
    cue = before
    if before is not None and before.low == "of" and first > 1:
        cue = tokens[first - 2]  # "a total of 2012 boats"
    if first + 3 < len(tokens) and tokens[first + 2].low == "of":
        k = first + 3
        while k + 1 < len(tokens) and k < first + 6 and tokens[k].low in _BEFORE_SUMS:
            k += 1
        if tokens[k].text in "$€£" or tokens[k].kind == "number":
            return True  # "it had 2019 sales of some $5 million"
    if tokens[first + 1].low in _YEARLY and not (before is not None and before.low in _BEFORE_SUMS):
        return True
    if tokens[first + 1].low in _COUNTED or (cue is not None and (cue.low in _COUNTING or cue.low in VERBS)):
        return False
    named = before is not None and before.kind == "word" and before.text[:1].isupper() and first > 1
    return int(text) % 50 != 0 or (named and before is not None and before.low not in FUNCTION_WORDS)


_LAST_YEAR = 2035
_BEFORE_SUMS = frozenset("about around some nearly almost roughly approximately over under more less than".split())
_PARTS_OF_YEARS = frozenset("first second third fourth final last full".split())
_YEAR_PARTS = frozenset("quarter half year".split())


def _is_like_year(text: str) -> bool:
    return len(text) == 4 and text.isdecimal() and 1900 <= int(text) <= 2035


_YEARLY = frozenset("model models vintage vintages edition editions".split())
"""Nouns of things that are made anew each year: "all 1987 models"."""
_OWNERS = frozenset("its his her their our my your whose fiscal calendar".split())
_COUNTING = frozenset(
    "about nearly almost around approximately roughly some than least most total average sample maximum minimum number "
    "all only exactly another every up these those".split()
)
_COUNTED = frozenset(
    "patients participants people persons employees workers subjects women men children students respondents adults "
    "individuals households deaths jobs seats votes meters metres feet miles yards pounds acres pages residents homes "
    "soldiers troops voters".split()
)
