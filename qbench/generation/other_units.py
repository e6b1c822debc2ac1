"""The other units in which a person could have written a mention, so that it no longer satisfies a query.

A negative made by another unit teaches nothing if nobody would have written its text: "0.5 g/kg of ketamine", "the
Treasury borrowed 5 billion francs". What the corpus says decides what somebody could write.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from qbench.generation.labels import meets
from qbench.generation.mentions import Mentions
from qbench.generation.pairs import observed
from qbench.generation.permute import unit_of
from qbench.generation.rates import EVERYWHERE, RATES, compare
from qbench.quantities.concept_match import Concept
from qbench.quantities.english.inflection import singular
from qbench.quantities.types import Condition, Quantity
from qbench.quantities.units import Units

NO_UNIT = "no other unit in which the corpus says such a thing"
NO_CURRENCY = "no other currency: something that the text names ties it to its own"
NO_RATE = "no other currency in which the amount certainly breaks the condition"
TOO_NEAR = "no other unit in which the amount clearly breaks the condition"
SAID_AGAIN = "the text says the unit again"
REASONS = (NO_UNIT, NO_CURRENCY, NO_RATE, TOO_NEAR, SAID_AGAIN)
"""Why a mention has no other unit."""

WRITTEN = 3
"""Numbers of a concept in a unit from which on somebody might write another one, between the least and the greatest."""

WIDER = 3.0
"""With fewer numbers of it, one so many times smaller or greater."""

OFTEN = 10
"""Mentions in a unit from which on a corpus uses it often."""

MIDDLE = (0.1, 0.9)
"""Quantiles of the values of a unit between which anybody might write one."""

COMMON = 0.05
"""Share of a family's mentions from which on a unit is common in it: no "0.6 g/kg" of a drug."""

NEXT = 13.0
"""How many times as large or small a unit may be in which the corpus does not state the concept: kilograms and pounds,
months and years, weeks and days, but no grams for milligrams."""

SMALL, ALIKE = 1e6, 10.0
"""Less money is the price of some thing, which is about as much in another currency: no coat of 90 yen."""

CLEARLY = 1.25
"""How many times as far a changed amount has to break a condition: 2 months are hardly more than 8 weeks."""

OF_GOODS = frozenset("barrel bushel carat troy fluid board cord peck gill dram".split())
"""Words of units in which only some goods are measured: no barrels of wheat."""

UNMIXED = frozenset({"", "count", "date"})
"""Families whose units are no alternatives to each other: nouns, calendar years, the bare number."""


