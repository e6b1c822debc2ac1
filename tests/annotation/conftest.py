"""A small benchmark, a run on it, and the sheet made from both."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from qbench.annotation.options import SheetOptions
from qbench.annotation.sheet import export_sheet
from qbench.benchmark.disk import write_benchmark
from qbench.benchmark.trec import rank_run
from tests.factories import tiny_benchmark

FOUND = [
    ("q4", "d01", 3.0), ("q4", "d03", 2.0), ("q4", "d12", 1.0),
    ("q5", "d10", 2.0), ("q5", "d09", 1.0),
    ("q6", "d05", 1.0), ("q7", "d04", 1.0),
]  # fmt: skip
GRADES = {("q4", "d03"): 2, ("q5", "d09"): 2, ("q6", "d08"): 2, ("q7", "d02"): 1}
"""What a careful annotator gives; all else is 0."""


@pytest.fixture
def bench(tmp_path):
    return write_benchmark(tiny_benchmark(), tmp_path / "bench")


@pytest.fixture
def run():
    return rank_run(pl.DataFrame(FOUND, schema=["query_id", "doc_id", "score"], orient="row"))


@pytest.fixture
def sheet(bench, run, tmp_path):
    return export_sheet(bench, tmp_path / "sheet", SheetOptions(), runs={"a run": run})


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def fill(sheet, path: Path, change=None, *, encoding="utf-8", **options) -> Path:
    """The sheet's CSV file, filled in as `GRADES` says and `change` (pair -> cell) has it otherwise."""
    rows = rows_of(sheet.folder / "sheet.csv")
    for row in rows:
        pair = row["query_id"], row["doc_id"]
        row["grade"] = str((change or {}).get(pair, GRADES.get(pair, 0)))
    with path.open("w", encoding=encoding, newline="", errors="replace") as stream:
        writer = csv.DictWriter(stream, rows[0], **options)
        writer.writeheader()
        writer.writerows([*rows, dict.fromkeys(rows[0], "")])  # spreadsheets leave empty rows at the end
    return path


def page_file(sheet, path: Path, answers, annotator="") -> Path:
    """A file such as the page saves; answers are (query, document, grade) or with a comment."""
    rows = [dict(zip(("query_id", "doc_id", "grade", "comment"), row, strict=False)) for row in answers]
    data = {"qbench": "answers", "sheet": sheet.digest, "annotator": annotator, "answers": rows}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path
