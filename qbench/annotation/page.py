"""The page that annotators work in: one file, which needs no network and sends nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qbench.annotation.form import Form, Item, Pair, Piece
from qbench.pages import static_page
from qbench.sheets import LONGEST
from qbench.store import read_text

DATA = Path(__file__).parent / "data"


def read_guideline(path: Path | None) -> str:
    """The guideline for annotators: from a file, or the default one.

    Lines that start with "# " are headings, with "- " list items; all others are paragraphs.

    Raises:
        InputError: the file is missing or not UTF-8.
    """
    return read_text(DATA / "guideline.md" if path is None else path, "guideline")


def page(
    form: Form,
    items: Sequence[Item],
    guideline: str,
    *,
    name: str,
    answers: Mapping[Pair, Sequence[str]] | None = None,
) -> str:
    """The HTML of a sheet.

    Args:
        form: how the items are shown.
        items: what is judged, grouped by query.
        guideline: text as `read_guideline` returns it.
        name: of this page; the files of answers that it saves are named after it.
        answers: pair -> earlier answers, shown to those who resolve disagreements.
    """
    groups: dict[str, dict[str, Any]] = {}
    for item in items:
        if item.query_id not in groups:
            text, lines = form.query(item.query_id)
            groups[item.query_id] = {"id": item.query_id, "text": text, "asks": lines, "items": []}
        title, body = form.document(item)
        entry: dict[str, Any] = {"id": item.doc_id, "text": body}
        if claim := form.claim(item):
            entry["claim"] = claim
        if title:
            entry["title"] = title[:LONGEST]
        if answers is not None:
            entry["said"] = list(answers[item.pair])
        groups[item.query_id]["items"].append(entry)
    data = {
        "sheet": form.key,
        "name": name,
        "scale": list(form.labels),
        "tones": list(form.tones),
        "question": form.question,
        "causes": list(form.causes),
        "guideline": _blocks(guideline),
        "queries": list(groups.values()),
    }
    style, script = (read_text(DATA / file, "page") for file in ("page.css", "page.js"))
    return static_page(f"{name}: {form.question[0].lower()}{form.question[1:]}", style, script, data)


def pieces(text: str, marks: Sequence[tuple[int, int, str]]) -> list[Piece]:
    """A text split at its marks; white space becomes single spaces, and a very long text is cut.

    Args:
        text: any.
        marks: half-open character spans with notes; a mark that overlaps an earlier one is dropped.

    >>> pieces("It weighs 900 g.", [(10, 15, "0.9 kilogram")])
    ['It weighs ', ['900 g', '0.9 kilogram'], '.']
    """
    parts: list[Piece] = []
    at = 0
    end = min(len(text), LONGEST)
    for start, stop, note in sorted(marks):
        if at <= start < stop <= end:
            parts += [_spaced(text[at:start]), [_spaced(text[start:stop]), note]]
            at = stop
    parts.append(_spaced(text[at:end]) + ("…" if end < len(text) else ""))
    return [part for part in parts if part]


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _blocks(guideline: str) -> list[list[str]]:
    """[kind, text] of each heading ("h"), list item ("l") and paragraph ("p"), continuation lines joined."""
    blocks: list[list[str]] = []
    fresh = True
    for line in map(str.strip, guideline.splitlines()):
        if line.startswith("#"):
            blocks.append(["h", line.lstrip("# ")])
        elif line.startswith("- "):
            blocks.append(["l", line[2:].strip()])
        elif line and not fresh:
            blocks[-1][1] += f" {line}"
        elif line:
            blocks.append(["p", line])
        fresh = not line or line.startswith("#")
    return blocks