@dataclass
class OtherUnits:
    """Finds them with the mentions of a corpus."""

    mentions: Mentions
    units: Units

    def choices(self, text: str, mention: Quantity, concept: Concept, condition: Condition) -> tuple[list[str], str]:
        """The other units of one mention in which it breaks a condition, ordered, and why there are none.

        Args:
            text: its sentence.
            mention: what is changed.
            concept: its concept, as `stated_concept` gives it.
            condition: what it met.
        """
        if self._says_again(text, mention):
            return [], SAID_AGAIN
        if mention.unit in RATES:
            return self._of_money(text, mention, concept, condition)
        possible = list(self._possible(mention, concept))
        clear = [changed.unit for changed in possible if meets(_wider(changed), condition) is False]
        return clear, "" if clear else TOO_NEAR if possible else NO_UNIT

    def _says_again(self, text: str, mention: Quantity) -> bool:
        """Whether a text has a word of the unit elsewhere: "5 bushels, a per-bushel price of $2"."""
        first, last = mention.unit_span or (0, 0)
        rest = f"{text[:first]} {text[last:]}".lower()
        words = re.findall(r"[^\W\d_]{4,}", text[first:last].lower())
        return any(re.search(rf"\b{re.escape(singular(word))}", rest) for word in words)

    def _of_money(self, text: str, mention: Quantity, concept: Concept, condition: Condition) -> tuple[list[str], str]:
        own, free = self._own_currencies(concept), not self.mentions.names.of(text)
        named = [
            name
            for name in sorted(RATES)
            if name != mention.unit
            and ((free and name in EVERYWHERE) or (name in own and self.mentions.names.allow(text, name)))
        ]
        alike = [name for name in named if abs(mention.value) >= SMALL or _about_as_much(mention.unit, name)]
        clear = [name for name in alike if _no_rate_meets(mention, name, condition)]
        return clear, "" if clear else NO_RATE if named else NO_CURRENCY

    def _own_currencies(self, concept: Concept) -> set[str]:
        rows = self.mentions.rows_of_concepts(self.mentions.same(concept))
        return {self.mentions.units[code] for code in np.unique(self.mentions.unit[rows]).tolist()}

    def _possible(self, mention: Quantity, concept: Concept) -> Iterator[Quantity]:
        """The mention in each other unit of its family in which somebody might have written its number.

        Units in which the corpus states the concept; and of other families than times those that it often uses and that
        are about as large. A price keeps its currency and what is counted: 20 marks a share may be less than 60 dollars
        a share, and an offer per unit is one per share.
        """
        family = mention.family
        if family in ("currency per count", "count per count"):
            return
        stated = self._stating(mention, concept)
        own = self.units.get(mention.unit)
        for name in stated if family == "time" else sorted({*stated, *self._used.get(family, {})}):
            other = self.units.get(name)
            priced = family.startswith("currency") and name.split(" per ")[0] != mention.unit.split(" per ")[0]
            far = not 1 / NEXT <= other.factor / own.factor <= NEXT
            strange = name not in stated and (far or not OF_GOODS.isdisjoint(name.split()))
            if name == mention.unit or priced or strange or (far and family == "time"):
                continue
            changed = unit_of(mention, name, self.units)
            if self._is_everyday(changed, concept):
                yield changed

    def _stating(self, mention: Quantity, concept: Concept) -> list[str]:
        """The units of a mention's family in which the corpus states its concept, ordered."""
        rows = self.mentions.rows_of_concepts(self.mentions.same(concept))
        codes = np.unique(self.mentions.unit[rows[self.mentions.sure[rows]]])
        names = [self.mentions.units[code] for code in codes.tolist()]
        return [name for name in names if self.mentions.family_of(name) == mention.family]

    @cached_property
    def _used(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Family -> unit -> a low and a high value in it, of the units that are common in the corpus."""
        families: dict[str, dict[str, tuple[int, float, float]]] = {}
        totals: Counter[str] = Counter()
        order = np.argsort(self.mentions.unit, kind="stable")
        starts = np.searchsorted(self.mentions.unit[order], np.arange(len(self.mentions.units) + 1))
        for code, name in enumerate(self.mentions.units):
            family = self.mentions.family_of(name)
            values = self.mentions.value[order[starts[code] : starts[code + 1]]]
            if family not in UNMIXED:
                totals[family] += values.size
                if values.size >= OFTEN:
                    low, high = np.quantile(values, MIDDLE).tolist()
                    families.setdefault(family, {})[name] = (values.size, low, high)
        return {
            family: {name: (low, high) for name, (n, low, high) in used.items() if n >= COMMON * totals[family]}
            for family, used in families.items()
        }

    def _is_everyday(self, changed: Quantity, concept: Concept) -> bool:
        """Whether a changed mention's number is about one that the corpus states in its unit.

        Of its concept, where it states any of these, else of anything.
        """
        values = self.mentions.value[observed(self.mentions, (concept,), changed.unit, changed.change)]
        if values.size:
            wider = 1.0 if values.size >= WRITTEN else WIDER
            return float(values.min()) / wider <= changed.value <= float(values.max()) * wider
        if changed.family == "time" or changed.unit not in self._used.get(changed.family, {}):
            return False
        low, high = self._used[changed.family][changed.unit]
        return low <= changed.value <= high


def _wider(quantity: Quantity) -> Quantity:
    """A mention of all amounts that are nearly as much."""
    low, high = sorted((quantity.base_value, quantity.base_high))
    comparator = "between" if quantity.comparator in ("=", "~") else quantity.comparator
    low, high = min(low / CLEARLY, low * CLEARLY), max(high / CLEARLY, high * CLEARLY)
    return replace(quantity, comparator=comparator, base_value=low, base_high=high)


def _about_as_much(unit: str, other: str) -> bool:
    """Whether one of each currency is about as much."""
    ratio = sqrt(RATES[unit][0] * RATES[unit][1] / (RATES[other][0] * RATES[other][1]))
    return 1 / ALIKE <= ratio <= ALIKE


def _no_rate_meets(mention: Quantity, unit: str, condition: Condition) -> bool:
    """Whether the number in another currency breaks the condition at any plausible exchange rate."""
    low, high = (compare(value, unit, condition.base_unit) for value in (mention.value, mention.high))
    if low is None or high is None:
        return False
    worth = replace(mention, base_unit=condition.base_unit, base_value=low[0], base_high=high[1])
    worth = replace(worth, comparator="between" if mention.comparator in ("=", "~") else mention.comparator)
    return meets(worth, condition) is False
