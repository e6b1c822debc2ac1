"""The tables of a grounded index, document by document, and what is counted on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from qbench.corpora.types import Document
from qbench.grounding.align import Aligned, Aligner, Claim, column_steps
from qbench.grounding.options import GroundOptions
from qbench.grounding.report import Disagreement, Report
from qbench.grounding.rows import Rows
from qbench.grounding.units import Reading, Sentence, Unit, extent, mentions_of, read_text, subject_of, units_of
from qbench.index.disk import QUANTITIES, SENTENCES
from qbench.index.facts import FACTS, STATED, THINGS, fact_schema, stated_schema, thing_schema
from qbench.index.merge import TableRows
from qbench.index.schemas import sentence_schema
from qbench.quantities.types import Quantity, quantity_schema, to_row
from qbench.quantities.units import Units
from qbench.synth.facts import Thing
from qbench.synth.mapping import TableMapping

_SCHEMAS = {
    SENTENCES: sentence_schema,
    QUANTITIES: quantity_schema,
    THINGS: thing_schema,
    FACTS: fact_schema,
    STATED: stated_schema,
}

_CONTEXT = 60
"""Characters of the text on each side of a mention that a disagreement shows."""

About = dict[int, tuple[Claim, bool]]
"""A mention's place in its document -> the fact that it is about, and whether it agrees with it."""


class GroundedTables:
    """Aligns and cuts documents, and writes what comes of it.

    Args:
        mapping: of the table.
        units: to convert values.
        options: what is retrieved.
        rows: what the table says of each document.

    Attributes:
        report: coverage and disagreements, once the tables are written.
        counts: numbers of documents, sentences (retrieval units) and quantities.
    """

    def __init__(self, mapping: TableMapping, units: Units, options: GroundOptions, rows: Rows) -> None:
        self._mapping, self._units, self._options, self._rows = mapping, units, options, rows
        self._aligner = Aligner(mapping.attributes, units)
        facts = (fact for thing in rows.things.values() if thing is not None for fact in thing.facts)
        self._steps = column_steps(((fact.attribute, fact.value) for fact in facts), len(mapping.attributes))
        self._tables: dict[str, TableRows] = {}
        self.report = Report(mapping)
        self.counts: dict[str, Any] = dict.fromkeys(("documents", "sentences", "quantities"), 0)

    def write(self, folder: Path, documents: Iterable[tuple[Document, Sequence[Sentence]]]) -> None:
        """Write sentences, quantities, things, facts and stated facts.

        Args:
            folder: of the index.
            documents: those that have a row, each with the sentences of what was read of it.
        """
        with ExitStack() as stack:
            self._tables = {
                name: stack.enter_context(TableRows(folder / name, schema())) for name, schema in _SCHEMAS.items()
            }
            for document, sentences in documents:
                if (thing := self._rows.thing(document)) is not None:
                    self._add(document, thing, sentences)

    def _add(self, document: Document, thing: Thing, sentences: Sequence[Sentence]) -> None:
        text, body = read_text(document.title, document.text)
        subject = subject_of(document.title, thing.name, text)
        reading = Reading(document.doc_id, document.title, text, body, sentences, subject)
        claims = [self._claim(fact.attribute, fact.value, fact.unit) for fact in thing.facts]
        aligned = self._aligner.align(claims, mentions_of(reading))
        self.counts["documents"] += 1
        self._add_facts(document, thing, claims, aligned)
        about: About = {}
        for claim, found in zip(claims, aligned, strict=True):
            about |= dict.fromkeys(found.others, (claim, False)) | dict.fromkeys(found.agreeing, (claim, True))
        shown: set[int] = set()
        for unit in units_of(reading, self._options):
            row = (unit.doc_id, unit.text, unit.title, document.doc_id, unit.start, unit.end)
            self._put(SENTENCES, row)
            self.counts["sentences"] += 1
            for at, quantity in unit.mentions:
                self.counts["quantities"] += 1
                self._tables[QUANTITIES].add(to_row(unit.doc_id, self._stated(document, unit, quantity, about.get(at))))
                if at in about and not about[at][1] and at not in shown:
                    shown.add(at)
                    self._disagree(document, thing, unit, quantity, about[at][0])

    def _put(self, table: str, row: Sequence[Any]) -> None:
        self._tables[table].add(dict(zip(_SCHEMAS[table](), row, strict=True)))

    def _claim(self, attribute: int, value: float, unit: str) -> Claim:
        base = self._units.get(unit).base_unit
        return Claim(attribute, value, unit, base, self._units.to_base(value, unit), self._steps[attribute])

    def _add_facts(self, document: Document, thing: Thing, claims: Sequence[Claim], aligned: Sequence[Aligned]) -> None:
        self._put(THINGS, (document.doc_id, thing.row, thing.name, thing.kind, thing.qualifier, thing.broader))
        for claim, found in zip(claims, aligned, strict=True):
            attribute = self._mapping.attributes[claim.attribute]
            named = (document.doc_id, claim.attribute, attribute.column, attribute.name)
            self._put(FACTS, (*named, claim.value, claim.unit, claim.base_unit, claim.base_value, found.status))
            self.report.counts[claim.attribute][found.status] += 1

    def _stated(self, document: Document, unit: Unit, quantity: Quantity, about: tuple[Claim, bool] | None) -> Quantity:
        """A mention as the index has it: one that states a fact is about its attribute."""
        if about is None:
            return quantity
        claim, agrees = about
        said = (quantity.base_value, quantity.base_high, quantity.comparator)
        place = (document.doc_id, claim.attribute, unit.doc_id, quantity.value_span[0])
        self._put(STATED, (*place, *said, agrees, unit.text[slice(*extent(quantity))]))
        return replace(quantity, concept=self._mapping.attributes[claim.attribute].words) if agrees else quantity

    def _disagree(self, document: Document, thing: Thing, unit: Unit, quantity: Quantity, claim: Claim) -> None:
        start, end = extent(quantity)
        self.report.disagreements.append(
            Disagreement(
                document.doc_id,
                document.title or thing.name,
                claim.attribute,
                claim.value,
                claim.unit,
                unit.text[start:end],
                unit.text[max(0, start - _CONTEXT) : end + _CONTEXT],
            )
        )
