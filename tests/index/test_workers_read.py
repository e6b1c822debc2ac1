"""Parquet that workers read themselves: the index of a corpus that is read here, byte by byte."""

from __future__ import annotations

import json
from collections import Counter

import fsspec
import polars as pl
import pytest

from qbench.corpora import ReadOptions, parquet_parts, source
from qbench.errors import InputError, OptionError
from qbench.index import build as building
from qbench.index import build_index, chunks
from qbench.quantities.extractors import ExtractorOptions
from qbench.work.pool import in_processes
from qbench.work.tasks import in_this_process


def texts(start, number):
    return [
        f"The crate of batch {n} weighs {n % 37 + 1} kg and costs ${n % 91 + 3}." for n in range(start, start + number)
    ]


@pytest.fixture
def folder(tmp_path):
    """Three files with ids that repeat within and between them, bad rows, control characters, and small row groups."""
    first, second = texts(0, 90), texts(90, 70)
    first[7], second[3], second[50] = None, "  ", "It weighs\x00 5 kg."
    ids = [f"d{n}" for n in range(90)]
    ids[20] = "d19"
    place = tmp_path / "corpus"
    (place / "b").mkdir(parents=True)
    pl.DataFrame({"doc_id": ids, "text": first, "title": ["a"] * 90}).write_parquet(
        place / "1.parquet", row_group_size=17
    )
    pl.DataFrame({"doc_id": ["d7", "d8", *(f"e{n}" for n in range(68))], "text": second}).write_parquet(
        place / "b" / "2.parquet"
    )
    pl.DataFrame({"body": texts(160, 40)}).write_parquet(place / "b" / "3.parquet", row_group_size=9)
    (place / "readme.md").write_text("nothing to read")
    return place


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK", 700)
    monkeypatch.setattr("qbench.corpora.parquet_parts.batch_rows", lambda metadata: 5)


def contents(index):
    return {name: (index.path / name).read_bytes() for name in (*index.manifest.files, "manifest.json")}


def test_the_bytes_are_those_of_a_corpus_that_is_read_here(folder, tmp_path):
    here = build_index(folder, tmp_path / "here", engine=in_this_process)
    there = build_index(folder, tmp_path / "there", engine=in_this_process, workers_read=True)
    assert contents(there) == contents(here)
    assert here.summary()["bad"] == {"duplicate id": 2, "empty text": 2}
    assert here.summary()["documents"] == 196
    assert here.summary()["ignored_files"] == 1
    assert list(here.manifest.params) == list(there.manifest.params)


def test_texts_go_by_no_way_but_the_workers(folder, tmp_path, monkeypatch):
    payloads = []

    def watched(task, some):
        for chunk, shard in in_this_process(task, some):
            payloads.append(chunk.payload)
            yield chunk, shard

    monkeypatch.setattr(building, "read_documents", None)
    options = ExtractorOptions(language="en")
    made = build_index(folder, tmp_path / "index", engine=watched, workers_read=True, extractor=options)
    assert made.summary()["quantities"] >= 196
    assert not any("weighs" in payload for payload in payloads)
    assert len(payloads) > 10


def test_each_row_is_decoded_once(folder, tmp_path, monkeypatch):
    decoded = Counter()
    rows_of = parquet_parts.rows_of

    def counted(batch):
        for row in rows_of(batch):
            decoded[row.get("text", row.get("body"))] += 1
            yield row

    monkeypatch.setattr(parquet_parts, "rows_of", counted)
    parquet_parts._reader.cache_clear()
    build_index(folder, tmp_path / "index", engine=in_this_process, workers_read=True)
    assert set(decoded.values()) == {1}


def test_rows_in_any_order_are_those_rows(folder):
    reader = parquet_parts._Reader(str(folder / "b" / "3.parquet"), "3", ReadOptions())
    for first, last in [(38, 40), (1, 3), (9, 10), (9, 28), (2, 2)]:
        assert [d.text for d in reader.documents(first, last)] == texts(160, 40)[first - 1 : last]
        assert [d.doc_id for d in reader.documents(first, last)] == [f"3#{n}" for n in range(first, last + 1)]
    with pytest.raises(InputError, match="has changed"):
        list(reader.documents(41, 41))


def test_processes_and_urls_give_the_same_index(folder, tmp_path, monkeypatch):
    here = contents(build_index(folder, tmp_path / "here", engine=in_this_process))
    assert contents(build_index(folder, tmp_path / "two", engine=in_processes(2), workers_read=True)) == here
    memory = fsspec.filesystem("memory")
    memory.put(str(folder), "/shelf/corpus", recursive=True)
    monkeypatch.setattr(source, "open_source", None)
    there = build_index("memory://shelf/corpus", tmp_path / "there", engine=in_this_process, workers_read=True)
    assert contents(there) == here
    url = f"file://{folder}"
    assert contents(build_index(url, tmp_path / "url", engine=in_processes(2), workers_read=True)) == here


def test_the_first_bad_record_stops_it_where_that_is_asked(folder, tmp_path):
    said = []
    for there in (False, True):
        with pytest.raises(InputError) as caught:
            build_index(folder, tmp_path / str(there), engine=in_this_process, workers_read=there, on_error="fail")
        said.append(str(caught.value))
    assert said[0] == said[1] == "1.parquet:8: the document has no text"


def test_unreadable_files_are_counted_as_here(folder, tmp_path):
    (folder / "a.parquet").write_bytes(b"PAR1 no table PAR1")
    pl.DataFrame({"number": [1]}).write_parquet(folder / "c.parquet")
    made = [
        build_index(folder, tmp_path / str(there), engine=in_this_process, workers_read=there)
        for there in (False, True)
    ]
    assert made[0].summary()["bad"] == {"duplicate id": 2, "empty text": 2, "no text field": 1, "unreadable file": 1}
    assert contents(made[0]) == contents(made[1])


def test_an_interrupted_run_reads_what_is_missing_only(folder, tmp_path):
    started = []

    def run(most):
        def engine(task, some):
            for chunk, shard in in_this_process(task, some):
                if "sha256" in json.dumps(chunk.payload):
                    started.append(chunk.name)
                    if len(started) == most:
                        raise KeyboardInterrupt
                yield chunk, shard

        return engine

    with pytest.raises(KeyboardInterrupt):
        build_index(folder, tmp_path / "index", engine=run(4), workers_read=True)
    made = build_index(folder, tmp_path / "index", engine=run(0), workers_read=True)
    assert {name for name, times in Counter(started).items() if times > 1} == {started[3]}
    assert contents(made) == contents(build_index(folder, tmp_path / "here", engine=in_this_process))


def test_what_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "corpus.txt").write_text("It weighs 5 kg.")
    with pytest.raises(OptionError, match="Parquet files only"):
        build_index(tmp_path / "corpus.txt", tmp_path / "index", workers_read=True)
    with pytest.raises(InputError, match="nothing is there"):
        build_index("memory://nowhere", tmp_path / "index", workers_read=True)
    with pytest.raises(OptionError, match="without quantities"):
        build_index(tmp_path, tmp_path / "index", workers_read=True, extractor=ExtractorOptions("given"))
