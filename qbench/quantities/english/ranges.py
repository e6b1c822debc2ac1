"""Amounts that belong together: ranges, shared units and magnitudes, tolerances. Two amounts become one, or lend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.english.amounts import SIDES, Amount
from qbench.quantities.english.change_nouns import CHANGE_NOUNS
from qbench.quantities.english.change_words import MOVES, TURNS
from qbench.quantities.english.dates import is_month
from qbench.quantities.english.elided import share_elided
from qbench.quantities.english.intervals import is_interval
from qbench.quantities.english.lexicon import CHANGE_VERBS, VERBS
from qbench.quantities.english.ratios import RATIO
from qbench.quantities.english.tokens import Token, glued
from qbench.quantities.units import Unit

JOINERS = frozenset({"-", "–", "—", "~", "-to-", "to-", "-to"})
WORDS = frozenset({"to", "through", "till", "until", "thru"})
_OPEN = WORDS | {",", ";"}
LONGEST = 30
"""Tokens from the start of a range to its end, at most."""
_APPROXIMATE = frozenset("about around nearly almost roughly approximately up just over under some as maybe an".split())
"""Words that may stand before either end: "from up to 250 miles to about 290"."""
_BEFORE_HIGH = _APPROXIMATE | {"to", "and", "-"}
_BEFORE_LOW = _APPROXIMATE | frozenset("the years year ages age of to much high low a".split())
_CONTEST = frozenset(
    "win wins won beat beats lost lose loses defeat defeats defeated drew draw tied tie victory loss score".split()
)


_GOING = frozenset("goes went gone doubled tripled quadrupled halved".split())
_DEALS = frozenset(("contract", "contracts"))
"""Forms of a verb of change that far more often are a noun, which says nothing of a change."""
_CHANGING = (CHANGE_VERBS | MOVES.keys() | TURNS.keys() | _GOING) - _DEALS


TOLERANCE = "tolerance"
"""The rule's name in `Amount.how`."""


def join(tokens: Sequence[Token], amounts: list[Amount]) -> list[Amount]:
    """ "5-8 kg", "between $10 and $15 billion", "from 3 to 4 per cent": two amounts become one.

    A hyphen binds tighter than words: "from 24 to 33-35" ends in a range.
    """
    hyphened = _pass(tokens, amounts, hyphens=True)
    return share_elided(tokens, _pass(tokens, hyphened, hyphens=False)) if len(hyphened) > 1 else hyphened


def _pass(tokens: Sequence[Token], amounts: list[Amount], *, hyphens: bool) -> list[Amount]:
    """One pass over neighbours: those that hyphens and signs join, or those that words join."""
    joined: list[Amount] = []
    for amount in amounts:
        before = joined[-1] if joined else None
        if before is None or amount.first - before.last > LONGEST:
            joined.append(amount)
        elif (both := _range(tokens, before, amount, hyphens=hyphens)) is not None:
            joined[-1] = both
        elif hyphens and _is_score(tokens, before, amount):
            joined.pop()
        elif hyphens and _is_tolerance(tokens, before, amount):
            owner = amount if before.bare else before
            how = (*before.how, TOLERANCE)
            joined[-1] = replace(before, last=amount.last, unit=owner.unit, unit_span=owner.unit_span, how=how)
        else:
            joined.append(amount)
            if not hyphens:
                _levels(tokens, joined)
                _share(tokens, joined)
    return joined


