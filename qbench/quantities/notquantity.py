"""Numbers that are no quantities: versions, labels, ordinals, codes, names, list marks; dates are in `dates`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from qbench.quantities.dates import chain_of_numbers, clock_until, date_until
from qbench.quantities.lexicon import CAPITAL_LABELS, FUNCTION_WORDS, INDEX_NAMES, LABELS, VERBS
from qbench.quantities.numbers import Number
from qbench.quantities.tokens import Token, glued
from qbench.quantities.written import ORDINALS

ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
GLUED_PREFIXES = frozenset(
    "sub minus plus to and or non under over about nearly almost than least most some approximately".split()
)
"""Words that may be joined to a number by a hyphen without making a name of it."""
_NEAR = 12
"""How many tokens a rule looks at on either side, at most."""


def excluded_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number is part of something that is no quantity; None if it may be one."""
    if number.first and tokens[number.first - 1].low == "per":
        return number.last  # "fat per 100 g": the denominator of something else
    for rule in _RULES:
        if (end := rule(tokens, number)) is not None:
            return end
    return None


def _version(tokens: Sequence[Token], number: Number) -> int | None:
    """1.2.3, and whatever a dot joins to digits or letters on the left."""
    first, last = number.first, number.last
    if first >= 2 and tokens[first - 1].text == "." and glued(tokens[first - 1], tokens[first]):
        if tokens[first - 2].kind == "number" and glued(tokens[first - 2], tokens[first - 1]):
            return last
    n = 0
    while (
        last + n + 1 < len(tokens)
        and tokens[last + n].text == "."
        and tokens[last + n + 1].kind == "number"
        and glued(tokens[last + n - 1], tokens[last + n])
        and glued(tokens[last + n], tokens[last + n + 1])
    ):
        n += 2
    return last + n if n else None


def _p_value(tokens: Sequence[Token], number: Number) -> int | None:
    """ "p = 0.03", "P<.001": a property of a test, no quantity of the world."""
    k, stop = number.first - 1, max(0, number.first - _NEAR)
    while k >= stop and tokens[k].text in "=<>≤≥≦≧":
        k -= 1
    is_p = stop <= k < number.first - 1 and tokens[k].low == "p" and number.value <= 1
    return number.last if is_p else None


def _ordinal(tokens: Sequence[Token], number: Number) -> int | None:
    """ "twenty-first", "the two hundredth": words that end as ordinals."""
    last = number.last
    if not number.written or last >= len(tokens):
        return None
    hyphen = tokens[last].text == "-" and last + 1 < len(tokens) and glued(tokens[last - 1], tokens[last])
    if tokens[last + hyphen].low not in ORDINALS:
        return None
    ordinal = hyphen or number.value >= 20 or tokens[last].low in ("hundredth", "thousandth", "millionth")
    return last + hyphen + 1 if ordinal else None


def _joined_to_word(tokens: Sequence[Token], number: Number) -> int | None:
    """ "G20", "COVID-19", "F-16", "1st", "1990s", "10-K", "401(k)": letters and digits that are one name."""
    first, last = number.first, number.last
    if number.written:
        return None
    if first and glued(tokens[first - 1], tokens[first]):
        before = tokens[first - 1]
        if before.kind == "word" or before.text in ")]}":
            return _end_of_code(tokens, last)
        if before.text in "-‑/#@_" and first > 1 and tokens[first - 2].kind == "word":
            joined = glued(tokens[first - 2], before)
            if joined and tokens[first - 2].low not in GLUED_PREFIXES:
                return _end_of_code(tokens, last)
            if not joined and before.text != "/" and tokens[first - 2].text in _SPLIT_NAMES:
                return last
        if before.text in "#@_":
            return _end_of_code(tokens, last)
    return _followed_by_letters(tokens, number)


_SPLIT_NAMES = frozenset("COVID Covid SARS CoV covid".split())
"""Names that some texts part from their number: "COVID -19"."""


