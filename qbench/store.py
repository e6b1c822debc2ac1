"""Artefacts on disk: folders that are either whole or absent.

An artefact is a folder whose `manifest.json` is written last. It is made in a hidden sibling folder
(`.NAME.partial`) and renamed into place, so that a kill, a full disk or an error leaves an
earlier artefact of the same name as it was. The partial folder is kept after a failure: the next
run with the same digest finds in it what was finished.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from pathlib import Path, PureWindowsPath
from typing import Any

from qbench.digests import remembered, sha256
from qbench.errors import InputError, OptionError
from qbench.locks import locked, writer
from qbench.swaps import await_swap, recover, swap

MANIFEST = "manifest.json"
SEAL = "sha256"
"""The entry of a manifest with the digest of all others."""
PLAN = "plan.json"
DIGITS = 16
"""Hexadecimal digits of a SHA-256 in manifests and keys."""


def digest(value: object) -> str:
    """A 16-digit name for anything that JSON can say, independent of the order of keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def file_digest(path: Path) -> str:
    """The first 16 hexadecimal digits of a file's SHA-256, read in blocks."""
    return sha256(path)[:DIGITS]


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it into place if the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files private.
        temporary.chmod(_readable())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


LARGEST = 1 << 28
"""Bytes of the largest file (256 MiB) that is read as a whole; as objects of Python, it takes ten times as much."""


def refuse_large(path: Path) -> None:
    """Refuse a file that is too large to be read as a whole.

    Raises:
        InputError: it is.
        OSError: it cannot be looked at.
    """
    if (size := path.stat().st_size) > LARGEST:
        raise InputError(f"a file of more than {LARGEST >> 20} MiB is not read as a whole", file=path, value=size)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, as UTF-8 with Unix line ends."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: object) -> None:
    """Write JSON atomically, indented, keys in the order given."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_text(path: Path, what: str) -> str:
    """A text file that a user wrote, as UTF-8 with or without a byte order mark.

    Args:
        path: the file.
        what: what the file is, for the errors ("templates").

    Raises:
        InputError: it is missing, a folder, or not UTF-8.
    """
    try:
        refuse_large(path)
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"no such {what} file", file=path) from None
    except IsADirectoryError:
        raise InputError(f"a folder, and a file of {what} is needed", file=path) from None
    except UnicodeDecodeError as fault:
        raise InputError(f"the {what} file is not UTF-8 at byte {fault.start}", file=path) from None


def read_json(path: Path) -> Any:
    """Read a JSON file; a missing or broken one is an `InputError` naming file and line."""
    try:
        refuse_large(path)
        return parse_json(path.read_text(encoding="utf-8"), path)
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except UnicodeDecodeError as fault:
        raise InputError(f"not valid UTF-8 at byte {fault.start}", file=path) from None


def parse_json(
    text: str,
    file: str | Path,
    *,
    line: int | None = None,
    what: str = "JSON",
    pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """What a text says in JSON.

    Args:
        text: the text.
        file: where it comes from, for errors.
        line: its line there, if it is one of many.
        what: what it should be, for errors ("JSON").
        pairs: makes an object of its entries, of which a dict would drop repeated ones.

    Raises:
        InputError: it is no JSON, is too deep, or has a number of too many digits.
    """
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as fault:
        raise InputError(f"not valid {what}: {fault.msg}", file=file, line=line or fault.lineno) from None
    except RecursionError:
        raise InputError(f"not valid {what}: too many brackets in brackets", file=file, line=line) from None
    except ValueError:  # what Python says of it tells how to lift its limit
        raise InputError(f"not valid {what}: a number of too many digits", file=file, line=line) from None


@dataclass(frozen=True)
class Manifest:
    """What an artefact is and what made it.

    Attributes:
        kind: "index", "benchmark", "corpus" or "run".
        digest: names everything that can change its bytes (inputs, parameters, code version).
        params: the parameters that made it.
        counts: what a person wants to know about its size and what was left out.
        files: name -> {"bytes", "sha256"} of each file in it.
    """

    kind: str
    digest: str
    params: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Any] = field(default_factory=dict)
    version: str = ""


def read_manifest(folder: Path, kind: str | None = None) -> Manifest:
    """The manifest of a finished artefact.

    Raises:
        InputError: the folder is missing, unfinished, or an artefact of another kind; or its manifest is not one that
            qbench wrote, or names a file outside of the folder.
    """
    try:
        return _read_manifest(folder, kind)
    except InputError:
        await_swap(folder)
        return _read_manifest(folder, kind)


def _read_manifest(folder: Path, kind: str | None) -> Manifest:
    if not folder.exists():
        if (maker := writer(folder)) is not None:
            raise InputError(f"not there yet: {maker} is making it", file=folder, remedy="Wait for it")
        raise InputError("no such folder", file=folder, remedy=nearest(folder))
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(
            "not a finished qbench artefact: it has no manifest.json",
            file=folder,
            remedy=f"Make it with `qbench {_MAKERS.get(kind or '', 'build-index')}`",
        )
    manifest = _manifest(read_json(path), path)
    if kind is not None and manifest.kind != kind:
        raise InputError(
            f"this is a qbench {manifest.kind}, and {_named(kind)} needed",
            file=folder,
            remedy=f"Make one with `qbench {_MAKERS[kind]}`" if kind in _MAKERS else None,
        )
    return manifest


def write_manifest(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the manifest of an artefact, with the digest of what else it says, whatever the order of its entries."""
    said = json.loads(json.dumps({name: content[name] for name in content if name != SEAL}))
    write_json(folder / MANIFEST, {**content, SEAL: digest(said)})


