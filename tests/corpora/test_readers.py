"""Readers: every format gives the same documents; every kind of bad input is counted, named and survived."""

from __future__ import annotations

import gzip
import json
import sys
import types
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.corpora import ReadOptions, open_source
from qbench.corpora.clean import SeenIds, clean_text
from qbench.corpora.formats import kind_of
from qbench.corpora.source import read_documents
from qbench.corpora.streams import LONGEST_LINE
from qbench.corpora.types import HOPELESS, Document, Problems
from qbench.errors import InputError, MissingPackageError, OptionError
from qbench.quantities.types import quantity_schema, to_row
from tests.factories import quantity

ROWS = [("7", "A laptop weighs 2 kg.", "Laptops"), ("8", "Näive, 5 €\nand more.", ""), ("9", 'He said "5".', "T")]


def read(source, on_error="skip", given=False, **options):
    problems = Problems(on_error)
    found = open_source(source, given=given)
    return list(read_documents(found, ReadOptions(**options), problems, given=given)), problems


def documents(source, **options):
    return read(source, "fail", **options)[0]


def write_json(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def as_dicts():
    return [{"_id": int(doc_id), "text": text, "title": title} for doc_id, text, title in ROWS]


def make_jsonl(folder):
    return write_json(folder / "a.jsonl", as_dicts())


def make_jsonl_gz(folder):
    path = folder / "a.jsonl.gz"
    path.write_bytes(gzip.compress(make_jsonl(folder).read_bytes()))
    return path


def make_jsonl_zst(folder):
    path = folder / "a.jsonl.zst"
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(make_jsonl(folder).read_bytes())
    return path


def make_csv(folder):
    path = folder / "a.csv"
    cells = [[doc_id, title, '"' + text.replace('"', '""') + '"'] for doc_id, text, title in ROWS]
    path.write_text("﻿id,title,Text\r\n" + "".join(",".join(row) + "\r\n" for row in cells), encoding="utf-8")
    return path


def make_semicolons(folder):
    path = make_csv(folder)
    path.write_text(path.read_text(encoding="utf-8").replace("id,title,Text", "id;title;Text").replace(
        "7,Laptops,", "7;Laptops;").replace("8,,", "8;;").replace("9,T,", "9;T;"), encoding="utf-8")  # fmt: skip
    return path


def make_parquet(folder):
    path = folder / "a.parquet"
    table = {
        "doc_id": [r[0] for r in ROWS],
        "text": [r[1] for r in ROWS],
        "title": [r[2] for r in ROWS],
        "n": [1, 2, 3],
    }
    pq.write_table(pa.table(table), path, row_group_size=2)
    return path


def make_datasets_folder(folder):
    datasets = pytest.importorskip("datasets")
    made = datasets.Dataset.from_dict({"id": [7, 8, 9], "text": [r[1] for r in ROWS], "title": [r[2] for r in ROWS]})
    made.save_to_disk(folder / "saved")
    return folder / "saved"


def make_folder(folder):
    inner = folder / "folder"
    (inner / "b").mkdir(parents=True)
    write_json(inner / "b" / "z.jsonl", as_dicts()[1:])
    write_json(inner / "a.ndjson", as_dicts()[:1])
    (inner / "readme.md").write_text("no document")
    (inner / ".hidden.jsonl").write_text("{}")
    return inner


@pytest.mark.parametrize(
    "make",
    [
        make_jsonl,
        make_jsonl_gz,
        make_jsonl_zst,
        make_csv,
        make_semicolons,
        make_parquet,
        make_datasets_folder,
        make_folder,
    ],
)
def test_every_format_gives_the_same_documents(tmp_path, make):
    assert documents(make(tmp_path)) == [Document(*row) for row in ROWS]


def test_tsv_with_bare_quotes_and_without_header(tmp_path):
    path = tmp_path / "collection.tsv"
    path.write_text('7\t"Half a quote\n8\t"Whole ""one"""\n')
    found = documents(path, id_field="1", text_fields=("2",))
    assert [(d.doc_id, d.text) for d in found] == [("7", '"Half a quote'), ("8", 'Whole "one"')]
    path.write_text("1\tFirst.\n2\tSecond.\n")  # ids that are named as columns are
    assert [d.doc_id for d in documents(path, id_field="1", text_fields=("2",))] == ["1", "2"]
    path.write_text("docno\tcontents\n7\tfive\n")
    assert documents(path) == [Document("7", "five")]


def test_plain_text_gives_paragraphs_with_stable_ids(tmp_path):
    path = tmp_path / "my notes.txt.gz"
    path.write_bytes(gzip.compress(b"\n One\ntwo\n\n \nThree\n"))
    assert [(d.doc_id, d.text) for d in documents(path)] == [
        ("my_notes.txt.gz#1", " One\ntwo"),
        ("my_notes.txt.gz#2", "Three"),
    ]
    long = tmp_path / "long.txt"
    long.write_text("seven word line of text\n" * 20_000)
    found = documents(long)
    assert len(found) > 1
    assert "\n".join(d.text for d in found) + "\n" == long.read_text()


def test_documents_without_ids_are_named_by_file_and_row(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one"}\nnot json\n{"text": "two"}\n')
    found, problems = read(path)
    assert [d.doc_id for d in found] == ["a.jsonl#1", "a.jsonl#3"]
    assert problems.counts == {"bad JSON": 1}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"pmcid": "P1", "title": "T", "abstract": "A"}, "A"),
        ({"id": 1, "contents": "C"}, "C"),
        ({"DocNo": "x", "Body": "B"}, "B"),
    ],
)
def test_fields_are_recognised(tmp_path, row, text):
    (found,) = documents(write_json(tmp_path / "a.jsonl", [row]))
    assert (found.doc_id, found.text) == (str(next(iter(row.values()))), text)


