"""A source in an object store: its files are copied here, and read as any other files.

Readers open a file several times (to hash it, to find its fields, to read it), which over a network would cost more
than the copy. The same files give the same index, wherever they lie.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from qbench.errors import InputError, MissingPackageError


def open_remote(url: str, open_local: Callable[[Path], Any]) -> Any:
    """The source at a URL.

    Args:
        url: of a file, or of a folder of files, as fsspec takes it.
        open_local: opens the copy.

    Returns:
        what `open_local` gives; the copy goes when it is no longer used.

    Raises:
        MissingPackageError: no installed package reads such URLs.
        InputError: nothing is there, or it cannot be read.
    """
    folder = Path(tempfile.mkdtemp(prefix="qbench-source-"))
    try:
        source = open_local(_copied(url, folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(source, shutil.rmtree, folder, ignore_errors=True)
    return source


def files_at(url: str) -> tuple[str, list[tuple[str, str]]]:
    """The name of the file or folder at a URL, and its files: the path of each below it, and its own URL.

    Raises:
        MissingPackageError: no installed package reads such URLs.
        InputError: nothing is there, or it cannot be read.
    """
    with _reached(url) as (store, path):
        files = store.find(path) if store.isdir(path) else [path]
        if not files or not store.exists(files[0]):
            raise InputError("nothing is there", file=url)
        root = PurePosixPath(path) if store.isdir(path) else PurePosixPath(path).parent
        found = [(PurePosixPath(each).relative_to(root).as_posix(), store.unstrip_protocol(each)) for each in files]
        return PurePosixPath(path).name or "source", found


@contextmanager
def opened_at(url: str) -> Iterator[Any]:
    """The bytes of the file at a URL, as a stream that can seek.

    Raises:
        MissingPackageError: no installed package reads such URLs.
        InputError: nothing is there, or it cannot be read.
    """
    with _reached(url) as (store, path), store.open(path, "rb") as stream:
        yield stream


@contextmanager
def _reached(url: str) -> Iterator[tuple[Any, str]]:
    """The file system of a URL, and the path there; what it raises in use becomes an error of the URL."""
    core: Any = import_module("fsspec.core")
    try:
        store, path = core.url_to_fs(url)
        yield store, str(path).rstrip("/")
    except ImportError as fault:
        scheme = urlsplit(url).scheme
        remedy = f"Install it beside qbench; for {scheme}://: {fault}"
        raise MissingPackageError("a package that reads such URLs is not installed", value=url, remedy=remedy) from None
    except ValueError as fault:
        raise InputError(f"no URL that fsspec reads: {fault}", value=url) from None
    except OSError as fault:
        remedy = "Check the URL, and the keys in the environment"
        raise InputError(f"cannot be read: {fault}", file=url, remedy=remedy) from None


def _copied(url: str, folder: Path) -> Path:
    """Copy the file or folder at a URL into a folder; returns the copy, which has its name."""
    with _reached(url) as (store, path):
        name = PurePosixPath(path).name or "source"
        if store.isdir(path):
            for each in store.find(path):
                target = folder / name / PurePosixPath(each).relative_to(PurePosixPath(path))
                target.parent.mkdir(parents=True, exist_ok=True)
                store.get_file(each, str(target))
            (folder / name).mkdir(exist_ok=True)
        else:
            store.get_file(path, str(folder / name))
    return folder / name
