"""Attention and the choice of relations, compiled. Import it inside functions only: numba takes half a second to load.

For processors with vectors of 16 numbers (AVX-512). A sequence's result does not depend on what is read with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from qbench.compiling import spread
from qbench.quantities.english.parsers.dense_kernel import (
    FLOAT_ONE,
    compiled,
    dot,
    exponential,
    sum_of,
    written_as,
)

cgutils: Any = _cgutils  # not annotated

ROWS, VECTORS, LANES = 6, 2, 16
"""Rows, and vectors of 16 columns, whose sums stay in registers while they grow."""
COLUMNS = VECTORS * LANES
_INT, _FLOAT = ir.IntType(64), ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)


def _multiply(
    typing: Any,
    a: Any, a_first: Any, a_step: Any, rows: Any,
    b: Any, b_first: Any, b_step: Any, depth: Any,
    out: Any, out_first: Any, out_step: Any,
) -> Any:  # fmt: skip
    """Write the products of `ROWS` rows of a with `COLUMNS` columns of b.

    numba has no vectors, so this says itself which instructions there are to be.

    Args:
        typing: numba's.
        a, a_first, a_step: shape (n,), float32; where the first row begins, and how far the next one is from it.
        rows: how many rows there are; where they are fewer than `ROWS`, the last is read again.
        b, b_first, b_step: likewise.
        depth: numbers of a row of a, and rows of b.
        out, out_first, out_step: likewise, written.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        _, a_first, a_step, rows, _, b_first, b_step, depth, _, out_first, out_step = values

        def data(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, values[k]).data

        def at(base: Any, offset: Any) -> Any:
            return builder.gep(base, [offset], source_etype=_FLOAT)

        def row_of(r: int) -> Any:
            last = builder.sub(rows, _INT(1))
            own = builder.select(builder.icmp_signed("<", last, _INT(r)), last, _INT(r))
            return at(data(0), builder.add(a_first, builder.mul(own, a_step)))

        starts = [row_of(r) for r in range(ROWS)]
        columns, target = at(data(4), b_first), at(data(8), out_first)
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        fused = cgutils.get_or_insert_function(builder.module, kind, "llvm.fma.v16f32")
        # Variables on the stack: the compiler moves them into registers.
        block = [(r, v) for r in range(ROWS) for v in range(VECTORS)]
        totals = {where: cgutils.alloca_once(builder, _VECTOR) for where in block}
        for total in totals.values():
            builder.store(_VECTOR(None), total)
        with cgutils.for_range(builder, depth) as loop:
            beside = at(columns, builder.mul(loop.index, b_step))
            factors = [builder.load(at(beside, _INT(LANES * v)), typ=_VECTOR, align=4) for v in range(VECTORS)]
            inputs = [spread(builder, builder.load(at(row, loop.index), typ=_FLOAT), _VECTOR) for row in starts]
            for (r, v), total in totals.items():
                more = builder.call(fused, [inputs[r], factors[v], builder.load(total, typ=_VECTOR)])
                builder.store(more, total)
        for (r, v), total in totals.items():
            offset = builder.add(builder.mul(_INT(r), out_step), _INT(v * LANES))
            written_as(builder, builder.load(total, typ=_VECTOR), at(target, offset))
        return context.get_dummy_value()

    arguments = (a, a_first, a_step, rows, b, b_first, b_step, depth, out, out_first, out_step)
    whole = {1, 2, 3, 5, 6, 7, 9, 10}
    kinds = [types.int64 if k in whole else kind for k, kind in enumerate(arguments)]
    return types.void(*kinds), generate


multiply: Any = intrinsic(_multiply)


def _lean(function: Any) -> Any:
    """`compiled`, and without numba's counting of references: every slice of an array would cost that."""
    return compiled(function, _nrt=False)


def _merged(function: Any) -> Any:
    """Likewise, as a part of what calls it."""
    return compiled(function, _nrt=False, forceinline=True)


