"""From sheets that people filled in to a judged test set (*Quantity Retrieval*, 5.3, manually annotated test set)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from qbench import keys
from qbench.errors import InputError, OptionError
from qbench.evaluation.agreement import Resolve, agreements, settled
from qbench.mining.pooling import JUDGED
from qbench.mining.test_set import KIND, QuantityTestSet, open_test_set, sentence_qrels, write_test_set
from qbench.sheets import read_sheet, unshielded
from qbench.store import file_digest, finished

if TYPE_CHECKING:
    import polars as pl

HIGHEST = 100
"""The highest grade that is taken for one; more is a slip."""

_SHOWN = 5
"""Disagreements that an error lists."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Sheet:
    """What one file says: (query, record) -> (grade, line), and how many rows are blank."""

    path: Path
    grades: dict[Pair, tuple[int, int]]
    blank: int


def judge(
    test_set: QuantityTestSet,
    sheets: Sequence[str | Path],
    output: str | Path,
    *,
    resolve: Resolve = "fail",
    overwrite: bool = False,
) -> QuantityTestSet:
    """Make a test set whose relevance people judged.

    Its queries are those with a record of grade 1 or more; its corpora are those of the automatic test set. A sentence
    has the best grade of its records; it is judged irrelevant if all its records are. What nobody judged has no row
    among the qrels: it counts as not relevant, and a leaderboard says how much of it there is.

    Args:
        test_set: the one that the sheets were made from.
        sheets: CSV files with the columns query_id, doc_id and judgment: 0 for not relevant, 1 or a higher grade for
            relevant, blank where nobody judged. Each is one person's; several may share the work, or overlap.
        output: the folder to write.
        resolve: what to do about a record that two sheets grade differently.
        overwrite: replace a test set that was made from something else.

    Raises:
        InputError: a sheet cannot be read, names a query or a record that is not there, judges a row twice, holds a
            judgment that is no grade, disagrees with another (unless resolved), or nothing is relevant.
        OptionError: no sheet, or `output` holds something else.
        BusyError: another process is writing there.
    """
    paths = [Path(sheet) for sheet in sheets]
    if not paths:
        raise OptionError("no sheet named")
    twice = [path for number, path in enumerate(paths) if path.resolve() in {p.resolve() for p in paths[:number]}]
    if twice:
        raise OptionError("this sheet is named twice", value=str(twice[0]), remedy="Name each person's sheet once")
    if resolve not in get_args(Resolve):
        raise OptionError("unknown way to resolve", value=resolve, remedy=f"Use {', '.join(get_args(Resolve))}")
    asked, records = test_set.queries(), test_set.records()
    known = set(asked["description_id"]), set(records["description_id"])
    read = [_read(path, *known) for path in paths]
    sums = [file_digest(path) for path in paths]
    key = keys.key("judged test set", test_set=test_set.digest, sheets=sums, resolve=resolve)
    if finished(Path(output), KIND, key):
        return open_test_set(output)
    agreement = agreements(
        [(sheet.path.name, {pair: grade for pair, (grade, _) in sheet.grades.items()}) for sheet in read]
    )
    grades, disputed = _resolved(read, resolve, agreement)
    queries, qrels = _tables(grades, asked, records)
    if not queries.height:
        raise InputError("no judgment is relevant", file=paths[0], remedy="Judge some rows 1 or higher")
    counts: dict[str, Any] = {
        "queries": queries.height,
        "judged_queries_without_a_relevant_record": len({q for q, _ in grades}) - queries.height,
        "judgments": len(grades),
        "relevant_records": sum(grade > 0 for grade in grades.values()),
        "rows_not_judged": sum(sheet.blank for sheet in read),
        "records": records.height,
        "judged_differently": disputed,
        "agreement": agreement,
    }
    params = {
        "judgments": "manual",
        "test_set": test_set.digest,
        "sheets": sums,
        "resolve": resolve,
        "command": shlex.join(
            [
                "qbench",
                "test-set",
                "judge",
                "TESTSET",
                *(path.name for path in paths),
                "-o",
                "JUDGED",
                "--resolve",
                resolve,
            ]
        ),
        **{name: test_set.params[name] for name in ("licence", "extractor") if name in test_set.params},
    }
    views = {"C_q": qrels}
    if "C_s" in test_set.views:
        views = {"C_s": _sentences(qrels, records), **views}
    return write_test_set(
        Path(output),
        key,
        queries=queries,
        records=records,
        qrels=views,
        params=params,
        counts=counts,
        overwrite=overwrite,
    )


