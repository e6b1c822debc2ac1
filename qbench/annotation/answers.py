"""What annotators give back: CSV files as spreadsheets save them, and the files that the page saves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qbench.annotation.options import HIGHEST
from qbench.annotation.sheet import KEYS, UNSURE, Sheet
from qbench.benchmark.card import printable
from qbench.benchmark.reading import Problems
from qbench.errors import InputError
from qbench.sheets import one_line, read_sheet, unshielded, windows
from qbench.store import read_text

Pair = tuple[str, str]

Place = tuple[int | None, str]
"""The line of an answer, where there is one, and how a message names it."""


@dataclass(frozen=True)
class Answers:
    """What one file says.

    Attributes:
        path: the file.
        name: of the annotator.
        grades: (query, document) -> grade.
        unsure: the items of which the annotator cannot tell.
        comments: (query, document) -> comment.
        lines: (query, document) -> line of the file, where it has lines.
        seen: the items that the file has, answered or not.
        table: whether the file has a row for every item, answered or not, when it is whole.
    """

    path: Path
    name: str
    grades: dict[Pair, int] = field(default_factory=dict)
    unsure: set[Pair] = field(default_factory=set)
    comments: dict[Pair, str] = field(default_factory=dict)
    lines: dict[Pair, int] = field(default_factory=dict)
    seen: set[Pair] = field(default_factory=set)
    table: bool = True


def read_answers(path: Path, sheet: Sheet, shown: Mapping[Pair, tuple[str, str]], problems: Problems) -> Answers:
    """Read the answers in one file.

    Args:
        path: a CSV file with the columns query_id, doc_id and grade, or a file that the page saved.
        sheet: that it answers.
        shown: (query, document) -> the texts of query and document, for every item of the sheet.
        problems: what to do with an answer that cannot be used: an item that the sheet does not have, a text that is
            not the document's, an answer that is not on the scale, two answers for one item.

    Raises:
        InputError: the file cannot be read, answers another sheet, holds no answer, or (where bad rows are fatal) an
            answer cannot be used.
    """
    if _is_json(path):
        data = _json(path, sheet)
        said = str(data.get("annotator") or "").strip()
        answers = Answers(path, printable(said)[:80] or path.stem, table=False)
        rows = _json_rows(path, data, problems)
    else:
        answers = Answers(path, printable(path.stem))
        rows = _csv_rows(path, problems)
    _fill(answers, rows, sheet, shown, problems)
    if not answers.grades and not answers.unsure:
        remedy = f"Write 0 to {HIGHEST[sheet.scale]} into the column grade, or judge in the page and save"
        raise InputError("nothing is judged in this file", file=path, remedy=remedy)
    return answers


def _fill(
    answers: Answers,
    rows: Iterator[tuple[Place, dict[str, str]]],
    sheet: Sheet,
    shown: Mapping[Pair, tuple[str, str]],
    problems: Problems,
) -> None:
    """Take the rows in; an item that is answered twice and differently has no answer in the end."""
    twice: set[Pair] = set()
    for place, row in rows:
        pair = _pair(row, shown)
        if pair is None:
            problems.bad("not in the sheet", _fault(answers, place, _STRANGE, (row["query_id"], row["doc_id"])))
            continue
        cell = _changed(row, *shown[pair])
        if cell is not None:
            problems.bad("text changed", _fault(answers, place, _EDITED, cell))
            continue
        answers.seen.add(pair)
        comment = " ".join(unshielded(row.get("comment", "")).split())
        if comment:
            answers.comments[pair] = comment
        text = row["grade"].strip()
        grade = _grade(text, HIGHEST[sheet.scale])
        before = UNSURE if pair in answers.unsure else answers.grades.get(pair)
        if not text:
            continue
        if grade is None:
            problems.bad("not a grade", _fault(answers, place, _off_scale(sheet), text))
        elif before is None:
            _take(answers, pair, grade, place[0])
        elif before == grade:
            problems.note("the same answer twice")
        else:
            twice.add(pair)
            told = f"two answers for one item, {before} and {grade}", "Keep one of them"
            problems.bad("two answers for one item", _fault(answers, place, told, pair))
    for pair in twice:
        answers.grades.pop(pair, None)
        answers.unsure.discard(pair)


_STRANGE = "this item is not in the sheet", "Were ids changed, or is it from another sheet?"
_EDITED = (
    "this is not the text that the sheet has for these ids",
    "Were columns sorted apart? If it was only edited, put it back, or skip such rows",
)


def _off_scale(sheet: Sheet) -> tuple[str, str]:
    scale = ", ".join(map(str, range(HIGHEST[sheet.scale] + 1)))
    return "not a grade of this sheet", f"Write {scale}, {UNSURE} for cannot tell, or nothing"


def _fault(answers: Answers, place: Place, told: tuple[str, str], value: object) -> InputError:
    line, where = place
    return InputError(f"{where}{told[0]}", file=answers.path, line=line, value=value, remedy=told[1])


def _take(answers: Answers, pair: Pair, grade: int | str, line: int | None) -> None:
    if line is not None:
        answers.lines[pair] = line
    if grade == UNSURE:
        answers.unsure.add(pair)
    else:
        answers.grades[pair] = int(grade)


def _csv_rows(path: Path, problems: Problems) -> Iterator[tuple[Place, dict[str, str]]]:
    for line, row in read_sheet(path, KEYS, lambda error: problems.bad("not a whole row", error)):
        yield (line, ""), row


def _json_rows(path: Path, data: Mapping[str, Any], problems: Problems) -> Iterator[tuple[Place, dict[str, str]]]:
    for number, row in enumerate(data["answers"], start=1):
        where = f"answer {number}: "
        query_id, doc_id = (row.get("query_id"), row.get("doc_id")) if isinstance(row, dict) else (None, None)
        if not isinstance(query_id, str) or not isinstance(doc_id, str):
            problems.bad("not an answer", InputError(f"{where}not an answer", file=path, value=row))
            continue
        grade, comment = row.get("grade"), row.get("comment")
        cells = {"grade": "" if grade is None else str(grade), "comment": str(comment or "")}
        yield (None, where), {"query_id": query_id, "doc_id": doc_id, **cells}


def _is_json(path: Path) -> bool:
    """Whether a file holds JSON, whatever it is called."""
    try:
        with path.open("rb") as stream:
            return stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    except OSError:
        return False  # the error is told when it is read


def _json(path: Path, sheet: Sheet) -> dict[str, Any]:
    again = "Save it from the page again"
    try:
        data = json.loads(read_text(path, "answers"))
    except json.JSONDecodeError as fault:
        message = f"not a whole file of answers: {fault.msg}"
        raise InputError(message, file=path, line=fault.lineno, remedy=again) from None
    except RecursionError:
        raise InputError("not a file of answers", file=path, remedy=again) from None
    if not isinstance(data, dict) or data.get("qbench") != "answers" or not isinstance(data.get("answers"), list):
        raise InputError("not a file of answers", file=path, remedy=again)
    if data.get("sheet") != sheet.digest:
        value = data.get("sheet")
        raise InputError("these are answers to another sheet", file=path, value=value, remedy=f"This is {sheet.digest}")
    return data


def _pair(row: Mapping[str, str], shown: Mapping[Pair, object]) -> Pair | None:
    for pair in ((row["query_id"], row["doc_id"]), (unshielded(row["query_id"]), unshielded(row["doc_id"]))):
        if pair in shown:
            return pair
    return None


def _changed(row: Mapping[str, str], query: str, text: str) -> str | None:
    """The cell whose text is not the item's; None where all are, or are not in the file."""
    for name, wanted in (("query", query), ("text", text)):
        cell = row.get(name)
        if cell is not None:
            found = {" ".join(form.split()) for form in (cell, unshielded(cell))}
            # What Windows-1252 cannot say comes back as question marks.
            if not found & {one_line(wanted), windows(one_line(wanted))}:
                return cell
    return None


def _grade(text: str, highest: int) -> int | str | None:
    """A grade, `UNSURE`, or None; a spreadsheet may write 1 as "1.0" or "1,0"."""
    if text == UNSURE:
        return UNSURE
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return int(number) if number.is_integer() and 0 <= number <= highest else None
