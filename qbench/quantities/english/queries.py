"""The query side: a typed query -> search words and conditions, by the same engine that reads documents."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from qbench.quantities.english.amounts import CALENDAR_YEAR
from qbench.quantities.english.lexicon import SEARCH_NOISE
from qbench.quantities.english.query_dates import AskedDate, read_dates
from qbench.quantities.english.tokens import Token, tokenize
from qbench.quantities.languages import Extractor
from qbench.quantities.types import Comparator, Condition, ParsedQuery, Quantity, Span
from qbench.quantities.units import Units

NEGATIONS = frozenset(
    tuple(phrase.split())
    for phrase in "not|other than|except|except for|excluding|different from|different than|different to|anything but|"
    "not equal to|not equals|not equal|not exactly|not of|not at|not with|unequal to|unlike|not =|! =|≠|< >|≠ to|isn't|"
    "differs from|aren't|does not equal|any but|all but|apart from|besides|not in|not from|never|no".split("|")
)
"""Phrases before a plain number or a range that ask for any other value."""
LONGEST_NEGATION = 3
CONNECTORS = frozenset(("and", "but", "or", ",", "yet", "also", "while", "&", "plus", ";"))
"""What may stand between two conditions on one thing: "more than 5 but less than 10 kg"."""
EDGES = {"between": ("and", "to", "-", "–", "&"), "within": ("and",), "from": ("to", "until", "till", "-", "through"),
         "ranging": ("to", "and"), "range": ("to", "and")}  # fmt: skip
"""Words before the first of two amounts, and what joins the two to a range after each."""
LABELS: dict[str, Comparator] = {"min": ">=", "minimum": ">=", "max": "<=", "maximum": "<="}
"""Labels of a limit with the concept between it and the number: "minimum battery of 4000 mAh"."""
LABEL_REACH = 4
QUERY_SCALES = {"K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
"""Letters that a query may leave a space before: "budget over 1.6 M"."""
DATE_WORDS: dict[str, Comparator] = {"older": "<", "earlier": "<", "newer": ">", "later": ">", "recent": ">"}
"""Comparatives that make a number of four digits a year: "no later than 2010", "cars older than 2010"."""
FLIPPED: dict[Comparator, Comparator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
FIRST_YEAR, LAST_YEAR = 1500, 2100
OUT_OF = (4.0, 5.0, 6.0, 10.0, 20.0, 100.0)
"""What a rating may be out of: the 10 of "8.3/10" asks nothing."""
RANKED = frozenset("top best worst first last biggest largest highest lowest".split())
"""Words before a number of results wanted, which asks nothing of a quantity: "top 10 films"."""
QUERY_NOISE = SEARCH_NOISE | frozenset(
    "am want wanted need needed looking look something anything someone costing priced pricing weighing ranging equals "
    "min max minimum maximum".split()
)


@dataclass(frozen=True, slots=True)
class _RawCondition:
    """A condition while its query is read.

    Attributes:
        first, last: token range, the words that bound it included.
        used: characters that are no search words.
        plain: whether no word bounds its value.
    """

    comparator: Comparator
    low: float
    high: float
    unit: str
    first: int
    last: int
    used: tuple[Span, ...]
    plain: bool = False
    concept: tuple[str, ...] = ()
    value_span: Span = (0, 0)
    unit_span: Span | None = None


def parse_query(text: str, extractor: Extractor) -> ParsedQuery:
    """Read a query's search words and conditions from its text.

    "phone battery over 4000 mAh, not 5 inches" -> terms "phone battery", conditions > 4000 milliampere hour and
    != 5 inch. A number without bound words asks for equality; "about" does too. Two bounds on one thing are two
    conditions, so that each keeps its own strictness: "more than 5 but less than 10 kg" is > 5 kg and < 10 kg, while
    "between 5 and 10 kg", "5-10 kg" and "from 5 to 10 kg" are one, both ends included, in whatever order they are
    given. With an extractor that reports years, dates are conditions too: "in the 90s" is between 1990 and 1999.
    """
    tokens = tokenize(text)
    conditions = _read(text, tokens, extractor)
    conditions = _ratings(tokens, conditions)
    conditions = _ranges(tokens, conditions, extractor.units)
    conditions = _lend(tokens, conditions, extractor.units)
    used = sorted(span for each in conditions for span in each.used)
    terms = [t.text for t in _outside(tokens, used) if t.kind != "mark" and t.low not in QUERY_NOISE]
    return ParsedQuery(" ".join(terms), tuple(_condition(text, each, extractor.units) for each in conditions))


def _read(text: str, tokens: Sequence[Token], extractor: Extractor) -> list[_RawCondition]:
    """Each quantity and date by itself, in order."""
    years = bool(getattr(extractor, "years", False))
    dates = read_dates(text, tokens, extractor.units) if years else []
    starts = [t.start for t in tokens]
    spans = [(tokens[d.first].start, tokens[d.last - 1].end) for d in dates]
    conditions = [_from_date(tokens, d) for d in dates]
    position = 0
    for quantity in extractor.extract_query(text):
        start, end = quantity.value_span
        while position < len(spans) and spans[position][1] <= start:
            position += 1
        if position < len(spans) and spans[position][0] < end:
            continue
        condition = _from_quantity(tokens, starts, quantity, extractor.units, years=years)
        if condition is not None:
            conditions.append(condition)
    return sorted(conditions, key=lambda each: each.value_span)


def _from_date(tokens: Sequence[Token], date: AskedDate) -> _RawCondition:
    comparator, low, high = date.condition()
    reading = date.reading
    span = (tokens[date.first].start, tokens[date.last - 1].end)
    used = (tokens[reading.first].start, tokens[reading.last - 1].end)
    plain = reading.comparator in ("=", "~")
    if plain and comparator in ("=", "between") and (negation := _negation(tokens, reading.first)) is not None:
        comparator, used = "!=", (negation[0], used[1])
    return _RawCondition(
        comparator, low, high, CALENDAR_YEAR, reading.first, reading.last, (used,), plain, value_span=span
    )


def _from_quantity(
    tokens: Sequence[Token], starts: Sequence[int], quantity: Quantity, units: Units, *, years: bool
) -> _RawCondition | None:
    """A quantity as a condition; None for a number of results, or one that is part of a name."""
    spans = [span for span in (quantity.value_span, quantity.comparator_span) if span is not None]
    after = bisect_left(starts, quantity.value_span[1])
    # The unit of "22 million and $82 million" is lent by the second, and no part of the first.
    joint = after + (after < len(tokens) and tokens[after].text in "-(")
    if quantity.unit_span is not None and bisect_left(starts, quantity.unit_span[0]) <= joint:
        spans.append(quantity.unit_span)
    first = bisect_left(starts, min(start for start, _ in spans))
    last = bisect_left(starts, max(end for _, end in spans))
    counted = quantity.family == "count"
    plain = quantity.comparator in ("=", "~")
    lead = tokens[first - 1].low if first else ""
    if plain and (counted or not quantity.unit) and (lead in RANKED or _in_name(tokens, first)):
        return None
    condition = _RawCondition(
        comparator="=" if quantity.comparator == "~" else quantity.comparator,
        low=quantity.value,
        high=quantity.high,
        unit=quantity.unit,
        first=first,
        last=last,
        used=tuple(span for span in spans if span != quantity.unit_span or not counted),
        plain=plain,
        concept=tuple(word for word in quantity.concept if word not in LABELS),
        value_span=quantity.value_span,
        unit_span=quantity.unit_span,
    )
    if not condition.unit:
        condition = _as_year(tokens, condition) if years else condition
        condition = _scaled(tokens, _with_bracketed_unit(tokens, condition, units))
    return _compared(tokens, condition, quantity.family)


def _compared(tokens: Sequence[Token], condition: _RawCondition, family: str) -> _RawCondition:
    """Set the comparator from wording found only in queries: negations, labels, "from $500", "over 2 hours"."""
    first = condition.first
    lead = tokens[first - 1] if first else None
    if condition.comparator == ">" and lead is not None and lead.text == "<":
        return replace(condition, comparator="!=", used=(*condition.used, (lead.start, lead.end)))  # "<> 5"
    if lead is None or not (condition.plain or condition.comparator == "between"):
        return condition
    negation = _negation(tokens, first) or (_negation(tokens, first - 1) if lead.low in EDGES else None)
    if negation is not None:
        return replace(
            condition, comparator="!=", plain=False, used=(*condition.used, (negation[0], tokens[first].start))
        )
    if not condition.plain:
        return condition
    if (label := _label(tokens, first)) is not None:
        return replace(condition, comparator=label[0], plain=False, used=(*condition.used, label[1]))
    if lead.low == "over" and family == "time":
        return replace(condition, comparator=">", plain=False)
    if lead.low == "from" and family == "currency":
        return replace(condition, comparator=">=")
    return condition


def _in_name(tokens: Sequence[Token], k: int) -> bool:
    """Whether a number word is part of a name: "Bobsleigh Men's Four"."""
    return k > 0 and tokens[k].kind == "word" and tokens[k].text.istitle() and tokens[k - 1].kind == "word"


def _as_year(tokens: Sequence[Token], condition: _RawCondition) -> _RawCondition:
    """A bare number of four digits under "older than", "no later than" and the like, as a calendar year."""
    words = [t.low for t in tokens[condition.first : condition.last]]
    asks = next((DATE_WORDS[word] for word in words if word in DATE_WORDS), None)
    digits = next((t.text for t in tokens[condition.first : condition.last] if t.kind == "number"), "")
    if asks is None or len(digits) != 4 or not digits.isdigit() or not FIRST_YEAR <= condition.low <= LAST_YEAR:
        return condition
    # "older than 2010" is over 10 years, but before 2010.
    flip = "older" in words and condition.comparator in FLIPPED
    return replace(
        condition, unit=CALENDAR_YEAR, comparator=FLIPPED[condition.comparator] if flip else condition.comparator
    )


def _scaled(tokens: Sequence[Token], condition: _RawCondition) -> _RawCondition:
    """A bare number with a magnitude's letter after a space: "1.6 M"."""
    k = condition.last
    if condition.unit or k >= len(tokens) or tokens[k - 1].kind != "number" or tokens[k].text not in QUERY_SCALES:
        return condition
    scale, span = QUERY_SCALES[tokens[k].text], (condition.value_span[0], tokens[k].end)
    return replace(
        condition,
        low=condition.low * scale,
        high=condition.high * scale,
        last=k + 1,
        used=(*condition.used, span),
        value_span=span,
    )


