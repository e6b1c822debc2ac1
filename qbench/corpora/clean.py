"""From what a reader found to a document: ids, text, control characters, duplicates."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from qbench.corpora.types import Document, Problems, Record
from qbench.errors import InputError
from qbench.quantities.decoding import as_meant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]{0,32}[A-Za-z]")
_SPACE = re.compile(r"\s+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean_text(text: str) -> str:
    r"""The text with control characters (all but tab and line feed) as spaces and lone surrogates as U+FFFD.

    A terminal's escape sequence becomes spaces as a whole: "[31m" is no text either.

    The length stays, so that offsets into the one are offsets into the other.

    >>> clean_text("5\x00kg\r\n"), clean_text("\x1b[0m5")
    ('5 kg \n', '    5')
    """
    if _CONTROL.search(text):
        text = _ESCAPE.sub(lambda match: " " * len(match.group()), text)
        text = _CONTROL.sub(" ", text)
    return _SURROGATE.sub("\ufffd", text) if _SURROGATE.search(text) else text


def documents(records: Iterable[Record], problems: Problems, *, as_is: bool = False) -> Iterator[Document]:
    """Check each record and make a document of it; the first of several with the same id stays.

    Args:
        records: of a source.
        problems: what is done with bad ones.
        as_is: keep the length of texts, for offsets that come with the source; else `as_meant` may shorten them.

    Raises:
        InputError: a record is bad, and bad records are fatal (see `Problems`).
    """
    seen = SeenIds()
    for record in records:
        document = checked(record, problems, as_is=as_is)
        if document is not None and seen.first(document.doc_id, record.file, record.line, problems):
            yield document


def checked(record: Record, problems: Problems, *, as_is: bool = False) -> Document | None:
    """The document of a record; None for a bad one.

    Raises:
        InputError: it is bad, and bad records are fatal (see `Problems`).
    """
    try:
        return _document(record, problems, as_is=as_is)
    except _BadRecordError as bad:
        problems.bad(bad.reason, InputError(bad.message, file=record.file, line=record.line, value=bad.value))
        return None


class _BadRecordError(Exception):
    def __init__(self, reason: str, message: str, value: object = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.value = value


def _document(record: Record, problems: Problems, *, as_is: bool) -> Document:
    parts = []
    for value in record.texts:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            continue
        if not isinstance(value, str):
            raise _BadRecordError("text is not a string", "the text is not a string", value)
        if value.strip():
            parts.append(value)
    if not parts:
        raise _BadRecordError("empty text", "the document has no text")
    joined = "\n\n".join(parts)
    meant = joined if as_is else as_meant(joined)
    if meant != joined:
        problems.note("wrong decoding undone")
    text = clean_text(meant)
    if not text.strip():
        raise _BadRecordError("empty text", "the text has nothing but control characters", joined)
    if text is not meant:
        problems.note("control characters replaced")
    doc_id = _given_id(record.doc_id) if record.has_ids else _made_id(record)
    return Document(doc_id, text, _title(record.title, as_is=as_is))


def _made_id(record: Record) -> str:
    # White space would cut the id in two in TREC files; ids that a source gives stay as they are.
    return f"{_SPACE.sub('_', clean_text(record.file))}#{record.row}"


def _given_id(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        raise _BadRecordError("no id", "the document has no id")
    if not isinstance(value, str):
        raise _BadRecordError("bad id", "the id is not a string or a whole number", value)
    value = value.strip()
    if not value:
        raise _BadRecordError("no id", "the document has no id")
    if clean_text(value) != value or "\n" in value or "\t" in value:
        raise _BadRecordError("bad id", "the id has a control character", value)
    return value


def _title(value: object, *, as_is: bool) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    title = value if isinstance(value, str) else str(value)
    return clean_text(title if as_is else as_meant(title)).strip()


class SeenIds:
    """Which ids were there: 64-bit digests, 8 bytes an id.

    Among 100 million ids the chance of a false duplicate is 3 in 10,000. New digests go into a
    small set; full sets become sorted arrays, merged as in a log-structured tree, so that there are about log2(n).
    """

    LIMIT = 1 << 16

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._sorted: list[NDArray[np.uint64]] = []

    def first(self, doc_id: str, file: str, line: int, problems: Problems) -> bool:
        """Whether the document of a record is the first with its id, and so is used.

        Raises:
            InputError: another one has the id, and bad records are fatal.
        """
        if self.add(doc_id):
            problems.used += 1
            return True
        message = "another document has the same id"
        problems.bad("duplicate id", InputError(message, file=file, line=line, value=doc_id))
        return False

    def add(self, doc_id: str) -> bool:
        """Add an id; returns False if it was added before."""
        import numpy as np

        key = int.from_bytes(hashlib.blake2b(doc_id.encode(), digest_size=8).digest(), "little")
        if key in self._recent:
            return False
        probe = np.uint64(key)
        for keys in self._sorted:
            position = int(np.searchsorted(keys, probe))
            if position < len(keys) and keys[position] == probe:
                return False
        self._recent.add(key)
        if len(self._recent) >= self.LIMIT:
            self._settle()
        return True

    def _settle(self) -> None:
        import numpy as np

        keys = np.sort(np.fromiter(self._recent, dtype=np.uint64, count=len(self._recent)))
        self._recent = set()
        while self._sorted and len(self._sorted[-1]) <= len(keys):
            keys = np.sort(np.concatenate([self._sorted.pop(), keys]), kind="stable")
        self._sorted.append(keys)
