"""The quantities of a corpus by document, for rankers that look at them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.quantities.types import Quantity, from_row, moved_by


@dataclass(frozen=True)
class DocumentMentions:
    """The mentions of quantities in each document of a corpus.

    Attributes:
        table: columns of `quantity_schema` and `offset`, the character of the passage from which its spans count;
            ordered by position of the document.
        starts: shape (documents + 1,); the mentions of document d are table[starts[d]:starts[d + 1]].
    """

    table: pl.DataFrame
    starts: NDArray[np.int64]

    def of(self, doc: int) -> list[Quantity]:
        """The mentions in the document at a position, in order; spans count from the start of its passage."""
        rows = self.table[int(self.starts[doc]) : int(self.starts[doc + 1])]
        return [moved_by(from_row(row), row["offset"]) for row in rows.iter_rows(named=True)]

    @cached_property
    def digest(self) -> str:
        """Names the values, units, comparators and places of all mentions: for keys of indexes made from them."""
        hashed, table = sha256(self.starts.tobytes()), self.table
        for name in (*_NUMBERS, *(f"{part}_{end}" for part in ("value", "unit") for end in ("start", "end"))):
            hashed.update(np.ascontiguousarray(table[name].to_numpy()).tobytes())
        for name in ("unit", "base_unit", "comparator", "change"):
            hashed.update("\n".join(table[name].to_list()).encode())
        hashed.update(repr(table["concept_spans"].to_list()).encode())
        return hashed.hexdigest()[:16]


_NUMBERS = ("value", "high", "base_value", "base_high", "offset")


def document_mentions(
    quantities: pl.DataFrame, doc_ids: pl.Series, offsets: pl.Series | None = None
) -> DocumentMentions:
    """The mentions of a corpus by document.

    Args:
        quantities: `quantity_schema`, and `offset` where spans do not count from the start of a document's text;
            mentions of documents that are not in `doc_ids` are left out.
        doc_ids: shape (n,), the documents in the order of positions.
        offsets: shape (n,), the character of its passage at which each document's text starts; 0 by default.
    """
    at = pl.Series(offsets if offsets is not None else np.zeros(len(doc_ids), np.int64))
    positions = pl.DataFrame({"doc_id": doc_ids, "_at": at}).with_row_index("_doc")
    if "offset" not in quantities.columns:
        quantities = quantities.with_columns(offset=0)
    # The ids alone are joined: a join of the whole table is a copy of it, and most tables are in order already.
    found = quantities.select("doc_id").join(positions, on="doc_id", how="left", maintain_order="left")
    table = quantities.with_columns(found["_doc"], offset=pl.col("offset") + found["_at"])
    if found["_doc"].null_count():
        table = table.filter(pl.col("_doc").is_not_null())
    if not table["_doc"].is_sorted():
        table = table.sort("_doc", maintain_order=True)
    counts = np.bincount(table["_doc"].to_numpy(), minlength=len(doc_ids))
    return DocumentMentions(table.drop("_doc"), np.append(0, np.cumsum(counts)).astype(np.int64))
