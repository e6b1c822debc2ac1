import dataclasses

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.benchmark import judgments
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.card import card, summary
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.judgments import Judgments
from qbench.benchmark.types import qrels_schema
from qbench.errors import InputError
from tests.factories import tiny_benchmark


def numbered(table: pl.DataFrame, doc_ids: pl.Series) -> Judgments:
    """The judgments of a table that is in the order of its queries, then of the documents."""
    places = {name: row for row, name in enumerate(doc_ids)}
    of_query = list(table.group_by("query_id", maintain_order=True))
    docs = [np.array([places[name] for name in rows["doc_id"]], np.int32) for _, rows in of_query]
    return Judgments([str(key[0]) for key, _ in of_query], doc_ids, docs, [r["grade"].to_numpy() for _, r in of_query])


def tabled(made: Judgments) -> pl.DataFrame:
    """The same table, made judgment by judgment."""
    rows = [
        (name, made.doc_ids[int(doc)], int(grade))
        for name, docs, grades in zip(made.queries, made.docs, made.grades, strict=True)
        for doc, grade in zip(docs, grades, strict=True)
    ]
    return pl.DataFrame(rows, schema=qrels_schema(), orient="row")


@st.composite
def some(draw: st.DrawFn) -> Judgments:
    documents = draw(st.integers(1, 9))
    ids = pl.Series([f"document {number}" for number in range(documents)])
    judged = draw(st.lists(st.sets(st.integers(0, documents - 1)), max_size=6))
    docs = [np.array(sorted(each), np.int32) for each in judged]
    grades = [np.array(draw(st.lists(st.integers(-1, 2), min_size=d.size, max_size=d.size)), np.int8) for d in docs]
    return Judgments([f"query {number}" for number in range(len(judged))], ids, docs, grades)


@settings(max_examples=60, deadline=None)
@given(some(), st.integers(1, 7))
def test_blocks_are_the_table_and_its_bytes(tmp_path_factory, made, rows):
    folder, table = tmp_path_factory.mktemp("judged"), tabled(made)
    whole = judgments.ROWS
    try:
        judgments.ROWS = rows
        assert made().equals(table)
        assert made.scan().select("grade").collect().equals(table.select("grade"))
        relevant = made.scan().filter(pl.col("grade") > 0).collect()
        assert relevant.equals(table.filter(pl.col("grade") > 0))
        assert made.scan().head(3).collect().equals(table.head(3))
        wanted = list(made.queries)[::2]
        assert made.of(wanted).equals(table.filter(pl.col("query_id").is_in(wanted)))
        for column in ("query_id", "doc_id"):
            assert sorted(made.named(column)) == sorted(table[column].unique())
    finally:
        judgments.ROWS = whole
    made.write(folder / "numbers.parquet")
    table.rechunk().write_parquet(folder / "table.parquet", compression="zstd", statistics=True)
    assert (folder / "numbers.parquet").read_bytes() == (folder / "table.parquet").read_bytes()


@pytest.mark.parametrize("extra", [0, 1])
def test_a_query_with_all_documents_is_written_in_row_groups_of_a_table(tmp_path, extra):
    ids = pl.Series([f"{number}" for number in range(150_000 + extra)])
    docs = np.arange(ids.len(), dtype=np.int32)
    few = np.array([3], np.int32)
    made = Judgments(
        ["a", "b", "c", "d"],
        ids,
        [docs, docs[:0], docs, few],
        [np.full(number, 2, np.int8) for number in (ids.len(), 0, ids.len(), 1)],
    )
    made.write(tmp_path / "numbers.parquet")
    table = made()
    assert table.height == made.height == 2 * ids.len() + 1
    table.rechunk().write_parquet(tmp_path / "table.parquet", compression="zstd", statistics=True)
    assert (tmp_path / "numbers.parquet").read_bytes() == (tmp_path / "table.parquet").read_bytes()