def nearest(path: Path) -> str | None:
    """Which path may have been meant by one that does not exist: "Did you mean data/index?"; None for none."""
    try:
        names = [other.name for other in path.absolute().parent.iterdir() if not other.name.startswith(".")]
    except OSError:
        return None
    near = get_close_matches(path.name, names[:10_000], n=1)
    return f"Did you mean {path.with_name(near[0])}?" if near else None


_ENTRIES: Mapping[str, type[str] | type[dict[str, Any]]] = {
    "kind": str,
    "digest": str,
    "params": dict,
    "counts": dict,
    "files": dict,
    "version": str,
}


def _manifest(data: Any, path: Path) -> Manifest:
    """A manifest that somebody else may have written: no name in it leads out of its folder."""
    remedy = "Make the artefact again, or ask whom it came from"
    if not isinstance(data, dict):
        raise InputError("not a qbench manifest: not a JSON object", file=path)
    data = dict(data)
    if SEAL in data and not _sealed(data.pop(SEAL), data):  # older manifests have none
        raise InputError("the manifest is not as it was written", file=path, remedy=remedy)
    for name, kind in _ENTRIES.items():
        if not isinstance(data.get(name, kind()), kind) or (name in ("kind", "digest") and not data.get(name)):
            raise InputError(f"not a qbench manifest: {name} is missing, or of another type", file=path, remedy=remedy)
    if unknown := sorted(data.keys() - _ENTRIES.keys()):
        raise InputError("not a qbench manifest: unknown entry", file=path, value=unknown[0], remedy=remedy)
    for name, seen in data.get("files", {}).items():
        if not is_inner(name):
            message = "the manifest names a file outside of the artefact's folder"
            raise InputError(message, file=path, value=name, remedy=remedy)
        size, sha = (seen.get("bytes"), seen.get("sha256")) if isinstance(seen, dict) else (None, None)
        if not isinstance(size, int) or isinstance(size, bool) or not isinstance(sha, str):
            message = "not a qbench manifest: a file needs bytes and sha256"
            raise InputError(message, file=path, value=name, remedy=remedy)
    return Manifest(**data)


def _sealed(seal: object, said: Mapping[str, Any]) -> bool:
    try:
        return seal == digest(said)
    except ValueError:  # what no manifest of ours says: NaN, half of a character
        return False


def is_inner(name: str) -> bool:
    """Whether a name, of the form that manifests use ("model/weights"), is that of a file in its folder or below it.

    >>> [is_inner(name) for name in ("table.parquet", "model/x", "../x", "/x", "a/../../x", ".lock")]
    [True, True, False, False, False, False]
    """
    return (
        not any(part in ("", ".", "..") for part in name.split("/"))
        and not name.startswith(".")
        and "\\" not in name
        and name.isprintable()
        and not PureWindowsPath(name).drive
    )


_MAKERS = {
    "index": "build-index",
    "benchmark": "gen-queries",
    "corpus": "synth",
    "run": "leaderboard",
    "descriptions": "describe",
    "pairs": "mine-paraphrases",
    "test set": "test-set make",
    "sheet": "annotate export",
    "audit": "benchmark audit",
    "publication": "publish",
    "description-parser": "train description-parser",
    "extractor": "train extractor",
}


class Draft:
    """An artefact being made. Write files into `folder`; `counts` goes into the manifest.

    `version` is that of the qbench that made it, where it is not this one.
    """

    def __init__(self, folder: Path, kind: str, key: str, params: Mapping[str, Any]) -> None:
        self.folder = folder
        self.kind = kind
        self.key = key
        self.params = dict(params)
        self.counts: dict[str, Any] = {}
        self.version = ""

    def seal(self) -> None:
        """Write the manifest; scratch files and folders (names starting with a dot) are removed first."""
        from qbench import __version__

        for path in self.folder.iterdir():
            if path.name.startswith("."):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        (self.folder / PLAN).unlink(missing_ok=True)
        paths = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        for path in paths:
            # Some libraries write private files (safetensors does).
            path.chmod(_readable())
        files = {
            path.relative_to(self.folder).as_posix(): {"bytes": path.stat().st_size, "sha256": file_digest(path)}
            for path in paths
        }
        write_manifest(
            self.folder,
            {
                "kind": self.kind,
                "digest": self.key,
                "params": self.params,
                "counts": self.counts,
                "files": files,
                "version": self.version or __version__,
            },
        )


