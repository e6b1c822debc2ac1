"""The index in memory: mentions as arrays, grouped by sentence and by concept."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.errors import InputError
from qbench.generation.abbreviations import Abbreviations, explained, shorts_in
from qbench.generation.counting import COLUMNS, may_count, nouns
from qbench.generation.evidence import CUT, OTHER_MONEY, UNSCALED, cut_short, of_other_money, unscaled
from qbench.generation.gists import ENOUGH, alike, gist, gists
from qbench.generation.languages import doubts_of
from qbench.generation.names import Names
from qbench.generation.rates import RATES
from qbench.number_sets import in_several, sorted_set, sorted_set_below
from qbench.quantities.codes import change_signs, comparator_codes
from qbench.quantities.concept_match import Concept, concept_alternatives, concept_grade, concept_words, stated_concepts
from qbench.quantities.concept_match import folded as folded
from qbench.quantities.languages import ENGLISH
from qbench.quantities.types import Quantity, from_row
from qbench.ranges import range_rows

K = TypeVar("K")
V = TypeVar("V")

CACHE = 20_000
"""Maximum size of the caches of mentions by sentence and of matches by concept."""

_NUMBERS = re.compile(r"\d[\d.,]*")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")

COUNTED = 3
"""Sentences with a counted noun from which on it is one, and no slip of the reading."""


@dataclass(frozen=True)
class Mentions:
    """n mentions of m sentences, ordered by sentence, then by position.

    Attributes:
        table: the quantity table, n rows in that order.
        texts: m texts; a sentence is identified by its row.
        doc_ids: m ids.
        source: shape (m,), codes of the documents that the sentences come from.
        doc: shape (n,), each mention's sentence.
        concept, unit, base: shape (n,), codes into `concepts`, `units`, `bases`. Concepts are those that
            `stated_concept` gives: with the noun that a mention counts.
        value, low, high: shape (n,), the value as written, and both ends in the base unit.
        comparator, change: shape (n,), `comparator_codes` and `change_signs`.
        doubt: shape (n,), why the text does not tie the number to its concept (`qbench.generation.evidence`); "" where
            it does.
        concepts: the distinct concepts, as words; units, bases: distinct unit names.
        language: code of the sentences' language.
        given: the quantities came with the corpus.
    """

    table: pl.DataFrame
    texts: pl.Series
    doc_ids: pl.Series
    source: NDArray[np.int64]
    doc: NDArray[np.int64]
    concept: NDArray[np.int64]
    unit: NDArray[np.int64]
    base: NDArray[np.int64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    comparator: NDArray[np.int8]
    change: NDArray[np.int8]
    doubt: NDArray[np.object_]
    concepts: list[Concept]
    units: list[str]
    bases: list[str]
    language: str = ENGLISH
    given: bool = False
    _graded: dict[Concept, tuple[NDArray[np.int64], NDArray[np.int8]]] = field(default_factory=dict)
    _related: dict[Concept, NDArray[np.int64]] = field(default_factory=dict)
    _close: dict[Concept, NDArray[np.int64]] = field(default_factory=dict)
    _counting: dict[Concept, NDArray[np.int64]] = field(default_factory=dict)
    _quantities: dict[int, list[Quantity]] = field(default_factory=dict)

    @cached_property
    def sure(self) -> NDArray[np.bool_]:
        """Shape (n,): whether a label may be built on a mention."""
        return np.asarray(self.doubt == "", dtype=bool)

    @cached_property
    def concept_code(self) -> dict[Concept, int]:
        """Concept -> code."""
        return {concept: code for code, concept in enumerate(self.concepts)}

    @cached_property
    def unit_code(self) -> dict[str, int]:
        """Unit name -> code."""
        return {unit: code for code, unit in enumerate(self.units)}

    @cached_property
    def base_code(self) -> dict[str, int]:
        """Base unit name -> code."""
        return {base: code for code, base in enumerate(self.bases)}

    @cached_property
    def _families(self) -> dict[str, str]:
        return dict(self.table.select("unit", "family").unique("unit", keep="first").iter_rows())

    def family_of(self, unit: str) -> str:
        """What a unit of the corpus measures."""
        return self._families.get(unit, "")

    @cached_property
    def unit_surfaces(self) -> dict[str, Counter[tuple[str, bool]]]:
        """Unit -> (how it is written, whether it stands before its number) -> how often."""
        said: dict[str, Counter[tuple[str, bool]]] = {}
        columns = ("unit", "value_start", "unit_start", "unit_end")
        rows = self.table.select(columns).iter_rows()
        for doc, (unit, value, first, last) in zip(self.doc.tolist(), rows, strict=True):
            if 0 <= first < last:
                surface = " ".join(self.texts[doc][first:last].split())
                said.setdefault(unit, Counter())[surface, first < value] += 1
        return said

    @cached_property
    def names(self) -> Names:
        """The names in the texts, and the currencies stated beside each."""
        codes = {code: name for code, name in enumerate(self.units) if name in RATES}
        rows = np.isin(self.unit, list(codes))
        pairs = zip(self.doc[rows].tolist(), self.unit[rows].tolist(), strict=True)
        return Names(self.texts, [(doc, codes[code]) for doc, code in pairs])

    @cached_property
    def counted_nouns(self) -> frozenset[str]:
        """The last words, folded, of the nouns that the corpus counts in `COUNTED` sentences or more."""
        counts: Counter[str] = Counter()
        for unit, number in self.table.filter(pl.col("family") == "count").group_by("unit").len().iter_rows():
            words = concept_words(tuple(unit.split()), self.language)
            if words:
                counts[words[-1]] += number
        return frozenset(word for word, number in counts.items() if number >= COUNTED)

    @cached_property
    def folded(self) -> list[frozenset[str]]:
        """The folded words of each concept."""
        return [folded(concept, self.language) for concept in self.concepts]

    @cached_property
    def _gists(self) -> list[frozenset[str]]:
        return [gists(concept_words(concept, self.language)) for concept in self.concepts]

    @cached_property
    def _of_gist(self) -> dict[str, list[int]]:
        return _postings(self._gists)

    @cached_property
    def _folded_concepts(self) -> dict[str, list[int]]:
        return _postings(self.folded)

    @cached_property
    def _by_concept(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self.concept, kind="stable")
        return order, np.searchsorted(self.concept[order], np.arange(len(self.concepts) + 1))

    @cached_property
    def _by_doc(self) -> NDArray[np.int64]:
        return np.searchsorted(self.doc, np.arange(len(self.doc_ids) + 1))

    @cached_property
    def alike(self) -> NDArray[np.int64]:
        """Shape (sentences,): the first sentence that differs in nothing but numbers, case and white space."""
        return _firsts(" ".join(_NUMBERS.sub("0", text.lower()).split()) for text in self.texts)

    @cached_property
    def _said(self) -> dict[str, NDArray[np.intc]]:
        """Folded word -> the sentences that say it, ascending; its gist, unless the quantities came with the corpus.

        Abbreviations stand as they are written.
        """
        folds: dict[str, Concept] = {}
        said: dict[str, array[int]] = {}
        for doc, text in enumerate(self.texts):
            words: set[str] = set()
            for word in set(_WORD.findall(text.lower())):
                if word not in folds:
                    folds[word] = concept_words((word,), self.language)
                words.update(folds[word])
            for word in words if self.given else {*map(gist, words), *shorts_in(text)}:
                said.setdefault(word, array("i")).append(doc)
        return {word: np.frombuffer(docs, dtype=np.intc) for word, docs in said.items()}

    def docs_saying(self, concept: Concept) -> NDArray[np.int64]:
        """The sentences whose text says one of a query's alternatives, wherever, ascending.

        All of its words, or words like them or their abbreviation, but for neutral ones, and for one of three; exactly
        all where the quantities came with the corpus.
        """
        found = [np.empty(0, dtype=np.int64)]
        for alternative in concept_alternatives(concept):
            words = concept_words(alternative, self.language)
            asked = sorted(words if self.given else gists(words))
            found.append(self._docs_with(asked, len(asked) - (len(asked) >= ENOUGH and not self.given)))
            for others, short in () if self.given else self._abbreviations.other_ways(words):
                shorts = [short] if short else []
                found.append(self._docs_with([*gists(others), *shorts], len(gists(others)) + len(shorts)))
        return sorted_set_below(np.concatenate(found), len(self.doc_ids))

    def counting(self, concept: Concept) -> NDArray[np.int64]:
        """The mentions whose number may count a query's concept, in sentences that say it, ascending."""
        rows = self._counting.get(concept)
        if rows is None:
            rows = self.rows_of_docs(self.docs_saying(concept))
            wanted = nouns(concept, self.language)
            found = self.table[rows].select(COLUMNS).iter_rows(named=True)
            texts = self.texts.gather(self.doc[rows])
            flags = [may_count(row, text, wanted) for row, text in zip(found, texts, strict=True)]
            rows = rows[np.array(flags, dtype=bool)]
            _keep(self._counting, concept, rows)
        return rows

    def _docs_with(self, words: Sequence[str], number: int) -> NDArray[np.int64]:
        """The sentences that say so many of some words."""
        none = np.empty(0, dtype=np.int64)
        lists = [self._said.get(word, none) for word in words]
        return in_several(lists, max(1, number), len(self.doc_ids))

    @cached_property
    def _abbreviations(self) -> Abbreviations:
        return explained(self.texts, self.language)

    @cached_property
    def _first_of_text(self) -> NDArray[np.int64]:
        """Shape (sentences,): the first sentence with the same text, but for case and white space."""
        return _firsts(" ".join(text.lower().split()) for text in self.texts)

    def distinct(self, docs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Some sentences without those that repeat the text of another one of them, ascending."""
        return docs[np.sort(np.unique(self._first_of_text[docs], return_index=True)[1])]

    def rows_of_concepts(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The mentions of some concepts, grouped by concept in the order given."""
        order, offsets = self._by_concept
        rows: NDArray[np.int64] = order[range_rows(offsets[codes], offsets[codes + 1] - offsets[codes])]
        return rows

    def rows_of_docs(self, docs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The mentions of some sentences, grouped by sentence in the order given."""
        starts = self._by_doc
        return range_rows(starts[docs], starts[docs + 1] - starts[docs])

    def docs_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sentences of some mentions, each once, ascending."""
        return sorted_set_below(self.doc[rows], len(self.doc_ids))

    def graded(self, concept: Concept) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """Codes of the concepts that answer a query's concept, ascending, and their grades (1 or 2)."""
        entry = self._graded.get(concept)
        if entry is None:
            codes: set[int] = set()
            for alternative in concept_alternatives(concept):
                codes |= _holding_all(concept_words(alternative, self.language), self._folded_concepts)
            candidates = np.array(sorted(codes), dtype=np.int64)
            grades = np.array([self._grade(concept, code) for code in candidates], dtype=np.int8)
            entry = candidates[grades > 0], grades[grades > 0]
            _keep(self._graded, concept, entry)
        return entry

    def related(self, concept: Concept) -> NDArray[np.int64]:
        """Codes of the concepts that a query's concept may refer to: those sharing a word, and the empty one.

        A negative must not meet the condition by a mention of any of these.
        """
        entry = self._related.get(concept)
        if entry is None:
            words = folded((word for option in concept_alternatives(concept) for word in option), self.language)
            codes = {code for word in words for code in self._folded_concepts.get(word, ())}
            if () in self.concept_code:
                codes.add(self.concept_code[()])
            entry = np.array(sorted(codes), dtype=np.int64)
            _keep(self._related, concept, entry)
        return entry

    def _grade(self, concept: Concept, code: int) -> int:
        return concept_grade(concept, self.concepts[code], self.language)

    def same(self, concept: Concept) -> NDArray[np.int64]:
        """Codes of the concepts that are the same as a query's but for case and number, ascending."""
        codes, grades = self.graded(concept)
        same: NDArray[np.int64] = codes[grades == 2]
        return same

    def close(self, concept: Concept) -> NDArray[np.int64]:
        """Codes of the concepts that may well be meant, ascending: those that answer, or have more or fewer words.

        "Income" may be the net income that is asked for, "income, net of tax" too; "gross income" is not. Synonyms
        count as one word, "mean age" and "average age", where the quantities did not come with the corpus.
        """
        if (entry := self._close.get(concept)) is not None:
            return entry
        asked = [folded(words, self.language) for words in concept_alternatives(concept)]
        answering, _ = self.graded(concept)
        near = [
            code
            for code in self.related(concept).tolist()
            if self.folded[code] and any(words <= self.folded[code] or self.folded[code] <= words for words in asked)
        ]
        if not self.given:
            meant = [gists(concept_words(words, self.language)) for words in concept_alternatives(concept)]
            codes = {code for words in meant for word in words for code in self._of_gist.get(word, ())}
            near += [code for code in codes if alike(meant, self._gists[code])]
        entry = sorted_set(np.concatenate([answering, np.array(near, dtype=np.int64)]))
        _keep(self._close, concept, entry)
        return entry

    def holders(self, sets: Iterable[frozenset[str]]) -> NDArray[np.int64]:
        """Codes of the concepts that hold all (folded) words of one of `sets`, ascending."""
        codes: set[int] = set()
        for words in sets:
            codes |= _holding_all(words, self._folded_concepts)
        return np.array(sorted(codes), dtype=np.int64)

    def quantities(self, doc: int) -> list[Quantity]:
        """The mentions of one sentence, in order."""
        entry = self._quantities.get(doc)
        if entry is None:
            first, last = int(self._by_doc[doc]), int(self._by_doc[doc + 1])
            entry = [from_row(row) for row in self.table[first:last].iter_rows(named=True)]
            _keep(self._quantities, doc, entry)
        return entry


def _firsts(texts: Iterable[str]) -> NDArray[np.int64]:
    """Shape (texts,): the first text that is the same as each, found by digests, which take less memory.

    >>> _firsts(["a", "b", "a", "", "b"]).tolist()
    [0, 1, 0, 3, 1]
    """
    digests = bytearray()
    for text in texts:
        digests += blake2b(text.encode(), digest_size=16).digest()
    halves = pl.DataFrame(np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2), schema=["a", "b"])
    rows = halves.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
    return rows.select(pl.col("row").first().over("a", "b"))["row"].to_numpy()


def _keep(cache: dict[K, V], key: K, value: V) -> None:
    if len(cache) >= CACHE:
        cache.clear()
    cache[key] = value


def _holding_all(words: Iterable[str], postings: Mapping[str, Sequence[int]]) -> set[int]:
    """The concepts that hold all of some words; none for no words."""
    lists = sorted((postings.get(word, ()) for word in words), key=len)
    return set(lists[0]).intersection(*lists[1:]) if lists else set()


def _postings(concepts: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    postings: dict[str, list[int]] = {}
    for code, words in enumerate(concepts):
        for word in dict.fromkeys(words):
            postings.setdefault(word, []).append(code)
    return postings


def load_mentions(
    sentences: pl.DataFrame, quantities: pl.DataFrame, language: str = ENGLISH, *, given: bool = False
) -> Mentions:
    """Bring the tables of an index into one order.

    Args:
        sentences: doc_id, text, and source_id where several are of one document.
        quantities: `quantity_schema`; every doc_id must be a sentence.
        language: code of the sentences' language.
        given: the quantities came with the corpus: every mention is sure, and concepts are names.

    Raises:
        InputError: a quantity's sentence does not exist.
    """
    rows = sentences.select("doc_id", doc=pl.int_range(pl.len(), dtype=pl.Int64))
    # The ids alone are joined: the table itself, as large as all else here, is not copied.
    found = quantities.select("doc_id").join(rows, on="doc_id", how="left", maintain_order="left")
    joined = quantities.with_columns(found["doc"])
    if found["doc"].null_count():
        missing = found.filter(pl.col("doc").is_null())["doc_id"][0]
        raise InputError("a quantity's sentence does not exist", value=missing, remedy="Build the index again")
    if not _ordered(joined):  # as an index is; what is sorted is copied
        joined = joined.sort("doc", "value_start", maintain_order=True)
    concepts, concept = _codes(stated_concepts(joined, language, given=given))
    units, unit = _codes(joined["unit"])
    bases, base = _codes(joined["base_unit"])
    source = _codes(sentences["source_id" if "source_id" in sentences.columns else "doc_id"])[1]
    return Mentions(
        table=joined.drop("doc"),
        texts=sentences["text"],
        doc_ids=sentences["doc_id"],
        source=source,
        doc=joined["doc"].to_numpy(),
        concept=concept,
        unit=unit,
        base=base,
        value=joined["value"].to_numpy(),
        low=joined["base_value"].to_numpy(),
        high=joined["base_high"].to_numpy(),
        comparator=comparator_codes(joined["comparator"]),
        change=change_signs(joined["change"]),
        doubt=_doubts(joined, sentences["text"], source, language, given=given),
        concepts=[tuple(text.split()) for text in concepts],
        units=units,
        bases=bases,
        language=language,
        given=given,
    )


def _ordered(rows: pl.DataFrame) -> bool:
    """Whether mentions stand by sentence, then by position."""
    doc, start = pl.col("doc").diff(), pl.col("value_start").cast(pl.Int64).diff()
    return bool(rows.select(((doc > 0) | ((doc == 0) & (start >= 0))).all()).item())


def _doubts(
    rows: pl.DataFrame, texts: pl.Series, source: NDArray[np.int64], language: str, *, given: bool
) -> NDArray[np.object_]:
    """Shape (n,): why each mention is not sure, "" for those that are."""
    if given:
        return np.full(rows.height, "", dtype=object)
    of_rows = texts.gather(rows["doc"]).to_list()
    documents: list[int] = source[rows["doc"].to_numpy()].tolist()
    found = np.array(doubts_of(language)(rows, of_rows), dtype=object)
    for reason, flags in (
        (UNSCALED, unscaled(rows, of_rows, documents)),
        (OTHER_MONEY, of_other_money(rows, of_rows, documents)),
        (CUT, cut_short(rows, of_rows, language)),
    ):
        found[flags & (found == "")] = reason
    return found


def shared(column: pl.Series) -> NDArray[np.object_]:
    """The strings of a column, shape (n,); equal ones are one object, since few of them differ."""
    names, codes = _codes(column)
    found: NDArray[np.object_] = np.array(names, dtype=object)[codes]
    return found


def _codes(column: pl.Series) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct values in sorted order, and each row's place among them."""
    names = sorted(column.unique().to_list())
    return names, column.cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()
