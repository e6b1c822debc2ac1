"""Bounds of the scores of a block's bags, added up 64 at a time, of 8 or 16 bits each.

numba has no vectors, so this says itself which there are to be. Import it inside functions only, as
`qbench.mining.join_search`. (numba keeps what it compiled until that file changes, whatever changes here.)
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from qbench.compiling import spread

cgutils: Any = _cgutils  # not annotated

LANES = 64
"""Bags in a vector, as many as bits in a word of a row."""
STEP = 8
"""Vectors whose sums stay in registers while the rows are added."""
GROUP = STEP * LANES
"""The number of bags of a block is rounded up to a multiple of this, in rows and in sums."""
_WORD, _BITS = ir.IntType(64), ir.VectorType(ir.IntType(1), LANES)


def _mark(
    typing: Any,
    holders: Any, block: Any,
    rows: Any, worths: Any, count: Any,
    words: Any, least: Any,
    sums: Any, marked: Any,
) -> Any:  # fmt: skip
    """Add rows of bits to sums, each bit times its row's worth, and mark the sums that reach `least`.

    A sum that would be larger than the largest number stays there. On a processor with AVX-512 it takes two
    instructions for 64 bags and a row if sums are bytes: bits are the mask of the addition.

    Args:
        typing: numba's.
        holders: shape (blocks, rows, words), uint64; the number of words is a multiple of `STEP`.
        block: which of them.
        rows: int64, which rows of the block are added.
        worths: uint8 or uint16, what each of them adds.
        count: how many there are.
        words: of a row, of which the bags are in the first ones.
        least: 1 at least.
        sums: of the type of `worths`, `LANES` for each word; 0 afterwards.
        marked: uint64, filled here: the bags whose sum is large enough, a bit each.

    Returns:
        in numba: uint64, a bit for each `STEP` words, which says whether any of their bags is marked.
    """
    number = ir.IntType(sums.dtype.bitwidth)
    numbers = ir.VectorType(number, LANES)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        def array(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, values[k])

        def at(base: Any, index: Any, kind: Any) -> Any:
            return builder.gep(base, [index], source_etype=kind)

        _, height, width = cgutils.unpack_tuple(builder, array(0).shape, 3)
        whole = width.type
        first = at(array(0).data, builder.mul(builder.mul(values[1], height), width), _WORD)
        least = spread(builder, builder.trunc(values[6], number), numbers)
        add = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(numbers, [numbers, numbers]), f"llvm.uadd.sat.v{LANES}i{number.width}"
        )
        # Variables on the stack: the compiler moves them into registers.
        totals = [cgutils.alloca_once(builder, numbers) for _ in range(STEP)]
        found = cgutils.alloca_once_value(builder, _WORD(0))
        with cgutils.for_range_slice(builder, whole(0), values[5], whole(STEP)) as (word, _):
            for k, total in enumerate(totals):
                place = at(array(7).data, builder.mul(builder.add(word, whole(k)), whole(LANES)), number)
                place = builder.bitcast(place, numbers.as_pointer())
                builder.store(builder.load(place, typ=numbers, align=1), total)
                builder.store(numbers(None), place, align=1)
            with cgutils.for_range(builder, values[4]) as loop:
                row = builder.load(at(array(2).data, loop.index, _WORD), typ=_WORD)
                worth = spread(builder, builder.load(at(array(3).data, loop.index, number), typ=number), numbers)
                start = builder.add(builder.mul(row, width), word)
                for k, total in enumerate(totals):
                    bits = builder.load(at(first, builder.add(start, whole(k)), _WORD), typ=_WORD)
                    sum_ = builder.load(total, typ=numbers)
                    more = builder.select(builder.bitcast(bits, _BITS), builder.call(add, [sum_, worth]), sum_)
                    builder.store(more, total)
            anything = _WORD(0)
            for k, total in enumerate(totals):
                enough = builder.icmp_unsigned(">=", builder.load(total, typ=numbers), least)
                bits = builder.bitcast(enough, _WORD)
                builder.store(bits, at(array(8).data, builder.add(word, whole(k)), _WORD))
                anything = builder.or_(anything, bits)
            flag = builder.zext(builder.icmp_unsigned("!=", anything, _WORD(0)), _WORD)
            flag = builder.shl(flag, builder.udiv(word, whole(STEP)))
            builder.store(builder.or_(builder.load(found), flag), found)
        return builder.load(found)

    arguments = (holders, types.int64, rows, worths, types.int64, types.int64, types.int64, sums, marked)
    return types.uint64(*arguments), generate


mark_sums: Any = intrinsic(_mark)
