"""Vectors that cannot be compared: which text has one, and which document that text is of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike

from qbench.errors import InputError


class NotFiniteError(InputError):
    """A model gave a text a vector with NaN or infinity in it.

    Attributes:
        position: of the text among those that were encoded together.
    """

    position: int = 0


def check_finite(finite: ArrayLike, texts: Sequence[str]) -> None:
    """Refuse vectors that cannot be compared.

    Args:
        finite: shape (n,), whether all numbers of a text's vector, or vectors, are finite.
        texts: the n texts.

    Raises:
        NotFiniteError: one has NaN or infinity in it; names its text.
    """
    broken = np.flatnonzero(~np.asarray(finite, dtype=np.bool_))
    if broken.size:
        position = int(broken[0])
        fault = NotFiniteError("the model gives this text a vector that is not finite", value=texts[position])
        fault.position = position
        raise fault


@contextmanager
def naming(texts: Sequence[str], start: int, named: Callable[[int], object]) -> Iterator[None]:
    """Context of encoding documents: where a vector is not finite, the error names the document too.

    Args:
        texts: those that are encoded together.
        start: position of the first of them among all texts.
        named: from the position of a text among all to the id of its document.

    Raises:
        InputError: a vector is not finite.
    """
    try:
        yield
    except NotFiniteError as fault:
        raise InputError(
            f"the model gives document {named(start + fault.position)} a vector that is not finite",
            value=texts[fault.position],
            remedy="Its weights may be damaged; try another checkpoint, or leave the document out",
        ) from None
