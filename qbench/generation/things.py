"""Queries about things and their facts: categories, one to three constraints on the same thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.generation.fact_table import YES, FactTable
from qbench.generation.languages import generation_package
from qbench.generation.options import GenerationOptions
from qbench.generation.round_values import candidates, choose, usual
from qbench.generation.surfaces import UnitForm, pick_form
from qbench.generation.wording import Wording, Written
from qbench.quantities.concept_match import Concept, concept_words, join_alternatives
from qbench.quantities.languages import ENGLISH
from qbench.quantities.types import Comparator, Condition
from qbench.quantities.units import Units
from qbench.randomness import generator, shuffled

LEAST = 10
"""Things of a category from which on somebody looks for it."""

COMBINATIONS = {True: {2: 30, 3: 30}, False: {2: 8, 3: 4}}
"""Of attributes that are asked about together, how many: of all things, and of one category."""

ALONE, TOGETHER = (0.02, 0.5), (0.15, 0.8)
"""Shares of the things of a category that may meet a constraint: one alone, one of several."""

NO_ABBREVIATION = 4
"""Letters from which on a qualifier in capitals is a name, and no abbreviation: SAMSUNG, but HTC."""

SPOKEN, SPOKEN_SHARE = 5, 0.05
"""Mentions in another unit, and their share of those of the attribute, from which on it is asked in."""

SPOKEN_RANGE = (0.05, 0.95)
"""In another unit, values between these quantiles of those that the texts state in it: no 14,000 MB of memory."""

TINY = 0.1
"""Of the median of all things, the share below which nobody sets a limit: 0.01 g of salt in juice."""

TRIES = 6
"""Values tried for a query whose constraints may have no thing in common."""


@dataclass(frozen=True)
class Category:
    """What is looked for.

    Attributes:
        names: what it may be called.
        scope: shape (things,), as `FactTable.category` gives it.
        whole: whether it is all things.
    """

    names: tuple[str, ...]
    scope: NDArray[np.int8]
    whole: bool = False


@dataclass(frozen=True)
class Topic:
    """What queries ask about: attributes of a category."""

    category: Category
    attributes: tuple[int, ...]
    name: str


@dataclass(frozen=True)
class Asked:
    """A query before it has a split.

    Attributes:
        text, terms: as in `qbench.benchmark.types.Query`.
        conditions: (attribute, condition) pairs.
    """

    text: str
    terms: str
    conditions: tuple[tuple[int, Condition], ...]


def categories(table: FactTable, wording: Wording) -> list[Category]:
    """The categories that somebody may look for: all things, their kinds, and what narrows them down.

    A noun that is the name of one kind means that kind: among phones and tablets, a maker's "phone" is no tablet.
    """
    noun = table.noun or wording.thing
    own = noun if noun in table.kinds else ""
    found = [Category((noun, *table.synonyms.get(own, ())), table.category(own), whole=True)]
    enough = max(LEAST, len(table.kinds) // 200)
    for kind, count in sorted(Counter(table.kinds).items()):
        if kind and kind != noun and count >= enough:
            found.append(Category((kind, *table.synonyms.get(kind, ())), table.category(kind)))
    for qualifier, count in sorted(Counter(table.qualifiers).items()):
        if qualifier and count >= enough:
            called = qualifier.title() if qualifier.isupper() and len(qualifier) >= NO_ABBREVIATION else qualifier
            narrowed = wording.narrowed.format(qualifier=called, noun=noun)
            found.append(Category((narrowed,), table.category(own, qualifier)))
    return found


@dataclass
class Asker:
    """Words queries about the things of a table.

    Args:
        table: the facts.
        wording: of a domain.
        units: to convert and to write values.
        options: of the generation.
        mentions: columns attribute, unit, value, surface, before: how the texts write each attribute's values.
        language: code of the language of the texts.
    """

    table: FactTable
    wording: Wording
    units: Units
    options: GenerationOptions
    mentions: pl.DataFrame
    language: str = ENGLISH
    _said: dict[str, Counter[tuple[str, bool]]] = field(default_factory=dict)
    _values: dict[int, dict[str, list[float]]] = field(default_factory=dict)
    _few: list[NDArray[np.float64] | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        for attribute, unit, value, surface, before in self.mentions.iter_rows():
            self._values.setdefault(attribute, {}).setdefault(unit, []).append(value)
            if surface:
                self._said.setdefault(unit, Counter())[surface, before] += 1
        for attribute, column in zip(self.table.attributes, self.table.values.T, strict=True):
            base = self.units.get(attribute.unit)
            self._few.append(usual((column[~np.isnan(column)] - base.offset) / base.factor))

    @property
    def spoken(self) -> list[int]:
        """The attributes that some text states."""
        return [number for number in range(len(self.table.attributes)) if self._values.get(number)]

    def topics(self) -> Iterator[Topic]:
        """All topics, in a fixed order. Attributes that no text states are left out."""
        for category in categories(self.table, self.wording):
            sizes = ([1] if self.options.single else []) + ([2, 3] if self.options.multi else [])
            for size in sizes:
                chosen = list(combinations(self.spoken, size))
                if size > 1:
                    most = COMBINATIONS[category.whole][size] * self.options.joint_sets
                    step = f"combinations of {category.names[0]}"
                    chosen = sorted(shuffled(chosen, self.options.seed, step, str)[:most])
                for attributes in chosen:
                    names = " + ".join(self.table.attributes[number].name for number in attributes)
                    yield Topic(category, attributes, f"{category.names[0]}: {names}")

    def ask(self, topic: Topic, variant: int) -> Asked | None:
        """One query of a topic; None if no values make sense.

        Args:
            topic: what it is about.
            variant: its number among those of the topic.
        """
        for attempt in range(TRIES):
            rng = generator(self.options.seed, f"query {variant} {attempt}", topic.name)
            asked = self._ask(topic, rng)
            if asked is not None:
                return asked
        return None

    def _ask(self, topic: Topic, rng: np.random.Generator) -> Asked | None:
        category = topic.category
        names, texts, conditions = [], [], []
        order = [topic.attributes[at] for at in rng.permutation(len(topic.attributes))]
        for number in order:
            said = self._constraint(number, category, len(order) > 1, rng)
            if said is None:
                return None
            text, name, condition = said
            texts.append(text)
            names.append(name)
            conditions.append((number, condition))
        called = category.names[int(rng.integers(len(category.names)))]
        terms = " ".join(dict.fromkeys(word for name in (called, *names) for word in name.split()))
        return Asked(self.wording.query(called, texts, rng), terms, tuple(conditions))

    def _constraint(
        self, number: int, category: Category, several: bool, rng: np.random.Generator
    ) -> tuple[str, str, Condition] | None:
        attribute = self.table.attributes[number]
        few = self._few[number]
        comparator = self._comparator(number, rng, few=few is not None)
        # Exactly a value that things have is asked for as the table has it: 512 GB are no "0.512 TB".
        unit = attribute.unit if comparator == "=" else self._unit(number, rng)
        base = self.units.get(unit)
        column = (self.table.values[:, number] - base.offset) / base.factor
        values = column[~np.isnan(column) & (category.scope == YES)]
        among = few if few is not None and unit == attribute.unit else self._round_in(unit, number, values, column)
        ends = choose(comparator, values, TOGETHER if several else ALONE, rng, among)
        if ends is None:
            return None
        low, high = ends
        written = self._written(unit, low, high, rng)
        same_family = [self.units.get(base).family for base in self.table.base]
        alone = bool(base.family) and same_family.count(base.family) == 1
        text, name = self.wording.constraint(attribute, comparator, written, base.family, rng, alone=alone)
        condition = Condition(
            comparator=comparator,
            value=low,
            high=high,
            unit=unit,
            base_unit=base.base_unit,
            base_value=self.units.to_base(low, unit),
            base_high=self.units.to_base(high, unit),
            concept=concept_of(attribute.name, attribute.synonyms, self.language),
            value_text=written.low if low == high else self.wording.range.format(low=written.low, high=written.high),
        )
        return text, name, condition

    def _comparator(self, number: int, rng: np.random.Generator, *, few: bool) -> Comparator:
        """What is asked for of an attribute; exactly a value where things have `few`: 8 GB, but no 3.8 g."""
        weights = self.wording.weights(self.table.attributes[number])
        allowed = [comparator for comparator in self.options.comparators if weights.get(comparator)]
        allowed = [comparator for comparator in allowed if few or comparator != "="] or allowed
        shares = np.array([weights[comparator] for comparator in allowed], dtype=float)
        return allowed[int(rng.choice(len(allowed), p=shares / shares.sum()))]

    def _unit(self, number: int, rng: np.random.Generator) -> str:
        """The table's unit, or, seldom, another one in which the texts often state the attribute."""
        own = self.table.attributes[number].unit
        draw, position = rng.random(), rng.random()
        said = self._values.get(number, {})
        enough = max(SPOKEN, SPOKEN_SHARE * sum(map(len, said.values())))
        others = sorted(
            unit
            for unit, values in said.items()
            if unit != own and len(values) >= enough and self.units.get(unit).base_unit == self.table.base[number]
        )
        return others[int(position * len(others))] if others and draw < self.options.other_unit else own

    def _round_in(
        self, unit: str, number: int, values: NDArray[np.float64], column: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The round numbers that people ask for in a unit: no tiny ones, and in another unit such as the texts state.

        Args:
            unit: of the query.
            number: the attribute.
            values: of the things that are asked about, in this unit.
            column: shape (things,), of all things; NaN where the table says nothing.
        """
        bounds: NDArray[np.float64] = candidates(values)
        bounds = bounds[bounds >= TINY * float(np.nanmedian(column))]
        if unit == self.table.attributes[number].unit:
            return bounds
        least, most = np.quantile(self._values[number][unit], SPOKEN_RANGE)
        spoken: NDArray[np.float64] = bounds[(bounds >= least) & (bounds <= most)]
        return spoken

    def _written(self, unit: str, low: float, high: float, rng: np.random.Generator) -> Written:
        form = self._form(unit, high, rng)
        first, last = pick_form(low, form, rng, high if high != low else None, language=self.language)
        if low == high:
            text = f"{form.before}{first}{form.after}"
            return Written(text, text)
        return Written(f"{form.before}{first}", f"{form.before}{last}{form.after}")

    def _form(self, unit: str, value: float, rng: np.random.Generator) -> UnitForm:
        """How a query writes a unit: as the texts do."""
        known = self.units.get(unit)
        if not unit:
            return UnitForm()
        package = generation_package(self.language)
        usual = package.usual_forms(self._said.get(unit, {}), known, self.units, value)
        if not usual:
            forms = package.plain_forms(known, self.units, value)
            return forms[int(rng.integers(len(forms)))]
        weights = np.array([count for _, count in usual], dtype=float)
        return usual[int(rng.choice(len(usual), p=weights / weights.sum()))][0]


def concept_of(name: str, synonyms: Sequence[str], language: str = ENGLISH) -> Concept:
    """The concept of a condition: an attribute's name or one of its synonyms.

    >>> concept_of("RAM", ["main memory"])
    ('ram', '|', 'main', 'memory')
    >>> concept_of("电池容量", [], "zh")
    ('电池容量',)
    """
    names = (tuple(text.lower().split()) for text in (name, *synonyms))
    # A Chinese name stays whole: it is taken apart where it is compared.
    concepts = (concept_words(words) if language == ENGLISH else words for words in names)
    return join_alternatives(tuple(concept for concept in concepts if concept))
