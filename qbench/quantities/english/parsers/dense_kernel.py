"""Products of whole numbers, compiled by numba. Import it inside functions only: numba takes half a second to load.

For processors that add up products of 16-bit integers (AVX-512 VNNI): twice as fast as single precision. Where there
is AMX, `tile_kernel` takes the place of `panels_of` and `multiply`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from qbench.compiling import cached, inlined, spread

cgutils: Any = _cgutils  # not annotated

ROWS, VECTORS, LANES = 6, 4, 16
"""Rows, and vectors of 16 columns, whose sums stay in registers while they grow: 24 of 32."""
COLUMNS = VECTORS * LANES
_INT, _SUMS = ir.IntType(32), ir.VectorType(ir.IntType(32), LANES)
_FLOAT = ir.FloatType()
_FLOATS, _DOUBLES = (ir.VectorType(kind, LANES) for kind in (_FLOAT, ir.DoubleType()))
_SUM_OF_TWO_PRODUCTS = "llvm.x86.avx512.vpdpwssd.512"
"""Takes sums, and for each of them two 16-bit integers of a and two of b; adds a0 b0 + a1 b1."""


def _add_up(typing: Any, pairs: Any, row: Any, panels: Any, panel: Any, sums: Any) -> Any:
    """Write the products of `ROWS` rows with the columns of one panel to `sums`.

    numba has no vectors, so this says itself which instructions there are to be. It compiles to a loop over pairs, in
    which each pair of a panel's row is loaded once and multiplied with the pairs of all rows.

    Args:
        typing: numba's.
        pairs: shape (rows, depth / 2), int32: two 16-bit integers in one.
        row: the first of the rows.
        panels: shape (panels, depth / 2, COLUMNS), int32, likewise.
        panel: which of them.
        sums: shape (ROWS, COLUMNS), int32.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        def array(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, values[k])

        def at(base: Any, *offsets: Any) -> Any:
            return builder.gep(base, [added(offsets)], source_etype=_INT)

        def added(numbers: Any) -> Any:
            first, *rest = numbers
            for number in rest:
                first = builder.add(first, number)
            return first

        _, depth = cgutils.unpack_tuple(builder, array(0).shape, 2)
        whole = depth.type
        rows = [at(array(0).data, builder.mul(builder.add(values[1], whole(r)), depth)) for r in range(ROWS)]
        columns = at(array(2).data, builder.mul(builder.mul(values[3], depth), whole(COLUMNS)))
        multiply = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_SUMS, [_SUMS] * 3), _SUM_OF_TWO_PRODUCTS
        )
        block = [(r, v) for r in range(ROWS) for v in range(VECTORS)]
        # Variables on the stack: the compiler moves them into registers.
        totals = {where: cgutils.alloca_once(builder, _SUMS) for where in block}
        for total in totals.values():
            builder.store(_SUMS(None), total)
        with cgutils.for_range(builder, depth) as loop:
            beside = at(columns, builder.mul(loop.index, whole(COLUMNS)))
            weights = [builder.load(at(beside, whole(LANES * v)), typ=_SUMS, align=4) for v in range(VECTORS)]
            inputs = [spread(builder, builder.load(at(row, loop.index), typ=_INT), _SUMS) for row in rows]
            for (r, v), total in totals.items():
                more = builder.call(multiply, [builder.load(total, typ=_SUMS), inputs[r], weights[v]])
                builder.store(more, total)
        for (r, v), total in totals.items():
            written_as(builder, builder.load(total, typ=_SUMS), at(array(4).data, whole(r * COLUMNS + v * LANES)))
        return context.get_dummy_value()

    return types.void(pairs, row, panels, panel, sums), generate


def written_as(builder: Any, vector: Any, place: Any) -> None:
    """Store a vector where a pointer to one of its numbers points."""
    builder.store(vector, builder.bitcast(place, vector.type.as_pointer()), align=4)


