"""Recordings: what is kept comes back, from several processes too; what is no recording is named."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import InputError
from qbench.llm.calls import Call, from_blob, to_blob
from qbench.llm.recording import Recording

CALL = Call("test", "model", (("server", "http://localhost"),))

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_json_comes_back(value):
    value = None if value != value or value in (float("inf"), float("-inf")) else value
    try:
        form, blob = to_blob(value)
    except ValueError:  # an infinity inside
        return
    assert form == "json"
    assert from_blob(form, blob) == value


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=20))
def test_vectors_come_back_to_the_last_bit(numbers):
    vector = np.array(numbers, dtype=np.float32)
    form, blob = to_blob(vector)
    assert (form, len(blob)) == ("float32", 4 * len(numbers))
    assert from_blob(form, blob).tobytes() == vector.tobytes()


def test_keys_differ_with_everything_that_is_asked():
    calls = [
        CALL,
        Call("test", "model", (("server", "http://other"),)),
        Call("test", "other", CALL.parameters),
        Call("other", "model", CALL.parameters),
    ]
    inputs = ["a", "b", "", ["a"], {"a": 1}, "ä"]
    keys = [key for call in calls for key in call.keys(inputs)]
    assert len(set(keys)) == len(keys) == 24
    assert all(len(key) == 16 for key in keys)
    assert Call("test", "model", (("b", 1), ("a", 2))).keys([1]) == Call("test", "model", (("a", 2), ("b", 1))).keys(
        [1]
    )


def test_what_is_kept_is_found_and_stays(tmp_path):
    recording = Recording(tmp_path / "deep" / "answers.sqlite")
    answers = {bytes([i]) * 16: np.full(3, i, np.float32) if i % 2 else {"said": i} for i in range(10)}
    with recording.opened() as table:
        table.add(CALL, answers)
        table.add(CALL, {bytes(16): {"said": "something else"}})
    with recording.opened() as table:
        found = table.find([*answers, b"x" * 16])
        assert table.recorded([*answers, b"x" * 16]) == set(answers)
        assert table.calls() == {CALL.text: 10}
    assert found.keys() == answers.keys()
    for key, answer in answers.items():
        assert np.array_equal(found[key], answer)
    assert [path.name for path in recording.path.parent.iterdir()] == ["answers.sqlite"]


def test_more_keys_than_sqlite_takes_at_once(tmp_path):
    keys = CALL.keys(list(range(40_000)))
    with Recording(tmp_path / "a").opened() as table:
        table.add(CALL, dict.fromkeys(keys[::2], 1))
        assert table.find(keys).keys() == set(keys[::2])


WRITER = """
import sys
from pathlib import Path
from qbench.llm.calls import Call
from qbench.llm.recording import Recording

call, start = Call("test", "model"), int(sys.argv[2])
for number in range(start, start + 60):
    with Recording(Path(sys.argv[1])).opened() as table:
        table.add(call, dict(zip(call.keys([number, number + 1]), [[start, number], [start, number + 1]])))
"""


def test_several_processes_write_one_file(tmp_path):
    path = tmp_path / "answers.sqlite"
    started = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(start)]) for start in (0, 30, 30, 60)]
    assert [process.wait(60) for process in started] == [0, 0, 0, 0]
    call = Call("test", "model")
    keys = call.keys(list(range(121)))
    with Recording(path).opened(read_only=True) as table:
        found = table.find(keys)
    assert [found[key][1] for key in keys] == list(range(121))
    assert [p.name for p in tmp_path.iterdir()] == ["answers.sqlite"]


def test_read_onlying_makes_nothing(tmp_path):
    path = tmp_path / "answers.sqlite"
    with pytest.raises(InputError, match=r"answers\.sqlite: no such recording"), Recording(path).opened(read_only=True):
        pass
    with Recording(path).opened() as table:
        table.add(CALL, {bytes(16): 1})
    before = path.read_bytes()
    with Recording(path).opened(read_only=True) as table:
        assert table.find([bytes(16)]) == {bytes(16): 1}
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            table.add(CALL, {b"y" * 16: 1})
    assert [p.name for p in tmp_path.iterdir()] == ["answers.sqlite"]
    assert path.read_bytes() == before


def test_a_recording_is_read_where_nothing_can_be_written(tmp_path):
    path = tmp_path / "answers.sqlite"
    with Recording(path).opened() as table:
        table.add(CALL, {bytes(16): 1})
    # A reader's own files cannot be made here, whoever runs the tests.
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").mkdir()
    with Recording(path).opened(read_only=True) as table:
        assert table.find([bytes(16)]) == {bytes(16): 1}


@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_no_recording_is_named_and_left_as_it_is(tmp_path, read_only):
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("This is no database, but a text of some length.\n" * 20)
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    for path, says in ((text, "not a database"), (other, "no recording of qbench's")):
        before = path.read_bytes()
        with pytest.raises(InputError, match=says) as caught, Recording(path).opened(read_only=read_only):
            pass
        assert str(path) in str(caught.value)
        assert path.read_bytes() == before


def test_a_damaged_answer_is_named(tmp_path):
    path = tmp_path / "answers.sqlite"
    with Recording(path).opened() as table:
        table.add(CALL, {bytes(16): np.ones(2, np.float32), b"x" * 16: {"a": 1}})
    for form, value in (("float32", b"12345"), ("json", b"{"), ("pickle", b"x")):
        connection = sqlite3.connect(path)
        connection.execute("UPDATE answers SET form = ?, value = ?", (form, value))
        connection.commit()
        connection.close()
        with Recording(path).opened() as table, pytest.raises(InputError, match=r"answers\.sqlite: .*damaged"):
            table.find([bytes(16)])


@pytest.mark.parametrize("read_only", [False, True])
def test_a_damaged_file_whose_error_is_no_text_is_named(tmp_path, read_only):
    """The message of the database repeats the damaged bytes."""
    path = tmp_path / "answers.sqlite"
    with Recording(path).opened() as table:
        table.add(CALL, {bytes(16): np.ones(2, np.float32)})
    data = path.read_bytes()
    assert b"CREATE TABLE answers" in data
    path.write_bytes(data.replace(b"CREATE TABLE answers", b"CREATE TAB\xc3E answers"))
    with pytest.raises(InputError, match="cannot be used"), Recording(path).opened(read_only=read_only):
        pass
