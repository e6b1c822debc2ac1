"""Units said once: "400 headsets, up from 300", "to 5.2 million barrels from 4.8 million", "64 points to 4,577".

A bare number takes the unit of the amount that it is compared with, where the words between the two say that the two
are compared, and nothing else does: a number with a unit or a noun of its own keeps that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.change_words import MOVES, TURNS
from qbench.quantities.english.intervals import in_interval
from qbench.quantities.english.tokens import Token

REACH = 14
"""Tokens between the two at most."""
ALIKE = 30.0
"""Two amounts that are compared are at most so many times as large as one another."""
_APPROXIMATE = frozenset("about around nearly almost roughly some just only approximately over under a".split())
_EARLIER = frozenset(
    "an the its original previous present current last year year's month month's quarter's earlier".split()
)
"""Words between "from" and the amount that it was: "from an original 60 million"."""
_PERIODS = frozenset("daily weekly monthly quarterly annual yearly long-term usual normal national".split())
"""Words before the average that something is compared with: "against a daily average of 1.6 million"."""
_COMPARED = (
    ("against",),
    ("vs",),
    ("vs", "."),
    ("versus",),
    ("compared", "with"),
    ("compared", "to"),
    ("and", "not"),
    (",", "not"),
)
_MOVED = frozenset("up down higher lower increase decrease drop decline rise fall improvement risen fallen".split())
"""Words before "from" that compare with an earlier amount, however far away that stands."""
_ENDS = frozenset(".;:!?")
_CLOSES = frozenset("end ending close closing finish settle stand trade ended closed".split())
_SIDES = (["vs"], ["vs", "."], ["versus"])
"""What stands between two numbers of which the second says the unit: "24 vs 23 hours"."""


_LISTED = (["and"], ["or"], [","])
"""What stands between the numbers of a list, of which the last says the unit."""

PAID = frozenset(
    "earn earns earned earning gross grosses grossed grossing net nets netted cost costs costing pay pays paid fetch "
    "fetches fetched".split()
)
"""Verbs whose bare number is money: it counts no noun that stands before it ("had 300 guests and earned 20,000")."""
MONEY = frozenset(
    "profit profits loss losses earnings income cost costs revenue revenues turnover budget price prices sales".split()
)
"""Nouns of money, of which a bare number counts and weighs nothing: "sold 5 million lamps at a profit of 6 million"."""
SUMS = frozenset(
    "loss profit gain charge facility loan credit deficit surplus debt contract order deal issue bond provision "
    "writedown write-down investment budget fund payment settlement fine penalty tax expense cost revenue".split()
)
"""What millions of money are, and do not count: "a 7.3 mln charge"."""


def share_elided(tokens: Sequence[Token], amounts: Sequence[Amount]) -> list[Amount]:
    """The amounts, bare ones with the unit of the amount that they are compared with."""
    shared: list[Amount] = []
    for amount in amounts:
        if not amount.bare:
            _lend_back(tokens, shared, amount)
            _lend_magnitude(tokens, shared, amount)
            amount = _in_millions(tokens, shared, amount)
        elif amount.is_range:
            amount = _interval(tokens, shared, amount)
        elif not (amount.number.written and amount.number.value == 1):
            _lend_magnitude(tokens, shared, amount)
            amount = _compared(tokens, shared, amount)
            amount = _parallel(tokens, shared, amount) if amount.bare else amount
        shared.append(amount)
    return [_spread(tokens, shared[max(0, k - 1) : k], amount) for k, amount in enumerate(shared)]


def _spread(tokens: Sequence[Token], before: Sequence[Amount], b: Amount) -> Amount:
    """A measure of spread with the unit of its estimate: "3.9 kg (SD 3.1)", "170 cm (range, 150-191)"."""
    a = before[-1] if before else None
    if a is None or not b.bare or a.bare or a.unit.family in ("date", "ratio"):
        return b
    if b.is_range and b.first == a.last + 1:
        return _interval(tokens, before, b)  # "5 (3-8) vs 7 (5-11) days": the 5 has its unit by now
    gap = [t.low for t in tokens[a.last : b.first]]
    if gap == ["("] and _is_earlier(tokens, a, b):
        return _with_unit(a, b)
    if gap[:1] not in (["("], ["["]) or not 1 < len(gap) <= _LONGEST_NAME or not _SPREADS.issuperset(gap[1:]):
        return b
    return replace(b, unit=a.unit, how=(*b.how, "elided unit"))


def _is_earlier(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether b, in brackets, is what a was in the period before: "EUR 0.31 (0.22)", "EUR 13.1 mn (11.2)"."""
    if a.unit.family != "currency" or a.is_range or b.is_range or b.last >= len(tokens) or tokens[b.last].text != ")":
        return False
    places = [tokens[x.number.first].text.rpartition(".")[2] for x in (a, b)]
    parted = all("." in tokens[x.number.first].text for x in (a, b))
    return parted and len(places[0]) == len(places[1]) and _alike(a.number.mantissa, b.low)


