"""Errors for people: what is wrong, where, with which value, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class QbenchError(Exception):
    """Base of every error that qbench raises on purpose.

    Args:
        message: what is wrong, one sentence without a full stop.
        file: the file in which it was found.
        line: its 1-based line or row number.
        value: the offending value; printed shortened.
        remedy: what the user can do.

    The fields survive pickling, so that an error raised in a worker process arrives whole.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        value: object = None,
        remedy: str | None = None,
    ) -> None:
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        self.value = None if value is None else shorten(value)
        self.remedy = remedy
        super().__init__(message)

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        text = f"{place}: {self.message}" if place else self.message
        if self.value is not None:
            text += f" (found {self.value})"
        if self.remedy:
            text += f". {self.remedy}"
        return visible(" ".join(text.splitlines()))

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt, (type(self), self.message, self.file, self.line, self.value, self.remedy)


class InputError(QbenchError):
    """A file, a line or a value that came from the user cannot be used."""


class OptionError(QbenchError):
    """An option or a parameter has a value that makes no sense."""


class UnknownNameError(OptionError):
    """A name (system, measure, unit, extractor) that qbench does not know."""


class BusyError(QbenchError):
    """Another process is writing to the same folder."""


class MissingPackageError(QbenchError):
    """An optional package is needed and not installed."""


class ServerError(QbenchError):
    """A server that qbench asks gives no answer, or one that makes no sense."""


class BudgetError(QbenchError):
    """What may be spent on servers is spent."""


class _Verbatim(str):
    """A value that was shortened already."""


def rebuilt(
    cls: type[QbenchError], message: str, file: str | None, line: int | None, value: str | None, remedy: str | None
) -> QbenchError:
    """The error of these parts, its value shortened already."""
    shown = None if value is None else _Verbatim(value)
    return cls(message, file=file, line=line, value=shown, remedy=remedy)


_SENT = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that terminals obey, that turn the writing direction, or that no encoding has."""


def visible(text: str) -> str:
    r"""A text fit for a terminal: what it would obey is shown as an escape; tabs and line feeds stay.

    In a string of JSON, the escapes stand for the same characters.

    >>> visible("\x1b[2Jsafe\u202e")
    '\\u001b[2Jsafe\\u202e'
    """
    return _SENT.sub(lambda match: f"\\u{ord(match[0]):04x}", text) if _SENT.search(text) else text


def shorten(value: object, width: int = 80) -> str:
    """A printable, single-line form of a value, at most `width` characters long."""
    if isinstance(value, _Verbatim):
        return str(value)
    text = repr(value)
    return text if len(text) <= width else text[: width - 3] + "..."


def is_path(text: str) -> bool:
    """Whether a value is a path of this machine, and not a name that means the same anywhere."""
    if text.startswith(("/", "~", "./", "../")) or text in (".", ".."):
        return True
    try:
        return Path(text).is_absolute() or Path(text).exists()
    except (OSError, ValueError):
        return False  # too long, or with a sign that no path has


_PATHS = re.compile(r"(?<![\w.:/~-])~?(?:/[^\s/:;,()'\"<>|]+)+/([^\s/:;,()'\"<>|]+)")


def without_paths(text: str, known: Iterable[str | Path] = ()) -> str:
    """A text to be shown, in which paths stand by their last part.

    Args:
        text: a sentence.
        known: paths that may stand in it; any other is recognised by its slashes, if it has no spaces.

    >>> without_paths("/home/me/models/minilm: no such folder"), without_paths("5 km/h, see https://a.org/b/c")
    ('minilm: no such folder', '5 km/h, see https://a.org/b/c')
    """
    for path in sorted(map(str, known), key=len, reverse=True):
        if "/" in path and is_path(path):
            text = text.replace(path, Path(path).name)
    return _PATHS.sub(r"\1", text)
