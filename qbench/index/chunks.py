"""A chunk of documents: the unit of work, of resuming, and of memory. Cut, extracted, written as two part files."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.corpora.types import Document
from qbench.index.disk import GIVEN
from qbench.index.pool import Task
from qbench.index.schemas import arrow, sentence_schema
from qbench.quantities.types import Quantity, from_row, quantity_schema, to_row
from qbench.store import atomic_file

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from qbench.corpora.sentences import SentenceSplitter
    from qbench.quantities.extractors import Extractor, ExtractorOptions

CHUNK = 1 << 16
"""Characters in a chunk, about; a chunk holds whole documents, at least one."""

SENTENCES = ".sentences.parquet"
QUANTITIES = ".quantities.parquet"
"""Endings of a chunk's part files; the sentences are written last, so where they are, both are."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive documents of a corpus.

    Attributes:
        name: number in the corpus and digest of the content; names the part files.
        documents: number of documents.
        payload: the documents as JSON, what a worker is sent.
        done, total: how far the reader was when the chunk was full (see `qbench.corpora.streams.Meter`).
    """

    name: str
    documents: int
    payload: str
    done: int
    total: int


def chunks(documents: Iterable[Document], progress: Callable[[], tuple[int, int]]) -> Iterator[Chunk]:
    """Cut a stream of documents into chunks: the same documents give the same chunks.

    Args:
        documents: the stream.
        progress: asked for (done, total) after each chunk.
    """
    held: list[Any] = []
    size = number = 0
    for document in documents:
        if held and size + len(document.text) > CHUNK:
            yield _chunk(number, held, progress())
            held, size, number = [], 0, number + 1
        given = document.quantities
        rows = None if given is None else [to_row(document.doc_id, quantity) for quantity in given]
        held.append([document.doc_id, document.title, document.text, rows])
        size += len(document.text)
    if held:
        yield _chunk(number, held, progress())


def _chunk(number: int, held: list[Any], progress: tuple[int, int]) -> Chunk:
    payload = json.dumps(held, separators=(",", ":"))
    name = f"{number:08d}-{hashlib.sha256(payload.encode()).hexdigest()[:16]}"
    return Chunk(name, len(held), payload, *progress)


def is_done(parts: Path, name: str) -> bool:
    """Whether the part files of a chunk are there, whole."""
    return (parts / f"{name}{SENTENCES}").is_file()


def extraction(options: ExtractorOptions) -> Task:
    """The task of extracting with these options."""
    units = options.units_file
    return Task(__name__, {**asdict(options), "units_file": None if units is None else str(units.absolute())})


def tools(options: dict[str, Any]) -> tuple[SentenceSplitter | None, Extractor | None]:
    """What a worker needs for `process`."""
    if options["name"] == GIVEN:
        return None, None
    from qbench.corpora.sentences import SentenceSplitter
    from qbench.quantities.extractors import ExtractorOptions, get_extractor

    units = options["units_file"]
    return SentenceSplitter(), get_extractor(
        ExtractorOptions(**{**options, "units_file": None if units is None else Path(units)})
    )


def process(
    payload: str, parts: Path, name: str, splitter: SentenceSplitter | None, extractor: Extractor | None
) -> tuple[int, int]:
    """Cut the documents of a chunk into sentences, extract their quantities, write both as part files.

    Args:
        payload: the chunk's.
        parts: folder of the part files.
        name: the chunk's.
        splitter, extractor: None where quantities come with the documents; each document then is one sentence as it is.

    Returns:
        Numbers of sentences and quantities.
    """
    import polars as pl

    sentences: list[tuple[str, str, str, str, int, int]] = []
    quantities: list[dict[str, Any]] = []
    for doc_id, title, text, given in json.loads(payload):
        for number, (start, end) in enumerate(splitter.spans(text) if splitter else [(0, len(text))]):
            name_of = f"{doc_id}::{number}"
            sentences.append((name_of, text[start:end], title, doc_id, start, end))
            if extractor is None:
                quantities += [to_row(name_of, q) for q in map(from_row, given or ()) if _finite(q)]
    if extractor is not None:
        for sentence, found in zip(sentences, _extract(extractor, sentences), strict=True):
            quantities += [to_row(sentence[0], quantity) for quantity in found if _finite(quantity)]
    _write(_quantity_frame(quantities), parts / f"{name}{QUANTITIES}")
    _write(pl.DataFrame(sentences, schema=sentence_schema(), orient="row"), parts / f"{name}{SENTENCES}")
    return len(sentences), len(quantities)


def _write(frame: pl.DataFrame, path: Path) -> None:
    import pyarrow.parquet as pq

    # Not by polars: it tells of a full disk in an error that cannot be told from others.
    with atomic_file(path) as temporary:
        pq.write_table(arrow(frame), temporary)


def _quantity_frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a table. Nested lists go to polars through JSON three times faster than from Python.

    (pyarrow would be faster still, but loads pandas, where that is installed, with the first list that it is given.)
    """
    import polars as pl

    schema = quantity_schema()
    spans = pl.Series("concept_spans", [json.dumps(row["concept_spans"]) for row in rows], dtype=pl.String)
    columns = {
        column: spans.str.json_decode(pl.List(pl.List(pl.Int32)))
        if column == "concept_spans"
        else pl.Series(column, [row[column] for row in rows], dtype=dtype)
        for column, dtype in schema.items()
    }
    return pl.DataFrame(columns)


def _extract(extractor: Extractor, sentences: Sequence[tuple[Any, ...]]) -> list[list[Quantity]]:
    try:
        return extractor.extract_many([sentence[1] for sentence in sentences])
    except Exception:
        # Once more, one at a time, to say which.
        return [_extract_one(extractor, *sentence[:2]) for sentence in sentences]


def _extract_one(extractor: Extractor, doc_id: str, text: str) -> list[Quantity]:
    try:
        return extractor.extract(text)
    except Exception as fault:
        fault.add_note(f"in sentence {doc_id!r}: {text!r}")
        raise


def _finite(quantity: Quantity) -> bool:
    """A number too large for a float ("1e999") has no place in a distribution of values."""
    return all(map(math.isfinite, (quantity.value, quantity.high, quantity.base_value, quantity.base_high)))