def _followed_by_letters(tokens: Sequence[Token], number: Number) -> int | None:
    last = number.last
    if last >= len(tokens) or not glued(tokens[last - 1], tokens[last]):
        return None
    after, beyond = tokens[last], tokens[last + 1] if last + 1 < len(tokens) else None
    if after.text in ("a", "b", "c", "d", "e") and len(tokens[last - 1].text) == 4 and 1900 <= number.value <= 2100:
        return last + 1  # "Li, 2006a"
    if after.low in ORDINAL_ENDINGS or (after.text in ("s", "’s", "'s") and number.value >= 10):
        return last + 1
    if after.text in ("'", "’") and beyond is not None and beyond.text == "s":
        return last + 2
    if beyond is None or not glued(after, beyond):
        return None
    if after.text in "-‑" and beyond.kind == "word" and len(beyond.text) <= 2 and beyond.text.isupper():
        return last + 2
    if after.text in "-‑" and beyond.text == "Eleven":
        return last + 2
    closes = last + 2 < len(tokens) and tokens[last + 2].text == ")"
    return last + 3 if after.text == "(" and len(beyond.text) == 1 and beyond.kind == "word" and closes else None


def _end_of_code(tokens: Sequence[Token], j: int) -> int:
    """Past what is glued to a code by marks of its own: the rest of a path, a serial number, "G20-led"."""
    while j + 1 < len(tokens) and tokens[j].text in "-‑/_#.:" and glued(tokens[j - 1], tokens[j]):
        if not glued(tokens[j], tokens[j + 1]) or tokens[j + 1].kind == "mark":
            break
        j += 2
        while j < len(tokens) and tokens[j].kind != "mark" and glued(tokens[j - 1], tokens[j]):
            j += 1
    return j


def _label(tokens: Sequence[Token], number: Number) -> int | None:
    first = number.first
    if not first or number.written or (number.scaled and len(tokens[number.last - 1].text) > 1):
        return None
    k = first - 1
    if tokens[k].text == "." and k and glued(tokens[k - 1], tokens[k]):
        k -= 1
    if tokens[k].text == "(" and k:
        k -= 1
    word = tokens[k]
    # "no more than 5" has words between; "no 5" and "No. 5" are labels, "a total of no 5" does not occur.
    if word.kind != "word":
        return None
    if word.low not in LABELS and word.text not in CAPITAL_LABELS:
        return None
    return _end_of_labels(tokens, number.last) if word.low.endswith("s") or word.low == "pp" else number.last


def _end_of_labels(tokens: Sequence[Token], j: int) -> int:
    """Past the further numbers of "Figs. 2, 3 and 5": whole ones, up to one that something may be counted by."""
    while True:
        k = j
        while k < len(tokens) and k < j + 2 and tokens[k].low in (",", "and", "or", "to", "-", "–", "&"):
            k += 1
        if k == j or k >= len(tokens) or not tokens[k].text.isdecimal() or len(tokens[k].text) > 3:
            return j
        after = tokens[k + 1] if k + 1 < len(tokens) else None
        counts = after is not None and after.kind == "word" and after.low not in FUNCTION_WORDS | VERBS
        if counts or (after is not None and after.text in "%°$€£"):
            return j
        j = k + 1


def _phone(tokens: Sequence[Token], number: Number) -> int | None:
    """ "(212) 555-0123", "call 555-0123"."""
    first = number.first
    if chain_of_numbers(tokens, first, "-–.") != 3:
        return None
    if len(tokens[first].text) != 3 or len(tokens[first + 2].text) != 4:
        return None
    words = [t.low for t in tokens[max(0, first - 4) : first]]
    code = words[-3:-2] == ["("] and words[-1] == ")"
    return first + 3 if code or {"call", "dial", "telephone", "hotline", "mobile"} & set(words) else None


def _area_code(tokens: Sequence[Token], number: Number) -> int | None:
    """The 212 of "(212) 555-0123"."""
    first, last = number.first, number.last
    if not first or tokens[first - 1].text != "(" or len(tokens[first].text) != 3 or last + 3 >= len(tokens):
        return None
    if tokens[last].text != ")" or chain_of_numbers(tokens, last + 1, "-–.") != 3:
        return None
    return last + 4 if len(tokens[last + 3].text) == 4 else None


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
    closes = tokens[last].text == ")" and glued(tokens[last - 1], tokens[last])
    if first and tokens[first - 1].text == "(":
        opens = first < 2 or tokens[first - 2].text in ".:;" or tokens[first - 2].low in ("and", "or")
        return last + 1 if closes and opens else None
    if first and tokens[first - 1].text not in ".:;":
        return None
    if last + 1 >= len(tokens) or tokens[last + 1].kind != "word" or glued(tokens[last], tokens[last + 1]):
        return None
    point = tokens[last].text == "." and not first and tokens[last + 1].text[:1].isupper()
    return last + 1 if closes or point else None


