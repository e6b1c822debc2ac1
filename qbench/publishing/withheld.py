"""Publishing without texts: the location and digest of each text in its source, and the way back.

Texts that may not be redistributed stay with their owner. A location (document of the source, offsets, SHA-256)
identifies a text, so that users of the same source get the same bytes, and users of another edition get an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from qbench.corpora.source import open_source, read_documents
from qbench.corpora.types import Document, Problems, ReadOptions
from qbench.errors import InputError, OptionError
from qbench.mining.types import Description, description_schema
from qbench.progress import Progress, silent

Schema = dict[str, pl.DataType | type[pl.DataType]]

LONGEST_CHANGE = 80
"""Most characters by which a changed copy differs from its sentence: a value, a unit and the text between them."""
NAMED = 5
"""Number of documents in an error."""


def location_schema() -> Schema:
    """One row per withheld text: its id, its document, offsets in it (characters, half-open), SHA-256s in hex."""
    return {
        "doc_id": pl.String,
        "source_id": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
        "sha256": pl.String,
        "title_sha256": pl.String,
    }


def change_schema() -> Schema:
    """A changed copy of a sentence: lengths of the unchanged head and tail, the text between, SHA-256 of the whole."""
    return {"head": pl.Int32, "tail": pl.Int32, "between": pl.String, "sha256": pl.String}


def sha256(text: str) -> str:
    """The SHA-256 of a text's UTF-8, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def source_documents(source: str | Path, reading: Mapping[str, Any] | None) -> Iterable[Document]:
    """The documents of the source of a corpus.

    Args:
        source: as for `qbench build-index`.
        reading: the options of the index (`ReadOptions.key`); None for the default ones.

    Raises:
        InputError: the source is missing, or has no usable document.
    """
    options = dict(reading or {})
    for name in ("text_fields", "encodings"):
        if name in options:
            options[name] = tuple(options[name])
    return read_documents(open_source(source), ReadOptions(**options), Problems())


def locate(
    texts: pl.DataFrame, documents: Iterable[Document], source: str | Path, progress: Progress = silent
) -> pl.DataFrame:
    """Find the locations of texts in their source.

    Args:
        texts: columns doc_id, source_id, text and, optionally, title; texts of a document in its order.
        documents: documents of the source.
        source: name of the source, for errors.
        progress: called with the number of located texts.

    Returns:
        `location_schema`, in the order of `texts`.

    Raises:
        InputError: a text is not in its document, so that it cannot be rebuilt from this source.
    """
    rows, named = texts["text"].to_list(), texts["title"].to_list() if "title" in texts.columns else None
    wanted: dict[str, list[int]] = {}
    for row, source_id in enumerate(texts["source_id"]):
        wanted.setdefault(source_id, []).append(row)
    located: list[tuple[int, int, str] | None] = [None] * texts.height
    done = 0
    for document in documents:
        cursor = 0
        for row in wanted.get(document.doc_id, ()):
            text = rows[row]
            start = document.text.find(text, cursor)
            if start < 0:
                start = document.text.find(text)
            if start >= 0 and (named is None or named[row] == document.title):
                located[row] = (start, start + len(text), document.title)
                cursor = start + len(text)
                done += 1
        progress(done, texts.height, "texts found")
    lost = [name for name, location in zip(texts["doc_id"], located, strict=True) if location is None]
    if lost:
        raise InputError(
            f"{len(lost):,} of {texts.height:,} texts are not in this source, so that they cannot be rebuilt from it",
            file=source,
            value=_named(lost),
            remedy="Name the corpus that the index was built from; a masked benchmark cannot be published so",
        )
    locations = [location for location in located if location is not None]
    return pl.DataFrame(
        {
            "doc_id": texts["doc_id"],
            "source_id": texts["source_id"],
            "start": [start for start, _, _ in locations],
            "end": [end for _, end, _ in locations],
            "sha256": [sha256(text) for text in rows],
            "title_sha256": [sha256("" if named is None else title) for _, _, title in locations],
        },
        schema=location_schema(),
    )


def rebuild(
    locations: pl.DataFrame, documents: Iterable[Document], source: str | Path, progress: Progress = silent
) -> tuple[list[str], list[str]]:
    """The withheld texts, from a copy of their source.

    Args:
        locations: `location_schema`.
        documents: documents of that copy.
        source: name of the source, for errors.
        progress: called with the number of rebuilt texts.

    Returns:
        texts and titles, in the order of `locations`.

    Raises:
        InputError: documents are missing or have another text; the message names some.
    """
    spans = list(zip(*locations.select("start", "end", "sha256", "title_sha256").get_columns(), strict=True))
    untitled = sha256("")
    wanted: dict[str, list[int]] = {}
    for row, source_id in enumerate(locations["source_id"]):
        wanted.setdefault(source_id, []).append(row)
    texts, titles = [""] * locations.height, [""] * locations.height
    changed: dict[str, None] = {}
    done = 0
    for document in documents:
        for row in wanted.pop(document.doc_id, ()):
            start, end, text, title = spans[row]
            texts[row] = document.text[start:end]
            titles[row] = "" if title == untitled else document.title
            if (sha256(texts[row]), sha256(titles[row])) != (text, title):
                changed[document.doc_id] = None
            done += 1
        progress(done, locations.height, "texts rebuilt")
    problems = [
        f"{len(names):,} documents {what}: {_named(names)}"
        for what, names in (("have another text", list(changed)), ("are missing", list(wanted)))
        if names
    ]
    if problems:
        raise InputError(
            f"this is not the source that the texts were taken from ({'; '.join(problems)})",
            file=source,
            remedy="Use the edition of the corpus that the card names",
        )
    return texts, titles


