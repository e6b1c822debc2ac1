"""Queries labelled by an engine, some way ahead of where their outcomes are asked for."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

from qbench.benchmark.types import Query
from qbench.generation import label_task
from qbench.generation.outcomes import Labeller, Outcome
from qbench.index.disk import Index
from qbench.work.journal import Journal
from qbench.work.shards import FOLDER, write_shard
from qbench.work.tasks import Chunk, Engine, payload_of

BATCH = 8
"""Queries of a chunk: few, as those that are not taken in the end were labelled for nothing."""
STATE = "labels.json"


@contextmanager
def labelled_ahead(
    engine: Engine, index: Index, made: Labeller, queries: Iterable[Query], folder: Path, key: str
) -> Iterator[Callable[[Query], Outcome]]:
    """The outcomes of queries by an engine; those of an interrupted run are found again.

    Args:
        engine: runs the labeller; every node of it sees the index and `folder` under the same path.
        index: what the labeller reads.
        made: the labeller, whose mentions are written for the workers.
        queries: all that may be asked for, in the order in which they are; taken as the engine is free.
        folder: for what workers read, and for the outcomes; anything of another key in it is removed. It is gone once
            all is done.
        key: of the benchmark.
    """
    journal, shards = Journal(folder / STATE, key), folder / FOLDER
    if journal.read() is None:
        shutil.rmtree(folder, ignore_errors=True)
    shards.mkdir(parents=True, exist_ok=True)
    ready = {
        name: outcome
        for path in sorted(shards.glob(f"*{label_task.LAST}"))
        for name, outcome in label_task.outcomes(path.read_bytes())
    }
    task = label_task.task(index, made, folder)
    journal.write()
    given: set[str] = set()
    missing = (query for query in queries if query.query_id not in ready and query.query_id not in given)
    with closing(engine(task, _chunks(missing))) as results:

        def outcome(query: Query) -> Outcome:
            while query.query_id not in ready:
                chunk, shard = next(results)
                write_shard(shards, chunk.name, shard)
                ready.update(label_task.outcomes(shard.files[label_task.LAST]))
            given.add(query.query_id)
            return ready.pop(query.query_id)

        yield outcome
    shutil.rmtree(folder)


def _chunks(queries: Iterable[Query]) -> Iterator[Chunk]:
    left = iter(queries)
    while some := list(islice(left, BATCH)):
        payload, name = payload_of([query.to_row() for query in some])
        yield Chunk(name, len(some), payload)
