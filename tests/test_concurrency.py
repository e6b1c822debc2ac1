"""Several processes on one folder: nothing torn, nothing made twice, nobody waits for the dead."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from filelock import Timeout

from qbench import locks
from qbench.artefacts import open_artefact, reading
from qbench.errors import BusyError, InputError, OptionError
from qbench.locks import WAIT, locked
from qbench.store import drafting, finished, read_manifest
from tests.holding import held_by_another

ROOT = Path(__file__).resolve().parent.parent


def started(script: str, *words: object) -> subprocess.Popen[str]:
    """A Python process that runs a script with these arguments."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    command = [sys.executable, "-c", script, *map(str, words)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def make(folder: Path, key: str, size: int = 1, **options) -> bool:
    with drafting(folder, "index", key, {}, **options) as draft:
        if draft is not None:
            for name in "ab":
                (draft.folder / name).write_text(key * size)
    return draft is not None


MAKES = """
import sys, time
from pathlib import Path
from qbench.store import drafting
place = Path(sys.argv[1])
with drafting(place / "a", "index", "k", {}) as draft:
    if draft is not None:
        with (place / "made").open("a") as log:
            log.write("x")
        time.sleep(0.2)
        (draft.folder / "data").write_text("whole")
print((place / "a" / "data").read_text())
"""


def test_what_several_processes_want_is_made_once(tmp_path):
    processes = [started(MAKES, tmp_path) for _ in range(4)]
    said = [process.communicate(timeout=60) for process in processes]
    assert said == [("whole\n", "")] * 4
    assert (tmp_path / "made").read_text() == "x"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "made"]


