"""What a quantity is, what a condition on one is, and how both lie in tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from qbench.errors import OptionError

if TYPE_CHECKING:
    import polars as pl

Span = tuple[int, int]

MentionComparator = Literal["=", "~", "<", "<=", ">", ">=", "between"]
"""How a mention bounds its value: "more than 5" is ">", "about 5" is "~", "5 to 8" is "between"."""

MENTION_COMPARATORS: tuple[MentionComparator, ...] = get_args(MentionComparator)

NEGATED: dict[str, MentionComparator] = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}
"""What a bound says where it is denied: "not more than"."""

Change = Literal["", "up", "down"]
CHANGES: tuple[Change, ...] = get_args(Change)
"""Which way a value moved, by the mention's words: "rose 5%" is "up"; "" where nothing moved."""

Comparator = Literal["=", "!=", "<", "<=", ">", ">=", "between"]
"""What a query asks of a value."""

COMPARATORS: tuple[Comparator, ...] = get_args(Comparator)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One mention of a quantity in a text.

    Attributes:
        value: the number, magnitudes multiplied out ("$3.5 million" -> 3500000.0).
        high: the upper end of a range; equal to `value` for a single number.
        comparator: how the text bounds the value.
        change: "up" or "down" for the size of a change; "" otherwise.
        unit: canonical name ("kilogram", "dollar", "employee"; "" for none).
        family: what the unit measures ("mass", "currency", "count"; "" for none).
        base_unit: the unit in which values of the same family compare ("pound" -> "kilogram"). Two
            quantities compare if and only if their base units are equal.
        base_value, base_high: `value` and `high` in the base unit.
        concept: the words that say what the number is about, lower-case, in order.
        subject: the words for who or what has it, where `concept` names what is measured: concept "net worth", subject
            "founders"; () where nothing more is said.
        digits: number of significant digits as written.
        value_span, unit_span, comparator_span: half-open character spans in the text.
        concept_spans: one span for each stretch of words of concept and subject.
    """

    value: float
    high: float
    comparator: MentionComparator
    unit: str
    family: str
    base_unit: str
    base_value: float
    base_high: float
    concept: tuple[str, ...] = ()
    digits: int = 0
    value_span: Span = (0, 0)
    unit_span: Span | None = None
    comparator_span: Span | None = None
    concept_spans: tuple[Span, ...] = ()
    change: Change = ""
    subject: tuple[str, ...] = ()

    @property
    def extent(self) -> Span:
        """From the first to the last character of value, unit and comparator."""
        spans = [span for span in (self.value_span, self.unit_span, self.comparator_span) if span is not None]
        return min(start for start, _ in spans), max(end for _, end in spans)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a query asks of one quantity: `concept` `comparator` `value` `unit`.

    Attributes:
        comparator: one of = != < <= > >= between.
        value: the number, or the lower end for "between" (both ends included), and for "!=" of a range.
        high: the upper end of these, else equal to `value`.
        unit: canonical unit name, "" for a bare number.
        base_unit, base_value, base_high: the same in the unit that values compare in.
        concept: lower-case words of what it is about; () where only unit and value count.
        value_text, unit_text: as written in the query; "" where unknown.
        change: "up" or "down" where the size of a change is asked for ("fell by more than 5%"); "" for a level.
    """

    comparator: Comparator
    value: float
    high: float
    unit: str
    base_unit: str
    base_value: float
    base_high: float
    concept: tuple[str, ...] = ()
    value_text: str = ""
    unit_text: str = ""
    change: Change = ""

    def __post_init__(self) -> None:
        if self.comparator not in COMPARATORS:
            raise OptionError("unknown comparator", value=self.comparator, remedy=f"Use one of {' '.join(COMPARATORS)}")
        numbers = (self.value, self.high, self.base_value, self.base_high)
        if not all(abs(number) < float("inf") for number in numbers):
            raise OptionError("a condition needs finite values", value=numbers)
        if self.high < self.value:
            raise OptionError("the upper end of a range lies below the lower one", value=(self.value, self.high))

    def to_dict(self) -> dict[str, Any]:
        """A dict that JSON and polars can hold; concept words joined by spaces."""
        row: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        row["concept"] = " ".join(self.concept)
        return row

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Condition:
        """The inverse of `to_dict`.

        Raises:
            OptionError: an entry is unknown, missing or of another type, or a number is not finite.
        """
        if not isinstance(data, dict):
            raise OptionError("a condition is an object of its parts", value=data)
        parts: dict[str, Any] = {}
        for part in fields(cls):
            value = data.get(part.name, () if part.default is MISSING else part.default)
            if part.name == "concept":
                parts[part.name] = tuple(value.split()) if isinstance(value, str) else value
            elif part.type == "float" and isinstance(value, int | float) and not isinstance(value, bool):
                parts[part.name] = _double(value) + 0.0  # no -0
            elif part.type != "float" and isinstance(value, str):
                parts[part.name] = value
            else:
                raise OptionError(f"{part.name} of a condition is missing, or of another type", value=data)
        if not isinstance(parts["concept"], tuple) or parts["change"] not in CHANGES:
            raise OptionError("concept or change of a condition is of another type", value=data)
        if unknown := sorted(map(str, data.keys() - parts.keys())):
            raise OptionError("unknown entry of a condition", value=unknown[0], remedy=f"Known: {', '.join(parts)}")
        return cls(**parts)


