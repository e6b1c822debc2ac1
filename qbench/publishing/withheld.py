"""Publishing without texts: where each text stands in its source and what it hashes to, and the way back.

What may not be redistributed stays with its owner. A place (document of the source, offsets, SHA-256) says which text
it was, so that whoever has the source makes the same bytes again, and whoever has another edition is told so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.corpora.source import open_source, read_documents
from qbench.corpora.types import Document, Problems, ReadOptions
from qbench.errors import InputError, OptionError
from qbench.mining.types import Description
from qbench.progress import Progress, silent

if TYPE_CHECKING:
    import polars as pl

    Schema = dict[str, "pl.DataType | type[pl.DataType]"]

LONGEST_CHANGE = 80
"""Characters that a changed copy of a sentence may have of its own: a value, a unit, what stands between them."""
NAMED = 5
"""Documents that an error names."""


def place_schema() -> Schema:
    """One row per withheld text: its id, its document, offsets into it (characters, half-open), SHA-256s in hex."""
    import polars as pl

    return {
        "doc_id": pl.String,
        "source_id": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
        "sha256": pl.String,
        "title_sha256": pl.String,
    }


def change_schema() -> Schema:
    """A changed copy of a sentence: how much of its head and tail stays, what stands between, SHA-256 of the whole."""
    import polars as pl

    return {"head": pl.Int32, "tail": pl.Int32, "between": pl.String, "sha256": pl.String}


def sha256(text: str) -> str:
    """The SHA-256 of a text's UTF-8, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def source_documents(source: str | Path, reading: Mapping[str, Any] | None) -> Iterable[Document]:
    """The documents of the source of a corpus.

    Args:
        source: as for `qbench build-index`.
        reading: the options that the index was read with (`ReadOptions.key`); None for the default ones.

    Raises:
        InputError: the source is missing, or holds nothing usable.
    """
    options = dict(reading or {})
    for name in ("text_fields", "encodings"):
        if name in options:
            options[name] = tuple(options[name])
    return read_documents(open_source(source), ReadOptions(**options), Problems())


def locate(
    texts: pl.DataFrame, documents: Iterable[Document], source: str | Path, progress: Progress = silent
) -> pl.DataFrame:
    """Find where texts stand in their source.

    Args:
        texts: columns doc_id, source_id, text, and title or not; the texts of one document in its order.
        documents: of the source.
        source: for the errors.
        progress: told of the texts that were found.

    Returns:
        `place_schema`, in the order of `texts`.

    Raises:
        InputError: a text is not in its document: nobody could rebuild it from this source.
    """
    import polars as pl

    rows, named = texts["text"].to_list(), texts["title"].to_list() if "title" in texts.columns else None
    wanted: dict[str, list[int]] = {}
    for row, source_id in enumerate(texts["source_id"]):
        wanted.setdefault(source_id, []).append(row)
    found: list[tuple[int, int, str] | None] = [None] * texts.height
    done = 0
    for document in documents:
        cursor = 0
        for row in wanted.get(document.doc_id, ()):
            text = rows[row]
            start = document.text.find(text, cursor)
            if start < 0:
                start = document.text.find(text)
            if start >= 0 and (named is None or named[row] == document.title):
                found[row] = (start, start + len(text), document.title)
                cursor = start + len(text)
                done += 1
        progress(done, texts.height, "texts found")
    lost = [name for name, place in zip(texts["doc_id"], found, strict=True) if place is None]
    if lost:
        raise InputError(
            f"{len(lost):,} of {texts.height:,} texts are not in this source, so nobody could rebuild them from it",
            file=source,
            value=_named(lost),
            remedy="Name the corpus that the index was built from; a masked benchmark cannot be published so",
        )
    places = [place for place in found if place is not None]
    return pl.DataFrame(
        {
            "doc_id": texts["doc_id"],
            "source_id": texts["source_id"],
            "start": [start for start, _, _ in places],
            "end": [end for _, end, _ in places],
            "sha256": [sha256(text) for text in rows],
            "title_sha256": [sha256("" if named is None else title) for _, _, title in places],
        },
        schema=place_schema(),
    )


