"""The query side: a typed query -> search words and conditions, by the same engine that reads documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qbench.quantities.extractors import Extractor
from qbench.quantities.lexicon import SEARCH_NOISE
from qbench.quantities.tokens import Token, tokenize
from qbench.quantities.types import Comparator, Condition, Quantity, Span
from qbench.quantities.units import Units

NEGATIONS = (
    ("not",),
    ("other", "than"),
    ("except",),
    ("excluding",),
    ("different", "from"),
    ("anything", "but"),
    ("not", "equal", "to"),
    ("not", "exactly"),
)
"""Phrases before a plain number that ask for any other value."""
LONGEST_NEGATION = 3


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a query's text says.

    Attributes:
        terms: the search words T_x, in order, without quantities, comparators and function words.
        conditions: one for each quantity, in order; () for a query without any.
    """

    terms: str
    conditions: tuple[Condition, ...]


def parse_query(text: str, extractor: Extractor) -> ParsedQuery:
    """Read a query's search words and conditions from its text.

    "phone battery over 4000 mAh, not 5 inches" -> terms "phone battery", conditions > 4000 milliampere hour and
    != 5 inch. A number without bound words asks for equality; "about" does too.
    """
    tokens = tokenize(text)
    conditions: list[Condition] = []
    used: list[Span] = []
    for quantity in extractor.extract(text):
        spans = [span for span in (quantity.value_span, quantity.bound_span) if span is not None]
        if quantity.unit_span is not None and quantity.family != "count":
            spans.append(quantity.unit_span)
        start = min(span[0] for span in spans)
        comparator, negation = _comparator(tokens, quantity, start)
        unit, bracket = _bracketed_unit(tokens, quantity, start, extractor.units)
        used += [*spans, *(span for span in (negation, bracket) if span is not None)]
        conditions.append(_condition(text, quantity, comparator, unit, extractor.units))
    terms = [t.text for t in tokens if t.kind != "mark" and t.low not in SEARCH_NOISE and not _inside(t, used)]
    return ParsedQuery(" ".join(terms), tuple(conditions))


def _condition(text: str, quantity: Quantity, comparator: Comparator, unit: str, units: Units) -> Condition:
    return Condition(
        comparator=comparator,
        value=quantity.value,
        high=quantity.high,
        unit=unit,
        base_unit=units.get(unit).base_unit,
        base_value=units.to_base(quantity.value, unit),
        base_high=units.to_base(quantity.high, unit),
        concept=quantity.concept,
        value_text=text[slice(*quantity.value_span)],
        unit_text=text[slice(*quantity.unit_span)] if quantity.unit_span else "",
    )


def _comparator(tokens: Sequence[Token], quantity: Quantity, start: int) -> tuple[Comparator, Span | None]:
    """The comparator, and the span of a negation that made it."""
    bound = quantity.bound
    if bound != "=" and bound != "~":
        return bound, None
    before = [t for t in tokens if t.end <= start][-LONGEST_NEGATION:]
    for k in range(len(before), 0, -1):
        if tuple(t.low for t in before[-k:]) in NEGATIONS:
            return "!=", (before[-k].start, before[-1].end)
    return "=", None


def _bracketed_unit(tokens: Sequence[Token], quantity: Quantity, start: int, units: Units) -> tuple[str, Span | None]:
    """The unit of a bare number that its concept carries in brackets: "revenue (USD) less than 1,500,000"."""
    if quantity.unit:
        return quantity.unit, None
    before = [t for t in tokens if t.end <= start][-3:]
    if len(before) == 3 and before[0].text == "(" and before[2].text == ")":
        unit = units.lookup(before[1].text)
        if unit is not None:
            return unit.name, (before[0].start, before[2].end)
    return "", None


def _inside(token: Token, spans: Sequence[Span]) -> bool:
    return any(start <= token.start and token.end <= end for start, end in spans)
