"""A pool of worker processes for chunks of a corpus.

Plain subprocesses over pipes, rather than `multiprocessing`: they need no `if __name__ == "__main__"` in a user's
script, run with one fixed PYTHONHASHSEED (some extractors' output depends on it), send no pickles, and end with their
parent, even when it is killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import qbench
from qbench import errors
from qbench.errors import QbenchError

if TYPE_CHECKING:
    from qbench.index.chunks import Chunk


@dataclass(frozen=True)
class Task:
    """What workers do with chunks.

    Attributes:
        module: name of a module with two functions: `tools(options)`, called once in each worker, gives a tuple;
            `process(payload, folder, name, *tools)` writes the part files of a chunk and gives two counts.
        options: for `tools`; JSON.
    """

    module: str
    options: Mapping[str, Any]


class WorkerPool:
    """So many worker processes, each driven by a thread; use it in a `with` block, which ends them.

    Args:
        workers: number of processes.
        task: what they do.
        parts: folder into which they write.
    """

    def __init__(self, workers: int, task: Task, parts: Path) -> None:
        self.workers = workers
        self._parts = parts
        self._task = task
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="qbench-worker")
        self._mine = threading.local()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            for process in self._processes:
                process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            process.communicate()

    def pids(self) -> list[int]:
        """Process ids of the workers that were started so far."""
        return [process.pid for process in self._processes]

    def map(self, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, tuple[int, int]]]:
        """Process chunks, a few ahead of what is taken; each is given back, in any order, with its counts.

        Raises:
            QbenchError: a worker raised it, could not write, or died.
            RuntimeError: a worker met an unexpected error; the message holds its traceback.
        """
        pending: dict[Future[tuple[int, int]], Chunk] = {}
        for chunk in chunks:
            pending[self._threads.submit(self._run, chunk)] = chunk
            while len(pending) >= self.workers + 2:
                yield from self._finished(pending)
        while pending:
            yield from self._finished(pending)

    def _finished(self, pending: dict[Future[tuple[int, int]], Chunk]) -> Iterator[tuple[Chunk, tuple[int, int]]]:
        for future in wait(pending, return_when=FIRST_COMPLETED).done:
            yield pending.pop(future), future.result()

    def _run(self, chunk: Chunk) -> tuple[int, int]:
        process = self._process()
        request = json.dumps([str(self._parts), chunk.name, chunk.payload])
        try:
            process.stdin.write(request.encode() + b"\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            answer = process.stdout.readline()  # type: ignore[union-attr]
        except OSError:
            answer = b""
        if not answer.endswith(b"\n"):
            raise QbenchError(
                "a worker process died",
                value=_exit(process.wait()),
                remedy="If memory ran out, give fewer --workers; the same command goes on where it was",
            )
        return _result(json.loads(answer), self._parts)

    def _process(self) -> subprocess.Popen[bytes]:
        if not hasattr(self._mine, "process"):
            with self._lock:
                if self._closed:
                    raise QbenchError("the pool is closed")
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "qbench.index.worker"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=_environment(),
                    start_new_session=True,  # Ctrl-C is for the main process, which ends them
                )
                self._processes.append(process)
            self._mine.process = process
            process.stdin.write(json.dumps(asdict(self._task)).encode() + b"\n")  # type: ignore[union-attr]
        found: subprocess.Popen[bytes] = self._mine.process
        return found


def default_workers() -> int:
    """Number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _environment() -> dict[str, str]:
    paths = [str(Path(qbench.__file__).resolve().parent.parent), *(path for path in sys.path if path)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONHASHSEED": "0",
        "POLARS_MAX_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def _result(answer: dict[str, Any], parts: Path) -> tuple[int, int]:
    if "done" in answer:
        one, other = answer["done"]
        return one, other
    if "error" in answer:
        name, message, file, line, value, remedy = answer["error"]
        kind: type[QbenchError] = getattr(errors, name, QbenchError)
        raise kind(message, file=file, line=line, value=None if value is None else _Shown(value), remedy=remedy)
    if "os" in answer:
        raise OSError(*answer["os"], str(parts))
    raise RuntimeError(f"a worker process failed:\n{answer['crash']}")


class _Shown(str):
    """A value that is already a text for people."""

    def __repr__(self) -> str:
        return str(self)


def _exit(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