def rebuild(
    places: pl.DataFrame, documents: Iterable[Document], source: str | Path, progress: Progress = silent
) -> tuple[list[str], list[str]]:
    """The withheld texts, from a copy of their source.

    Args:
        places: `place_schema`.
        documents: of that copy.
        source: for the errors.
        progress: told of the texts that are there again.

    Returns:
        texts and titles, in the order of `places`.

    Raises:
        InputError: a document is missing, or its text is another one; the documents are named.
    """
    spans = list(zip(places["start"], places["end"], places["sha256"], places["title_sha256"], strict=True))
    untitled = sha256("")
    wanted: dict[str, list[int]] = {}
    for row, source_id in enumerate(places["source_id"]):
        wanted.setdefault(source_id, []).append(row)
    texts, titles = [""] * places.height, [""] * places.height
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
        progress(done, places.height, "texts rebuilt")
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
    """Training samples without their texts: what each changes in its sentence.

    Args:
        samples: `qbench.benchmark.types.sample_schema`.
        corpus: `qbench.benchmark.types.corpus_schema`.

    Returns:
        the samples without `text`, with `change_schema` beside.

    Raises:
        OptionError: a sample has more text of its own than a value and a unit.
    """
    import polars as pl

    base = dict(zip(corpus["doc_id"], corpus["text"], strict=True))
    rows = []
    for sample_id, doc_id, text in samples.select("sample_id", "doc_id", "text").iter_rows():
        head, tail = _common(base[doc_id], text)
        between = text[head : len(text) - tail]
        if len(between) > LONGEST_CHANGE:
            raise OptionError(
                "a training sample is more than its sentence with another value or unit, and stays with its text",
                value=sample_id,
            )
        rows.append((head, tail, between, sha256(text)))
    edits = pl.DataFrame(rows, schema=change_schema(), orient="row")
    return samples.drop("text").hstack(edits)


def unchanged(samples: pl.DataFrame, corpus: pl.DataFrame) -> pl.DataFrame:
    """The inverse of `changes`: the samples with their texts.

    Raises:
        InputError: a text is not what it was.
    """
    import polars as pl

    base = dict(zip(corpus["doc_id"], corpus["text"], strict=True))
    texts = []
    for row in samples.select("sample_id", "doc_id", "head", "tail", "between", "sha256").iter_rows():
        sample_id, doc_id, head, tail, between, digest = row
        sentence = base[doc_id]
        text = sentence[:head] + between + sentence[len(sentence) - tail :]
        if sha256(text) != digest:
            raise InputError("a rebuilt training sample is not what it was", value=sample_id)
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
    import polars as pl

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
        InputError: a description is not what it was.
    """
    import polars as pl

    from qbench.mining.types import description_schema

    sentences = [texts[doc_id] for doc_id in withheld["doc_id"]]
    found = [_words(text, segments) for text, segments in zip(sentences, withheld["segments"].to_list(), strict=True)]
    for name, words, digest in zip(withheld["description_id"], found, withheld["sha256"], strict=True):
        if sha256(words) != digest:
            raise InputError("a rebuilt description is not what it was", value=name)
    whole = withheld.with_columns(
        description=pl.Series(found, dtype=pl.String), sentence=pl.Series(sentences, dtype=pl.String)
    )
    return whole.select(list(description_schema()))


def _words(sentence: str, segments: Iterable[Iterable[int]]) -> str:
    return Description(tuple((start, end) for start, end in segments)).words(sentence)


def _common(one: str, other: str) -> tuple[int, int]:
    """Lengths of the head and of the tail that two texts share; they do not overlap in either."""
    most = min(len(one), len(other))
    head = next((i for i in range(most) if one[i] != other[i]), most)
    tail = next((i for i in range(most - head) if one[-1 - i] != other[-1 - i]), most - head)
    return head, tail


def _named(names: list[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
