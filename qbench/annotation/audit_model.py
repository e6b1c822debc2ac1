"""A chat model as auditor: its verdicts in a file such as the page saves, with how it was asked."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.annotation.audit import AuditSheet
from qbench.annotation.audit_subject import RIGHT, VERDICTS, Subject
from qbench.annotation.form import UNSURE, Form, Item
from qbench.llm.asking import AnswerCounts, Asking, ask_until, forecast
from qbench.llm.chat_answers import texts_of
from qbench.llm.client import Estimate
from qbench.llm.prompts import Slots
from qbench.progress import Progress, silent
from qbench.store import write_text

CANNOT_TELL = "cannot tell"
UNKNOWN_VERDICT = "no verdict of those that were offered"


@dataclass(frozen=True)
class ModelAnswers:
    """What a model said.

    Attributes:
        path: the file of its answers.
        counts: of answers and tokens, as the server reports them.
        rejected: reason -> number of answers that could not be used.
    """

    path: Path
    counts: AnswerCounts
    rejected: Counter[str]


def ask_model(subject: Subject, sheet: AuditSheet, asking: Asking, progress: Progress = silent) -> ModelAnswers:
    """Ask a model about every item of a sheet, and write its verdicts into the sheet's folder.

    The file is written anew each time, from recorded answers where there are some. Items without a usable answer are
    left blank; where the first ones all have none, no more are asked about.

    Raises:
        ServerError, InputError, BudgetError, OptionError: as in `qbench.llm.asking.ask_until`; answers are recorded.
    """
    form = subject.form(sheet.items, sheet.digest)
    said: dict[int, tuple[int | str, str]] = {}
    rejected: Counter[str] = Counter()

    def accept(i: int, answer: Any, attempt: int) -> bool:
        texts, problems = texts_of(answer, asking.server.prompt.answer)
        verdict = read_verdict(texts[0], form.causes) if texts else None
        if verdict is None:
            rejected[problems[0][1] if problems else UNKNOWN_VERDICT] += 1
            return False
        said[i] = verdict
        return True

    counts = ask_until(asking, _slots(form, sheet.items), accept, progress, needed=True)
    rows = [
        {"query_id": item.query_id, "doc_id": item.doc_id, "grade": said[i][0], "cause": said[i][1], "comment": ""}
        for i, item in enumerate(sheet.items)
        if i in said
    ]
    name = asking.server.model
    head = {
        "qbench": "answers",
        "sheet": sheet.digest,
        "name": sheet.folder.name,
        "annotator": name,
        "asked": asking.key,
        "items": len(sheet.items),
        "answers": rows,
    }
    path = sheet.folder / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name).strip('-.') or 'model'}.json"
    write_text(path, json.dumps(head, indent=1, ensure_ascii=False) + "\n")
    return ModelAnswers(path, counts, rejected)


def model_forecast(subject: Subject, sheet: AuditSheet, asking: Asking) -> Estimate:
    """Forecast the calls of `ask_model` that are not recorded yet."""
    return forecast(asking, _slots(subject.form(sheet.items, sheet.digest), sheet.items))


def read_verdict(text: str, causes: Sequence[str]) -> tuple[int | str, str] | None:
    """The grade and the cause in a model's words; None if it says neither verdict nor "cannot tell".

    An unknown cause is no reason to drop a verdict: it becomes "other".

    >>> read_verdict("Wrong: another thing.", ["another thing", "other"])
    (1, 'another thing')
    >>> read_verdict("right", ["other"]), read_verdict("cannot tell", ["other"]), read_verdict("maybe", ["other"])
    ((2, ''), ('?', ''), None)
    """
    verdict, _, cause = " ".join(text.lower().split()).rstrip(" .").partition(":")
    if verdict.strip() == CANNOT_TELL:
        return UNSURE, ""
    if verdict.strip() not in VERDICTS:
        return None
    grade = VERDICTS.index(verdict.strip())
    if grade == RIGHT:
        return grade, ""
    known = cause.strip()
    return grade, known if known in causes else "other" if known else ""


def _slots(form: Form, items: Sequence[Item]) -> list[Slots]:
    slots: list[Slots] = []
    for item in items:
        query, lines = form.query(item.query_id)
        title, body = form.document(item)
        text = "".join(part if isinstance(part, str) else part[0] for part in body)
        slots.append(
            {
                "claim": form.claim(item),
                "query": query,
                "condition": "; ".join(filter(None, lines)) or "not stated",
                "text": f"{title}. {text}" if title else text,
            }
        )
    return slots
