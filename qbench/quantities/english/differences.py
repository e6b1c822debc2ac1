"""Amounts that say by how much two things differ: "£50 cheaper than", "5.6 % below year-ago levels", "20 % lighter"."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.comparator_phrases import CHEAPER, DEARER
from qbench.quantities.english.lexicon import FUNCTION_WORDS, VERBS
from qbench.quantities.english.tokens import Token
from qbench.quantities.types import Change

_UP: Change = "up"
_DOWN: Change = "down"
_MORE = frozenset(
    "more greater higher larger bigger longer older taller heavier faster wider deeper thicker richer stronger "
    "brighter "
    "louder warmer hotter dearer costlier pricier better quicker denser stiffer firmer".split()
)
_LESS = frozenset(
    "less fewer lower smaller shorter younger lighter slower cheaper narrower thinner weaker quieter softer "
    "cooler colder "
    "poorer worse".split()
)
_SOONER = frozenset("faster quicker sooner".split())
_LATER = frozenset("slower later".split())
"""What is slower by two minutes takes more time, and what is faster takes less."""
_OF = frozenset(
    "the its their his her our your my a an last previous normal average that those these expectations forecasts "
    "forecast estimates consensus market budget plan target levels par record list face year-ago year".split()
)
"""What begins a level that something is above or below by an amount."""
_PERCENT = frozenset({"ratio", "ratio difference"})
_STEPS = frozenset("point tick pip".split())
_GENERAL = frozenset("normal average".split())


def difference(tokens: Sequence[Token], amount: Amount) -> Change:
    """Which way two things differ by an amount, by the words after it; "" where they do not say."""
    k = amount.last
    if k >= len(tokens) or amount.unit.family in ("date", "age"):
        return ""
    if tokens[k].low == "of" and k + 2 < len(tokens) and amount.unit.family.startswith("currency"):
        # "offset by $5 million of lower debt payments"
        return {"higher": _UP, "increased": _UP, "lower": _DOWN, "reduced": _DOWN}.get(tokens[k + 1].low, "")
    return _below_level(tokens, amount, k) or _compared(tokens, amount, k)


def _compared(tokens: Sequence[Token], amount: Amount, k: int) -> Change:
    """ "two minutes faster than", "36 % more expensive", "38 % more passengers", "20 % lighter"."""
    word = tokens[k].low
    change = _UP if word in _MORE else _DOWN if word in _LESS else ""
    if amount.unit.family == "time" and word in _SOONER | _LATER:
        change = _DOWN if word in _SOONER else _UP
    if not change:
        return ""
    after = tokens[k + 1] if k + 1 < len(tokens) else None
    if after is not None and after.low in ("than", "then"):
        return "" if _bounds_next(tokens, k + 2) else change
    if after is not None and word in ("more", "less") and after.low in DEARER + CHEAPER:
        dearer = (word == "more") == (after.low in DEARER)
        return _UP if dearer else _DOWN
    part = amount.bare and amount.number.rule == "fraction in words"  # "a quarter smaller"
    if amount.unit.family not in _PERCENT and not part and not _is_multiple(tokens, amount):
        return ""
    names = after is not None and after.kind == "word" and after.low not in FUNCTION_WORDS | VERBS
    return change if names or word not in ("more", "less") or after is None or after.kind == "mark" else ""


def _bounds_next(tokens: Sequence[Token], k: int) -> bool:
    """Whether "less than" before token k bounds an amount there: "a drill with 18 V, less than 80 euros"."""
    if k >= len(tokens) or (tokens[k].kind != "number" and tokens[k].text not in "$€£¥"):
        return False
    return not any(t.low in _DATING for t in tokens[k : k + 4])


_BOUND = 15
"""Tokens between "up to" and the "above that" which goes on from there, at most."""
_STOPS = frozenset(".,;:)!?")
_DATING = frozenset("ago earlier before previously year years month months week weeks day days hour hours".split())
"""What makes a time of the level that follows "than": "5 kg less than 3 weeks ago"."""


def _is_multiple(tokens: Sequence[Token], amount: Amount) -> bool:
    return amount.unit.name == "count" and tokens[amount.last - 1].low in ("times", "fold", "x", "-fold")


def _below_level(tokens: Sequence[Token], amount: Amount, k: int) -> Change:
    """ "5.6 % below year-ago levels", "30 basis points above the previous tender", "2 degrees above normal"."""
    word = tokens[k].low
    change = {"above": _UP, "below": _DOWN, "under": _DOWN}.get(word, "")
    if not change or k + 1 >= len(tokens):
        return ""
    following = tokens[k + 1]
    if following.low in _GENERAL:
        return change
    family = amount.unit.family
    moves = family in _PERCENT or family.startswith("currency") or amount.unit.name in _STEPS
    if not (moves or amount.bare) or (word == "under" and family not in _PERCENT):
        return ""
    named = k + 2 < len(tokens) and tokens[k + 2].low in ("'s", "’s")
    if following.low == "that" and (k + 2 == len(tokens) or tokens[k + 2].text in _STOPS):
        bounded = any(tokens[j].low == "up" and tokens[j + 1].low == "to" for j in range(max(0, k - _BOUND), k))
        return "" if bounded else change  # "2% up to $10,000, and 1.5% above that"
    dated = following.kind == "number" and len(following.text) == 4 and following.text.isdecimal()
    return change if following.low in _OF or named or (dated and family in _PERCENT) else ""
