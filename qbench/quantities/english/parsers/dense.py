"""Matrix products with weights in bytes: in 16-bit integers where the processor multiplies those, else in floats.

The weights are whole numbers with a scale for each column anyway. The vectors that meet them are rounded to whole
numbers too, with a scale for each row and 13 bits or more; their products are added up exactly. What is lost is a
hundred times less than by the rounding of the weights, and a product takes half the time that it takes in single
precision. Compiled by LLVM, through the llvmlite that numba brings, for processors with AVX-512 VNNI.
On others nothing is rounded; the parses are the same but for near ties.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
ROWS, LANES, VECTORS = 6, 16, 4
"""Rows, and vectors of 16 columns, whose sums the kernel holds in registers: 24 of 32."""
COLUMNS = LANES * VECTORS
NEEDED = ("avx512f", "avx512bw", "avx512vnni")
HIGHEST = 127
"""Of the weights."""


class Dense:
    """A linear layer: rows of shape (rows, width in) become (rows, width out).

    Args:
        weights: whole numbers, -127..127, of shape (width in, width out).
        scale: of each column.
        bias: of each column.
    """

    def __init__(self, weights: NDArray[np.int8], scale: Array, bias: Array) -> None:
        self._bias = bias
        depth, width = weights.shape
        fits = width % COLUMNS == 0 and depth % LANES == 0
        self._kernel = kernel() if fits else None
        if self._kernel is None:
            self._weights: NDArray[Any] = weights.astype(np.float32) * scale
            return
        # In the order in which the kernel reads them: panels of columns, pairs of rows, columns.
        panels = weights.astype(np.int16).reshape(depth // 2, 2, width // COLUMNS, COLUMNS)
        self._weights = np.ascontiguousarray(panels.transpose(2, 0, 3, 1))
        self._scale = np.ascontiguousarray(scale)
        self._shape = depth, width
        self._limit = float(min(np.iinfo(np.int16).max, np.iinfo(np.int32).max // (HIGHEST * depth)))

    def __call__(self, h: Array) -> Array:
        """The rows times the weights, plus the bias."""
        if self._kernel is None:
            product: Array = h @ self._weights
            product += self._bias
            return product
        depth, width = self._shape
        h = np.ascontiguousarray(h, dtype=np.float32)
        if not len(h):
            return np.empty((0, width), dtype=np.float32)
        rows = -(-len(h) // ROWS) * ROWS
        whole, scale = np.empty((rows, depth), dtype=np.int16), np.empty(rows, dtype=np.float32)
        self._kernel.rounded(h.ctypes.data, whole.ctypes.data, scale.ctypes.data, self._limit, len(h), depth)
        out = np.empty((rows, width), dtype=np.float32)
        self._kernel.product(
            *(each.ctypes.data for each in (whole, self._weights, scale, self._scale, self._bias, out)),
            *(rows, depth // 2, width),
        )
        return out[: len(h)]


class Kernel(NamedTuple):
    """Compiled functions; what they take stands in `_ROUNDED` and `_product`."""

    rounded: Callable[..., None]
    product: Callable[..., None]
    engine: object
    """Keeps the code alive."""


@lru_cache(maxsize=1)
def kernel() -> Kernel | None:
    """The functions for this processor; None for one without the instructions."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    if not all(features.get(name) for name in NEEDED):
        return None
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features.flatten(), opt=3)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_ROUNDED + _product()), machine)
    engine.finalize_object()
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    rounded = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, ctypes.c_float, number, number)
    product = ctypes.CFUNCTYPE(None, *[pointer] * 6, *[number] * 3)
    return Kernel(
        rounded(engine.get_function_address("rounded")), product(engine.get_function_address("product")), engine
    )


_ROUNDED = """
declare <16 x float> @llvm.fabs.v16f32(<16 x float>)
declare <16 x float> @llvm.rint.v16f32(<16 x float>)
declare float @llvm.vector.reduce.fmax.v16f32(<16 x float>)

define void @rounded(ptr %h, ptr %whole, ptr %scales, float %limit, i64 %rows, i64 %depth) {
entry:
  br label %row
row:
  %m = phi i64 [0, %entry], [%m.next, %last]
  %at = mul i64 %m, %depth
  %from = getelementptr float, ptr %h, i64 %at
  %to = getelementptr i16, ptr %whole, i64 %at
  br label %largest
largest:
  %k = phi i64 [0, %row], [%k.next, %largest]
  %most = phi <16 x float> [zeroinitializer, %row], [%more, %largest]
  %p = getelementptr float, ptr %from, i64 %k
  %x = load <16 x float>, ptr %p, align 4
  %size = call <16 x float> @llvm.fabs.v16f32(<16 x float> %x)
  %larger = fcmp ogt <16 x float> %size, %most
  %more = select <16 x i1> %larger, <16 x float> %size, <16 x float> %most
  %k.next = add i64 %k, 16
  %k.done = icmp uge i64 %k.next, %depth
  br i1 %k.done, label %scale, label %largest
scale:
  %top = call nnan float @llvm.vector.reduce.fmax.v16f32(<16 x float> %more)
  %some = fcmp ogt float %top, 0.0
  %span = select i1 %some, float %top, float 1.0
  %step = fdiv float %span, %limit
  %times = fdiv float %limit, %span
  %s = getelementptr float, ptr %scales, i64 %m
  store float %step, ptr %s, align 4
  %one = insertelement <16 x float> poison, float %times, i32 0
  %all = shufflevector <16 x float> %one, <16 x float> poison, <16 x i32> zeroinitializer
  br label %round
round:
  %j = phi i64 [0, %scale], [%j.next, %round]
  %q = getelementptr float, ptr %from, i64 %j
  %y = load <16 x float>, ptr %q, align 4
  %scaled = fmul <16 x float> %y, %all
  %near = call <16 x float> @llvm.rint.v16f32(<16 x float> %scaled)
  %int = fptosi <16 x float> %near to <16 x i32>
  %short = trunc <16 x i32> %int to <16 x i16>
  %r = getelementptr i16, ptr %to, i64 %j
  store <16 x i16> %short, ptr %r, align 2
  %j.next = add i64 %j, 16
  %j.done = icmp uge i64 %j.next, %depth
  br i1 %j.done, label %last, label %round
last:
  %m.next = add i64 %m, 1
  %m.done = icmp uge i64 %m.next, %rows
  br i1 %m.done, label %done, label %row
done:
  ret void
}
"""
"""Rounds rows of `depth` floats to whole numbers, `limit` at most, and writes the scale that undoes it for each row."""