def _ratings(tokens: Sequence[Token], conditions: Sequence[_RawCondition]) -> list[_RawCondition]:
    """Drop the scales of ratings: "8.3/10 stars" is 8.3 stars."""
    merged: list[_RawCondition] = []
    for each in conditions:
        a = merged[-1] if merged else None
        out_of = a is not None and not a.unit and each.plain and each.low in OUT_OF and each.first - a.last == 1
        if a is not None and out_of and a.high <= each.low and tokens[a.last].text == "/":
            merged[-1] = replace(
                a, unit=each.unit, unit_span=each.unit_span, last=each.last, used=(*a.used, *each.used)
            )
        else:
            merged.append(each)
    return merged


def _negation(tokens: Sequence[Token], first: int) -> Span | None:
    """The characters of a negation that ends before a token."""
    for k in range(min(LONGEST_NEGATION, first), 0, -1):
        if tuple(t.low for t in tokens[first - k : first]) in NEGATIONS:
            return tokens[first - k].start, tokens[first - 1].end
    return None


def _label(tokens: Sequence[Token], first: int) -> tuple[Comparator, Span] | None:
    """What "minimum battery of", "max. weight:" before a token makes of its number; and the label's characters."""
    for k in range(first - 1, max(-1, first - 1 - LABEL_REACH), -1):
        token = tokens[k]
        if token.low in LABELS and (k == 0 or tokens[k - 1].kind != "number"):
            return LABELS[token.low], (token.start, token.end)
        if token.kind == "number" or (token.kind == "mark" and token.text not in ":.="):
            return None
    return None


