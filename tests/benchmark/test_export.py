import dataclasses
import json
import shutil

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.export import (
    export_beir,
    export_ir_datasets,
    export_sentence_transformers,
    export_trec,
    stored_runs,
)
from qbench.benchmark.trec import rank_run, read_qrels, read_run
from qbench.benchmark.types import Query
from qbench.errors import BusyError, InputError, OptionError
from qbench.store import drafting
from tests.factories import frame, tiny_benchmark
from tests.holding import held_by_another


def test_beir_and_back(tmp_path):
    made = tiny_benchmark()
    made = dataclasses.replace(made, queries=[dataclasses.replace(q, topic=f"on {q.kind}") for q in made.queries])
    files = export_beir(made, tmp_path / "beir")
    assert [str(path.relative_to(tmp_path / "beir")) for path in files] == [
        "corpus.jsonl",
        "qrels/dev.tsv",
        "qrels/test.tsv",
        "qrels/train.tsv",
        "queries.jsonl",
    ]
    read = open_benchmark(tmp_path / "beir")
    assert read.corpus.equals(made.corpus)
    assert read.queries == made.queries
    assert read.qrels.equals(made.qrels)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ids = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5).filter(str.strip)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(ids, st.tuples(texts, texts), min_size=1, max_size=4),
    st.dictionaries(ids, texts.filter(str.strip), min_size=1, max_size=4),
)
def test_any_texts_and_ids_go_to_beir_and_back(tmp_path, documents, queries):
    corpus = frame("corpus", [(doc, text, title, "source") for doc, (text, title) in documents.items()])
    qrels = frame("qrels", [(query, doc, 2) for query in queries for doc in documents])
    made = Benchmark("b", corpus, [Query(query, text) for query, text in queries.items()], qrels)
    shutil.rmtree(tmp_path / "beir", ignore_errors=True)
    export_beir(made, tmp_path / "beir")
    read = open_benchmark(tmp_path / "beir")
    assert read.corpus.equals(made.corpus)
    assert read.queries == made.queries
    assert read.qrels.equals(made.qrels)


def test_trec_files(tmp_path):
    made = tiny_benchmark()
    files = export_trec(made, tmp_path / "trec")
    assert [path.name for path in files] == [
        f"{what}.{split}.{ending}"
        for what, ending in (("qrels", "txt"), ("topics", "tsv"))
        for split in ("dev", "test", "train")
    ]
    judged = pl.concat([read_qrels(tmp_path / "trec" / f"qrels.{split}.txt") for split in ("train", "dev", "test")])
    assert judged.equals(made.qrels)
    assert (tmp_path / "trec" / "topics.dev.tsv").read_text() == "q3\tnet income over $10 million\n"


def keep_run(folder, benchmark, system, conditions, run):
    with drafting(
        folder, "run", system, {"benchmark": benchmark.digest, "system": system, "conditions": conditions}
    ) as d:
        run.write_parquet(d.folder / "run.parquet")


def test_runs_of_a_leaderboard_become_run_files(tmp_path):
    made = dataclasses.replace(tiny_benchmark(), digest="abc")
    run = rank_run(pl.DataFrame({"query_id": ["q4", "q4"], "doc_id": ["d01", "d03"], "score": [0.1, 2.5]}))
    keep_run(tmp_path / "runs" / "1", made, "QBM25(alpha=0.5)", "parsed", run)
    keep_run(tmp_path / "runs" / "2", made, "BM25", "none", run.head(1))
    keep_run(tmp_path / "runs" / "3", dataclasses.replace(made, digest="other"), "BM25", "none", run)
    runs = stored_runs(tmp_path / "runs", made)
    assert runs.keys() == {"QBM25(alpha=0.5) parsed", "BM25"}
    export_trec(made, tmp_path / "trec", runs)
    assert read_run(tmp_path / "trec" / "QBM25_alpha_0.5_parsed.run").equals(run)
    assert (tmp_path / "trec" / "BM25.run").read_text() == "q4 Q0 d03 1 2.5 BM25\n"
    with pytest.raises(InputError, match="no finished run"):
        stored_runs(tmp_path / "nowhere", made)
    with pytest.raises(OptionError, match="two runs would be written to one file"):
        export_trec(made, tmp_path / "again", {"a b": run, "a_b": run})
    assert not (tmp_path / "again").exists()


