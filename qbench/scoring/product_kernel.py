"""The loops of product quantisation, compiled by numba. Import it inside functions only: numba takes half a second.

Codes of other widths than 8 bits are packed without gaps, the first code in the lowest bits of the first byte, as
faiss packs them. A loop over codes reads them from there, so that none is ever unpacked to be scored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qbench.compiling import cached

ROWS = 64
"""Vectors that one subcodebook is compared with before the next one is read: it stays in the nearest cache."""

_FAST = {"nnan", "nsz", "contract", "reassoc"}


def _nearest(
    vectors: NDArray[np.float32],
    columns: NDArray[np.float32],
    halves: NDArray[np.float32],
    scores: NDArray[np.float32],
    codes: NDArray[np.uint16],
) -> None:
    """The nearest codeword of every subvector, of equally near ones the first.

    Args:
        vectors: shape (n, M * d), finite.
        columns: shape (M, d, K), the codewords of each subspace as columns.
        halves: shape (M, K), half their squared lengths: |x - c|^2 = |x|^2 - 2 (x.c - |c|^2 / 2).
        scores: shape (K,), working memory.
        codes: shape (n, M), written.
    """
    subspaces, width, count = columns.shape
    for first in range(0, vectors.shape[0], ROWS):
        last = min(first + ROWS, vectors.shape[0])
        for j in range(subspaces):
            for i in range(first, last):
                part, table = vectors[i, j * width : (j + 1) * width], columns[j]
                for k in range(count):
                    scores[k] = -halves[j, k]
                # Four numbers in a pass over the sums, because reading and writing them takes longer than to add.
                whole = width - width % 4
                for d in range(0, whole, 4):
                    w, x, y, z = part[d], part[d + 1], part[d + 2], part[d + 3]
                    for k in range(count):
                        scores[k] += (w * table[d, k] + x * table[d + 1, k]) + (
                            y * table[d + 2, k] + z * table[d + 3, k]
                        )
                for d in range(whole, width):
                    value = part[d]
                    for k in range(count):
                        scores[k] += value * table[d, k]
                best = scores[0]
                for k in range(1, count):
                    best = max(best, scores[k])
                # All of them, without a branch: eight or sixteen at a time.
                at = np.int32(count)
                for k in range(count):
                    here = np.int32(k) if scores[k] == best else np.int32(count)
                    at = min(at, here)
                codes[i, j] = at


nearest = cached(_nearest, nogil=True, fastmath=_FAST)


def _tables(queries: NDArray[np.float32], columns: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """The products of every part of a query with every codeword of its subspace.

    Args:
        queries: shape (q, M * d).
        columns: shape (M, d, K).
        out: shape (q, M, at least K), written.
    """
    subspaces, width, count = columns.shape
    for q in range(queries.shape[0]):
        for j in range(subspaces):
            for k in range(count):
                out[q, j, k] = queries[q, j * width] * columns[j, 0, k]
            for d in range(1, width):
                value = queries[q, j * width + d]
                for k in range(count):
                    out[q, j, k] += value * columns[j, d, k]


tables = cached(_tables, nogil=True, fastmath=_FAST)


def _packed(codes: NDArray[np.uint16], bits: int, out: NDArray[np.uint8]) -> None:
    """Codes of a few bits each, one after the other.

    Args:
        codes: shape (n, M), each less than 2 ** bits.
        bits: of a code, 1 to 16.
        out: shape (n, (M * bits + 7) // 8), written.
    """
    for i in range(codes.shape[0]):
        buffer, filled, at = np.uint32(0), np.uint32(0), 0
        for j in range(codes.shape[1]):
            buffer |= np.uint32(codes[i, j]) << filled
            filled += np.uint32(bits)
            while filled >= np.uint32(8):
                out[i, at] = buffer & np.uint32(255)
                at += 1
                buffer >>= np.uint32(8)
                filled -= np.uint32(8)
        if filled > np.uint32(0):
            out[i, at] = buffer & np.uint32(255)


packed = cached(_packed, nogil=True)


def _decoded(codes: NDArray[np.uint8], bits: int, codewords: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """The codewords that packed codes stand for.

    Args:
        codes: shape (n, (M * bits + 7) // 8).
        bits: of a code.
        codewords: shape (M, 2 ** bits, d).
        out: shape (n, M * d), written.
    """
    subspaces, _, width = codewords.shape
    mask = (np.uint32(1) << np.uint32(bits)) - np.uint32(1)
    for i in range(codes.shape[0]):
        buffer, filled, at = np.uint32(0), np.uint32(0), 0
        for j in range(subspaces):
            while filled < np.uint32(bits):
                buffer |= np.uint32(codes[i, at]) << filled
                at += 1
                filled += np.uint32(8)
            code = buffer & mask
            buffer >>= np.uint32(bits)
            filled -= np.uint32(bits)
            for d in range(width):
                out[i, j * width + d] = codewords[j, code, d]


decoded = cached(_decoded, nogil=True)


def _sums_of_bytes(products: NDArray[np.float32], codes: NDArray[np.uint8], out: NDArray[np.float32]) -> None:
    """Scores of codes of one byte each, by looking products up.

    Args:
        products: shape (q, M, 256).
        codes: shape (n, M).
        out: shape (q, n), written.
    """
    subspaces = codes.shape[1]
    whole = subspaces - subspaces % 4
    for q in range(products.shape[0]):
        table = products[q]
        for i in range(codes.shape[0]):
            # Four sums, because each addition waits for the one before it.
            a, b = np.float32(0), np.float32(0)
            c, d = np.float32(0), np.float32(0)
            for j in range(0, whole, 4):
                a += table[j, codes[i, j]]
                b += table[j + 1, codes[i, j + 1]]
                c += table[j + 2, codes[i, j + 2]]
                d += table[j + 3, codes[i, j + 3]]
            for j in range(whole, subspaces):
                a += table[j, codes[i, j]]
            out[q, i] = (a + b) + (c + d)


sums_of_bytes = cached(_sums_of_bytes, nogil=True)


def _sums(products: NDArray[np.float32], codes: NDArray[np.uint8], bits: int, out: NDArray[np.float32]) -> None:
    """Scores of packed codes, by looking products up.

    Args:
        products: shape (q, M, 2 ** bits).
        codes: shape (n, (M * bits + 7) // 8).
        bits: of a code.
        out: shape (q, n), written.
    """
    mask = (np.uint32(1) << np.uint32(bits)) - np.uint32(1)
    for q in range(products.shape[0]):
        table = products[q]
        for i in range(codes.shape[0]):
            buffer, filled, at = np.uint32(0), np.uint32(0), 0
            total = np.float32(0)
            for j in range(table.shape[0]):
                while filled < np.uint32(bits):
                    buffer |= np.uint32(codes[i, at]) << filled
                    at += 1
                    filled += np.uint32(8)
                total += table[j, buffer & mask]
                buffer >>= np.uint32(bits)
                filled -= np.uint32(bits)
            out[q, i] = total


sums = cached(_sums, nogil=True)
