"""A worker process: `python -m qbench.index.worker`, driven over its pipes by `qbench.index.pool`.

Its first line of input is a JSON object that says what to do (see `qbench.index.pool.Task`); each further line is
[folder, name, payload] of a chunk, answered by one line: {"done": [one count, another]}, {"error": [...]},
{"os": [...]} or {"crash": traceback}.
It ends when its input ends, at once: a worker never outlives the process that started it.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from qbench.errors import QbenchError


def main() -> None:
    """Answer chunks until the input ends."""
    # What a library prints must not end up among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, lines), daemon=True).start()
    setup = lines.get()
    task: tuple[Any, tuple[Any, ...]] | None = None
    while True:
        line = lines.get()
        try:
            task = task or _task(json.loads(setup))
            answer = _answer(line, *task)
        except QbenchError as error:
            answer = {"error": [type(error).__name__, error.message, error.file, error.line, error.value, error.remedy]}
        except OSError as error:
            answer = {"os": [error.errno, error.strerror or str(error)]}
        except Exception:
            answer = {"crash": traceback.format_exc()}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def _listen(stream: BinaryIO, lines: queue.SimpleQueue[bytes]) -> None:
    for line in stream:
        lines.put(line)
    os._exit(0)


def _task(setup: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    module = import_module(setup["module"])
    return module, module.tools(setup["options"])


def _answer(line: bytes, module: Any, tools: tuple[Any, ...]) -> dict[str, Any]:
    folder, name, payload = json.loads(line)
    return {"done": module.process(payload, Path(folder), name, *tools)}


if __name__ == "__main__":
    main()
