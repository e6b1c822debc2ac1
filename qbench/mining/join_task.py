"""The task of a part of the self-join: the best bags of some bags.

What is searched lies in a folder, mapped into memory: all workers of a machine share one copy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qbench.scoring.maxsim import blocks
from qbench.work.tasks import Shard

if TYPE_CHECKING:
    from qbench.mining.join_arrays import Index
    from qbench.mining.join_layout import Searchable
    from qbench.mining.join_results import Best

QUERIES = 2048
"""Bags that are searched for together: so many that they meet most bags of a block, which is read once for all."""

ROOM = 2**23
"""Postings that are held for bags that are searched for together, so that these may be fewer: 84 MB."""

KINDS = {"scores": np.int64, "bags": np.int32, "shared": np.int16, "sizes": np.int32}
"""The arrays of `Best`, one file each."""

LAST = ".sizes"


def save(searchable: Searchable, folder: Path) -> None:
    """Write what `tools` opens."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in searchable.index._asdict().items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)


def tools(options: Mapping[str, Any]) -> tuple[Index, int]:
    """What `save` wrote, and the number of results.

    Args:
        options: folder, which every node sees under this path; and k.
    """
    from qbench.mining.join_arrays import Index

    folder = Path(options["folder"])
    # Copied where written to, which it never is: the compiled loops know arrays that may be.
    arrays = [np.load(folder / f"{name}.npy", mmap_mode="c", allow_pickle=False) for name in Index._fields]
    return Index(*(array.view(np.ndarray) for array in arrays)), options["k"]


def process(payload: str, index: Index, k: int) -> Shard:
    """The best bags of the bags in a payload."""
    bags = np.array(json.loads(payload), np.int32)
    best = empty(bags.size, k)
    for start in range(0, bags.size, QUERIES):
        search_part(index, bags, best, start)
    return Shard({f".{name}": getattr(best, name).tobytes() for name in KINDS}, bags.size)


def empty(count: int, k: int) -> Best:
    """Room for the k best bags of some bags."""
    from qbench.mining.join_results import Best

    shapes = {"sizes": (count,)}
    return Best(**{name: np.zeros(shapes.get(name, (count, k)), kind) for name, kind in KINDS.items()})


def search_part(index: Index, bags: NDArray[np.int32], best: Best, start: int) -> None:
    """Fill in the results of the bags from a place on, `QUERIES` at most."""
    from qbench.mining.join_arrays import rare_postings, scratch_for
    from qbench.mining.join_results import Best
    from qbench.mining.join_search import search

    counts = rare_postings(index, bags[start : start + QUERIES])
    for first, last in blocks(np.append(0, np.cumsum(counts)), ROOM):
        part = slice(start + first, start + last)
        mine = Best(best.scores[part], best.bags[part], best.shared[part], best.sizes[part])
        search(index, bags[part], scratch_for(index, bags[part], best.bags.shape[1]), mine)


def read(folder: Path, name: str, k: int) -> Best:
    """The results of a shard."""
    from qbench.mining.join_results import Best

    found = {each: np.fromfile(folder / f"{name}.{each}", kind) for each, kind in KINDS.items()}
    return Best(**{each: array if each == "sizes" else array.reshape(-1, k) for each, array in found.items()})
