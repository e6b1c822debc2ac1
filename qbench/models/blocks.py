"""Encoding a corpus in blocks that are on disk as soon as they are made: a killed run loses at most one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.models.finite import naming
from qbench.progress import Progress, silent
from qbench.store import atomic_file

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

BLOCK = 8192
"""Texts of a block."""

Arrays = Mapping[str, "NDArray[Any]"]


def encode_blocks(
    folder: Path,
    texts: pl.Series,
    encode: Callable[[list[str]], Arrays],
    progress: Progress = silent,
    *,
    block: int = BLOCK,
    named: Callable[[int], object] | None = None,
) -> Iterator[dict[str, NDArray[Any]]]:
    """Encode texts block by block, then give back the arrays of each block in order, mapped into memory.

    Args:
        folder: of a draft; holds the blocks in hidden files, which `remove_blocks` takes away once they are joined.
        texts: n strings, the same in every call for this folder.
        encode: from the texts of a block to arrays of any shape and number, by name; the same names for every block.
        progress: told the number of texts done.
        block: texts of a block.
        named: the id of a text's document, for errors.

    Returns:
        an iterator over the blocks; encoding is over before it gives the first.

    Raises:
        InputError: a vector is not finite.
    """
    starts = range(0, len(texts), block)
    progress(0, len(texts), "encoding")
    for number, start in enumerate(starts):
        names = folder / f".block-{number}.names"
        if not names.exists():
            some = texts.slice(start, block).to_list()
            with naming(some, start, named):
                arrays = encode(some)
            for name, array in arrays.items():
                with atomic_file(folder / f".block-{number}.{name}.npy") as temporary, temporary.open("wb") as stream:
                    np.save(stream, array, allow_pickle=False)
            with atomic_file(names) as temporary:
                temporary.write_text("\n".join(arrays), encoding="utf-8")
        progress(min(start + block, len(texts)), len(texts), "encoding")
    for number in range(len(starts)):
        held = (folder / f".block-{number}.names").read_text(encoding="utf-8").split("\n")
        yield {name: np.load(folder / f".block-{number}.{name}.npy", mmap_mode="r") for name in held}


def remove_blocks(folder: Path) -> None:
    """Take away what `encode_blocks` kept."""
    for path in folder.glob(".block-*"):
        path.unlink()