def _coordinate(tokens: Sequence[Token], number: Number) -> int | None:
    """ "51.5° N", "40°42′N": a place."""
    j, end = number.last, min(len(tokens), number.last + 7)
    if j >= end or tokens[j].text not in "°º":
        return None
    while j < end and (tokens[j].kind == "number" or tokens[j].text in "°º′″'’\""):
        j += 1
    return j + 1 if j < end and tokens[j].text in ("N", "S", "E", "W") else None


def _index(tokens: Sequence[Token], number: Number) -> int | None:
    """ "the S&P 500", "Nasdaq 100": indices and lists with the number of their members in the name."""
    first = number.first
    if not first or number.scaled or number.written or not tokens[first].text.isdecimal():
        return None
    before = tokens[first - 1].text
    poors = before == "P" and first > 2 and (tokens[first - 3].text, tokens[first - 2].text) == ("S", "&")
    return number.last if poors or before in INDEX_NAMES else None


def _named_in_words(tokens: Sequence[Token], number: Number) -> int | None:
    """ "the Kick Six", "the Big Ten": a capitalised numeral after a capitalised word, where not all words are."""
    first = number.first
    if not (number.written and first and number.last == first + 1 and tokens[first].text.istitle()):
        return None
    before = tokens[first - 1]
    if before.kind != "word" or not before.text.istitle() or before.low in FUNCTION_WORDS or len(before.text) < 3:
        return None
    return None if _all_capitalised(tokens, first) else number.last


def _product_name(tokens: Sequence[Token], number: Number) -> int | None:
    """A short whole number after a capitalised word, with nothing after it to count: "iPhone 11 Pro", "Boeing 747"."""
    first, last = number.first, number.last
    text = tokens[first].text
    if not first or number.written or number.scaled or not text.isdecimal() or len(text) > 4:
        return None
    before = tokens[first - 1]
    if before.kind != "word" or before.text.endswith(("'s", "’s")) or (before.text.isupper() and len(before.text) <= 3):
        return None
    inner_capital = any(c.isupper() for c in before.text[1:]) and not before.text.isupper()
    starts = first > 1 and tokens[first - 2].text not in ".!?" and before.low not in FUNCTION_WORDS | VERBS
    if not inner_capital and not (before.text[:1].isupper() and starts):
        return None
    if last < len(tokens) and not _ends_name(tokens, number, certain=inner_capital):
        return None
    return last


def _ends_name(tokens: Sequence[Token], number: Number, *, certain: bool) -> bool:
    """Whether what follows a capitalised word and a number leaves them a name: nothing there can be counted."""
    first, last = number.first, number.last
    after = tokens[last]
    if after.kind != "word":
        return after.text not in "%‰°″′$€£-–/" or (after.text == "-" and certain)
    if glued(tokens[last - 1], after):
        return False
    if after.text[:1].isupper():
        return certain or not _all_capitalised(tokens, first)
    return after.low in _AFTER_NAMES or after.low in VERBS


def _all_capitalised(tokens: Sequence[Token], i: int) -> bool:
    """Whether the words around token i are capitalised anyway, as in a headline."""
    near = [*tokens[max(0, i - 7) : max(0, i - 1)], *tokens[i + 2 : i + 8]]
    words = [t.text for t in near if t.kind == "word" and len(t.text) > 3]
    return len(words) >= 2 and not any(w[0].islower() for w in words)


_AFTER_NAMES = frozenset(
    (
        "is was are were has have had will would can could may with and or of in on at for from to by the a "
        "an as which that who when while but"
    ).split()
)

_RULES = (
    date_until, clock_until, _version, _p_value, _ordinal, _joined_to_word, _area_code, _phone, _label, _citation,
    _list_mark, _coordinate, _index, _named_in_words, _product_name,
)  # fmt: skip