_SPREADS = frozenset("sd se sem iqr range standard deviation error interquartile = : , .".split())
_LONGEST_NAME = 5


def _interval(tokens: Sequence[Token], before: Sequence[Amount], b: Amount) -> Amount:
    """A confidence interval with the unit of its estimate: "4 kg (95% CI 2 to 6)", "4 kg (2 to 6)"."""
    a = before[-1] if before else None
    if a is None or a.bare or a.is_range or a.unit.family in ("date", "age") or not a.last < b.first <= a.last + REACH:
        return b
    gap = [t.low for t in tokens[a.last : b.first]]
    holds = b.low <= a.low <= b.high or b.low <= -a.low <= b.high
    if gap[0] not in ("(", "[", ",", ";") or not holds or not (gap in (["("], ["["]) or in_interval(tokens, b.first)):
        return b
    return replace(b, unit=a.unit, how=(*b.how, "elided unit"))


def _compared(tokens: Sequence[Token], before: Sequence[Amount], b: Amount) -> Amount:
    """The bare amount b with the unit of one of the two before it, or as it is."""
    for a in [a for a in before[-4:] if not a.year][:-3:-1]:
        if b.first - a.last > REACH:
            break
        gap = [t.low for t in tokens[a.last : b.first]]
        if a.bare and a.number.scaled and gap in _SIDES and "." in tokens[b.number.first].text:
            return _with_unit(a, b) if _alike(a.number.mantissa, b.low) else b  # "2.55 mln vs 1.9"
        if gap == ["to"] and a.unit.family == "count" and b.low < a.low:
            return replace(b, unit=a.unit, how=(*b.how, "elided unit"))  # "52 votes to 48"
        if a.bare and tuple(gap) in _COMPARED:
            break  # "15 days (n = 86 vs 86)"
        if a.bare or a.is_range or a.unit.family in ("date", "age"):
            continue
        if is_compared(tokens, a, b, gap):
            return _with_unit(a, b)
        if _is_level(tokens, a, gap) and a.low < b.low and not b.number.scaled:
            return replace(b, unit=a.unit, how=(*b.how, "elided unit"))
        if a.unit.family != "ratio":
            break  # what stands further back is not what b goes with
    return _as_first(tokens, before, b)


def _parallel(tokens: Sequence[Token], before: Sequence[Amount], b: Amount) -> Amount:
    """The bare amount b with the unit of the one before it, said alike: "79 years for men and 83 for women"."""
    a = before[-1] if before else None
    if a is None or not a.unit.name or a.is_range or a.unit.family in ("date", "age") or b.last >= len(tokens):
        return b
    gap = [t.low for t in tokens[a.last : b.first]]
    gap = gap[:-1] if gap[-1:] == ["by"] else gap  # "by 0.8 points with the drug and by 0.4 with placebo"
    if not gap:
        return b
    alike = gap[0] == tokens[b.last].low or {gap[0], tokens[b.last].low} <= _WHERE
    alike = alike and gap[0] in _OF_WHOM and gap[-1] in _ALSO
    alike = alike and tuple(t.low for t in tokens[b.last : b.last + 2]) not in _IDIOMS
    alike = alike and tokens[b.last + 1 : b.last + 2] != [] and tokens[b.last + 1].kind != "number"  # "3 in 10"
    if not alike or not 2 < len(gap) <= _LONGEST_PARALLEL or not _ENDS.isdisjoint(gap) or not _alike(a.low, b.low):
        return b
    return replace(b, unit=a.unit, how=(*b.how, "elided unit"))


