"""The SHA-256 of files, remembered: a file whose inode, size and times are the same is not read again.

What is remembered lies in the user's cache folder (`QBENCH_CACHE`, else `XDG_CACHE_HOME/qbench`, else
`~/.cache/qbench`), never in an artefact, which a stranger may have made. It may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

FRESH = 2_000_000_000
"""Nanoseconds after a change in which a digest is not remembered: another change may leave the same times."""

MOST = 2_000
"""Folders that are remembered; then those that were not opened for longest are forgotten."""

State = list[int]
"""Device, inode, size and the times of the last changes of content and of inode, in nanoseconds."""


def sha256(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal digits, read in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remembered(folder: Path, names: Iterable[str], *, again: bool = False) -> dict[str, str]:
    """The SHA-256 of files of a folder, by their names in it; those that are no files are left out.

    A file is read once, and again when its device, inode, size or times have changed.

    Args:
        folder: the folder.
        names: paths in it.
        again: read every file, whatever is remembered.
    """
    place = _place(folder)
    known = _known(place)
    found: dict[str, tuple[State, str]] = {}
    for name in names:
        path = folder / name
        if not path.is_file():
            continue
        with suppress(FileNotFoundError):  # another process is replacing the folder
            state = file_state(path)
            before = known.get(name)
            same = before is not None and before[0] == state and not again
            found[name] = before if before is not None and same else (state, sha256(path))
    if place is not None and found != {name: known.get(name) for name in found}:
        _remember(place, known | found)
    return {name: digest for name, (_, digest) in found.items()}


def file_state(path: Path) -> State:
    """What tells a file from the one that replaces it, without reading it.

    Raises:
        OSError: there is none.
    """
    seen = path.stat()
    return [seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns]


def _place(folder: Path) -> Path | None:
    """The file for what is known of a folder; None where there is no place for it."""
    given = os.environ.get("QBENCH_CACHE")
    try:
        cache = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qbench"
    except RuntimeError:  # nobody's home
        return None
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return cache / "digests" / f"{name}.json"


def _known(place: Path | None) -> dict[str, tuple[State, str]]:
    if place is None:
        return {}
    try:
        data = json.loads(place.read_text(encoding="utf-8"))
        return {str(name): (list(map(int, state)), str(digest)) for name, (state, digest) in data.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}  # not there, or not ours: then the files are read


def _remember(place: Path, known: dict[str, tuple[State, str]]) -> None:
    settled = time.time_ns() - FRESH
    kept = {name: (state, digest) for name, (state, digest) in known.items() if max(state[3:]) < settled}
    if not kept:
        return
    with suppress(OSError):  # a full or protected disk costs time, and nothing else
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(kept, stream)
            Path(temporary).replace(place)
        finally:
            Path(temporary).unlink(missing_ok=True)
        _forget(place.parent)


def _forget(cache: Path) -> None:
    """Drop the files of the folders that were not opened for longest."""
    files = list(cache.glob("*.json"))
    if len(files) > MOST:
        for path in sorted(files, key=lambda path: path.stat().st_mtime)[: MOST // 2]:
            path.unlink(missing_ok=True)
