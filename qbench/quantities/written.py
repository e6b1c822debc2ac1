"""The numbers that stand in a text, from its mentions or a query's conditions: what neural models replace or mark."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from qbench.models.numbers import Number
from qbench.quantities.types import Condition, Quantity, Span


@dataclass(frozen=True, slots=True)
class ConditionSpans:
    """Half-open character spans of a condition in its query's text; None where it is not written there.

    Attributes:
        value: of the number; of a range from its lower to its upper end.
        unit: of the unit nearest to it.
    """

    value: Span | None
    unit: Span | None


def condition_spans(text: str, conditions: Sequence[Condition]) -> tuple[ConditionSpans, ...]:
    """Where a query's text has the values and units of its conditions.

    >>> from dataclasses import replace
    >>> weight = Condition("<", 2, 2, "pound", "kilogram", 0.9, 0.9, value_text="2", unit_text="lb")
    >>> condition_spans("12 laptops under 2 lb", [weight])
    (ConditionSpans(value=(17, 18), unit=(19, 21)),)
    >>> condition_spans("between 2 and 4 lb", [replace(weight, comparator="between", high=4, value_text="2 to 4")])
    (ConditionSpans(value=(8, 15), unit=(16, 18)),)
    """
    taken: list[Span] = []
    spans = []
    for condition in conditions:
        value = next((span for span in _written(text, condition.value_text) if not _meets(span, taken)), None)
        value = value or _between(text, condition.value_text)
        unit = None
        if value is not None:
            taken.append(value)
            near = [span for span in _written(text, condition.unit_text) if not _meets(span, taken)]
            unit = min(near, key=lambda span: _distance(span, taken[-1]), default=None)
        spans.append(ConditionSpans(value, unit))
    return tuple(spans)


def stated_numbers(text: str, mentions: Iterable[Quantity]) -> list[Number]:
    """The numbers of a text's mentions, in order of their spans.

    Both ends of a range are numbers where they are written in digits ("5 to 8 kg"); else it is its lower end. Left
    out are numbers that are not finite, lie outside the text, or have characters of one before them.

    Args:
        text: the text.
        mentions: with spans in it.
    """
    found: list[Number] = []
    for place, one in enumerate(mentions):
        found += _ends(text, one.value_span, one.value, one.high, one.unit, one.unit_span, place)
    return _apart(found, len(text))


def asked_numbers(
    text: str, conditions: Sequence[Condition], spans: Sequence[ConditionSpans] | None = None
) -> list[Number]:
    """The numbers of a query's conditions, in order of their spans, each with its operator.

    >= counts as >, and <= as <; of a range the lower end is asked with > and the upper one with <; != has no operator.

    Args:
        text: of the query.
        conditions: those of the query; one whose value is not written in the text gives no number.
        spans: of the conditions; found in the text by default.
    """
    found = []
    for place, (condition, at) in enumerate(zip(conditions, spans or condition_spans(text, conditions), strict=True)):
        if at.value is not None:
            ends = _ends(text, at.value, condition.value, condition.high, condition.unit, at.unit, place)
            # "Not 5-10 kg" has no operator, at either end.
            asked = (">", "<") if condition.comparator == "between" else (_operator(condition.comparator),) * 2
            found += [
                Number(end.value, end.unit, end.span, end.unit_span, place, operator)
                for end, operator in zip(ends, asked, strict=False)
            ]
    return _apart(found, len(text))


def _operator(comparator: str) -> str:
    return "" if comparator == "!=" else comparator[0]


_LETTER = r"[^\W\u4e00-\u9fff]"
"""A letter or digit, but no Han character."""
_DIGITS = re.compile(r"(?<!\S)[-+\u2212]?\d(?:[\d.,]*\d)?|\d(?:[\d.,]*\d)?")


def _ends(
    text: str, span: Span, value: float, high: float, unit: str, unit_span: Span | None, source: int
) -> Iterator[Number]:
    """A number, or both ends of a range, which must be the only two numbers in digits within its span."""
    digits = list(_DIGITS.finditer(text[: span[1]], span[0])) if high != value else []
    if len(digits) == 2:
        first, second = digits
        ends = [(span[0], first.end()), (second.start(), span[1])]
        if _falls(first[0], second[0], value, high):
            ends.reverse()
        yield Number(value, unit, ends[0], unit_span, source)
        yield Number(high, unit, ends[1], unit_span, source)
    else:
        yield Number(value, unit, span, unit_span, source)


def _falls(first: str, second: str, low: float, high: float) -> bool:
    """Whether a range is written from its higher to its lower end ("8 to 5"), whatever scale its digits have.

    >>> _falls("8", "5", 5e3, 8e3), _falls("900", "1", 9e5, 1e6), _falls("1,000", "2,000", 1000, 2000)
    (True, False, False)
    """
    try:
        left, right = (float(number.replace(",", "").replace("\u2212", "-")) for number in (first, second))
    except ValueError:  # digits in groups of another kind
        return False
    return math.isclose(left * low, right * high, rel_tol=1e-9)


def _apart(numbers: Iterable[Number], length: int) -> list[Number]:
    """Numbers in order, without those that cannot be replaced."""
    kept: list[Number] = []
    for number in sorted(numbers, key=lambda number: number.span):
        start, end = number.span
        free = (kept[-1].span[1] if kept else 0) <= start < end <= length
        if free and math.isfinite(number.value):
            kept.append(number)
    return kept


def _written(text: str, words: str) -> list[Span]:
    """Where some words stand by themselves; Han characters may touch a number."""
    if not words:
        return []
    before, after = rf"(?<!{_LETTER})(?<!\.)", rf"(?!{_LETTER}|[.,]\d)"
    pattern = f"{before}{re.escape(words)}{after}" if words[0].isdigit() else re.escape(words)
    return [match.span() for match in re.finditer(pattern, text)]


def _between(text: str, words: str) -> Span | None:
    """From the lower to the upper end of a range "50 to 90", however the text joins them."""
    low, to, high = words.partition(" to ")
    if not to:
        return None
    starts = _written(text, low)
    ends = [span for span in _written(text, high) if starts and span[0] >= starts[0][1]]
    return (starts[0][0], ends[0][1]) if ends else None


def _meets(span: Span, others: Sequence[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def _distance(a: Span, b: Span) -> int:
    return max(b[0] - a[1], a[0] - b[1])
