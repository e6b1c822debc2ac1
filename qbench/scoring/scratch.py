"""Arrays that are used again: new memory is cleared by the system page by page, which can take longer than the work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)

_OWN = threading.local()


def scratch(name: str, size: int, kind: type[Number]) -> NDArray[Number]:
    """An array that holds whatever was left in it, and that the next call of this thread by the same name gives again.

    Args:
        name: of its use, with one kind of numbers.
        size: how many numbers.
        kind: their type.

    Returns:
        shape (size,).
    """
    kept: dict[str, NDArray[Any]] = _OWN.__dict__
    if name not in kept or kept[name].size < size:
        kept[name] = np.empty(size + size // 4, kind)
    return kept[name][:size]


@contextmanager
def zeros(name: str, size: int, kind: type[Number]) -> Iterator[NDArray[Number]]:
    """An array of zeros, for whoever clears the few numbers that he sets: that is quicker than clearing all.

    Args:
        name, size, kind: as for `scratch`, with names of its own.

    Yields:
        shape (size,), zeros, which it has to be again at the end. After an error the next call gets a new one.
    """
    kept: dict[str, NDArray[Any]] = _OWN.__dict__
    array = kept.pop(name, np.empty(0, kind))
    if array.size < size:
        array = np.zeros(size, kind)
    yield array[:size]
    kept[name] = array
