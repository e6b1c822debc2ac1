"""A source in an object store: its files are copied here, and read as any other files.

Readers open a file several times (to hash it, to find its fields, to read it), which over a network would cost more
than the copy. The same files give the same index, wherever they lie.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable
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


def _copied(url: str, folder: Path) -> Path:
    """Copy the file or folder at a URL into a folder; returns the copy, which has its name."""
    core: Any = import_module("fsspec.core")
    try:
        store, path = core.url_to_fs(url)
        name = PurePosixPath(str(path).rstrip("/")).name or "source"
        if store.isdir(path):
            found = store.find(path)
            for each in found:
                inner = PurePosixPath(each).relative_to(PurePosixPath(str(path).rstrip("/")))
                target = folder / name / inner
                target.parent.mkdir(parents=True, exist_ok=True)
                store.get_file(each, str(target))
            (folder / name).mkdir(exist_ok=True)
        else:
            store.get_file(path, str(folder / name))
    except ImportError as fault:
        scheme = urlsplit(url).scheme
        remedy = f"Install it beside qbench; for {scheme}://: {fault}"
        raise MissingPackageError("a package that reads such URLs is not installed", value=url, remedy=remedy) from None
    except ValueError as fault:
        raise InputError(f"no URL that fsspec reads: {fault}", value=url) from None
    except OSError as fault:
        remedy = "Check the URL, and the keys in the environment"
        raise InputError(f"cannot be read: {fault}", file=url, remedy=remedy) from None
    return folder / name
