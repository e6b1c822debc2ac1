"""Quantities that come with a corpus: the table beside corpus.jsonl, read in step with its documents."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from qbench.corpora.streams import reading_parquet
from qbench.corpora.types import Document
from qbench.errors import InputError
from qbench.quantities.types import from_row

QUANTITIES = "quantities.parquet"


def with_quantities(documents: Iterator[Document], path: Path) -> Iterator[Document]:
    """Give each document its quantities; both come in the same order, so that neither is held in memory.

    Raises:
        InputError: the table is missing or damaged, a span lies outside its text, or rows stay that belong to no
            document at their place.
    """
    groups = groupby(_rows(path), key=itemgetter("doc_id"))
    doc_id, rows = next(groups, (None, iter(())))
    for document in documents:
        quantities = []
        if doc_id == document.doc_id:
            for row in rows:
                if not 0 <= row["value_start"] <= row["value_end"] <= len(document.text):
                    raise InputError("a value span lies outside the text", file=path, value=row)
                quantities.append(from_row(row))
            doc_id, rows = next(groups, (None, iter(())))
        yield Document(document.doc_id, document.text, document.title, tuple(quantities))
    if doc_id is not None:
        raise InputError(
            "the quantities of a document do not come where the document comes",
            file=path,
            value=doc_id,
            remedy="Make the corpus again with `qbench synth`",
        )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    if not path.exists():
        raise InputError("the corpus has no table of quantities", file=path)
    with reading_parquet(path), pq.ParquetFile(path) as table:
        for batch in table.iter_batches(4096):
            yield from batch.to_pylist()