def _write(
    typing: Any,
    sums: Any, first: Any, factor: Any,
    scales: Any, bias: Any, column: Any,
    out: Any, place: Any, added: Any,
) -> Any:  # fmt: skip
    """Scale `LANES` sums, add the bias, and write them: in double precision until then.

    Args:
        typing: numba's.
        sums, first: int32; which of them comes first.
        factor: float32, of all of them.
        scales, bias, column: shape (columns,), float32; the column of the first.
        out, place: float32; where the first goes.
        added: whether to what stands there.
    """
    if any(array.layout != "C" for array in (sums, scales, bias, out)):
        return None  # numba then says that no such arrays are taken

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        def at(k: int, index: int, kind: Any) -> Any:
            data = context.make_array(signature.args[k])(context, builder, values[k]).data
            return builder.gep(data, [values[index]], source_etype=kind)

        def load(place: Any, kind: Any) -> Any:
            return builder.load(place, typ=kind, align=4)

        def double(vector: Any) -> Any:
            return builder.fpext(vector, _DOUBLES)

        kind = ir.FunctionType(_DOUBLES, [_DOUBLES] * 3)
        fused = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        scale, shift, target = (load(at(3, 5, _FLOAT), _FLOATS), load(at(4, 5, _FLOAT), _FLOATS), at(6, 7, _FLOAT))
        factors = builder.fmul(spread(builder, values[2], _FLOATS), scale)
        whole = builder.sitofp(load(at(0, 1, _INT), _SUMS), _DOUBLES)
        value = builder.call(fused, [whole, double(factors), double(shift)])
        result = cgutils.alloca_once_value(builder, value)
        with builder.if_then(values[8]):
            builder.store(builder.fadd(double(load(target, _FLOATS)), value), result)
        written_as(builder, builder.fptrunc(builder.load(result, typ=_DOUBLES), _FLOATS), target)
        return context.get_dummy_value()

    arguments = sums, types.int64, types.float32, scales, bias, types.int64, out, types.int64, types.boolean
    return types.void(*arguments), generate


def _summed(builder: Any, count: Any, more: Any) -> Any:
    """A sum of `count` numbers: `LANES` sums side by side, halves of which are added up then, and what is left over.

    Args:
        builder: of the function.
        count: how many.
        more: from sums, a place and the type of the sums to the sums with the numbers from that place on.
    """
    zero, lanes = count.type(0), count.type(LANES)
    whole = builder.sub(count, builder.srem(count, lanes))
    total = cgutils.alloca_once_value(builder, _FLOATS(None))
    with cgutils.for_range_slice(builder, zero, whole, lanes) as (index, _):
        builder.store(more(builder.load(total), index, _FLOATS), total)
    sums, left = builder.load(total), LANES
    while left > 1:
        left //= 2
        halves = [ir.Constant(ir.VectorType(_INT, left), [first + k for k in range(left)]) for first in (0, left)]
        sums = builder.fadd(*(builder.shuffle_vector(sums, sums, half) for half in halves))
    result = cgutils.alloca_once_value(builder, builder.extract_element(sums, _INT(0)))
    with cgutils.for_range_slice(builder, whole, count, count.type(1)) as (index, _):
        builder.store(more(builder.load(result), index, _FLOAT), result)
    return builder.load(result)


def _taken(array: Any) -> bool:
    return bool(array.layout == "C" and array.dtype == types.float32)


def _from(context: Any, builder: Any, array: Any, value: Any, place: Any, kind: Any) -> Any:
    """The numbers of an array, of which there are as many as `kind` has, from a place on."""
    data = context.make_array(array)(context, builder, value).data
    first = builder.gep(data, [place], source_etype=_FLOAT)
    return builder.load(builder.bitcast(first, kind.as_pointer()), typ=kind, align=4)


def _sum(typing: Any, a: Any, first: Any, count: Any) -> Any:
    """The sum of `count` numbers of a, float32 in C order, from the first on."""
    if not _taken(a):
        return None  # numba then says that no such arrays are taken

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        def more(total: Any, index: Any, kind: Any) -> Any:
            place = builder.add(values[1], index)
            return builder.fadd(total, _from(context, builder, signature.args[0], values[0], place, kind))

        return _summed(builder, values[2], more)

    return types.float32(a, types.int64, types.int64), generate


