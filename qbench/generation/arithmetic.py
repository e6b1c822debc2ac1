"""Which numbers of a sentence follow from each other, so that one of them cannot be changed alone.

"120 patients (60 in each arm)", "9 of 36 (25%)", "mean age 75 years (52-85)", "profits rose to 5 from 4": a text with
one of these numbers replaced contradicts itself, or says what nobody would write. Where a sentence may hold such a tie
no number of it is changed; training samples are many, and a text that makes no sense teaches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import isclose

import numpy as np
from numpy.typing import NDArray

from qbench.generation.surfaces import read_value
from qbench.quantities.concept_match import concept_words
from qbench.quantities.conditions import equal
from qbench.quantities.languages import ENGLISH
from qbench.quantities.types import Quantity

PORTION = "a part, a whole or a share stands beside the number"
AGAIN = "the sentence says the number again"
COUNTED_APART = "the sentence counts others, which may be parts of the same"
RECKONED = "the number follows from others of the sentence"
ALIKE = "another number of the sentence is of the same, or of nothing that the text says"
SPREAD = "a range or a deviation stands beside the number"
RATED = "the sentence says a rate of the same"
IN_TURNS = "the sentence says how many times or how often, from which the time follows"
NO_VALUE = "no other value of the concept suits the sentence"
TIES = (PORTION, AGAIN, COUNTED_APART, RECKONED, ALIKE, SPREAD, RATED, IN_TURNS, NO_VALUE)
"""Why no value of a sentence is changed."""

NEAR = 20
_PORTION = re.compile(r"\d\s*(?:/|of|out of)\s*(?:the\s+)?\d|\(\s*(?:n\s*=\s*)?\d[\d.,]*\s*%?\s*\)", re.IGNORECASE)
"""A number as part of another one, or with its percentage in brackets, within so many characters."""
_OUT_OF = re.compile(r"\d\s+(?:out\s+)?of\s+(?:the\s+)?\d", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,·])\d+(?:,\d{3})*(?:[.·]\d+)?(?![\w.,·]*\d)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_SPREAD = re.compile(
    r"[^\d.;()]{0,16}?(?:±|\+/-|[(\[]\s*(?:(?:sd|se|sem|iqr|range|min\w*|ci)\b[^\d)]{0,12}|±\s*)?\d)", re.IGNORECASE
)
"""After a mean: "75 (SD 8)", "75 years (52-85)", "26 ± 5"."""
_EQUALLY = re.compile(
    r"\b(?:equal|equally|evenly|half|halves|one[- ]third|two[- ]thirds|a\s+third|quarters?)\b", re.IGNORECASE
)
_TURNS = re.compile(
    r"\b(?:sessions?|times|once|twice|visits?|cycles?|courses?|doses|injections|occasions|appointments|every|each|daily|weekly|monthly"
    r"|(?:per|an?|/)\s*(?:day|week|month|year))\b",
    re.IGNORECASE,
)
_STAGE = re.compile(
    r"\b(?:infants?|neonat\w+|newborns?|toddlers?|preschool\w*|child|children|boys|girls|adolescen\w+|teen\w*|youths?|young\w*|pa?ediatric"
    r"|elderly|aged|old|older|adults?|seniors?|(?:post|pre)-?menopaus\w+|pregnan\w+|students?|pupils?)\b",
    re.IGNORECASE,
)
"""Stages of life, which an age may contradict."""

FEW = 10.0
"""Smaller counts are groups, times and kinds as often as parts, and a count of so many stays one."""
ROUNDED = 0.05
"""Share by which the sum or the difference of two rounded numbers may miss a third one."""
SUMMANDS = 4
MOST = 14
"""Numbers of a sentence that are added up: with more it is a table, in which nothing is changed."""
TIMES = 12
"""How many times as large another amount in the unit may be of which a number may be the part ("9 mg, in all 36")."""
WITHIN, OF_AGES = 5.0, 1.5
"""How many times as large or small another value is, at most: no trial of 2 patients."""


@dataclass(frozen=True, slots=True)
class Among:
    """A number among the others of its sentence.

    Attributes:
        text: the sentence.
        mentions: all of its mentions.
        position: which of them is meant.
        language: its code.
    """

    text: str
    mentions: Sequence[Quantity]
    position: int
    language: str = ENGLISH

    def tie(self) -> str | None:
        """Why the number cannot be changed alone; None where nothing in the sentence is tied to it."""
        own, (start, end) = self.mention, self.mention.value_span
        if _PORTION.search(self.text[max(0, start - NEAR) : end + NEAR]):
            return PORTION
        same = [m for m in self.others if m.base_unit == own.base_unit]
        if any(equal(m.base_value, own.base_value) or equal(m.base_high, own.base_value) for m in same):
            return AGAIN
        if own.value in self.bare and own.family != "ratio":
            return AGAIN
        if own.family in ("count", ""):
            return self._tie_of_count()
        if any(_SPREAD.match(self.text, at) for at in (end, self._end)):
            return SPREAD  # first, since a deviation is of the same thing, too
        if any(self._is_alike(m) for m in same):
            return ALIKE
        if any(_is_rate(m.base_unit, own.base_unit) for m in self.others):
            return RATED
        if own.family in ("time", "age") and self._is_told_apart():
            return IN_TURNS
        return RECKONED if self._is_reckoned(same) else None

    def fitting(self, base: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which values might stand in place of the number, as far as the other numbers say.

        Args:
            base: shape (n,), values in the base unit of the number.

        Returns:
            shape (n,). They are of the same order, they stand between the same neighbours of its kind, and what the
            sentence says in per cent of a count can be a share of them.
        """
        own, most = self.mention, OF_AGES if self._is_age else WITHIN
        low, high = sorted((own.base_value / most, own.base_value * most))
        beside = [v for m in self.others if m.base_unit == own.base_unit for v in (m.base_value, m.base_high)]
        if own.family in ("count", ""):
            beside += [*self.bare, FEW]
        low = max([low, *(v for v in beside if v < own.base_value)])
        high = min([high, *(v for v in beside if v > own.base_value)])
        fits: NDArray[np.bool_] = (base > low) & (base < high) | (base == low) & (low == FEW)
        if own.family == "count":
            fits &= np.array([self._can_be_shared(value) for value in base.tolist()], dtype=bool)
        return fits

    @property
    def mention(self) -> Quantity:
        """The mention that is meant."""
        return self.mentions[self.position]

    @property
    def others(self) -> list[Quantity]:
        """The other mentions."""
        return [m for number, m in enumerate(self.mentions) if number != self.position]

    @property
    def bare(self) -> list[float]:
        """The whole numbers beside it that count or say nothing of what they are; no years, and no amounts."""
        counts = [v for m in self.others if m.family in ("count", "") for v in {m.value, m.high}]
        taken = [m.value_span for m in self.mentions]
        for found in _NUMBER.finditer(self.text):
            if not any(a < found.end() and found.start() < b for a, b in taken) and not _YEAR.fullmatch(found[0]):
                read = read_value(found[0])
                counts += [read.value] if read else []
        return [value for value in counts if value and not value % 1]

    @property
    def _end(self) -> int:
        return max(self.mention.value_span[1], self.mention.unit_span[1] if self.mention.unit_span else 0)

    @property
    def _is_age(self) -> bool:
        return self.mention.family == "age" or "age" in concept_words(self.mention.concept, self.language)

    def _tie_of_count(self) -> str | None:
        bare, own = self.bare, self.mention.value
        if any(abs(value) >= FEW for value in bare):
            return COUNTED_APART
        if _EQUALLY.search(self.text) or own in {a * b for a, b in combinations(bare, 2)} or _adds_up(own, bare):
            return RECKONED
        return None

    def _is_alike(self, other: Quantity) -> bool:
        """Whether another number in the unit is of the same thing, as far as its words say."""
        own, its = ({*concept_words(m.concept, self.language)} for m in (self.mention, other))
        return own <= its or its <= own

    def _is_told_apart(self) -> bool:
        own = self.mention
        if self._is_age:
            return _STAGE.search(self.text[: own.value_span[0]] + self.text[self._end :]) is not None
        return bool(self.bare) and _TURNS.search(self.text) is not None

    def _is_reckoned(self, same: Sequence[Quantity]) -> bool:
        own, values = self.mention, [m.base_value for m in same]
        if own.family == "ratio":
            read = read_value(self.text[slice(*own.value_span)])
            rounding = 10.0 ** -(read.decimals if read else 0) * 0.5000001
            counts = self.bare
            if _OUT_OF.search(self.text):
                return True
            if any(abs(own.value - 100 * a / b) <= rounding for a in counts for b in counts if a < b):
                return True
            prices = [
                (m.base_value, n.base_value) for m, n in permutations(self.others, 2) if m.base_unit == n.base_unit
            ]
            if any(abs(own.value - 100 * (a / b - 1)) <= rounding for a, b in prices if b):
                return True  # a premium over another price
            return _adds_up(own.base_value, [*values, 100.0 * own.base_value / own.value if own.value else 0.0])
        if any(_is_multiple(value, own.base_value) for value in values):
            return True
        return _adds_up(own.base_value, values)

    def _can_be_shared(self, count: float) -> bool:
        """Whether every percentage of the sentence can be that of some of so many."""
        return all(
            abs(100 * round(count * m.value / 100) / count - m.value) <= 0.5000001 * 10.0**-decimals
            for m, decimals in self._percentages()
            if count
        )

    def _percentages(self) -> Iterator[tuple[Quantity, int]]:
        for m in self.others:
            read = read_value(self.text[slice(*m.value_span)])
            if m.unit == "percentage" and m.comparator in ("=", "~") and read:
                yield m, read.decimals


def _is_rate(one: str, other: str) -> bool:
    return one.startswith(f"{other} per ") or other.startswith(f"{one} per ")


def _is_multiple(one: float, other: float) -> bool:
    low, high = sorted((abs(one), abs(other)))
    return low > 0 and any(equal(low * times, high) for times in range(2, TIMES + 1))


def _adds_up(own: float, values: Collection[float]) -> bool:
    """Whether a number is the sum of some others, or some others are the sum of it and further ones."""
    others = [value for value in values if value]
    if any(isclose(own, abs(a + sign * b), rel_tol=ROUNDED) for a, b in combinations(others, 2) for sign in (1, -1)):
        return True
    if len(others) > MOST:
        return True
    sums = [sum(some) for size in range(2, SUMMANDS + 1) for some in combinations(others, size)]
    parts = [sum(some) for size in range(1, SUMMANDS) for some in combinations(others, size)]
    return any(equal(own, total) for total in sums) or any(
        equal(own + part, other) for part in parts for other in others
    )