def _levels(tokens: Sequence[Token], joined: list[Amount]) -> None:
    """The two levels of "fell from 8 to 5 billion dollars" take unit and magnitude from one another."""
    if len(joined) < 2:
        return
    a, b = joined[-2:]
    lead, _ = _lead(tokens, a.first)
    if lead != "from" or a.is_range or a.last >= b.first or b.first - a.last > LONGEST:
        return
    if _joint([t.low for t in tokens[a.last : b.first]], lead) != "to" or a.year or b.year or _is_part(a, b):
        return
    unit = _common_unit(a, b)
    if unit is None:
        return
    if a.bare:
        scaled = _scaled(tokens, a, b)
        joined[-2] = replace(a, unit=unit, low=scaled, high=scaled, unit_span=b.unit_span, how=(*a.how, "shared unit"))
    elif b.bare:
        joined[-1] = replace(b, unit=unit, unit_span=a.unit_span, how=(*b.how, "shared unit"))
    elif a.unit != unit or b.unit != unit:
        joined[-2:] = [replace(amount, unit=unit) for amount in (a, b)]


def _in_thousands(tokens: Sequence[Token], a: Amount, b: Amount) -> float | None:
    """The first end of "45-50,000 tonnes", which lacks its thousands; None where it has all that it needs."""
    first, second = (tokens[x.number.first].text for x in (a, b))
    if tokens[a.last].text not in JOINERS or not second.endswith(",000") or second.count(",") > 1:
        return None
    low = a.low * _THOUSAND
    return low if first.isdecimal() and low < b.low <= _FALLS * low else None


def _scaled(tokens: Sequence[Token], a: Amount, b: Amount) -> float:
    """The first end with the magnitude of the second where that is meant: "10 to 15 billion"."""
    scale = b.number.magnitude
    if (thousands := _in_thousands(tokens, a, b)) is not None:
        return thousands
    # Thousands of millions are said of both ends: "1,500 to 2,000 million".
    most = max(1000.0, abs(b.high) / scale) if a.bare else 1000.0
    if scale == 1 or a.number.magnitude != 1 or not abs(a.low) < min(scale, most) or not _lends(a, b):
        return a.low
    return float(f"{a.low * scale:.15g}")


def _moves_from(tokens: Sequence[Token], start: int) -> bool:
    """Whether what stands before the "from" at `start` moves: "it rose from 5 to 8 kg", "a fall from 8 to 5".

    One that is joined to another does as that: "rose from 5 to 8 kg in treated men and from 5 to 6 kg in others".
    """
    if start and tokens[start - 1].low in _JOINING:
        near = range(start - 2, max(0, start - _FAR) - 1, -1)
        start = next((k for k in near if tokens[k].low == "from"), start)
    for k in range(start - 1, max(0, start - _FAR) - 1, -1):
        word = tokens[k].low
        if word in _CHANGING or word in CHANGE_NOUNS:
            return True
        ends = tokens[k].text in ";:!?" or (tokens[k].text == "." and not _is_initial(tokens, k))
        if word in VERBS or ends or word in _SPREAD:
            return False
    return False


_JOINING = frozenset(", ; and but versus vs".split())


def _is_initial(tokens: Sequence[Token], k: int) -> bool:
    """Whether the stop at k ends an initial: "S.A."."""
    return k > 0 and len(tokens[k - 1].text) == 1 and tokens[k - 1].text.isupper() and glued(tokens[k - 1], tokens[k])


_THOUSAND = 1000.0
_FAR = 12
"""Tokens from a verb of change to its "from" at most."""
_SPREAD = frozenset("range ranges ranged ranging vary varies varied varying between anywhere anything".split())


