"""Numbers of the page and not of its text: points of lists, citations, footnotes, page numbers, numbered headings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import Token, glued

_NEAR = 12
"""How many tokens a citation looks at on either side, at most."""


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
    closes = tokens[last].text == ")" and glued(tokens[last - 1], tokens[last])
    if first and tokens[first - 1].text == "(":
        opens = first < 2 or tokens[first - 2].text in ".:;" or tokens[first - 2].low in ("and", "or")
        opens = opens or (first > 1 and glued(tokens[first - 2], tokens[first - 1]) and tokens[first - 2].text != "$")
        return last + 1 if closes and (opens or _has_sibling(tokens, first)) else None
    if first and tokens[first - 1].text not in ".:;":
        return None
    if last + 1 >= len(tokens) or tokens[last + 1].kind != "word" or glued(tokens[last], tokens[last + 1]):
        return None
    point = tokens[last].text == "." and not first and tokens[last + 1].text[:1].isupper()
    return last + 1 if closes or point else None


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


_RULES = (_citation, _list_mark)