def _double(number: float) -> float:
    """A number as float; an integer that is too large for one is infinite."""
    try:
        return float(number)
    except OverflowError:
        return float("inf")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a query's text says.

    Attributes:
        terms: the search words T_x, in order, without quantities, comparators and function words.
        conditions: one for each quantity, in order; () for a query without any.
    """

    terms: str
    conditions: tuple[Condition, ...]


def change_symbol(quantity: Quantity) -> str:
    """The six-valued change: = ~ < > up down. "5 to 8" is "=", "rose more than 5%" ">", "rose about 5%" "up"."""
    if quantity.change and quantity.comparator in ("=", "~"):
        return quantity.change
    return {"<=": "<", ">=": ">", "between": "="}.get(quantity.comparator, quantity.comparator)


def moved(quantity: Quantity, shift: Callable[[int], int]) -> Quantity:
    """A mention whose spans begin and end elsewhere: `shift` gives the place of each old one."""

    def span(old: Span) -> Span:
        return shift(old[0]), shift(old[1])

    return replace(
        quantity,
        value_span=span(quantity.value_span),
        unit_span=quantity.unit_span and span(quantity.unit_span),
        comparator_span=quantity.comparator_span and span(quantity.comparator_span),
        concept_spans=tuple(map(span, quantity.concept_spans)),
    )


def moved_by(quantity: Quantity, offset: int) -> Quantity:
    """A mention whose spans count from another place, which lies `offset` characters before."""
    return moved(quantity, lambda at: at + offset) if offset else quantity


def quantity_schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of a quantity table: `doc_id`, then the fields of `Quantity`.

    `doc_id` names the retrieval unit (a sentence). Spans are two columns each, -1 where there is none;
    `concept` is one string, its words joined by single spaces.
    """
    import polars as pl

    return {
        "doc_id": pl.String,
        "value": pl.Float64,
        "high": pl.Float64,
        "comparator": pl.String,
        "unit": pl.String,
        "family": pl.String,
        "base_unit": pl.String,
        "base_value": pl.Float64,
        "base_high": pl.Float64,
        "concept": pl.String,
        "digits": pl.Int16,
        "value_start": pl.Int32,
        "value_end": pl.Int32,
        "unit_start": pl.Int32,
        "unit_end": pl.Int32,
        "comparator_start": pl.Int32,
        "comparator_end": pl.Int32,
        "concept_spans": pl.List(pl.List(pl.Int32)),
        "change": pl.String,
        "subject": pl.String,
    }


def to_row(doc_id: str, quantity: Quantity) -> dict[str, Any]:
    """One row of a quantity table."""
    unit = quantity.unit_span or (-1, -1)
    comparator = quantity.comparator_span or (-1, -1)
    return {
        "doc_id": doc_id,
        "value": quantity.value,
        "high": quantity.high,
        "comparator": quantity.comparator,
        "unit": quantity.unit,
        "family": quantity.family,
        "base_unit": quantity.base_unit,
        "base_value": quantity.base_value,
        "base_high": quantity.base_high,
        "concept": " ".join(quantity.concept),
        "digits": quantity.digits,
        "value_start": quantity.value_span[0],
        "value_end": quantity.value_span[1],
        "unit_start": unit[0],
        "unit_end": unit[1],
        "comparator_start": comparator[0],
        "comparator_end": comparator[1],
        "concept_spans": [list(span) for span in quantity.concept_spans],
        "change": quantity.change,
        "subject": " ".join(quantity.subject),
    }


def from_row(row: dict[str, Any]) -> Quantity:
    """The inverse of `to_row`, without its doc_id."""
    return Quantity(
        value=row["value"],
        high=row["high"],
        comparator=row["comparator"],
        unit=row["unit"],
        family=row["family"],
        base_unit=row["base_unit"],
        base_value=row["base_value"],
        base_high=row["base_high"],
        concept=tuple(row["concept"].split()),
        digits=row["digits"],
        value_span=(row["value_start"], row["value_end"]),
        unit_span=None if row["unit_start"] < 0 else (row["unit_start"], row["unit_end"]),
        comparator_span=None if row["comparator_start"] < 0 else (row["comparator_start"], row["comparator_end"]),
        concept_spans=tuple((a, b) for a, b in row["concept_spans"]),
        change=row["change"],
        subject=tuple(row["subject"].split()),
    )
