"""Random generators that depend on what they are for, never on when they are called."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np

Item = TypeVar("Item")


def generator(seed: int, step: str, item: str = "") -> np.random.Generator:
    """The generator of one item of one step.

    The same (seed, step, item) gives the same numbers whatever the number of workers, the order
    of the input or PYTHONHASHSEED.
    """
    import numpy as np

    return np.random.default_rng(int.from_bytes(_digest(seed, step, item)[:16], "little"))


def shuffled(items: Iterable[Item], seed: int, step: str, name: Callable[[Item], str]) -> list[Item]:
    """Items in random order: a place depends on an item's own name, so that others that come or go move none.

    Args:
        items: any.
        seed, step: what the order depends on.
        name: of an item; items of one name stay as they come.

    >>> shuffled("abcdef", 13, "letters", str)
    ['f', 'e', 'c', 'd', 'a', 'b']
    >>> shuffled("abdef", 13, "letters", str)
    ['f', 'e', 'd', 'a', 'b']
    """
    return sorted(items, key=lambda item: _digest(seed, step, name(item)))


def _digest(seed: int, step: str, item: str) -> bytes:
    return hashlib.sha256(f"{seed}\x1f{step}\x1f{item}".encode()).digest()
