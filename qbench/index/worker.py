"""A worker process: `python -m qbench.index.worker`, driven over its pipes by `qbench.index.pool`.

Its first line of input is a JSON object that says how to extract; each further line is [folder, name, payload] of a
chunk, answered by one line: {"done": [sentences, quantities]}, {"error": [...]}, {"os": [...]} or {"crash": traceback}.
It ends when its input ends, at once: a worker never outlives the process that started it.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
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
    tools: tuple[Any, Any] | None = None
    while True:
        line = lines.get()
        try:
            tools = tools or _tools(json.loads(setup))
            answer = _answer(line, tools)
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


def _tools(setup: dict[str, Any]) -> tuple[Any, Any]:
    if setup["name"] == "given":
        return None, None
    from qbench.corpora.sentences import SentenceSplitter
    from qbench.quantities.extractors import ExtractorOptions, get_extractor

    units = setup.pop("units_file")
    options = ExtractorOptions(**setup, units_file=None if units is None else Path(units))
    extractor = get_extractor(options)
    return SentenceSplitter(), extractor


def _answer(line: bytes, tools: tuple[Any, Any]) -> dict[str, Any]:
    from qbench.index.chunks import process

    folder, name, payload = json.loads(line)
    return {"done": process(payload, Path(folder), name, *tools)}


if __name__ == "__main__":
    main()
