"""Algorithm 2 of *Numbers Matter*: original, unit-permuted and value-permuted samples, each label checked again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.benchmark.types import Query
from qbench.generation.arithmetic import NO_VALUE, Among
from qbench.generation.labels import Labels, meets
from qbench.generation.languages import generation_package
from qbench.generation.mentions import COUNTED, Mentions
from qbench.generation.options import GenerationOptions
from qbench.generation.other_units import UNMIXED, OtherUnits
from qbench.generation.pairs import observed
from qbench.generation.permute import Permuted, joined, with_unit, with_value
from qbench.generation.recheck import Rechecker
from qbench.generation.surfaces import read_value
from qbench.quantities.codes import COMPARATOR_CODES
from qbench.quantities.concept_match import Concept, concept_grade, stated_concept
from qbench.quantities.conditions import BROKEN, MET, verdicts
from qbench.quantities.english.inflection import plural, singular
from qbench.quantities.types import Condition, Quantity
from qbench.quantities.units import Units
from qbench.randomness import generator

Row = dict[str, Any]

_ARTICLE = re.compile(r"\ban?\s+$", re.IGNORECASE)
"""Before a number that a noun follows: "a 15 billion yen bond"."""
_NOUN = re.compile(
    r"\s+(?!(?:of|in|and|or|on|for|to|from|at|as|by|with|was|were|is|are|has|had|have|will|would|during|over|under|per|a|an"
    r"|the|this|that|which|each|primarily|mainly|including|related|compared|due|net|at|after|before|until|through|into"
    r"|remains?|remained|available|last|next|less|more|higher|lower|up|down|paid)\b)[a-z]"
)
"""After the number of "a five-year, $3 billion credit facility": what may well be a noun."""

TRIES = 3
"""Sentences tried for each sample that is wanted; a permutation that the text does not allow costs a try."""

AGES = frozenset({"age"})
"""Families in which another unit makes a number that nobody writes: patients of 65 months."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A mention to change: its sentence, all mentions of it, which one, and the condition that it is about."""

    text: str
    mentions: list[Quantity]
    position: int
    condition: Condition

    @property
    def mention(self) -> Quantity:
        """The mention to change."""
        return self.mentions[self.position]


Change = Callable[[Spot, "np.random.Generator"], "Permuted | str"]
"""Changes a mention, or says why it does not."""

NOT_ALLOWED = "the sentence does not allow it"
SHARED = "another number of the sentence may share the unit"


