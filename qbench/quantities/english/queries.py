"""The query side: a typed query -> search words and conditions, by the same engine that reads documents."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from qbench.quantities.english.ambiguity import resolve
from qbench.quantities.english.amounts import CALENDAR_YEAR
from qbench.quantities.english.comparator_phrases import after as phrase_after
from qbench.quantities.english.query_bounds import LABELS, LIMITED, bound_before, compared, negation_before
from qbench.quantities.english.query_changes import change, of_changes
from qbench.quantities.english.query_concepts import Concepts
from qbench.quantities.english.query_conditions import ReadCondition, join, portions
from qbench.quantities.english.query_counts import counts_between, counts_nothing, glued_count
from qbench.quantities.english.query_dates import AskedDate, read_dates
from qbench.quantities.english.query_money import as_money
from qbench.quantities.english.query_names import in_name, is_name, is_paid_for
from qbench.quantities.english.query_naming import with_names
from qbench.quantities.english.query_spelling import as_in_prose
from qbench.quantities.english.query_text import in_phrase, quoted, search_words
from qbench.quantities.english.tokens import Token, glued, tokenize
from qbench.quantities.english.unit_forms import PIECES
from qbench.quantities.languages import Extractor
from qbench.quantities.types import Comparator, Condition, ParsedQuery, Quantity, Span
from qbench.quantities.units import Units

QUERY_SCALES = {"K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
"""Letters that a query may leave a space before: "budget over 1.6 M"."""
DATE_WORDS: dict[str, Comparator] = {"older": "<", "earlier": "<", "newer": ">", "later": ">", "recent": ">"}
"""Comparatives that make a number of four digits a year: "no later than 2010", "cars older than 2010"."""
FLIPPED: dict[Comparator, Comparator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
FIRST_YEAR, LAST_YEAR = 1500, 2100
MOST_FOLD = 100
"""A multiple, "10x zoom", is no more; the rest are names: "ryzen 5600x"."""
REACH = 30
_DIGITS_OF_MINUTES = 2
MAGNIFIERS = frozenset("microscope magnification objective loupe telescope".split())
GRADES = frozenset("grade level stage tier class category phase type version group band floor".split())
"""Labels whose numbers have an order: "grade 3 or higher"."""
GASES = frozenset(("co", "no", "so"))
MINUTES = 100
"""So few before "min" are minutes, and "min" no bound of the next amount."""
MOST_LEVELS = 20
"""There are so many levels of a game or a course; a higher one is a value."""
TIMES = frozenset("x × by".split())
PER_PERSON = frozenset("pp pppn ppn pppw".split())
"""For whom a sum of money is, in short: "cruise £900 pp"."""
LEADS = frozenset("aged doing getting ideally preferably definitely hopefully".split())
"""Words right before a condition that say nothing else."""


def parse_query(text: str, extractor: Extractor) -> ParsedQuery:
    """Read a query's search words and conditions from its text.

    "phone battery over 4000 mAh, not 5 inches" -> terms "phone battery", conditions > 4000 milliampere hour and
    != 5 inch. A number without bound words asks for equality; "about" does too. Two bounds on one thing are two
    conditions, so that each keeps its own strictness: "more than 5 but less than 10 kg" is > 5 kg and < 10 kg, while
    "between 5 and 10 kg", "5-10 kg" and "from 5 to 10 kg" are one, both ends included, in whatever order they are
    given. With an extractor that reports years, dates are conditions too: "in the 90s" is between 1990 and 1999.
    """
    plain, phrases = as_in_prose(text, extractor.units), quoted(text)
    tokens = tokenize(plain)
    conditions = [each for each in _read(plain, tokens, extractor) if not in_phrase(each.value_span[0], phrases)]
    conditions = with_names(tokens, join(tokens, conditions, extractor.units), extractor.units)
    conditions = [_told(text, each) for each in conditions]
    years = bool(getattr(extractor, "years", False))
    leads = (*_leads(tokens, conditions), *of_changes(tokens, conditions))
    beside = (*portions(tokens), *leads, *(() if years else _bounds_of_years(tokens)))
    used = sorted([*(span for each in conditions for span in each.used), *beside])
    words = search_words(text, tokens, used, phrases)
    concepts = Concepts(text, words, conditions, extractor.units).all()
    return ParsedQuery(
        " ".join(word.text for word in words),
        tuple(_condition(text, *each, extractor.units) for each in zip(conditions, concepts, strict=True)),
    )


def _read(text: str, tokens: Sequence[Token], extractor: Extractor) -> list[ReadCondition]:
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
    read = {each.value_span for each in conditions}
    conditions += (*_grades(tokens, read), *_glued_counts(tokens, read, extractor.units), *_hours(tokens))
    return sorted(conditions, key=lambda each: each.value_span)


def _told(text: str, condition: ReadCondition) -> ReadCondition:
    """The condition without the currency that stands in for the "pcm" of "800 pcm", which `as_in_prose` wrote."""
    span = condition.unit_span
    if span is None or condition.unit.partition(" per ")[0] != "dollar" or "$" in text[slice(*span)]:
        return condition
    if any(letter in text[slice(*span)].lower() for letter in "du"):
        return condition
    return replace(condition, unit="", unit_span=None)


def _leads(tokens: Sequence[Token], conditions: Sequence[ReadCondition]) -> Iterator[Span]:
    """The words that only lead to or end a condition: "women aged 18-45", "doing at least 50 mpg", "5 years ago"."""
    for a, b in pairwise(conditions):
        if b.first - a.last == 1 and tokens[a.last].low in TIMES:
            yield tokens[a.last].start, tokens[a.last].end
    for each in conditions:
        before = tokens[each.first - 1] if each.first else None
        if each.last < len(tokens) and tokens[each.last].low in ("ago", *PER_PERSON):
            yield tokens[each.last].start, tokens[each.last].end
        lasts = before is not None and before.low == "aged" and not each.unit.endswith("of age")
        if before is not None and before.low in LEADS and not lasts:  # "whiskey aged 12 years" is searched for as aged
            yield before.start, before.end


def _bounds_of_years(tokens: Sequence[Token]) -> Iterator[Span]:
    """The "or newer" of "cars 2015 or newer", where years are no conditions: nobody writes it in a document."""
    for k, token in enumerate(tokens):
        phrase = phrase_after(tokens, k + 1)
        year = len(token.text) == 4 and token.text.isdecimal() and FIRST_YEAR <= int(token.text) <= LAST_YEAR
        if year and phrase is not None and phrase[2][-1] in DATE_WORDS:
            yield tokens[k + 1].start, tokens[phrase[1] - 1].end


def _grades(tokens: Sequence[Token], read: set[Span]) -> Iterator[ReadCondition]:
    """ "grade 3 or higher": the number of a label is no quantity, but one that is bounded is a condition."""
    for k in range(1, len(tokens)):
        label, number = tokens[k - 1], tokens[k]
        span = number.start, number.end
        if label.low not in GRADES or not number.text.isdecimal() or len(number.text) > 2 or span in read:
            continue
        about, value = (label.start, label.end), float(number.text)
        late, early = phrase_after(tokens, k + 1), bound_before(tokens, k - 1)
        if late is not None and late[0] in (">=", "<="):
            used: tuple[Span, ...] = ((span[0], tokens[late[1] - 1].end),)
            comparator: Comparator = ">=" if late[2][-1] == "worse" else late[0]  # "grade 3 or worse"
            yield ReadCondition(comparator, value, value, "", k, late[1], used, False, (about,), span)
        elif early is not None:
            used = ((tokens[early[1]].start, tokens[k - 2].end), span)
            yield ReadCondition(early[0], value, value, "", k, k + 1, used, False, (about,), span)
        elif label.low == "level" and value > MOST_LEVELS and k > 1 and tokens[k - 2].kind == "word":
            yield ReadCondition("=", value, value, "", k, k + 1, (span,), True, value_span=span)  # "oxygen level 91"


def _glued_counts(tokens: Sequence[Token], read: set[Span], units: Units) -> Iterator[ReadCondition]:
    """ "4person tent", "24pack": a document writes a space there."""
    for k, number in enumerate(tokens):
        span = number.start, number.end
        if span in read or (noun := glued_count(tokens, k)) is None:
            continue
        value, after = float(number.text), tokens[k + 1]
        yield ReadCondition(
            "=", value, value, units.get(noun).name, k, k + 2, (span,), plain=True, value_span=span,
            unit_span=(after.start, after.end),
        )  # fmt: skip


def _hours(tokens: Sequence[Token]) -> Iterator[ReadCondition]:
    """ "marathons below 2h10": hours with their minutes, as a stopwatch says them."""
    for k, (hours, h, minutes) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        if h.low != "h" or not (glued(hours, h) and glued(h, minutes)) or (k and glued(tokens[k - 1], hours)):
            continue
        if not (hours.text.isdecimal() and minutes.text.isdecimal()) or len(minutes.text) != _DIGITS_OF_MINUTES:
            continue
        value, span, bound = (
            int(hours.text) + int(minutes.text) / 60,
            (hours.start, minutes.end),
            bound_before(tokens, k),
        )
        first = k if bound is None else bound[1]
        yield ReadCondition(
            "=" if bound is None else bound[0], value, value, "hour", first, k + 3,
            ((tokens[first].start, minutes.end),), plain=bound is None, value_span=span,
        )  # fmt: skip


def _from_date(tokens: Sequence[Token], date: AskedDate) -> ReadCondition:
    comparator, low, high = date.condition()
    reading = date.reading
    span = (tokens[date.first].start, tokens[date.last - 1].end)
    used = (tokens[reading.first].start, tokens[reading.last - 1].end)
    plain = reading.comparator in ("=", "~")
    if plain and comparator in ("=", "between") and (negation := negation_before(tokens, reading.first)) is not None:
        comparator, used = "!=", (negation[0], used[1])
    return ReadCondition(
        comparator, low, high, CALENDAR_YEAR, reading.first, reading.last, (used,), plain, value_span=span
    )


def _from_quantity(
    tokens: Sequence[Token], starts: Sequence[int], quantity: Quantity, units: Units, *, years: bool
) -> ReadCondition | None:
    """A quantity as a condition; None for a number of results, or one that is part of a name."""
    quantity = as_money(tokens, quantity, units)
    spans = _own_spans(tokens, starts, quantity)
    if _is_label_of_next(tokens, starts, quantity):
        quantity = replace(quantity, comparator="=", comparator_span=None)
        spans = spans[:1] + spans[2:]
    first = bisect_left(starts, min(start for start, _ in spans))
    last = bisect_left(starts, max(end for _, end in spans))
    if not quantity.unit and (noun := counts_between(tokens, last, quantity)) is not None:
        unit = units.get(noun.low)
        quantity = replace(quantity, unit=unit.name, family="count", base_unit=unit.base_unit)
        quantity = replace(quantity, unit_span=(noun.start, noun.end))
        last += 1
    if quantity.family == "count" and counts_nothing(tokens, starts, first, quantity):
        quantity = replace(quantity, unit="", family="", base_unit="", unit_span=None)
        last = bisect_left(starts, quantity.value_span[1])
        closing = phrase_after(tokens, last)  # "resp rate 30 or more sats below 90"
        last = closing[1] if closing is not None and closing[0] == quantity.comparator else last
        last += last < len(tokens) and tokens[last].text == "+"
        spans = [span for span in spans if span[1] <= quantity.value_span[1]]
        spans.append((quantity.value_span[0], tokens[last - 1].end))
    counted = quantity.family == "count"
    plain = quantity.comparator in ("=", "~")
    number, after_value = bisect_left(starts, quantity.value_span[0]), quantity.value_span[1]
    if _is_of_name(tokens, number, first, last, quantity, units):
        return None
    # Of "2x ebitda" and "3br" nobody searches for the letters.
    fold = quantity.unit == "count" or any(t.low in PIECES for t in tokens[number:last] if t.start >= after_value)
    spans = [part for span in spans for part in (_around_gas(tokens, *span) if span == quantity.unit_span else [span])]
    condition = ReadCondition(
        comparator="=" if quantity.comparator == "~" else quantity.comparator,
        low=quantity.value,
        high=quantity.high,
        unit=quantity.unit,
        first=first,
        last=last,
        used=tuple(span for span in spans if span != quantity.unit_span or not counted or fold),
        plain=plain,
        concept_spans=quantity.concept_spans,
        value_span=quantity.value_span,
        unit_span=quantity.unit_span,
        change=change(tokens, first, last, quantity),
    )
    if years and condition.unit in ("", CALENDAR_YEAR):
        condition = _as_year(tokens, condition)
    if not condition.unit:
        condition = _scaled(tokens, _with_bracketed_unit(tokens, condition, units))
        condition = _without_period(tokens, condition)
    return compared(tokens, condition, quantity.family)


def _own_spans(tokens: Sequence[Token], starts: Sequence[int], quantity: Quantity) -> list[Span]:
    """The characters of an amount's number, of the words that bound it, and of its unit if that stands beside it."""
    spans = [span for span in (quantity.value_span, quantity.comparator_span) if span is not None]
    after = bisect_left(starts, quantity.value_span[1])
    # The unit of "22 million and $82 million" is lent by the second, and no part of the first.
    joint = after + (after < len(tokens) and tokens[after].text in "-(+")
    if quantity.unit_span is not None and bisect_left(starts, quantity.unit_span[0]) <= joint:
        spans.append(quantity.unit_span)
    return spans


