"""Numbers of the page and not of its text: points of lists, citations, footnotes, page numbers, numbered headings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from qbench.quantities.english.dates import chain_of_numbers, is_month
from qbench.quantities.english.inflection import singular
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import Token, glued

_NEAR = 12
"""How many tokens a citation looks at on either side, at most."""


def is_encoded(text: str) -> bool:
    """Whether a text is a line of a file in letters (uuencode), as filings hold them: all capitals and odd marks."""
    return text.upper() == text and len(_ENCODED.intersection(text)) >= _ODD_MARKS


_ENCODED = frozenset("!\"#'*+;<=>?@[\\]^_`")
_ODD_MARKS = 4


def mark_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number marks a point, a note, a page or a heading; None if it may be a quantity."""
    for rule in _RULES:
        if (end := rule(tokens, number)) is not None:
            return end
    return None


def _citation(tokens: Sequence[Token], number: Number) -> int | None:
    """ "[12]", "[3, 4-6]", "(26,29)": nothing but numbers in brackets, and a word before them."""
    first, last = number.first, number.last
    if last >= len(tokens) or tokens[last].text not in ",-–]":
        return None
    k, stop = first - 1, max(0, first - _NEAR)
    while k >= stop and (tokens[k].kind == "number" or tokens[k].text in ",-–"):
        k -= 1
    if k < stop or tokens[k].text not in "[(" or not tokens[first].text.isdecimal():
        return None
    close = "]" if tokens[k].text == "[" else ")"
    j, end = last, min(len(tokens), last + _NEAR)
    while j < end and (tokens[j].kind == "number" or tokens[j].text in ",-–"):
        j += 1
    cites = k > 0 and (tokens[k - 1].kind == "word" or tokens[k - 1].text in '.,;)”"]')
    if j >= end or tokens[j].text != close or not cites or k + 1 != first:
        return None
    # In round brackets only a list without spaces cites: "(26,29)".
    inside = tokens[first:j]
    packed = all(glued(a, b) for a, b in pairwise(inside)) and any(t.text == "," for t in inside)
    return j if close == "]" or packed else None


def _list_mark(tokens: Sequence[Token], number: Number) -> int | None:
    """ "1. Open the box", "2) ...", "; (3) ...": a number that counts the points of a list."""
    first, last = number.first, number.last
    if number.written or number.value > 30 or not tokens[first].text.isdecimal() or last >= len(tokens):
        return None
    if number.rule == "ratio" or counts_arm(tokens, number):
        return None
    closes = tokens[last].text == ")" and glued(tokens[last - 1], tokens[last])
    if first and tokens[first - 1].text == "(":
        opens = first < 2 or tokens[first - 2].text in ".:;" or tokens[first - 2].low in ("and", "or")
        opens = opens or (first > 1 and glued(tokens[first - 2], tokens[first - 1]) and tokens[first - 2].text != "$")
        return last + 1 if closes and (opens or _has_sibling(tokens, first)) else None
    if closes and _is_point(tokens, first):
        return last + 1
    if first and last + 1 == len(tokens) and tokens[first - 1].text in ":;." and tokens[last].text == ".":
        return last + 1  # "safety first; 2.": the next point of the list is cut off
    if first and tokens[first - 1].text not in ".:;" and not (closes and _goes_on(tokens, first)):
        return None
    if last + 1 >= len(tokens) or tokens[last + 1].kind != "word" or glued(tokens[last], tokens[last + 1]):
        return None
    point = tokens[last].text == "." and not first and tokens[last + 1].text[:1].isupper()
    return last + 1 if closes or point else None


