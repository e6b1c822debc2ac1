"""Arrays that are written block by block."""

from __future__ import annotations

import numpy as np
import pytest

from qbench.retrieval import rows as module
from qbench.retrieval.rows import write_rows

VECTORS = np.random.default_rng(0).standard_normal((10, 3)).astype(np.float32)


def arrays(first, last):
    """Of item n: its vector, n entries, and a flag in a scratch file."""
    items = np.arange(first, last)
    return {"vectors": VECTORS[first:last], "entries": np.repeat(items, items), ".odd": items % 2 == 1}


def files(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.npy")}


@pytest.mark.parametrize("block", [1, 4, 10, 99])
def test_files_are_those_of_numpy_whatever_the_size_of_a_block(tmp_path, block):
    seen = []
    names = write_rows(tmp_path, 10, arrays, lambda *told: seen.append(told), block=block, what="counting")
    assert names == ("vectors", "entries", ".odd")
    assert seen == [(min(n, 10), 10, "counting") for n in range(0, 10 + block, block)]
    (tmp_path / "whole").mkdir()
    for name, array in arrays(0, 10).items():
        np.save(tmp_path / "whole" / f"{name}.npy", array)
    assert files(tmp_path) == files(tmp_path / "whole")


@pytest.mark.parametrize("dies_at", [0, 1, 2])
@pytest.mark.parametrize("array", ["vectors", ".odd"])
def test_a_killed_run_writes_only_what_is_missing(tmp_path, monkeypatch, dies_at, array):
    whole, folder, asked, real = tmp_path / "whole", tmp_path / "killed", [], module._append
    whole.mkdir()
    folder.mkdir()
    write_rows(whole, 10, arrays, block=4)

    def killed(path, some, count):
        rows = real(path, some, count)
        if path.stem == array and len(asked) == dies_at + 1:
            raise KeyboardInterrupt  # what is in the file is not in the state yet
        return rows

    def counted(first, last):
        asked.append(first)
        return arrays(first, last)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(module, "_append", killed)
        write_rows(folder, 10, counted, block=4)
    write_rows(folder, 10, counted, block=4)
    assert asked == [*[0, 4, 8][: dies_at + 1], *[0, 4, 8][dies_at:]]
    assert files(folder) == files(whole)
    write_rows(folder, 10, counted, block=4)
    assert len(asked) == 4


def test_no_items_leave_empty_arrays(tmp_path):
    write_rows(tmp_path, 0, arrays, block=4)
    assert np.load(tmp_path / "vectors.npy").shape == (0, 3)
    assert np.load(tmp_path / ".odd.npy").dtype == bool
