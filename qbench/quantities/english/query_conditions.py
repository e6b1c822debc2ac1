"""Conditions of a query that belong together: ranges, ratings, units and concepts that are told once, restatements."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from qbench.quantities.english.amounts import CALENDAR_YEAR
from qbench.quantities.english.lexicon import SIDES
from qbench.quantities.english.query_attributes import MEASURED, families, has_family
from qbench.quantities.english.tokens import Token, glued
from qbench.quantities.types import Change, Comparator, Span
from qbench.quantities.units import Units

CONNECTORS = frozenset(("and", "but", "or", ",", "yet", "also", "while", "&", "plus", ";"))
"""What may stand between two conditions on one thing: "more than 5 but less than 10 kg"."""
_SIGNS = frozenset("<>=≤≥⩽⩾≦≧")
LISTING = frozenset(("and", "or", ",", "&"))
BOUNDS = frozenset((">", ">=", "<", "<="))
EDGES = {"between": ("and", "to", "-", "–", "&"), "within": ("and",), "from": ("to", "until", "till", "-", "through"),
         "ranging": ("to", "and"), "range": ("to", "and")}  # fmt: skip
"""Words before the first of two amounts, and what joins the two to a range after each."""
OUT_OF = (4.0, 5.0, 6.0, 10.0, 20.0, 100.0)
"""What a rating may be out of: the 10 of "8.3/10" asks nothing."""
RESTATED = 0.05
"""How far an amount in brackets may be from the one before it that it restates, as a share."""
DOSES = frozenset(("milligram", "microgram", "international unit", "millilitre"))
PORTIONS = frozenset("g ml kg km l ul mm3".split())
OFTEN, EACH = frozenset("once twice thrice".split()), frozenset("a an per each every".split())
TURNS, DAILY = frozenset("day week month year hour".split()), frozenset("daily weekly monthly hourly".split())
"""What makes "twice a day" and "once weekly"."""


@dataclass(frozen=True, slots=True)
class ReadCondition:
    """A condition while its query is read.

    Attributes:
        comparator, low, high, unit, change: as of `Condition`.
        first, last: token range, the words that bound it included.
        used: characters that are no search words.
        plain: whether no word bounds its value.
        concept_spans: characters of the words that say what it is about.
        value_span, unit_span: characters of the number and of its unit.
    """

    comparator: Comparator
    low: float
    high: float
    unit: str
    first: int
    last: int
    used: tuple[Span, ...]
    plain: bool = False
    concept_spans: tuple[Span, ...] = ()
    value_span: Span = (0, 0)
    unit_span: Span | None = None
    change: Change = ""


def join(tokens: Sequence[Token], conditions: Sequence[ReadCondition], units: Units) -> list[ReadCondition]:
    """The conditions of a query, in order, each told whole.

    "Between 2 hours and 90 minutes" is one; in "above 140/90" and "over 4000 mAh and under 5000" each has what the
    other lends; "8.3/10" is 8.3, and "6 feet (183 cm)" 6 feet; "beer under 5% alcohol" is about alcohol, too.
    """
    conditions = _ranges(tokens, _ratings(tokens, conditions), units)
    conditions = _carry(tokens, _lend(tokens, _pairs(tokens, conditions), units), units)
    return _without_restatements(tokens, conditions, units)


def portions(tokens: Sequence[Token]) -> Iterator[Span]:
    """The characters of each "per 100 g" and "twice a day": what an amount is measured by is no search word."""
    for per, number, unit in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if per.low == "per" and number.kind == "number" and unit.low in PORTIONS:
            yield per.start, unit.end
        if per.low in OFTEN and number.low in EACH and unit.low in TURNS:
            yield per.start, unit.end
    for slash, number, unit in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if slash.text == "/" and number.kind == "number" and unit.low in PORTIONS and glued(slash, number):
            yield slash.start, unit.end  # "amoxicillin 250 mg/5ml"
    for number, slash, unit in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if number.kind == "number" and slash.text == "/" and unit.low in PORTIONS and glued(number, slash):
            yield slash.start, unit.end  # "platelets 50 x 10^9/l"
    for often, daily in pairwise(tokens):
        if often.low in OFTEN and daily.low in DAILY:
            yield often.start, daily.end


def _ratings(tokens: Sequence[Token], conditions: Sequence[ReadCondition]) -> list[ReadCondition]:
    """Drop the scales of ratings: "8.3/10 stars" is 8.3 stars, and "300 to 1" 300."""
    merged: list[ReadCondition] = []
    for each in conditions:
        a = merged[-1] if merged else None
        number = bisect_left(tokens, each.value_span[0], key=lambda t: t.start)
        joint = "" if a is None else " ".join(t.low for t in tokens[a.last : number])
        to_one = each.low == 1 and joint == "to"
        out_of = each.low in OUT_OF and joint in ("/", "out of") and a is not None and a.high <= each.low
        if a is not None and not a.unit and (to_one or out_of):
            between = tokens[a.last].start, tokens[number - 1].end
            merged[-1] = replace(
                a,
                unit=each.unit,
                unit_span=each.unit_span,
                last=each.last,
                used=(*a.used, between, *each.used),
                comparator=each.comparator if a.plain else a.comparator,
                plain=a.plain and each.plain,
            )
        else:
            merged.append(each)
    return merged


def _ranges(tokens: Sequence[Token], conditions: Sequence[ReadCondition], units: Units) -> list[ReadCondition]:
    """Pairs that are one range, also with the upper end first or in two units: "between 2.3 hours and 90 minutes"."""
    joined: list[ReadCondition] = []
    for each in conditions:
        both = _range(tokens, joined[-1], each, units) if joined else None
        if both is None:
            joined.append(each)
        else:
            joined[-1] = both
    return joined


def _range(tokens: Sequence[Token], a: ReadCondition, b: ReadCondition, units: Units) -> ReadCondition | None:
    within = tokens[a.first].low == "within" and a.comparator == "<="
    if not (a.plain or within) or not b.plain:
        return None
    if tokens[b.first - 1].low == "to" and b.first - a.last == 1 and (both := _of_two_units(a, b, units)) is not None:
        return both
    if b.first - a.last != 1:
        return None
    lead = a.first if within else a.first - 1
    while lead > 0 and a.first - lead < 4 and tokens[lead].low in _BEFORE_RANGE:
        lead -= 1
    if lead < 0 or tokens[a.last].low not in EDGES.get(tokens[lead].low, ()):
        return None
    unit = a.unit or b.unit
    if a.unit and b.unit and units.get(a.unit).base_unit != units.get(b.unit).base_unit:
        return None
    scale = (b.low, b.high) if b.unit in ("", unit) else tuple(units.convert(x, b.unit, unit) for x in (b.low, b.high))
    low, high = min(a.low, scale[0]), max(a.high, scale[1])
    between: tuple[Span, ...] = ((tokens[lead].start, b.value_span[1]),)
    if any(t.low in _SCALE for t in tokens[lead + 1 : a.first]):  # "between magnitude 5 and 6"
        between = (tokens[lead].start, tokens[lead].end), (a.value_span[0], b.value_span[1])
    return replace(
        a,
        comparator="between",
        low=low,
        high=high,
        unit=unit,
        first=lead,
        last=b.last,
        used=(*a.used, *b.used, *between),
        plain=False,
        concept_spans=a.concept_spans or b.concept_spans,
        value_span=(a.value_span[0], b.value_span[1]),
        unit_span=a.unit_span or b.unit_span,
    )


_SCALE = frozenset("magnitude grade level stage category".split())
_BEFORE_RANGE = _SCALE | frozenset("the years year of a about around".split())
"""Words between "between" and the first of two amounts."""


def _of_two_units(a: ReadCondition, b: ReadCondition, units: Units) -> ReadCondition | None:
    """ "500 mg to 2 g per day", "90 minutes to 2 hours": a range whose ends have units of their own."""
    unit, _, rate = b.unit.partition(" per ")
    if not a.unit or not b.unit or a.unit == b.unit or any(letter.isdigit() for letter in rate):
        return None
    if units.get(a.unit).base_unit != units.get(b.unit).base_unit:
        if units.get(unit).base_unit != units.get(a.unit).base_unit:
            return None
    else:
        unit, rate = b.unit, ""
    high = float(f"{units.convert(b.high, unit, a.unit):.12g}")
    whole = f"{a.unit} per {rate}" if rate else a.unit
    if high <= a.low:
        return None
    return replace(
        a,
        comparator="between",
        high=high,
        unit=whole,
        last=b.last,
        used=(*a.used, *b.used, (a.value_span[0], b.value_span[1])),
        plain=False,
        value_span=(a.value_span[0], b.value_span[1]),
    )


def _pairs(tokens: Sequence[Token], conditions: Sequence[ReadCondition]) -> list[ReadCondition]:
    """ "above 140/90": both numbers are bounded, and have one unit and one concept."""
    done: list[ReadCondition] = []
    for b in conditions:
        a = done[-1] if done else None
        if a is not None and a.low > b.low and b.plain and b.first - a.last == 1 and tokens[a.last].text == "/":
            if a.unit in ("", b.unit) and glued(tokens[a.last - 1], tokens[a.last]):
                a = done[-1] = replace(a, unit=b.unit, unit_span=b.unit_span)
                b = replace(b, comparator=a.comparator, plain=a.plain, concept_spans=a.concept_spans)
        done.append(b)
    return done


def _lend(tokens: Sequence[Token], conditions: Sequence[ReadCondition], units: Units) -> list[ReadCondition]:
    """Share a unit or concept stated once between two: "over 4000 mAh and under 5000", "over 5 but below 9 kg"."""
    done: list[ReadCondition] = []
    for b in conditions:
        a = done[-1] if done else None
        if a is not None and _connected(tokens, a, b, units):
            if a.unit and not b.unit and not b.plain and not _scaled(tokens, a, b):
                b = replace(b, unit=a.unit, unit_span=a.unit_span)
            elif b.unit and not a.unit and not a.plain and b.unit != CALENDAR_YEAR and _one_thing(tokens, a, b, units):
                a = replace(a, unit=b.unit, unit_span=b.unit_span)
            if units.get(a.unit).base_unit == units.get(b.unit).base_unit:
                a = replace(a, concept_spans=a.concept_spans or b.concept_spans)
                b = replace(b, concept_spans=b.concept_spans or a.concept_spans)
            done[-1] = a
        done.append(b)
    return done


def _connected(tokens: Sequence[Token], a: ReadCondition, b: ReadCondition, units: Units) -> bool:
    """Whether two conditions are on one thing: "over 2 and under 5 kg", "more than 2 less than 5 kg"."""
    lead = families(tokens[a.first - 1].low) if a.first else None
    foreign = lead is not None and not has_family(lead, units.get(b.unit).family)
    if a.last == b.first:
        sides = (a.comparator[0], b.comparator[0]) == ((">", "<") if a.low < b.low else ("<", ">"))
        open_ended = tokens[a.last - 1].kind == "number"  # not "rating of 4 or above under $20"
        if foreign:
            return False  # "rating above 8.5 under 30 euros"
        return sides and open_ended and not a.unit and b.low / _NEARLY <= a.low <= b.low * _NEARLY
    between = tokens[a.last : b.first]
    if foreign and not a.unit and tokens[b.first - 1].low == "or":
        return False  # "rating under 4 or over 100 dollars"
    joined = _chained(tokens, a, b) or all(t.low in CONNECTORS for t in between)
    return joined and _of_one_scale(tokens, a, b)


def _chained(tokens: Sequence[Token], a: ReadCondition, b: ReadCondition) -> bool:
    """Whether both are ends of a chained inequality: "1 < weight < 5 kg"."""
    between = tokens[a.last : b.first]
    return tokens[a.last - 1].text in _SIGNS and bool(between) and all(t.kind == "word" for t in between)


def _of_one_scale(tokens: Sequence[Token], a: ReadCondition, b: ReadCondition) -> bool:
    """Whether two joined amounts may share what only one tells: the ends of a range, or values that are listed.

    "Over 5 but below 9 kg" and "8 or 16 gb", but not "below 300 and 8 gb ram", "rating 4+, under $500".
    """
    if a.unit and b.unit:
        return True
    if a.plain and b.plain:
        return True
    if a.plain or b.plain:
        return tokens[b.first - 1].low in ("or", "but", "yet")
    low, high = (a, b) if a.comparator[0] == ">" else (b, a)
    ends = low.comparator[0] == ">" and high.comparator[0] == "<" and low.low < high.low
    if a.comparator[0] == "<" and b.comparator[0] == ">" and tokens[b.first - 1].low == "or" and a.low < b.low:
        low, high, ends = a, b, True  # "under 5 or over 9 kg"
    return ends and high.low <= low.low * _SPREAD


def _one_thing(tokens: Sequence[Token], a: ReadCondition, b: ReadCondition, units: Units) -> bool:
    """Whether b's unit may be a's: counted nouns only of the ends of a range, not "era under 3 and 200+ strikeouts"."""
    if b.plain and not b.low / _ALIKE <= a.low <= b.low * _ALIKE:
        return False  # "a salary of at least 60k and 30 days of holiday"
    if b.plain and [t.text for t in tokens[a.last : b.first]] == [","]:
        return False  # "under 500, 8gb ram"
    count = units.get(b.unit).family == "count"
    if count and b.plain and a.first and tokens[a.first - 1].low in MEASURED:
        return False  # "pitchers with era below 3 and 200 innings"
    if not count or b.plain:
        return True
    up, down = a.comparator in (">", ">="), a.comparator in ("<", "<=")
    return (up and b.comparator in ("<", "<=") and a.low < b.low) or (
        down and b.comparator in (">", ">=") and a.low > b.low
    )


_SPREAD = 30
"""The ends of a range that lend each other a unit are at most so many times as large as one another."""
_NEARLY = 10
"""Two bounds on one thing that nothing joins are at most so many times as large as one another."""
_ALIKE = 100
"""Two numbers that share a unit are at most so many times as large as one another."""


def _carry(tokens: Sequence[Token], conditions: Sequence[ReadCondition], units: Units) -> list[ReadCondition]:
    """Bound counts that follow a bounded one: "less than 14 losses and 10 wins", "... and wins of 10"."""
    done: list[ReadCondition] = []
    for b in conditions:
        a = done[-1] if done else None
        if a is not None and b.plain and a.comparator in BOUNDS and tokens[a.first].start < a.value_span[0]:
            if _listed(tokens, a, b, units) or _also_of(tokens, a, b, units) or _sides(tokens, a, b):
                b = replace(b, comparator=a.comparator, plain=False)
        done.append(b)
    return done


def _listed(tokens: Sequence[Token], a: ReadCondition, b: ReadCondition, units: Units) -> bool:
    """Whether counts of two things stand beside each other: "3 beds, 2 baths"."""
    counted = all(each.unit and units.get(each.unit).family == "count" for each in (a, b))
    return counted and a.last < b.first and all(token.low in LISTING for token in tokens[a.last : b.first])


def _sides(tokens: Sequence[Token], a: ReadCondition, b: ReadCondition) -> bool:
    """Whether two sides of one thing are listed: "at least 6m long and 3m wide"."""
    between = [token.low for token in tokens[a.last : b.first]]
    return a.unit == b.unit and len(between) > 1 and between[0] in SIDES and between[1:] == ["and"]


def _also_of(tokens: Sequence[Token], a: ReadCondition, b: ReadCondition, units: Units) -> bool:
    """Whether a bare number is that of one more thing beside a count or bare number: "... and wins of 10"."""
    between = [token.low for token in tokens[a.last : b.first]]
    bare = not b.unit and (not a.unit or units.get(a.unit).family == "count")
    return bare and "and" in between and between[-1] == "of"


def _scaled(tokens: Sequence[Token], a: ReadCondition, b: ReadCondition) -> bool:
    """Whether only b has a magnitude, so that it is of another unit: "under 60,000 km and under 15k"."""
    letters = [any(t.text in ("k", "K", "M") for t in tokens[each.first : each.last]) for each in (a, b)]
    return letters == [False, True]


def _without_restatements(
    tokens: Sequence[Token], conditions: Sequence[ReadCondition], units: Units
) -> list[ReadCondition]:
    """Drop what says an amount again in another unit: the 183 cm of "under 6 feet (183 cm)"."""
    done: list[ReadCondition] = []
    for each in conditions:
        a = done[-1] if done else None
        opens = each.first and tokens[each.first - 1].text == "("
        if a is not None and opens and each.first - a.last == 1 and a.unit != each.unit:
            same = units.get(a.unit).base_unit == units.get(each.unit).base_unit
            x, y = units.to_base(a.low, a.unit), units.to_base(each.low, each.unit)
            if same and abs(x - y) <= RESTATED * max(abs(x), abs(y)):
                done[-1] = replace(a, used=(*a.used, *each.used))
                continue
        done.append(each)
    return done
