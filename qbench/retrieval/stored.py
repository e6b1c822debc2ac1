"""Indexes on disk: arrays in `.npy` files that are mapped into memory, names in JSON or Parquet."""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.keys import key
from qbench.store import drafting, read_json, read_manifest, write_json

SECONDS = "seconds.json"


@dataclass(frozen=True)
class Stored:
    """An index on disk.

    Attributes:
        folder: its files; the folder's name is its key.
        seconds: time to build it, then or now.
        size: bytes of its files.
    """

    folder: Path
    seconds: float
    size: int


def stored(
    root: Path,
    kind: str,
    params: Mapping[str, Any],
    make: Callable[[Path], None],
    prepare: Callable[[], object] = lambda: None,
    needs: Callable[[], Stored] | None = None,
) -> Stored:
    """The index that `params` describe, built if it is not there yet.

    Args:
        root: the folder that holds a folder per digest.
        kind: what it is: a step of `qbench.keys`.
        params: everything that can change its bytes.
        make: writes its files into a folder, which holds what an interrupted run left.
        prepare: gets what `make` needs and another cost counts; called before it, and not timed.
        needs: gives another index that `make` reads; called before it. The seconds to build that one count here, too.

    Raises:
        BusyError: another process is building it.
    """
    name = key(kind, **params)
    folder = root / name
    with drafting(folder, kind, name, params, overwrite=True) as draft:
        if draft is not None:
            prepare()
            before = needs().seconds if needs else 0.0
            start = time.perf_counter()
            make(draft.folder)
            write_json(draft.folder / SECONDS, {"seconds": before + time.perf_counter() - start})
    files = read_manifest(folder, kind).files
    size = sum(int(seen["bytes"]) for name, seen in files.items() if name != SECONDS)
    return Stored(folder, float(read_json(folder / SECONDS)["seconds"]), size)


def save_arrays(folder: Path, arrays: Mapping[str, NDArray[Any] | np.generic]) -> None:
    """Write each array as `NAME.npy`."""
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)


def loaded(folder: Path, name: str) -> np.ndarray[Any, Any]:
    """An array that `save_arrays` wrote, in memory: for what is read here and there, where each page costs time."""
    array: np.ndarray[Any, Any] = np.load(folder / f"{name}.npy", allow_pickle=False)
    return array


AROUND = 1 << 17
"""Bytes that Linux reads by default where a page of a mapped file is not in memory (`read_ahead_kb`)."""


@contextmanager
def read_alone(arrays: Iterable[NDArray[Any]]) -> Iterator[None]:
    """While this lasts, pages of mapped arrays are read from disk alone, and not what lies around them.

    Where memory holds a part of an array, what nobody asks for pushes out what others need. It is advice to the kernel,
    which changes no result.

    Args:
        arrays: of `mapped`, or any others.
    """
    maps = [base for base in map(_mapping, arrays) if base is not None] if hasattr(mmap, "MADV_RANDOM") else []
    with suppress(OSError):
        for one in maps:
            one.madvise(mmap.MADV_RANDOM)
    try:
        yield
    finally:
        with suppress(OSError):
            for one in maps:
                one.madvise(mmap.MADV_NORMAL)


def _mapping(array: NDArray[Any]) -> mmap.mmap | None:
    """The mapped file that an array is a view of."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def mapped(folder: Path, name: str) -> np.ndarray[Any, Any]:
    """An array that `save_arrays` wrote, read from disk where it is touched."""
    # As a plain array: slices of numpy's memmap class cost microseconds each.
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
