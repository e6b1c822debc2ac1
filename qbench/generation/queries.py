"""Algorithm 1 of *Numbers Matter*: query drafts, and the values, unit, phrase and text of each draft."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from qbench.benchmark.types import Kind, Query, Split
from qbench.generation.expansions import Expansions
from qbench.generation.languages import generation_package
from qbench.generation.mentions import Mentions
from qbench.generation.options import GenerationOptions
from qbench.generation.pairs import Distribution, Pair, distribution, joint_pairs, observed, phrase
from qbench.generation.splits import Splits, alternatives, shares_no_word
from qbench.generation.surfaces import UnitForm, pick_form
from qbench.generation.templates import About, Templates, Wording
from qbench.generation.values import DIGITS, Ask, around, askable, choose_value, rounded, sizes
from qbench.number_sets import in_both
from qbench.quantities.concept_match import Concept, join_alternatives
from qbench.quantities.english.inflection import plural, singular
from qbench.quantities.types import Change, Comparator, Condition
from qbench.quantities.units import Units
from qbench.randomness import generator, shuffled
from qbench.store import digest

T = TypeVar("T")

ValueSet = str
"""Where a query's value comes from: "peak", a peak or the mean; "random", any observed value; "other", another than
those two; "random 2" and so on, any observed value but those of all others, for training queries alone, so that the
others are the same however many there are; "joint", "joint 2" and so on, so that several constraints hold in one
sentence, drawn for each."""

JOINT_COMPARATORS: tuple[Comparator, ...] = ("<", ">", "<", ">", "=")
"""Of queries with several constraints: bounds twice as often as points, which few sentences meet together."""

SENSIBLE = (1.0, 1_000.0)
"""In another unit nobody asks for smaller or larger numbers: 2 lb is 907 g, and no 907,000 mg."""

SPOKEN = 2
"""In another unit a concept is asked for if the corpus states it so many times in it."""

ODD = 0.02
"""Share of constraints whose number and unit are written in any form that there is."""

_AGED = re.compile(r"\baged (?:of|at) (?!least\b|most\b)")

NEGATED = 0.02
"""Share of the topics that are asked for with "!=", which people seldom do."""


@dataclass(frozen=True, slots=True)
class Topic:
    """The concept and unit of a condition.

    Attributes:
        text: its name in the query.
        concepts: the index's concepts that it stands for; one, unless `text` is an expansion.
        unit: canonical unit of the values.
        change: "up" or "down" where the size of a change is asked for.
    """

    text: str
    concepts: tuple[Concept, ...]
    unit: str
    change: Change = ""

    @property
    def key(self) -> str:
        """Key of the topic in random seeds."""
        return "\x1e".join((self.text, " ".join(join_alternatives(self.concepts)), self.unit, self.change))


@dataclass(frozen=True, slots=True)
class QueryDraft:
    """A query before its values are chosen. `comparators` is empty where the values decide (several constraints)."""

    split: Split
    kind: Kind
    values: ValueSet
    topics: tuple[Topic, ...]
    comparators: tuple[Comparator, ...] = ()

    @property
    def stratum(self) -> str:
        """Drafts of one stratum differ in topic only; the caps take from the strata of a topic in turn."""
        return f"{self.kind}|{len(self.topics)}|{' '.join(self.comparators)}|{self.values}"

    @property
    def key(self) -> str:
        """Key of the draft in random seeds and ids."""
        return f"{self.split}|{self.stratum}|" + "\x1d".join(topic.key for topic in self.topics)


@dataclass(frozen=True)
class Plan:
    """The input of algorithm 1; read-only."""

    pairs: Sequence[Pair]
    mentions: Mentions
    splits: Splits
    expansions: Expansions
    templates: Templates
    units: Units
    options: GenerationOptions
    _phrases: dict[Pair, str] = field(default_factory=dict)
    _seen: dict[str, Distribution] = field(default_factory=dict)
    _values: dict[tuple[str, Comparator, ValueSet], Ask | None] = field(default_factory=dict)

    def drafts(self, split: Split) -> list[QueryDraft]:
        """The drafts of a split, in the order in which they are tried until the split is full."""
        drafts = [*self._lexical(split), *self._expanded(split)] if self.options.single else []
        if self.options.multi:
            drafts += self._joint(split)
        return _in_turn(drafts, self.group, self.options.seed)

    def group(self, draft: QueryDraft) -> str:
        """The topic of a draft's query: the group of its concept, of several constraints that of the first."""
        known = (concept for topic in draft.topics for concept in topic.concepts if concept in self.splits.group_of)
        return self.splits.group_of[next(known)]

    def _sets(self, split: Split, kind: Kind, topic: Topic, values: Iterable[ValueSet]) -> Iterable[QueryDraft]:
        for each in values:
            for comparator in self.options.comparators:
                if comparator == "!=" and generator(self.options.seed, "negation", topic.key).random() >= NEGATED:
                    continue
                yield QueryDraft(split, kind, each, (topic,), (comparator,))

    def _usual(self, split: Split) -> tuple[ValueSet, ...]:
        number = self.options.random_sets
        return ("peak", *_sets("random", number if split == "train" else min(1, number)))

    def _lexical(self, split: Split) -> Iterable[QueryDraft]:
        for concept, unit, change in self.pairs:
            home, topic = self.splits.split_of[concept], self.topic(Pair(concept, unit, change))
            if not self._stands_alone(concept):
                continue
            if split == "test" and home == "train" and "seen" in self.options.kinds:
                yield from self._sets("test", "seen", topic, ("other",))
            if home != split or concept in self.splits.wordless:
                continue
            if split == "train":
                yield from self._sets(split, "seen", topic, self._usual(split))
            elif split == "dev" or "unseen" in self.options.kinds:
                yield from self._sets(split, "unseen", topic, self._usual(split))

    def _expanded(self, split: Split) -> Iterable[QueryDraft]:
        if split != "test" and not self.options.expansion:
            return
        for topic in self._expanded_topics:
            # All usable concepts of an expansion are of one group, so any of them tells the split.
            concept = next((concept for concept in topic.concepts if concept in self.splits.split_of), None)
            if concept is None or self.splits.split_of[concept] != split:
                continue
            kind: Kind = "expansion"
            if split == "test" and concept in self.splits.wordless:
                if not shares_no_word(topic.text, self.mentions, self.expansions):
                    continue
                kind = "wo_surface"
            if split != "test" or kind in self.options.kinds:
                yield from self._sets(split, kind, topic, self._usual(split))

    @cached_property
    def _expanded_topics(self) -> list[Topic]:
        topics: dict[Topic, None] = {}
        for concept, unit, change in self.pairs:
            for expansion in self.expansions.lookup(" ".join(concept)):
                topics[Topic(expansion, alternatives(expansion, self.mentions, self.expansions), unit, change)] = None
        return sorted(topics, key=lambda topic: topic.key)

    def _joint(self, split: Split) -> Iterable[QueryDraft]:
        """Several constraints on concepts of one split; training concepts also make `seen` test queries."""
        for pairs in self._joint_pairs:
            homes = {self.splits.split_of[pair.concept] for pair in pairs}
            if len(homes) > 1 or any(pair.concept in self.splits.wordless for pair in pairs):
                continue
            home = homes.pop()
            kind: Kind = "seen" if home == "train" else "unseen"
            included = home == split or (home, split) == ("train", "test")
            if included and (split != "test" or kind in self.options.kinds):
                for values in _sets("joint", self.options.joint_sets):
                    yield QueryDraft(split, kind, values, tuple(self.topic(pair) for pair in pairs))

    @cached_property
    def _joint_pairs(self) -> list[tuple[Pair, ...]]:
        found = joint_pairs(self.pairs, self.mentions)
        return [pairs for pairs in found if any(self._stands_alone(pair.concept) for pair in pairs)]

    def _stands_alone(self, concept: Concept) -> bool:
        return generation_package(self.mentions.language).stands_alone(" ".join(concept))

    def topic(self, pair: Pair) -> Topic:
        """A pair under the words in which the corpus says it."""
        if pair not in self._phrases:
            self._phrases[pair] = phrase(self.mentions, pair) or " ".join(pair.concept)
        return Topic(self._phrases[pair], (pair.concept,), pair.unit, pair.change)

    def seen(self, topic: Topic) -> Distribution:
        """The distribution of a topic's observed values."""
        if topic.key not in self._seen:
            rows = observed(self.mentions, topic.concepts, topic.unit, topic.change)
            values = self.mentions.value[rows]
            # Means say 4.8 years, and searchers 5.
            self._seen[topic.key] = distribution(
                np.round(values) if self.mentions.family_of(topic.unit) == "age" else values
            )
        return self._seen[topic.key]

    def value(self, topic: Topic, comparator: Comparator, values: ValueSet) -> Ask | None:
        """The value of a topic in a value set; differs from those of the earlier sets."""
        key = topic.key, comparator, values
        if key in self._values:
            return self._values[key]
        avoid = frozenset(
            ask for earlier in _before(values) if (ask := self.value(topic, comparator, earlier)) is not None
        )
        enough = max(2, self.options.samples)
        at_random = values.startswith("random")
        ask = None
        # "For each expanded concept new values are sampled" (3.3.2): other ones than its concepts', if there are.
        further = values.startswith("random ")
        theirs = self._lexical_values(topic, comparator, (*self._usual("test"), *(("other",) if further else ())))
        # Test queries have a claim on "other".
        for excluded in (avoid | theirs,) if further else (avoid | theirs, avoid):
            rng = generator(self.options.seed, f"value {values} {comparator}", topic.key)
            ask = choose_value(comparator, self.seen(topic), rng, at_random=at_random, avoid=excluded, enough=enough)
            if ask is not None:
                break
        self._values[key] = ask
        return ask

    def _lexical_values(self, topic: Topic, comparator: Comparator, sets: Iterable[ValueSet]) -> frozenset[Ask]:
        """Values of the lexical queries on an expansion's concepts; empty for a topic that is its own concept."""
        own = [self.topic(Pair(concept, topic.unit, topic.change)) for concept in topic.concepts]
        if topic in own:
            return frozenset()
        asks = (self.value(lexical, comparator, values) for lexical in own for values in sets)
        return frozenset(ask for ask in asks if ask is not None)

    def realize(self, draft: QueryDraft) -> Query | None:
        """The query of a draft; None if its distribution has no suitable value."""
        rng = generator(self.options.seed, "query", draft.key)
        asks = self._joint_asks(draft, rng) if draft.values.startswith("joint") else self._single_ask(draft, rng)
        if asks is None:
            return None
        texts, conditions, names = [], [], []
        for topic, (comparator, (low, high), unit) in zip(draft.topics, asks, strict=True):
            text, condition, name = self._word(topic, comparator, low, high, unit, rng)
            texts.append(text)
            conditions.append(condition)
            names.append(name)
        return Query(
            query_id=f"{draft.split}-{draft.kind}-{digest(draft.key)[:12]}",
            text=self.templates.join(texts, rng),
            terms=" ".join(dict.fromkeys(topic.text for topic in draft.topics)),
            conditions=tuple(conditions),
            split=draft.split,
            kind=draft.kind,
            template=" + ".join(names),
            seed=self.options.seed,
            topic=self.group(draft),
        )

    def _single_ask(self, draft: QueryDraft, rng: np.random.Generator) -> list[tuple[Comparator, Ask, str]] | None:
        (topic,), (comparator,) = draft.topics, draft.comparators
        ask = self.value(topic, comparator, draft.values)
        if ask is None or (ask[0] <= 0 < ask[1] and self.mentions.family_of(topic.unit) == "currency"):
            return None  # nobody asks for "income between -5 and 150 million"
        return [(comparator, *self._other_unit(topic, comparator, ask, rng))]

    def _other_unit(self, topic: Topic, comparator: Comparator, ask: Ask, rng: np.random.Generator) -> tuple[Ask, str]:
        """With probability `other_unit`, convert a value to another unit in which the corpus states the concept."""
        wanted, position, unit = rng.random() < self.options.other_unit, rng.random(), topic.unit
        if not wanted or self.units.get(unit).family == "count":
            return ask, unit  # "first goal" and "goal" compare, but neither says the other
        choices: list[tuple[Ask, str]] = []
        for name in self._other_units(topic):
            low, high = (rounded(self.units.convert(end, unit, name), 2) for end in ask)
            back = self.units.convert(low, name, unit)
            exact = abs(back - ask[0]) <= 1e-9 * abs(ask[0])
            sensible = all(SENSIBLE[0] <= abs(end) <= SENSIBLE[1] for end in (low, high))
            if self.units.get(unit).family == "time":
                sensible &= all(end * 2 % 1 == 0 for end in (low, high))  # nobody asks for 1.6 months
            if sensible and (exact or comparator not in ("=", "!=")) and (low < high or ask[0] == ask[1]):
                choices.append(((low, high), name))
        return choices[int(position * len(choices))] if choices else (ask, unit)

    def _other_units(self, topic: Topic) -> list[str]:
        """Other units of the same base in which the corpus states a topic's concepts, ordered."""
        codes = {code for concept in topic.concepts for code in self.mentions.same(concept).tolist()}
        rows = self.mentions.rows_of_concepts(np.array(sorted(codes), dtype=np.int64))
        units, counts = np.unique(self.mentions.unit[rows[self.mentions.sure[rows]]], return_counts=True)
        names = [self.mentions.units[code] for code in units[counts >= SPOKEN].tolist()]
        base = self.units.get(topic.unit).base_unit
        return [name for name in names if name != topic.unit and self.units.get(name).base_unit == base]

    def _joint_asks(self, draft: QueryDraft, rng: np.random.Generator) -> list[tuple[Comparator, Ask, str]]:
        """Constraints that a randomly chosen sentence satisfies jointly."""
        rows = [observed(self.mentions, topic.concepts, topic.unit, topic.change) for topic in draft.topics]
        docs = self.mentions.docs_of(rows[0])
        for others in rows[1:]:
            docs = in_both(docs, self.mentions.docs_of(others))
        doc = docs[rng.integers(docs.size)]
        asks: list[tuple[Comparator, Ask, str]] = []
        for topic, all_rows in zip(draft.topics, rows, strict=True):
            joint = all_rows[np.isin(self.mentions.doc[all_rows], docs)]
            value = float(self.mentions.value[joint[self.mentions.doc[joint] == doc][0]])
            comparator = JOINT_COMPARATORS[int(rng.integers(len(JOINT_COMPARATORS)))]
            if comparator == "=" and rounded(value, DIGITS) != value:
                comparator = ">"
            seen = distribution(self.mentions.value[joint])
            comparator = askable(comparator, value, seen)
            ask = around(comparator, value, seen, rng, sizes(self.seen(topic)))
            asks.append((comparator, ask, topic.unit))
        return asks

    def _word(
        self, topic: Topic, comparator: Comparator, low: float, high: float, unit: str, rng: np.random.Generator
    ) -> tuple[str, Condition, str]:
        """The text, condition and template of a constraint."""
        odd = rng.random() < ODD
        about: About = topic.change or "level"
        if self.mentions.family_of(topic.unit) == "count" and topic.text == plural(topic.unit):
            about, form = "count", UnitForm()
        else:
            form = self._form(topic, unit, high, rng, odd)
        language = self.mentions.language
        if about == "level" and generation_package(language).is_act(topic.text):
            about = "act"
        ranged = comparator == "between"
        low_text, high_text = pick_form(low, form, rng, high if ranged else None, odd=odd, language=language)
        wording = Wording(low_text, high_text, form.before, form.after)
        concept = singular(topic.text) if about == "count" and high == 1 else topic.text
        family = self.mentions.family_of(topic.unit)
        text, name = self.templates.render(concept, comparator, wording, rng, about, family)
        text = after_aged(text)
        condition = Condition(
            comparator=comparator,
            value=low,
            high=high,
            unit=unit,
            base_unit=self.units.get(unit).base_unit,
            base_value=self.units.to_base(low, unit),
            base_high=self.units.to_base(high, unit),
            concept=join_alternatives(topic.concepts),
            value_text=f"{low_text} to {high_text}" if ranged else low_text,
            unit_text=form.bare or (topic.text if about == "count" else ""),
            change=topic.change,
        )
        return text, condition, name

    def _form(self, topic: Topic, unit: str, value: float, rng: np.random.Generator, odd: bool) -> UnitForm:
        """How a query writes a unit: as the corpus does, unless it is an odd one."""
        known = self.units.get(unit)
        package = generation_package(self.mentions.language)
        forms = package.unit_forms(known, self.units, value)
        usual = package.usual_forms(self.mentions.unit_surfaces.get(unit, {}), known, self.units, value)
        beside = package.form_beside(topic.text, known, value)
        if beside is not None:
            return beside
        if odd or not unit:
            return forms[int(rng.integers(len(forms)))]
        if not usual:
            return forms[0]
        weights = np.array([number for _, number in usual], dtype=float)
        return usual[int(rng.choice(len(usual), p=weights / weights.sum()))][0]