def _read(path: Path, queries: set[str], records: set[str]) -> _Sheet:
    grades: dict[Pair, tuple[int, int]] = {}
    blank = 0
    for line, row in read_sheet(path, JUDGED):
        query_id = _known(row["query_id"], "query_id", queries, path, line)
        doc_id = _known(row["doc_id"], "doc_id", records, path, line)
        text = row["judgment"].strip()
        if not text:
            blank += 1
            continue
        if (query_id, doc_id) in grades:
            value = (query_id, doc_id)
            raise InputError("this row is judged twice", file=path, line=line, value=value, remedy="Keep one of them")
        grades[query_id, doc_id] = _grade(text, path, line), line
    if not grades:
        raise InputError("no row of this sheet is judged", file=path, remedy="Write 0 or 1 into the column judgment")
    return _Sheet(path, grades, blank)


def _known(cell: str, column: str, ids: set[str], path: Path, line: int) -> str:
    for name in (cell, unshielded(cell)):
        if name in ids:
            return name
    remedy = "Was the sheet made from another test set?"
    raise InputError(f"this {column} is not in the test set", file=path, line=line, value=cell, remedy=remedy)


def _grade(text: str, path: Path, line: int) -> int:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not (number.is_integer() and 0 <= number <= HIGHEST):
        remedy = "Write 0 for not relevant, 1 or a higher grade for relevant, or nothing"
        raise InputError("not a judgment", file=path, line=line, value=text, remedy=remedy)
    return int(number)


def _resolved(
    sheets: Sequence[_Sheet], resolve: Resolve, agreement: dict[str, dict[str, float | None]]
) -> tuple[dict[Pair, int], int]:
    """One grade for each judged record, and how many were graded differently."""
    said: dict[Pair, list[tuple[int, Path, int]]] = {}
    for sheet in sheets:
        for pair, (grade, line) in sheet.grades.items():
            said.setdefault(pair, []).append((grade, sheet.path, line))
    disputed = {pair: told for pair, told in said.items() if len({grade for grade, _, _ in told}) > 1}
    if disputed and resolve == "fail":
        shown = [
            " against ".join(f"{grade} ({path.name}:{line})" for grade, path, line in told)
            for told in list(disputed.values())[:_SHOWN]
        ]
        kappas = ", ".join(f"{name}: {found['kappa']}" for name, found in agreement.items())
        _, path, line = next(iter(disputed.values()))[-1]
        raise InputError(
            f"{len(disputed)} rows are judged differently: {'; '.join(shown)}"
            + ("; ..." if len(disputed) > _SHOWN else "")
            + f". Cohen's kappa of {kappas}",
            file=path,
            line=line,
            remedy="Settle them, or use --resolve first, lowest or highest",
        )
    grades = {pair: settled([grade for grade, _, _ in told], resolve) for pair, told in said.items()}
    return grades, len(disputed)


def _tables(grades: dict[Pair, int], asked: pl.DataFrame, records: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The queries with something relevant, and their qrels in the order of queries and records."""
    import polars as pl

    from qbench.benchmark.types import qrels_schema

    rows = [(query_id, doc_id, grade) for (query_id, doc_id), grade in grades.items()]
    judged = pl.DataFrame(rows, schema=qrels_schema(), orient="row")
    answered = judged.filter(pl.col("grade") > 0)["query_id"].unique()
    queries = asked.filter(pl.col("description_id").is_in(answered.implode()))
    place = queries.select(query_id="description_id").with_row_index("q")
    order = records.select(doc_id="description_id").with_row_index("d")
    qrels = judged.join(place, on="query_id").join(order, on="doc_id").sort("q", "d")
    return queries, qrels.select(list(qrels_schema()))


def _sentences(qrels: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Judgments of sentences; one of which some record was not judged, and none is relevant, has no judgment."""
    import polars as pl

    sentence = records.select("description_id", sentence="doc_id")
    sizes = sentence.group_by("sentence").agg(size=pl.len())
    seen = (
        qrels.join(sentence, left_on="doc_id", right_on="description_id")
        .group_by("query_id", "sentence")
        .agg(seen=pl.len())
        .join(sizes, on="sentence")
        .filter(pl.col("seen") == pl.col("size"))
        .select("query_id", doc_id="sentence", whole=pl.lit(value=True))
    )
    joined = sentence_qrels(qrels, records).join(seen, on=["query_id", "doc_id"], how="left", maintain_order="left")
    return joined.filter((pl.col("grade") > 0) | pl.col("whole")).drop("whole")
