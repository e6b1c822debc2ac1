"""A journal is read back for the same work alone, and a damaged one counts as none."""

import pytest

from qbench.work.journal import Journal


def test_what_was_written_last_is_read(tmp_path):
    journal = Journal(tmp_path / ".state.json", "a")
    assert journal.read() is None
    journal.write(done=1, rows={"vectors": 10})
    journal.write(done=2, rows={"vectors": 20})
    assert Journal(tmp_path / ".state.json", "a").read() == {"done": 2, "rows": {"vectors": 20}}
    assert [path.name for path in tmp_path.iterdir()] == [".state.json"]


def test_state_of_other_work_is_not_read(tmp_path):
    Journal(tmp_path / "state.json", "a").write(done=1)
    assert Journal(tmp_path / "state.json", "b").read() is None
    assert Journal(tmp_path / "state.json").read() is None


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"digest": "a"}', '{"digest": "a", "state": 3}', "\x80"])
def test_a_damaged_journal_is_none(tmp_path, text):
    (tmp_path / "state.json").write_bytes(text.encode("latin-1"))
    assert Journal(tmp_path / "state.json", "a").read() is None