def test_fields_are_chosen_by_name_and_joined(tmp_path):
    path = write_json(tmp_path / "a.jsonl", [{"k": "x", "id": "y", "head": "H", "text": "T", "more": None}])
    (found,) = documents(path, id_field="k", text_fields=("head", "text", "more"), title_field="head")
    assert (found.doc_id, found.text) == ("x", "H\n\nT")
    with pytest.raises(InputError, match=r"no field 'body'.*k, id, head"):
        documents(path, text_fields=("body",))


BAD_LINES = [
    (b'{"id": "a", "text": ', "bad JSON"),
    (b"[1, 2]", "not an object"),
    (b'{"id": "a", "text": null}', "empty text"),
    (b'{"id": "a", "text": NaN}', "empty text"),
    (b'{"id": "a", "text": "  \\u0000 "}', "empty text"),
    (b'{"id": "a", "text": 5}', "text is not a string"),
    (b'{"id": "ok", "text": "again"}', "duplicate id"),
    (b'{"id": null, "text": "x"}', "no id"),
    (b'{"id": "", "text": "x"}', "no id"),
    (b'{"text": "x"}', "no id"),
    (b'{"id": ["a"], "text": "x"}', "bad id"),
    (b'{"id": "a\\tb", "text": "x"}', "bad id"),
    (b'{"id": true, "text": "x"}', "bad id"),
    (b'{"id": "a", "text": "caf\xe9"}', "bad encoding"),
    (b'{"id": "a", "text": ' + b"[" * 100_000, "bad JSON"),
]


@pytest.mark.parametrize(("line", "reason"), BAD_LINES, ids=lambda value: repr(value)[:30])
def test_a_bad_line_is_skipped_and_counted_or_fatal(tmp_path, line, reason):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id": "ok", "text": "fine"}\n' + line + b'\n{"id": 5.0, "text": "also fine"}\n')
    found, problems = read(path)
    assert [d.doc_id for d in found] == ["ok", "5"]
    assert problems.counts == {reason: 1}
    assert problems.examples[0].startswith("a.jsonl:2: ")
    assert len(problems.examples[0]) < 500
    with pytest.raises(InputError) as caught:
        read(path, "fail")
    assert (caught.value.file, caught.value.line) == ("a.jsonl", 2)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("8,x", "wrong number of cells"),
        ("8,x,y,z", "wrong number of cells"),
        ("8,t,", "empty text"),
        ("8,t,caf\udce9", "bad encoding"),
        ("7,t,again", "duplicate id"),
    ],
)
def test_a_bad_csv_row_is_named_by_its_first_line(tmp_path, row, reason):
    path = tmp_path / "a.csv"
    text = f'id,title,text\n7,t,"two\nlines"\n{row}\n9,t,fine\n'
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    found, problems = read(path)
    assert [d.doc_id for d in found] == ["7", "9"]
    assert problems.counts == {reason: 1}
    assert problems.examples[0].startswith("a.csv:4: ")


