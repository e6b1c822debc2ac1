"""Which words after an amount name what there is so much of: "16 gb ram", but "25 days salary 35k"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
from qbench.quantities.types import Span
from qbench.quantities.units import Units

SUBSTANCES = frozenset(("mass", "ratio", "volume", "energy", "data", "image", "length", "mass concentration"))
"""Families of units after which the thing measured is named: "5% alcohol", "16 GB RAM", "54 cm frame"."""
SUBSTANCE_WORDS, _MOST_WORDS = 2, 4
_SEVERAL = 2
SELDOM = frozenset(("length", "image", "mass concentration", "volume"))
"""Those after which the name of the next amount is as likely: "crp above 10 mg/l children under 5"."""


def with_names(tokens: Sequence[Token], conditions: Sequence[ReadCondition], units: Units) -> list[ReadCondition]:
    """With what follows each amount as the words of its concept: "beer under 5% alcohol", "10 g protein, 5 g sugar"."""
    following = [*conditions[1:], None][: len(conditions)]
    behind = [_run(tokens, each, after) for each, after in zip(conditions, following, strict=True)]
    if _all_behind(conditions, behind, units):
        return [
            replace(each, concept_spans=tuple((t.start, t.end) for t in run))
            for each, run in zip(conditions, behind, strict=True)
        ]
    if _all_before(tokens, conditions, behind, units):
        return [replace(each, concept_spans=()) for each in conditions]
    return [
        replace(each, concept_spans=tuple(_substance(tokens, each, after, units)))
        for each, after in zip(conditions, following, strict=True)
    ]


def _run(tokens: Sequence[Token], condition: ReadCondition, after: ReadCondition | None) -> list[Token]:
    """All that stands between an amount and the next, or the end, where it is words that may name something; or []."""
    run = list(tokens[condition.last : len(tokens) if after is None else after.first])
    named = all(t.kind == "word" and t.low not in FUNCTION_WORDS | DIMENSIONS for t in run)
    return run if named and len(run) <= _MOST_WORDS else []


def _all_behind(conditions: Sequence[ReadCondition], behind: Sequence[Sequence[Token]], units: Units) -> bool:
    """Whether each of several amounts is followed by its name, to the end: "bearing 25 mm bore 52 mm od"."""
    if len(conditions) < _SEVERAL or not conditions[0].first or not all(behind):
        return False
    kinds = [units.get(each.unit).family for each in conditions]
    plain = all(each.plain and kind not in ("", "count") for each, kind in zip(conditions, kinds, strict=True))
    told = has_family(families(behind[-1][-1].low) or frozenset(), kinds[-1])  # "18 g dose 36 g yield"
    names_next = not told and any(run[-1].low in LEADING and run is not behind[-1] for run in behind)
    return plain and not names_next and not any(kind.startswith("currency") for kind in kinds)


def _all_before(
    tokens: Sequence[Token],
    conditions: Sequence[ReadCondition],
    behind: Sequence[Sequence[Token]],
    units: Units,
) -> bool:
    """Whether each of several amounts follows its name, to the end: "yield over 5% gearing below 40%"."""
    if len(conditions) < _SEVERAL or conditions[-1].last < len(tokens) or not all(behind[:-1]):
        return False
    if not conditions[0].first or tokens[conditions[0].first - 1].kind != "word":
        return False
    kinds = [units.get(each.unit).family for each in conditions]
    if kinds[-1] not in ("", "ratio") and len(conditions) == _SEVERAL:
        return False
    if (
        kinds[-1] == "count"
        or kinds[-1].startswith("currency")
        or (not kinds[-1] and conditions[-1].comparator[0] == "<")
    ):
        return False
    own = [
        has_family(families(t.low) or frozenset(), kind)
        for run, kind in zip(behind[:-1], kinds, strict=False)
        for t in run
    ]
    return not any(own)


def _substance(
    tokens: Sequence[Token], condition: ReadCondition, after: ReadCondition | None, units: Units
) -> list[Span]:
    """The words right after an amount that name what there is so much of, "of" left out.

    Args:
        tokens: of the query.
        condition: of the amount.
        after: the next condition, whose own name may stand there.
        units: the known units.
    """
    k, stop, found = condition.last, len(tokens) if after is None else after.first, list[Token]()
    family = units.get(condition.unit).family
    if condition.unit == "count" and k < stop and tokens[k].kind == "word" and tokens[k].low not in FUNCTION_WORDS:
        if k + 1 == stop and after is not None and after.plain:
            return []  # "microscope 1000x objective 100x"
        return [(tokens[k].start, tokens[k].end)]  # "10x zoom"
    of = k < stop and (tokens[k].low == "of" or _is_in(tokens, k, family))  # "10 nm in diameter"
    k += of
    while k < stop and len(found) < _MOST_WORDS and tokens[k].kind == "word":
        if tokens[k].low in FUNCTION_WORDS or tokens[k].low in DIMENSIONS:
            break
        found.append(tokens[k])
        k += 1
    reached = after if k == stop and not of else None
    if reached is not None and condition.first and _is_next(tokens, condition, reached, units):
        return []
    lead = families(tokens[condition.first - 1].low) if condition.first else None
    led = lead is not None and has_family(lead, family)
    following = None if reached is None else units.get(reached.unit).family
    if led and not condition.plain and following in ("", "ratio") and not family:
        return []  # "resp rate over 25 sats 88%"
    free = not lead or (condition.first > 2 and tokens[condition.first - 3].kind == "number")  # "16gb ram 512 ssd"
    if not family and condition.plain and found and free and (has := families(found[0].low)):
        family = _implied(has, following)  # "card with 0 apr", "jeans 32 waist", "512 ssd"
    own = _own(found, family, following, opens=not condition.first, led=led)
    if own is None:
        own = _follows(condition, reached, found[:SUBSTANCE_WORDS], of=of, led=led, units=units)
    return [(t.start, t.end) for t in own]


def _implied(has: frozenset[str], following: str | None) -> str:
    """The family of a bare number before what has amounts of units alone, unless the next amount is its own."""
    own = "" not in has and (following is None or not has_family(has, following))
    return "ratio" if "ratio" in has else min(has) if own else ""


def _is_in(tokens: Sequence[Token], k: int, family: str) -> bool:
    """Whether "in diameter" and the like stands at token k, of what an amount of that family has."""
    return (
        tokens[k].low == "in" and k + 1 < len(tokens) and has_family(families(tokens[k + 1].low) or frozenset(), family)
    )


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


def _follows(
    condition: ReadCondition,
    after: ReadCondition | None,
    found: list[Token],
    *,
    of: bool,
    led: bool,
    units: Units,
) -> list[Token]:
    """The words after an amount that nothing is known of: those of a substance, unless they name the next amount."""
    family = units.get(condition.unit).family
    if not found or not condition.unit:
        return []
    if after is not None and _needs_no_name(condition, found[-1], after, units):
        return found
    has = families(found[0].low)
    if after is not None and not after.plain and not of and has is not None and not has_family(has, family):
        return []  # "128gb battery health above 85%"
    if not (of or family in SUBSTANCES):
        return []
    if after is not None and condition.first:
        if (after.plain and (led or not condition.plain)) or _names(found[-1], family, after, units):
            return []  # "10% or more semaglutide 2.4 mg", "over 80 kg enoxaparin 40 mg"
    return found


def _needs_no_name(condition: ReadCondition, word: Token, after: ReadCondition, units: Units) -> bool:
    """Whether what stands between two amounts can only name the first: the second is a price or counts something."""
    here, there = units.get(condition.unit).family, units.get(after.unit).family
    if not condition.plain or here in ("", "count", "time", "age") or here.startswith("currency"):
        return False
    if there == "count" or there.startswith("currency"):
        return True
    return not there and after.comparator in ("<", "<=") and families(word.low) is None


def _is_next(tokens: Sequence[Token], condition: ReadCondition, after: ReadCondition, units: Units) -> bool:
    """Whether words between two amounts name the second, which is bounded and has no other name.

    "omega 3 1000 mg epa at least 500 mg", "fertiliser 20 kg nitrogen at least 27%".
    """
    bounded = not after.plain
    alone = after.last >= len(tokens) or tokens[after.last].kind != "word" or tokens[after.last].low in FUNCTION_WORDS
    here, there = units.get(condition.unit), units.get(after.unit)
    named = condition.plain or tokens[condition.first - 1].kind == "word"
    share = there.family == "ratio" and here.family == "mass"
    return bounded and alone and named and (here.base_unit == there.base_unit or share)


def _names(word: Token, family: str, after: ReadCondition, units: Units) -> bool:
    """Whether a word between two conditions names the second: "ter below 0.15% fund size > 500m", "300 g price 5"."""
    if word.low in PEOPLE and (not after.plain or after.unit.endswith(" of age")):
        return True  # "calcium 1200 mg daily women over 50"
    if not after.unit and word.low in CAPACITIES:
        return True  # "slow cooker 6.5 l serves 8"
    if units.get(after.unit).family.startswith("currency"):
        return False
    has = families(word.low)
    other = has is not None and not has_family(has, units.get(after.unit).family)  # "servo 20 kg torque 180 degrees"
    return (word.low in LEADING and not other) or (family in SELDOM and word.low not in PARTS)
