"""Which words after an amount name what there is so much of: "16 gb ram", but "25 days salary 35k"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from qbench.quantities.english.ages import PEOPLE
from qbench.quantities.english.lexicon import FUNCTION_WORDS
from qbench.quantities.english.query_attributes import (
    CAPACITIES,
    DIMENSIONS,
    LEADING,
    PARTS,
    SCALES,
    families,
    has_family,
)
from qbench.quantities.english.query_conditions import ReadCondition
from qbench.quantities.english.tokens import Token
from qbench.quantities.units import Unit, Units

SUBSTANCES = frozenset(("mass", "ratio", "volume", "energy", "data", "image", "length", "mass concentration"))
"""Families of units after which the thing measured is named: "5% alcohol", "16 GB RAM", "54 cm frame"."""
SELDOM = frozenset(("length", "image", "mass concentration", "volume"))
"""Those after which the name of the next amount is as likely: "crp above 10 mg/l children under 5"."""
SUBSTANCE_WORDS, _MOST_WORDS = 2, 4
_SEVERAL = 2
_NO_NAMES = FUNCTION_WORDS | DIMENSIONS


@dataclass(frozen=True, slots=True)
class _Amount:
    """A condition among those of its query.

    Attributes:
        condition: the condition.
        unit: its unit.
        stop: the token at which the next condition starts, or the number of tokens.
        next: the next condition.
        behind: all words from here to `stop`, where they may name something; or ().
    """

    condition: ReadCondition
    unit: Unit
    stop: int
    next: Self | None
    behind: Sequence[Token]

    @property
    def family(self) -> str:
        """Of its unit; "" for a bare number."""
        return self.unit.family.removesuffix(" per time")  # "50g carbs per day" is of carbs, as 50g are

    @property
    def is_money(self) -> bool:
        """Whether it is a sum of money, or one for each of something."""
        return self.family.startswith("currency")


def with_names(tokens: Sequence[Token], conditions: Sequence[ReadCondition], units: Units) -> list[ReadCondition]:
    """With what follows each amount as the words of its concept: "beer under 5% alcohol", "10 g protein, 5 g sugar"."""
    amounts = _amounts(tokens, conditions, units)
    names: list[Sequence[Token]]
    if _all_behind(amounts):
        names = [each.behind for each in amounts]
    elif _all_before(tokens, amounts):
        names = [() for _ in amounts]
    else:
        names = [_substance(tokens, each) for each in amounts]
    return [
        replace(each, concept_spans=tuple((t.start, t.end) for t in name))
        for each, name in zip(conditions, names, strict=True)
    ]


def _amounts(tokens: Sequence[Token], conditions: Sequence[ReadCondition], units: Units) -> list[_Amount]:
    amounts: list[_Amount] = []
    after: _Amount | None = None
    for each in reversed(conditions):
        stop = len(tokens) if after is None else after.condition.first
        words = _words(tokens, each.last, stop)
        after = _Amount(each, units.get(each.unit), stop, after, words if len(words) == stop - each.last else ())
        amounts.append(after)
    return amounts[::-1]


def _words(tokens: Sequence[Token], k: int, stop: int) -> list[Token]:
    """The words from token k that may name something, a few at most."""
    found: list[Token] = []
    for token in tokens[k:stop]:
        if len(found) == _MOST_WORDS or token.kind != "word" or token.low in _NO_NAMES:
            break
        found.append(token)
    return found


def _has(word: str, family: str) -> bool:
    """Whether a word is known to have amounts of a family."""
    return has_family(families(word) or frozenset(), family)


def _all_behind(amounts: Sequence[_Amount]) -> bool:
    """Whether each of several amounts is followed by its name, to the end: "bearing 25 mm bore 52 mm od"."""
    if len(amounts) < _SEVERAL or not amounts[0].condition.first or not all(each.behind for each in amounts):
        return False
    if not all(each.condition.plain and each.family not in ("", "count") and not each.is_money for each in amounts):
        return False
    last = amounts[-1]
    told = _has(last.behind[-1].low, last.family)  # "18 g dose 36 g yield"
    return told or not any(each.behind[-1].low in LEADING for each in amounts[:-1])


def _all_before(tokens: Sequence[Token], amounts: Sequence[_Amount]) -> bool:
    """Whether each of several amounts follows its name, to the end: "yield over 5% gearing below 40%"."""
    if len(amounts) < _SEVERAL or not all(each.behind for each in amounts[:-1]):
        return False
    first, last = amounts[0].condition, amounts[-1]
    if last.condition.last < len(tokens) or not first.first or tokens[first.first - 1].kind != "word":
        return False
    if len(amounts) == _SEVERAL and last.family not in ("", "ratio"):
        return False
    if last.family == "count" or last.is_money or (not last.family and last.condition.comparator[0] == "<"):
        return False
    return not any(_has(t.low, each.family) for each in amounts[:-1] for t in each.behind)


def _substance(tokens: Sequence[Token], amount: _Amount) -> Sequence[Token]:
    """The words right after an amount that name what there is so much of, "of" left out."""
    condition, after, family = amount.condition, amount.next, amount.family
    k, stop = condition.last, amount.stop
    if condition.unit == "count" and k < stop and tokens[k].kind == "word" and tokens[k].low not in FUNCTION_WORDS:
        nexts = k + 1 == stop and after is not None and after.condition.plain  # "microscope 1000x objective 100x"
        return () if nexts else tokens[k : k + 1]  # "10x zoom"
    of = k < stop and (tokens[k].low == "of" or _is_in(tokens, k, family))  # "10 nm in diameter"
    found = _words(tokens, k + of, stop)
    reached = after if k + of + len(found) == stop and not of else None
    if reached is not None and condition.first and _is_next(tokens, amount, reached):
        return ()
    lead = families(tokens[condition.first - 1].low) if condition.first else None
    led = lead is not None and has_family(lead, family)
    following = None if reached is None else reached.family
    if led and not condition.plain and following in ("", "ratio") and not family:
        return ()  # "resp rate over 25 sats 88%"
    free = not lead or (condition.first > 2 and tokens[condition.first - 3].kind == "number")  # "16gb ram 512 ssd"
    if not family and condition.plain and found and free and (has := families(found[0].low)):
        family = _implied(has, following)  # "card with 0 apr", "jeans 32 waist", "512 ssd"
    own = _own(found, family, following, opens=not condition.first, led=led)
    return _follows(amount, reached, found[:SUBSTANCE_WORDS], of=of, led=led) if own is None else own


def _implied(has: frozenset[str], following: str | None) -> str:
    """The family of a bare number before what has amounts of units alone, unless the next amount is its own."""
    own = "" not in has and (following is None or not has_family(has, following))
    return "ratio" if "ratio" in has else min(has) if own else ""


def _is_in(tokens: Sequence[Token], k: int, family: str) -> bool:
    """Whether "in diameter" and the like stands at token k, of what an amount of that family has."""
    return tokens[k].low == "in" and k + 1 < len(tokens) and _has(tokens[k + 1].low, family)


def _own(found: Sequence[Token], family: str, following: str | None, *, opens: bool, led: bool) -> list[Token] | None:
    """The words that go with an amount by the family of its unit; None where no word goes with it or with the next.

    Args:
        found: the words after the amount.
        family: of the amount's unit.
        following: the family of the next amount's unit; None where the words don't reach it.
        opens: whether the amount opens the query.
        led: whether the word before the amount names it: "ram 16 gb ssd 512 gb".
    """
    last, decided = -1, False
    for n, token in enumerate(found):
        has = families(token.low)
        if has is None:
            continue
        here, there = has_family(has, family), following is not None and has_family(has, following)
        leads = token.low in LEADING or (token.low in SCALES and not following)
        if there and (not here or led or (leads and not opens)):
            decided = True
            break
        if here:
            last, decided = n, True
    return list(found[: last + 1]) if decided else None


def _follows(amount: _Amount, after: _Amount | None, found: list[Token], *, of: bool, led: bool) -> list[Token]:
    """The words after an amount that nothing is known of: those of a substance, unless they name the next amount."""
    condition, family = amount.condition, amount.family
    if not found or not family:
        return []
    if after is None:
        return found if of or family in SUBSTANCES else []
    if _needs_no_name(amount, found[-1], after):
        return found
    has = families(found[0].low)
    if not after.condition.plain and not of and has is not None and not has_family(has, family):
        return []  # "128gb battery health above 85%"
    if not (of or family in SUBSTANCES):
        return []
    if condition.first:
        if (after.condition.plain and (led or not condition.plain)) or _names(found[-1], family, after):
            return []  # "10% or more semaglutide 2.4 mg", "over 80 kg enoxaparin 40 mg"
    return found


def _needs_no_name(amount: _Amount, word: Token, after: _Amount) -> bool:
    """Whether what stands between two amounts can only name the first: the second is a price or counts something."""
    if not amount.condition.plain or amount.family in ("count", "time", "age") or amount.is_money:
        return False
    if after.family == "count" or after.is_money:
        return True
    return not after.family and after.condition.comparator in ("<", "<=") and families(word.low) is None


def _is_next(tokens: Sequence[Token], amount: _Amount, after: _Amount) -> bool:
    """Whether words between two amounts name the second, which is bounded and has no other name.

    "omega 3 1000 mg epa at least 500 mg", "fertiliser 20 kg nitrogen at least 27%".
    """
    condition, last = amount.condition, after.condition.last
    alone = last >= len(tokens) or tokens[last].kind != "word" or tokens[last].low in FUNCTION_WORDS
    named = condition.plain or tokens[condition.first - 1].kind == "word"
    share = after.family == "ratio" and amount.family == "mass"
    return not after.condition.plain and alone and named and (amount.unit.base_unit == after.unit.base_unit or share)


def _names(word: Token, family: str, after: _Amount) -> bool:
    """Whether a word between two conditions names the second: "ter below 0.15% fund size > 500m", "300 g price 5"."""
    if word.low in PEOPLE and (not after.condition.plain or after.unit.name.endswith(" of age")):
        return True  # "calcium 1200 mg daily women over 50"
    if not after.family and word.low in CAPACITIES:
        return True  # "slow cooker 6.5 l serves 8"
    if after.is_money:
        return False
    has = families(word.low)
    other = has is not None and not has_family(has, after.family)  # "servo 20 kg torque 180 degrees"
    return (word.low in LEADING and not other) or (family in SELDOM and word.low not in PARTS)