def _is_of_name(tokens: Sequence[Token], number: int, first: int, last: int, quantity: Quantity, units: Units) -> bool:
    """Whether the number at token `number`, with its words from `first` to `last`, is part of a name: "ryzen 5600x"."""
    if quantity.unit == "count" and quantity.value > MOST_FOLD and tokens[last - 1].low != "count":
        if not any(t.low.removesuffix("s") in MAGNIFIERS for t in tokens[:REACH]):
            return True
    if is_name(tokens, number, first, last, quantity):
        return True
    counted = quantity.family == "count"
    may_be = (counted or not quantity.unit) and not _follows_amount(tokens, first, units)
    return may_be and in_name(tokens, number, first, last, counted=counted)


def _around_gas(tokens: Sequence[Token], start: int, end: int) -> Iterator[Span]:
    """The characters of a unit without the gas that stands in it, which is searched for: "130 g co2 per km"."""
    for k in range(bisect_left(tokens, start, key=lambda t: t.start), len(tokens) - 1):
        if tokens[k].end >= end:
            break
        if tokens[k].low in GASES and tokens[k + 1].text == "2" and tokens[k].start > start:
            yield start, tokens[k].start
            start = tokens[k + 1].end
    yield start, end


def _follows_amount(tokens: Sequence[Token], first: int, units: Units) -> bool:
    """Whether another amount ends before a token, so that no name goes on there: "8kg 1400 spin"."""
    if first < 2 or tokens[first - 2].kind != "number" or tokens[first - 1].kind != "word":
        return False
    unit = units.lookup(tokens[first - 1].text)
    return unit is not None and unit.family not in ("count", "time")


