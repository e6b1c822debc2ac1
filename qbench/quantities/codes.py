"""Comparators and changes of many mentions, as small numbers: columns of strings take some twenty times as long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from qbench.quantities.types import MENTION_COMPARATORS

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

COMPARATOR_CODES: Final[Mapping[str, int]] = {name: place for place, name in enumerate(MENTION_COMPARATORS)}
"""How a mention bounds its value -> its place in `MENTION_COMPARATORS`."""

CHANGE_SIGNS: Final[Mapping[str, int]] = {"": 0, "up": 1, "down": -1}

UNKNOWN: Final = 9
"""The code of what is neither: no rule takes it for a bound, a level, a rise or a fall."""


def comparator_codes(names: Iterable[str] | pl.Series) -> NDArray[np.int8]:
    """The codes of n comparators of mentions, shape (n,); `UNKNOWN` for other strings and nulls.

    >>> comparator_codes(["=", "<", "between"])
    array([0, 2, 6], dtype=int8)
    """
    return _coded(names, COMPARATOR_CODES)


def change_signs(names: Iterable[str] | pl.Series) -> NDArray[np.int8]:
    """1 for each rise, -1 for each fall, 0 for each level, `UNKNOWN` for all else; shape (n,).

    >>> change_signs(["", "up", "down"])
    array([ 0,  1, -1], dtype=int8)
    """
    return _coded(names, CHANGE_SIGNS)


def _coded(names: Iterable[str] | pl.Series, codes: Mapping[str, int]) -> NDArray[np.int8]:
    import polars as pl

    if not isinstance(names, pl.Series):
        return np.fromiter((codes.get(name, UNKNOWN) for name in names), np.int8)
    known = names.cast(pl.String).replace_strict(
        list(codes), list(codes.values()), default=UNKNOWN, return_dtype=pl.Int8
    )
    found: NDArray[np.int8] = known.to_numpy()
    return found
