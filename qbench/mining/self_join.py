"""The k texts nearest to each text by BM25: the search of *Quantity Retrieval*, algorithm 1, and its whole cost.

The result is exact, equal texts are searched once, and an interrupted run is resumed.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qbench.errors import InputError, OptionError
from qbench.keys import key
from qbench.mining import join_task
from qbench.mining.options import BLOCK, JoinOptions
from qbench.mining.terms import TermMatrix
from qbench.progress import Progress, silent
from qbench.store import read_json
from qbench.work.journal import Journal
from qbench.work.pool import default_workers
from qbench.work.shards import FOLDER, make_shards
from qbench.work.tasks import Chunk, Engine, Task, payload_of

if TYPE_CHECKING:
    from qbench.mining.join_layout import Searchable
    from qbench.mining.join_results import Best

STATE = "join.json"
SAVED_EVERY = 30.0
"""Seconds after which what was found is saved with the next block."""
INDEX = ".index"
"""Folder of what is searched, while workers search it."""
ARRAYS = {"docs": np.int32, "scores": np.float32, "shared": np.int16}


class Neighbours(NamedTuple):
    """The results for R texts, best first; rows with fewer than k end in -1 and 0.

    Attributes:
        docs: shape (R, k), int32, positions in the texts. Equal scores: the lower position first.
        scores: shape (R, k), float32. The order is that of the scores before they are rounded.
        shared: shape (R, k), int16, number of different terms that both texts hold, dropped ones left out; 32,767
            stands for more.
    """

    docs: NDArray[np.int32]
    scores: NDArray[np.float32]
    shared: NDArray[np.int16]

    def found(self) -> NDArray[np.int64]:
        """The number of results of each text; shape (R,)."""
        starts = range(0, len(self.docs), BLOCK)
        found = [np.count_nonzero(self.docs[start : start + BLOCK] >= 0, axis=1) for start in starts]
        return np.concatenate([np.zeros(0, np.int64), *found])


def self_join(
    matrix: TermMatrix,
    folder: Path,
    options: JoinOptions = JoinOptions(),
    *,
    queries: NDArray[np.int64] | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Neighbours:
    """For each text the k others with the highest BM25 score, of those that share a term with it.

    A term that the query holds twice counts twice, as in rank-bm25. `block`, `threads` and the engine change nothing in
    the result.

    Args:
        matrix: the terms of N texts, of `qbench.mining.terms.term_matrix`.
        folder: of the result (docs.npy, scores.npy, shared.npy) and the state (join.json). An unfinished result with
            the same texts, queries and options is resumed; any other is replaced.
        options: of the search.
        queries: shape (R,), positions of the texts to search with, among all N; None for all.
        engine: runs the search, a block at a time; every node of it sees `folder` under the same path. None for threads
            of this process.
        progress: receives the number of finished queries.

    Returns:
        memory-mapped arrays, read-only.

    Raises:
        OptionError: a query is no position of a text.
    """
    rows = np.arange(len(matrix)) if queries is None else np.asarray(queries, dtype=np.int64)
    if rows.size and not (rows.min() >= 0 and rows.max() < len(matrix)):
        wrong = rows[(rows < 0) | (rows >= len(matrix))][0]
        raise OptionError(f"a query is a position from 0 to {len(matrix) - 1}", value=int(wrong))
    folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(folder / STATE, _key(matrix, rows, options))
    done = _resumed(folder, journal, (rows.size, options.k))
    progress(done, rows.size, "texts joined")
    if done < rows.size:
        _join(matrix, rows, folder, journal, options, engine, done, progress)
    return read_neighbours(folder)


def read_neighbours(folder: Path) -> Neighbours:
    """The result of `self_join` in a folder, memory-mapped and read-only.

    Raises:
        InputError: there is no result, or it is unfinished.
    """
    state = read_json(folder / STATE)["state"]
    if state["done"] != state["total"]:
        raise InputError("the join is unfinished", file=folder, value=state["done"], remedy="Run it again to resume it")
    return Neighbours(*_arrays(folder, "r"))


def _join(
    matrix: TermMatrix,
    rows: NDArray[np.int64],
    folder: Path,
    journal: Journal,
    options: JoinOptions,
    engine: Engine | None,
    done: int,
    progress: Progress,
) -> None:
    from qbench.mining.join_layout import build

    searchable = build(
        matrix, k=options.k, k1=options.k1, b=options.b, epsilon=options.epsilon, drop_terms=options.drop_terms
    )
    # Equal texts come together, so that each is searched once (twice where a block ends between them).
    bag_of = searchable.bags.of[rows]
    order = np.argsort(bag_of, kind="stable")
    starts = range(done, rows.size, options.block)
    blocks = [np.unique(bag_of[order[start : start + options.block]]) for start in starts]
    arrays = _arrays(folder, "r+")
    searched = done

    def report(texts: int) -> None:
        nonlocal searched
        searched += texts
        progress(searched, rows.size, "texts joined")

    if engine is None:
        found = _in_threads(searchable, blocks, options)
    else:
        sizes = [min(options.block, rows.size - start) for start in starts]
        found = _on(engine, searchable, list(zip(blocks, sizes, strict=True)), folder, options, report)
    saved, when = done, time.monotonic()

    def save() -> None:
        nonlocal saved, when
        for array in arrays:
            array.flush()
        journal.write(done=done, total=rows.size)
        saved, when = done, time.monotonic()

    with closing(found):
        try:
            for best, bags in zip(found, blocks, strict=True):
                here = order[done : done + options.block]
                _write(searchable, best, bags, rows[here], bag_of[here], here, arrays)
                done += here.size
                # The rows of a block lie all over the files: to save each block would write nearly all of them again.
                # All are saved before the engine's shards are deleted.
                if done == rows.size or time.monotonic() - when >= SAVED_EVERY:
                    save()
                progress(max(done, searched), rows.size, "texts joined")
        finally:
            if saved < done:
                save()


def _in_threads(
    searchable: Searchable, blocks: Sequence[NDArray[np.int32]], options: JoinOptions
) -> Generator[Best, None, None]:
    """The best bags of each block of bags; the block after it is searched while one is used."""
    with ThreadPoolExecutor(options.threads or default_workers()) as threads:

        def begin(bags: NDArray[np.int32]) -> tuple[Best, list[Future[None]]]:
            best = join_task.empty(bags.size, options.k)
            part = partial(join_task.search_part, searchable.index, bags, best)
            return best, [threads.submit(part, start) for start in range(0, bags.size, join_task.QUERIES)]

        try:
            begun = map(begin, blocks)
            now = next(begun, None)
            while now is not None:
                following = next(begun, None)
                best, parts = now
                for part in parts:
                    part.result()
                yield best
                now = following
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise


def _on(
    engine: Engine,
    searchable: Searchable,
    blocks: Sequence[tuple[NDArray[np.int32], int]],
    folder: Path,
    options: JoinOptions,
    report: Callable[[int], None],
) -> Generator[Best, None, None]:
    """The best bags of each block of bags, each found once: an interrupted call finds its shards again.

    Args:
        engine: runs the search.
        searchable: the texts.
        blocks: bags, and the number of texts that are searched with them.
        folder: of the join.
        options: of the search.
        report: receives the number of texts of each block that is done.
    """
    index, shards = (folder / INDEX).absolute(), (folder / FOLDER).absolute()
    join_task.save(searchable, index)
    task = Task(join_task.__name__, {"folder": str(index), "k": options.k})
    payloads = ((*payload_of(bags.tolist()), texts) for bags, texts in blocks)
    chunks = (Chunk(f"{digest}-{options.k}", texts, payload) for payload, digest, texts in payloads)
    names = make_shards(
        task, chunks, shards, last=join_task.LAST, engine=engine, report=lambda chunk, _: report(chunk.items)
    )
    for name in names:
        yield join_task.read(shards, name, options.k)
    shutil.rmtree(shards)
    shutil.rmtree(index)


def _write(
    searchable: Searchable,
    best: Best,
    bags: NDArray[np.int32],
    texts: NDArray[np.int64],
    bag_of: NDArray[np.int32],
    rows_of_texts: NDArray[np.int64],
    arrays: list[np.memmap[Any, Any]],
) -> None:
    """Write what was found for some texts' bags into the texts' rows."""
    from qbench.mining.join_results import expand

    k, ours = best.scores.shape[1], searchable.bags
    slots = np.searchsorted(bags, bag_of)
    results = [np.zeros((texts.size, k), kind) for kind in ARRAYS.values()]
    results[0][:] = -1
    tied = np.empty((k + 1) ** 2, np.int64)
    expand(best, slots, texts, bags, ours.starts, ours.members, ours.own, ours.sizes, searchable.unit, tied, *results)
    for array, result in zip(arrays, results, strict=True):
        array[rows_of_texts] = result


def _resumed(folder: Path, journal: Journal, shape: tuple[int, int]) -> int:
    """Number of finished queries; if there is nothing to resume, empty arrays are made."""
    state = journal.read()
    with suppress(OSError, ValueError):  # arrays that are missing or cut short
        if state is not None and all(array.shape == shape for array in _arrays(folder, "r")):
            return int(state["done"])
    journal.path.unlink(missing_ok=True)
    # Shards of other texts would be taken for these texts'.
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
    for name, kind in ARRAYS.items():
        np.lib.format.open_memmap(folder / f"{name}.npy", "w+", dtype=kind, shape=shape).flush()
    journal.write(done=0, total=shape[0])
    return 0


def _arrays(folder: Path, mode: Literal["r", "r+"]) -> list[np.memmap[Any, Any]]:
    return [np.load(folder / f"{name}.npy", mmap_mode=mode, allow_pickle=False) for name in ARRAYS]


def _key(matrix: TermMatrix, rows: NDArray[np.int64], options: JoinOptions) -> str:
    """The key of the result; the size of blocks and the number of threads do not change it."""
    chosen = {name: value for name, value in asdict(options).items() if name not in ("block", "threads")}
    arrays = (matrix.starts, matrix.terms, matrix.counts, matrix.lengths, rows)
    sums = [hashlib.sha256(np.ascontiguousarray(array).data).hexdigest() for array in arrays]
    return key("self-join", options=chosen, arrays=sums)
