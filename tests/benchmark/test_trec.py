import gzip

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qbench.benchmark.reading import Problems
from qbench.benchmark.trec import rank_run, read_qrels, read_run, write_qrels, write_run
from qbench.benchmark.types import qrels_schema, run_schema
from qbench.errors import InputError


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_ranks_follow_scores_and_ties_follow_document_ids(tmp_path):
    path = write(
        tmp_path / "a.run",
        "q2 Q0 d1 9 1.5 tag\nq1 Q0 d1 1 2 tag\nq1 Q0 d3 7 2.0 tag\nq1 Q0 d2 2 1e1 tag\nq1\tQ0\td4\t1\t-3\ttag\n",
    )
    run = read_run(path)
    assert run.schema == pl.Schema(run_schema())
    assert run.rows() == [
        ("q1", "d2", 1, 10.0),
        ("q1", "d3", 2, 2.0),
        ("q1", "d1", 3, 2.0),
        ("q1", "d4", 4, -3.0),
        ("q2", "d1", 1, 1.5),
    ]


BAD_RUNS = [
    ("q1 Q0 d1 1 2.0", "not a line of a TREC run"),
    ("q1 Q0 d1 1 2.0 tag more", "not a line of a TREC run"),
    ("q1 Q0 d1 1 nan tag", "the score is not a finite number"),
    ("q1 Q0 d1 1 -inf tag", "the score is not a finite number"),
    ("q1 Q0 d1 1 high tag", "the score is not a finite number"),
    ("q1 Q0 d0 1 2.0 tag", "ranked twice"),
    (b"q1 Q0 d\xff 1 2.0 tag", "not valid UTF-8"),
]


@pytest.mark.parametrize(("line", "message"), BAD_RUNS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_bad_line_of_a_run_is_named(tmp_path, line, message, packed):
    text = b"q1 Q0 d0 1 3.0 tag\n\n" + (line if isinstance(line, bytes) else line.encode()) + b"\n"
    path = write(tmp_path / ("a.run.gz" if packed else "a.run"), gzip.compress(text) if packed else text)
    with pytest.raises(InputError, match=message) as caught:
        read_run(path)
    assert (caught.value.file, caught.value.line) == (str(path), 3)
    assert caught.value.value


def test_runs_that_are_not_there(tmp_path):
    for name in ("a.run", "a.parquet"):
        with pytest.raises(InputError, match="no such file"):
            read_run(tmp_path / name)
    with pytest.raises(InputError, match="the file is empty"):
        read_run(write(tmp_path / "b.run", ""))
    with pytest.raises(InputError, match="cannot be read"):
        read_run(tmp_path)


@pytest.mark.parametrize(("suffix", "codec"), [(".gz", "gzip"), (".zst", "zstd")])
def test_a_file_that_breaks_off_is_an_error_even_where_bad_rows_are_skipped(tmp_path, suffix, codec):
    path = tmp_path / f"q.tsv{suffix}"
    with pa.CompressedOutputStream(str(path), codec) as stream:
        stream.write("".join(f"q{n}\td{n * n}\t1\n" for n in range(20_000)).encode())
    assert len(read_qrels(path)) == 20_000
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(InputError, match="breaks off"):
        read_qrels(path, Problems("skip"))


def test_a_run_as_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"score": [1, 2], "doc_id": ["d1", "d2"], "query_id": [7, 7], "other": ["x", "y"]}).write_parquet(path)
    assert read_run(path).rows() == [("7", "d2", 1, 2.0), ("7", "d1", 2, 1.0)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query_id": ["q"], "doc_id": ["d"]}, "not a run with columns query_id, doc_id, score"),
        ({"query_id": ["q"], "doc_id": ["d"], "score": ["high"]}, "not a run with columns"),
        ({"query_id": ["q"], "doc_id": ["d"], "score": [float("nan")]}, "parquet:1: the run holds a score"),
        ({"query_id": ["q"], "doc_id": [None], "score": [1.0]}, "an empty cell"),
        ({"query_id": ["q", "q"], "doc_id": ["d", "d"], "score": [1.0, 2.0]}, "ranked twice"),
    ],
)
def test_a_bad_run_as_parquet(tmp_path, columns, message):
    pl.DataFrame(columns).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "a.parquet")


