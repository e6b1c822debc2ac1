"""The files that sheets of every kind have: a table of items, a guideline, and what people may have filled in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from qbench.annotation.form import Item
from qbench.artefacts import changed_files
from qbench.benchmark.parquet import read_parquet
from qbench.benchmark.types import Schema
from qbench.errors import InputError, OptionError
from qbench.store import MANIFEST, Manifest, file_digest, read_manifest

ITEMS = "items.parquet"
GUIDELINE = "guideline.md"


def item_schema() -> Schema:
    """One row per item, in the order of the sheets; the fields of `Item`."""
    return {"query_id": pl.String, "doc_id": pl.String, "sources": pl.List(pl.String), "sheet": pl.Int32}


def write_items(items: Sequence[Item], path: Path) -> None:
    """Write the table of items."""
    rows = [(item.query_id, item.doc_id, list(item.sources), item.sheet) for item in items]
    pl.DataFrame(rows, schema=item_schema(), orient="row").write_parquet(path, compression="zstd")


def read_items(folder: Path, manifest: Manifest) -> list[Item]:
    """The items of a sheet, in order.

    Raises:
        InputError: their table is damaged.
    """
    path = folder / ITEMS
    frame = read_parquet(path, item_schema())
    if file_digest(path) != manifest.files.get(ITEMS, {}).get("sha256"):
        raise InputError("the file has changed since the sheet was made", file=path, remedy="Make the sheet again")
    return [Item(q, d, tuple(sources), number) for q, d, sources, number in frame.iter_rows()]


def edited(folder: Path) -> list[str]:
    """The files of a sheet that have changed since they were written."""
    return [name for name in changed_files(folder, read_manifest(folder)) if (folder / name).is_file()]


def refuse_filled(folder: Path, kind: str) -> None:
    """Raise an error if the folder holds a sheet of this kind that may have been filled in.

    Raises:
        OptionError: a file of the sheet has changed since it was made.
    """
    if not (folder / MANIFEST).is_file() or read_manifest(folder).kind != kind:
        return
    filled = edited(folder)
    if filled:
        remedy = "Move it elsewhere: it is read from anywhere"
        raise OptionError("this file may hold judgments", file=folder / filled[0], remedy=remedy)