def _bare_point(tokens: Sequence[Token], number: Number) -> int | None:
    """ "Pests: 2 Vine weevil. 3 Slugs": a point of a list without its mark, and another beside it; "^ 2 Hamilton"."""
    first, last = number.first, number.last
    if number.written or number.scaled or last + 1 >= len(tokens):
        return None
    if _is_doubled(tokens, first):
        return last
    if not _opens_point(tokens, first):
        return None
    value = int(tokens[first].text)
    if (first and tokens[first - 1].text == "^") or (value == 1 and _is_plural(tokens[last])):
        return last  # "1 Exons are parts of"
    near = range(max(0, first - _FAR), min(len(tokens), first + _FAR))
    beside = [k for k in near if k != first and tokens[k].text == str(value + (1 if k > first else -1))]
    points = [k for k in beside if _opens_point(tokens, k)]
    if not points or any(_measures(tokens, k) for k in near):
        return None
    begun = any(tokens[k].text == "1" and _opens_point(tokens, k) for k in near if k < first)
    if value == 1 or begun or _counts_from_one(tokens, first, value):
        return last
    return None if all(_may_count(tokens, k) for k in (first, *points)) else last


def _counts_from_one(tokens: Sequence[Token], first: int, value: int) -> bool:
    """Whether points 1, 2, 3 and so on, however long each is, lead to the point at token `first`."""
    k = first
    while value > 1:
        value -= 1
        wanted, stop = str(value), max(0, k - _LONGEST_POINT)
        k = next((j for j in range(k - 1, stop - 1, -1) if tokens[j].text == wanted and _opens_point(tokens, j)), -1)
        if k < 0:
            return False
    return True


_LONGEST_POINT = 400
"""Tokens of one point of a list at most."""


def _may_count(tokens: Sequence[Token], k: int) -> bool:
    """Whether the number at token k may count what follows: "12 Democrats", "3 Police officers", not "2 Vine"."""
    return any(_is_plural(t) or t.low in _UNCOUNTED for t in tokens[k + 1 : k + 3])


def _is_plural(token: Token) -> bool:
    return token.low.endswith("s") and singular(token.low) != token.low


_UNCOUNTED = frozenset("people men women children gold silver bronze british french dutch irish".split())
"""What is counted without the s of a plural."""


def _measures(tokens: Sequence[Token], k: int) -> bool:
    """Whether a capitalised measure stands behind a number: "1 Egg. 2 Cups of flour." are what a dish needs."""
    return k > 0 and tokens[k - 1].kind == "number" and tokens[k].text.istitle() and tokens[k].low in _MEASURED


_MEASURED = frozenset(
    "cup cups tablespoon tablespoons tbsp teaspoon teaspoons tsp ounce ounces oz pound pounds lb lbs gram grams kg "
    "litre litres liter liters ml pint pints quart quarts gallon gallons clove cloves slice slices can cans pinch "
    "stick sticks package packages day days hour hours minute minutes week weeks "
    "month months year years mile miles".split()
)
"""Measures with which a list says how much of each thing, and does not count its points."""


def _is_doubled(tokens: Sequence[Token], k: int) -> bool:
    """Whether the number at token k is one of the two of "1 1: the act of mowing", as dictionaries count senses."""
    before, after = (tokens[j].text if 0 <= j < len(tokens) else "" for j in (k - 1, k + 1))
    colon = k + 1 + (after == tokens[k].text)
    if tokens[k].text not in (before, after) or colon + 1 >= len(tokens):
        return False
    return tokens[colon].text == ":" and tokens[colon + 1].kind != "number"  # "2 2:1 games"


def _opens_point(tokens: Sequence[Token], k: int) -> bool:
    """Whether the number at token k stands between the end of a sentence and a capitalised word."""
    opens = not k or tokens[k - 1].text in ".:^?!"
    if not opens or not tokens[k].text.isdecimal() or len(tokens[k].text) > 2 or k + 1 >= len(tokens):
        return False
    word = tokens[k + 1]
    return (
        word.text.istitle()
        and (len(word.text) > 1 or word.text == "A")
        and not glued(tokens[k], word)
        and not is_month(word)
    )


