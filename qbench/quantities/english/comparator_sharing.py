"""Bounds said once for several amounts: "about $5 million and $6 million", "about 60% wheat, 25% rye and 15% oats"."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.lexicon import CLAUSES, VERBS
from qbench.quantities.english.tokens import Token, glued

NEAR_ENOUGH = 0.12
"""Two amounts restate each other ("60 miles (100 km)") if they differ by at most this share."""


def is_listed(tokens: Sequence[Token], a: Amount, b: Amount, first: int) -> bool:
    """Whether what bounds a, from token `first` on, bounds b too: "about $5 million and $6 million"."""
    if a.is_range or b.is_range or a.unit.base_unit != b.unit.base_unit or tokens[first].low == "within":
        return False
    if a.p_value and not b.p_value and tokens[a.last].low != "or":
        return False
    between = [t.low for t in tokens[a.last : b.first]]
    if between == [","] and b.last < len(tokens) and tokens[b.last].low in _DIFFERING:
        return False  # "about 5 million, 1 million above its limit"
    if between == ["/"]:  # "<130/80", "<5/10 mg"; "over 8.3/10" says what a rating is out of
        joined = glued(tokens[a.last - 1], tokens[a.last]) and glued(tokens[a.last], tokens[b.first])
        return joined and (b.low < a.low or a.unit.family not in ("", "count"))
    listed = between in _LISTING or (
        tokens[first].low in _GOVERNING and (_governs(between) or (a.unit.family == "ratio" and _is_share(between)))
    )
    listed = listed or (_governs(between) and b.last < len(tokens) and tokens[b.last].low == between[0] in _WHEN)
    return listed and a.unit.family not in ("date", "age")


def of_other_year(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether b is what a was in another year: "more than 37% (2018: 29%)", "(2017/18: 29%)", "(30 June 2018: 29%)"."""
    if a.unit.base_unit != b.unit.base_unit or a.is_range or b.is_range or a.p_value:
        return False
    gap = tokens[a.last : b.first]
    if not _SHORTEST_MARK <= len(gap) <= _LONGEST_MARK or gap[0].text not in "([" or gap[-1].text != ":":
        return False
    return any(len(t.text) == 4 and t.text.isdecimal() and t.text[:2] in ("19", "20") for t in gap)


def of_other_group(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether b is what a is somewhere else: "the maximum was 4 in group I and 2 in group II"."""
    if a.unit.base_unit != b.unit.base_unit or a.is_range or b.is_range or b.p_value:
        return False
    between = [t.low for t in tokens[a.last : b.first]]
    return between in (["and"], [",", "and"]) or _governs(between)


_SHORTEST_MARK, _LONGEST_MARK = 3, 6
"""Tokens of "(2018:", and of "(30 June 2018:" with something more."""


def _governs(between: Sequence[str]) -> bool:
    """Whether "approximately" goes on to the next amount: "in cash and", "for 2018 and"."""
    if not 3 <= len(between) <= _LONGEST_COMPLEMENT or between[0] not in _COMPLEMENTS:
        return False
    if between[-1] not in ("and", ","):
        return False
    inner = between[1:-2] if between[-2] in (",", ")") and between[-1] == "and" else between[1:-1]
    return all((word[:1].isalnum() or word in "-/&") and word not in VERBS and word not in CLAUSES for word in inner)


def _is_share(between: Sequence[str]) -> bool:
    """Whether only what a percentage is of stands between it and the next: "about 60% wheat, 25% for rye (dry) and"."""
    words, depth = [], 0
    for word in between:
        depth += word == "("
        if not depth:
            words.append(word)
        depth -= word == ")"
    if not 2 <= len(words) <= _LONGEST_COMPLEMENT or words[-1] not in ("and", ","):
        return False
    inner = words[:-1]
    return all(w[:1].isalpha() or w in "-/&," for w in inner) and VERBS.isdisjoint(inner) and _ELSE.isdisjoint(inner)


_ELSE = CLAUSES - {"and"} | {"than", "to", "from", "by", "with"}
_GOVERNING = frozenset("approximately about roughly around approx".split())
_COMPLEMENTS = frozenset("in for at of during from to by".split())
_WHEN = frozenset("in by at during".split())
"""Words of times and places that part two amounts under one bound: "above 97 % by day 4 and 92 % by day 8"."""
_LONGEST_COMPLEMENT = 8
_DIFFERING = frozenset("above below more less fewer higher lower over under up down".split())
_LISTING = (["x"], ["×"], ["and"], ["or"], [","], [",", "and"], [",", "or"])


def spans_ages(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether a and b are the ends of one span of ages in two units: "aged four weeks to five months"."""
    if a.unit.family != b.unit.family or a.unit.family not in ("time", "age") or a.is_range or b.is_range:
        return False
    between = [t.low for t in tokens[a.last : b.first]]
    lead = tokens[a.first - 1].low if a.first else ""
    return between in (["to"], ["-"], ["–"]) and lead in ("aged", "age", "ages") and a.unit.name != b.unit.name


def restates(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether b restates a or is an alternative to it: "(60 miles)", "or 62 miles", "five or six"."""
    between = "".join(t.low for t in tokens[a.last : b.first]) if b.first - a.last <= 2 else "far"
    if a.is_range or b.is_range or between not in ("(", "or", ",or", "/", "[", "-", "–", ""):
        return False
    if a.unit.name == b.unit.name:
        return False  # "about five or six": `is_listed`
    if a.unit.family.startswith("currency") and b.unit.family.startswith("currency"):
        return between in ("(", "[", "or", ",or", "")  # "EUR 250m USD 332m" has lost its brackets
    if not between or not a.unit.base_unit or a.unit.base_unit != b.unit.base_unit:
        return False
    x, y = (u.low * u.unit.factor + u.unit.offset for u in (a, b))
    return abs(x - y) <= NEAR_ENOUGH * max(abs(x), abs(y))
