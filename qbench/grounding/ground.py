"""From a table and a corpus to a grounded index: join, extract, align, cut, report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from qbench import keys
from qbench.corpora.source import open_source, read_documents
from qbench.corpora.sql import QueriedTable, is_database
from qbench.corpora.tables import Table
from qbench.corpora.types import Document, OnError, Problems, ReadOptions
from qbench.errors import InputError, OptionError
from qbench.grounding.options import GroundOptions
from qbench.grounding.rows import EXAMPLES, Rows, id_columns, read_rows
from qbench.grounding.tables import GroundedTables
from qbench.grounding.units import Sentence, read_text
from qbench.index.build import KIND, in_language, index_params, keep_extractor_files, unread_counts
from qbench.index.chunks import QUANTITIES as QUANTITY_SHARD
from qbench.index.chunks import SENTENCES as SENTENCE_SHARD
from qbench.index.chunks import CorpusChunk, chunks, extraction
from qbench.index.disk import GIVEN, PAIRS, QUANTITIES, Index
from qbench.index.facts import MAPPING
from qbench.index.merge import write_pairs
from qbench.progress import Progress, silent
from qbench.quantities.extractors import ExtractorOptions, check_extractor
from qbench.quantities.types import Quantity, from_row
from qbench.quantities.units import load_units
from qbench.store import Draft, drafting, file_digest, write_text
from qbench.synth.guess import SAMPLE_ROWS
from qbench.synth.make import choose_mapping, shortened
from qbench.synth.mapping import Attribute, TableMapping, mapping_toml
from qbench.work.pool import in_processes, worker_count
from qbench.work.shards import FOLDER, make_shards
from qbench.work.tasks import Engine, Shard

_DOCUMENTS = ".documents.jsonl"
"""Scratch file of an unfinished index: the joined documents, in the order of its shards."""


def ground(
    table: str | Path,
    source: str | Path,
    output: str | Path,
    options: GroundOptions = GroundOptions(),
    *,
    mapping: str | Path | None = None,
    extractor: ExtractorOptions = ExtractorOptions(),
    reading: ReadOptions = ReadOptions(),
    workers: int | None = None,
    engine: Engine | None = None,
    on_error: OnError = "skip",
    licence: str | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Index:
    """Index documents together with what a table says about them.

    Documents and rows are joined by id; documents without a row are left out and counted, as nobody knows what they
    answer. Each fact is aligned with the mentions of its document that state it (`qbench.grounding.align`); these get
    the attribute's name as their concept. Beside the tables of an index the folder holds things.parquet, facts.parquet,
    stated.parquet, mapping.toml, and the report: report.md, report.json, disagreements.csv.

    Args:
        table: CSV, TSV, JSON lines (also .gz, .zst) or Parquet, one row per thing.
        source: the documents, as `qbench.build_index` takes them.
        output: folder of the index; one made from the same input with the same options is opened and not made again.
        options: how both are joined, and what is retrieved.
        mapping: a TOML file that says what the columns are, as `qbench synth` has it; guessed if there is none.
        extractor, reading, workers, engine, on_error, licence, overwrite: as in `build_index`.
        progress: receives the number of finished documents.

    Raises:
        InputError: the table, the mapping or the source cannot be used; no column holds ids; or no document has a row.
        OptionError: an option makes no sense, or `output` holds something else.
        BusyError: another process is writing to `output`.
    """
    _refuse_given(extractor)
    processes = in_processes(worker_count(workers))
    units, folder = load_units(extractor.units_file), Path(output)
    facts, corpus = _table(Path(table), options.sql, on_error), open_source(source)
    sample = [shortened(row) for _, row in islice(facts.rows(Problems("skip")), SAMPLE_ROWS)]
    used = choose_mapping(facts.path, mapping, sample, units)
    columns = id_columns(options, used, sample, facts)
    extractor = in_language(extractor, corpus, reading)
    params = index_params(corpus, reading, extractor, licence)
    params["grounding"] = _grounding(options, facts.path, columns, used, guessed=mapping is None)
    key = keys.key("index", **params)
    with drafting(folder, KIND, key, params, overwrite=overwrite) as draft:
        if draft is None:
            return Index.open(folder)
        rows = read_rows(facts, used, columns, options.join, units)
        join = _Join(rows, Problems(on_error))
        documents = read_documents(corpus, reading, join.problems)
        names = join.extract(documents, draft, extractor, engine or processes, progress)
        run = GroundedTables(used, units, options, rows)
        run.write(draft.folder, _documents(draft.folder, names))
        keep_extractor_files(draft.folder, extractor)
        write_text(draft.folder / MAPPING, mapping_toml(used))
        joined = {"grounded": run.counts["documents"], "read": join.problems.used, **join.counts(facts)}
        draft.counts = {
            **run.counts,
            **write_pairs(draft.folder / QUANTITIES, draft.folder / PAIRS),
            **join.problems.summary(),
            "ignored_files": getattr(corpus, "ignored", 0),
            **unread_counts(draft.folder, extractor),
            "grounding": {**joined, **run.report.summary()},
        }
        run.report.write(draft.folder, joined)
    return replace(Index.open(folder), new=True)


def _refuse_given(extractor: ExtractorOptions) -> None:
    check_extractor(extractor, GIVEN)
    if extractor.name == GIVEN:
        message = "the documents' quantities are read in their texts"
        raise OptionError(message, value=GIVEN, remedy="Use --extractor rules")


def _grounding(
    options: GroundOptions, table: Path, columns: Sequence[str], mapping: TableMapping, *, guessed: bool
) -> dict[str, Any]:
    """What decides how documents and facts are joined, for the key and the manifest of the index."""
    return {
        **options.key(),
        "id": list(columns),
        "table": table.name,
        "table content": file_digest(table),
        "mapping": mapping_toml(mapping),
        "noun": mapping.noun,
        "categories": {names[0]: list(names[1:]) for names in mapping.categories.values() if names},
        "attributes": [_attribute(attribute) for attribute in mapping.attributes],
        "guessed": guessed,
        "revision": keys.revision("grounding"),
    }


def _table(path: Path, sql: str, on_error: OnError) -> Table:
    if not sql and is_database(path):
        raise OptionError("a database needs a query", file=path, remedy='Add --sql "SELECT ... FROM ..."')
    return QueriedTable(path, Problems(on_error), sql=sql) if sql else Table(path, Problems(on_error))


def _attribute(attribute: Attribute) -> dict[str, Any]:
    """What queries need to know of an attribute (`qbench.generation.wording.Attribute`)."""
    return {
        "column": attribute.column,
        "name": attribute.name,
        "synonyms": list(attribute.synonyms),
        "unit": attribute.unit,
        "per": attribute.per,
        "uncountable": attribute.uncountable,
    }


@dataclass
class _Join:
    """Documents that have a row, and how many have none."""

    rows: Rows
    problems: Problems
    skipped: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def extract(
        self,
        documents: Iterator[Document],
        draft: Draft,
        extractor: ExtractorOptions,
        engine: Engine,
        progress: Progress,
    ) -> list[str]:
        """Extract the joined documents; returns the names of their shards, in order.

        Raises:
            InputError: no document has a row.
        """
        done = 0

        def report(chunk: CorpusChunk, _: Shard | None) -> None:
            nonlocal done
            done += chunk.items
            progress(done, None, "documents")

        with (draft.folder / _DOCUMENTS).open("w", encoding="utf-8", newline="\n") as kept:
            names = make_shards(
                extraction(extractor),
                chunks(self._joined(documents, kept)),
                draft.folder / FOLDER,
                last=SENTENCE_SHARD,
                engine=engine,
                report=report,
            )
        if not names:
            ids = [name for name, thing in islice(self.rows.things.items(), EXAMPLES) if thing is not None]
            what = "titles" if self.rows.join == "title" else "ids"
            raise InputError(
                "no document has a row in the table",
                value=f"{what} of documents such as {', '.join(map(repr, self.examples))}; "
                f"{' '.join(self.rows.columns)} such as {', '.join(map(repr, ids))}",
                remedy="Name the column with --id, the documents' field with --id-field, or compare with --join title",
            )
        return names

    def _joined(self, documents: Iterator[Document], kept: Any) -> Iterator[Document]:
        for document in documents:
            if self.rows.thing(document) is None:
                repeated = self.rows.repeated(document)
                self.skipped["id of several rows" if repeated else "without a row"] += 1
                if len(self.examples) < EXAMPLES:
                    self.examples.append(document.title if self.rows.join == "title" else document.doc_id)
                continue
            kept.write(json.dumps([document.doc_id, document.title, document.text], ensure_ascii=False) + "\n")
            yield Document(document.doc_id, read_text(document.title, document.text)[0], document.title)

    def counts(self, table: Table) -> dict[str, Any]:
        """What was not joined, and what became of the table's cells."""
        return {
            "documents left out": dict(sorted(self.skipped.items())),
            "ids without a document": self.rows.without_document,
            "rows left out": {**dict(sorted(self.rows.skipped.items())), **table.problems.counts},
            "cells": [cells.to_dict() for cells in self.rows.cells],
        }


def _documents(folder: Path, names: Sequence[str]) -> Iterator[tuple[Document, list[Sentence]]]:
    """The joined documents in order, each with the sentences of what was read of it."""
    with (folder / _DOCUMENTS).open(encoding="utf-8") as kept:
        for name in names:
            shards = folder / FOLDER
            sentences = pl.read_parquet(shards / f"{name}{SENTENCE_SHARD}", glob=False)
            quantities = pl.read_parquet(shards / f"{name}{QUANTITY_SHARD}", glob=False)
            said: dict[str, list[Quantity]] = {}
            for row in quantities.iter_rows(named=True):
                said.setdefault(row["doc_id"], []).append(from_row(row))
            of_document: dict[str, list[Sentence]] = {}
            for doc_id, source_id, start, end in sentences.select("doc_id", "source_id", "start", "end").iter_rows():
                found = sorted(said.get(doc_id, ()), key=lambda quantity: quantity.value_span)
                of_document.setdefault(source_id, []).append(Sentence(start, end, found))
            for cut in of_document.values():
                doc_id, title, text = json.loads(kept.readline())
                yield Document(doc_id, text, title), cut
