"""Arrays that are used again: new memory is cleared by the system page by page, which can take longer than the work."""

from __future__ import annotations

import threading
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
