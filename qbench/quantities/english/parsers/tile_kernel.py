"""Products of whole numbers by AMX, compiled by numba. Import it inside functions only: numba takes long to load.

AMX adds up products of bytes, those of 16 rows with 16 columns at a time. A whole number of 16 bits is two bytes here,
and a product of two such numbers those of their bytes, each moved to its place. So the sums are the same numbers as
those of `dense_kernel`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from qbench.quantities.english.parsers.dense_kernel import aligned, compiled, steps_of, write, written_as

cgutils: Any = _cgutils  # not annotated

SIDE, DEPTH = 16, 64
"""Rows and columns of a tile of sums; numbers of each that are multiplied at a time."""
TILE = SIDE * DEPTH
"""Bytes of a tile."""
UPPER, LOWER, ROWS, COLUMNS = (0, 1), (2, 3), (4, 5), (6, 7)
"""Tiles: sums of the rows' upper bytes and of their lower ones, by columns; bytes of the rows, upper and lower; bytes
of the columns."""
_INT, _BYTE, _VOID = ir.IntType(64), ir.IntType(8), ir.VoidType()
_SUMS = ir.VectorType(ir.IntType(32), SIDE)


def _call(builder: Any, name: str, *arguments: Any) -> None:
    """Call an instruction of AMX; whole numbers among the arguments name tiles."""
    values = [_BYTE(a) if isinstance(a, int) else a for a in arguments]
    kind = ir.FunctionType(_VOID, [value.type for value in values])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.{name}"), values)


def _begin(typing: Any, layout: Any) -> Any:
    """Turn the tiles on; `layout` is `LAYOUT`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        _call(builder, "ldtilecfg", context.make_array(signature.args[0])(context, builder, values[0]).data)
        return context.get_dummy_value()

    return types.void(layout), generate


def _end(typing: Any) -> Any:
    """Turn the tiles off."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        _call(builder, "tilerelease")
        return context.get_dummy_value()

    return types.void(), generate


def _add_up(typing: Any, rows: Any, block: Any, panels: Any, panel: Any, sums: Any) -> Any:
    """Write the products of a block of `SIDE` rows with the columns of one panel to `sums`.

    Args:
        typing: numba's.
        rows: shape (blocks, steps, 2, TILE), uint8: the upper bytes, and the lower ones.
        block: which of them.
        panels: shape (panels, steps, 2, TILE), int8: two tiles of columns.
        panel: which of them.
        sums: shape (4, SIDE, SIDE), int32; those of the first tile of columns come first, and of the second one.
            The others are overwritten.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        def array(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, values[k])

        def at(base: Any, offset: Any) -> Any:
            return builder.gep(base, [offset], source_etype=_BYTE)

        def load(place: Any) -> Any:
            return builder.load(place, typ=_SUMS, align=4)

        def load_tile(side: Any, k: int, tile: int, offset: Any) -> None:
            _call(builder, "tileloadd64", tile, at(side, builder.add(offset, _INT(k * TILE))), width)

        steps, step, width = cgutils.unpack_tuple(builder, array(0).shape, 4)[1], _INT(2 * TILE), _INT(DEPTH)
        sides = [at(array(k).data, builder.mul(values[k + 1], builder.mul(steps, step))) for k in (0, 2)]
        for tile in (*UPPER, *LOWER):
            _call(builder, "tilezero", tile)
        with cgutils.for_range(builder, steps) as loop:
            offset = builder.mul(loop.index, step)
            # A tile is loaded just before it is first needed, so that loading and multiplying go on side by side.
            # The upper byte has the sign; the lower one has none.
            load_tile(sides[0], 0, ROWS[0], offset)
            load_tile(sides[1], 0, COLUMNS[0], offset)
            _call(builder, "tdpbssd", UPPER[0], ROWS[0], COLUMNS[0])
            load_tile(sides[0], 1, ROWS[1], offset)
            _call(builder, "tdpbusd", LOWER[0], ROWS[1], COLUMNS[0])
            load_tile(sides[1], 1, COLUMNS[1], offset)
            _call(builder, "tdpbssd", UPPER[1], ROWS[0], COLUMNS[1])
            _call(builder, "tdpbusd", LOWER[1], ROWS[1], COLUMNS[1])
        found = array(4).data
        for tile in (*UPPER, *LOWER):
            _call(builder, "tilestored64", tile, at(found, _INT(tile * TILE)), width)
        for k in range(len(COLUMNS) * SIDE):
            upper, lower = (at(found, _INT((tiles[0] * SIDE + k) * DEPTH)) for tiles in (UPPER, LOWER))
            written_as(builder, builder.add(builder.shl(load(upper), _SUMS([8] * SIDE)), load(lower)), upper)
        return context.get_dummy_value()

    return types.void(rows, block, panels, panel, sums), generate


begin: Any = intrinsic(_begin)
end: Any = intrinsic(_end)
add_up: Any = intrinsic(_add_up)