def _dot(typing: Any, a: Any, a_first: Any, b: Any, b_first: Any, count: Any) -> Any:
    """The sum of the products of `count` numbers of a and of b, likewise."""
    if not (_taken(a) and _taken(b)):
        return None

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        def more(total: Any, index: Any, kind: Any) -> Any:
            name = f"llvm.fma.v{LANES}f32" if kind is _FLOATS else "llvm.fma.f32"
            fused = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
            given = [
                _from(context, builder, signature.args[k], values[k], builder.add(values[k + 1], index), kind)
                for k in (0, 2)
            ]
            return builder.call(fused, [*given, total])

        return _summed(builder, values[4], more)

    return types.float32(a, types.int64, b, types.int64, types.int64), generate


add_up: Any = intrinsic(_add_up)
sum_of: Any = intrinsic(_sum)
dot: Any = intrinsic(_dot)
write: Any = intrinsic(_write)


def aligned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An empty array that begins where a line of the cache does: otherwise half of all vectors lie across two.

    AMX loads tiles four times as fast so.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(size + 63, dtype=np.uint8)
    first = -raw.__array_interface__["data"][0] % 64
    array: NDArray[Any] = raw[first : first + size].view(dtype).reshape(shape)
    return array


_MATH = {"contract", "nsz", "nnan", "ninf"}
"""What the compiler may do with floats. Every processor is to give the same bits: near ties fall either way otherwise.
So not "reassoc", by which sums depend on the width of its vectors (`sum_of` and `dot` say their order themselves), nor
"arcp" and "afn", which make estimates of reciprocals and roots out of divisions, where AMD's differ from Intel's."""


def compiled(function: Any, **options: Any) -> Any:
    """Compile, the same on every processor, without the interpreter's lock."""
    return cached(function, nogil=True, fastmath=_MATH, error_model="numpy", **options)


@inlined
def steps_of(numbers: NDArray[np.float32], limit: float) -> tuple[np.float32, np.float32]:
    """Whole numbers to one, and what a whole number stands for, if the largest number becomes `limit`."""
    # As whole numbers, whose order is that of numbers without a sign: of those a maximum is put into vectors.
    bits, greatest = numbers.view(np.int32), np.int32(0)
    for k in range(bits.size):
        greatest = max(greatest, np.int32(bits[k] & np.int32(0x7FFFFFFF)))
    most = np.int32(greatest).view(np.float32)
    return np.float32(limit) / most if most > 0 else np.float32(0), most / np.float32(limit)


@compiled
def rounded(h: NDArray[np.float32], limit: float, whole: NDArray[np.int16], scales: NDArray[np.float32]) -> None:
    """Round rows to whole numbers.

    Args:
        h: shape (rows, depth).
        limit: the largest whole number.
        whole: shape (rows or more, depth), written.
        scales: shape (rows or more,), written: what a whole number of each row stands for.
    """
    for row in range(h.shape[0]):
        numbers, integers = h[row], whole[row]
        steps, scales[row] = steps_of(numbers, limit)
        for k in range(numbers.size):
            integers[k] = np.int16(np.rint(numbers[k] * steps))


@compiled
def product(
    pairs: NDArray[np.int32],
    scales: NDArray[np.float32],
    panels: NDArray[np.int32],
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    out: NDArray[np.float32],
    added: bool,
) -> None:
    """Rows times columns, scaled, plus a bias.

    Args:
        pairs: shape (a multiple of ROWS, depth / 2): what `rounded` wrote, two in one.
        scales: of the rows.
        panels: what `panels_of` says.
        weights: shape (panels * COLUMNS,): what a whole number of each column stands for.
        bias: of the same shape.
        out: shape (rows, panels * COLUMNS), written.
        added: whether it is added to what stands in `out`.
    """
    sums = np.empty((ROWS, COLUMNS), np.int32)
    for panel in range(panels.shape[0]):
        for low in range(0, out.shape[0], ROWS):
            add_up(pairs, low, panels, panel, sums)
            for row in range(low, min(low + ROWS, out.shape[0])):
                for k in range(0, COLUMNS, LANES):
                    column = panel * COLUMNS + k
                    place = row * out.shape[1] + column
                    write(sums, (row - low) * COLUMNS + k, scales[row], weights, bias, column, out, place, added)


