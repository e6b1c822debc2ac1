import dataclasses
import json
import shutil

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qbench.benchmark.benchmark import Benchmark, content_digest
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.parquet import SCHEMAS, conform, empty, read_table
from qbench.benchmark.types import SPLITS, Query
from qbench.errors import BusyError, InputError, OptionError
from qbench.quantities.types import COMPARATORS, Condition
from qbench.store import read_manifest, write_manifest
from tests.factories import frame, tiny_audit, tiny_benchmark
from tests.holding import held_by_another
from tests.resealed import reseal


def same(one: Benchmark, other: Benchmark) -> bool:
    def equal(name: str) -> bool:
        mine, theirs = one.table(name), other.table(name)
        return mine is theirs is None if mine is None or theirs is None else mine.equals(theirs)

    return one.queries == other.queries and all(equal(name) for name in SCHEMAS if name != "queries")


def test_what_is_written_is_read(tmp_path):
    made = tiny_benchmark()
    read = write_benchmark(made, tmp_path / "bench")
    assert same(made, read)
    assert read.name == "bench"
    assert read.params == made.params
    assert read.digest == content_digest(made)
    assert same(open_benchmark(str(tmp_path / "bench")), made)


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_benchmark(tiny_benchmark(), tmp_path / name / "bench")
    a, b = tmp_path / "a" / "bench", tmp_path / "b" / "bench"
    files = sorted(path.name for path in a.iterdir())
    assert files == sorted(path.name for path in b.iterdir())
    assert all((a / name).read_bytes() == (b / name).read_bytes() for name in files)


def test_another_content_has_another_digest():
    made = tiny_benchmark()
    other = dataclasses.replace(made, qrels=made.qrels.with_columns(grade=pl.lit(1, pl.Int16)))
    assert content_digest(made) != content_digest(other)


def test_judgments_and_samples_are_read_when_they_are_asked_for(tmp_path):
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    opened = open_benchmark(tmp_path / "bench")
    for name in ("qrels", "samples", "triples", "quantities"):
        (tmp_path / "bench" / f"{name}.parquet").unlink()
    assert opened.corpus.height == 12
    with pytest.raises(InputError, match="no such file"):
        _ = opened.samples


@pytest.mark.parametrize("split", SPLITS)
def test_the_judgments_of_a_split_are_read_alone(tmp_path, split, monkeypatch):
    made, heights = tiny_benchmark(), []

    def reading_table(*args):
        heights.append(read_table(*args).height)
        return read_table(*args)

    monkeypatch.setattr("qbench.benchmark.disk.read_table", reading_table)
    of_split = made.qrels.filter(pl.col("query_id").is_in([query.query_id for query in made.queries_of(split)]))
    read = write_benchmark(made, tmp_path / "bench")
    heights.clear()
    assert 0 < of_split.height < made.qrels.height
    assert read.judged(split).equals(of_split)
    assert heights == [of_split.height]
    assert made.judged(split).equals(of_split)
    assert read.qrels.equals(made.qrels)
    assert read.judged(split).equals(of_split)
    assert heights == [of_split.height, made.qrels.height]  # the table is there


def test_a_table_that_is_read_for_once_is_not_kept(tmp_path):
    made = tiny_benchmark()
    read = write_benchmark(made, tmp_path / "bench")
    assert read.has("quantities")
    assert not read.has("facts")
    assert read.read("facts") is None
    assert read.read("quantities").equals(made.quantities)
    assert callable(read.__dict__["_quantities"])


def test_a_loader_is_called_once():
    calls = []

    def load():
        calls.append(1)
        return empty("samples")

    made = dataclasses.replace(tiny_benchmark(), samples=load)
    assert made.samples is made.samples
    assert calls == [1]


def test_a_benchmark_without_training_data_and_quantities(tmp_path):
    made = tiny_benchmark()
    bare = Benchmark("bare", made.corpus, made.queries, made.qrels)
    read = write_benchmark(bare, tmp_path / "bench")
    assert read.quantities is None
    assert not (tmp_path / "bench" / "quantities.parquet").exists()
    assert read.samples.schema == empty("samples").schema
    assert read.triples.is_empty()


def test_a_finished_benchmark_is_left_as_it_is(tmp_path):
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    before = (tmp_path / "bench" / "manifest.json").stat().st_mtime_ns
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    assert (tmp_path / "bench" / "manifest.json").stat().st_mtime_ns == before


def test_another_benchmark_is_replaced_only_when_asked(tmp_path):
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    other = dataclasses.replace(tiny_benchmark(), digest="other")
    with pytest.raises(OptionError, match="holds a benchmark made from other input"):
        write_benchmark(other, tmp_path / "bench")
    assert write_benchmark(other, tmp_path / "bench", overwrite=True).digest == "other"


def test_two_writers_at_once(tmp_path):
    with held_by_another(tmp_path / "bench"), pytest.raises(BusyError):
        write_benchmark(tiny_benchmark(), tmp_path / "bench")


