"""Product quantisation: a vector as M codes, one for each of its parts, and scores by looking products up.

A vector of H numbers is cut into M parts of H / M. Each part is replaced by the nearest of K codewords, whose number is
its code; the codewords are k-means' centroids of that part over a sample. A dot product with a query is the sum over
the parts of the products of the query's part with the codeword: M * K products are computed once for each query, and
then M of them are looked up and added for each vector (asymmetric distance computation, ADC).
Source: Jegou, Douze and Schmid (2011); *WolfPQ* eq. 5.2 to 5.9.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qbench.errors import InputError, OptionError
from qbench.scoring.kmeans import kmeans

ITERATIONS = 20
"""Of k-means in each subspace."""


def code_bits(K: int) -> int:
    """Bits of a code for one of K codewords.

    >>> [code_bits(K) for K in (2, 3, 256, 257, 512, 4096)]
    [1, 2, 8, 9, 9, 12]
    """
    return max(int(K - 1).bit_length(), 1)


def code_bytes(M: int, K: int) -> int:
    """Bytes of the M codes of a vector, which are packed without gaps.

    >>> code_bytes(96, 256), code_bytes(24, 1024), code_bytes(3, 512)
    (96, 30, 4)
    """
    return (M * code_bits(K) + 7) // 8


def refuse_uneven(width: int, M: int) -> None:
    """Refuse a number of parts that does not divide vectors of so many numbers.

    Raises:
        OptionError: says which numbers near it do.
    """
    if width % M:
        near = sorted((m for m in range(1, width + 1) if width % m == 0), key=lambda m: (abs(m - M), m))[:4]
        remedy = f"Use one that does, such as {', '.join(map(str, sorted(near)))}"
        raise OptionError(f"M has to divide the dimension of the vectors, {width}", value=M, remedy=remedy)


def parts(vectors: NDArray[np.float32], M: int) -> NDArray[np.float32]:
    """Vectors cut into M parts (eq. 5.2).

    Args:
        vectors: shape (n, H).
        M: number of parts.

    Returns:
        shape (n, M, H / M), a view.

    Raises:
        OptionError: M does not divide H; says which numbers near it do.
    """
    width = vectors.shape[1]
    refuse_uneven(width, M)
    return vectors.reshape(len(vectors), M, width // M)


def refuse_broken(vectors: NDArray[np.float32]) -> None:
    """Refuse vectors with numbers that are not finite: every comparison with one of them is false.

    Raises:
        InputError: names the row.
    """
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if broken.size:
        raise InputError("a vector that is to be compressed is not finite", value=f"row {broken[0]}")


def product_codebook(
    sample: NDArray[np.float32],
    M: int,
    K: int,
    *,
    seed: int = 0,
    iterations: int = ITERATIONS,
) -> NDArray[np.float32]:
    """The codewords of each part, by k-means (eq. 5.3).

    Args:
        sample: shape (n, H); n is 0 for a corpus without vectors, whose codewords are zeros.
        M: number of parts.
        K: number of codewords of each.
        seed: of k-means.
        iterations: of k-means.

    Returns:
        shape (M, K, H / M). Where the sample holds fewer than K different parts, some codewords are the same.

    Raises:
        OptionError: M does not divide H, or K is above n.
        InputError: a vector is not finite.
    """
    cut = parts(sample, M)
    if not len(sample):
        return np.zeros((M, K, cut.shape[2]), np.float32)
    if len(sample) < K:
        remedy = f"Use K={len(sample)} or less; as many codewords as vectors would save nothing"
        raise OptionError(f"K is above the number of vectors to learn from, {len(sample)}", value=K, remedy=remedy)
    refuse_broken(sample)
    return np.stack([kmeans(np.ascontiguousarray(cut[:, j]), K, seed=seed, iterations=iterations) for j in range(M)])


def encoded(vectors: NDArray[np.float32], codebook: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The nearest codeword of each part of each vector (eq. 5.7); of equally near ones the first.

    Args:
        vectors: shape (n, H), finite.
        codebook: shape (M, K, H / M).

    Returns:
        shape (n, M).

    >>> encoded(np.array([[0.2, 5.0]], np.float32), np.array([[[0], [1]], [[4], [7]]], np.float32))
    array([[0, 0]], dtype=uint16)
    """
    from qbench.scoring import product_kernel

    codes = np.empty((len(vectors), len(codebook)), np.uint16)
    halves = (codebook**2).sum(axis=2) / 2
    scores = np.empty(codebook.shape[1], np.float32)
    vectors = np.ascontiguousarray(vectors, np.float32)
    product_kernel.nearest(vectors, codewords_as_columns(codebook), halves, scores, codes)
    return codes


