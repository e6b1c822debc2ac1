"""The facts of a grounded index as arrays, and the exact judgments that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.types import UNDECIDED
from qbench.errors import InputError
from qbench.generation.wording import Attribute
from qbench.index.disk import Index
from qbench.quantities.codes import COMPARATOR_CODES, comparator_codes
from qbench.quantities.conditions import BROKEN, MET, verdicts
from qbench.quantities.types import Condition
from qbench.quantities.units import Units
from qbench.store import MANIFEST

NO, OPEN, YES = -1, 0, 1
"""Whether a thing is one that is asked for: by the table it is not; nobody can tell; it is."""


@dataclass(frozen=True)
class Sayings:
    """The k mentions that are about one attribute.

    Attributes:
        unit: shape (k,), the retrieval unit of each.
        low, high, comparator: shape (k,), what they say, in the base unit; `comparator_codes`.
        agrees: shape (k,), whether the mention states the table's fact.
        start: shape (k,), where its value starts in the unit's text.
    """

    unit: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    comparator: NDArray[np.int8]
    agrees: NDArray[np.bool_]
    start: NDArray[np.int64]


@dataclass(frozen=True)
class Judged:
    """What a query asks for.

    Attributes:
        things: shape (n,), NO, OPEN or YES.
        grades: shape (m,), of each retrieval unit: 2 states that it is what is asked for, 1 belongs to a thing that is
            by the table; `UNDECIDED`; 0 for all others.
    """

    things: NDArray[np.int8]
    grades: NDArray[np.int8]


@dataclass(frozen=True)
class FactTable:
    """n things with facts, and the m retrieval units of their documents.

    Attributes:
        attributes: of the table, with `base` units.
        base: base unit of each attribute.
        values: shape (n, attributes), in the base unit; NaN where the table says nothing.
        kinds, qualifiers: n names, "" where unknown.
        noun: what all things are; "" where unknown.
        synonyms: kind -> other names of it.
        doc_ids: m ids; thing: shape (m,), the thing of each unit.
        sayings: by attribute.
    """

    attributes: tuple[Attribute, ...]
    base: tuple[str, ...]
    values: NDArray[np.float64]
    kinds: list[str]
    qualifiers: list[str]
    noun: str
    synonyms: dict[str, list[str]]
    doc_ids: list[str]
    thing: NDArray[np.int64]
    sayings: list[Sayings] = field(default_factory=list)

    @classmethod
    def load(cls, index: Index, units: Units) -> FactTable:
        """The facts of a grounded index.

        Raises:
            InputError: its tables do not belong together, or its manifest does not say what they are.
        """
        grounding = index.manifest.params["grounding"]
        try:
            listed, noun, categories = grounding["attributes"], str(grounding["noun"]), dict(grounding["categories"])
            attributes = tuple(Attribute(**{**each, "synonyms": tuple(each["synonyms"])}) for each in listed)
        except (KeyError, TypeError, ValueError) as fault:
            message = "the manifest does not say what the facts of this index are"
            raise InputError(message, file=index.path / MANIFEST, value=str(fault)) from None
        things = index.collected(index.things())
        sentences = index.collected(index.sentences().select("doc_id", "source_id"))
        row_of = {source: row for row, source in enumerate(things["source_id"])}
        unit_of = {doc_id: row for row, doc_id in enumerate(sentences["doc_id"])}
        values = np.full((things.height, len(attributes)), np.nan)
        stated = index.collected(index.stated())
        try:
            facts = index.collected(index.facts().select("source_id", "attribute", "base_value"))
            for source, number, value in facts.iter_rows():
                values[row_of[source], number] = value
            thing = np.array([row_of[source] for source in sentences["source_id"]], dtype=np.int64)
            at = np.array([unit_of[doc_id] for doc_id in stated["doc_id"]], dtype=np.int64)
        except (KeyError, IndexError) as fault:
            message = "the tables of this index do not belong together"
            raise InputError(message, file=index.path, value=str(fault)) from None
        return cls(
            attributes=attributes,
            base=tuple(units.get(attribute.unit).base_unit for attribute in attributes),
            values=values,
            kinds=things["kind"].to_list(),
            qualifiers=things["qualifier"].to_list(),
            noun=noun,
            synonyms=categories,
            doc_ids=sentences["doc_id"].to_list(),
            thing=thing,
            sayings=[_sayings(stated, at, number) for number in range(len(attributes))],
        )

    def judge(
        self, scope: NDArray[np.int8], conditions: Sequence[tuple[int, Condition]], *, table_only: bool = True
    ) -> Judged:
        """The exact labels of a query.

        Args:
            scope: shape (n,), whether each thing is of the category that is asked for (NO, OPEN, YES).
            conditions: (attribute, condition) pairs, all of one thing.
            table_only: grade units of things that are right by the table alone 1, instead of leaving them undecided.

        A thing is one that is asked for if the table says so of every condition, and its document does not say that
        some condition is broken. It is not if the table breaks one, whatever the text says; where the text has the
        number rounded to the other side of the bound, nobody can tell. A text that states another number than the table
        states the condition if its own number meets it, too.
        """
        things, stated = scope.copy(), np.ones(len(self.doc_ids), dtype=bool)
        for attribute, condition in conditions:
            state, said = self._judge(attribute, condition)
            things = np.minimum(things, state)
            stated &= said
        grades = np.zeros(len(self.doc_ids), dtype=np.int8)
        of_units = things[self.thing]
        grades[of_units == OPEN] = UNDECIDED
        grades[of_units == YES] = 1 if table_only else UNDECIDED
        grades[(of_units == YES) & stated] = 2
        return Judged(things, grades)

    def _judge(self, attribute: int, condition: Condition) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """Whether each thing meets a condition (NO, OPEN, YES), and which units say so."""
        values, said = self.values[:, attribute], self.sayings[attribute]
        known = ~np.isnan(values)
        state = np.full(values.size, OPEN, dtype=np.int8)
        single = np.full(int(known.sum()), COMPARATOR_CODES["="], dtype=np.int8)
        state[known] = verdicts(values[known], values[known], single, condition)
        codes = verdicts(said.low, said.high, said.comparator, condition)
        of = self.thing[said.unit]

        def among(rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
            found = np.zeros(values.size, dtype=bool)
            found[of[rows]] = True
            return found

        says_met, says_broken = among(said.agrees & (codes == MET)), among(said.agrees & (codes == BROKEN))
        disputed = among(~said.agrees & (codes != MET))
        unsure = np.where(state == YES, (says_broken & ~says_met) | disputed, (state == NO) & says_met)
        units = np.zeros(len(self.doc_ids), dtype=bool)
        # Also another value than the table's, of a thing that comes in several sizes: it meets the condition as well.
        units[said.unit[codes == MET]] = True
        return np.where(unsure, OPEN, state).astype(np.int8), units

    def category(self, kind: str = "", qualifier: str = "") -> NDArray[np.int8]:
        """Shape (n,): whether each thing is of a kind and a qualifier, "" for any; OPEN where the table says none."""
        scope = np.full(len(self.kinds), YES, dtype=np.int8)
        for wanted, names in ((kind, self.kinds), (qualifier, self.qualifiers)):
            if wanted:
                states = [YES if name == wanted else OPEN if not name else NO for name in names]
                scope = np.minimum(scope, np.array(states, dtype=np.int8))
        return scope


def _sayings(stated: pl.DataFrame, at: NDArray[np.int64], attribute: int) -> Sayings:
    rows = (stated["attribute"] == attribute).to_numpy()
    part = stated.filter(pl.Series(rows))
    return Sayings(
        unit=at[rows],
        low=part["low"].to_numpy(),
        high=part["high"].to_numpy(),
        comparator=comparator_codes(part["comparator"]),
        agrees=part["agrees"].to_numpy().astype(bool),
        start=part["value_start"].to_numpy().astype(np.int64),
    )