DIES = """
import sys, time
from pathlib import Path
from qbench.store import drafting
with drafting(Path(sys.argv[1]), "index", "k", {}) as draft:
    (draft.folder / "part").write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


def test_the_work_of_a_killed_process_is_taken_over(tmp_path, monkeypatch):
    monkeypatch.setenv(WAIT, "0")
    process = started(DIES, tmp_path / "a")
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    with pytest.raises(BusyError, match=rf"another qbench process \({process.pid}\) is writing here"):
        make(tmp_path / "a", "k")
    with pytest.raises(InputError, match=rf"not there yet: another qbench process \({process.pid}\) is making it"):
        read_manifest(tmp_path / "a")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with pytest.raises(InputError, match="no such folder"):
        read_manifest(tmp_path / "a")
    for said in ("", "{}", '{"process": 0, "host": "h"}', '{"process": "x"}'):
        (tmp_path / ".a.lock").write_text(said)
        assert locks.writer(tmp_path / "a") is None
    with drafting(tmp_path / "a", "index", "k", {}) as draft:
        assert draft is not None
        assert (draft.folder / "part").read_text() == "half"


def test_who_looks_keeps_nobody_from_writing(tmp_path):
    with held_by_another(tmp_path / "a"):
        assert locks.writer(tmp_path / "a") == "another thread of this process"
    assert locks.writer(tmp_path / "a") is None
    with locked(tmp_path / "a"):
        assert locks.writer(tmp_path / "a") is None  # one's own
    (tmp_path / ".b.lock").mkdir()
    assert locks.writer(tmp_path / "b") is None
    assert locks.writer(tmp_path / ("x" * 300)) is None


def test_who_waits_is_told_once_whom_for(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(locks, "SILENT", 0.01)
    with caplog.at_level(logging.WARNING, "qbench"), held_by_another(tmp_path / "a", "") as hold:
        threading.Timer(0.1, hold.set).start()
        assert make(tmp_path / "a", "k")
    (said,) = caplog.messages
    assert said.startswith(f"{tmp_path / 'a'}: waiting for another thread of this process, which is writing here. Ctrl")
    assert "QBENCH_WAIT=0" in said


def test_the_wait_ends_when_the_user_wants(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "SILENT", 0.01)
    start = time.monotonic()
    with held_by_another(tmp_path / "a", "0.05"), pytest.raises(BusyError):
        make(tmp_path / "a", "k")
    assert time.monotonic() - start < 30
    with pytest.raises(OptionError, match="no number of seconds"), held_by_another(tmp_path / "a", "soon"):
        make(tmp_path / "a", "k")


def test_where_nothing_can_be_written_nobody_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "SILENT", 0.01)
    (tmp_path / "a").mkdir()
    # What looks like a lock that another holds: no lock is got, and no file can be made.
    monkeypatch.setattr("filelock.FileLock.acquire", lambda *_, **__: refuse())
    monkeypatch.setattr(locks, "TemporaryFile", lambda **_: refuse(OSError(30, "Read-only file system")))
    with pytest.raises(InputError, match="cannot be written: Read-only file system"), locked(tmp_path / "a"):
        pass
    assert not (tmp_path / ".a.lock").exists()


@pytest.mark.parametrize("fault", [PermissionError(13, "Permission denied"), FileNotFoundError(2, "No such file")])
def test_a_folder_where_no_lock_may_be_made_is_named(tmp_path, monkeypatch, fault):
    monkeypatch.setattr("filelock.FileLock.acquire", lambda *_, **__: refuse(fault))
    with pytest.raises(InputError, match="cannot be written: ") as caught, locked(tmp_path / "a"):
        pass
    assert Path(str(caught.value.file)) == tmp_path / "a"


def refuse(error=None):
    raise error or Timeout("a")


def test_a_thread_may_lock_what_it_has_locked(tmp_path, monkeypatch):
    monkeypatch.setenv(WAIT, "0")
    with locked(tmp_path / "a"):
        with locked(tmp_path / "a"):
            pass
        assert (tmp_path / ".a.lock").is_file()
        assert make(tmp_path / "a", "k")
    assert not (tmp_path / ".a.lock").exists()


def test_a_reader_sees_the_old_or_the_new_one(tmp_path):
    folder, end = tmp_path / "a", threading.Event()
    make(folder, "k0", 1000)

    def replace() -> None:
        # Each key once: the same artefact again, after another, is not told from one that never was away.
        for number in range(1, 300):
            make(folder, f"k{number}", 1000, overwrite=True)
            if end.is_set():
                return
        end.set()

    writer = threading.Thread(target=replace)
    writer.start()
    seen, faults = Counter[str](), set[str]()
    while not end.is_set() and len(seen) < 10:
        manifest = open_artefact(folder, "index", ["a", "b"])
        try:
            texts = []
            for name in "ab":
                with reading(folder, manifest, name) as path:
                    texts.append(path.read_text())
        except InputError as error:
            faults.add(error.message)
        else:
            assert texts == [manifest.digest * 1000] * 2
            seen[manifest.digest] += 1
    end.set()
    writer.join()
    assert seen
    assert faults <= {"the artefact was replaced while it was read"}
    assert any(finished(folder, "index", f"k{number}") for number in range(300))


BOARD = """
import json, sys
from pathlib import Path
from qbench import store
from qbench.leaderboard.run import run_leaderboard
from tests.factories import tiny_benchmark
place, number = Path(sys.argv[1]), int(sys.argv[2])
seal = store.Draft.seal
def logged(draft):
    with (place / "made").open("a") as log:
        log.write(json.dumps([draft.kind, draft.key]) + "\\n")
    seal(draft)
store.Draft.seal = logged
systems = ["BM25", "QBM25", "BM25(k1=2)"]
systems = systems[number % 3:] + systems[:number % 3]
options = {"resamples": 100, "measures": ("nDCG@10",), "workers": 1}
board_folder = place / f"board{number}"
run_leaderboard(tiny_benchmark(), systems, output=board_folder, work=place / "work", **options)
rows = json.loads((board_folder / "leaderboard.json").read_text())["rows"]
print(json.dumps(sorted([row["system"], row["conditions"], row["measures"]["nDCG@10"]["mean"]] for row in rows)))
"""


def boards_at_once(place: Path, number: int) -> None:
    processes = [started(BOARD, place, each) for each in range(number)]
    said = [process.communicate(timeout=300) for process in processes]
    assert [errors for _, errors in said if "waiting for" not in errors and errors] == []
    assert len({rows for rows, _ in said}) == 1
    assert len(json.loads(said[0][0])) >= 4
    made = Counter((place / "made").read_text().splitlines())
    assert set(made.values()) == {1}
    assert {json.loads(line)[0] for line in made} >= {"run", "quantity-index"}
    assert not list((place / "work").rglob("*.lock"))


def test_leaderboards_at_once_share_what_each_makes(tmp_path):
    boards_at_once(tmp_path, 2)
