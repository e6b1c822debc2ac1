"""Opening artefacts: their manifests, and whether every file is as it was written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from qbench.errors import InputError
from qbench.store import Manifest, file_digest, read_manifest

CARD = "README.md"
"""The card of an artefact, which users may edit."""
AUDIT = "audit.json"
"""What an audit of an artefact's labels found; it is added when the artefact is finished, and may be replaced."""


def open_artefact(
    folder: Path, kind: str | None = None, needed: Sequence[str] = (), *, content: bool = False
) -> Manifest:
    """The manifest of a finished artefact whose files all have the size they were written with.

    Args:
        folder: the artefact.
        kind: its kind, as in `Manifest`; None for any.
        needed: names of files that it has to have.
        content: also compare the SHA-256 of every file, which reads it.

    Raises:
        InputError: the folder is missing, unfinished, or of another kind; a file is missing or has changed.
    """
    manifest = read_manifest(folder, kind)
    remedy = f"Make the {manifest.kind} again"
    for name in needed:
        if name not in manifest.files:
            raise InputError(f"a qbench {manifest.kind} without this file", file=folder, value=name, remedy=remedy)
    for name in changed_files(folder, manifest, content=content):
        path = folder / name
        if not path.is_file():
            raise InputError(f"a file of the {manifest.kind} is missing", file=path, remedy=remedy)
        size, written = path.stat().st_size, manifest.files[name]["bytes"]
        value = f"{size} bytes instead of {written}" if size != written else None
        raise InputError("the file is not as it was written", file=path, value=value, remedy=remedy)
    return manifest


def changed_files(folder: Path, manifest: Manifest, *, content: bool = True) -> Iterator[str]:
    """The names of files that are missing or not as the manifest says, but for the card and the audit.

    Args:
        folder: the artefact.
        manifest: of it.
        content: compare each file's SHA-256 (which reads it), and not its size alone.
    """
    for name, written in manifest.files.items():
        path = folder / name
        if name not in (CARD, AUDIT) and (
            not path.is_file()
            or path.stat().st_size != written["bytes"]
            or (content and file_digest(path) != written["sha256"])
        ):
            yield name
