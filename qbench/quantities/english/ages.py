"""Bare numbers that are ages, by the words around: "aged 26", "Marta Ruiz, 65,", "60 or older", "those over 40"."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.dates import is_month
from qbench.quantities.english.lexicon import FUNCTION_WORDS, VERBS
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import HYPHENS, Token, glued

OLDEST = 120
_BRIDGE = frozenset(
    "of is was under over above below than less more greater older younger between and from to least at :".split()
)
"""Words between "age" and its number."""
_PEOPLE = frozenset(
    "people persons adults children kids men women boys girls patients those anyone everyone someone anybody everybody "
    "individuals voters residents workers seniors citizens americans males females students employees participants "
    "subjects players drivers drinkers smokers singles".split()
)
"""Whom a bare number after "over" or before "and over" gives the age of."""
_BEFORE_COHORTS = frozenset("the for among of all many most".split())
_SIDES = frozenset("over under above below aged".split())
_WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday however first second".split())


def is_age(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a number without a unit is an age."""
    if number.scaled or not 0 <= number.value < OLDEST:
        return False
    return _asked_for(tokens, number.first) or _compared(tokens, number) or _after_name(tokens, number)


def of_cohort(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a number and the "s" glued to it name people by their age: "the under-5s", "over 65s"."""
    first, last = number.first, number.last
    if number.scaled or number.written or not 0 < number.value < OLDEST or last >= len(tokens):
        return False
    if tokens[last].text not in ("s", "'s", "’s") or not glued(tokens[last - 1], tokens[last]):
        return False
    k = first - 1
    joined = k > 0 and tokens[k].text in HYPHENS and glued(tokens[k], tokens[first])
    k -= joined
    if k < 0 or tokens[k].low not in ("under", "over"):
        return False
    return joined or (k > 0 and tokens[k - 1].low in _BEFORE_COHORTS)  # "in under 10s" is less than ten seconds


def _asked_for(tokens: Sequence[Token], first: int) -> bool:
    """ "aged 26", "an age of 26", "an age less than 26"."""
    words = [t.low for t in tokens[max(0, first - 4) : first]]
    while words and words[-1] in _BRIDGE:
        words.pop()
    return bool(words) and words[-1] in ("age", "aged", "ages")


def _compared(tokens: Sequence[Token], number: Number) -> bool:
    """ "60 or older", "65 and younger", "adults 65 and over", "people over 40 who"."""
    first, last = number.first, number.last
    before = tokens[first - 1].low if first else ""
    words = [t.low for t in tokens[last : last + 2]]
    if len(words) == 2 and words[0] in ("or", "and"):
        if words[1] in ("older", "younger"):
            return last + 2 >= len(tokens) or tokens[last + 2].low != "than"
        if words[1] in ("over", "under", "above", "up", "below") and before in _PEOPLE:
            return True
    if before not in _SIDES or first < 2 or tokens[first - 2].low not in _PEOPLE:
        return False
    # "people over 40 who", not "employees under 40 contracts"
    after = tokens[last] if last < len(tokens) else None
    return after is None or after.kind == "mark" or after.low in FUNCTION_WORDS or after.low in VERBS


def _after_name(tokens: Sequence[Token], number: Number) -> bool:
    """A number between commas after a name: "Marta Ruiz, 65, now runs it"."""
    first, last = number.first, number.last
    if number.written or first < 2 or last + 1 >= len(tokens) or number.value < 1:
        return False
    name, following = tokens[first - 2], tokens[last + 1]
    if tokens[first - 1].text != "," or tokens[last].text not in ",." or not tokens[first].text.isdecimal():
        return False
    if name.kind != "word" or not name.text.istitle() or len(name.text) < 2 or is_month(name):
        return False
    if name.low in FUNCTION_WORDS or name.low in VERBS or name.low in _WEEKDAYS:
        return False
    return tokens[last].text == "," and following.kind == "word" and not is_month(following)
