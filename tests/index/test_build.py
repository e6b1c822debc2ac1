"""Building an index: what is in it, the same bytes however it was made, and what survives a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from qbench.corpora import ReadOptions
from qbench.errors import BusyError, InputError, OptionError, QbenchError, UnknownNameError
from qbench.generation.generate import generate
from qbench.index import Index, build_index
from qbench.index.chunks import process
from qbench.index.schemas import pair_schema, sentence_schema
from qbench.index.show import top_pairs
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.types import quantity_schema, to_row
from qbench.store import drafting, read_manifest, write_manifest
from qbench.work.pool import WorkerPool
from tests.factories import quantity
from tests.holding import held_by_another
from tests.resealed import reseal

GIVEN = ExtractorOptions("given")
TABLES = ("sentences.parquet", "quantities.parquet", "pairs.parquet", "manifest.json")


def make_corpus(folder, number=60, ending="."):
    """A corpus as `qbench synth` makes them: one sentence a document, two quantities each, one without a concept."""
    with drafting(folder, "corpus", "key", {}) as draft:
        rows, lines = [], []
        for n in range(number):
            text = f"Laptop {n:03d} weighs {n % 7 + 1}.5 kg and costs ${n * 10}{ending}"
            mentions = [
                quantity(text, f"{n % 7 + 1}.5", n % 7 + 1.5, "kilogram", "laptop weight"),
                quantity(text, f"${n * 10}", n * 10.0, "dollar", "" if n % 10 == 0 else f"price {n % 3}"),
            ]
            rows += [to_row(f"d{n}", mention) for mention in mentions]
            lines.append(json.dumps({"doc_id": f"d{n}", "text": text}) + "\n")
        (draft.folder / "corpus.jsonl").write_text("".join(lines))
        pl.DataFrame(rows, schema=quantity_schema()).write_parquet(draft.folder / "quantities.parquet")
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_corpus(tmp_path_factory.mktemp("data") / "gold")


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr("qbench.index.chunks.CHUNK", 200)


def content(folder):
    return {name: (folder / name).read_bytes() for name in TABLES}


def test_the_tables_hold_what_the_corpus_says(tmp_path, corpus, small_chunks):
    index = build_index(corpus, tmp_path / "index", extractor=GIVEN, workers=1)
    assert index.new
    sentences, quantities, pairs = index.sentences().collect(), index.quantities().collect(), index.pairs().collect()
    assert (sentences.schema, quantities.schema, pairs.schema) == tuple(
        pl.Schema(schema()) for schema in (sentence_schema, quantity_schema, pair_schema)
    )
    assert sentences["doc_id"].to_list() == [f"d{n}::0" for n in range(60)]
    assert (sentences["end"] == sentences["text"].str.len_chars()).all()
    assert quantities.height == 120
    assert pairs.select("concept", "unit").rows() == [
        ("laptop weight", "kilogram"), ("price 0", "dollar"), ("price 1", "dollar"), ("price 2", "dollar"),
    ]  # fmt: skip
    weight = pairs.row(0, named=True)
    assert weight["values"] == [n % 7 + 1.5 for n in range(60)]
    assert weight["doc_ids"] == [f"d{n}::0" for n in range(60)]
    assert (weight["count"], weight["sentences"], weight["low"], weight["high"]) == (60, 60, 1.5, 7.5)
    assert weight["mean"] == pytest.approx(sum(weight["values"]) / 60)
    assert (weight["family"], weight["base_unit"]) == ("mass", "kilogram")
    assert index.summary() == {
        "documents": 60, "sentences": 60, "quantities": 120, "pairs": 4, "concepts": 4, "units": 2,
        "bad": {}, "bad_examples": [], "mended": {}, "ignored_files": 0,
    }  # fmt: skip
    assert sorted(path.name for path in index.path.iterdir()) == sorted(TABLES)


def test_the_bytes_do_not_depend_on_the_number_of_workers(tmp_path, corpus, small_chunks):
    build_index(corpus, tmp_path / "one", extractor=GIVEN, workers=1)
    build_index(corpus, tmp_path / "three", extractor=GIVEN, workers=3)
    assert content(tmp_path / "one") == content(tmp_path / "three")
    assert str(tmp_path) not in (tmp_path / "one" / "manifest.json").read_text()


def test_the_default_extractor_runs_in_the_workers(tmp_path):
    source = tmp_path / "news.jsonl"
    text = "Acme Inc. said net sales rose to $5 million. It has 250 employees.\n\nIn March it sold 12 plants."
    source.write_text(json.dumps({"id": "n1", "title": "Acme", "text": text}) + "\n")
    index = build_index(source, tmp_path / "index", workers=2)
    sentences = index.sentences().collect()
    assert sentences["title"].unique().to_list() == ["Acme"]
    assert [text[a:b] for a, b in sentences.select("start", "end").rows()] == sentences["text"].to_list()
    extractor = get_extractor()
    wanted = [to_row(i, q) for i, t in sentences.select("doc_id", "text").iter_rows() for q in extractor.extract(t)]
    assert index.quantities().collect().equals(pl.DataFrame(wanted, schema=quantity_schema()))
    assert index.extractor_options() == ExtractorOptions(language="en")
    assert not index.given


def test_an_index_knows_what_parsed_its_sentences(tmp_path):
    source = tmp_path / "news.jsonl"
    source.write_text(json.dumps({"id": "n1", "text": "The shop employs 1,200 full-time employees."}) + "\n")
    words = ExtractorOptions(spacy_model="none")
    plain = build_index(source, tmp_path / "plain", extractor=words, workers=1)
    parsed = build_index(source, tmp_path / "parsed", workers=1)
    assert plain.manifest.params["extractor"]["spacy_model"] == plain.manifest.params["extractor"]["parser"] == "none"
    assert plain.extractor_options() == replace(words, language="en")
    assert parsed.extractor_options() == ExtractorOptions(language="en")
    assert plain.quantities().collect()["unit"].to_list() == ["employee"]
    assert parsed.quantities().collect()["unit"].to_list() == ["full-time employee"]
    # the same folder is not taken for one with the other parser
    with pytest.raises(OptionError, match="--overwrite"):
        build_index(source, tmp_path / "plain", workers=1)


def test_an_index_of_another_version_says_what_to_do(tmp_path, corpus):
    index = build_index(corpus, tmp_path / "index", extractor=GIVEN, workers=1)
    manifest = index.path / "manifest.json"
    written = json.loads(manifest.read_text())
    written["params"]["format"] -= 1
    write_manifest(index.path, written)
    with pytest.raises(InputError, match=r"another version of qbench .*Build it again with build-index"):
        Index.open(index.path)


def test_a_parser_that_is_not_there_is_said_by_the_workers(tmp_path):
    source = tmp_path / "news.jsonl"
    source.write_text(json.dumps({"id": "n1", "text": "It has 5 doors."}) + "\n")
    with pytest.raises(OptionError, match=r"no such spaCy pipeline .*Use `embedded`"):
        build_index(source, tmp_path / "index", extractor=ExtractorOptions(spacy_model="en_nonsense"), workers=2)
    assert not (tmp_path / "index").exists()


def counted(monkeypatch):
    """Count the chunks that are sent to workers."""
    sent = []
    run = WorkerPool._run
    monkeypatch.setattr(WorkerPool, "_run", lambda self, chunk: sent.append(chunk.name) or run(self, chunk))
    return sent


def test_a_finished_index_is_not_made_again(tmp_path, corpus, monkeypatch):
    build_index(corpus, tmp_path / "index", extractor=GIVEN, workers=1)
    sent = counted(monkeypatch)
    again = build_index(corpus, tmp_path / "index", extractor=GIVEN, workers=2)
    assert not again.new
    assert not sent
    with pytest.raises(OptionError, match="--overwrite"):
        build_index(corpus, tmp_path / "index", extractor=GIVEN, reading=ReadOptions(id_field="doc_id"), workers=1)
    options = ReadOptions(id_field="doc_id")
    assert build_index(corpus, tmp_path / "index", extractor=GIVEN, reading=options, workers=1, overwrite=True).new


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def start_build(corpus, output, **popen):
    # Slow reading leaves time to interrupt; an unguarded script must do.
    script = (
        "import sys, time, qbench, qbench.index.chunks as chunks\n"
        "from qbench.quantities.extractors import ExtractorOptions\n"
        "chunks.CHUNK = 200\n"
        "make = chunks._chunk\n"
        "chunks._chunk = lambda *a: time.sleep(0.05) or make(*a)\n"
        "qbench.build_index(sys.argv[1], sys.argv[2], extractor=ExtractorOptions('given'), workers=2)\n"
    )
    root = str(Path(__file__).parent.parent.parent)
    environment = {**os.environ, "PYTHONPATH": root}
    return subprocess.Popen([sys.executable, "-c", script, str(corpus), str(output)], env=environment, **popen)


def children(pid):
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for listed in threads for child in listed.read_text().split()]


def alive(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for child processes in /proc")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path, corpus, small_chunks, monkeypatch, sent):
    output = tmp_path / "index"
    shards = tmp_path / ".index.partial" / ".shards"
    process = start_build(corpus, output, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: len(list(shards.glob("*.sentences.parquet"))) >= 4)
        workers = children(process.pid)
        assert workers
        process.send_signal(sent)
        process.communicate(timeout=30)
        assert process.returncode == -sent
    finally:
        process.kill()
        process.communicate()
    wait_for(lambda: not any(map(alive, workers)))
    assert not output.exists()
    done = len(list(shards.glob("*.sentences.parquet")))
    requests = counted(monkeypatch)
    build_index(corpus, output, extractor=GIVEN, workers=1)
    whole = build_index(corpus, tmp_path / "whole", extractor=GIVEN, workers=1)
    assert content(output) == content(whole.path)
    assert len(requests) == 2 * len(set(requests)) - done


def test_two_runs_at_once(tmp_path, corpus):
    with held_by_another(tmp_path / "index"), pytest.raises(BusyError, match="another thread"):
        build_index(corpus, tmp_path / "index", extractor=GIVEN, workers=1)


def test_a_full_disk_leaves_the_earlier_index_whole(tmp_path, corpus, monkeypatch):
    build_index(corpus, tmp_path / "index", extractor=GIVEN, workers=1)
    before = content(tmp_path / "index")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("qbench.index.build.concatenate", full)
    with pytest.raises(QbenchError, match=r"No space left on device. Make room, and run the same command again"):
        build_index(
            corpus,
            tmp_path / "index",
            extractor=GIVEN,
            reading=ReadOptions(id_field="doc_id"),
            workers=1,
            overwrite=True,
        )
    assert content(tmp_path / "index") == before


def test_a_full_disk_while_chunks_are_written_is_reported(tmp_path, corpus):
    pytest.importorskip("resource")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
    script = limit + (
        "import sys, qbench\nfrom qbench.quantities.extractors import ExtractorOptions\n"
        "qbench.build_index(sys.argv[1], sys.argv[2], extractor=ExtractorOptions('given'), workers=1)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    command = [sys.executable, "-c", script, str(corpus), str(tmp_path / "index")]
    failed = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert failed.returncode == 1
    assert "the index cannot be written: File too large" in failed.stderr
    assert not (tmp_path / "index").exists()
    build_index(corpus, tmp_path / "index", extractor=GIVEN, workers=1)


def test_bad_records_are_counted_shown_and_can_be_fatal(tmp_path):
    source, output = make_corpus(tmp_path / "gold", 2), tmp_path / "index"
    with (source / "corpus.jsonl").open("a") as lines:
        lines.write('not json\n{"doc_id": 2, "text": ""}\n')
    with pytest.raises(InputError, match=r"corpus.jsonl: the file is not as it was written"):
        build_index(source, output, extractor=GIVEN, workers=1)
    reseal(source)
    with pytest.raises(InputError, match=r"corpus.jsonl:3"):
        build_index(source, output, extractor=GIVEN, workers=1, on_error="fail")
    index = build_index(source, output, extractor=GIVEN, workers=1)
    assert index.summary()["bad"] == {"bad JSON": 1, "empty text": 1}
    assert [example.split(": ")[0] for example in index.summary()["bad_examples"]] == [
        "corpus.jsonl:3",
        "corpus.jsonl:4",
    ]
    with pytest.raises(InputError, match="bad records were left out"):
        build_index(source, output, extractor=GIVEN, workers=1, on_error="fail")
    with pytest.raises(OptionError, match="skip or fail"):
        build_index(source, output, extractor=GIVEN, workers=1, on_error="ignore")


def test_wrong_options(tmp_path, corpus):
    with pytest.raises(UnknownNameError, match="rules, neural, quantulum3, given"):
        build_index(corpus, tmp_path / "index", extractor=ExtractorOptions("magic"))
    with pytest.raises(OptionError, match="at least one worker"):
        build_index(corpus, tmp_path / "index", workers=0)
    with pytest.raises(InputError, match="no such file of units"):
        build_index(corpus, tmp_path / "index", extractor=ExtractorOptions(units_file=tmp_path / "none.txt"))
    with pytest.raises(OptionError, match="holds the corpus"):
        build_index(corpus / "corpus.jsonl", corpus, extractor=ExtractorOptions())
    with pytest.raises(InputError, match="the source is empty"):
        (tmp_path / "empty.jsonl").write_text("\n")
        build_index(tmp_path / "empty.jsonl", tmp_path / "index", workers=1)
    assert not (tmp_path / "index").exists()


def test_own_units_travel_with_the_index(tmp_path, corpus):
    units = tmp_path / "mine.txt"
    units.write_text("[counting]\nblip = = ; blip\n")
    index = build_index(corpus, tmp_path / "index", extractor=ExtractorOptions("given", units_file=units), workers=1)
    units.unlink()
    options = index.extractor_options()
    assert (options.name, options.units_file) == ("rules", index.path / "units.txt")
    assert index.given


def test_an_extractor_that_fails_names_the_sentence():
    class Whole:
        def spans(self, text):
            return [(0, len(text))]

    class Broken:
        def extract(self, text):
            raise ZeroDivisionError(text)

    with pytest.raises(ZeroDivisionError) as caught:
        process(json.dumps([["d7", "", "It is 5 kg.", None]]), Whole(), Broken())
    assert caught.value.__notes__ == ["in sentence 'd7::0': 'It is 5 kg.'"]


def test_progress_ends_with_all_documents(tmp_path, corpus, small_chunks):
    seen = []
    build_index(corpus, tmp_path / "index", extractor=GIVEN, workers=2, progress=lambda *call: seen.append(call[:2]))
    assert seen[-1] == (60, 60)
    done = [number for number, _ in seen]
    assert done == sorted(done)
    assert all(total is None or total >= number for number, total in seen)


def test_open_refuses_what_is_no_index(tmp_path, corpus):
    with pytest.raises(InputError, match="this is a qbench corpus"):
        Index.open(corpus)
    index = build_index(corpus, tmp_path / "index", extractor=GIVEN, workers=1)
    assert read_manifest(index.path, "index").digest == index.manifest.digest
    (index.path / "pairs.parquet").unlink()
    with pytest.raises(InputError, match="Make the index again"):
        Index.open(index.path)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["params"].pop("extractor"),
        lambda data: data["params"].update(extractor="rules"),
        lambda data: data["counts"].pop("pairs"),
        lambda data: data["counts"].update(bad=[]),
        lambda data: data["counts"].update(mended={"x": "y"}),
    ],
)
def test_a_manifest_that_lacks_what_is_looked_up_is_one_line(tmp_path, change):
    folder = build_index(make_corpus(tmp_path / "gold", 2), tmp_path / "index", extractor=GIVEN, workers=1).path
    data = json.loads((folder / "manifest.json").read_text())
    change(data)
    write_manifest(folder, data)
    with pytest.raises(InputError, match="not a manifest of a qbench index"):
        Index.open(folder)


def test_an_index_that_is_replaced_while_it_is_read_is_noticed(tmp_path):
    index = build_index(make_corpus(tmp_path / "gold", 2), tmp_path / "index", extractor=GIVEN, workers=1)
    build_index(make_corpus(tmp_path / "other", 3), tmp_path / "index", extractor=GIVEN, workers=1, overwrite=True)
    with pytest.raises(InputError, match="replaced while it was read"):
        index.quantities()


@pytest.mark.parametrize("name", ["sentences.parquet", "quantities.parquet", "pairs.parquet"])
def test_a_table_of_a_stranger_that_is_no_parquet_is_one_line(tmp_path, name):
    build_index(make_corpus(tmp_path / "corpus"), tmp_path / "index", extractor=GIVEN, workers=1)
    data = (tmp_path / "index" / name).read_bytes()
    (tmp_path / "index" / name).write_bytes(data[:100] + b"\xff" * 200 + data[300:-40] + b"\x00" * 40)
    reseal(tmp_path / "index")
    index = Index.open(tmp_path / "index")
    with pytest.raises(InputError, match="a table of this index is damaged"):
        generate(index, tmp_path / "bench") if name != "pairs.parquet" else top_pairs(index, 5)
