"""Chunks of a corpus, and the task that cuts a chunk into sentences and extracts their quantities: two shard files."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow.parquet as pq

from qbench.corpora.parquet_parts import Row, parts_of, read_part
from qbench.corpora.types import Document, ReadOptions
from qbench.index.disk import GIVEN
from qbench.index.schemas import arrow, frame_of, sentence_schema
from qbench.quantities.types import Quantity, from_row, quantity_schema, to_row
from qbench.work.tasks import Chunk, Shard, Task, payload_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from qbench.quantities.extractors import ExtractorOptions
    from qbench.quantities.languages import Extractor, SentenceSplitter

CHUNK = 1 << 16
"""Characters in a chunk, about; a chunk holds whole documents, at least one."""

SENTENCES = ".sentences.parquet"
QUANTITIES = ".quantities.parquet"
"""Endings of a chunk's shard files; the sentences are written last, so where they are, both are."""


@dataclass(frozen=True)
class CorpusChunk(Chunk):
    """Consecutive documents of a corpus; its name is its number in the corpus and the digest of the content.

    Attributes:
        done, total: position of the reader when the chunk was full (see `qbench.corpora.streams.Meter`).
    """

    done: int = 0
    total: int = 0


def chunks(
    documents: Iterable[Document], position: Callable[[], tuple[int, int]] = lambda: (0, 0)
) -> Iterator[CorpusChunk]:
    """Cut a stream of documents into chunks: the same documents give the same chunks.

    Args:
        documents: the stream.
        position: returns the reader's (done, total); called after each chunk.
    """
    return _cut(((len(document.text), _item(document)) for document in documents), position, list)


def chunks_of_rows(
    rows: Iterable[tuple[int, Row]], reading: ReadOptions, position: Callable[[], tuple[int, int]] = lambda: (0, 0)
) -> Iterator[CorpusChunk]:
    """The chunks of documents that workers read themselves: the same ones as `chunks` gives of the documents.

    Args:
        rows: the size of each document, in characters, and where it lies.
        reading: how they are read.
        position: returns the reader's (done, total); called after each chunk.
    """
    return _cut(rows, position, lambda held: parts_of(held, reading))


def _cut(
    items: Iterable[tuple[int, Any]], position: Callable[[], tuple[int, int]], content: Callable[[list[Any]], list[Any]]
) -> Iterator[CorpusChunk]:
    """Chunks of `CHUNK` characters of items, each with its size."""
    held: list[Any] = []
    size = number = 0
    for characters, item in items:
        if held and size + characters > CHUNK:
            yield _chunk(number, len(held), content(held), position())
            held, size, number = [], 0, number + 1
        held.append(item)
        size += characters
    if held:
        yield _chunk(number, len(held), content(held), position())


def _item(document: Document) -> list[Any]:
    given = document.quantities
    rows = None if given is None else [to_row(document.doc_id, quantity) for quantity in given]
    return [document.doc_id, document.title, document.text, rows]


def _chunk(number: int, items: int, content: list[Any], position: tuple[int, int]) -> CorpusChunk:
    payload, name = payload_of(content)
    return CorpusChunk(f"{number:08d}-{name}", items, payload, *position)


def extraction(options: ExtractorOptions) -> Task:
    """The task of extracting with these options."""
    plain = {
        name: str(value.absolute()) if isinstance(value, Path) else value for name, value in asdict(options).items()
    }
    return Task(__name__, plain)


def tools(options: dict[str, Any]) -> tuple[SentenceSplitter | None, Extractor | None]:
    """What a worker needs for `process`."""
    if options["name"] == GIVEN:
        return None, None
    from qbench.quantities.auto import sentence_splitter
    from qbench.quantities.extractors import ExtractorOptions, get_extractor

    paths = {name: Path(options[name]) for name in ("units_file", "model") if options[name] is not None}
    chosen = ExtractorOptions(**{**options, **paths})
    return sentence_splitter(chosen.language), get_extractor(chosen)


def process(payload: str, splitter: SentenceSplitter | None, extractor: Extractor | None) -> Shard:
    """Cut the documents of a chunk into sentences and extract their quantities.

    Args:
        payload: the chunk's.
        splitter, extractor: None where quantities come with the documents; each document then is one sentence as it is.

    Returns:
        both tables as Parquet, and the number of sentences.
    """
    sentences: list[tuple[str, str, str, str, int, int]] = []
    quantities: list[dict[str, Any]] = []
    for doc_id, title, text, given in _documents(json.loads(payload)):
        for number, (start, end, said) in enumerate(_sentences(splitter, title, text)):
            name_of = f"{doc_id}::{number}"
            sentences.append((name_of, said, title, doc_id, start, end))
            if extractor is None:
                quantities += [to_row(name_of, q) for q in map(from_row, given or ()) if _finite(q)]
    if extractor is not None:
        for sentence, extracted in zip(sentences, _extract(extractor, sentences), strict=True):
            quantities += [to_row(sentence[0], quantity) for quantity in extracted if _finite(quantity)]
    files = {
        QUANTITIES: _parquet(frame_of(quantities, quantity_schema(), "concept_spans")),
        SENTENCES: _parquet(pl.DataFrame(sentences, schema=sentence_schema(), orient="row")),
    }
    return Shard(files, len(sentences))


def _sentences(splitter: SentenceSplitter | None, title: str, text: str) -> Iterator[tuple[int, int, str]]:
    """The sentences of a document: start, end and text; the first with the title if only that names its thing."""
    if splitter is None:
        yield 0, len(text), text
        return
    for number, (start, end) in enumerate(splitter.spans(text)):
        sentence = text[start:end]
        if title and number == 0 and len(splitter.spans(f"{title}\n\n{sentence}")) == 1:
            sentence = f"{title}{'' if title.endswith(('.', '!', '?')) else '.'} {sentence}"
        yield start, end, sentence


def _documents(content: list[Any]) -> Iterator[list[Any]]:
    """The documents of a payload: in it, or where its parts of files say."""
    for item in content:
        if isinstance(item, dict):
            yield from map(_item, read_part(item))
        else:
            yield item


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(arrow(frame), buffer)
    return buffer.getvalue()


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
