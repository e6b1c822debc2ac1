"""Arrays that are written block by block into `.npy` files: an interrupted run loses at most one block."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.progress import Progress, silent
from qbench.work.journal import Journal

_JOURNAL = ".rows.json"


def write_rows(
    folder: Path,
    count: int,
    arrays: Callable[[int, int], Mapping[str, NDArray[Any]]],
    progress: Progress = silent,
    *,
    block: int,
    what: str = "encoding",
) -> tuple[str, ...]:
    """Write the arrays of items block by block, each array into `NAME.npy`; resume where an interrupted call stopped.

    Memory holds one block, and the bytes of the files do not depend on its size. A name with a leading dot is a scratch
    file, which goes when a draft is sealed.

    Args:
        folder: of a draft.
        count: number of items, the same in every call for this folder.
        arrays: from the first item of a block, and the one after its last, to arrays by name: the same names, types and
            shapes but for the first axis, which may have any number of rows. Called for an empty block if there are no
            items, so that names and types are known.
        progress: gets the number of items that are complete.
        block: items of a block.
        what: what is done, for `progress`.

    Returns:
        the names.
    """
    journal = Journal(folder / _JOURNAL)
    written = journal.read() or {"items": 0, "rows": {}}
    done, rows = int(written["items"]), dict(written["rows"])
    progress(done, count, what)
    while done < count or not rows:
        last = min(done + block, count)
        for name, array in arrays(done, last).items():
            rows[name] = _append(folder / f"{name}.npy", array, rows.get(name, 0))
        journal.write(items=last, rows=rows)
        done = last
        progress(done, count, what)
    return tuple(rows)


def _append(path: Path, array: NDArray[Any], rows: int) -> int:
    """Write an array after the first rows of a file, over what an interrupted run left; the new number of rows."""
    array = np.ascontiguousarray(array)
    # numpy leaves room for the number of rows to grow: the header keeps its length.
    header = _header(array.dtype, (rows + len(array), *array.shape[1:]))
    with path.open("r+b" if rows else "wb") as stream:
        stream.truncate(len(header) + rows * array.dtype.itemsize * int(np.prod(array.shape[1:])))
        stream.seek(0, io.SEEK_END)
        array.tofile(stream)
        stream.seek(0)
        stream.write(header)
    return rows + len(array)


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    stream = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, described)
    return stream.getvalue()