def _with_bracketed_unit(tokens: Sequence[Token], condition: _RawCondition, units: Units) -> _RawCondition:
    """A bare number with the unit that its concept carries in brackets: "revenue (USD) less than 1,500,000"."""
    k = condition.first
    if not condition.unit and k > 2 and tokens[k - 3].text == "(" and tokens[k - 1].text == ")":
        unit = units.lookup(tokens[k - 2].text)
        if unit is not None:
            span = tokens[k - 3].start, tokens[k - 1].end
            return replace(condition, unit=unit.name, used=(*condition.used, span))
    return condition


def _ranges(tokens: Sequence[Token], conditions: Sequence[_RawCondition], units: Units) -> list[_RawCondition]:
    """Pairs that are one range, also with the upper end first or in two units: "between 2.3 hours and 90 minutes"."""
    joined: list[_RawCondition] = []
    for each in conditions:
        both = _range(tokens, joined[-1], each, units) if joined else None
        if both is None:
            joined.append(each)
        else:
            joined[-1] = both
    return joined


def _range(tokens: Sequence[Token], a: _RawCondition, b: _RawCondition, units: Units) -> _RawCondition | None:
    ends = a.comparator in ("=", "between") and a.plain, b.comparator in ("=", "between") and b.plain
    within = tokens[a.first].low == "within" and a.comparator == "<="
    if not (ends[0] or within) or not ends[1] or b.first - a.last != 1:
        return None
    lead = a.first if within else a.first - 1
    while (
        lead > 0 and a.first - lead < 4 and tokens[lead].low in ("the", "years", "year", "of", "a", "about", "around")
    ):
        lead -= 1
    if lead < 0 or tokens[a.last].low not in EDGES.get(tokens[lead].low, ()):
        return None
    unit = a.unit or b.unit
    if a.unit and b.unit and units.get(a.unit).base_unit != units.get(b.unit).base_unit:
        return None
    scale = (b.low, b.high) if b.unit in ("", unit) else tuple(units.convert(x, b.unit, unit) for x in (b.low, b.high))
    low, high = min(a.low, scale[0]), max(a.high, scale[1])
    return replace(
        a,
        comparator="between",
        low=low,
        high=high,
        unit=unit,
        first=lead,
        last=b.last,
        used=(*a.used, *b.used, (tokens[lead].start, b.value_span[1])),
        plain=False,
        concept=a.concept or b.concept,
        value_span=(a.value_span[0], b.value_span[1]),
        unit_span=a.unit_span or b.unit_span,
    )


