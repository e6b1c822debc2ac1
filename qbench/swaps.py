"""A new folder in the place of an old one: two renames, between which the old one lies beside it, whole."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

LONGEST = 1.0
"""Seconds to wait between the renames of another process: they take microseconds, unless it was killed there."""


def swap(partial: Path, folder: Path) -> None:
    """Put a new folder in the place of one that may be there; hold the writer's lock around it."""
    old = _old(folder)
    if old.exists():
        shutil.rmtree(old)
    if folder.exists():
        folder.rename(old)
    partial.rename(folder)
    if old.exists():
        shutil.rmtree(old)


def recover(folder: Path) -> None:
    """Undo a swap that a kill cut in two; hold the writer's lock around it."""
    old = _old(folder)
    if old.exists() and not folder.exists():
        old.rename(folder)


def await_swap(folder: Path) -> None:
    """Wait where another process is between the renames; readers hold no lock."""
    end = time.monotonic() + LONGEST
    while not folder.exists() and _old(folder).exists() and time.monotonic() < end:
        time.sleep(0.01)


def _old(folder: Path) -> Path:
    return folder.absolute().parent / f".{folder.name}.old"