@contextmanager
def unfinished(folder: Path, kind: str, key: str) -> Iterator[bool]:
    """Hold the writer's lock of an artefact that is to be made: True; or False, where it is there already.

    Where another process is making it, this waits, and gives False if the artefact is there then.

    Raises:
        BusyError: the other process takes longer than the user waits (`qbench.locks`).
    """
    if finished(folder, kind, key):
        yield False
        return
    with locked(folder):
        recover(folder)
        yield not finished(folder, kind, key)


@contextmanager
def drafting(
    folder: Path, kind: str, key: str, params: Mapping[str, Any], *, overwrite: bool = False
) -> Iterator[Draft | None]:
    """Make an artefact: locked while it is made, resumed if a draft of the same key was left, renamed when whole.

    Gives None where the artefact is there already, or is there after another process, which was making it, has ended.

    Args:
        folder: where the artefact will be.
        kind: its kind, as in `Manifest`.
        key: its digest; a draft with another key is thrown away.
        params: for the manifest.
        overwrite: replace an artefact of the same kind that was made from something else.

    Raises:
        OptionError: `folder` holds something else, and `overwrite` is off (or it is no artefact at all).
        BusyError: another process is writing there for longer than the user waits.
    """
    folder = folder.absolute()
    with unfinished(folder, kind, key) as wanted:
        if not wanted:
            yield None
            return
        refuse_foreign(folder, kind, overwrite or _made_as(folder, key))
        partial = folder.parent / f".{folder.name}.partial"
        plan = {"kind": kind, "digest": key}
        if partial.exists() and _plan_of(partial) != plan:
            shutil.rmtree(partial)
        partial.mkdir(parents=True, exist_ok=True)
        write_json(partial / PLAN, plan)
        draft = Draft(partial, kind, key, params)
        yield draft
        draft.seal()
        swap(partial, folder)


def restate(folder: Path, kind: str, key: str, params: Mapping[str, Any]) -> None:
    """Give a finished artefact other parameters and their key, where its files are what those would make too.

    Raises:
        BusyError: another process is writing there.
    """
    folder = folder.absolute()
    with locked(folder):
        manifest = read_manifest(folder, kind)
        write_manifest(folder, {**asdict(manifest), "digest": key, "params": dict(params)})


def finished(folder: Path, kind: str, key: str) -> bool:
    """Whether an artefact of this kind and key is already there, whole."""
    if not (folder / MANIFEST).is_file():
        return False
    try:
        manifest = read_manifest(folder)
        return manifest.kind == kind and manifest.digest == key and _whole(folder, manifest)
    except FileNotFoundError:  # another process is replacing it
        return False


def _named(kind: str) -> str:
    """A kind in a sentence: "an index is", "pairs are"."""
    if kind in ("pairs", "descriptions"):
        return f"{kind} are"
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} is"


def _whole(folder: Path, manifest: Manifest) -> bool:
    """Whether every file is as it was written: what was cut short or damaged is made again."""
    sizes = {name: int(seen["bytes"]) for name, seen in manifest.files.items()}
    if not all((folder / name).is_file() and (folder / name).stat().st_size == size for name, size in sizes.items()):
        return False
    found = remembered(folder, sizes)
    return all(found.get(name, "")[:DIGITS] == seen["sha256"] for name, seen in manifest.files.items())


def _made_as(folder: Path, key: str) -> bool:
    """Whether an artefact of this key is there: then it is damaged, or it would not be made again."""
    return (folder / MANIFEST).is_file() and read_manifest(folder).digest == key


def refuse_foreign(folder: Path, kind: str, overwrite: bool) -> None:
    """Refuse to write over what is no artefact of this kind; long work asks before it starts.

    Raises:
        OptionError: the folder holds something else, or another artefact and `overwrite` is off.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OptionError("the output is a file, and a folder is needed", file=folder)
    if not any(folder.iterdir()):
        return
    if not (folder / MANIFEST).is_file():
        raise OptionError(
            "the output folder holds files that qbench did not make", file=folder, remedy="Choose a new or empty folder"
        )
    if read_manifest(folder).kind != kind:
        raise OptionError(
            f"the output folder holds a qbench {read_manifest(folder).kind}",
            file=folder,
            remedy="Choose another folder",
        )
    if not overwrite:
        raise OptionError(
            f"the output folder holds {_named(kind).rpartition(' ')[0]} made from other input or with other options",
            file=folder,
            remedy="Choose another folder, or replace it with --overwrite",
        )


def _plan_of(partial: Path) -> Any:
    try:
        return read_json(partial / PLAN)
    except InputError:
        return None


def _readable() -> int:
    """The mode of an artefact's files: as readable as any file of the user's."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