@pytest.mark.parametrize("docs", [[1, 1], [2, 1]])
def test_a_document_is_judged_once_by_a_query(docs):
    with pytest.raises(InputError, match="ascend, each once"):
        Judgments(["a"], pl.Series(["x", "y", "z"]), [np.array(docs, np.int32)], [np.zeros(2, np.int8)])


def test_a_query_stands_there_once():
    none = np.empty(0, np.int32)
    with pytest.raises(InputError, match="together"):
        Judgments(["a", "a"], pl.Series(["x"]), [none, none], [none.astype(np.int8)] * 2)


def as_numbers(bench: Benchmark) -> Benchmark:
    doc_ids = bench.corpus["doc_id"]
    table = bench.qrels.join(pl.DataFrame({"doc_id": doc_ids}).with_row_index("d"), on="doc_id")
    table = table.sort("query_id", "d").select(list(qrels_schema()))
    return dataclasses.replace(bench, qrels=numbered(table, doc_ids), digest="one")


def test_a_benchmark_of_numbers_is_written_as_one_of_a_table(tmp_path):
    numbers = as_numbers(tiny_benchmark())
    table = dataclasses.replace(numbers, qrels=as_numbers(tiny_benchmark()).qrels)
    write_benchmark(numbers, tmp_path / "a" / "bench")
    assert numbers.numbers is not None, "the table was made"
    assert summary(numbers) == summary(table)
    assert card(numbers, "bench", "one") == card(table, "bench", "one")
    assert numbers.numbers is not None
    assert table.numbers is None
    write_benchmark(table, tmp_path / "b" / "bench")
    for path in (tmp_path / "a" / "bench").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / "bench" / path.name).read_bytes()
    assert open_benchmark(tmp_path / "a" / "bench").qrels.equals(numbers.qrels)


def test_numbers_of_an_unknown_query_or_document_are_refused(tmp_path):
    bench = as_numbers(tiny_benchmark())
    assert bench.numbers is not None
    foreign = dataclasses.replace(bench.numbers, doc_ids=bench.numbers.doc_ids + "x")
    with pytest.raises(InputError, match="the doc_id of a judgment does not exist"):
        write_benchmark(dataclasses.replace(bench, qrels=foreign), tmp_path / "bench")
    foreign = dataclasses.replace(bench.numbers, queries=[f"{name}x" for name in bench.numbers.queries])
    with pytest.raises(InputError, match="the query_id of a judgment does not exist"):
        write_benchmark(dataclasses.replace(bench, qrels=foreign), tmp_path / "bench")


def test_a_query_without_judgments_is_refused(tmp_path):
    bench = as_numbers(tiny_benchmark())
    made = bench.numbers
    assert made is not None
    none = [docs[:0] if not number else docs for number, docs in enumerate(made.docs)]
    grades = [grades[:0] if not number else grades for number, grades in enumerate(made.grades)]
    with pytest.raises(InputError, match="1 queries have no relevant document") as refused:
        write_benchmark(
            dataclasses.replace(bench, qrels=dataclasses.replace(made, docs=none, grades=grades), samples=None),
            tmp_path / "bench",
        )
    assert made.queries[0] in str(refused.value)


def test_an_interrupted_write_leaves_no_benchmark_and_is_taken_up_again(tmp_path, monkeypatch):
    bench = as_numbers(tiny_benchmark())
    block = Judgments._block

    def interrupted(self, start, end, columns):
        if len(columns) == 3 and start:
            raise KeyboardInterrupt
        return block(self, start, end, columns)

    monkeypatch.setattr(judgments, "ROWS", 3)
    with monkeypatch.context() as patched:
        patched.setattr(Judgments, "_block", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_benchmark(bench, tmp_path / "bench")
    assert not (tmp_path / "bench").exists()
    assert write_benchmark(bench, tmp_path / "bench").qrels.equals(bench.qrels)