@dataclass
class Sampler:
    """Makes the samples of queries, and counts what it rejects and why."""

    mentions: Mentions
    units: Units
    rechecker: Rechecker
    options: GenerationOptions
    rejected: Counter[str] = field(default_factory=Counter)

    def samples(self, query: Query, labels: Labels, blocked: NDArray[np.bool_]) -> list[Row]:
        """The samples of one query, rows of `sample_schema`; [] if it has no positive or no negative left (counted).

        Args:
            query: what is asked.
            labels: its s+ and s-.
            blocked: shape (sentences,), those that the query's split may not use.
        """
        positives = self.mentions.distinct(labels.positives[~blocked[labels.positives]])
        negatives = self.mentions.distinct(labels.negatives[~blocked[labels.negatives]])
        # Appendix B.9: the smaller list decides for both.
        n = min(self.options.samples, positives.size, negatives.size)
        if n == 0:
            side, all_of_it = ("positive", labels.positives) if not positives.size else ("negative", labels.negatives)
            self.rejected[f"query: no {side} left" + (" after holding out concepts" if all_of_it.size else "")] += 1
            return []
        rows: list[Row] = []
        if self.options.original:
            rows += self._original(query, positives, n, positive=True)
            rows += self._original(query, negatives, n, positive=False)
        if self.options.unit_permutation:
            rows += self._permuted(query, "unit", positives, self._other_surface, n, positive=True)
            rows += self._permuted(query, "unit", positives, self._other_unit, n, positive=False)
        if self.options.value_permutation:
            rows += self._permuted(query, "value", negatives, self._meeting_value, n, positive=True)
            rows += self._permuted(query, "value", positives, self._breaking_value, n, positive=False)
        if len({row["label"] for row in rows}) < 2:
            self.rejected["query: no pair of samples left"] += 1
            return []
        return rows

    def _original(self, query: Query, docs: NDArray[np.int64], n: int, *, positive: bool) -> list[Row]:
        """Pick n sentences as they are."""
        rng = generator(self.options.seed, f"original {positive}", query.query_id)
        rows: list[Row] = []
        for doc in rng.choice(docs, n, replace=False).tolist():
            mentions = self.mentions.quantities(doc)
            if not self._refused(self.rechecker.sentence(mentions, query.conditions, positive)):
                position = _positions(mentions, query.conditions, positive, self.mentions)[0][0]
                rows.append(self._row(query, "original", positive, len(rows), doc, None, mentions[position]))
        return rows

    def _permuted(
        self, query: Query, method: str, docs: NDArray[np.int64], change: Change, n: int, *, positive: bool
    ) -> list[Row]:
        """Make at most n samples by one change of one mention each."""
        if method == "unit" and all(self.units.get(c.unit).family in UNMIXED for c in query.conditions):
            self.rejected["unit permutation: a noun or a bare number has no other unit"] += 1
            return []
        prefix = f"{method} permutation: "
        # Only a positive by value starts from a sentence that breaks the condition.
        candidates = self._candidates(query, docs, change, f"{method} {positive}", n, method == "unit" or not positive)
        rows: list[Row] = []
        while chunk := list(islice(candidates, n - len(rows))):
            possible = [(doc, sample) for doc, sample in chunk if isinstance(sample, Permuted)]
            self.rejected.update(prefix + reason for _, reason in chunk if isinstance(reason, str))
            reasons = self.rechecker.permuted([sample for _, sample in possible], query.conditions, positive)
            for (doc, sample), reason in zip(possible, reasons, strict=True):
                if not self._refused(reason, prefix):
                    rows.append(self._row(query, method, positive, len(rows), doc, sample, sample.quantity))
        return rows

    def _candidates(
        self, query: Query, docs: NDArray[np.int64], change: Change, stream: str, n: int, met: bool
    ) -> Iterator[tuple[int, Permuted | str]]:
        """Sentences in random order, each with one mention changed, or why it is not."""
        rng = generator(self.options.seed, stream, query.query_id)
        for doc in rng.permutation(docs)[: n * TRIES].tolist():
            mentions = self.mentions.quantities(doc)
            positions = _positions(mentions, query.conditions, met, self.mentions)
            position, condition = positions[int(rng.integers(len(positions)))]
            yield doc, change(Spot(self.mentions.texts[doc], mentions, position, condition), rng)

    def _refused(self, reason: str | None, prefix: str = "") -> bool:
        if reason is not None:
            self.rejected[prefix + reason] += 1
        return reason is not None

    def _other_surface(self, spot: Spot, rng: np.random.Generator) -> Permuted | str:
        """A positive: another way to write the same unit."""
        mention = spot.mention
        if mention.unit_span is None:
            return NOT_ALLOWED
        old = spot.text[slice(*mention.unit_span)].lower()
        return self._write_unit(spot, mention.unit, rng, lambda surface: surface.lower() != old)

    def _other_unit(self, spot: Spot, rng: np.random.Generator) -> Permuted | str:
        """A negative: a surface of another unit, in which the same number breaks the condition."""
        mention = spot.mention
        if mention.unit_span is None or mention.family in UNMIXED | AGES:
            return NOT_ALLOWED
        if _compared(spot):
            return SHARED
        names, reason = self._other_units.choices(spot.text, mention, _stated(mention, self.mentions), spot.condition)
        if not names:
            return reason
        return self._write_unit(spot, names[int(rng.integers(len(names)))], rng, lambda _: True)

    @cached_property
    def _other_units(self) -> OtherUnits:
        return OtherUnits(self.mentions, self.units)

    def _write_unit(
        self, spot: Spot, name: str, rng: np.random.Generator, wanted: Callable[[str], bool]
    ) -> Permuted | str:
        tied = joined(spot.text, spot.mention) or _attributive(spot, self.units)
        value, unit = 1.0 if tied else spot.mention.high, self.units.get(name)
        package = generation_package(self.mentions.language)
        said = package.usual_forms(self.mentions.unit_surfaces.get(name, {}), unit, self.units, value)
        # A currency that the corpus does not write itself is written with its sign, where it has one.
        foreign = unit.family == "currency" and name != spot.mention.unit
        if foreign and sum(number for _, number in said) < COUNTED:
            said = []
        plain = [] if said and foreign else package.plain_forms(unit, self.units, value)
        forms = list(dict.fromkeys([*(form for form, _ in said), *plain]))
        if foreign and not said:
            forms = [form for form in forms if form.before] or forms
        if tied:
            forms = [form for form in forms if singular(form.bare) == form.bare]
        if unit.family in AGES:
            forms = [form for form in forms if "of age" not in form.bare]  # "a mean age of 60 years of age"
        attempts = (
            with_unit(spot.text, spot.mentions, spot.position, name, forms[i], self.units)
            for i in rng.permutation(len(forms))
            if wanted(forms[i].bare)
        )
        return next((sample for sample in attempts if sample is not None), NOT_ALLOWED)

    def _meeting_value(self, spot: Spot, rng: np.random.Generator) -> Permuted | str:
        return self._other_value(spot, rng, MET)

    def _breaking_value(self, spot: Spot, rng: np.random.Generator) -> Permuted | str:
        return self._other_value(spot, rng, BROKEN)

    def _other_value(self, spot: Spot, rng: np.random.Generator, wanted: int) -> Permuted | str:
        """An observed value of the mention's own pair, as likely as it is frequent (appendix B.8)."""
        mention, unit = spot.mention, self.units.get(spot.mention.unit)
        written = read_value(spot.text[slice(*mention.value_span)])
        if written is None:
            return NOT_ALLOWED
        among = Among(spot.text, spot.mentions, spot.position, self.mentions.language)
        if tie := among.tie():
            return tie
        concept = _stated(mention, self.mentions)
        values = self.mentions.value[observed(self.mentions, (concept,), mention.unit, mention.change)]
        base = values * unit.factor + unit.offset
        codes = verdicts(base, base, np.full(base.size, COMPARATOR_CODES["="], dtype=np.int8), spot.condition)
        wished = (codes == wanted) & (values != mention.value)
        fit = np.sort(values[wished][among.fitting(base[wished])])
        if not written.scale:
            # "12 patients" become no 0.24 of them, whatever the pair's odd values are.
            fit = fit[np.round(fit, max(1, written.decimals)) == fit]
        if not fit.size:
            return NO_VALUE
        value = float(fit[rng.integers(fit.size)])
        return with_value(spot.text, spot.mentions, spot.position, value, self.units) or NOT_ALLOWED

    def _row(
        self,
        query: Query,
        method: str,
        positive: bool,
        number: int,
        doc: int,
        sample: Permuted | None,
        mention: Quantity,
    ) -> Row:
        span = sample.value_span if sample else mention.value_span
        return {
            "sample_id": f"{query.query_id}/{method}{'+' if positive else '-'}{number}",
            "query_id": query.query_id,
            "doc_id": self.mentions.doc_ids[doc],
            "text": sample.text if sample else self.mentions.texts[doc],
            "label": int(positive),
            "method": method,
            "value": mention.value,
            "unit": mention.unit,
            "value_start": span[0],
            "value_end": span[1],
        }


