"""From a description to quantities with their evidence: the task of *Quantity Retrieval*, definition 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from qbench.errors import OptionError
from qbench.mining.describe import Descriptions, describe
from qbench.mining.types import DESCRIPTIONS_KIND
from qbench.progress import Progress, silent
from qbench.quantities.types import Span
from qbench.retrieval.finishing import ranked
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.rankers import RankerContext, Search
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
    descriptions: Descriptions, texts: Sequence[str], *, system: str = "BM25", top: int = 5
) -> list[list[Answer]]:
    """Retrieve quantities by their descriptions, best first.

    Args:
        descriptions: the description corpus to search (C_q).
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
    table = descriptions.read()
    corpus = table.select(doc_id="description_id", passage="description").with_row_index("row")
    corpus = corpus.sort("doc_id", descending=True)
    root = descriptions.path.parent / f".{descriptions.path.absolute().name}.search"
    key = descriptions.manifest.files["descriptions.parquet"]["sha256"]
    first = open_ranker(parsed.first, RankerContext(corpus.select("doc_id", "passage"), str(key), root, top)).ranker
    answers: list[list[Answer]] = []
    for search in first.prepared([Search(str(number), text) for number, text in enumerate(texts)]):
        best = ranked(first.search(search), top)
        rows = table[corpus["row"].gather(pl.Series(best.docs))].iter_rows(named=True)
        answers.append([_answer(row, float(score)) for row, score in zip(rows, best.scores, strict=True)])
    return answers


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