def _is_label_of_next(tokens: Sequence[Token], starts: Sequence[int], quantity: Quantity) -> bool:
    """Whether the "max" after a quantity bounds what is named after it: "2 kW max price $180"."""
    span = quantity.comparator_span
    if span is None:
        return False
    k = bisect_left(starts, span[0])
    if span[0] < quantity.value_span[1]:  # "10 min 4 c"
        return tokens[k].low == "min" and k > 0 and tokens[k - 1].text.isdecimal() and int(tokens[k - 1].text) < MINUTES
    if [t.low for t in tokens[k : k + 2]] in (["maximum", "dose"], ["max", "dose"]):
        return True  # "ibuprofen every 6 hours maximum dose"
    if tokens[k].low not in LABELS or k + 2 >= len(tokens) or tokens[k + 1].kind != "word":
        return False
    return tokens[k + 1].low in LIMITED or tokens[k + 2].kind == "number"  # "5 tread max load 150 kg"


def _as_year(tokens: Sequence[Token], condition: ReadCondition) -> ReadCondition:
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


def _scaled(tokens: Sequence[Token], condition: ReadCondition) -> ReadCondition:
    """A bare number with a magnitude's letter after a space: "1.6 M"."""
    k = condition.last
    if condition.unit or k >= len(tokens) or tokens[k - 1].kind != "number" or tokens[k].text not in QUERY_SCALES:
        return condition
    sense = resolve(tokens[k].text, tokens, k, k + 1)
    if sense is not None and sense.cued and sense.unit:
        return condition  # "superconductors above 77 k"
    scale, span = QUERY_SCALES[tokens[k].text], (condition.value_span[0], tokens[k].end)
    return replace(
        condition,
        low=condition.low * scale,
        high=condition.high * scale,
        last=k + 1,
        used=(*condition.used, span),
        value_span=span,
    )


