"""Which mentions of a document state which facts of its row.

A mention states a fact if their units compare, the one is the other written with fewer digits, and nothing says that it
is about something else: its concept, or the nearest name of an attribute beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from qbench.index.facts import Status
from qbench.quantities.concept_match import concept_grade
from qbench.quantities.types import Quantity
from qbench.quantities.units import Units
from qbench.synth.mapping import Attribute, concept_words

NEAREST = 0.05
"""Two values farther apart than this share of the larger are not one value rounded: "2 kg" is no 1.6 kg."""

REACH = 40
"""How many characters beside a number the name of an attribute may stand."""

_EXACT = 1e-9
_LETTER = r"[^\W\u3400-\u9fff]"
"""What a name cannot be a part of: Chinese words stand side by side without a space."""
_DIGITS = re.compile(r"\d[\d,\u00a0\u202f ]*(?:\.(\d+))?|\.(\d+)")


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact, as it is looked for.

    Attributes:
        attribute: its number in the mapping.
        value, unit: as the table has it.
        base_unit, base_value: the same in the unit that values compare in.
        step: the last decimal place that the column's cells have, in `unit`.
    """

    attribute: int
    value: float
    unit: str
    base_unit: str
    base_value: float
    step: float


@dataclass(frozen=True, slots=True)
class Said:
    """A mention of a document, and the text around it.

    Attributes:
        quantity: the mention.
        written: its number, as written.
        before, after: the text on both sides, up to the next mentions and to the ends of the sentence.
    """

    quantity: Quantity
    written: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Aligned:
    """What a document says of one fact: places in the list of its mentions that agree, and that say another value."""

    status: Status
    agreeing: tuple[int, ...] = ()
    others: tuple[int, ...] = ()


@dataclass(frozen=True)
class Names:
    """What one attribute is called."""

    attribute: Attribute

    @cached_property
    def concepts(self) -> tuple[tuple[str, ...], ...]:
        """Its names, synonyms, and the words of its verbs, as concepts."""
        sayings = (said.replace("{}", " ") for said in (*self.attribute.verbs, *self.attribute.phrases))
        texts = (self.attribute.name, *self.attribute.synonyms, *sayings)
        return tuple(dict.fromkeys(words for text in texts if (words := _telling(concept_words(text)))))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        forms = sorted((r"[\W_]+".join(map(re.escape, words)) for words in self.concepts), key=len, reverse=True)
        return re.compile(rf"(?<!{_LETTER})(?:{'|'.join(forms)})s?(?!{_LETTER})", re.IGNORECASE)

    def distance(self, said: Said) -> int | None:
        """Characters between a mention and the nearest name beside it; None if there is none within `REACH`."""
        ends = [match.end() for match in self._pattern.finditer(said.before[-2 * REACH :])]
        found = [min(len(said.before), 2 * REACH) - ends[-1]] if ends else []
        if (after := self._pattern.search(said.after[: 2 * REACH])) is not None:
            found.append(after.start())
        nearest = min(found, default=REACH + 1)
        return nearest if nearest <= REACH else None


_EMPTY = frozenset("a an and at for from has have in is it its of on or the this to up with".split())


def _telling(words: tuple[str, ...]) -> tuple[str, ...]:
    while words and words[0] in _EMPTY:
        words = words[1:]
    while words and words[-1] in _EMPTY:
        words = words[:-1]
    return words