def _product() -> str:
    """The product of rounded rows with weights, scaled, plus the bias; a block of sums in registers at a time."""
    rows, vectors = range(ROWS), range(VECTORS)
    block = [(m, v) for m in rows for v in vectors]
    lines = [
        "declare <16 x i32> @llvm.x86.avx512.vpdpwssd.512(<16 x i32>, <16 x i32>, <16 x i32>)",
        "define void @product(ptr %h, ptr %w, ptr %hs, ptr %ws, ptr %bias, ptr %out, i64 %rows, i64 %pairs, i64 %width)"
        " {\nentry:\n  br label %panel",
        "panel:\n  %n = phi i64 [0, %entry], [%n.next, %panel.end]\n  %n.w = mul i64 %n, %pairs",
        "  %w.panel = getelementptr i32, ptr %w, i64 %n.w\n  br label %block",
        "block:\n  %m = phi i64 [0, %panel], [%m.next, %store]",
        *(f"  %m{m} = add i64 %m, {m}\n  %m{m}.h = mul i64 %m{m}, %pairs" for m in rows),
        *(f"  %h{m} = getelementptr i32, ptr %h, i64 %m{m}.h" for m in rows),
        "  br label %pair\npair:\n  %k = phi i64 [0, %block], [%k.next, %pair]",
        *(f"  %c{m}.{v} = phi <16 x i32> [zeroinitializer, %block], [%d{m}.{v}, %pair]" for m, v in block),
        f"  %k.w = mul i64 %k, {COLUMNS}\n  %w.k = getelementptr i32, ptr %w.panel, i64 %k.w",
        *(f"  %w.k{v} = getelementptr i32, ptr %w.k, i64 {LANES * v}" for v in vectors),
        *(f"  %w{v} = load <16 x i32>, ptr %w.k{v}, align 4" for v in vectors),
    ]
    for m in rows:
        lines += [f"  %h{m}.k = getelementptr i32, ptr %h{m}, i64 %k\n  %h{m}.i = load i32, ptr %h{m}.k, align 4"]
        lines += _spread(f"h{m}.all", f"h{m}.i", "i32")
        lines += [
            f"  %d{m}.{v} = call <16 x i32> @llvm.x86.avx512.vpdpwssd.512("
            f"<16 x i32> %c{m}.{v}, <16 x i32> %h{m}.all, <16 x i32> %w{v})"
            for v in vectors
        ]
    lines += ["  %k.next = add i64 %k, 1\n  %k.done = icmp eq i64 %k.next, %pairs"]
    lines += ["  br i1 %k.done, label %store, label %pair\nstore:"]
    for v in vectors:
        lines += [f"  %n{v} = add i64 %n, {LANES * v}"]
        for name in ("ws", "bias"):
            lines += [f"  %{name}{v}.at = getelementptr float, ptr %{name}, i64 %n{v}"]
            lines += [f"  %{name}{v} = load <16 x float>, ptr %{name}{v}.at, align 4"]
    for m in rows:
        lines += [f"  %hs{m}.at = getelementptr float, ptr %hs, i64 %m{m}\n  %hs{m}.f = load float, ptr %hs{m}.at"]
        lines += [*_spread(f"hs{m}", f"hs{m}.f", "float"), f"  %m{m}.out = mul i64 %m{m}, %width"]
    for m, v in block:
        at = f"{m}.{v}"
        lines += [
            f"  %f{at} = sitofp <16 x i32> %d{at} to <16 x float>",
            f"  %g{at} = fmul <16 x float> %f{at}, %hs{m}\n  %s{at} = fmul <16 x float> %g{at}, %ws{v}",
            f"  %r{at} = fadd <16 x float> %s{at}, %bias{v}\n  %o{at} = add i64 %m{m}.out, %n{v}",
            f"  %p{at} = getelementptr float, ptr %out, i64 %o{at}\n  store <16 x float> %r{at}, ptr %p{at}, align 4",
        ]
    lines += [
        f"  %m.next = add i64 %m, {ROWS}\n  %m.done = icmp uge i64 %m.next, %rows",
        "  br i1 %m.done, label %panel.end, label %block",
        f"panel.end:\n  %n.next = add i64 %n, {COLUMNS}\n  %n.done = icmp uge i64 %n.next, %width",
        "  br i1 %n.done, label %done, label %panel\ndone:\n  ret void\n}\n",
    ]
    return "\n".join(lines)


def _spread(name: str, value: str, kind: str) -> list[str]:
    """Instructions that make a vector of one number."""
    return [
        f"  %{name}.one = insertelement <16 x {kind}> poison, {kind} %{value}, i32 0",
        f"  %{name} = shufflevector <16 x {kind}> %{name}.one, <16 x {kind}> poison, <16 x i32> zeroinitializer",
    ]