def after_aged(text: str) -> str:
    """A query without a comparator's word that does not follow "aged".

    >>> after_aged("children aged of 5 years"), after_aged("children aged at least 5 years")
    ('children aged 5 years', 'children aged at least 5 years')
    """
    return _AGED.sub("aged ", text)


def _sets(name: str, number: int) -> tuple[ValueSet, ...]:
    """The names of so many value sets of one kind.

    >>> _sets("random", 3)
    ('random', 'random 2', 'random 3')
    """
    return tuple(name if each == 1 else f"{name} {each}" for each in range(1, number + 1))


def _before(values: ValueSet) -> tuple[ValueSet, ...]:
    """The value sets whose values another one avoids.

    >>> _before("random"), _before("other"), _before("random 3")
    (('peak',), ('peak', 'random'), ('peak', 'random', 'other', 'random 2'))
    """
    if not values.startswith(("random", "other")):
        return ()
    if values == "other":
        return "peak", "random"
    earlier = _sets("random", int(values.removeprefix("random") or 1) - 1)
    return ("peak", *earlier[:1], *(("other",) if earlier else ()), *earlier[1:])


def _in_turn(drafts: Iterable[QueryDraft], topic: Callable[[QueryDraft], str], seed: int) -> list[QueryDraft]:
    """One draft of each topic in turn, so that a cap leaves many topics before many queries of any.

    The drafts of a topic take turns by stratum, in an order of strata that is the topic's own, so that every kind of
    query is among those that are left; those of several constraints, which are few, every second turn.
    """
    topics: dict[str, dict[str, list[QueryDraft]]] = {}
    for draft in drafts:
        topics.setdefault(topic(draft), {}).setdefault(draft.stratum, []).append(draft)
    turns: list[list[QueryDraft]] = []
    for name in shuffled(sorted(topics), seed, "order of topics", str):
        strata = shuffled(sorted(topics[name]), seed, f"order of strata in {name}", str)
        by_size: dict[bool, list[list[QueryDraft]]] = {True: [], False: []}
        for stratum in strata:
            members = shuffled(topics[name][stratum], seed, f"order {stratum}", lambda draft: draft.key)
            by_size[len(members[0].topics) > 1].append(members)
        turns.append(_alternating(_alternating(lists) for lists in by_size.values()))
    return _alternating(turns)


def _alternating(lists: Iterable[Sequence[T]]) -> list[T]:
    """The first items of all lists, then the second ones, and so on."""
    return [item for turn in zip_longest(*lists) for item in turn if item is not None]
