"""Compiling loops with numba. Import it where numba is wanted only: it takes half a second to load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir

Function = TypeVar("Function", bound="Callable[..., Any]")


def cached(function: Function, **options: Any) -> Function:
    """Compile, and keep the result on disk if there is a place to write to."""
    try:
        result: Function = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        result = numba.njit(**options)(function)
    return result


def inlined(function: Function) -> Function:
    """Compile to a part of the loops that call it: a call with many arrays takes longer than what it does."""
    return cached(function, nogil=True, inline="always")


def compiled(function: Function) -> Function:
    """Compile without the interpreter's lock, and keep the result."""
    return cached(function, nogil=True)


def lean(function: Function) -> Function:
    """Compile without numba's counting of references, too, which can take more time than the work.

    Nothing can be allocated then: all arrays come from outside.
    """
    return cached(function, nogil=True, _nrt=False)


def merged(function: Function) -> Function:
    """Compile into whatever calls it: an array is seven arguments, so that calls would cost more than the work."""
    return cached(function, nogil=True, _nrt=False, forceinline=True)


def spread(builder: Any, number: Any, vector: Any) -> Any:
    """In an intrinsic of numba: a vector of that type, of one number."""
    nothing, lane = vector(ir.Undefined), ir.IntType(32)
    noughts = ir.VectorType(lane, vector.count)(None)
    return builder.shuffle_vector(builder.insert_element(nothing, number, lane(0)), nothing, noughts)