def room_for(longest: int, own: int) -> int:
    """Numbers to compute with, for sequences of that many rows at most, and heads of that width."""
    return (2 * own + ROWS) * (-(-longest // COLUMNS) * COLUMNS) + ROWS * own


@_merged
def _turned(keys: NDArray[np.float32], padded: int, out: NDArray[np.float32]) -> None:
    """Write the columns of the keys of a head, each `padded` with noughts."""
    n, own = keys.shape
    for d in range(own):
        column = out[d * padded : (d + 1) * padded]
        for j in range(n):
            column[j] = keys[j, d]
        column[n:] = 0


@_merged
def _beside(values: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Write the values of a head one after the other: read in place, they would be far from each other."""
    n, own = values.shape
    for j in range(n):
        source, target = values[j], out[j * own : (j + 1) * own]
        for d in range(own):
            target[d] = source[d]


@_lean
def attended(
    mixed: NDArray[np.float32],
    ends: NDArray[np.int64],
    heads: int,
    highest: float,
    room: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """`encoder.attended`: what each row of a sequence reads from the others, by all heads.

    Args:
        mixed: shape (rows, 3 * width): queries, keys and values; the width of a head is a multiple of `COLUMNS`.
        ends: where each sequence ends among the rows.
        heads: how many.
        highest: scores beyond it count as it.
        room: of `room_for` numbers, overwritten.
        out: shape (rows, width), written.
    """
    width = out.shape[1]
    own, step, flat = width // heads, 3 * width, mixed.reshape(-1)
    longest = (room.size - ROWS * own) // (2 * own + ROWS)
    keys, values = room[: own * longest], room[own * longest : 2 * own * longest]
    scores = room[2 * own * longest : (2 * own + ROWS) * longest]
    read = room[room.size - ROWS * own :]
    start = 0
    for end in ends:
        n = end - start
        padded = -(-n // COLUMNS) * COLUMNS
        for head in range(heads):
            query = start * step + head * own
            _turned(mixed[start:end, width + head * own : width + (head + 1) * own], padded, keys)
            _beside(mixed[start:end, 2 * width + head * own : 2 * width + (head + 1) * own], values)
            for low in range(0, n, ROWS):
                rows = min(ROWS, n - low)
                for first in range(0, padded, COLUMNS):
                    multiply(flat, query + low * step, step, rows, keys, first, padded, own, scores, first, padded)
                for k in range(rows * padded):
                    scores[k] = exponential(min(scores[k], np.float32(highest)))
                for first in range(0, own, COLUMNS):
                    multiply(scores, 0, padded, rows, values, first, own, n, read, first, own)
                for row in range(rows):
                    scores[row * padded + n : (row + 1) * padded] = 0
                    share = FLOAT_ONE / sum_of(scores, row * padded, padded)
                    for first in range(0, own, COLUMNS):
                        target, source = out[start + low + row, head * own + first :], read[row * own + first :]
                        for k in range(COLUMNS):
                            target[k] = source[k] * share
        start = end


@_lean
def pairwise(rows: NDArray[np.float32], columns: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """`dense.pairwise`; `out` is written."""
    width, left, right = rows.shape[1], rows.reshape(-1), columns.reshape(-1)
    for i in range(rows.shape[0]):
        for j in range(columns.shape[0]):
            out[i, j] = dot(left, i * width, right, j * width, width)


@_lean
def best_rows(
    matrices: NDArray[np.float32],
    which: NDArray[np.int64],
    vectors: NDArray[np.float32],
    count: int,
    out: NDArray[np.int64],
) -> None:
    """`dense.best_rows`; `out`, of shape (vectors,), is written."""
    width, step, flat, every = vectors.shape[1], matrices.shape[1], matrices.reshape(-1), vectors.reshape(-1)
    for k in range(vectors.shape[0]):
        best, matrix = np.float32(0), matrices[which[k]]
        for r in range(count):
            first = r * (width + 1)
            total = dot(flat, which[k] * step + first, every, k * width, width) + matrix[first + width]
            if r == 0 or total > best:
                best, out[k] = total, r
