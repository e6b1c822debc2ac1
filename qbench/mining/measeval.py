"""The files of MeasEval (SemEval-2021 task 8) -> paragraphs with quantities and the spans that describe them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.errors import InputError
from qbench.quantities.types import Span
from qbench.store import parse_json, read_text

COLUMNS = ("annotType", "startOffset", "endOffset", "annotId", "text", "other")
"""The columns that are read."""

PIVOT = "Quantity"
SEGMENTS = ("MeasuredEntity", "MeasuredProperty", "Qualifier")
LINKS = ("HasQuantity", "HasProperty", "Qualifies")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph: `name` its docId, `quantities` each pivot with the spans that lead to it, in the file's order."""

    name: str
    text: str
    quantities: tuple[tuple[Span, tuple[Span, ...]], ...]


@dataclass(frozen=True, slots=True)
class _Annotation:
    kind: str
    span: Span
    link: str | None
    line: int


def read_paragraphs(folder: Path, counts: Counter[str]) -> Iterator[Paragraph]:
    """The paragraphs of a folder with `tsv/` and `text/` (or `txt/`), or of the folders in it that have both.

    Args:
        folder: the folder.
        counts: receives the numbers of paragraphs without annotations, and of annotations without a quantity.

    Raises:
        InputError: there is no such folder, a text is missing, or a line cannot be used.
    """
    candidates = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    folders = [path for path in candidates if (path / "tsv").is_dir()]
    if not folders:
        raise InputError("no MeasEval folder", file=folder, remedy="It holds tsv/*.tsv, and text/*.txt or txt/*.txt")
    for subfolder in folders:
        texts = next((subfolder / name for name in ("text", "txt") if (subfolder / name).is_dir()), None)
        if texts is None:
            raise InputError(
                "a MeasEval folder without its texts", file=subfolder, remedy="Put them into text/ or txt/"
            )
        tables = sorted((subfolder / "tsv").glob("*.tsv"))
        counts["paragraphs without annotations"] += len(
            {path.stem for path in texts.glob("*.txt")} - {path.stem for path in tables}
        )
        for table in tables:
            yield _paragraph(table, read_text(texts / f"{table.stem}.txt", "paragraph"), counts)


def _paragraph(table: Path, text: str, counts: Counter[str]) -> Paragraph:
    annotations = _annotations(table, text)
    pivots: dict[str, list[Span]] = {name: [] for name, row in annotations.items() if row.kind == PIVOT}
    for row in annotations.values():
        if row.kind in SEGMENTS:
            pivot = _followed(row, annotations, table)
            if pivot is None:
                counts["annotations that lead to no quantity"] += 1
            else:
                pivots[pivot].append(row.span)
    return Paragraph(table.stem, text, tuple((annotations[name].span, tuple(spans)) for name, spans in pivots.items()))


def _followed(row: _Annotation, annotations: dict[str, _Annotation], table: Path) -> str | None:
    """The quantity at the end of a chain of links."""
    for _ in annotations:
        if row.link is None:
            return None
        if row.link not in annotations:
            raise InputError("a link to an annotation that is not there", file=table, line=row.line, value=row.link)
        if annotations[row.link].kind == PIVOT:
            return row.link
        row = annotations[row.link]
    raise InputError("links that lead in a circle", file=table, line=row.line, value=row.link)


def _annotations(table: Path, text: str) -> dict[str, _Annotation]:
    annotations: dict[str, _Annotation] = {}
    # `split` and not `splitlines`: other line ends of Unicode may stand in an annotated text.
    rows = csv.DictReader(read_text(table, "annotations").split("\n"), delimiter="\t", quoting=csv.QUOTE_NONE)
    missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise InputError("columns are missing", file=table, line=1, value=", ".join(missing))
    for row in rows:
        name = row["annotId"]
        if name in annotations:
            raise InputError("the same annotId twice", file=table, line=rows.line_num, value=name)
        span, other = _span(row, text, table, rows.line_num), _other(row, table, rows.line_num)
        link = next((str(other[key]) for key in LINKS if key in other), None)
        annotations[name] = _Annotation(row["annotType"], span, link, rows.line_num)
    return annotations


def _span(row: dict[str, str], text: str, table: Path, line: int) -> Span:
    try:
        start, end = int(row["startOffset"]), int(row["endOffset"])
    except (TypeError, ValueError):
        value = (row["startOffset"], row["endOffset"])
        raise InputError("offsets are not whole numbers", file=table, line=line, value=value) from None
    if not 0 <= start < end <= len(text) or text[start:end] != row["text"]:
        raise InputError("the text at these offsets is another one", file=table, line=line, value=row["text"])
    return start, end


def _other(row: dict[str, str], table: Path, line: int) -> dict[str, Any]:
    other = parse_json(row["other"] or "{}", table, line=line, what="JSON in `other`")
    if not isinstance(other, dict):
        raise InputError("`other` is not a JSON object", file=table, line=line, value=row["other"])
    return other
