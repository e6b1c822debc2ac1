"""An engine of worker processes on this machine.

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
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, TypeVar

import qbench
from qbench import errors
from qbench.errors import OptionError, QbenchError
from qbench.work.tasks import C, Chunk, Engine, Shard, Task

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_processes(workers: int) -> Engine:
    """The engine of a pool with this number of processes, which end with the run."""

    def run(task: Task, chunks: Iterable[C], /) -> Generator[tuple[C, Shard], None, None]:
        with WorkerPool(workers, task) as pool:
            yield from pool.map(chunks)

    return run


class WorkerPool:
    """Worker processes, each driven by a thread; use it in a `with` block, which ends them.

    Args:
        workers: number of processes.
        task: what they do with each chunk.
    """

    def __init__(self, workers: int, task: Task) -> None:
        self.workers = workers
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

    def map(self, chunks: Iterable[C]) -> Iterator[tuple[C, Shard]]:
        """Process chunks, a few ahead of what is taken; returns each with its shard, in any order.

        Raises:
            QbenchError: a worker raised it, or died.
            OSError: a worker could not read or write a file.
            RuntimeError: a worker met an unexpected error; the message holds its traceback.
        """
        pending: dict[Future[Shard], C] = {}
        for chunk in chunks:
            pending[self._threads.submit(self._run, chunk)] = chunk
            while len(pending) >= self.workers + 2:
                yield from self._finished(pending)
        while pending:
            yield from self._finished(pending)

    def _finished(self, pending: dict[Future[Shard], C]) -> Iterator[tuple[C, Shard]]:
        for future in wait(pending, return_when=FIRST_COMPLETED).done:
            yield pending.pop(future), future.result()

    def _run(self, chunk: Chunk) -> Shard:
        process = self._process()
        try:
            process.stdin.write(json.dumps(chunk.payload).encode() + b"\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            shard = _answer(process.stdout)  # type: ignore[arg-type]
        except (BrokenPipeError, EOFError):
            raise QbenchError(
                "a worker process died",
                value=_exit(process.wait()),
                remedy="If memory ran out, give fewer --workers; the same command resumes",
            ) from None
        return shard

    def _process(self) -> subprocess.Popen[bytes]:
        if not hasattr(self._mine, "process"):
            with self._lock:
                if self._closed:
                    raise QbenchError("the pool is closed")
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "qbench.work.worker"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, **worker_environment()},
                    start_new_session=True,  # Ctrl-C is for the main process, which ends them
                )
                self._processes.append(process)
            self._mine.process = process
            process.stdin.write(json.dumps(asdict(self._task)).encode() + b"\n")  # type: ignore[union-attr]
        running: subprocess.Popen[bytes] = self._mine.process
        return running


def default_workers() -> int:
    """Number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_count(workers: int | None) -> int:
    """The number of workers that is asked for, by default one for each core.

    Raises:
        OptionError: it is less than one.
    """
    if workers is not None and workers < 1:
        raise OptionError("at least one worker is needed", value=workers)
    return default_workers() if workers is None else workers


def in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The results of a function that mostly runs without the interpreter's lock: a thread for each processor core."""
    with ThreadPoolExecutor(default_workers()) as threads:
        return list(threads.map(function, items))


def worker_environment() -> dict[str, str]:
    """Variables of a worker's environment: it finds what this process does, and hashes and computes as every other."""
    paths = [str(Path(qbench.__file__).resolve().parent.parent), *(path for path in sys.path if path)]
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONHASHSEED": "0",
        "POLARS_MAX_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def _answer(stream: IO[bytes]) -> Shard:
    """Read a worker's answer: a line of JSON and, after "done", the bytes of each file.

    Raises:
        EOFError: the worker ended before it had answered.
    """
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    answer: dict[str, Any] = json.loads(line)
    if "done" in answer:
        files = {ending: stream.read(size) for ending, size in answer["files"]}
        if any(len(files[ending]) != size for ending, size in answer["files"]):
            raise EOFError
        return Shard(files, answer["done"])
    if "error" in answer:
        name, message, file, line, value, remedy = answer["error"]
        kind: type[QbenchError] = getattr(errors, name, QbenchError)
        raise kind(message, file=file, line=line, value=None if value is None else _Shown(value), remedy=remedy)
    if "os" in answer:
        raise OSError(*answer["os"])
    raise RuntimeError(f"a worker process failed:\n{answer['crash']}")


class _Shown(str):
    """A value that is already a text for people."""

    def __repr__(self) -> str:
        return str(self)


def _exit(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