def changes(samples: pl.DataFrame, corpus: pl.DataFrame) -> pl.DataFrame:
    """Training samples without their texts: the change that each makes to its sentence.

    Args:
        samples: `qbench.benchmark.types.sample_schema`.
        corpus: `qbench.benchmark.types.corpus_schema`.

    Returns:
        the samples without `text`, with the columns of `change_schema`.

    Raises:
        OptionError: a sample differs from its sentence by more than a value and a unit.
    """
    base = dict(zip(corpus["doc_id"], corpus["text"], strict=True))
    rows = []
    for sample_id, doc_id, text in samples.select("sample_id", "doc_id", "text").iter_rows():
        head, tail = _common(base[doc_id], text)
        between = text[head : len(text) - tail]
        if len(between) > LONGEST_CHANGE:
            raise OptionError(
                "a training sample is more than its sentence with another value or unit, and cannot be published so",
                value=sample_id,
            )
        rows.append((head, tail, between, sha256(text)))
    edits = pl.DataFrame(rows, schema=change_schema(), orient="row")
    return samples.drop("text").hstack(edits)


def unchanged(samples: pl.DataFrame, corpus: pl.DataFrame) -> pl.DataFrame:
    """The inverse of `changes`: the samples with their texts.

    Raises:
        InputError: a rebuilt text differs from its digest.
    """
    base = dict(zip(corpus["doc_id"], corpus["text"], strict=True))
    texts = []
    for row in samples.select("sample_id", "doc_id", "head", "tail", "between", "sha256").iter_rows():
        sample_id, doc_id, head, tail, between, digest = row
        sentence = base[doc_id]
        text = sentence[:head] + between + sentence[len(sentence) - tail :]
        if sha256(text) != digest:
            raise InputError("a rebuilt training sample differs from its digest", value=sample_id)
        texts.append(text)
    return samples.drop(list(change_schema())).with_columns(text=pl.Series(texts, dtype=pl.String))


def withheld_descriptions(descriptions: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Descriptions without their words.

    Args:
        descriptions: `qbench.mining.types.description_schema`.

    Returns:
        the table without `description` and `sentence`, with `sha256` of the description; and the sentences once each:
        doc_id, source_id, text.

    Raises:
        OptionError: a description does not follow from its sentence (an imported table).
    """
    words = descriptions.select("description_id", "description", "sentence", "segments").iter_rows()
    for name, description, sentence, segments in words:
        if _words(sentence, segments) != description:
            raise OptionError(
                "a description is not made of words of its sentence, and cannot be published without text", value=name
            )
    hashes = pl.Series("sha256", [sha256(text) for text in descriptions["description"]], dtype=pl.String)
    sentences = descriptions.select("doc_id", "source_id", text="sentence").unique("doc_id", maintain_order=True)
    return descriptions.drop("description", "sentence").with_columns(hashes), sentences


def rebuilt_descriptions(withheld: pl.DataFrame, texts: Mapping[str, str]) -> pl.DataFrame:
    """The inverse of `withheld_descriptions`.

    Args:
        withheld: its first table.
        texts: doc_id -> sentence.

    Raises:
        InputError: a description differs from its digest.
    """
    sentences = [texts[doc_id] for doc_id in withheld["doc_id"]]
    rebuilt = [_words(text, parts) for text, parts in zip(sentences, withheld["segments"].to_list(), strict=True)]
    for name, words, digest in zip(withheld["description_id"], rebuilt, withheld["sha256"], strict=True):
        if sha256(words) != digest:
            raise InputError("a rebuilt description differs from its digest", value=name)
    whole = withheld.with_columns(
        description=pl.Series(rebuilt, dtype=pl.String), sentence=pl.Series(sentences, dtype=pl.String)
    )
    return whole.select(list(description_schema()))


def _words(sentence: str, segments: Iterable[Iterable[int]]) -> str:
    return Description(tuple((start, end) for start, end in segments)).words(sentence)


def _common(a: str, b: str) -> tuple[int, int]:
    """Lengths of the common head and tail of two texts, without overlap."""
    most = min(len(a), len(b))
    head = next((i for i in range(most) if a[i] != b[i]), most)
    tail = next((i for i in range(most - head) if a[-1 - i] != b[-1 - i]), most - head)
    return head, tail


def _named(names: list[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