_OF_WHOM = frozenset("for in among at on with during after".split())
_WHERE = frozenset({"in", "on", "at"})
_IDIOMS = frozenset({("in", "number"), ("in", "all"), ("in", "total"), ("in", "a"), ("at", "once")})
_ALSO = frozenset({"and", "but", "or", ",", "while"})
_LONGEST_PARALLEL = 8


def is_compared(tokens: Sequence[Token], a: Amount, b: Amount, gap: list[str]) -> bool:
    """Whether b is what a is compared with, by the words between."""
    if not _ENDS.isdisjoint(w for w in gap[:-1] if w != "vs"):
        return False
    k = len(gap)
    if gap[-2:] in (["average", "of"], ["mean", "of"], ["median", "of"]):
        k -= 2
        k -= k > 0 and gap[k - 1] in _PERIODS
    while k and (gap[k - 1] in _APPROXIMATE or gap[k - 1] in _EARLIER):
        k -= 1
    gap = gap[:k]
    if not gap or ((")" in gap or "]" in gap) and not ("(" in gap or "[" in gap)):
        return False
    if b.last < len(tokens) and tokens[b.last].low == "of" and a.unit.family == "ratio":
        return False  # "7% versus 42 of 86"
    alike = _alike(a.low, b.low) or _alike(a.number.mantissa, b.low)
    if any(tuple(gap[-len(link) :]) == link for link in _COMPARED):
        return alike
    if gap[-1] == "to" and a.first and tokens[a.first - 1].low == "from":
        return alike and len(gap) <= 5 and gap[0] in ("in", "on", "a", "last")  # "from 20 tonnes in 2008 to 29"
    if gap[-1] != "from" or not alike:
        return False
    # "rose 5% from 12": the size of a change and a level; "rose to 5% from 4%": two levels.
    level = any(t.low in ("to", "at") for t in tokens[max(0, a.first - 3) : a.first])
    if len(gap) > 1 and (gap[-2] in _MOVED or gap[-2] in MOVES or gap[-2] in TURNS):
        return level or a.unit.family != "ratio"
    return level and len(gap) <= 6


def _alike(x: float, y: float) -> bool:
    return 0 < abs(x) <= ALIKE * abs(y) and abs(y) <= ALIKE * abs(x)


_NEAR = 3
"""How many times as large as the figures before a magnitude those are, at most, that are told without it."""


def _with_unit(a: Amount, b: Amount) -> Amount:
    """The second with the unit of the first, and with its magnitude where only that makes them alike."""
    low = b.low
    mantissa = abs(a.number.mantissa)  # "2,721.7 billion, from 2,466"
    near = abs(low) < 1000 or mantissa / _NEAR < abs(low) < mantissa * _NEAR
    if a.number.scaled and not b.number.scaled and not _alike(a.low, low) and near:
        low = float(f"{low * (a.number.value / a.number.mantissa):.15g}")
    return replace(b, unit=a.unit, low=low, high=low, how=(*b.how, "elided unit"))


def _is_level(tokens: Sequence[Token], a: Amount, gap: list[str]) -> bool:
    """Whether the level that a change of so many points or things leads to follows: "rose 64 points to 4,577"."""
    if a.unit.family != "count" or not _reaches(gap):
        return False
    return any(t.low in MOVES or t.low in TURNS for t in tokens[max(0, a.first - 6) : a.first])


def _reaches(gap: list[str]) -> bool:
    """ "to", "or 0.4 per cent, to", "to close at", "and ended at"."""
    while gap and gap[-1] in _APPROXIMATE:
        gap = gap[:-1]
    if gap[-1:] == ["at"]:
        return len(gap) <= 4 and gap[-2:-1] != [] and gap[-2] in _CLOSES
    if gap[-1:] != ["to"]:
        return False
    return len(gap) == 1 or (len(gap) <= 10 and gap[0] in ("or", ",", "(") and _ENDS.isdisjoint(gap))