def _range(tokens: Sequence[Token], a: Amount, b: Amount, *, hyphens: bool) -> Amount | None:
    """The range of two amounts; None if they are none."""
    if a.is_range or a.last >= b.first or not _may_join(tokens, a, b, hyphens=hyphens) or _are_apart(tokens, a, b):
        return None
    lead, start = _lead(tokens, a.first)
    between = [t.low for t in tokens[a.last : b.first]]
    if between == ["to", "+"] and glued(tokens[b.first - 1], tokens[b.first]):
        between = between[:1]  # "-5.2 to +0.4"
    joint = _joint(between, lead)
    if not joint and between[:1] in ([","], [";"], ["and"]) and is_interval(tokens, a.first, b.last):
        if between[1:] == ["-"] and glued(tokens[b.first - 1], tokens[b.first]):
            b = replace(b, low=-b.high, high=-b.low)  # "CI -4;-2": the sign is glued on both sides
            between = between[:1]
        if between[1:] == ["+"] and glued(tokens[b.first - 1], tokens[b.first]):
            between = between[:1]  # "CI -2.1, +0.5"
        joint = "and" if len(between) == 1 else ""
    hyphen = joint == "-"
    if not joint or hyphen != hyphens or (b.is_range and not (lead == "from" and joint == "to")):
        return None
    if joint == "to" and lead not in ("from", "between") and not _is_framed(tokens, a, b) and _leads(tokens, a, b):
        return None
    if lead in ("between", "from") and not a.is_range:
        a = _in_unit_of(a, b)
    unit = None if a.year and not b.year and _tells_when(tokens, a, b) else _common_unit(a, b)
    ends = None if unit is None else _ends(tokens, a, b, hyphen=hyphen)
    if unit is None or ends is None:
        return None
    low, high, falling = ends
    spread = start > 0 and tokens[start - 1].low in _SPREAD
    if joint == "to" and lead == "from" and not spread and (falling or _moves_from(tokens, start)):
        return None  # "fell from 8 to 5 kg": `_levels`
    if falling and not _may_fall(tokens, a, b, unit, joint, lead):
        return None
    if not falling and hyphen and not unit.name and _contest(tokens, a, b):
        return None
    if joint == "to" and lead != "from" and b.bare and not a.bare and not low <= high <= 20 * low:
        return None  # "lost 190 points to 5,040"
    first = start if lead in ("between", "from") else a.first
    # The unit of "$5 to $8" stands before both numbers: the first sign lies outside the span of the range's value.
    precedes = a.unit_span is not None and a.unit_span[0] < tokens[a.number.first].start
    span = a.unit_span if precedes else b.unit_span or a.unit_span
    digits = max(a.number.digits, b.number.digits)
    # The magnitude stays known: a further number before the range may share it.
    number = replace(b.number, first=a.number.first, digits=digits)
    how = (*a.how, *(rule for rule in b.how if rule not in a.how), "range")
    return Amount(number, unit, first, b.last, span, low, high, is_range=True, how=how)


def _in_unit_of(a: Amount, b: Amount) -> Amount:
    """The low end of "between 97 cents and one dollar", "from 0.5 ml to 2 litres" in the unit of the high one."""
    one, other = a.unit, b.unit
    if one.family not in _CONVERTED or one.name == other.name or one.base_unit != other.base_unit or a.low < 0:
        return a
    low = float(f"{a.low * one.factor / other.factor:.12g}")
    return replace(a, unit=other, unit_span=b.unit_span, low=low, high=low) if low < b.low else a


_CONVERTED = frozenset({"currency", "length", "mass", "volume", "data"})


def _may_join(tokens: Sequence[Token], a: Amount, b: Amount, *, hyphens: bool) -> bool:
    """Whether what stands right behind a, or right before b, joins the ends of ranges."""
    joint = tokens[a.last]
    if joint.text == "~" and not glued(tokens[a.last - 1], joint):
        return False
    if (joint.text in JOINERS) != hyphens and joint.low != "to":
        return False
    if hyphens and b.last < len(tokens) and tokens[b.last].text == "=" and _equals_number(tokens, b.last):
        return False
    return hyphens or joint.low in _OPEN or tokens[b.first - 1].low in _BEFORE_HIGH


def _equals_number(tokens: Sequence[Token], k: int) -> bool:
    """Whether a number follows the "=" at token k: "20% - 8% = 12%"; "18-25 = normal" is a range."""
    k += 1
    while k + 1 < len(tokens) and (
        tokens[k].text in "$€£-−" or (tokens[k + 1].text in "$€£" and tokens[k].kind == "word")
    ):
        k += 1  # "$12 - $4 = US$8"
    return k < len(tokens) and tokens[k].kind == "number"