def panels_of(weights: NDArray[np.signedinteger[Any]]) -> NDArray[np.int32]:
    """Weights of 16 bits in the order in which they are read.

    Args:
        weights: shape (depth, width), multiples of 32 and `COLUMNS`.

    Returns:
        Shape (width / COLUMNS, depth / 2, COLUMNS): each is two weights of a column.
    """
    depth, width = weights.shape
    pairs = weights.astype(np.int16).reshape(depth // 2, 2, width // COLUMNS, COLUMNS)
    panels = aligned((width // COLUMNS, depth // 2, COLUMNS, 2), np.int16)
    panels[...] = pairs.transpose(2, 0, 3, 1)
    return panels.view(np.int32)[..., 0]


def multiply(
    h: NDArray[np.float32],
    limit: float,
    panels: NDArray[np.int32],
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    out: NDArray[np.float32],
    added: bool,
) -> None:
    """Rows, of shape (rows, depth), rounded to whole numbers up to `limit`, times columns; else as `product`."""
    rows = -(-len(h) // ROWS) * ROWS
    whole, scales = np.empty((rows, h.shape[1]), dtype=np.int16), np.empty(rows, dtype=np.float32)
    rounded(h, limit, whole, scales)
    product(whole.view(np.int32), scales, panels, weights, bias, out, added)


_POWERS = tuple(np.float32(np.log(2) ** n / f) for n, f in enumerate((1, 1, 2, 6, 24, 120, 720)))
"""Of the series of 2 to the x."""
_P0, _P1, _P2, _P3, _P4, _P5, _P6 = _POWERS
FLOAT_ONE, _TO_BASE_TWO, _FURTHEST = np.float32(1), np.float32(1 / np.log(2)), np.float32(80)
_CUBE, _TWICE = np.float32(0.044715), np.float32(-2 * np.sqrt(2 / np.pi))


@inlined
def exponential(x: np.float32) -> np.float32:
    """E to the power of x, which counts as -80 or 80 beyond those; in a form that the compiler can put into vectors."""
    y = min(max(x, -_FURTHEST), _FURTHEST) * _TO_BASE_TWO
    near = np.rint(y)
    r = y - near
    power = _P0 + r * (_P1 + r * (_P2 + r * (_P3 + r * (_P4 + r * (_P5 + r * _P6)))))
    # The bits of a power of two are its exponent.
    return np.float32(power * np.int32((np.int32(near) + 127) << 23).view(np.float32))


@compiled
def gelu(h: NDArray[np.float32]) -> None:
    """`dense.gelu`; its tanh by an exponential function."""
    for row in range(h.shape[0]):
        numbers = h[row]
        for k in range(numbers.size):
            x = numbers[k]
            # x (1 + tanh y) / 2 is x / (1 + exp(-2 y)).
            numbers[k] = x / (FLOAT_ONE + exponential(_TWICE * x * (FLOAT_ONE + _CUBE * x * x)))


@compiled
def normalised(h: NDArray[np.float32], norm: NDArray[np.float32], floor: float) -> None:
    """`dense.normalised`.

    Args:
        h: shape (rows, width), changed in place.
        norm: shape (2, width), scale and shift.
        floor: added to the variance.
    """
    scale, shift = norm[0], norm[1]
    width = h.shape[1]
    share = FLOAT_ONE / np.float32(width)
    for row in range(h.shape[0]):
        numbers = h[row]
        mean = sum_of(numbers, 0, width) * share
        for k in range(width):
            numbers[k] -= mean
        squares = dot(numbers, 0, numbers, 0, width)
        factor = FLOAT_ONE / np.sqrt(squares * share + np.float32(floor))
        for k in range(width):
            numbers[k] = numbers[k] * factor * scale[k] + shift[k]
