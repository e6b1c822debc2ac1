"""Test sets judged by people (*Quantity Retrieval*, 5.3, manually annotated test set): their sheets, and the results.

What is particular to records of quantities is here; sheets, answers and disagreements are those of
`qbench.annotation`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from qbench import keys
from qbench.annotation.form import COMMENT, Item, Pair, Piece, write_csv
from qbench.annotation.options import ImportOptions
from qbench.annotation.page import page, pieces
from qbench.annotation.settling import settle
from qbench.benchmark.export import find_runs
from qbench.benchmark.types import qrels_schema
from qbench.errors import InputError, OptionError
from qbench.mining.options import PoolOptions
from qbench.mining.test_set import KIND, QuantityTestSet, open_test_set, sentence_qrels, write_test_set
from qbench.randomness import generator
from qbench.sheets import one_line
from qbench.store import file_digest, finished, write_text

COLUMNS: tuple[str, ...] = (
    "query_id",
    "query",
    "query_value",
    "query_sentence",
    "doc_id",
    "description",
    "value",
    "sentence",
    "judgment",
    COMMENT,
)

GUIDELINE = """\
# What is asked

A query describes a quantity. Each record below it is a quantity with its description and the sentence that states it.

# The grades

- 1, relevant: the sentence states the fact that the query describes, with the record's value.
- 0, not relevant: it states another fact, even if the value is the same or the words are alike.
- ?, cannot tell: the sentence leaves it open.

Judge by meaning: who, what, where and when must fit as far as the query says so. Values may be rounded or in
another unit.
"""

Pool = Mapping[str, Sequence[tuple[str, bool]]]
"""Query id -> records that systems retrieved, and whether their value agrees, in the order of ids."""


class RecordForm:
    """The `qbench.annotation.form.Form` of a test set: records of quantities, with their evidence.

    Any record may be judged for any query.

    Args:
        test_set: the automatic one.
    """

    columns = COLUMNS
    grade, text = "judgment", "description"
    labels: tuple[str, ...] = ("not relevant", "relevant")
    tones: tuple[str, ...] = ("no", "yes")
    words = False
    question = "Which records state what the query describes?"
    causes: tuple[str, ...] = ()
    highest = 100
    """Grades above 1 are for sheets that were filled in by other tools; a higher number is a slip."""

    def __init__(self, test_set: QuantityTestSet) -> None:
        self.key = test_set.digest
        self._queries = {row["description_id"]: row for row in test_set.queries().iter_rows(named=True)}
        self._records = {row["description_id"]: row for row in test_set.records().iter_rows(named=True)}

    def cells(self, item: Item) -> list[str]:
        """The row of an item: description, value and sentence of query and record."""
        query, record = ([row["description"], amount(row), row["sentence"]] for row in self._rows(item.pair))
        return [item.query_id, *map(one_line, query), item.doc_id, *map(one_line, record), "", ""]

    def query(self, query_id: str) -> tuple[str, list[str]]:
        """A query's description; its value and sentence."""
        row = self._queries[query_id]
        return row["description"], [amount(row), row["sentence"]]

    def claim(self, item: Item) -> str:
        """Nothing is claimed."""
        return ""

    def document(self, item: Item) -> tuple[str, list[Piece]]:
        """A record's description and value, and its sentence with the value marked."""
        _, row = self._rows(item.pair)
        return f"{row['description']}: {amount(row)}", marked_sentence(row)

    def texts(self, pair: Pair) -> tuple[str, str] | None:
        """The descriptions of a query and a record."""
        if pair[0] not in self._queries or pair[1] not in self._records:
            return None
        query, record = self._rows(pair)
        return query["description"], record["description"]

    def items(self, pairs: Collection[Pair]) -> list[Item]:
        """The items of some pairs, in the order of ids."""
        return [Item(*pair) for pair in sorted(pairs)]

    def _rows(self, pair: Pair) -> tuple[dict[str, Any], dict[str, Any]]:
        return self._queries[pair[0]], self._records[pair[1]]


def amount(row: Mapping[str, Any]) -> str:
    """The value and the unit of a record, a row of `qbench.mining.types.description_schema`."""
    high = f" to {row['high']:.15g}" if row["high"] != row["value"] else ""
    return f"{row['value']:.15g}{high} {row['unit']}"