def test_a_quote_that_is_never_closed_is_reported_where_it_opens(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,fine\n2,"open\n3,swallowed\n')
    found, problems = read(path)
    assert [d.doc_id for d in found] == ["1"]
    assert problems.counts == {"bad row": 1}
    assert problems.examples[0].startswith("a.csv:3: not a readable row, up to line 4")


def test_mixed_encodings_line_by_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"id": 1, "text": "5 €"}\n'.encode() + '{"id": 2, "text": "6 €"}\n'.encode("cp1252"))
    assert [d.text for d in documents(path, encodings=("utf-8", "cp1252"))] == ["5 €", "6 €"]
    for wrong in ("utf-16", "no-such-code"):
        with pytest.raises(OptionError):
            ReadOptions(encodings=(wrong,))
    path.write_bytes('{"id": 1, "text": "x"}\n'.encode("utf-16"))
    with pytest.raises(InputError, match="UTF-16"):
        documents(path)


def test_a_ten_megabyte_line_is_a_document_and_a_longer_one_than_allowed_is_not(tmp_path, monkeypatch):
    path = write_json(tmp_path / "a.jsonl", [{"id": "a", "text": "x " * 5_000_000}, {"id": "b", "text": "y"}])
    assert [len(d.text) for d in documents(path)] == [10_000_000, 1]
    assert LONGEST_LINE > 10_000_000
    monkeypatch.setattr("qbench.corpora.streams.LONGEST_LINE", 1000)
    found, problems = read(path)
    assert [d.doc_id for d in found] == ["b"]
    assert problems.counts == {"line too long": 1}


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
def test_a_compressed_file_that_breaks_off_keeps_its_good_part(tmp_path, name):
    lines = "".join(json.dumps({"id": n, "text": f"text number {n * n}"}) + "\n" for n in range(20_000)).encode()
    path = tmp_path / name
    with pa.CompressedOutputStream(str(path), "gzip" if name.endswith(".gz") else "zstd") as stream:
        stream.write(lines)
    packed = path.read_bytes()
    path.write_bytes(packed[: len(packed) * 3 // 4])
    found, problems = read(path)
    assert 1000 < len(found) < 20_000
    assert problems.counts["broken compression"] == 1
    assert problems.examples[-1].startswith(f"{name}:{len(found) + 1}: the file breaks off")
    with pytest.raises(InputError, match="breaks off"):
        read(path, "fail")


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.parquet", "a.jsonl", "a.csv", "a.txt"])
def test_a_file_that_is_something_else_has_nothing_usable(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe" * 50)
    with pytest.raises(InputError, match=r"no usable document|UTF-16"):
        read(path)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt", "a.jsonl.gz", "a.parquet"])
def test_an_empty_file_is_an_error(tmp_path, name):
    path = tmp_path / name
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    else:
        path.write_bytes(gzip.compress(b"") if name.endswith(".gz") else b"")
    with pytest.raises(InputError, match="the source is empty"):
        read(path)


def test_one_bad_file_of_a_folder_does_not_cost_the_others(tmp_path):
    write_json(tmp_path / "b.jsonl", as_dicts())
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not really")
    (tmp_path / "c.csv").write_text("x,y\n1,2\n")
    found, problems = read(tmp_path)
    assert len(found) == 3
    assert problems.counts == {"unreadable file": 1, "no text field": 1}


def test_missing_empty_and_foreign_places(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        open_source(tmp_path / "nothing.jsonl")
    with pytest.raises(InputError, match="folder is empty"):
        open_source(tmp_path)
    (tmp_path / "a.pdf").write_text("x")
    with pytest.raises(InputError, match="known format"):
        open_source(tmp_path)
    with pytest.raises(InputError, match=r"Known: .jsonl"):
        open_source(tmp_path / "a.pdf")


def test_a_source_that_is_hopeless_is_given_up_early(tmp_path):
    path = write_json(tmp_path / "a.jsonl", [{"id": n, "text": 5} for n in range(HOPELESS + 500)])
    problems = Problems()
    with pytest.raises(InputError, match="none of the first 1,000"):
        list(read_documents(open_source(path), ReadOptions(), problems))
    assert problems.total == HOPELESS


def test_a_beir_folder_gives_its_corpus_only(tmp_path):
    write_json(tmp_path / "corpus.jsonl", as_dicts())
    write_json(tmp_path / "queries.jsonl", [{"_id": "q", "text": "laptop"}])
    assert [d.doc_id for d in documents(tmp_path)] == ["7", "8", "9"]


def test_qbench_artefacts_below_a_folder_are_no_documents(tmp_path):
    make_jsonl(tmp_path)
    inner = tmp_path / "index"
    inner.mkdir()
    (inner / "manifest.json").write_text(json.dumps({"kind": "index", "digest": "x"}))
    make_parquet(inner)
    assert len(documents(tmp_path)) == 3
    with pytest.raises(InputError, match="this is a qbench index"):
        open_source(inner)


def test_parquet_with_bad_cells(tmp_path):
    broken = pa.array([b"fine", b"caf\xe9", b"", None]).view(pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(broken), broken.buffers())
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": pa.array([1.0, 2.0, float("nan"), 4.0]), "text": text}), path)
    found, problems = read(path)
    assert [d.doc_id for d in found] == ["1"]
    assert problems.counts == {"text is not a string": 1, "empty text": 2}


def test_fingerprints_follow_the_content(tmp_path):
    path = make_jsonl(tmp_path)
    first = open_source(path).fingerprint()
    assert first == open_source(path).fingerprint()
    path.write_text(path.read_text() + "\n")
    assert first != open_source(path).fingerprint()


def test_the_meter_ends_at_its_total(tmp_path):
    for make in (make_jsonl, make_jsonl_gz, make_csv, make_parquet, make_folder, make_datasets_folder):
        place = tmp_path / make.__name__
        place.mkdir()
        source = open_source(make(place))
        list(read_documents(source, ReadOptions(), Problems()))
        assert source.meter.done == source.meter.total > 0


@given(st.text(max_size=60))
def test_cleaning_keeps_the_length_and_every_printable_character(text):
    cleaned = clean_text(text)
    assert len(cleaned) == len(text)
    cleaned.encode("utf-8")
    assert all(a == b for a, b in zip(text, cleaned, strict=True) if b not in " \ufffd")
    assert not any(ord(c) < 32 and c not in "\n\t" for c in cleaned)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 60).map(str), max_size=200))
def test_seen_ids_agree_with_a_set(ids):
    seen, reference = SeenIds(), set()
    seen.LIMIT = 4
    for doc_id in ids:
        assert seen.add(doc_id) == (doc_id not in reference)
        reference.add(doc_id)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.jsonl", "json"),
        ("A.CSV.GZ", "csv"),
        ("a.b.txt.zst", "text"),
        ("a.parquet.gz", None),
        ("a.gz", None),
        ("gz", None),
    ],
)
def test_formats_by_name(name, kind):
    assert kind_of(Path(name)) == kind


