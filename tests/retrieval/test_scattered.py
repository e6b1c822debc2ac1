"""Rows that lie apart in a mapped array: the same numbers, read without what lies around them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from qbench.compression.plain import DTYPES
from qbench.retrieval import vectors
from qbench.retrieval.shared_texts import SharedTexts
from qbench.retrieval.stored import AROUND, mapped, save_arrays, scattered
from qbench.retrieval.vectors import StoredVectors


@pytest.fixture
def array(tmp_path):
    save_arrays(tmp_path, {"v": np.random.default_rng(1).random((500, 384), np.float32)})
    return mapped(tmp_path, "v")


def advice(array):
    """What the kernel was told of the memory that an array is mapped to."""
    address, found = array.__array_interface__["data"][0], ""
    for line in Path("/proc/self/smaps").read_text(encoding="ascii").splitlines():
        if "-" in line.split()[0]:
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            within = first <= address < last
        elif within and line.startswith("VmFlags:"):
            found = line
    return found.split()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is of Linux")
def test_nothing_around_a_row_is_read(array):
    again = scattered(array)
    assert "rr" in advice(again)
    assert "rr" not in advice(array)
    np.testing.assert_array_equal(again, array)
    assert type(again) is np.ndarray
    assert not again.flags.writeable


def test_arrays_without_a_file_stay_as_they_are(array, tmp_path):
    held = np.array(array)
    assert scattered(held) is held
    (tmp_path / "v.npy").unlink()
    assert scattered(array) is array


def test_few_rows_of_many_vectors_are_read_so(array, monkeypatch):
    none = np.empty(0, np.int64)
    stored = StoredVectors(DTYPES["float32"], {"vectors": array}, SharedTexts(none, none), 384, np.arange(501))
    asked = []
    monkeypatch.setattr(vectors, "scattered", lambda array: asked.append(array) or scattered(array))
    rows = np.array([3, 77, 400])
    np.testing.assert_array_equal(stored.chosen(rows), array[rows])
    assert not asked  # they fit in memory
    monkeypatch.setattr(vectors, "FITS", 1000)
    for many in (slice(0, 100), np.arange(array.nbytes // AROUND + 1)):
        np.testing.assert_array_equal(stored.select(many)["vectors"], array[many])
    assert not asked  # in order, or so many that all is read
    for _ in range(2):
        np.testing.assert_array_equal(stored.chosen(rows), array[rows])
    assert len(asked) == 1
