"""A sheet to judge by hand: what systems found for some queries of a test set (*Quantity Retrieval*, 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.errors import InputError, OptionError
from qbench.mining.options import PoolOptions
from qbench.randomness import generator
from qbench.sheets import one_line, write_sheet

if TYPE_CHECKING:
    import polars as pl

    from qbench.mining.test_set import QuantityTestSet

JUDGED = ("query_id", "doc_id", "judgment")
"""The columns that `qbench test-set judge` reads."""

COLUMNS = (
    "query_id",
    "query",
    "query_value",
    "query_sentence",
    "doc_id",
    "description",
    "value",
    "sentence",
    "judgment",
)


def pool_sheet(
    test_set: QuantityTestSet,
    folders: Sequence[str | Path],
    output: str | Path,
    options: PoolOptions = PoolOptions(),
) -> dict[str, int]:
    """Write what systems found for some queries as a CSV file, a record per row, for people to judge.

    All automatically relevant records of the pool are in it, and some of the others. A sentence that a system found
    brings all its records. Queries come in random order, and so do the records of a query: nothing says which system
    found one, or how high.

    Args:
        test_set: the automatic one.
        folders: of leaderboards on it.
        output: the file to write; it must not be there yet, since it might hold judgments.
        options: what is pooled. Queries are chosen among those for which something relevant was found.

    Returns:
        what is in the sheet -> how many.

    Raises:
        OptionError: the test set is judged already, or the file is there.
        InputError: no folder holds a run on this test set, a run cannot be read, or none found anything relevant.
    """
    if test_set.manual:
        raise OptionError("this test set is judged already", file=test_set.folder, remedy="Pool the automatic one")
    output = Path(output)
    if output.exists():
        remedy = "Choose another name: it may hold judgments"
        raise OptionError("the sheet is there already", file=output, remedy=remedy)
    records = test_set.records()
    pool = _pool(test_set, [Path(folder) for folder in folders], records, options.depth)
    chosen = _choose(pool, options.queries, options.seed)
    rows = [row for name in chosen for row in _shuffled(pool[name], name, options.irrelevant, options.seed)]
    _write(output, rows, test_set.queries(), records)
    relevant = sum(agrees for _, _, agrees in rows)
    return {
        "queries": len(chosen),
        "rows": len(rows),
        "automatically_relevant": relevant,
        "automatically_irrelevant": len(rows) - relevant,
        "queries_without_a_relevant_result": sum(not any(agrees for _, agrees in found) for found in pool.values()),
    }


def _pool(
    test_set: QuantityTestSet, folders: list[Path], records: pl.DataFrame, depth: int
) -> dict[str, list[tuple[str, bool]]]:
    """Query -> the records found for it, and whether their value agrees; both in the order of their ids."""
    import polars as pl

    from qbench.benchmark.export import find_runs

    ids = {
        "C_q": records.select(doc_id="description_id", record="description_id"),
        "C_s": records.select(doc_id="doc_id", record="description_id"),
    }
    tops = []
    for folder in folders:
        runs = [
            run.filter(pl.col("rank") <= depth).join(ids[view], on="doc_id").select("query_id", "record")
            for view, benchmark in test_set.views.items()
            for run in find_runs(folder / "runs", benchmark).values()
        ]
        if not runs:
            remedy = "Make one with `qbench leaderboard TESTSET -o FOLDER`, and name that folder"
            raise InputError("no finished run on this test set", file=folder, remedy=remedy)
        tops += runs
    if not tops:
        raise OptionError("no leaderboard named")
    relevant = test_set.views["C_q"].qrels.filter(pl.col("grade") > 0)
    marked = (
        pl.concat(tops)
        .unique()
        .join(
            relevant.select("query_id", record="doc_id", agrees=pl.lit(value=True)),
            on=["query_id", "record"],
            how="left",
        )
        .with_columns(pl.col("agrees").fill_null(value=False))
        .sort("query_id", "record")
    )
    found: dict[str, list[tuple[str, bool]]] = {}
    for query_id, record, agrees in marked.iter_rows():
        found.setdefault(query_id, []).append((record, agrees))
    return found


def _choose(pool: dict[str, list[tuple[str, bool]]], queries: int, seed: int) -> list[str]:
    """Some queries for which something relevant was found, in random order."""
    answered = [query_id for query_id, found in pool.items() if any(agrees for _, agrees in found)]
    if not answered:
        raise InputError("no system found anything relevant", remedy="Pool deeper, or other systems")
    order = generator(seed, "pooled queries").permutation(len(answered))[:queries]
    return [answered[i] for i in order.tolist()]


def _shuffled(found: list[tuple[str, bool]], query_id: str, irrelevant: int, seed: int) -> list[tuple[str, str, bool]]:
    """(query, record, whether the value agrees): all that agree and some that do not, in random order."""
    rng = generator(seed, "pooled records", query_id)
    wrong = [i for i, (_, agrees) in enumerate(found) if not agrees]
    kept = set(rng.permutation(wrong)[:irrelevant].tolist())
    rows = [(query_id, *one) for i, one in enumerate(found) if one[1] or i in kept]
    return [rows[i] for i in rng.permutation(len(rows)).tolist()]


def _write(path: Path, rows: list[tuple[str, str, bool]], queries: pl.DataFrame, records: pl.DataFrame) -> None:
    import polars as pl

    asked = {row["description_id"]: row for row in queries.iter_rows(named=True)}
    wanted = pl.DataFrame({"description_id": sorted({record for _, record, _ in rows})})
    found = {row["description_id"]: row for row in records.join(wanted, on="description_id").iter_rows(named=True)}
    cells = ([query_id, *_told(asked[query_id]), record, *_told(found[record]), ""] for query_id, record, _ in rows)
    write_sheet(path, COLUMNS, cells)


def _told(row: dict[str, Any]) -> tuple[str, str, str]:
    """Description, value and sentence of a record, each on one line; a very long one is cut."""
    value = f"{row['value']:.15g}" + (f" to {row['high']:.15g}" if row["high"] != row["value"] else "")
    description, amount, sentence = map(one_line, (row["description"], f"{value} {row['unit']}", row["sentence"]))
    return description, amount, sentence