def _without_period(tokens: Sequence[Token], condition: ReadCondition) -> ReadCondition:
    """A bare number without the "a month" after it, which is no search word."""
    k = condition.last
    if not is_paid_for(tokens, k):
        return condition
    last = k + 2 + (tokens[k + 1].low == "sq")
    last += last < len(tokens) and tokens[last].text in "2²" and glued(tokens[last - 1], tokens[last])  # "per km2"
    last = min(last, len(tokens))
    return replace(condition, last=last, used=(*condition.used, (tokens[k].start, tokens[last - 1].end)))


def _with_bracketed_unit(tokens: Sequence[Token], condition: ReadCondition, units: Units) -> ReadCondition:
    """A bare number with the unit that its concept carries in brackets: "revenue (USD) less than 1,500,000".

    "is", "are", "was" or "were" may stand behind the brackets.
    """
    k = condition.first
    k -= k > 0 and tokens[k - 1].low in ("is", "are", "was", "were")
    if not condition.unit and k > 2 and tokens[k - 3].text == "(" and tokens[k - 1].text == ")":
        unit = units.lookup(tokens[k - 2].text)
        if unit is not None:
            span = tokens[k - 3].start, tokens[k - 1].end
            return replace(condition, unit=unit.name, used=(*condition.used, span))
    return condition


def _condition(text: str, condition: ReadCondition, concept: tuple[str, ...], units: Units) -> Condition:
    return Condition(
        comparator=condition.comparator,
        value=condition.low,
        high=condition.high,
        unit=condition.unit,
        base_unit=units.get(condition.unit).base_unit,
        base_value=units.to_base(condition.low, condition.unit),
        base_high=units.to_base(condition.high, condition.unit),
        concept=concept,
        value_text=text[slice(*condition.value_span)].strip(),
        unit_text=text[slice(*condition.unit_span)] if condition.unit_span else "",
        change=condition.change,
    )
