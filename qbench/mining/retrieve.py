"""From a description to quantities with their evidence: the task of *Quantity Retrieval*, definition 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from qbench.errors import OptionError
from qbench.mining.describe import Descriptions, describe
from qbench.mining.languages import MiningPackage, mining_package
from qbench.mining.questions import read_questions
from qbench.mining.types import DESCRIPTIONS_KIND
from qbench.progress import Progress, silent
from qbench.quantities.conditions import BROKEN, MET, frame_verdicts
from qbench.quantities.types import Condition, Span
from qbench.retrieval.finishing import ranked
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.rankers import Candidates, Ranker, RankerContext, Search
from qbench.scoring.fusion import normalised
from qbench.store import read_manifest


@dataclass(frozen=True, slots=True)
class Answer:
    """A quantity, and the sentence that states it.

    Attributes:
        score: of its description, for the query.
        value, high, comparator, change, unit: the quantity.
        description: in the words of the sentence.
        sentence: the evidence; "" if the descriptions were imported without sentences.
        segments: spans of the description in the sentence.
        mention: spans of the number and its unit, in order.
        doc_id, source_id: the sentence and its document.
    """

    score: float
    value: float
    high: float
    comparator: str
    change: str
    unit: str
    description: str
    sentence: str
    segments: tuple[Span, ...]
    mention: tuple[Span, ...]
    doc_id: str
    source_id: str


def open_descriptions(folder: str | Path, *, progress: Progress = silent) -> Descriptions:
    """Open the descriptions in a folder; those of an index are made beside it, once, as .NAME.descriptions.

    Raises:
        InputError: the folder holds neither descriptions, nor pairs, nor an index.
        BusyError: another process is making them.
    """
    path = Path(folder)
    if read_manifest(path).kind != "index":
        return Descriptions.open(path)
    beside = path.absolute().with_name(f".{path.absolute().name}.{DESCRIPTIONS_KIND}")
    # Hidden, because it is replaced when the index is another one: nobody's own descriptions have such a name.
    return describe(path, beside, overwrite=True, progress=progress)


def retrieve_quantity(
    descriptions: str | Path | Descriptions, texts: Sequence[str], *, system: str = "BM25", top: int = 5
) -> list[list[Answer]]:
    """Retrieve quantities by their descriptions, best first.

    Where the words of a query say which kind of quantity it asks for ("price of ..."), quantities of that kind come
    before others, as do those whose description has all words of the query; and the first described sentence of a
    document says what its quantities are of: "The Kestrel 9 weighs 1.2 kg. It costs $900." What a query says of the
    value ("net profit above $1 million") is searched for as a condition and not as words: see
    `qbench.mining.questions`.

    Args:
        descriptions: the description corpus to search (C_q), its folder, or that of pairs or of an index, as
            `open_descriptions` takes them.
        texts: queries, which are descriptions of quantities.
        system: a first stage of the grammar; its index is stored beside the descriptions, in `.NAME.search`.
        top: number of answers per query.

    Raises:
        OptionError: the system is more than a first stage, or `top` is below 1.
        UnknownNameError: there is no such system.
        MissingPackageError: the system needs a package that is not installed.
    """
    # The names of test sets say which corpus is searched; here it is always that of descriptions.
    parsed = parse_system(system.strip().removeprefix("C_q-"))
    if parsed.first.quantity or parsed.rerankers or top < 1:
        message = "top is at least 1" if top < 1 else "only a first stage retrieves descriptions"
        raise OptionError(message, value=top if top < 1 else system, remedy="For example BM25")
    if not isinstance(descriptions, Descriptions):
        descriptions = open_descriptions(descriptions)
    table = descriptions.read()
    corpus = table.select(doc_id="description_id", passage="description").with_row_index("row")
    corpus = corpus.sort("doc_id", descending=True)
    root = descriptions.path.parent / f".{descriptions.path.absolute().name}.search"
    key = descriptions.manifest.files["descriptions.parquet"]["sha256"]
    package = mining_package(descriptions.language)
    questions = read_questions(texts, table["description"], descriptions.language)
    # What conditions leave out has to be known before the best are chosen.
    depth = max(top, table.height) if any(question.conditions for question in questions) else top
    context = RankerContext(corpus.select("doc_id", "passage"), str(key), root, depth, language=descriptions.language)
    first = open_ranker(parsed.first, context).ranker
    documents = _Documents(table, corpus, context, package)
    searches = first.prepared([Search(str(number), question.words) for number, question in enumerate(questions)])
    answers: list[list[Answer]] = []
    for search, question in zip(searches, questions, strict=True):
        found, asked = first.search(search), package.asked_family(search.text)
        if asked is not None and table.height:
            family, rest = asked
            (named,) = first.prepared([Search(search.query_id, rest)])
            found = documents.of_kind(found, first.search(named), search.text, rest, family)
        if question.conditions:
            found = _meeting(found, table[corpus["row"].gather(pl.Series(found.docs))], question.conditions)
        best = ranked(found, top)
        rows = table[corpus["row"].gather(pl.Series(best.docs))].iter_rows(named=True)
        answers.append([_answer(row, float(score)) for row, score in zip(rows, best.scores, strict=True)])
    return answers


class _Documents:
    """The documents that descriptions are from, by their first sentences, for queries that ask for a kind of quantity.

    Args:
        table: the descriptions.
        corpus: their positions: columns row (of the table) and doc_id, by falling id.
        searched: where the descriptions are searched.
        package: of their language.
    """

    def __init__(
        self, table: pl.DataFrame, corpus: pl.DataFrame, searched: RankerContext, package: MiningPackage
    ) -> None:
        self._table, self._rows, self._searched, self._package = table, corpus["row"], searched, package

    @cached_property
    def _sources(self) -> pl.DataFrame:
        """Each document with its first sentence that has a quantity, by falling id."""
        firsts = self._table.select(doc_id="source_id", passage="sentence").unique("doc_id", keep="first")
        return firsts.sort("doc_id", descending=True)

    @cached_property
    def _ranker(self) -> Ranker:
        key, depth = f"{self._searched.corpus_key}-first sentences", max(1, self._sources.height)
        context = replace(self._searched, corpus=self._sources, corpus_key=key, depth=depth)
        return open_ranker(parse_system("BM25").first, context).ranker

    @cached_property
    def _listed(self) -> pl.DataFrame:
        """Of each description its document, the family of its unit, and its words."""
        position = pl.col("source_id").replace_strict(
            self._sources["doc_id"], np.arange(self._sources.height), return_dtype=pl.Int64
        )
        return self._table.select(position, "family", words=self._package.words(self._table["description"]))[self._rows]

    def of_kind(self, found: Candidates, named: Candidates, text: str, rest: str, family: str) -> Candidates:
        """What was found, and what is of the kind that is asked for in documents that the query names.

        Scores are the mean of the shares of the best that a description and its document have for `rest`, a tenth of
        that of the description for `text`, and 1 for what is of the kind, or has all words.

        Args:
            found, named: descriptions, with scores, for the query, and for what it names.
            text: of the query.
            rest: of its words, what it names.
            family: that it asks for.
        """
        whole, own, of_name = np.zeros(self._sources.height), np.zeros(self._table.height), np.zeros(self._table.height)
        own[found.docs], of_name[named.docs] = normalised(found.scores), normalised(named.scores)
        (search,) = self._ranker.prepared([Search("", rest)])
        documents = self._ranker.search(search)
        whole[documents.docs] = normalised(documents.scores)
        words = self._package.words(pl.Series([text])).explode().to_list()
        complete = pl.all_horizontal(pl.col("words").list.contains(word) for word in words)
        of_kind = (pl.col("family") == family) | pl.col("family").str.starts_with(f"{family} per ")
        fits = self._listed.select((complete | of_kind).fill_null(value=False)).to_series().to_numpy()
        context = whole[self._listed["source_id"].to_numpy()]
        kept = np.flatnonzero((of_name > 0) | (fits & (context > 0)))
        if not kept.size:
            return found
        scores = (of_name + context) / 2 + own / 10 + fits
        return Candidates(kept, scores[kept])


def _meeting(found: Candidates, quantities: pl.DataFrame, conditions: Sequence[Condition]) -> Candidates:
    """What was found, without what breaks a bound; what meets most conditions first.

    Scores are those of the words divided by the best, and 1 for each condition that is met. An amount asks for rates of
    it, too ("price above $5": $6 per share), and a number without a unit for what is counted. What does not compare
    with a condition, or leaves it open, neither meets nor breaks it.

    Args:
        found: positions with scores.
        quantities: theirs, in the same order.
        conditions: at least one.
    """
    scores, kept = normalised(found.scores), np.ones(found.docs.size, dtype=np.bool_)
    for condition in conditions:
        unit = pl.col("base_unit")
        rate = unit.str.starts_with(f"{condition.base_unit} per ")
        alike = (unit == condition.base_unit) | (rate if condition.base_unit else pl.col("family") == "count")
        compared = quantities.with_columns(base_unit=pl.when(alike).then(pl.lit(condition.base_unit)).otherwise(unit))
        codes = frame_verdicts(compared, condition)
        scores = scores + (codes == MET)
        if condition.comparator != "=":
            kept &= (codes != BROKEN) | (compared["base_unit"] != condition.base_unit).to_numpy()
    return Candidates(found.docs[kept], scores[kept])


def _answer(row: dict[str, Any], score: float) -> Answer:
    spans = ((row["value_start"], row["value_end"]), (row["unit_start"], row["unit_end"]))
    return Answer(
        score=score,
        value=row["value"],
        high=row["high"],
        comparator=row["comparator"],
        change=row["change"],
        unit=row["unit"],
        description=row["description"],
        sentence=row["sentence"],
        segments=tuple((start, end) for start, end in row["segments"]),
        mention=tuple(sorted(span for span in spans if span[0] >= 0)),
        doc_id=row["doc_id"],
        source_id=row["source_id"],
    )
