"""The files of a synthetic corpus, written as the sentences come."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import TextIO

import polars as pl

from qbench.index.merge import TableRows
from qbench.quantities.types import quantity_schema, to_row
from qbench.synth.facts import Thing
from qbench.synth.mapping import TableMapping
from qbench.synth.sentences import Sentence


def fact_schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of facts.parquet: one row per gold quantity, saying which cell of the table it states.

    `row` is the table's row, from 1, unreadable ones not counted; `value` and `unit` are the cell's, before conversion;
    `value_start` is where the quantity stands in the text, as in the table of quantities.
    """
    return {
        "doc_id": pl.String,
        "value_start": pl.Int32,
        "row": pl.Int64,
        "name": pl.String,
        "column": pl.String,
        "attribute": pl.String,
        "value": pl.Float64,
        "unit": pl.String,
    }


class CorpusFiles:
    """Writes corpus.jsonl, quantities.parquet and facts.parquet into a folder.

    Attributes:
        sentences, quantities: how many were written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.sentences = 0
        self.quantities = 0
        self._corpus: TextIO
        self._quantities: TableRows
        self._facts: TableRows

    def __enter__(self) -> CorpusFiles:
        self._corpus = (self._folder / "corpus.jsonl").open("w", encoding="utf-8", newline="\n")
        self._quantities = TableRows(self._folder / "quantities.parquet", quantity_schema())
        self._facts = TableRows(self._folder / "facts.parquet", fact_schema())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._corpus.close()
        self._quantities.close()
        self._facts.close()

    def add(self, doc_id: str, thing: Thing, sentence: Sentence, mapping: TableMapping) -> None:
        """Append one sentence about a thing."""
        line = {"doc_id": doc_id, "text": sentence.text, "title": thing.name, "source_id": str(thing.row)}
        self._corpus.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.sentences += 1
        for mention in sentence.mentions:
            attribute = mapping.attributes[mention.fact.attribute]
            self.quantities += 1
            self._quantities.add(to_row(doc_id, mention.quantity))
            self._facts.add(
                {
                    "doc_id": doc_id,
                    "value_start": mention.quantity.value_span[0],
                    "row": mention.thing.row,
                    "name": mention.thing.name,
                    "column": attribute.column,
                    "attribute": attribute.name,
                    "value": mention.fact.value,
                    "unit": mention.fact.unit,
                }
            )
