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
        score: of its description, for the text that was asked.
        value, high, unit: the quantity.
        description: what it is, in the words of the sentence.
        sentence: the evidence; "" where the descriptions were imported without.
        segments: where the description stands in the sentence.
        mention: where the number and its unit stand, in order.
        doc_id, source_id: the sentence and its document.
    """

    score: float
    value: float
    high: float
    unit: str
    description: str
    sentence: str
    segments: tuple[Span, ...]
    mention: tuple[Span, ...]
    doc_id: str
    source_id: str


def open_descriptions(folder: str | Path, *, progress: Progress = silent) -> Descriptions:
    """The descriptions in a folder; those of an index are made beside it, once, as .NAME.descriptions.

    Raises:
        InputError: the folder holds nothing of the kind.
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
    """The best answers to each text, best first.

    Args:
        descriptions: what is searched (C_q).
        texts: descriptions of the quantities that are wanted.
        system: a first stage of the grammar; what it indexes is kept beside the descriptions, in `.NAME.search`.
        top: answers to a text, at most.

    Raises:
        OptionError: the system is more than a first stage, or `top` is below 1.
        UnknownNameError: there is no such system.
        MissingPackageError: the system needs a package that is not installed.
    """
    # Test sets name what is searched; here it is always the descriptions.
    wanted = parse_system(system.strip().removeprefix("C_q-"))
    if wanted.first.quantity or wanted.rerankers or top < 1:
        message = "at least one answer" if top < 1 else "a first stage alone answers descriptions"
        raise OptionError(message, value=top if top < 1 else system, remedy="For example BM25")
    table = descriptions.read()
    corpus = table.select(doc_id="description_id", passage="description").with_row_index("row")
    corpus = corpus.sort("doc_id", descending=True)
    root = descriptions.path.parent / f".{descriptions.path.absolute().name}.search"
    key = descriptions.manifest.files["descriptions.parquet"]["sha256"]
    first = open_ranker(wanted.first, RankerContext(corpus.select("doc_id", "passage"), str(key), root, top)).ranker
    found: list[list[Answer]] = []
    for search in first.prepared([Search(str(number), text) for number, text in enumerate(texts)]):
        best = ranked(first.search(search), top)
        rows = table[corpus["row"].gather(pl.Series(best.docs))].iter_rows(named=True)
        found.append([_answer(row, float(score)) for row, score in zip(rows, best.scores, strict=True)])
    return found


def _answer(row: dict[str, Any], score: float) -> Answer:
    spans = ((row["value_start"], row["value_end"]), (row["unit_start"], row["unit_end"]))
    return Answer(
        score=score,
        value=row["value"],
        high=row["high"],
        unit=row["unit"],
        description=row["description"],
        sentence=row["sentence"],
        segments=tuple((start, end) for start, end in row["segments"]),
        mention=tuple(sorted(span for span in spans if span[0] >= 0)),
        doc_id=row["doc_id"],
        source_id=row["source_id"],
    )
