"""What annotators give back: CSV files as spreadsheets save them, and the files that the page saves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qbench.annotation.form import CAUSE, COMMENT, KEYS, UNSURE, Form, Pair
from qbench.benchmark.card import printable
from qbench.benchmark.reading import Problems
from qbench.errors import InputError
from qbench.sheets import one_line, plain_number, read_sheet, unshielded, windows
from qbench.store import parse_json, read_text

Position = tuple[int | None, str]
"""The line of an answer, if it has one, and the start of a message about it."""


@dataclass(frozen=True)
class Answers:
    """The answers in one file.

    Attributes:
        path: the file.
        name: of the annotator.
        grades: pair -> grade.
        unsure: pairs of which the annotator cannot tell.
        comments: pair -> comment.
        causes: pair -> the cause of a grade that is not the highest; a pair whose cause is not given is missing.
        lines: pair -> line of the file, if it has lines.
        seen: pairs that the file has, answered or not.
        table: whether a complete file has a row for every item, answered or not.
        asking: the chat model that gave the answers, and how it was asked; {} for a person.
    """

    path: Path
    name: str
    grades: dict[Pair, int] = field(default_factory=dict)
    unsure: set[Pair] = field(default_factory=set)
    comments: dict[Pair, str] = field(default_factory=dict)
    causes: dict[Pair, str] = field(default_factory=dict)
    lines: dict[Pair, int] = field(default_factory=dict)
    seen: set[Pair] = field(default_factory=set)
    table: bool = True
    asking: Mapping[str, Any] = field(default_factory=dict)

    @property
    def blank(self) -> int:
        """Number of items in the file without an answer."""
        return len(self.seen) - len(self.grades) - len(self.unsure)


def read_answers(path: Path, form: Form, problems: Problems) -> Answers:
    """Read the answers in one file.

    Args:
        path: a CSV file with the columns query_id, doc_id and `form.grade`, or a file that the page saved.
        form: of the sheet.
        problems: what to do with an unusable answer: a pair that the sheet does not have, a text that differs from the
            document's, a grade off the scale, an unknown cause, two answers for one item.

    Raises:
        InputError: the file cannot be read, answers another sheet, holds no answer, or (where bad rows are fatal) an
            answer is unusable.
    """
    if _is_json(path):
        data = _json(path, form.key)
        name = str(data.get("annotator") or "").strip()
        asking = data.get("asked")
        asking = asking if isinstance(asking, dict) else {}
        answers = Answers(path, printable(name)[:80] or path.stem, table=False, asking=asking)
        rows = _json_rows(path, data, form.grade, problems)
    else:
        answers = Answers(path, printable(path.stem))
        rows = _csv_rows(path, form.grade, problems)
    _fill(answers, rows, form, problems)
    if not answers.grades and not answers.unsure:
        remedy = f"Write {_scale(form)} into the column {form.grade}, or judge in the page and save"
        raise InputError("nothing is judged in this file", file=path, remedy=remedy)
    return answers


def _fill(answers: Answers, rows: Iterator[tuple[Position, dict[str, str]]], form: Form, problems: Problems) -> None:
    """Store the rows; an item with two different answers ends up without one."""
    contradictory: set[Pair] = set()
    for position, row in rows:
        pair = _pair(row, form)
        if pair is None:
            problems.bad("not in the sheet", _fault(answers, position, _STRANGE, (row["query_id"], row["doc_id"])))
            continue
        cell = _changed(row, form, pair)
        if cell is not None:
            problems.bad("text changed", _fault(answers, position, _EDITED, cell))
            continue
        answers.seen.add(pair)
        comment = " ".join(unshielded(row.get(COMMENT, "")).split())
        if comment:
            answers.comments[pair] = comment
        text = row[form.grade].strip()
        if not text:
            continue
        grade = _grade(text, form)
        before = UNSURE if pair in answers.unsure else answers.grades.get(pair)
        if grade is None:
            problems.bad("not a grade", _fault(answers, position, _off_scale(form), text))
        elif before is None:
            _take(answers, pair, grade, position[0])
            _take_cause(answers, form, row, pair, position, problems)
        elif before == grade:
            problems.note("the same answer twice")
        else:
            contradictory.add(pair)
            message = f"two answers for one item, {before} and {grade}", "Keep one of them"
            problems.bad("two answers for one item", _fault(answers, position, message, pair))
    for pair in contradictory:
        answers.grades.pop(pair, None)
        answers.causes.pop(pair, None)
        answers.unsure.discard(pair)


_STRANGE = "this item is not in the sheet", "Were ids changed, or is it from another sheet?"
_EDITED = (
    "this is not the text that the sheet has for these ids",
    "Were columns sorted apart? If it was only edited, restore it, or skip such rows",
)


def _scale(form: Form) -> str:
    if form.words:
        return ", ".join(reversed(form.labels))
    return ", ".join(map(str, range(form.highest + 1))) if form.highest < 3 else f"0 to {form.highest}"


def _off_scale(form: Form) -> tuple[str, str]:
    return (
        f"not a {form.grade if form.words else 'grade'} of this sheet",
        f"Write {_scale(form)}, {UNSURE} for cannot tell, or nothing",
    )


def _fault(answers: Answers, position: Position, message: tuple[str, str], value: object) -> InputError:
    line, start = position
    return InputError(f"{start}{message[0]}", file=answers.path, line=line, value=value, remedy=message[1])


def _take(answers: Answers, pair: Pair, grade: int | str, line: int | None) -> None:
    if line is not None:
        answers.lines[pair] = line
    if grade == UNSURE:
        answers.unsure.add(pair)
    else:
        answers.grades[pair] = int(grade)


def _take_cause(
    answers: Answers, form: Form, row: Mapping[str, str], pair: Pair, position: Position, problems: Problems
) -> None:
    cause = " ".join(unshielded(row.get(CAUSE, "")).split()).lower()
    if not cause or answers.grades.get(pair, form.highest) == form.highest:
        return
    if cause in form.causes:
        answers.causes[pair] = cause
    elif form.causes:
        message = "not a cause of this sheet", f"Known: {', '.join(form.causes)}; say the rest in a comment"
        problems.bad("not a cause", _fault(answers, position, message, cause))


def _csv_rows(path: Path, grade: str, problems: Problems) -> Iterator[tuple[Position, dict[str, str]]]:
    for line, row in read_sheet(path, (*KEYS, grade), lambda error: problems.bad("not a whole row", error)):
        yield (line, ""), row


def _json_rows(
    path: Path, data: Mapping[str, Any], column: str, problems: Problems
) -> Iterator[tuple[Position, dict[str, str]]]:
    for number, row in enumerate(data["answers"], start=1):
        start = f"answer {number}: "
        query_id, doc_id = (row.get("query_id"), row.get("doc_id")) if isinstance(row, dict) else (None, None)
        if not isinstance(query_id, str) or not isinstance(doc_id, str):
            problems.bad("not an answer", InputError(f"{start}not an answer", file=path, value=row))
            continue
        grade, comment = row.get("grade"), row.get("comment")
        cells = {
            column: "" if grade is None else str(grade),
            COMMENT: str(comment or ""),
            CAUSE: str(row.get("cause") or ""),
        }
        yield (None, start), {"query_id": query_id, "doc_id": doc_id, **cells}


def _is_json(path: Path) -> bool:
    """Whether a file holds JSON, whatever its name."""
    try:
        with path.open("rb") as stream:
            return stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    except OSError:
        return False  # reported when the file is read


def _json(path: Path, key: str) -> dict[str, Any]:
    again = "Save it from the page again"
    try:
        data = parse_json(read_text(path, "answers"), path)
    except InputError as fault:
        message = f"not a whole file of answers: {fault.message}"
        raise InputError(message, file=path, line=fault.line, remedy=again) from None
    if not isinstance(data, dict) or data.get("qbench") != "answers" or not isinstance(data.get("answers"), list):
        raise InputError("not a file of answers", file=path, remedy=again)
    if data.get("sheet") != key:
        value = data.get("sheet")
        raise InputError("these are answers to another sheet", file=path, value=value, remedy=f"This is {key}")
    return data


def _pair(row: Mapping[str, str], form: Form) -> Pair | None:
    pairs = (row["query_id"], row["doc_id"]), (unshielded(row["query_id"]), unshielded(row["doc_id"]))
    return next((pair for pair in pairs if form.texts(pair) is not None), None)


def _changed(row: Mapping[str, str], form: Form, pair: Pair) -> str | None:
    """The cell whose text is not the item's; None if all are, or are not in the file."""
    for name, text in zip(("query", form.text), form.texts(pair) or (), strict=True):
        cell = row.get(name)
        if cell is not None:
            forms = {" ".join(version.split()) for version in (cell, unshielded(cell))}
            # Characters that Windows-1252 does not have come back as question marks.
            if not forms & {one_line(text), windows(one_line(text))}:
                return cell
    return None


def _grade(text: str, form: Form) -> int | str | None:
    """A grade, `UNSURE`, or None; a spreadsheet may write 1 as "1.0" or "1,0"."""
    if text == UNSURE:
        return UNSURE
    if form.words and text.lower() in form.labels:
        return form.labels.index(text.lower())
    number = plain_number(text.replace(",", "."))
    return int(number) if number is not None and number.is_integer() and 0 <= number <= form.highest else None
