"""A task, the chunks of input that it is run on, and what it returns; and the engines that run it.

A task touches no file of its caller: it gets a chunk's payload and returns bytes. So the same task runs in this
process, in worker processes, or on an engine that knows other machines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeVar


@dataclass(frozen=True)
class Task:
    """What is done with each chunk.

    Attributes:
        module: name of a module with two functions: `tools(options)`, called once in each process, returns a tuple;
            `process(payload, *tools)` returns the chunk's `Shard`.
        options: for `tools`, as JSON can hold them.
    """

    module: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Chunk:
    """A chunk of input: the unit of work, of resuming and of memory.

    Attributes:
        name: digest of the content, after a number where order matters; names the files of its shard.
        items: number of documents, or of whatever is counted.
        payload: the items as JSON, the input of `process`.
    """

    name: str
    items: int
    payload: str


@dataclass(frozen=True)
class Shard:
    """What a task makes of a chunk.

    Attributes:
        files: content by the ending of the file's name, in the order in which they are written.
        count: a number for progress messages, such as sentences.
    """

    files: Mapping[str, bytes]
    count: int = 0


C = TypeVar("C", bound=Chunk)


class Engine(Protocol):
    """Runs a task on chunks, which are read lazily, and returns each with its shard, in any order."""

    def __call__(self, task: Task, chunks: Iterable[C], /) -> Generator[tuple[C, Shard], None, None]:
        """Run `task` on every chunk; closing the generator ends the work.

        Raises:
            QbenchError: the task raised it, or a worker died.
        """
        ...


def payload_of(items: list[Any]) -> tuple[str, str]:
    """Items as the payload of a chunk, and its digest (16 hexadecimal digits)."""
    payload = json.dumps(items, separators=(",", ":"))
    return payload, hashlib.sha256(payload.encode()).hexdigest()[:16]


def load(task: Task) -> tuple[Any, tuple[Any, ...]]:
    """The module of a task, and its tools."""
    module = import_module(task.module)
    return module, module.tools(task.options)


def in_this_process(task: Task, chunks: Iterable[C], /) -> Generator[tuple[C, Shard], None, None]:
    """The engine without workers: one chunk after the other, in order."""
    module, tools = load(task)
    for chunk in chunks:
        yield chunk, module.process(chunk.payload, *tools)