def counts_arm(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a number in brackets says how many are in a group: "the exercise group (19)", not "group (1)"."""
    first = number.first
    return first > 1 and tokens[first - 1].text == "(" and tokens[first - 2].low in _ARMS and number.value >= _MANY


_ARMS = frozenset("group groups arm arms cohort".split())
_MANY = 10


def _is_point(tokens: Sequence[Token], first: int) -> bool:
    """Whether "1)" is at token `first` and a "2)" comes, or the reverse, with no bracket opened: "1) rye; 2) oats"."""
    if _is_inside(tokens, first):
        return False
    value = int(tokens[first].text)
    for k in range(max(0, first - _FAR), min(len(tokens) - 1, first + _FAR)):
        after = k > first
        if tokens[k].text == str(value + (1 if after else -1)) and tokens[k + 1].text == ")" and k != first:
            if glued(tokens[k], tokens[k + 1]) and value + after > 1 and not _is_inside(tokens, k):
                return True
    return False


def _is_inside(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k stands in brackets that open before it in the sentence."""
    for j in range(k - 1, max(0, k - _NEAR) - 1, -1):
        if tokens[j].text in "()[]":
            return tokens[j].text in "(["
    return False


def _goes_on(tokens: Sequence[Token], first: int) -> bool:
    """Whether the point before token `first` may follow another: after a comma or "and", in no bracket of its own."""
    if tokens[first - 1].text != "," and tokens[first - 1].low not in ("and", "or"):
        return False
    depth = 0
    for k in range(first - 1, max(0, first - _FAR) - 1, -1):
        marks_point = k > 1 and tokens[k - 1].kind == "number" and tokens[k - 2].text not in "(["
        if tokens[k].text == ")" and not ((marks_point and tokens[k - 2].text in ".,:;") or tokens[k - 2].low in _ANDS):
            depth += 1
        elif tokens[k].text == "(":
            depth -= 1
            if depth < 0:
                return False
    return True


_ANDS = frozenset({"and", "or"})


def _has_sibling(tokens: Sequence[Token], first: int) -> bool:
    """Whether a "(2)" comes soon after the "(1)" before token `first`, or the reverse: "due to (1) rain, (2) wind"."""
    value = int(tokens[first].text)
    near = range(max(1, first - _FAR), min(len(tokens) - 1, first + _FAR))
    for step in (-1, 1):
        wanted = str(value + step)
        for k in near:
            if tokens[k].text == wanted and (k > first) == (step > 0):
                if tokens[k - 1].text == "(" and tokens[k + 1].text == ")":
                    return value + step > 0
    return False


_FAR = 60
"""Tokens to the next point of a list at most."""


def _footnote(tokens: Sequence[Token], number: Number) -> int | None:
    """ "the end of the year.2 It rose": the number of a note or a page, glued to the end of a sentence."""
    first, last = number.first, number.last
    if first < 2 or number.written or number.scaled or not glued(tokens[first - 1], tokens[first]):
        return None
    mark, word = tokens[first - 1], tokens[first - 2]
    if mark.text not in ".:" or not glued(word, mark) or len(tokens[first].text.split(".")[0]) > 3:
        return None
    if mark.text == ":" and len(word.text) == _YEAR and word.text[:2] in ("19", "20") and word.text.isdecimal():
        return last if last < len(tokens) and tokens[last].text[:1].isupper() else None  # "during 2024:1 Value of"
    sure = word.text in ")”" or (word.kind == "word" and len(word.text) > 3 and word.low != "approx")
    sure = sure or (last < len(tokens) and tokens[last].text.istitle() and glued(tokens[last - 1], tokens[last]))
    if not sure or (mark.text == ":" and not word.text.islower() and word.kind == "word"):
        return None
    if last >= len(tokens):
        return last if mark.text == "." else None
    after = tokens[last]
    told = word.low == "follows" and len(tokens[first].text) == 1  # "were as follows:1 Costs of"
    title = after.kind == "word" and after.text[:1].isupper() and (mark.text == "." or told or after.low in _OPENING)
    return last if title or after.text in ".•" else None


_YEAR = 4
"""Digits of a calendar year."""


def _quoted(tokens: Sequence[Token], number: Number) -> int | None:
    """The 2 of `2“Closing Date” means`: a number glued to the term that a page defines."""
    last = number.last
    if number.first or number.written or last >= len(tokens) or tokens[last].text != "“":
        return None
    return last if glued(tokens[last - 1], tokens[last]) else None


def _page(tokens: Sequence[Token], number: Number) -> int | None:
    """ "in cash. 26 ACME 2023 FORM 10-K": the number of a page at its foot, before the running title; "p. 88"."""
    first, last = number.first, number.last
    priced = first > 2 and tokens[first - 3].kind == "number" and len(tokens[first - 3].text) < _YEAR
    priced = priced and not (
        first > 3 and tokens[first - 4].text.istitle()
    )  # "it costs 40 p. 50 people", not "Table 2"
    if first > 1 and tokens[first - 2].text in ("p", "pp", "pg") and tokens[first - 1].text == "." and not priced:
        whole = tokens[first].text.isdecimal() and number.value > 1
        more = chain_of_numbers(tokens, first, "-–") > 1 or [t.low for t in tokens[last : last + 1]] == ["of"]
        return last + 2 * more if whole else None  # "pp. 88-91", "p. 3 of 10"
    if number.written or not tokens[first].text.isdecimal() or len(tokens[first].text) > 3 or last >= len(tokens):
        return None
    if is_between_dashes(tokens, first, last):
        return last
    if first and tokens[first - 1].text not in ".;:":
        return None
    if tokens[last].text == "•" and first:
        return last
    if first and tokens[first - 1].text in ".:;" and tokens[last].text.istitle() and tokens[last].low in _OPENING:
        return None if glued(tokens[last - 1], tokens[last]) else last  # "was sold. 2 In 2023, costs rose"
    ahead = [t.text for t in tokens[last : last + _RUNNING_TITLE]]
    if ahead[0].isupper() and len(ahead[0]) > 2 and not _TITLES.isdisjoint(ahead):
        return last
    company = ahead[0].istitle() and not _COMPANIES.isdisjoint(ahead[1:4]) and "," in ahead[1:3]
    return last if company or ahead[:3] == ["Table", "of", "Contents"] else None


def is_between_dashes(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether a number stands alone between dashes: "within 60 days - 77 - of receipt", where a page ended."""
    if (
        first < 2
        or last >= len(tokens)
        or tokens[first - 1].text not in _DASHES
        or tokens[last].text != tokens[first - 1].text
    ):
        return False
    apart = not (glued(tokens[first - 1], tokens[first]) or glued(tokens[last - 1], tokens[last]))
    return apart and tokens[first - 2].kind != "number" and not glued(tokens[first - 2], tokens[first - 1])


_DASHES = frozenset("-–—")
_RUNNING_TITLE = 9
"""Words of a running title that are looked at."""
_TITLES = frozenset("FORM ITEM PART ANNUAL QUARTERLY REPORT TABLE CONSOLIDATED NOTES STATEMENTS".split())
_COMPANIES = frozenset("Inc Corp Ltd plc PLC LLC Corporation".split())


def _heading(tokens: Sequence[Token], number: Number) -> int | None:
    """ "2 Includes the fee", "17 Impairment of goodwill": the number of a note or a heading that opens the text."""
    first, last = number.first, number.last
    figures = tokens[first].text.split(".")
    if number.written or not all(f.isdecimal() and len(f) <= 2 for f in figures) or last + 1 >= len(tokens):
        return None
    noted = first == 2 and tokens[1].text == ":" and tokens[0].low in ("note", "notes")
    if not first and tokens[-1 - (tokens[-1].text == ")")].low == "continued":
        return last  # "2 Segments of the group continued"
    if len(figures) > 1:
        return None
    if (first and not noted) or not tokens[last].text.istitle() or glued(tokens[last - 1], tokens[last]):
        return None
    if tokens[last].low in _OPENING:
        return last
    titled = tokens[-1].kind == "word" and tokens[last + 1].low in ("and", "of", "to", "on", "in")
    return last if titled and tokens[last].low[-3:] not in ("ans", "ish", "ese") else None


_OPENING = frozenset(
    "the a an this these those in as at for on of all see if includes including include represents represent excludes "
    "excluding relates refers reflects based calculated restated comprises consists amounts data".split()
)
"""Words with which a note opens."""

_RULES = (_citation, _list_mark, _bare_point, _footnote, _quoted, _page, _heading)