def triples(rows: list[Row]) -> list[Row]:
    """Every positive of a query with every negative of it: rows of `triple_schema`."""
    return [
        {"query_id": positive["query_id"], "positive_id": positive["sample_id"], "negative_id": negative["sample_id"]}
        for positive in rows
        if positive["label"]
        for negative in rows
        if not negative["label"]
    ]


def _positions(
    quantities: list[Quantity], conditions: Iterable[Condition], wanted: bool, mentions: Mentions
) -> list[tuple[int, Condition]]:
    """The mentions of the very concept of a condition for which `meets` says `wanted`, with that condition.

    Never empty: a negative of several constraints can be one for what it does not say; then all mentions count.
    """
    about = [
        (position, condition)
        for condition in conditions
        for position, quantity in enumerate(quantities)
        if quantity.base_unit == condition.base_unit
        and concept_grade(condition.concept, _stated(quantity, mentions), mentions.language) == 2
    ]
    return [(position, c) for position, c in about if meets(quantities[position], c) is wanted] or about


def _compared(spot: Spot) -> bool:
    """Whether another number of the sentence is of the same family, or has no unit: the two may share or compare it."""
    own = spot.mention.family
    return any(m.family in ("", own) for n, m in enumerate(spot.mentions) if n != spot.position)


def _attributive(spot: Spot, units: Units) -> bool:
    """Whether a unit stands in the singular after a number that is not 1, as in "a five year agreement"."""
    first, last = spot.mention.unit_span or (0, 0)
    surface = spot.text[first:last]
    start, end = spot.mention.value_span
    if _ARTICLE.search(spot.text[:start]) or (last <= start and _NOUN.match(spot.text, end)):
        return True
    unit = units.get(spot.mention.unit)
    named = surface.lower() in unit.names or (unit.family == "currency" and surface.isalpha())
    if not named or abs(spot.mention.high) == 1 or singular(surface) != surface:
        return False
    many = units.lookup(plural(surface))
    return many is not None and many.name == unit.name


def _stated(quantity: Quantity, mentions: Mentions) -> Concept:
    spans = () if mentions.given else quantity.concept_spans
    return stated_concept(quantity.concept, quantity.unit, quantity.family, mentions.language, spans)
