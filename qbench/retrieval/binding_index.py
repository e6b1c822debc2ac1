"""The index of Bind: the words of every document, and of every mention of a quantity, as terms.

A mention's words are those of its concept, subject and unit, and those near it, with no other number and no end of a
sentence between. All are stems, in which a query's words are compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.number_sets import sorted_set
from qbench.quantities.codes import change_signs, comparator_codes
from qbench.quantities.languages import language_package
from qbench.quantities.units import PER, Units
from qbench.retrieval.analysis import first_seen, token_ids, tokenized
from qbench.retrieval.mentions import DocumentMentions
from qbench.retrieval.rates import amount_of
from qbench.retrieval.stored import loaded, mapped, save_arrays
from qbench.scoring.binding import Entries, entries_of
from qbench.scoring.records import (
    AGE,
    BARE,
    CODES,
    COUNTED,
    NUMBERS,
    OTHER,
    PLACES,
    YEAR,
    Mentions,
    Records,
    Texts,
    records_of,
)
from qbench.store import read_json, write_json

if TYPE_CHECKING:
    from qbench.retrieval.mention_vectors import MentionVectors

_VALUES = ("base_value", "base_high", "value", "high")
"""Columns of the quantity table that are the first `NUMBERS`."""
NEAR = 8
"""Words on either side of a mention that are near it."""
_REACH = 160
"""Characters on either side in which they are looked for."""

BLOCK = 20_000
"""Mentions whose words are found, and documents whose words are counted, at a time."""

N = TypeVar("N", np.int32, np.float64)


@dataclass(frozen=True)
class BindingIndex:
    """What Bind knows of a corpus.

    Attributes:
        mentions: of the documents, in the order of positions.
        records: the words and mentions of each document together.
        entries: the mentions by unit and value.
        terms: stem -> its number.
        base_units: base unit -> its number.
        document_counts, mention_counts: shape (terms,): how many documents, and how many mentions, hold each.
        vectors: of the mentions; None without an encoder. They are stored beside the index.
    """

    mentions: Mentions
    records: Records
    entries: Entries
    terms: Mapping[str, int]
    base_units: Mapping[str, int]
    document_counts: NDArray[np.int64]
    mention_counts: NDArray[np.int64]
    vectors: MentionVectors | None = None

    @property
    def documents(self) -> int:
        """Number of documents."""
        return self.records.starts.size - 1

    @cached_property
    def document_idf(self) -> NDArray[np.float64]:
        """The weight of each term by the documents that hold it, shape (terms,); 0 for one that none holds."""
        idf = np.maximum(np.log((self.documents + 1) / (self.document_counts + 0.5)), LEAST)
        return np.where(self.document_counts > 0, idf, 0.0)

    @cached_property
    def mention_idf(self) -> NDArray[np.float64]:
        """The weight of each term by the mentions that hold it, shape (terms,), at most `MOST`."""
        counts = np.maximum(self.mention_counts, 1)
        idf: NDArray[np.float64] = np.minimum(np.log1p(self.mentions.codes.shape[0] / counts), MOST)
        return idf

    def save(self, folder: Path) -> None:
        """Write the index into a folder; `open_binding_index` reads it."""
        arrays: dict[str, NDArray[Any]] = {
            "mention_counts": self.mention_counts,
            "document_counts": self.document_counts,
        }
        for prefix, part in (("mentions", self.mentions), ("records", self.records), ("entries", self.entries)):
            arrays |= {f"{prefix}_{field}": getattr(part, field) for field in _arrays(part)}
        save_arrays(folder, arrays)
        pl.DataFrame({"term": list(self.terms)}, schema={"term": pl.String}).write_parquet(folder / "terms.parquet")
        write_json(folder / "units.json", list(self.base_units))


LEAST = 0.05
"""The lowest idf of a term over documents, that of one that all hold."""
MOST = 6.0
"""The highest idf of a term over mentions: rarer ones are names and slips, which say no more than that."""


def open_binding_index(folder: Path) -> BindingIndex:
    """An index that `BindingIndex.save` wrote, in memory but for what only explanations and encoders read."""

    def part(kind: Any, prefix: str, read: Callable[[Path, str], Any] = loaded, **others: int) -> Any:
        return kind(**others, **{field: read(folder, f"{prefix}_{field}") for field in _arrays(kind)})

    mentions = part(Mentions, "mentions", mapped)
    terms = pl.read_parquet(folder / "terms.parquet", glob=False)["term"]
    return BindingIndex(
        mentions,
        part(Records, "records"),
        part(Entries, "entries", size=mentions.starts.size - 1),
        {term: number for number, term in enumerate(terms)},
        {unit: number for number, unit in enumerate(read_json(folder / "units.json"))},
        loaded(folder, "document_counts"),
        loaded(folder, "mention_counts"),
    )


def _arrays(part: Any) -> list[str]:
    """The names of the arrays of a part."""
    return [field.name for field in fields(part) if field.name != "size"]


def build_binding_index(passages: pl.Series, mentions: DocumentMentions, units: Units, language: str) -> BindingIndex:
    """The index of a corpus.

    Args:
        passages: the documents, in the order of positions.
        mentions: theirs.
        units: those of the extraction.
        language: code of the texts' language.
    """
    stem = language_package(language).stem
    vocabulary, ids, lengths = token_ids(passages, language)
    terms: dict[str, int] = {}
    stems = np.array([terms.setdefault(stem(token), len(terms)) for token in vocabulary], dtype=np.int32)
    texts = Texts(np.append(0, np.cumsum(lengths)).astype(np.int64), stems[ids] if ids.size else ids)
    codes, numbers, base_units = _codes_and_numbers(mentions.table, units)
    made = Mentions(mentions.starts, codes, numbers, *_words(passages, mentions, language, terms))
    return BindingIndex(
        made,
        records_of(made, texts),
        entries_of(made, len(base_units)),
        terms,
        base_units,
        _document_counts(texts, len(terms)),
        np.bincount(made.words // 4, minlength=len(terms)),
    )


def _codes_and_numbers(
    table: pl.DataFrame, units: Units
) -> tuple[NDArray[np.int32], NDArray[np.float64], dict[str, int]]:
    """The codes and numbers of mentions, as `Mentions` has them, and the number of each base unit."""
    names: dict[str, int] = {}
    base = _each(table["base_unit"], lambda unit: names.setdefault(unit, len(names)), np.int32)
    rates = {unit: amount_of(unit, units) for unit in table["unit"].unique(maintain_order=True)}
    for rate in rates.values():
        if rate is not None:
            names.setdefault(rate[0], len(names))
    codes = {
        "base": base,
        "kind": _each(table["unit"], lambda unit: unit_kind(unit, units), np.int32),
        "comparator": comparator_codes(table["comparator"]).astype(np.int32),
        "change": change_signs(table["change"]).astype(np.int32),
        "amount": _each(table["unit"], lambda unit: -1 if (rate := rates[unit]) is None else names[rate[0]], np.int32),
    }
    numbers = {
        **{name: table[column].to_numpy() for name, column in zip(NUMBERS, _VALUES, strict=False)},
        "factor": _each(table["unit"], lambda unit: 1.0 if (rate := rates[unit]) is None else rate[1], np.float64),
    }
    return (
        np.stack([codes[name] for name in CODES], axis=1),
        np.stack([numbers[name] for name in NUMBERS], axis=1),
        names,
    )


def _each(names: pl.Series, value: Callable[[str], float], dtype: type[N]) -> NDArray[N]:
    """Shape (n,): the value of each name. It is asked for once a name, in the order in which they first occur."""
    places, distinct = first_seen(names)
    values = np.array([value(name) for name in distinct], dtype=dtype)
    found: NDArray[N] = values[places]
    return found


def _document_counts(texts: Texts, terms: int) -> NDArray[np.int64]:
    """Shape (terms,): how many documents hold each term."""
    counts = np.zeros(terms, np.int64)
    for first in range(0, texts.starts.size - 1, BLOCK):
        starts = texts.starts[first : first + BLOCK + 1]
        documents = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        pairs = sorted_set(documents * terms + texts.terms[starts[0] : starts[-1]])
        counts += np.bincount(pairs % max(terms, 1), minlength=terms)
    return counts


@lru_cache(maxsize=10_000)
def unit_kind(name: str, units: Units) -> int:
    """The kind of a unit, `OTHER` to `YEAR`; a number by something, "per day", is a bare one."""
    if not name or name.startswith(PER):
        return BARE
    unit = units.get(name)
    if unit.family == "count":
        return COUNTED
    return AGE if name == "year of age" else YEAR if name == "year" else OTHER


def _words(
    passages: pl.Series, mentions: DocumentMentions, language: str, terms: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The words of each mention, each once at its best place, as `Mentions` has them. Adds terms."""
    counts, words = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    known: dict[str, int] = {}
    for docs in _blocks(mentions):
        rows, term, place = _placed(passages, mentions, docs, language, terms, known)
        order = np.lexsort((place, term, rows))
        rows, term, place = rows[order], term[order], place[order]
        first = np.append(True, (np.diff(rows) != 0) | (np.diff(term) != 0))[: rows.size]
        size = int(mentions.starts[docs[-1] + 1] - mentions.starts[docs[0]])
        counts.append(np.bincount(rows[first], minlength=size))
        words.append(term[first] * 4 + place[first])
    return np.append(0, np.cumsum(np.concatenate(counts))).astype(np.int64), np.concatenate(words).astype(np.int32)


