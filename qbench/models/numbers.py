"""Numbers of a text as models learn them: mantissa and exponent, the unit's place in a list, the tokens of each number.

    value = mantissa * 10^exponent, 1 <= |mantissa| < 10 (0 = 0 * 10^0), exponents clipped to [-20, 20]

Source: *DeepQuant* 3.2 and appendix A; the same targets are those of *NumColBERT*'s auxiliary heads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.errors import InputError, OptionError

Span = tuple[int, int]

MAX_EXPONENT = 20
"""Exponents are clipped to [-MAX_EXPONENT, MAX_EXPONENT]."""

EXPONENTS = 2 * MAX_EXPONENT + 1
"""Number of classes of exponents; the class of exponent e is e + MAX_EXPONENT."""

OPERATORS = ("<", "=", ">")
"""What a query can ask of a number, in the order of the operator head's outputs."""

NUMBER_MARK = "[num]"
"""What a number is replaced with."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number written in a text.

    Attributes:
        value: finite, magnitudes multiplied out, as it stands there: not converted to another unit.
        unit: canonical name; "" for none.
        span: half-open characters of the number, with its magnitude ("3.5 million").
        unit_span: of its unit; None where none is written.
        source: position of its quantity or condition in the list that it comes from; both ends of a range have one.
        operator: in a query, what is asked of the number: one of `OPERATORS`; "" where unknown, or in a document.
    """

    value: float
    unit: str
    span: Span
    unit_span: Span | None = None
    source: int = 0
    operator: str = ""


def number_row(number: Number) -> list[Any]:
    """A number as JSON can hold it; `number_of` makes it again."""
    own = None if number.unit_span is None else list(number.unit_span)
    return [number.value, number.unit, list(number.span), own, number.source, number.operator]


def number_of(row: Sequence[Any]) -> Number:
    """The number of a row of `number_row`."""
    value, unit, (first, last), own, source, operator = row
    return Number(value, unit, (first, last), None if own is None else (own[0], own[1]), source, operator)


def number_text(number: Number) -> str:
    """A number and its unit in one phrase: "3,500,000 dollar"."""
    return f"{number.value:,.15g} {number.unit}".rstrip()