def test_ids_with_white_space(tmp_path):
    made = tiny_benchmark()
    spaced = dataclasses.replace(
        made,
        corpus=made.corpus.with_columns(doc_id=pl.col("doc_id").str.replace("d", "d ")),
        qrels=made.qrels.with_columns(doc_id=pl.col("doc_id").str.replace("d", "d ")),
    )
    with pytest.raises(InputError, match="Export to BEIR instead"):
        export_trec(spaced, tmp_path / "trec")
    assert not (tmp_path / "trec").exists()
    export_beir(spaced, tmp_path / "beir")
    assert open_benchmark(tmp_path / "beir").qrels.equals(spaced.qrels)


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\x00b", " ", ""])
def test_ids_that_no_layout_can_hold(tmp_path, name):
    made = tiny_benchmark()
    broken = dataclasses.replace(made, queries=[dataclasses.replace(made.queries[0], query_id=name)])
    for export in (export_beir, export_trec):
        with pytest.raises(InputError, match="cannot stand in the files"):
            export(broken, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_used_folder_is_not_written_into(tmp_path):
    (tmp_path / "out").mkdir()
    export_beir(tiny_benchmark(), tmp_path / "out")
    with pytest.raises(OptionError, match="holds files already"):
        export_beir(tiny_benchmark(), tmp_path / "out")
    with pytest.raises(OptionError, match="a file, and a folder is needed"):
        export_trec(tiny_benchmark(), tmp_path / "out" / "corpus.jsonl")


def test_two_exports_at_once(tmp_path):
    with held_by_another(tmp_path / "out"), pytest.raises(BusyError):
        export_beir(tiny_benchmark(), tmp_path / "out")


def test_a_broken_off_export_leaves_no_folder(tmp_path, monkeypatch):
    def full_disk(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("qbench.benchmark.export.write_text", full_disk)
    with pytest.raises(OSError, match="No space left"):
        export_beir(tiny_benchmark(), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    assert len(export_beir(tiny_benchmark(), tmp_path / "out")) == 5


def test_triples_for_sentence_transformers(tmp_path):
    files = export_sentence_transformers(tiny_benchmark(), tmp_path / "out")
    assert [path.name for path in files] == ["triples.train.jsonl"]
    rows = [json.loads(line) for line in files[0].read_text(encoding="utf-8").splitlines()]
    assert rows == [
        {
            "anchor": "laptop weight under 2 kg",
            "positive": "The Aria laptop weighs 1.2 kg.",
            "negative": "The Aria laptop weighs 3.1 kg.",
        },
        {
            "anchor": "laptop price of $800",
            "positive": "A Delta laptop sells for $800.",
            "negative": "A Delta laptop sells for €800.",
        },
    ]
    with pytest.raises(InputError, match="no triples"):
        export_sentence_transformers(dataclasses.replace(tiny_benchmark(), triples=None), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_folder_for_ir_datasets(tmp_path):
    made = tiny_benchmark()
    samples = made.samples.with_columns(method=pl.lit("original"))
    files = export_ir_datasets(dataclasses.replace(made, samples=samples), tmp_path / "out")
    names = {path.relative_to(tmp_path / "out").as_posix() for path in files}
    parts = {f"{split}/{name}" for split in ("train", "dev", "test") for name in ("queries.tsv", "qrels")}
    assert names == {"docs.jsonl", "train/docpairs.tsv", *parts}
    assert json.loads((tmp_path / "out" / "docs.jsonl").read_text().splitlines()[0]) == {
        "doc_id": "d01",
        "title": "",
        "text": "The Aria laptop weighs 1.2 kg.",
    }
    assert (tmp_path / "out" / "train" / "docpairs.tsv").read_text() == "q1\td01\td01\nq2\td04\td04\n"
    assert (tmp_path / "out" / "dev" / "queries.tsv").read_text() == "q3\tnet income over $10 million\n"
    assert (tmp_path / "out" / "dev" / "qrels").read_text() == "q3 0 d06 2\nq3 0 d05 0\n"


def test_ir_datasets_reads_its_folder(tmp_path):
    pytest.importorskip("ir_datasets")
    from ir_datasets.formats import JsonlDocs, TrecQrels, TsvQueries
    from ir_datasets.util import LocalDownload

    export_ir_datasets(tiny_benchmark(), tmp_path / "out")
    docs = JsonlDocs(LocalDownload(tmp_path / "out" / "docs.jsonl"))
    assert [doc.doc_id for doc in docs.docs_iter()] == [f"d{n:02}" for n in range(1, 13)]
    queries = TsvQueries(LocalDownload(tmp_path / "out" / "test" / "queries.tsv"))
    assert [query.query_id for query in queries.queries_iter()] == ["q4", "q5", "q6", "q7"]
    qrels = TrecQrels(LocalDownload(tmp_path / "out" / "test" / "qrels"), {})
    assert ("q4", "d03", 2) in {(one.query_id, one.doc_id, one.relevance) for one in qrels.qrels_iter()}
