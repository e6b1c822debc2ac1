"""A few seconds of the fuzzer, with the same inputs every time; the longer mode is `python -m tests.fuzz`."""

from __future__ import annotations

import pytest

from tests.fuzz.fuzzing import fuzz, read_spoilt
from tests.fuzz.subject import Subject
from tests.fuzz.subjects import SUBJECTS

INPUTS, SECONDS = 40, 2


@pytest.mark.parametrize("name", SUBJECTS)
def test_damaged_input_is_read_or_refused_in_one_line(name, tmp_path):
    found = [found for found in fuzz(name, tmp_path, 1, range(INPUTS), SECONDS) if found is not None]
    assert not found, "\n".join(f"{finding.number}: {finding.what}" for finding in found)


def test_the_fuzzer_finds_bugs(tmp_path):
    def bug(folder):
        raise ZeroDivisionError

    assert "ZeroDivisionError" in read_spoilt(Subject(lambda folder: None, bug), tmp_path)
