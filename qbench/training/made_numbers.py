"""Made-up numbers to compare, in the places of a batch's own: how DeepQuant's layers of numbers begin.

A benchmark has few powers of ten and few pairs of close values, and the comparison networks tell nothing apart outside
what they saw. So values of all magnitudes are drawn, and stand in short windows of the batch's texts around a number,
which cost less than whole texts do. The paper (*DeepQuant* 3.6) compares a batch's own numbers alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qbench.models.numbers import Number, Span
from qbench.models.single_vector import Role

if TYPE_CHECKING:
    from numpy.random import Generator

RANGES: tuple[tuple[float, float], ...] = ((-3, 0), (0, 1), (1, 2), (2, 3), (3, 6), (6, 9), (-2, 4), (0, 6))
"""Powers of ten that an asked value lies between; one range is drawn, then the value, evenly by its logarithm."""

DISTANCES = (0.05, 0.2, 0.5, 1.0, 2.0)
"""How far a stated value may be from the asked one, in powers of ten; one is drawn for each asked value."""

DIGITS = 4
"""Values have one digit to this many."""

STATED = 3
"""Values stated for each asked one: smaller, the same, larger."""

NEGATIVE = 0.05
"""Share of the asked values that are negative, and so are those stated beside them."""

WORDS = 4
"""Words of a text that are kept before and behind its number."""


@dataclass(frozen=True)
class MadeNumbers:
    """Values that are asked for, and for each a smaller one, the same and a larger one that are stated.

    Attributes:
        asked: n values.
        stated: `STATED` n values, those of the first asked one first.
    """

    asked: list[float]
    stated: list[float]


def made_numbers(count: int, random: Generator) -> MadeNumbers:
    """Draw `count` asked values and three stated ones for each.

    >>> import numpy as np
    >>> made = made_numbers(2, np.random.default_rng(4))
    >>> all(made.stated[3 * i] <= made.asked[i] <= made.stated[3 * i + 2] for i in range(2))
    True
    """
    asked: list[float] = []
    stated: list[float] = []
    for _ in range(count):
        low, high = RANGES[random.integers(len(RANGES))]
        power = random.uniform(low, high)
        distance, digits = DISTANCES[random.integers(len(DISTANCES))], int(random.integers(DIGITS))
        below, above = random.uniform(0, distance, size=2)
        powers = [power - below, power, power + above]
        some = [float(f"{10.0**each:.{digits}e}") for each in powers]
        if random.random() < NEGATIVE:
            some = [-value for value in reversed(some)]
        asked.append(some[1])
        stated += some
    return MadeNumbers(asked, stated)


def carriers(texts: Sequence[str], numbers: Sequence[Sequence[Number]]) -> list[tuple[str, Number]]:
    """A window around the first number of each text that has one, and that number in it.

    >>> numbers = [[Number(2.5, "", (44, 47))], []]
    >>> carried = carriers(["The lightest laptop of the long list weighs 2.5 kg.", "a bag"], numbers)
    >>> [(text, text[slice(*number.span)]) for text, number in carried]
    [('the long list weighs 2.5 kg.', '2.5')]
    """
    found = []
    for text, some in zip(texts, numbers, strict=True):
        if some:
            start, end = _window(text, some[0].span)
            first, last = some[0].span
            found.append((text[start:end], replace(some[0], span=(first - start, last - start), unit_span=None)))
    return found


def with_values(
    carried: Sequence[tuple[str, Number]], values: Sequence[float], role: Role
) -> tuple[list[str], Role, list[list[Number]]]:
    """Texts with one number each that has the values in turn, as `Student.embed_numbered` takes them."""
    some = [carried[place % len(carried)] for place in range(len(values))]
    numbers = [[replace(number, value=value)] for (_, number), value in zip(some, values, strict=True)]
    return [text for text, _ in some], role, numbers


def _window(text: str, span: Span) -> Span:
    """`WORDS` words before and behind a span, whole ones."""
    before, behind = text[: span[0]].split(" "), text[span[1] :].split(" ")
    start = len(text[: span[0]]) - len(" ".join(before[-WORDS - 1 :]))
    return start, span[1] + len(" ".join(behind[: WORDS + 1]))