def scientific(values: Sequence[float] | NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Mantissas and exponents to base 10, each of shape (n,); *DeepQuant* 3.2.

    The mantissa has the sign of the value. Beyond the clipped exponents it keeps the value's digits: 3e300 is
    (3, 20). Zero is (0, 0).

    Args:
        values: n finite numbers.

    Raises:
        OptionError: a value is NaN or infinite: there is no number to learn.

    >>> scientific([256, -0.05, 0, 3e300])
    (array([ 2.56, -5.  ,  0.  ,  3.  ]), array([ 2, -2,  0, 20]))
    """
    mantissas, exponents = np.zeros(len(values)), np.zeros(len(values), np.int64)
    for place, value in enumerate(values):
        if not np.isfinite(value):
            raise OptionError("a number without mantissa and exponent", value=float(value), remedy="Leave it out")
        # By decimal digits: powers of ten under- and overflow, and logarithms round 1000 down.
        mantissa, _, exponent = f"{float(value):.15e}".partition("e")
        mantissas[place] = float(mantissa) + 0.0  # minus zero is zero
        exponents[place] = int(exponent)
    return mantissas, np.clip(exponents, -MAX_EXPONENT, MAX_EXPONENT)


@dataclass(frozen=True)
class UnitList:
    """The units that a model tells apart; unit names[i] has number i + 1, and 0 is every other unit.

    Attributes:
        names: canonical names, each once; "" is a number without a unit.
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        wrong = [name for name, count in Counter(self.names).items() if count > 1 or not isinstance(name, str)]
        if wrong:
            raise InputError("a list of units has each name once", value=wrong[0])

    def __len__(self) -> int:
        """Number of classes, the unknown unit among them."""
        return len(self.names) + 1

    def ids(self, units: Sequence[str]) -> NDArray[np.int64]:
        """The number of each unit, shape (n,).

        >>> UnitList(("metre", "second")).ids(["second", "parsec", "metre"])
        array([2, 0, 1])
        """
        numbers = {name: place for place, name in enumerate(self.names, 1)}
        return np.array([numbers.get(unit, 0) for unit in units], dtype=np.int64)

    def name(self, number: int) -> str:
        """The unit of a number; "(unknown)" for 0."""
        return self.names[number - 1] if number else "(unknown)"

    def with_units(self, units: Iterable[str]) -> UnitList:
        """This list, and behind it the units that it lacks, by name: no number changes.

        >>> UnitList(("second",)).with_units(["second", "metre"])
        UnitList(names=('second', 'metre'))
        """
        return UnitList((*self.names, *sorted(set(units) - set(self.names))))

    def places_in(self, other: UnitList) -> NDArray[np.int64]:
        """Where another list has the units of this one: how weights of a model with another list are taken over.

        Returns:
            shape (len(self),), numbers in `other`, of units by their names; -1 for a unit that it lacks.

        >>> UnitList(("metre", "acre")).places_in(UnitList(("second", "metre")))
        array([ 0,  2, -1])
        """
        places = other.ids(self.names)
        return np.append(0, np.where(places > 0, places, -1))


def token_owners(offsets: Sequence[Span], spans: Sequence[Span | None]) -> NDArray[np.int64]:
    """Which span each token of a text is part of.

    Args:
        offsets: half-open characters of t tokens; (0, 0) for markers and padding.
        spans: such as those of a text's numbers, or of their units; None for what is not written.

    Returns:
        shape (t,): the position of the first span that a token has a character of; -1 for none.

    >>> token_owners([(0, 0), (0, 5), (6, 8), (8, 9), (10, 12)], [(6, 9), None, (10, 12)])
    array([-1, -1,  0,  0,  2])
    """
    owners = np.full(len(offsets), -1, dtype=np.int64)
    for place, (start, end) in enumerate(offsets):
        owners[place] = next((n for n, span in enumerate(spans) if span and start < span[1] and span[0] < end), -1)
    return owners


@dataclass(frozen=True)
class NumberedTokens:
    """The tokens of a text in which each number is one token.

    Attributes:
        ids: of the tokens, without markers.
        places: where each number stands among them, in order.
    """

    ids: list[int]
    places: list[int]

    def cut(self, room: int) -> NumberedTokens:
        """The first `room` tokens, and the numbers among them."""
        return NumberedTokens(self.ids[:room], [place for place in self.places if place < room])


def with_number_tokens(
    tokenizer: Any, texts: Sequence[str], numbers: Sequence[Sequence[Number]], token: int
) -> list[NumberedTokens]:
    """Texts as tokens, with one token in the place of each number; the words of units stay (*DeepQuant* 3.2).

    The text between numbers is split as if it stood alone. What looks like a special token in a text is text.

    Args:
        tokenizer: of transformers.
        texts: n of them.
        numbers: of each text, ascending, without overlaps: from `qbench.quantities.written`.
        token: id of the token that stands for a number.
    """
    pieces = [piece for text, some in zip(texts, numbers, strict=True) for piece in _between(text, some)]
    if not pieces:
        return []
    encoded = iter(
        tokenizer(
            pieces,
            add_special_tokens=False,
            split_special_tokens=True,
            truncation=False,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
    )
    made = []
    for some in numbers:
        tokens = NumberedTokens(list(next(encoded)), [])
        for _ in some:
            tokens.places.append(len(tokens.ids))
            tokens.ids.append(token)
            tokens.ids.extend(next(encoded))
        made.append(tokens)
    return made


def _between(text: str, numbers: Sequence[Number]) -> list[str]:
    """The pieces of a text before, between and after its numbers."""
    starts = [0, *(number.span[1] for number in numbers)]
    ends = [*(number.span[0] for number in numbers), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]
