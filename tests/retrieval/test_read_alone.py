"""Rows that lie apart in mapped arrays: the same numbers, read without what lies around them."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from qbench.compression.plain import DTYPES
from qbench.retrieval import vectors
from qbench.retrieval.shared_texts import SharedTexts
from qbench.retrieval.stored import mapped, read_alone, save_arrays
from qbench.retrieval.vectors import StoredVectors

NUMBERS = np.random.default_rng(1).random((500, 384), np.float32)


def advised(array):
    """Whether the kernel reads pages of the memory that an array is mapped to alone."""
    address, within = array.__array_interface__["data"][0], False
    for line in Path("/proc/self/smaps").read_text(encoding="ascii").splitlines():
        if "-" in line.split()[0]:
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            within = first <= address < last
        elif within and line.startswith("VmFlags:"):
            return "rr" in line.split()
    raise AssertionError("no such memory")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is of Linux")
def test_the_kernel_is_told_so_for_a_while(tmp_path):
    save_arrays(tmp_path, {"v": NUMBERS, "w": NUMBERS})
    whole, other = mapped(tmp_path, "v"), mapped(tmp_path, "w")
    part = other[3:6]
    with pytest.raises(ValueError, match="an error"), read_alone([whole, part, np.array(whole)]):
        assert advised(whole)
        assert advised(other)
        np.testing.assert_array_equal(part, NUMBERS[3:6])
        raise ValueError("an error")
    assert not advised(whole)
    assert not advised(other)


@pytest.fixture
def asked(monkeypatch):
    """The numbers of arrays that are read alone; from 1 kB on they may not fit in memory."""
    found = []

    @contextmanager
    def seen(arrays):
        found.append(len(arrays := list(arrays)))
        with read_alone(arrays):
            yield

    monkeypatch.setattr(vectors, "read_alone", seen)
    monkeypatch.setattr(vectors, "FITS", 1000)
    return found


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_few_rows_that_lie_apart_are_read_alone(tmp_path, monkeypatch, asked, dtype):
    none, codec = np.empty(0, np.int64), DTYPES[dtype]
    save_arrays(tmp_path, codec.encode(NUMBERS))
    arrays = {name: mapped(tmp_path, name) for name in codec.encode(NUMBERS)}
    stored = StoredVectors(codec, arrays, SharedTexts(none, none), 384, np.arange(501))
    size, rows = sum(array.nbytes for array in arrays.values()), np.array([400, 3, 77, 3])
    monkeypatch.setattr(vectors, "AROUND", size // 10)
    np.testing.assert_array_equal(stored.chosen(rows), codec.decode(codec.encode(NUMBERS))[rows])
    assert asked == [len(arrays)]
    for others in (slice(0, 100), np.arange(0, 500, 9), np.arange(100), none):
        # A range; so many that all of it is read; a long run; none.
        expected = {name: array[others] for name, array in arrays.items()}
        for name, array in stored.select(others).items():
            np.testing.assert_array_equal(array, expected[name])
    assert asked == [len(arrays)]
    monkeypatch.setattr(vectors, "FITS", size)
    stored.chosen(rows)
    assert asked == [len(arrays)]
