"""A worker process: `python -m qbench.work.worker`, driven over its pipes by `qbench.work.pool`.

Its first line of input is the task as a JSON object (see `qbench.work.tasks.Task`); each further line is the payload of
a chunk as a JSON string, answered by one line: {"done": count, "files": [[ending, bytes], ...]}, followed by the files'
content, {"error": [...]}, {"os": [...]} or {"crash": traceback}.
It ends when its input ends, at once: a worker never outlives the process that started it.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from typing import Any, BinaryIO

from qbench.errors import QbenchError
from qbench.work.tasks import Shard, Task, load


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
        shard = Shard({})
        answer: dict[str, Any]
        try:
            task = task or load(Task(**json.loads(setup)))
            module, tools = task
            shard = module.process(json.loads(line), *tools)
            answer = {"done": shard.count, "files": [[ending, len(content)] for ending, content in shard.files.items()]}
        except QbenchError as error:
            answer = {"error": [type(error).__name__, error.message, error.file, error.line, error.value, error.remedy]}
        except OSError as error:
            answer = {"os": [error.errno, error.strerror or str(error), error.filename]}
        except Exception:
            answer = {"crash": traceback.format_exc()}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.writelines(shard.files.values())
        answers.flush()


def _listen(stream: BinaryIO, lines: queue.SimpleQueue[bytes]) -> None:
    for line in stream:
        lines.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
