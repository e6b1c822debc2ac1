"""The task of looking through a Parquet file: which of its rows are documents, how long they are, and what is bad."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qbench.corpora import formats
from qbench.corpora.clean import checked
from qbench.corpora.parquet_parts import reading_of
from qbench.corpora.remote import opened_at
from qbench.corpora.streams import Meter, SourceFile
from qbench.corpora.types import Problems, ReadOptions
from qbench.errors import InputError
from qbench.store import file_digest
from qbench.work.tasks import Shard, Task

LAST = ".json"


def scanning(reading: ReadOptions) -> Task:
    """The task, with these options of reading."""
    return Task(__name__, reading.key())


def tools(options: Mapping[str, Any]) -> tuple[ReadOptions]:
    """What `process` needs."""
    return (reading_of(dict(options)),)


def process(payload: str, reading: ReadOptions) -> Shard:
    """What is in a file.

    Args:
        payload: its path or URL, and its name, as JSON.
        reading: how it is read.

    Returns:
        JSON: the file's "sha256" and "bytes", and "found", in order: [row, id, length] of a document, or what
        `Problems` was told: ["bad", reason, parts of the error] or ["note", reason, message].
    """
    ((place, name),) = json.loads(payload)
    found: list[list[Any]] = []
    problems = _Recorded(found)
    with here(place) as path:
        for record in formats.read(SourceFile(path, name, "parquet"), reading, problems, Meter()):
            document = checked(record, problems)
            if document is not None:
                found.append([record.row, document.doc_id, len(document.text)])
        content = {"sha256": file_digest(path), "bytes": path.stat().st_size, "found": found}
    return Shard({LAST: json.dumps(content, separators=(",", ":")).encode()}, len(found))


@contextmanager
def here(place: str) -> Iterator[Path]:
    """A file, or a copy of what lies at a URL, which is read twice."""
    if "://" not in place:
        yield Path(place)
        return
    with TemporaryDirectory(prefix="qbench-source-") as folder:
        path = Path(folder) / "file.parquet"
        with opened_at(place) as stream, path.open("wb") as copy:
            shutil.copyfileobj(stream, copy, 1 << 24)
        yield path


class _Recorded(Problems):
    """Problems that are written down, for the process that knows what is fatal."""

    def __init__(self, found: list[list[Any]]) -> None:
        super().__init__()
        self._found = found

    def bad(self, reason: str, error: InputError) -> None:
        self._found.append(["bad", reason, list(error.__reduce__()[1][1:])])

    def note(self, reason: str, message: str = "") -> None:
        self._found.append(["note", reason, message])