def _as_first(tokens: Sequence[Token], before: Sequence[Amount], b: Amount) -> Amount:
    """Like the first level in "one fell 0.1% to 1,460 points, and the other rose 0.2% to 1,330"."""
    if len(before) < 3:
        return b
    first, level, change = before[-3:]
    alike = first.unit.family == change.unit.family == "ratio" and not level.bare and not level.is_range
    if not alike or b.first - first.last > 3 * REACH or not _alike(level.low, b.low):
        return b
    for start, end in ((first, level), (change, b)):
        gap = [t.low for t in tokens[start.last : end.first]]
        if not gap or gap[0] != "to" or len(gap) > 4:
            return b
    return replace(b, unit=level.unit, how=(*b.how, "elided unit"))


def _in_millions(tokens: Sequence[Token], before: Sequence[Amount], b: Amount) -> Amount:
    """ "2.3m cars, up from 1.9m": the letter after the second number is what it is after the first."""
    a = next((a for a in before[::-1] if not a.year), None)
    if a is None or a.is_range or b.is_range or not a.number.scaled or b.unit.name != "metre":
        return b
    letters = [t.text for t in tokens[b.number.last : b.number.last + 1]]
    if b.first - a.last > REACH or letters != ["m"] or tokens[a.number.last - 1].text != "m":
        return b
    gap = [t.low for t in tokens[a.last : b.first]]
    if not is_compared(tokens, a, replace(b, unit=a.unit), gap):
        return b
    number = b.number.times(_MILLION, b.number.last + 1)
    return replace(
        b, number=number, unit=a.unit, unit_span=None, low=number.value, high=number.value, how=(*b.how, "elided unit")
    )


def _lend_magnitude(tokens: Sequence[Token], shared: list[Amount], b: Amount) -> None:
    """ "net profit 19.58 vs 7.44 mln": the first of the two is in millions, too."""
    a = shared[-1] if shared else None
    if a is None or a.is_range or b.is_range or a.number.scaled or b.number.magnitude < _MILLION:
        return
    if a.unit.name not in ("", b.unit.name) or "." not in tokens[a.number.first].text or b.first < a.last:
        return
    if [t.low for t in tokens[a.last : b.first]] in _SIDES and _alike(a.low, b.number.value / b.number.magnitude):
        low = float(f"{a.low * b.number.magnitude:.15g}")
        shared[-1] = replace(a, low=low, high=low, how=(*a.how, "shared magnitude"))


_MILLION = 1e6


def _lend_back(tokens: Sequence[Token], shared: list[Amount], b: Amount) -> None:
    """ "24 vs 23 hours", "3.9 (SD 3.1) vs. 2.7 kg", "48 (n = 9) or 24 (n = 8) weeks": the first takes the unit, too."""
    k = len(shared)
    while (k := _listed_before(tokens, shared, k, b)) >= 0:
        b = shared[k] = replace(shared[k], unit=b.unit, unit_span=b.unit_span, how=(*shared[k].how, "shared unit"))


def _listed_before(tokens: Sequence[Token], shared: Sequence[Amount], k: int, b: Amount) -> int:
    """The bare amount of the first k, notes in brackets apart, that is on the other side of b or listed with it; -1."""
    for back in (1, 2):
        if k < back or not 0 <= b.first - shared[k - back].last <= REACH:
            return -1  # too far, or the two share a noun: "three twenty firsts"
        a = shared[k - back]
        end = a.last
        if tokens[end].text in "([":
            end = next((j + 1 for j in range(end, b.first) if tokens[j].text in ")]"), end)
        gap = [t.low for t in tokens[end : b.first]]
        noted = end > a.last and gap in _LISTED and b.unit.family not in ("", "count", "ratio")
        if gap not in _SIDES and not noted:
            continue
        lends = a.bare and not a.is_range and not b.is_range and b.unit.family != "date"
        return k - back if lends and _alike(a.low, b.low) and b.number.first == b.first else -1
    return -1
