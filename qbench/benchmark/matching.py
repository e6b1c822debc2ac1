"""Documents that meet a query's conditions by their quantities, the reference for checking labels."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.benchmark.benchmark import Benchmark
from qbench.errors import InputError
from qbench.quantities.codes import change_signs, comparator_codes
from qbench.quantities.concept_match import Concept, concept_alternatives, concept_grade, concept_words, stated_concepts
from qbench.quantities.conditions import BROKEN, MET, verdicts
from qbench.quantities.languages import ENGLISH
from qbench.quantities.types import Condition

UNDECIDED_GRADE = 0
"""The grade of a document that may or may not meet the conditions: its mention leaves it open."""


class Matcher:
    """A quantity table, sorted so that the mentions of a unit and a concept are found without looking at the rest.

    Args:
        quantities: `quantity_schema`.
        language: code of their language.
        given: they came with the corpus.

    Attributes:
        language, given: as above.
        knows_concepts: whether any mention has a concept. Where none has (quantities given without), concepts are not
            compared, and every document that meets a condition has grade 2.
    """

    def __init__(self, quantities: pl.DataFrame, language: str = ENGLISH, *, given: bool = False) -> None:
        self.language, self.given = language, given
        stated = stated_concepts(quantities, language, given=given)
        ordered = quantities.with_columns(_stated=stated).sort("base_unit", "_stated", maintain_order=True)
        self.knows_concepts = bool((quantities["concept"] != "").any())
        self._low = ordered["base_value"].to_numpy()
        self._high = ordered["base_high"].to_numpy()
        self._comparator = comparator_codes(ordered["comparator"])
        self._change = change_signs(ordered["change"])
        names = ordered["doc_id"].unique(maintain_order=True).to_list()
        self._names = names
        self._codes = {name: code for code, name in enumerate(names)}
        self._document = np.array([self._codes[name] for name in ordered["doc_id"]], dtype=np.int64)
        self._wanted = np.zeros(len(names), dtype=bool)
        self._starts = ordered["value_start"].to_list()
        self._spans: dict[str, dict[Concept, tuple[int, int]]] = {}
        self._words: dict[str, dict[str, set[Concept]]] = {}
        for unit, concept, start, end in _groups(ordered):
            self._spans.setdefault(unit, {})[concept] = (start, end)
            for word in set(concept_words(concept, language)):
                self._words.setdefault(unit, {}).setdefault(word, set()).add(concept)

    @classmethod
    def of(cls, benchmark: Benchmark) -> Matcher:
        """The matcher of a benchmark's quantities.

        Raises:
            InputError: it has none.
        """
        if benchmark.quantities is None:
            raise InputError("this benchmark has no quantities to compare", value=benchmark.name)
        return cls(benchmark.quantities, benchmark.language, given=benchmark.given)

    def grades(self, conditions: tuple[Condition, ...], documents: Collection[str] | None = None) -> dict[str, int]:
        """Each document that meets all conditions -> 2 or 1, that may meet them -> `UNDECIDED_GRADE`.

        Args:
            conditions: one or more.
            documents: those that matter; None for all.

        Returns:
            document -> grade, without the documents that do not meet them.

        A document's grade is the lowest over the conditions of the best over its mentions: 2 if the mention has the
        very concept, 1 if it has a more specific one.
        """
        grades: dict[str, int] | None = None
        for condition in conditions:
            part = self._of_condition(condition, documents)
            if grades is None:
                grades = part
            else:
                grades = {doc: min(grades[doc], part[doc]) for doc in grades.keys() & part.keys()}
        return grades or {}

    def met(self, condition: Condition, documents: Collection[str] | None = None) -> dict[str, list[int]]:
        """Document -> where the values of its mentions that meet the condition start in its text."""
        rows, _ = self._candidates(condition, documents)
        starts: dict[str, list[int]] = {}
        for row in rows[self._verdicts(rows, condition) == MET]:
            starts.setdefault(self._names[self._document[row]], []).append(self._starts[row])
        return starts

    def _of_condition(self, condition: Condition, documents: Collection[str] | None) -> dict[str, int]:
        rows, grades = self._candidates(condition, documents)
        codes = self._verdicts(rows, condition)
        best: dict[str, int] = {}
        for index in np.flatnonzero(codes != BROKEN):
            doc = self._names[self._document[rows[index]]]
            reached = int(grades[index]) if codes[index] == MET else UNDECIDED_GRADE
            best[doc] = max(reached, best.get(doc, UNDECIDED_GRADE))
        return best

    def _verdicts(self, rows: NDArray[np.int64], condition: Condition) -> NDArray[np.int8]:
        low, high, comparator = self._low[rows], self._high[rows], self._comparator[rows]
        return verdicts(low, high, comparator, condition, self._change[rows])

    def _candidates(
        self, condition: Condition, documents: Collection[str] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """Rows of the mentions, and their grades, that have the condition's unit and concept."""
        spans = self._spans.get(condition.base_unit, {})
        if not self.knows_concepts:
            graded = dict.fromkeys(spans, 2)
        else:
            similar = self._similar(condition)
            every = {concept: concept_grade(condition.concept, concept, self.language) for concept in similar}
            graded = {concept: grade for concept, grade in every.items() if grade > 0}
        rows = [np.arange(*spans[concept]) for concept in graded]
        grades = [np.full(len(part), grade, dtype=np.int8) for part, grade in zip(rows, graded.values(), strict=True)]
        if not rows:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int8)
        all_rows, reached = np.concatenate(rows), np.concatenate(grades)
        if documents is None:
            return all_rows, reached
        wanted = [self._codes[name] for name in documents if name in self._codes]
        self._wanted[wanted] = True
        selected = self._wanted[self._document[all_rows]]
        self._wanted[wanted] = False
        return all_rows[selected], reached[selected]

    def _similar(self, condition: Condition) -> list[Concept]:
        """The unit's concepts that hold all words of one of the condition's alternatives."""
        words = self._words.get(condition.base_unit, {})
        similar: set[Concept] = set()
        for alternative in concept_alternatives(condition.concept):
            folded = concept_words(alternative, self.language)
            if not folded:
                return sorted(self._spans.get(condition.base_unit, {}))
            similar |= set.intersection(*(words.get(word, set()) for word in folded))
        return sorted(similar)


def _groups(ordered: pl.DataFrame) -> list[tuple[str, Concept, int, int]]:
    """Unit, concept, first row and row after the last, for each run of equal units and concepts."""
    sizes = ordered.group_by("base_unit", "_stated", maintain_order=True).agg(size=pl.len())
    ends = sizes["size"].cum_sum().to_list()
    starts = [0, *ends][:-1]
    concepts = (tuple(text.split()) for text in sizes["_stated"])
    return list(zip(sizes["base_unit"], concepts, starts, ends, strict=True))