def _blocks(mentions: DocumentMentions) -> Iterator[NDArray[np.int64]]:
    """The documents that have mentions, ascending, so many at a time that these have about `BLOCK` mentions."""
    docs = np.flatnonzero(np.diff(mentions.starts)).astype(np.int64)
    block = mentions.starts[docs] // BLOCK
    yield from (some for some in np.split(docs, np.flatnonzero(np.diff(block)) + 1) if some.size)


def _placed(
    passages: pl.Series,
    mentions: DocumentMentions,
    docs: NDArray[np.int64],
    language: str,
    terms: dict[str, int],
    known: dict[str, int],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The words of the mentions of some documents, with repetitions.

    Args:
        passages, mentions, language: of the corpus.
        docs: ascending; no document between them has mentions.
        terms: number of each term; gets new ones.
        known: term of each token that came before; gets new ones.

    Returns:
        of each word the mention, counted from the first of `docs`, the term, and the place.
    """
    start, stop = int(mentions.starts[docs[0]]), int(mentions.starts[docs[-1] + 1])
    table, stem = mentions.table[start:stop], language_package(language).stem
    left, right = _around(passages, mentions, docs)
    columns: Sequence[tuple[str, pl.Series]] = (
        ("concept", tokenized(table["concept"], language)),
        ("unit", tokenized(table["unit"].str.replace_all(" per ", " "), language)),
        ("subject", tokenized(table["subject"], language)),
        ("near", tokenized(left, language).list.tail(NEAR)),
        ("near", tokenized(right, language).list.head(NEAR)),
    )
    rows, term, places = [], [], []
    for place, tokens in columns:
        lengths = tokens.list.len().fill_null(0).to_numpy().astype(np.int64)
        flat = [token for some in tokens.to_list() for token in some or ()]
        for token in flat:
            if token not in known:
                known[token] = terms.setdefault(stem(token), len(terms))
        rows.append(np.repeat(np.arange(stop - start), lengths))
        term.append(np.array([known[token] for token in flat], dtype=np.int32))
        places.append(np.full(len(flat), PLACES.index(place), dtype=np.int32))
    return np.concatenate(rows), np.concatenate(term), np.concatenate(places)


def _around(passages: pl.Series, mentions: DocumentMentions, docs: NDArray[np.int64]) -> tuple[pl.Series, pl.Series]:
    """The text before and after each mention of some documents, up to the next mention or the end of the sentence."""
    origin = int(mentions.starts[docs[0]])
    table = mentions.table[origin : int(mentions.starts[docs[-1] + 1])]
    starts = (table["value_start"] + table["offset"]).to_list()
    ends = (table["value_end"] + table["offset"]).to_list()
    left, right = [], []
    for doc in docs.tolist():
        text: str = passages[doc]
        first, last = int(mentions.starts[doc]) - origin, int(mentions.starts[doc + 1]) - origin
        for m in range(first, last):
            before = max(ends[m - 1] if m > first else 0, starts[m] - _REACH)
            after = min(starts[m + 1] if m + 1 < last else len(text), ends[m] + _REACH)
            left.append(text[min(before, starts[m]) : starts[m]])
            right.append(text[ends[m] : max(after, ends[m])])
    ended = r"(?s)^.*(?:[.!?;](?:\s|$)|[。！？；])"
    return (
        pl.Series(left, dtype=pl.String).str.replace(ended, ""),
        pl.Series(right, dtype=pl.String).str.replace(r"(?s)(?:[.!?;](?:\s.*)?|[。！？；].*)$", ""),
    )