def make_gold(folder, docs):
    folder.mkdir()
    write_json(folder / "corpus.jsonl", [{"doc_id": doc_id, "text": text} for doc_id, text, _ in docs])
    rows = [to_row(doc_id, quantity(text, w, float(w), "kilogram", "weight")) for doc_id, text, ws in docs for w in ws]
    import polars as pl

    pl.DataFrame(rows, schema=quantity_schema()).write_parquet(folder / "quantities.parquet")
    (folder / "manifest.json").write_text(json.dumps({"kind": "corpus", "digest": "x"}))
    return folder


def test_given_quantities_come_with_their_documents(tmp_path):
    docs = [("a", "It is 5 kg.", ["5"]), ("b", "None here.", []), ("c", "From 7 to 8 kg.", ["7", "8"])]
    folder = make_gold(tmp_path / "gold", docs)
    found = documents(folder, given=True)
    assert [[q.value for q in d.quantities] for d in found] == [[5.0], [], [7.0, 8.0]]
    assert all(d.text[slice(*q.value_span)] == f"{q.value:g}" for d in found for q in d.quantities)
    assert [d.quantities for d in documents(folder)] == [None, None, None]


def test_given_quantities_out_of_step_are_an_error(tmp_path):
    folder = make_gold(tmp_path / "gold", [("a", "It is 5 kg.", ["5"]), ("b", "It is 6 kg.", ["6"])])
    lines = (folder / "corpus.jsonl").read_text().splitlines()
    (folder / "corpus.jsonl").write_text("\n".join(reversed(lines)))
    with pytest.raises(InputError, match="do not come where the document comes"):
        documents(folder, given=True)
    (folder / "corpus.jsonl").write_text('{"doc_id": "a", "text": "It"}\n')
    with pytest.raises(InputError, match="outside the text"):
        documents(folder, given=True)
    (folder / "quantities.parquet").unlink()
    with pytest.raises(InputError, match="no table of quantities"):
        documents(folder, given=True)
    with pytest.raises(OptionError, match="no quantities of its own"):
        open_source(make_jsonl(tmp_path), given=True)