def _are_apart(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether two amounts are of different things: "11 per cent to 18.3 million", "4.1 ± 0.3 to 4.0 ± 0.2 s"."""
    if a.unit.family == "ratio" and b.number.magnitude >= _THOUSAND:
        return True
    if RATIO in a.how or RATIO in b.how:
        return True  # "assigned 1:1 to 18 months of treatment"
    if _is_factor(tokens, a) and not b.bare:
        return True
    return _is_part(a, b) or (a.how[-1:] == (TOLERANCE,) and b.how[-1:] == (TOLERANCE,))


def _is_factor(tokens: Sequence[Token], a: Amount) -> bool:
    """Whether an amount is the multiple of "rose by a factor of 2.5 to $40 million"."""
    return a.bare and [t.low for t in tokens[max(0, a.first - 4) : a.first]] == ["by", "a", "factor", "of"]


def _joint(words: list[str], lead: str) -> str:
    """What joins two ends by the words between them: "-", "to", "and"; "" for nothing."""
    if "".join(words) in JOINERS:
        return "-"
    if words[0] in WORDS and all(w in _APPROXIMATE for w in words[1:]):
        return "to"
    if words[0] in ("and", "to") and lead == "between" and all(w in _APPROXIMATE for w in words[1:]):
        return "and"
    if lead == "from" and words == ["up", "to"]:
        return "to"
    # "from $40 a year ago to $35"
    near = lead == "from" and len(words) <= 6 and words[-1] == "to" and all(w in _WHEN for w in words[:-1])
    return "to" if near else ""


_WHEN = frozenset("a an the year years month months week quarter day ago earlier before last previous prior".split())


def _may_fall(tokens: Sequence[Token], a: Amount, b: Amount, unit: Unit, joint: str, lead: str) -> bool:
    """Whether the upper end may stand first: where a unit shows that it is no score."""
    if joint == "-":
        if b.bare and not a.bare and a.unit_span is not None and a.unit_span[0] > tokens[a.number.first].start:
            return False  # "6-foot-2"
        return unit.name != "" and unit.family not in ("count", "date") and min(a.low, b.low) >= 0
    if joint == "to" and lead not in ("from", "between"):
        if a.number.scaled and b.number.scaled:
            return False  # "would cut the deficit of 171 billion to 134 billion"
        if a.unit.family == "count" and b.bare:
            return False  # "passed by 52 votes to 48"
    alike = a.unit.name == b.unit.name or min(abs(a.low), abs(b.low)) * 3 > max(abs(a.low), abs(b.low))
    return unit.name != "" and unit.family != "date" and (alike or joint == "and")


def _lead(tokens: Sequence[Token], first: int) -> tuple[str, int]:
    """The word that opens a range before token `first`, past approximations, and the token at which it stands."""
    start, stop = first, max(0, first - 5)
    while start > stop and tokens[start - 1].low in _BEFORE_LOW:
        start -= 1
    lead = tokens[start - 1].low if start else ""
    return (lead, start - 1) if lead in ("from", "between") else (tokens[first - 1].low if first else "", first)


def _moves(tokens: Sequence[Token], a: Amount) -> bool:
    """Whether a verb of change governs: "rose 5 per cent to 8 per cent" has two amounts."""
    start = max(0, a.first - 6)
    if a.first and tokens[a.first - 1].low == "or":
        start = max(0, start - 4)  # "rose 5 per cent or 2 million to 8 million"
    around = {t.low for t in tokens[start : a.first]}
    return bool(around & _CHANGING) and not {"between", "ranging", "range", "ranged", "ranges"} & around


def _is_framed(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether two amounts stand in brackets of their own: "fell by 1.7 (1.4 to 1.9)"."""
    opens = a.first > 0 and tokens[a.first - 1].text in "(["
    return opens and b.last < len(tokens) and tokens[b.last].text in ")];,"


def _leads(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether a change leads to a level: "rose 5 per cent to 8 per cent", "rose 5 million to 8 million marks"."""
    shares = a.bare and not b.bare and not a.number.scaled
    return _moves(tokens, a) and not shares and not _moves_by(tokens, a, b)


def _moves_by(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """ "rose by INR 2 to 3 per kg": a rise between two sizes, since a level would name its currency."""
    before = tokens[a.first - 1].low if a.first else ""
    alike = a.low < b.low <= _ALIKE * a.low
    return before == "by" and alike and a.first < a.number.first and b.first == b.number.first


_ALIKE = 3


def _common_unit(a: Amount, b: Amount) -> Unit | None:
    """The unit of a range: of both ends, of the one that has it, or of the one that says per what."""
    if a.year != b.year:
        year, other = (a, b) if a.year else (b, a)
        return other.unit if other.bare or year is a else None  # "2000 to 3000 employees"
    if a.bare or b.bare:
        return b.unit if a.bare else a.unit
    if a.unit.name == b.unit.name or a.unit.name == f"{b.unit.name} of age":
        return a.unit  # "aged 18 to 55 years": both are ages
    if b.unit.name == f"{a.unit.name} of age":
        return b.unit
    if "age" in a.how and b.unit.family == "time":
        return b.unit  # "age 1-12 months"
    # "between $48,000 and $90,000 a year", "from $75 per barrel to $45"
    if b.unit.name.startswith(f"{a.unit.name} per "):
        return b.unit
    return a.unit if a.unit.name.startswith(f"{b.unit.name} per ") else None


def _tells_when(tokens: Sequence[Token], year: Amount, b: Amount) -> bool:
    """Whether a year-like number is the year in which something moved "to" b: "from $16 in 2018 to $31"."""
    before = tokens[year.first - 1] if year.first else None
    if before is not None and (before.low in _DATED or is_month(before)):
        return True
    # "2000 to 3000 employees": of like size, and without a currency of its own.
    return b.first < b.number.first or not b.low <= 5 * year.low


_DATED = frozenset("in , since during fiscal calendar year by of until".split())


def _ends(tokens: Sequence[Token], a: Amount, b: Amount, *, hyphen: bool) -> tuple[float, float, bool] | None:
    """Both ends in order and whether the text falls, the magnitude of one end lent to the other."""
    # The minus sign of "-5 to -8" is part of a number, the hyphen of "5-8" is not: `signs` saw to that.
    low, high = _scaled(tokens, a, b), abs(b.high) if hyphen else b.high
    if low == high:
        return None
    return (low, high, False) if low < high else (high, low, True)


_FALLS = 10
"""How many times larger the first end may be to share the other's magnitude, with a unit of its own: not "$200 to $4
million"."""


def _lends(a: Amount, b: Amount) -> bool:
    """Whether the second end's magnitude is meant for the first too: they are of like size then."""
    times = 100 if a.bare else _FALLS
    return abs(a.number.value) <= times * abs(b.number.value / b.number.magnitude)


def _contest(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether "2-5" is the result of a game, by the words around it."""
    around = {t.low for t in tokens[max(0, a.first - 4) : a.first]} | {t.low for t in tokens[b.last : b.last + 2]}
    return tokens[a.last].text != "~" and bool(around & _CONTEST)


def _is_score(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """ "3-2": two small whole numbers, the larger first, with nothing but a hyphen between and no unit."""
    if b.first - a.last != 1 or tokens[a.last].text not in ("-", "–") or not a.bare or a.is_range:
        return False
    if not (b.bare or b.unit.family == "count") or not glued(tokens[a.last], tokens[b.first]):
        return False
    falls = b.low <= a.low or _contest(tokens, a, b)
    return falls and a.low < 200 and a.low.is_integer() and b.low.is_integer()


def _share(tokens: Sequence[Token], joined: list[Amount]) -> None:
    """The last amount lends its unit and magnitude to those before it: "eight or nine euros", "5, 6 and 7 inches"."""
    b = joined[-1]
    k = len(joined) - 2
    while k >= 0 and (lent := _lent(tokens, joined[k], joined[k + 1], b, k == len(joined) - 2)) is not None:
        joined[k] = lent
        k -= 1


def _lent(tokens: Sequence[Token], a: Amount, following: Amount, b: Amount, nearest: bool) -> Amount | None:
    """`a` with the unit of `b`; `following` stands next to `a`, and is `b` itself for the nearest."""
    if not a.bare or b.bare or following.first - a.last > 3 or _is_part(a, b) or RATIO in a.how:
        return None
    if _is_factor(tokens, a):
        return None
    between = "".join(t.low for t in tokens[a.last : following.first])
    listed = nearest and between == "," and b.unit.family == "time" and _continues(tokens, a)
    if listed and 0 < a.low < b.low:
        return replace(a, unit=b.unit, unit_span=b.unit_span, how=(*a.how, "shared unit"))  # "3, 6, 12 months"
    if between.startswith("-") and glued(tokens[a.last - 1], tokens[a.last]):
        between = between[1:]  # "three-, six- and 12-month loans"
    if between not in (
        ("to", "or", "and", ",or", ",and", "and/or", "x", "×", "by", "/") if nearest else (",", "x", "×", "by")
    ) and not (between == "/" and b.unit.family == "data"):
        return None
    if between in ("x", "×") and b.unit.family not in SIDES and b.unit.family != "count":
        return None  # "6 x 1.5 L": so many of them
    if b.is_range or a.is_range or b.unit.family == "date":
        return None
    memory = b.unit.family == "data" and between == "/"  # "8/128 GB"
    listed = not nearest and _near(a.low, following.low / (b.number.magnitude if following.number.scaled else 1.0))
    flat = b.low < a.low and not float(b.low).is_integer()  # of "2 x 150 cm" there are two
    sides = flat and between in ("x", "×") and b.unit.family == "length" and _near(a.low, b.low, _FLAT)
    if between != "to" and not (memory or listed or sides) and a.low and not _near(a.low, b.low):
        if not (b.number.magnitude != 1 and a.number.magnitude == 1 and a.number.value < 1000):
            return None  # "2,227,000 or four cts a share": two quantities, not two guesses at one
    scale = b.number.magnitude if a.number.magnitude == 1 else 1.0
    how = (*a.how, "shared unit")
    return replace(a, unit=b.unit, low=a.low * scale, high=a.high * scale, unit_span=b.unit_span, how=how)


def _continues(tokens: Sequence[Token], a: Amount) -> bool:
    """Whether another number and a comma stand before a bare amount, or it opens a list: "at 3, 6"."""
    return a.first > 1 and tokens[a.first - 1].text == "," and tokens[a.first - 2].kind == "number"


_FLAT = 100.0
"""A thing is at most so many times as long as it is thick: "30 x 20 x 1.5 cm"."""


def _near(x: float, y: float, times: float = 10.0) -> bool:
    """Whether one is at most so many times the other."""
    return abs(y) / times <= abs(x) <= abs(y) * times


def _is_part(a: Amount, b: Amount) -> bool:
    """Whether a is a part of something that b is not: "fell by a quarter to 5 million"."""
    return "fraction in words" in a.how and a.low < 1 < b.low


def _is_tolerance(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether b says how far a may be off; an amount has one tolerance at most."""
    if a.how[-1:] == (TOLERANCE,) or not 1 <= b.first - a.last <= 3:
        return False
    return "".join(t.text for t in tokens[a.last : b.first]) in ("±", "+/-", "+-", "+/−", "∓")