def marked_sentence(row: Mapping[str, Any]) -> list[Piece]:
    """The sentence of a record with its value and unit marked."""
    spans = [(row["value_start"], row["value_end"], ""), (row["unit_start"], row["unit_end"], "")]
    return pieces(row["sentence"], [span for span in spans if span[0] >= 0 and row["sentence"]])


def pool_sheet(
    test_set: QuantityTestSet,
    folders: Sequence[str | Path],
    output: str | Path,
    options: PoolOptions = PoolOptions(),
) -> dict[str, int]:
    """Write the records that systems retrieved for some queries as a CSV file and a page, for people to judge.

    The sheet has all automatically relevant records of the pool, and some of the others. A retrieved sentence brings
    all its records. Queries are in random order, and so are the records of a query: nothing shows which system
    retrieved a record, or at which rank.

    Args:
        test_set: the automatic one.
        folders: of leaderboards on it.
        output: the CSV file to write; the page is written beside it. Neither may exist, since it may hold judgments.
        options: what is pooled. Queries are chosen among those for which something relevant was retrieved.

    Returns:
        sizes of the sheet.

    Raises:
        OptionError: the test set is judged already, or a file exists.
        InputError: a folder holds no run on this test set, a run cannot be read, or no run has a relevant record.
    """
    if test_set.manual:
        raise OptionError("this test set is judged already", file=test_set.folder, remedy="Pool the automatic one")
    output = Path(output)
    screen = output.with_suffix(".html")
    if screen == output:
        raise OptionError("the sheet is a CSV file", file=output, remedy=f"Name it {output.with_suffix('.csv').name}")
    for path in (output, screen):
        if path.exists():
            remedy = "Choose another name: it may hold judgments"
            raise OptionError("the sheet is there already", file=path, remedy=remedy)
    pool = _pool(test_set, [Path(folder) for folder in folders], options.depth)
    chosen = _choose(pool, options.queries, options.seed)
    rows = [row for name in chosen for row in _shuffled(pool[name], name, options.irrelevant, options.seed)]
    form, items = RecordForm(test_set), [Item(*pair) for pair, _ in rows]
    write_csv(form, items, output)
    write_text(screen, page(form, items, GUIDELINE, name=output.stem))
    relevant = sum(agrees for _, agrees in rows)
    return {
        "queries": len(chosen),
        "rows": len(rows),
        "automatically_relevant": relevant,
        "automatically_irrelevant": len(rows) - relevant,
        "queries_without_a_relevant_result": sum(not any(agrees for _, agrees in hits) for hits in pool.values()),
    }


def _pool(test_set: QuantityTestSet, folders: Sequence[Path], depth: int) -> Pool:
    records = test_set.records()
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
    agreeing = relevant.select("query_id", record="doc_id", agrees=pl.lit(value=True))
    marked = pl.concat(tops).unique().join(agreeing, on=["query_id", "record"], how="left").sort("query_id", "record")
    pool: dict[str, list[tuple[str, bool]]] = {}
    for query_id, record, agrees in marked.with_columns(pl.col("agrees").fill_null(value=False)).iter_rows():
        pool.setdefault(query_id, []).append((record, agrees))
    return pool


def _choose(pool: Pool, number: int, seed: int) -> list[str]:
    """Some queries with a relevant record in the pool, in random order."""
    answered = [query_id for query_id, hits in pool.items() if any(agrees for _, agrees in hits)]
    if not answered:
        raise InputError("no system found anything relevant", remedy="Pool deeper, or other systems")
    order = generator(seed, "pooled queries").permutation(len(answered))[:number]
    return [answered[i] for i in order.tolist()]


def _shuffled(hits: Sequence[tuple[str, bool]], query_id: str, irrelevant: int, seed: int) -> list[tuple[Pair, bool]]:
    """All records of a query that agree and some that do not, in random order."""
    rng = generator(seed, "pooled records", query_id)
    wrong = [i for i, (_, agrees) in enumerate(hits) if not agrees]
    sampled = set(rng.permutation(wrong)[:irrelevant].tolist())
    rows = [((query_id, record), agrees) for i, (record, agrees) in enumerate(hits) if agrees or i in sampled]
    return [rows[i] for i in rng.permutation(len(rows)).tolist()]