class Passage(NamedTuple):
    doc_id: str
    text: str


def test_ir_datasets_ids(monkeypatch):
    class Dataset:
        def has_docs(self):
            return True

        def docs_count(self):
            return 2

        def docs_cls(self):
            return Passage

        def docs_iter(self):
            return iter([Passage("1", "one"), Passage("2", "two")])

    def load(name):
        if name != "fake/set":
            raise KeyError(name)
        return Dataset()

    monkeypatch.setitem(sys.modules, "ir_datasets", types.SimpleNamespace(load=load, __version__="1"))
    assert documents("irds:fake/set") == [Document("1", "one"), Document("2", "two")]
    with pytest.raises(InputError, match="irds:other"):
        open_source("irds:other")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingPackageError, match=r"qbench\[ir-datasets\]"):
        open_source("irds:fake/set")


def test_hub_names(monkeypatch):
    datasets = pytest.importorskip("datasets")
    asked = []

    def load(name, config, split=None):
        asked.append((name, config, split))
        part = datasets.Dataset.from_dict({"id": ["a"], "text": ["one"]})
        return part if split else {"train": part, "test": datasets.Dataset.from_dict({"text": ["two"]})}

    own = {"license": "other", "license_name": "ours"}
    cards = iter([{"license": "cc-by-4.0"}, own, {"license": ["mit", "x"]}, None])

    def info(name):
        card = next(cards)
        if card is None:
            raise ConnectionError("no network")
        return types.SimpleNamespace(card_data=types.SimpleNamespace(**card))

    monkeypatch.setattr("huggingface_hub.dataset_info", info)
    monkeypatch.setattr(datasets, "load_dataset", load)
    assert [d.doc_id for d in documents("hf:me/set:conf:train")] == ["a"]
    assert [d.doc_id for d in documents("hf:me/set")] == ["a", "me/set/test#1"]
    assert open_source("hf:me/set").licence == ""  # several: somebody has to say which
    assert open_source("hf:me/set").licence == ""  # nobody to ask
    cards = iter([{"license": "cc-by-4.0"}, own])
    assert [open_source("hf:me/set").licence for _ in range(2)] == ["cc-by-4.0", "ours"]
    del asked[2:]
    assert asked == [("me/set", "conf", "train"), ("me/set", None, None)]

    def refuse(*_, **__):
        raise ConnectionError("no network")

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    with pytest.raises(InputError, match=r"hf:me/set.*no network"):
        open_source("hf:me/set")


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("a.csv", '"id",text,"a\nnote"\n1,one,x\n2,two,y\n', ["one", "two"]),
        ("a.csv", "id,text\r1,one\r2,two\r", ["one", "two"]),
        ("a.jsonl", '{"text": "one"}\r{"text": "two"}', ["one", "two"]),
        ("a.txt", "one\r\rtwo\r", ["one", "two"]),
        ("a.csv", "text,text,text\none,x,y\ntwo,x,y\n", ["one", "two"]),
        ("a.tsv", "n\tn\ttext\n1\t1\tone\n1\t1\ttwo\n", ["one", "two"]),
    ],
)
def test_ordinary_files(tmp_path, name, content, texts):
    path = tmp_path / name
    path.write_bytes(content.encode())
    assert [d.text for d in documents(path)] == texts


