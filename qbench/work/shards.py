"""Shards on disk: what a task makes of each chunk, written whole, so that an interrupted run resumes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

from qbench.store import atomic_file
from qbench.work.tasks import C, Engine, Shard, Task

FOLDER = ".shards"
"""Folder of the shards inside an unfinished artefact."""


def make_shards(
    task: Task,
    chunks: Iterable[C],
    folder: Path,
    *,
    last: str,
    engine: Engine,
    report: Callable[[C, Shard | None], None],
) -> list[str]:
    """Write the shard of every chunk that has none yet.

    Args:
        task: what to do with a chunk.
        chunks: all chunks, in order; read lazily.
        folder: folder of the shards.
        last: ending of the file that is written last: where it is, the shard is whole.
        engine: runs the task.
        report: called for every chunk, with its shard, or None where it was there already.

    Returns:
        the names of all chunks, in order; the files of a shard are NAME + ending.

    Raises:
        QbenchError: the task raised it, or a worker died.
        OSError: a file cannot be written.
    """
    folder.mkdir(exist_ok=True)
    names: list[str] = []

    def missing() -> Iterator[C]:
        for chunk in chunks:
            names.append(chunk.name)
            if has_shard(folder, chunk.name, last):
                report(chunk, None)
            else:
                yield chunk

    # Closed at once where the loop fails: an engine may hold processes.
    with closing(engine(task, missing())) as results:
        for chunk, shard in results:
            write_shard(folder, chunk.name, shard)
            report(chunk, shard)
    return names


def has_shard(folder: Path, name: str, last: str) -> bool:
    """Whether a shard is complete.

    Args:
        folder: of the shards.
        name: of the chunk.
        last: ending of the file that is written last.
    """
    return (folder / f"{name}{last}").is_file()


def write_shard(folder: Path, name: str, shard: Shard) -> None:
    """Write the files of a shard, NAME + ending, each complete or not at all.

    Raises:
        OSError: a file cannot be written.
    """
    for ending, content in shard.files.items():
        with atomic_file(folder / f"{name}{ending}") as temporary:
            temporary.write_bytes(content)