def test_a_failed_write_leaves_the_earlier_benchmark_whole(tmp_path, monkeypatch):
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    before = {p.name: p.read_bytes() for p in (tmp_path / "bench").iterdir()}

    def full_disk(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("qbench.benchmark.disk.card", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_benchmark(dataclasses.replace(tiny_benchmark(), digest="other"), tmp_path / "bench", overwrite=True)
    assert {p.name: p.read_bytes() for p in (tmp_path / "bench").iterdir()} == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: {"qrels": b.qrels.drop("grade")}, "the column 'grade' is missing"),
        (lambda b: {"qrels": b.qrels.cast({"grade": pl.Int64})}, "the column 'grade' should be Int16"),
        (lambda b: {"corpus": b.corpus.with_columns(text=pl.lit(None, pl.String))}, "'text' has an empty cell"),
        (lambda b: {"corpus": pl.concat([b.corpus, b.corpus])}, "doc_id should name one row only"),
        (lambda b: {"qrels": pl.concat([b.qrels, b.qrels])}, "query_id and doc_id should name one row only"),
        (lambda b: {"samples": b.samples.with_columns(value=pl.lit(float("inf")))}, "not a finite number"),
        (lambda b: {"samples": b.samples.with_columns(value=pl.lit(float("nan")))}, "not a finite number"),
        (lambda b: {"qrels": b.qrels.vstack(frame("qrels", [("q1", "nowhere", 1)]))}, "doc_id of a judgment"),
        (lambda b: {"qrels": b.qrels.vstack(frame("qrels", [("nobody", "d01", 1)]))}, "query_id of a judgment"),
        (lambda b: {"queries": [*b.queries, Query("q9", "unanswered")]}, "1 queries have no relevant document"),
        (lambda b: {"queries": [*b.queries, b.queries[0]]}, "query_id should name one row only"),
    ],
)
def test_what_is_not_written(tmp_path, change, message):
    made = tiny_benchmark()
    with pytest.raises(InputError, match=message):
        write_benchmark(dataclasses.replace(made, **change(made)), tmp_path / "bench")
    assert not (tmp_path / "bench").exists()


def test_a_training_query_may_have_samples_instead_of_judgments(tmp_path):
    made = tiny_benchmark()
    qrels = made.qrels.filter(pl.col("query_id") != "q1")
    assert len(write_benchmark(dataclasses.replace(made, qrels=qrels), tmp_path / "bench").queries) == 7


def rewrite(folder, table, frame):
    """Change a table behind its maker's back."""
    frame.write_parquet(folder / f"{table}.parquet")
    reseal(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q: q.drop("text"), r"queries.parquet: the column 'text' is missing"),
        (lambda q: q.with_columns(split=pl.lit("exam")), r"queries.parquet:1: unknown split \(found 'exam'\)"),
        (lambda q: q.with_columns(kind=pl.lit("odd")), r"queries.parquet:1: unknown kind"),
        (
            lambda q: q.with_columns(
                conditions=pl.col("conditions").list.eval(pl.element().struct.with_fields(comparator=pl.lit("~")))
            ),
            r"queries.parquet:1: not a query: unknown comparator",
        ),
    ],
)
def test_a_broken_table_is_named(tmp_path, change, message):
    folder = tmp_path / "bench"
    write_benchmark(tiny_benchmark(), folder)
    rewrite(folder, "queries", change(pl.read_parquet(folder / "queries.parquet")))
    with pytest.raises(InputError, match=message):
        open_benchmark(folder)


def test_a_file_that_is_no_parquet(tmp_path):
    folder = tmp_path / "bench"
    write_benchmark(tiny_benchmark(), folder)
    size = (folder / "corpus.parquet").stat().st_size
    (folder / "corpus.parquet").write_bytes(b"x" * size)
    with pytest.raises(InputError, match="not as it was written"):
        open_benchmark(folder)
    reseal(folder)
    with pytest.raises(InputError, match=r"corpus\.parquet: not a readable Parquet file"):
        open_benchmark(folder)
    (folder / "corpus.parquet").write_bytes(b"x")
    with pytest.raises(InputError, match="not as it was written"):
        open_benchmark(folder)
    (folder / "corpus.parquet").unlink()
    with pytest.raises(InputError, match=r"corpus\.parquet: a file of the benchmark is missing"):
        open_benchmark(folder)


def test_the_card_may_be_edited(tmp_path):
    folder = tmp_path / "bench"
    write_benchmark(tiny_benchmark(), folder)
    (folder / "README.md").write_text("mine", encoding="utf-8")
    assert len(open_benchmark(folder).queries) == 7


