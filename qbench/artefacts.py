"""Opening artefacts: their manifests, and whether every file is as it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from qbench.digests import State, file_state, remembered
from qbench.errors import InputError
from qbench.store import DIGITS, MANIFEST, Manifest, read_manifest

LOOKS = 100
"""Times that an artefact is looked at, at most, while other processes replace it."""
CARD = "README.md"
"""The card of an artefact, which users may edit."""
AUDIT = "audit.json"
"""What an audit of an artefact's labels found; it is added when the artefact is finished, and may be replaced."""


def open_artefact(
    folder: Path, kind: str | None = None, needed: Sequence[str] = (), *, content: bool = False
) -> Manifest:
    """The manifest of a finished artefact whose files are all as they were written, and lie in its folder.

    Every file is compared with its SHA-256. Digests are remembered (`qbench.digests`), so that a file is read once,
    and again when it changes.

    Args:
        folder: the artefact.
        kind: its kind, as in `Manifest`; None for any.
        needed: names of files that it has to have.
        content: read every file, whatever is remembered.

    Raises:
        InputError: the folder is missing, unfinished, or of another kind; a file is missing or has changed, or is a
            link that leads out of the folder.
    """
    looks = 1
    while True:
        seen = _written(folder)
        manifest = read_manifest(folder, kind)
        try:
            _check(folder, manifest, needed, content=content)
        except (InputError, OSError):
            # Another process may have replaced it meanwhile, by one of the same manifest, too.
            if looks == LOOKS or _written(folder) == seen:
                raise
            looks += 1
        else:
            return manifest


def _written(folder: Path) -> State | None:
    """The state of a folder's manifest; None where there is none."""
    with suppress(OSError):
        return file_state(folder / MANIFEST)
    return None


def _check(folder: Path, manifest: Manifest, needed: Sequence[str], *, content: bool) -> None:
    remedy = f"Make the {manifest.kind} again"
    for name in needed:
        if name not in manifest.files:
            raise InputError(f"a qbench {manifest.kind} without this file", file=folder, value=name, remedy=remedy)
    for name in (*manifest.files, MANIFEST):
        refuse_outside(folder, name)
    for name in changed_files(folder, manifest, again=content):
        path = folder / name
        if not path.is_file():
            raise InputError(f"a file of the {manifest.kind} is missing", file=path, remedy=remedy)
        size, written = path.stat().st_size, manifest.files[name]["bytes"]
        value = f"{size} bytes instead of {written}" if size != written else None
        raise InputError("the file is not as it was written", file=path, value=value, remedy=remedy)


def require_entries(folder: Path, manifest: Manifest, part: str, entries: Mapping[str, type]) -> None:
    """Refuse a manifest that lacks what its artefact's readers look up.

    Args:
        folder: the artefact.
        manifest: of it.
        part: "params" or "counts".
        entries: name -> type; of a dict, every value has to be a whole number in "counts".

    Raises:
        InputError: an entry is missing, or of another type.
    """
    for name, kind in entries.items():
        value = getattr(manifest, part).get(name)
        numbers = value.values() if isinstance(value, dict) and part == "counts" else ()
        if not isinstance(value, kind) or not all(isinstance(number, int) for number in numbers):
            raise InputError(
                f"not a manifest of a qbench {manifest.kind}: {name} in {part} is missing, or of another type",
                file=folder / MANIFEST,
                remedy="Make it again, or ask whom it came from",
            )


def refuse_outside(folder: Path, name: str) -> None:
    """Refuse a file of an artefact that is a link to what lies outside of its folder, or lies behind one.

    Raises:
        InputError: it is.
    """
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        remedy = "Put the file itself in its place, if you trust where it leads"
        raise InputError("a link that leads out of the artefact's folder", file=path, remedy=remedy)


def changed_files(folder: Path, manifest: Manifest, *, again: bool = True) -> Iterator[str]:
    """The names of files that are missing or not as the manifest says, but for the card and the audit.

    Args:
        folder: the artefact.
        manifest: of it.
        again: read every file, whatever is remembered of it.
    """
    written = {name: seen for name, seen in manifest.files.items() if name not in (CARD, AUDIT)}
    same = [name for name, seen in written.items() if _size(folder / name) == seen["bytes"]]
    found = remembered(folder, same, again=again)
    for name, seen in written.items():
        if found.get(name, "")[:DIGITS] != seen["sha256"]:
            yield name


@contextmanager
def reading(folder: Path, manifest: Manifest, name: str) -> Iterator[Path]:
    """The path of a file of an opened artefact; hold it around what reads the file.

    Tables are read when they are needed, and another artefact may lie in the folder then.

    Args:
        folder: the artefact.
        manifest: what `open_artefact` gave.
        name: the file.

    Raises:
        InputError: the artefact was replaced, or the file changed, since it was opened.
    """
    try:
        yield folder / name
    except (InputError, OSError):
        refuse_replaced(folder, manifest, name)
        raise
    refuse_replaced(folder, manifest, name)


def refuse_replaced(folder: Path, manifest: Manifest, name: str) -> None:
    """Refuse a file that is not that of the artefact that was opened; see `reading`.

    Raises:
        InputError: it is not.
    """
    try:
        now = read_manifest(folder).files.get(name)
    except InputError:
        now = None
    found = remembered(folder, [name])
    written = manifest.files.get(name)
    if now != written or (now is not None and found.get(name, now["sha256"])[:DIGITS] != now["sha256"]):
        raise InputError(
            "the artefact was replaced while it was read", file=folder / name, remedy="Run the command again"
        )


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None