def test_the_second_column_of_a_name_can_be_named_too(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,text,text\n1,one,two\n")
    assert [d.text for d in documents(path, text_fields=("text", "text (2)"))] == ["one\n\ntwo"]


NO_JSON = ["[" * 100_000, '{"text": "x", "n": ' + "9" * 5000 + "}", '{"text": "\\ud83d"}', "\x00"]


@pytest.mark.parametrize("line", NO_JSON)
def test_lines_of_json_that_are_none_are_one_line_each(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one"}\n' + line + "\n")
    found, problems = read(path)
    assert len(found) + problems.total == 2
    assert not any("\n" in example or "Exceeds" in example for example in problems.examples)


@pytest.mark.parametrize("blank", ["\n", " \n", "\r\n"])
def test_millions_of_blank_lines_are_no_work(tmp_path, monkeypatch, blank):
    monkeypatch.setattr("qbench.corpora.streams.BLANK", 1000)
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one"}\n' + blank * 1_000_000 + '{"text": "two"}\n', newline="")
    seen = 0
    from qbench.corpora import streams

    def counted(*args):
        nonlocal seen
        for line in streams.cut_lines(*args):
            seen += 1
            yield line

    with path.open("rb") as stream:
        numbers = [number for number, line in counted(stream, "a", Problems()) if line.strip()]
    assert numbers == [1, 1_000_002]
    assert seen < 300_000
    assert [d.doc_id for d in documents(path)] == ["a.jsonl#1", "a.jsonl#1000002"]


@pytest.mark.parametrize("size", [3, 7, 64])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_the_same_whatever_the_blocks(tmp_path, monkeypatch, size, end):
    from qbench.corpora import streams

    lines = ["first", "", "a longer line of words", "", "", "x" * 50, "last"]
    (tmp_path / "a").write_text(end.join(lines), newline="")
    whole = tmp_path / "a"
    if end != "\r":  # the first block tells
        monkeypatch.setattr(streams, "BLOCK", size)
    monkeypatch.setattr(streams, "LONGEST_LINE", 40)
    problems = Problems()
    with whole.open("rb") as stream:
        found = list(streams.cut_lines(stream, "a", problems))
    assert found == [(n, line.encode()) for n, line in enumerate(lines, start=1) if len(line) <= 40]
    assert problems.counts == {"line too long": 1}


def test_a_hundred_thousand_columns_are_read_in_time(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(",".join(["c"] * 100_000) + ",text\n" + "1," * 100_000 + "hello\n")
    assert [d.text for d in documents(path)] == ["hello"]


@pytest.mark.parametrize("by", ["latin-1", "cp1252"])
def test_utf8_that_was_taken_for_another_encoding_is_read_as_it_was_meant(tmp_path, by):
    text, title = (meant.encode().decode(by) for meant in ("It’s 32 °F – for 2 €.\x05", "12 ½ pans"))
    path = write_json(tmp_path / "a.jsonl", [{"id": "a", "text": text, "title": title}, {"id": "b", "text": "château"}])
    (first, second), problems = read(path)
    assert (first.text, first.title) == ("It’s 32 °F – for 2 €. ", "12 ½ pans")
    assert second.text == "château"
    assert problems.notes == {"wrong decoding undone": 1, "control characters replaced": 1}


def test_texts_with_quantities_of_their_own_keep_their_length(tmp_path):
    text = "A pan’s lid of 5 kg.".encode().decode("latin-1")
    folder = make_gold(tmp_path / "gold", [("a", text, ["5"])])
    (document,) = documents(folder, given=True)
    assert len(document.text) == len(text)
    assert [document.text[slice(*q.value_span)] for q in document.quantities] == ["5"]
    (document,) = documents(folder)
    assert document.text == "A pan’s lid of 5 kg."