def _layout() -> NDArray[np.uint8]:
    layout = np.zeros(64, dtype=np.uint8)
    layout[0] = 1
    layout[16:32].view(np.uint16)[:] = DEPTH
    layout[48:56] = SIDE
    return layout


LAYOUT = _layout()
"""What the processor is told of its eight tiles: `SIDE` rows of `DEPTH` bytes each."""


@compiled
def rounded(h: NDArray[np.float32], limit: float, rows: NDArray[np.uint8], scales: NDArray[np.float32]) -> None:
    """Round rows to whole numbers.

    Args:
        h: shape (rows, depth).
        limit: the largest whole number.
        rows: shape (blocks, steps, 2, TILE), for as many rows and numbers or more, written: see `_add_up`.
        scales: shape (rows or more,), written: what a whole number of each row stands for.
    """
    for row in range(h.shape[0]):
        numbers, block, place = h[row], rows[row // SIDE], row % SIDE * DEPTH
        steps, scales[row] = steps_of(numbers, limit)
        for step in range(block.shape[0]):
            some = numbers[step * DEPTH : (step + 1) * DEPTH]
            upper, lower = block[step, 0, place : place + DEPTH], block[step, 1, place : place + DEPTH]
            for k in range(some.size):
                whole = np.int32(np.rint(some[k] * steps))
                upper[k], lower[k] = np.uint8(whole >> np.int32(8)), np.uint8(whole)


@compiled
def product(
    layout: NDArray[np.uint8],
    rows: NDArray[np.uint8],
    scales: NDArray[np.float32],
    panels: NDArray[np.int8],
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    out: NDArray[np.float32],
    added: bool,
) -> None:
    """Rows times columns, scaled, plus a bias.

    Args:
        layout: `LAYOUT`.
        rows: shape (blocks, steps, 2, TILE): what `rounded` wrote.
        scales: of the rows.
        panels: what `panels_of` says.
        weights: shape (columns,): what a whole number of each column stands for.
        bias: of the same shape.
        out: shape (rows, columns), written.
        added: whether it is added to what stands in `out`.
    """
    sums = np.empty((4, SIDE, SIDE), np.int32)
    tiles = out.shape[1] // (panels.shape[0] * SIDE)
    begin(layout)
    for block in range(rows.shape[0]):
        low = block * SIDE
        for panel in range(panels.shape[0]):
            add_up(rows, block, panels, panel, sums)
            if tiles == 1:
                for row in range(SIDE):
                    for k in range(SIDE):
                        sums[0, row, k] = np.int32((sums[0, row, k] << np.int32(8)) + sums[1, row, k])
            for tile in range(tiles):
                column = (panel * tiles + tile) * SIDE
                for row in range(low, min(low + SIDE, out.shape[0])):
                    first, place = (tile * SIDE + row - low) * SIDE, row * out.shape[1] + column
                    write(sums, first, scales[row], weights, bias, column, out, place, added)
    end()


def panels_of(weights: NDArray[np.signedinteger[Any]]) -> NDArray[np.int8]:
    """Weights in the order in which they are read.

    Args:
        weights: shape (depth, width); `width` is a multiple of 2 * SIDE.

    Returns:
        Shape (panels, steps, 2, TILE). If all fit into bytes, a panel is two tiles of columns, else the upper and the
        lower bytes of one.
    """
    depth, width = weights.shape
    steps = -(-depth // DEPTH)
    lower = weights.astype(np.int8)  # the lowest bits
    if (lower == weights).all():
        tiles = lower.reshape(depth, width // (2 * SIDE), 2, SIDE)
    else:
        upper = ((weights.astype(np.int32) - lower) >> 8).astype(np.int8)
        tiles = np.stack([upper, lower], axis=1).reshape(depth, 2, width // SIDE, SIDE).transpose(0, 2, 1, 3)
    tiles = np.pad(tiles, ((0, steps * DEPTH - depth), (0, 0), (0, 0), (0, 0)))
    # Of each column, four numbers stand side by side.
    fours = tiles.reshape(steps, DEPTH // 4, 4, *tiles.shape[1:]).transpose(3, 0, 4, 1, 5, 2)
    panels = aligned((tiles.shape[1], steps, 2, TILE), np.int8)
    panels.reshape(fours.shape)[...] = fours
    return panels


def multiply(
    h: NDArray[np.float32],
    limit: float,
    panels: NDArray[np.int8],
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    out: NDArray[np.float32],
    added: bool,
) -> None:
    """`dense_kernel.multiply`."""
    blocks = -(-len(h) // SIDE)
    rows = aligned((blocks, panels.shape[1], 2, TILE), np.uint8)
    scales = np.empty(blocks * SIDE, dtype=np.float32)
    rounded(h, limit, rows, scales)
    product(LAYOUT, rows, scales, panels, weights, bias, out, added)