def codewords_as_columns(codebook: NDArray[np.float32]) -> NDArray[np.float32]:
    """A codebook of shape (M, K, d) as (M, d, K): one number of all codewords side by side."""
    return np.ascontiguousarray(codebook.transpose(0, 2, 1))


def packed(codes: NDArray[np.uint16], K: int) -> NDArray[np.uint8]:
    """Codes in as few bits as K codewords need, the first in the lowest bits of the first byte, as faiss packs them.

    Args:
        codes: shape (n, M), each less than K.
        K: number of codewords.

    Returns:
        shape (n, bytes).

    >>> packed(np.array([[1, 2, 3]], np.uint16), 4), packed(np.array([[1, 256]], np.uint16), 512)
    (array([[57]], dtype=uint8), array([[1, 0, 2]], dtype=uint8))
    """
    from qbench.scoring import product_kernel

    bits = code_bits(K)
    if bits == 8:
        return codes.astype(np.uint8)
    out = np.empty((len(codes), code_bytes(codes.shape[1], K)), np.uint8)
    product_kernel.packed(codes, bits, out)
    return out


def decoded(codes: NDArray[np.uint8], codebook: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors that packed codes stand for: their codewords, one after the other.

    Args:
        codes: shape (n, bytes), as `packed` gives them.
        codebook: shape (M, K, d).

    Returns:
        shape (n, M * d).
    """
    from qbench.scoring import product_kernel

    bits = code_bits(codebook.shape[1])
    out = np.empty((len(codes), codebook.shape[0] * codebook.shape[2]), np.float32)
    product_kernel.decoded(np.ascontiguousarray(codes), bits, _filled(codebook, bits), out)
    return out


def _filled(codebook: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """With zeros for the codes that no codeword has: a damaged file then reads no memory but its own."""
    missing = 2**bits - codebook.shape[1]
    return np.pad(codebook, ((0, 0), (0, missing), (0, 0))) if missing else np.ascontiguousarray(codebook)


def lookup_tables(queries: NDArray[np.float32], columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """The products of each part of each query with all codewords of that part.

    Args:
        queries: shape (q, M * d).
        columns: shape (M, d, K), `codewords_as_columns`.

    Returns:
        shape (q, M, K rounded up to a power of 2), zeros where there is no codeword.
    """
    from qbench.scoring import product_kernel

    subspaces, _, count = columns.shape
    size = 2 ** code_bits(count)
    out = (np.zeros if size > count else np.empty)((len(queries), subspaces, size), np.float32)
    product_kernel.tables(np.ascontiguousarray(queries, np.float32), columns, out)
    return out


def looked_up(tables: NDArray[np.float32], codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The dot products of queries with encoded vectors, by look-up tables alone.

    Args:
        tables: shape (q, M, 2 ** bits), from `lookup_tables`.
        codes: shape (n, bytes), as `packed` gives them.

    Returns:
        shape (q, n).
    """
    from qbench.scoring import product_kernel

    out = np.empty((len(tables), len(codes)), np.float32)
    bits = code_bits(tables.shape[2])
    if bits == 8:
        product_kernel.sums_of_bytes(tables, codes, out)
    else:
        product_kernel.sums(tables, codes, bits, out)
    return out