def test_folders_that_are_no_benchmark(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        open_benchmark(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="neither a benchmark"):
        open_benchmark(tmp_path / "empty")
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    with pytest.raises(OptionError, match="only a BEIR folder"):
        open_benchmark(tmp_path / "bench", qrels="dl19")


def test_an_unfinished_benchmark_is_not_opened(tmp_path):
    folder = tmp_path / "bench"
    write_benchmark(tiny_benchmark(), folder)
    (folder / "manifest.json").unlink()
    with pytest.raises(InputError, match="neither a benchmark"):
        open_benchmark(folder)


def test_the_manifest_counts(tmp_path):
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    manifest = read_manifest(tmp_path / "bench", "benchmark")
    assert manifest.counts["content"]["queries_by_split"] == {"train": 2, "dev": 1, "test": 4}
    assert manifest.counts["content"]["queries_by_unit_family"]["currency + mass"] == 1
    assert manifest.counts["made"] == {"rejected": {"undecided": 1}}


def test_datasets_loads_every_table_offline(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    # Not the environment: what the library reads of it at import would stay for the tests after this one.
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()
    made = write_benchmark(tiny_benchmark(), tmp_path / "bench")
    tables = {name: table for name in SCHEMAS if (table := made.table(name)) is not None}
    assert set(SCHEMAS) - set(tables) == {"facts"}
    for name, table in tables.items():
        loaded = datasets.load_dataset(str(tmp_path / "bench"), name, cache_dir=str(tmp_path / "cache"))[name]
        assert loaded.to_list() == table.to_dicts()


def test_conform_orders_the_columns():
    table = tiny_benchmark().qrels
    assert conform(table.select("grade", "doc_id", "query_id"), "qrels").equals(table)


finite = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = st.lists(st.text("abc|", min_size=1, max_size=4), max_size=4).map(tuple)


@st.composite
def conditions(draw):
    low, high = sorted((draw(finite), draw(finite)))
    numbers = {"value": low, "high": high, "base_value": draw(finite), "base_high": draw(finite)}
    words = {"unit": draw(texts), "base_unit": draw(texts), "value_text": draw(texts), "unit_text": draw(texts)}
    return Condition(comparator=draw(st.sampled_from(COMPARATORS)), concept=draw(names), **numbers, **words)


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(texts, texts, st.lists(conditions(), max_size=3).map(tuple)), min_size=1, max_size=5))
def test_any_query_survives_the_disk(tmp_path, drawn):
    queries = [Query(f"q{n}", text, terms, asked, topic=text) for n, (text, terms, asked) in enumerate(drawn)]
    corpus = frame("corpus", [("d", "text", "", "d")])
    qrels = frame("qrels", [(query.query_id, "d", 1) for query in queries])
    shutil.rmtree(tmp_path / "bench", ignore_errors=True)
    assert write_benchmark(Benchmark("b", corpus, queries, qrels), tmp_path / "bench").queries == queries


def test_queries_of_earlier_versions_are_topics_of_their_own(tmp_path):
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    read_table(tmp_path / "bench" / "queries.parquet", "queries").drop("topic").write_parquet(tmp_path / "old.parquet")
    assert read_table(tmp_path / "old.parquet", "queries")["topic"].unique().to_list() == [""]


def test_quantities_of_earlier_versions_are_read_under_their_new_names(tmp_path):
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    written = read_table(tmp_path / "bench" / "quantities.parquet", "quantities")
    names = {"comparator": "bound", "comparator_start": "bound_start", "comparator_end": "bound_end"}
    written.rename(names).write_parquet(tmp_path / "quantities.parquet")
    assert read_table(tmp_path / "quantities.parquet", "quantities").equals(written)


def test_a_benchmark_that_is_replaced_while_it_is_read_is_noticed(tmp_path):
    folder = tmp_path / "bench"
    made = write_benchmark(tiny_benchmark(), folder)
    opened = open_benchmark(folder)
    other = dataclasses.replace(made, samples=made.samples.head(3), digest="another")
    write_benchmark(other, folder, overwrite=True)
    with pytest.raises(InputError, match=r"samples\.parquet: the artefact was replaced while it was read"):
        _ = opened.samples
    assert opened.triples.height == made.triples.height  # the same file in both


@pytest.mark.parametrize("name", ["corpus", "qrels", "samples"])
def test_a_benchmark_without_a_table_is_refused(tmp_path, name):
    folder = tmp_path / "bench"
    write_benchmark(tiny_benchmark(), folder)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["files"][f"{name}.parquet"]
    write_manifest(folder, manifest)
    with pytest.raises(InputError, match="without this file"):
        open_benchmark(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda audit: audit.update(auditors={}),
        lambda audit: audit.update(auditors={"Ann": None}),
        lambda audit: audit.update(auditors={"Ann": {"asked": 3}}),
        lambda audit: audit.update(agreement={"Ann and Bob": {"kappa": "x"}}),
        lambda audit: audit.update(drawn={"seed": []}),
        lambda audit: audit.update(figures=[]),
        lambda audit: audit["figures"][0].update(share="high"),
        lambda audit: audit["figures"][0].update(low=[]),
        lambda audit: audit["figures"][0].update(kind=0.5),
        lambda audit: audit["figures"][0].update(read=True),
    ],
)
def test_the_record_of_an_audit_is_checked(tmp_path, change):
    folder = tmp_path / "bench"
    write_benchmark(tiny_benchmark(), folder)
    audit = tiny_audit(folder).to_json()
    (folder / "audit.json").write_text(json.dumps(audit))
    assert open_benchmark(folder).audit == tiny_audit(folder)
    change(audit)
    (folder / "audit.json").write_text(json.dumps(audit))
    with pytest.raises(InputError, match="not the record of an audit"):
        open_benchmark(folder)