class Aligner:
    """Aligns facts with mentions.

    Args:
        attributes: those of the mapping.
        units: to convert values.
    """

    def __init__(self, attributes: Sequence[Attribute], units: Units) -> None:
        self._units = units
        self._names = [Names(attribute) for attribute in attributes]
        self._by_base: dict[str, list[int]] = {}
        for number, attribute in enumerate(attributes):
            self._by_base.setdefault(units.get(attribute.unit).base_unit, []).append(number)

    def align(self, claims: Sequence[Claim], mentions: Sequence[Said]) -> list[Aligned]:
        """What the document says of each fact.

        Args:
            claims: the facts of its row, each of another attribute.
            mentions: of the document, in order.

        Returns:
            one for each fact, in their order.
        """
        evidence = [self._evidence(said) for said in mentions]
        agreeing: dict[int, list[int]] = {}
        exact: set[int] = set()
        taken = [False] * len(mentions)
        for at, said in enumerate(mentions):
            best: tuple[float, int, Claim] | None = None
            for claim in claims:
                closeness = self._closeness(claim, said)
                weight = self._weight(claim, at, mentions, evidence) if closeness is not None else 0
                if closeness is None or weight < (1 if _is_single(said.quantity) else 2):
                    continue
                found = (weight + closeness, -claim.attribute, claim)
                best = max(best, found, key=lambda item: item[:2]) if best else found
            if best is not None:
                claim = best[2]
                agreeing.setdefault(claim.attribute, []).append(at)
                taken[at] = True
                if _is_single(said.quantity):
                    exact.add(claim.attribute)
        return [self._aligned(claim, agreeing, exact, taken, mentions, evidence) for claim in claims]

    def _aligned(
        self,
        claim: Claim,
        agreeing: dict[int, list[int]],
        exact: set[int],
        taken: Sequence[bool],
        mentions: Sequence[Said],
        evidence: Sequence[dict[int, int]],
    ) -> Aligned:
        if found := agreeing.get(claim.attribute):
            return Aligned("stated" if claim.attribute in exact else "bounded", tuple(found))
        others = tuple(
            at
            for at, said in enumerate(mentions)
            if not taken[at]
            and self._comparable(claim, said.quantity)
            and self._weight(claim, at, mentions, evidence, surely=True) > 0
        )
        return Aligned("disagrees", (), others) if others else Aligned("unstated")

    def _comparable(self, claim: Claim, quantity: Quantity) -> bool:
        return quantity.base_unit == claim.base_unit and not quantity.change

    def _closeness(self, claim: Claim, said: Said) -> float | None:
        """How well a mention says a fact's value, from 0 to 1; None if it says another."""
        quantity = said.quantity
        if not self._comparable(claim, quantity):
            return None
        if not _is_single(quantity):
            return 0.0 if _holds(quantity, claim.base_value) else None
        there = self._units.convert(claim.value, claim.unit, quantity.unit)
        here = self._units.convert(quantity.value, quantity.unit, claim.unit)
        step = step_of(said.written, quantity)
        if quantity.comparator == "~":
            step = max(step, NEAREST * abs(quantity.value))
        rounded = abs(there - quantity.value) < step * (1 - _EXACT) or _is(there, quantity.value)
        coarser = abs(here - claim.value) <= claim.step / 2 * (1 + _EXACT)
        near = apart(there, quantity.value) <= NEAREST or (quantity.value == 0 and abs(there) <= step / 2)
        return 1 - apart(there, quantity.value) if near and (rounded or coarser) else None

    def _evidence(self, said: Said) -> dict[int, int]:
        """Attributes that a mention may be about by its concept (3), a name beside it (2), or a shared word (1)."""
        quantity = said.quantity
        possible = self._by_base.get(quantity.base_unit, [])
        if quantity.family == "count":
            return dict.fromkeys(possible, 3)
        grades = {number: self._grade(number, quantity) for number in possible}
        if strong := {number: 3 for number, grade in grades.items() if grade > 0}:
            return strong
        distances = {n: distance for n in possible if (distance := self._names[n].distance(said)) is not None}
        if distances:
            nearest = min(distances.values())
            return {number: 2 for number, distance in distances.items() if distance == nearest}
        return {number: 1 for number, grade in grades.items() if grade < 0 and quantity.concept}

    def _grade(self, number: int, quantity: Quantity) -> int:
        grades = [concept_grade(words, quantity.concept) for words in self._names[number].concepts]
        return max(grades, key=lambda grade: (grade > 0, grade < 0, grade), default=0)

    def _weight(
        self,
        claim: Claim,
        at: int,
        mentions: Sequence[Said],
        evidence: Sequence[dict[int, int]],
        *,
        surely: bool = False,
    ) -> int:
        """How sure it is that a mention is about a fact's attribute; 0 if it is not.

        Without a word for it, it is only where no other attribute has the unit, and the mention has no concept of its
        own or the document states nothing else in that unit. `surely` asks for the latter in any case: a mention of
        another value is no disagreement before it is known to be about the attribute.
        """
        found = evidence[at]
        own = found.get(claim.attribute, 0)
        if own > 1:
            return 1 + own
        if (found and not own) or not claim.base_unit:
            return 0
        if own and not surely:
            return 2
        if len(self._by_base.get(claim.base_unit, ())) != 1:
            return 0
        quantity = mentions[at].quantity
        same = [said.quantity for said in mentions if self._comparable(claim, said.quantity)]
        single = all(apart(other.base_value, quantity.base_value) <= NEAREST for other in same)
        return int(single or not (surely or quantity.concept))


def step_of(written: str, quantity: Quantity) -> float:
    """The last decimal place of a number as written, in its unit: 0.1 of "1.4", 100,000 of "1.3 million", 1 of "1,300".

    What is no number in digits has the place of its last significant digit.
    """
    match = _DIGITS.search(written)
    if match is None:
        size = math.floor(math.log10(abs(quantity.value))) if quantity.value else 0
        return float(10.0 ** (size - max(quantity.digits, 1) + 1))
    decimals = len(match[1] or match[2] or "")
    mantissa = float(re.sub(r"[^\d.]", "", match[0]) or 0)
    scale = abs(quantity.value) / mantissa if mantissa else 1.0
    return float(scale * 10.0**-decimals)


def column_steps(values: Iterable[tuple[int, float]], attributes: int) -> list[float]:
    """The last decimal place of each attribute's values: the finest that one in twenty of them has.

    Args:
        values: (attribute, value) pairs.
        attributes: how many there are.
    """
    places: list[list[int]] = [[] for _ in range(attributes)]
    for attribute, value in values:
        text = f"{value:.9f}".rstrip("0")
        places[attribute].append(len(text.partition(".")[2]))
    steps = []
    for found in places:
        found.sort()
        steps.append(10.0 ** -(found[int(0.95 * (len(found) - 1))] if found else 0))
    return steps


def apart(a: float, b: float) -> float:
    """How far two values are apart, as a share of the larger one."""
    return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0


def _is_single(quantity: Quantity) -> bool:
    """Whether a mention says one value, and no range or bound."""
    return quantity.comparator in ("=", "~")


def _is(a: float, b: float) -> bool:
    return abs(a - b) <= _EXACT * max(abs(a), abs(b))


def _holds(quantity: Quantity, value: float) -> bool:
    """Whether a range or a bound allows a value, both in the base unit."""
    low, high = quantity.base_value, quantity.base_high
    if quantity.comparator == "between":
        return low <= value <= high or _is(low, value) or _is(high, value)
    if quantity.comparator in ("<", "<="):
        return value < high or (quantity.comparator == "<=" and _is(high, value))
    return value > low or (quantity.comparator == ">=" and _is(low, value))
