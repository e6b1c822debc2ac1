"""The arithmetic of the parser's and the binder's layers: in whole numbers where the processor is quick at those.

The weights are whole numbers with a scale for each column anyway. With AVX-512 VNNI the vectors that meet them are
rounded to whole numbers too, with a scale for each row and 13 bits or more, and their products added up exactly. What
is lost is a hundred times less than by the rounding of the weights, and a product takes half the time; with AMX an
eighth, and the same numbers come out. Elsewhere numpy computes in single precision; the parses are the same but for
near ties. What compiled arithmetic says of a sentence does not depend on the sentences that are read with it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
HIGHEST = 127
"""Of the weights."""
FINE = 2_047
"""Likewise, of weights that are kept in half precision."""
EPSILON = 1e-12
NEEDED = ("avx512f", "avx512bw", "avx512vnni")
TILES = ("amx-tile", "amx-int8")
MOST = 127 * 256
"""Of whole numbers that are two bytes for AMX, the lower one with a sign of its own."""
_ARCH_PRCTL, _REQUEST, _TILE_DATA = 158, 0x1023, 18
"""The numbers of Linux for the call, for asking, and for what is asked for."""


class Dense:
    """A linear layer: rows of shape (rows, width in) become (rows, width out).

    Args:
        weights: whole numbers, `MOST` at most without their sign, of shape (width in, width out).
        scale: of each column.
        bias: of each column.
    """

    def __init__(self, weights: NDArray[np.signedinteger[Any]], scale: Array, bias: Array) -> None:
        depth, width = weights.shape
        self._bias = bias
        self._kernel = products() if _fits(depth, width) else None
        if self._kernel is None:
            self._weights: NDArray[Any] = weights.astype(np.float32) * scale
            return
        self._weights = self._kernel.panels_of(weights)
        self._scale = np.ascontiguousarray(scale)
        # The largest sum that a column can come to has to fit into 32 bits.
        most = int(np.abs(weights.astype(np.int64)).sum(axis=0).max(initial=1))
        self._limit = float(min(np.iinfo(np.int16).max, np.iinfo(np.int32).max // max(most, 1)))

    def __call__(self, h: Array, onto: Array | None = None) -> Array:
        """The rows times the weights, plus the bias; added to `onto` in place, if given, whose rows are contiguous."""
        if self._kernel is None:
            product: Array = h @ self._weights
            product += self._bias
            if onto is None:
                return product
            onto += product
            return onto
        out = np.empty((len(h), len(self._bias)), dtype=np.float32) if onto is None else onto
        columns = self._weights, self._scale, self._bias
        self._kernel.multiply(np.ascontiguousarray(h), self._limit, *columns, out, onto is not None)
        return out


@lru_cache(maxsize=1)
def kernel() -> ModuleType | None:
    """The compiled arithmetic; None on a processor without the instructions, or where numba compiles for another."""
    import numba
    from llvmlite.binding import get_host_cpu_features

    config: Any = numba.config
    elsewhere = config.DISABLE_JIT or config.CPU_NAME or config.CPU_FEATURES
    if elsewhere or not all(get_host_cpu_features().get(name) for name in NEEDED):
        return None
    from qbench.quantities.english.parsers import dense_kernel

    return dense_kernel


@lru_cache(maxsize=1)
def products() -> ModuleType | None:
    """What multiplies whole numbers: the quickest that the processor and the system allow; None for numpy."""
    from llvmlite.binding import get_host_cpu_features

    compiled = kernel()
    if compiled is None or not all(get_host_cpu_features().get(name) for name in TILES) or not _tiles_allowed():
        return compiled
    from qbench.quantities.english.parsers import tile_kernel

    return tile_kernel


def _tiles_allowed() -> bool:
    """Ask Linux for the use of AMX by this process, whose state takes more room than that of all other registers."""
    return sys.platform == "linux" and not ctypes.CDLL(None).syscall(_ARCH_PRCTL, _REQUEST, _TILE_DATA)


def _fits(depth: int, width: int) -> bool:
    """Whether the compiled products take a matrix of this shape."""
    return depth % 32 == 0 and width % 64 == 0


def dense(weights: Mapping[str, NDArray[np.generic]], name: str, times: Array | float = 1.0) -> Dense:
    """The layer whose matrix `packed` wrote as bytes; what it gives is multiplied by `times`."""
    scale, bias = single(weights[name + ".scale"]) * times, single(weights[name + ".bias"]) * times
    return Dense(weights[name].astype(np.int8), scale.astype(np.float32), bias.astype(np.float32))


def fine(matrix: Array, bias: Array | None = None) -> Dense:
    """The layer of a matrix in half precision: its weights are rounded to `FINE` levels on either side.

    Args:
        matrix: shape (width in, width out).
        bias: of each column; None for none.

    Returns:
        A layer that gives columns of noughts beside those of the matrix, up to a multiple of 64.
    """
    width = matrix.shape[1]
    matrix = np.pad(matrix, ((0, 0), (0, -width % 64)))
    most = np.abs(matrix).max(axis=0)
    scale = (np.where(most > 0, most, 1) / FINE).astype(np.float32)
    shift = np.zeros(len(scale), dtype=np.float32)
    if bias is not None:
        shift[:width] = bias
    return Dense(np.rint(matrix / scale).astype(np.int16), scale, shift)


def packed(matrix: Array) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """A matrix in bytes, with a scale for each column."""
    scale = np.maximum(np.abs(matrix).max(axis=0) / HIGHEST, np.finfo(np.float16).tiny).astype(np.float16)
    return np.clip(np.rint(matrix / scale.astype(np.float32)), -HIGHEST, HIGHEST).astype(np.int8), scale


def single(array: NDArray[np.generic]) -> Array:
    """An array in single precision."""
    return array.astype(np.float32)


def normalised(h: Array, norm: Array) -> Array:
    """Each row with mean 0 and variance 1, then scaled and shifted, in place; `norm` is of shape (2, width)."""
    if (compiled := kernel()) is not None:
        compiled.normalised(h, norm, EPSILON)
        return h
    h -= h.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", h, h)[:, None] / np.float32(h.shape[1])
    h /= np.sqrt(variance + np.float32(EPSILON))
    h *= norm[0]
    h += norm[1]
    return h


def gelu(x: Array) -> Array:
    """Each number times the normal distribution function of it, approximated with tanh, in place."""
    if (compiled := kernel()) is not None:
        compiled.gelu(x)
        return x
    inner = x * x
    inner *= np.float32(0.044715)
    inner += np.float32(1.0)
    inner *= x
    inner *= np.float32(np.sqrt(2 / np.pi))
    np.tanh(inner, out=inner)
    inner += np.float32(1.0)
    x *= inner
    x *= np.float32(0.5)
    return x


def pairwise(rows: Array, columns: Array) -> Array:
    """The product of each row of shape (n, width) with each of shape (m, width): shape (n, m)."""
    if kernel() is None:
        made: Array = rows @ columns.T
        return made
    from qbench.quantities.english.parsers import attention_kernel

    out = np.empty((len(rows), len(columns)), dtype=np.float32)
    attention_kernel.pairwise(np.ascontiguousarray(rows), np.ascontiguousarray(columns), out)
    return out


def best_rows(matrices: Array, which: NDArray[np.int64], vectors: Array, count: int) -> NDArray[np.int64]:
    """For each vector, the row of its matrix whose product with it and a one is greatest; the first of equals.

    Args:
        matrices: shape (matrices, at least count * (width + 1)): rows side by side.
        which: shape (vectors,): the matrix of each.
        vectors: shape (vectors, width).
        count: rows of a matrix.
    """
    best = np.empty(len(vectors), dtype=np.int64)
    if kernel() is not None:
        from qbench.quantities.english.parsers import attention_kernel

        attention_kernel.best_rows(matrices, which, np.ascontiguousarray(vectors), count, best)
        return best
    width = vectors.shape[1]
    rows = matrices[:, : count * (width + 1)].reshape(len(matrices), count, width + 1)
    words = np.split(which.argsort(kind="stable"), np.bincount(which).cumsum()[:-1])
    for each, matrix in zip(words, rows, strict=True):
        best[each] = (vectors[each] @ matrix[:, :-1].T + matrix[:, -1]).argmax(axis=1)
    return best