def test_no_parquet_at_all(tmp_path):
    with pytest.raises(InputError, match="not a run"):
        read_run(write(tmp_path / "a.parquet", "q1 Q0 d1 1 2.0 tag\n"))


ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)
scores = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.tuples(ids, ids), scores, min_size=1, max_size=12), st.booleans())
def test_any_run_survives_the_disk(tmp_path, drawn, packed):
    run = rank_run(
        pl.DataFrame([(q, d, s) for (q, d), s in drawn.items()], schema=["query_id", "doc_id", "score"], orient="row")
    )
    path = tmp_path / ("a.run.gz" if packed else "a.run")
    write_run(run, path, "my system (k=1)")
    assert read_run(path).equals(run)


def test_ranking_agrees_with_sorting_in_python():
    rows = [("q", f"d{n % 7}x{n}", float(n % 3)) for n in range(20)]
    ranked = rank_run(pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row"))
    expected = sorted(rows, key=lambda row: (row[2], row[1]), reverse=True)
    assert ranked["doc_id"].to_list() == [doc for _, doc, _ in expected]
    assert ranked["rank"].to_list() == list(range(1, 21))


def test_equal_runs_are_equal_files(tmp_path):
    run = rank_run(pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [0.1]}))
    for name in ("a.run.gz", "b.run.gz"):
        write_run(run, tmp_path / name, "two words")
    assert (tmp_path / "a.run.gz").read_bytes() == (tmp_path / "b.run.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.run.gz").read_bytes()) == b"q Q0 d 1 0.1 two_words\n"


def test_qrels_in_both_layouts(tmp_path):
    trec = write(tmp_path / "a.txt", "q1 0 d1 2\nq1\t0\td2\t-1\n")
    beir = write(tmp_path / "a.tsv", "query-id\tcorpus-id\tscore\nq 1\td 1\t2\n")
    assert read_qrels(trec).rows() == [("q1", "d1", 2), ("q1", "d2", -1)]
    assert read_qrels(beir).rows() == [("q 1", "d 1", 2)]
    assert read_qrels(beir).schema == pl.Schema(qrels_schema())


BAD = ["q1 0 d1", "q1 0 d1 x", "q1 0 d1 1 1", "q1\td1\t1.5", "\td1\t1", "q1 0 d1 ٣", "q1 0 d1 1_0"]


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_of_qrels_is_named(tmp_path, line):
    path = write(tmp_path / "a.txt", "q1 0 d0 1\n" + line + "\n")
    with pytest.raises(InputError, match=r"a\.txt:2: not a judgment"):
        read_qrels(path)


def test_no_score_is_below_zero_by_its_sign_alone(tmp_path):
    run = read_run(write(tmp_path / "r.txt", "q1 Q0 d1 1 0 x\nq1 Q0 d2 2 -0 x\nq1 Q0 d3 3 -0.0 x\n"))
    assert run["doc_id"].to_list() == ["d3", "d2", "d1"]
    assert not any(str(score).startswith("-") for score in run["score"])
    for score in ("٣", "1_0", "1e999"):
        with pytest.raises(InputError, match="the score is not a finite number"):
            read_run(write(tmp_path / "r.txt", f"q1 Q0 d1 1 {score} x\n"))


def test_qrels_survive_the_disk(tmp_path):
    qrels = pl.DataFrame([("q1", "d1", 2), ("q1", "d2", 0)], schema=qrels_schema(), orient="row")
    write_qrels(qrels, tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == "q1 0 d1 2\nq1 0 d2 0\n"
    assert read_qrels(tmp_path / "a.txt").equals(qrels)


def test_ids_with_white_space_do_not_go_into_trec_files(tmp_path):
    qrels = pl.DataFrame([("q1", "d 1", 2)], schema=qrels_schema(), orient="row")
    run = pl.DataFrame([("q1", "d\u00a01", 1, 2.0)], schema=run_schema(), orient="row")
    with pytest.raises(InputError, match="Export to BEIR instead"):
        write_qrels(qrels, tmp_path / "a.txt")
    with pytest.raises(InputError, match="this id holds some"):
        write_run(run, tmp_path / "a.run", "tag")
    assert list(tmp_path.iterdir()) == []
