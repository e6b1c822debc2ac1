"""Tasks on chunks: the same shards from any engine, resuming, and what a worker says when it fails."""

import os
import signal
from pathlib import Path

import pytest

from qbench.errors import InputError, QbenchError
from qbench.work.pool import WorkerPool, in_processes
from qbench.work.shards import make_shards
from qbench.work.tasks import Chunk, Task, in_this_process, payload_of

TASK = Task("tests.work.toy_task", {"unit": "words"})


def chunk(number, *words):
    payload, name = payload_of(list(words))
    return Chunk(f"{number}-{name}", len(words), payload)


CHUNKS = [chunk(n, *"a b c d e".split()[: n % 5]) for n in range(12)]


def backwards(task, chunks):
    """An engine of another kind: all chunks are read first, and come back in the opposite order."""
    yield from reversed(list(in_this_process(task, chunks)))


def shards(folder, engine, chunks=CHUNKS):
    reported = []
    names = make_shards(
        TASK, chunks, folder, last=".json", engine=engine, report=lambda c, shard: reported.append((c.name, shard))
    )
    return names, dict(reported), {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("engine", [in_processes(1), in_processes(3), backwards], ids=["one", "three", "backwards"])
def test_every_engine_gives_the_same_shards(tmp_path, engine):
    names, reported, files = shards(tmp_path / "other", engine)
    assert (names, reported, files) == shards(tmp_path / "here", in_this_process)
    assert names == [c.name for c in CHUNKS]
    assert {name: shard.count for name, shard in reported.items()} == {c.name: c.items for c in CHUNKS}
    assert files[f"{CHUNKS[4].name}.raw"] == bytes(range(256)) * 4


def test_a_run_resumes_where_a_shard_is_whole(tmp_path):
    names, _, files = shards(tmp_path / "all", in_this_process)
    shards(tmp_path / "some", in_this_process, CHUNKS[:7])
    (tmp_path / "some" / f"{CHUNKS[2].name}.json").unlink()  # the file that is written last
    again, reported, same = shards(tmp_path / "some", in_this_process)
    assert (again, same) == (names, files)
    assert {name for name, shard in reported.items() if shard} == {c.name for c in (CHUNKS[2], *CHUNKS[7:])}


def test_a_full_disk_is_an_os_error_and_ends_the_workers(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("qbench.work.shards.atomic_file", full)
    before = set(children())
    with pytest.raises(OSError, match="No space left"):
        shards(tmp_path / "full", in_processes(2))
    assert not set(children()) - before


def test_an_error_in_a_worker_arrives_whole():
    with pytest.raises(InputError) as fault:
        list(in_processes(1)(TASK, [chunk(0, "bad")]))
    assert str(fault.value) == "words.txt:3: a bad word (found 'bad'). Leave it out"
    assert (fault.value.line, fault.value.remedy) == (3, "Leave it out")


def test_a_file_that_a_worker_cannot_read_is_named():
    with pytest.raises(FileNotFoundError) as fault:
        list(in_processes(1)(TASK, [chunk(0, "missing")]))
    assert fault.value.filename == "/no/such/file"


def test_an_unexpected_error_in_a_worker_shows_its_traceback():
    with pytest.raises(RuntimeError, match="Traceback"):
        list(in_processes(1)(TASK, [chunk(0, "crash")]))


def children():
    listed = Path("/proc/self/task").glob("*/children")
    return [int(pid) for text in listed for pid in text.read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for child processes in /proc")
def test_a_worker_that_dies_is_reported_and_none_stays():
    before = set(children())
    with WorkerPool(1, TASK) as pool:
        assert len(list(pool.map(CHUNKS[:1]))) == 1
        (pid,) = set(children()) - before
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(QbenchError, match=r"a worker process died \(found 'signal 9'\)"):
            list(pool.map(CHUNKS[1:2]))
    assert pid not in children()
