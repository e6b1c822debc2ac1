"""Descriptions from a table of (description, quantity), so that any parser can be used with this package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from qbench import keys
from qbench.corpora.clean import SeenIds
from qbench.corpora.tables import Row, Table
from qbench.corpora.types import OnError, Problems
from qbench.errors import InputError
from qbench.index.merge import TableRows
from qbench.licences import normalised
from qbench.mining.describe import Descriptions
from qbench.mining.describing import LONGEST, description_row
from qbench.mining.types import DESCRIPTIONS, DESCRIPTIONS_KIND, Description, description_schema
from qbench.progress import Progress, silent
from qbench.quantities.extractors import Extractor, ExtractorOptions, for_texts, get_extractor
from qbench.quantities.languages import ENGLISH, SAMPLE, SAMPLE_CHARACTERS
from qbench.quantities.types import Quantity
from qbench.store import digest, drafting, file_digest

COLUMNS = ("description", "quantity")
"""Required columns; `id`, `document` and `sentence` are optional."""


_MEANINGFUL = re.compile(r"[^\W\d_]|[$%€£¥]")
"""A letter, or a sign of a unit."""


def import_descriptions(
    table: str | Path,
    output: str | Path,
    *,
    extractor: ExtractorOptions = ExtractorOptions(),
    on_error: OnError = "skip",
    licence: str | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Descriptions:
    """Make a description corpus from a table.

    Args:
        table: CSV, TSV, JSON lines (each also .gz, .zst) or Parquet with the columns `description` and `quantity` (as
            in running text: "4.6 billion dollars", "12.5 %"), and optionally `id`, `document` and `sentence`. A row
            without a document is a document of its own; rows of one document with the same sentence share it.
        output: folder of the descriptions.
        extractor: reads the quantities.
        on_error: "skip" leaves bad rows out and counts them, "fail" stops at the first.
        licence: of the table's texts, for the cards of what is derived from them.
        overwrite: replace other descriptions in `output`.
        progress: receives the position of the reader.

    Raises:
        InputError: the table is missing, empty, lacks a column, or has a bad row and `on_error` is "fail".
        OptionError: `output` holds something else.
        BusyError: another process is writing to `output`.
    """
    path, folder = Path(table), Path(output)
    problems = Problems(on_error)
    rows = Table(path, problems)
    sample = islice(rows.rows(Problems("skip")), SAMPLE)
    extractor = for_texts(extractor, (_text(row, "description")[:SAMPLE_CHARACTERS] for _, row in sample))
    params = {"table": file_digest(path), "extractor": extractor.key()}
    if extractor.language != ENGLISH:
        params["language"] = extractor.language
    if licence is not None:
        params["licence"] = normalised(licence)
    key = keys.key("description table", **params)
    with drafting(folder, DESCRIPTIONS_KIND, key, params, overwrite=overwrite) as draft:
        if draft is None:
            return Descriptions.open(folder)
        with TableRows(draft.folder / DESCRIPTIONS, description_schema()) as descriptions:
            for row in _read(rows, get_extractor(extractor), problems, progress):
                descriptions.add(row)
        if not problems.used:
            raise InputError("no row of this table can be used", file=path, remedy="; ".join(problems.examples) or None)
        draft.counts = {
            "descriptions": problems.used,
            "bad": dict(sorted(problems.counts.items())),
            "bad_examples": problems.examples,
        }
    return replace(Descriptions.open(folder), new=True)


def _read(table: Table, extractor: Extractor, problems: Problems, progress: Progress) -> Iterator[dict[str, Any]]:
    seen = SeenIds()
    for number, row in table.rows():
        if number == 1 and (missing := [name for name in COLUMNS if name not in row]):
            raise InputError(
                "the table lacks a column",
                file=table.path,
                value=missing[0],
                remedy=f"It has {', '.join(row)}; description and quantity are needed",
            )
        try:
            name = _text(row, "id") or f"row-{number}"
            if not seen.add(name):
                raise InputError("an id stands twice", value=name)
            yield _row(name, row, extractor)
            problems.used += 1
        except InputError as fault:
            error = InputError(fault.message, file=table.path, line=table.line, value=fault.value, remedy=fault.remedy)
            problems.bad(fault.message, error)
        progress(table.meter.done, table.meter.total, f"{number:,} rows")


def _row(name: str, row: Row, extractor: Extractor) -> dict[str, Any]:
    words = " ".join(_text(row, "description").split())
    if not words:
        raise InputError("the description is empty")
    if words.count(" ") >= LONGEST:
        raise InputError(f"the description has more than {LONGEST:,} words", value=words)
    mention = _quantity(_text(row, "quantity"), extractor)
    sentence = _text(row, "sentence")
    document = _text(row, "document") or name
    sentence_id = f"{document}#{digest(sentence)}" if sentence else name
    return description_row(f"{name}#0", words, (sentence_id, document, sentence), Description(), mention)


def _quantity(text: str, extractor: Extractor) -> Quantity:
    """The quantity in a cell.

    Raises:
        InputError: there is none, or several, or something beside a bare number that may change its meaning.
    """
    quantities = extractor.extract_query(text)
    if len(quantities) != 1:
        message = "several quantities in one cell" if quantities else "the quantity cannot be read"
        raise InputError(message, value=text)
    quantity = quantities[0]
    spans = [span for span in (quantity.value_span, quantity.comparator_span) if span is not None]
    rest = "".join(sign for k, sign in enumerate(text) if not any(start <= k < end for start, end in spans))
    if not quantity.unit and _MEANINGFUL.search(rest):
        # "4.587 Mio. EUR" is not 4,587,000 of nothing.
        raise InputError("the text beside the number is not understood", value=text)
    return replace(quantity, value_span=(-1, -1), unit_span=None, comparator_span=None, concept_spans=())


def _text(row: Row, column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value).strip()
