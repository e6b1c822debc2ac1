"""A source by its name: a file, a folder, a `datasets` folder, "hf:...", "irds:...", or a URL of an object store."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Protocol

from qbench.artefacts import open_artefact
from qbench.corpora.clean import documents
from qbench.corpora.formats import SUFFIXES, kind_of, read
from qbench.corpora.given import QUANTITIES, with_quantities
from qbench.corpora.streams import Meter, SourceFile
from qbench.corpora.types import Document, Problems, ReadOptions, Record
from qbench.errors import InputError, OptionError
from qbench.store import MANIFEST, file_digest, nearest, read_manifest

KNOWN = ", ".join(SUFFIXES)


class Source(Protocol):
    """Where documents come from.

    Attributes:
        name: for people and for ids; no path.
        meter: how far the reader is.
        licence: what the source says of its licence; "" where it says nothing.
    """

    name: str
    meter: Meter
    licence: str

    def fingerprint(self) -> object:
        """What JSON can say and digests can hold: equal if and only if the content is equal."""
        ...

    def records(self, options: ReadOptions, problems: Problems) -> Iterator[Record]:
        """All records, always in the same order."""
        ...


class FileSource:
    """One or more files; `ignored` counts those of a folder whose format is not known."""

    def __init__(
        self,
        name: str,
        files: list[SourceFile],
        ignored: int = 0,
        quantities: Path | None = None,
        licence: str = "",
    ) -> None:
        self.name = name
        self.licence = licence
        self.files = files
        self.ignored = ignored
        self.quantities = quantities
        self.meter = Meter(total=sum(file.path.stat().st_size for file in files))

    def fingerprint(self) -> object:
        """Name and SHA-256 of each file."""
        tables = [] if self.quantities is None else [self.quantities]
        files = [(file.name, file.path) for file in self.files] + [(table.name, table) for table in tables]
        return [[name, _digest(path)] for name, path in files]

    def records(self, options: ReadOptions, problems: Problems) -> Iterator[Record]:
        """The records of all files, in the order of their names."""
        self.meter.done = 0
        for file in self.files:
            yield from read(file, options, problems, self.meter)


def open_source(source: str | Path, *, given: bool = False) -> Source:
    """Find out what a source is.

    Args:
        source: a file, a folder of files, a `datasets` folder, a corpus that `qbench synth` made,
            "hf:NAME[:CONFIG][:SPLIT]", "irds:ID", or a URL of a file or folder ("s3://bucket/shards") that a package of
            fsspec reads.
        given: the quantities that came with the corpus will be used.

    Raises:
        InputError: nothing is there, or it is no corpus.
        OptionError: `given`, and the corpus has no quantities of its own.
        MissingPackageError: the source needs a package that is not installed.
    """
    opened = _open(source)
    if given and getattr(opened, "quantities", None) is None:
        raise OptionError(
            "this corpus has no quantities of its own",
            value=str(source),
            remedy="Leave --extractor out, or give a folder that `qbench synth` made",
        )
    return opened


def read_documents(
    source: Source, options: ReadOptions, problems: Problems, *, given: bool = False
) -> Generator[Document]:
    """The documents of a source, checked, with unique ids.

    Raises:
        InputError: a record is bad, and bad records are fatal; or nothing in the source is usable.
    """
    stream = documents(source.records(options, problems), problems, as_is=given)
    if given and isinstance(source, FileSource) and source.quantities is not None:
        stream = with_quantities(stream, source.quantities)
    yield from stream
    refuse_unused(source, problems)


def refuse_unused(source: Source, problems: Problems) -> None:
    """Refuse a source that has been read, and of which nothing was used.

    Raises:
        InputError: that is so.
    """
    if not problems.used:
        raise InputError(
            "no usable document in this source" if problems.total else "the source is empty",
            file=source.name,
            remedy="; ".join(problems.examples[:3]) or None,
        )


def _open(source: str | Path) -> Source:
    if isinstance(source, str) and not source.removeprefix("hf:").removeprefix("irds:").strip():
        raise OptionError("the source has no name", value=source, remedy="Give a file, a folder, hf:NAME or irds:ID")
    if isinstance(source, str) and source.startswith("hf:"):
        from qbench.corpora.packages import open_hub

        return open_hub(source.removeprefix("hf:"))
    if isinstance(source, str) and source.startswith("irds:"):
        from qbench.corpora.packages import open_ir_datasets

        return open_ir_datasets(source.removeprefix("irds:"))
    if isinstance(source, str) and "://" in source:
        from qbench.corpora.remote import open_remote

        opened: Source = open_remote(source, _open)
        return opened
    path = Path(source)
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise InputError("no such file or folder", file=path, remedy=nearest(path))
    kind = kind_of(path)
    if kind is None:
        raise InputError(
            "not a format that qbench reads", file=path, remedy=f"Known: {KNOWN}, and .gz or .zst of these"
        )
    return FileSource(path.name, [SourceFile(path, path.name, kind)])


def _folder(folder: Path) -> Source:
    from qbench.corpora.packages import is_datasets_folder, open_datasets_folder

    if is_datasets_folder(folder):
        return open_datasets_folder(folder)
    name = folder.resolve().name
    if _is_artefact(folder):
        manifest = open_artefact(folder)
        if manifest.kind != "corpus":
            raise InputError(f"this is a qbench {manifest.kind}, and a corpus is needed", file=folder)
        corpus = folder / "corpus.jsonl"
        files = [SourceFile(corpus, corpus.name, "json")]
        licence = str(manifest.params.get("licence") or "")
        return FileSource(name, files, quantities=folder / QUANTITIES, licence=licence)
    for corpus in (folder / "corpus.jsonl", folder / "corpus.jsonl.gz"):
        if corpus.is_file() and (folder / "queries.jsonl").is_file():  # BEIR: its queries are no documents
            return FileSource(name, [SourceFile(corpus, corpus.name, "json")])
    readable, ignored = [], 0
    for path in _walk(folder):
        kind = kind_of(path)
        if kind is None:
            ignored += 1
        else:
            readable.append(SourceFile(path, path.relative_to(folder).as_posix(), kind))
    if not readable:
        message = "no file in this folder has a known format" if ignored else "the folder is empty"
        raise InputError(message, file=folder, remedy=f"Known: {KNOWN}, and .gz or .zst of these")
    return FileSource(name, readable, ignored)


def _walk(folder: Path) -> Iterator[Path]:
    """Files below a folder, sorted by path; hidden ones and qbench's own artefacts (an output below it) left out."""

    def refuse(fault: OSError) -> None:
        raise InputError(f"cannot be read: {fault.strerror}", file=fault.filename)

    paths = []
    for root, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".") and not _is_artefact(Path(root, name))]
        paths += [Path(root, name) for name in names if not name.startswith(".")]
    return iter(sorted(paths, key=lambda path: path.relative_to(folder).as_posix()))


def _is_artefact(folder: Path) -> bool:
    if not (folder / MANIFEST).is_file():
        return False
    try:
        read_manifest(folder)
    except InputError:  # somebody else's manifest.json
        return False
    return True


def _digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError:  # the reader will meet it too, and count it
        return "unreadable"