def judge(
    test_set: QuantityTestSet,
    files: Sequence[str | Path],
    output: str | Path,
    options: ImportOptions = ImportOptions(),
    *,
    command: str | None = None,
    overwrite: bool = False,
) -> QuantityTestSet:
    """Make a test set whose relevance people judged.

    Its queries are those with a record of grade 1 or more; its corpora are those of the automatic test set. A sentence
    has the best grade of its records; it is judged irrelevant if all its records are. What nobody judged has no row
    among the qrels: it counts as not relevant, and a leaderboard says how much of it there is.

    Args:
        test_set: the one that the sheets were made from.
        files: one per annotator: CSV with the columns query_id, doc_id and judgment (0 for not relevant, 1 or a higher
            grade for relevant, blank or ? for no judgment), or what the page saved. They may share the work, or
            overlap.
        output: the folder to write.
        options: as for `qbench.annotation.judged.import_answers`.
        command: the command line, for the card.
        overwrite: replace a test set that was made from something else.

    Raises:
        InputError: a file cannot be read or used, annotators disagree (unless resolved), or nothing is relevant.
        OptionError: no file, two of one name, or `output` holds something else.
        BusyError: another process is writing there.
    """
    output = Path(output)
    judgments = settle(RecordForm(test_set), files, output, options, GUIDELINE)
    rule = {
        "judgments": "manual",
        "test_set": test_set.digest,
        "sheets": [file_digest(Path(file)) for file in [*files, *filter(None, [options.adjudicated])]],
        "resolve": options.resolve,
        **{name: test_set.params[name] for name in ("licence", "extractor") if name in test_set.params},
    }
    key = keys.key("judged test set", **rule, on_error=options.on_error, names=options.names)
    if finished(output, KIND, key):
        return open_test_set(output)
    records = test_set.records()
    queries, qrels = _tables(judgments.grades, test_set.queries(), records)
    if not queries.height:
        raise InputError("no judgment is relevant", file=Path(files[0]), remedy="Judge some rows 1 or higher")
    counts: dict[str, Any] = {
        "queries": queries.height,
        "judged_queries_without_a_relevant_record": len({q for q, _ in judgments.grades}) - queries.height,
        "judgments": len(judgments.grades),
        "relevant_records": sum(grade > 0 for grade in judgments.grades.values()),
        "rows_not_judged": sum(answers.blank for answers in judgments.answers),
        "records": records.height,
        "judged_differently": judgments.graded_differently,
        "agreement": judgments.agreement(judgments.names(real=options.names)),
        **judgments.problems.summary(),
    }
    views = {"C_q": qrels}
    if "C_s" in test_set.views:
        views = {"C_s": _sentences(qrels, records), **views}
    return write_test_set(
        output,
        key,
        queries=queries,
        records=records,
        qrels=views,
        params={**rule, "command": command},
        counts=counts,
        overwrite=overwrite,
    )


def _tables(
    grades: Mapping[Pair, int], queries: pl.DataFrame, records: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The queries with a relevant record, and their qrels in the order of queries and records."""
    rows = [(query_id, doc_id, grade) for (query_id, doc_id), grade in grades.items()]
    judged = pl.DataFrame(rows, schema=qrels_schema(), orient="row")
    answered = judged.filter(pl.col("grade") > 0)["query_id"].unique()
    queries = queries.filter(pl.col("description_id").is_in(answered.implode()))
    query_order = queries.select(query_id="description_id").with_row_index("q")
    record_order = records.select(doc_id="description_id").with_row_index("d")
    qrels = judged.join(query_order, on="query_id").join(record_order, on="doc_id").sort("q", "d")
    return queries, qrels.select(list(qrels_schema()))


def _sentences(qrels: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Judgments of sentences; one without a relevant record has one only if all its records are judged."""
    sentence = records.select("description_id", sentence="doc_id")
    sizes = sentence.group_by("sentence").agg(size=pl.len())
    complete = (
        qrels.join(sentence, left_on="doc_id", right_on="description_id")
        .group_by("query_id", "sentence")
        .agg(judged=pl.len())
        .join(sizes, on="sentence")
        .filter(pl.col("judged") == pl.col("size"))
        .select("query_id", doc_id="sentence", complete=pl.lit(value=True))
    )
    joined = sentence_qrels(qrels, records).join(complete, on=["query_id", "doc_id"], how="left", maintain_order="left")
    return joined.filter((pl.col("grade") > 0) | pl.col("complete")).drop("complete")