def _lend(tokens: Sequence[Token], conditions: Sequence[_RawCondition], units: Units) -> list[_RawCondition]:
    """Share a unit or concept stated once between two: "over 4000 mAh and under 5000", "over 5 but below 9 kg"."""
    done: list[_RawCondition] = []
    for b in conditions:
        a = done[-1] if done else None
        if a is not None and all(t.low in CONNECTORS for t in tokens[a.last : b.first]) and a.last < b.first:
            if a.unit and not b.unit and not b.plain:
                b = replace(b, unit=a.unit, unit_span=a.unit_span)
            elif b.unit and not a.unit and not a.plain and b.unit != CALENDAR_YEAR:
                a = replace(a, unit=b.unit, unit_span=b.unit_span)
            if units.get(a.unit).base_unit == units.get(b.unit).base_unit:
                a = replace(a, concept=a.concept or b.concept)
                b = replace(b, concept=b.concept or a.concept)
            done[-1] = a
        done.append(b)
    return done


def _condition(text: str, condition: _RawCondition, units: Units) -> Condition:
    return Condition(
        comparator=condition.comparator,
        value=condition.low,
        high=condition.high,
        unit=condition.unit,
        base_unit=units.get(condition.unit).base_unit,
        base_value=units.to_base(condition.low, condition.unit),
        base_high=units.to_base(condition.high, condition.unit),
        concept=condition.concept,
        value_text=text[slice(*condition.value_span)],
        unit_text=text[slice(*condition.unit_span)] if condition.unit_span else "",
    )


def _outside(tokens: Sequence[Token], spans: Sequence[Span]) -> Iterator[Token]:
    """The tokens that lie in none of the spans, which are sorted by their starts."""
    position, reached = 0, 0
    for token in tokens:
        while position < len(spans) and spans[position][0] <= token.start:
            reached = max(reached, spans[position][1])
            position += 1
        if token.end > reached:
            yield token
