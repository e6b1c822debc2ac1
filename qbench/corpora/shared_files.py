"""Parquet files that workers read themselves, from paths or URLs that all of them reach."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from qbench.corpora import formats
from qbench.corpora.clean import SeenIds
from qbench.corpora.formats import kind_of
from qbench.corpora.parquet_parts import Row
from qbench.corpora.parquet_scan import LAST, here, scanning
from qbench.corpora.remote import files_at
from qbench.corpora.source import FileSource, open_source
from qbench.corpora.streams import Meter, SourceFile
from qbench.corpora.types import Problems, ReadOptions, Record
from qbench.errors import InputError, OptionError, rebuilt
from qbench.progress import Progress
from qbench.store import read_json
from qbench.work.shards import make_shards
from qbench.work.tasks import Chunk, Engine, payload_of


class SharedFiles:
    """A file or folder of Parquet of which this process reads only what workers have found in it.

    Args:
        name: for people.
        files: name and place (path or URL) of each file, in order.
        ignored: number of files of no known format.
    """

    licence = ""

    def __init__(self, name: str, files: list[tuple[str, str]], ignored: int) -> None:
        self.name = name
        self.files = files
        self.ignored = ignored
        self.meter = Meter()
        self._scratch = Path(tempfile.mkdtemp(prefix="qbench-scan-"))
        weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)
        self._scans: list[Path] = []

    def scan(self, reading: ReadOptions, engine: Engine, progress: Progress) -> None:
        """Have every file looked through, once, by a worker.

        Raises:
            InputError: a file cannot be reached.
        """
        done = 0

        def report(chunk: Chunk, _: object) -> None:
            nonlocal done
            done += chunk.items
            progress(done, len(self.files), "files looked through")

        payloads = (payload_of([[place, name]]) for name, place in self.files)
        chunks = (Chunk(name, 1, payload) for payload, name in payloads)
        names = make_shards(scanning(reading), chunks, self._scratch, last=LAST, engine=engine, report=report)
        self._scans = [self._scratch / f"{name}{LAST}" for name in names]
        self.meter.total = sum(size for _, size in self._heads)

    def fingerprint(self) -> object:
        """Name and SHA-256 of each file, as of a folder that is read here."""
        return [[name, sha256] for (name, _), (sha256, _) in zip(self.files, self._heads, strict=True)]

    @cached_property
    def _heads(self) -> list[tuple[str, int]]:
        """SHA-256 and bytes of each file."""
        scans = map(read_json, self._scans)
        return [(scan["sha256"], scan["bytes"]) for scan in scans]

    def records(self, options: ReadOptions, problems: Problems) -> Iterator[Record]:
        """The records of all files, read here, for a look at the first ones."""
        for name, place in self.files:
            with here(place) as path:
                yield from formats.read(SourceFile(path, name, "parquet"), options, problems, self.meter)

    def rows(self, problems: Problems) -> Iterator[tuple[int, Row]]:
        """Length in characters and place of each document, in order, without those that `documents` would leave out.

        Raises:
            InputError: a record is bad, and bad records are fatal (see `Problems`).
        """
        seen = SeenIds()
        self.meter.done = 0
        for (name, place), scan, (sha256, size) in zip(self.files, self._scans, self._heads, strict=True):
            for event in read_json(scan)["found"]:
                if isinstance(event[0], int):
                    row, doc_id, length = event
                    if seen.first(doc_id, name, row, problems):
                        yield length, Row(place, name, sha256, row)
                else:
                    _tell(problems, *event)
            self.meter.done += size


def _tell(problems: Problems, kind: str, reason: str, what: Any) -> None:
    if kind == "note":
        problems.note(reason, what)
        return
    error = rebuilt(InputError, *what)
    if isinstance(error, InputError):
        problems.bad(reason, error)


def open_shared(source: str | Path) -> SharedFiles:
    """A file or folder of Parquet, or a URL of one, whose content workers will read.

    Raises:
        InputError: nothing is there, or it cannot be read.
        OptionError: it is something else than Parquet.
        MissingPackageError: no installed package reads such URLs.
    """
    remote = isinstance(source, str) and "://" in source
    name, files, ignored = _at(str(source)) if remote else _local(source)
    if not files or any(kind_of(Path(each)) != "parquet" for each, _ in files):
        remedy = "Leave --workers-read out, or convert the corpus to Parquet"
        raise OptionError("workers read Parquet files only", value=str(source), remedy=remedy)
    return SharedFiles(name, files, ignored)


def _local(source: str | Path) -> tuple[str, list[tuple[str, str]], int]:
    opened = open_source(source)
    if not isinstance(opened, FileSource) or opened.quantities is not None:
        return "", [], 0
    return opened.name, [(file.name, str(file.path.absolute())) for file in opened.files], opened.ignored


def _at(url: str) -> tuple[str, list[tuple[str, str]], int]:
    name, found = files_at(url)
    visible = [each for each in found if not any(part.startswith(".") for part in PurePosixPath(each[0]).parts)]
    known = sorted(each for each in visible if kind_of(Path(each[0])) is not None)
    return name, known, len(visible) - len(known)
