"""From tables to corpora: files, counts, the same bytes, and what cannot be used."""

import json

import polars as pl
import pytest

from qbench.errors import InputError, OptionError
from qbench.quantities.types import from_row, quantity_schema
from qbench.store import read_manifest
from qbench.synth.make import synthesize


def read_corpus(folder):
    return [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_files_of_a_corpus(table, mapping, tmp_path):
    folder = synthesize(table, tmp_path / "c", mapping=mapping, sentences_per_row=3)
    manifest = read_manifest(folder, "corpus")
    corpus = read_corpus(folder)
    assert manifest.counts["rows"] == 5
    assert manifest.counts["sentences"] == len(corpus) <= 15
    assert [line["doc_id"] for line in corpus][:3] == ["1-1", "1-2", "1-3"]
    assert {line["source_id"] for line in corpus} == {"1", "2", "3", "4", "5"}
    assert {line["title"] for line in corpus} >= {"Velora 14", "Tarnic, large", "Ormade <script>"}
    quantities = pl.read_parquet(folder / "quantities.parquet")
    assert quantities.schema == pl.Schema(quantity_schema())
    texts = {line["doc_id"]: line["text"] for line in corpus}
    order = list(dict.fromkeys(quantities["doc_id"].to_list()))
    assert order == [doc_id for doc_id in texts if doc_id in set(order)] == list(texts)
    for row in quantities.iter_rows(named=True):
        quantity = from_row(row)
        assert any(c.isdigit() or c.isalpha() for c in texts[row["doc_id"]][slice(*quantity.value_span)])
    assert set(quantities["concept"]) <= {
        f"{maker}{kind}{attribute}"
        for maker in ("", "norvik ", "tesslin ")
        for kind in ("ultrabook ", "gaming laptop ", "")
        for attribute in ("weight", "price", "storage")
    }


def test_without_comparisons_a_sentence_is_about_its_own_row(table, mapping, tmp_path):
    rows = {}
    for comparisons in (True, False):
        folder = tmp_path / str(comparisons)
        synthesize(table, folder, mapping=mapping, sentences_per_row=40, comparisons=comparisons)
        facts = pl.read_parquet(folder / "facts.parquet").with_columns(own=pl.col("doc_id").str.extract(r"^(\d+)-"))
        rows[comparisons] = (facts["row"].cast(pl.String) == facts["own"]).all()
    assert rows == {True: False, False: True}
    manifests = [read_manifest(tmp_path / str(one)) for one in (True, False)]
    assert "comparisons" not in manifests[0].params
    assert manifests[0].digest != manifests[1].digest


def test_facts_say_where_each_quantity_is_from(table, mapping, tmp_path):
    folder = synthesize(table, tmp_path / "c", mapping=mapping)
    facts = pl.read_parquet(folder / "facts.parquet")
    quantities = pl.read_parquet(folder / "quantities.parquet")
    assert facts.select("doc_id", "value_start").equals(quantities.select("doc_id", "value_start"))
    weights = {row["row"]: row["value"] for row in facts.filter(column="Weight").iter_rows(named=True)}
    assert weights.items() <= {1: 1.25, 2: 3.1, 4: 2.75, 5: 2.4}.items()


def test_bad_cells_are_counted_by_column(table, mapping, tmp_path):
    counts = read_manifest(synthesize(table, tmp_path / "c", mapping=mapping)).counts["columns"]
    assert counts["Weight"] == {"used": 4, "empty": 1, "unreadable": 0, "examples": []}
    assert counts["Price_euros"]["empty"] == 1
    assert counts["Memory"] == {"used": 3, "empty": 1, "unreadable": 1, "examples": ["128GB SSD + 1TB HDD"]}


def test_expansions(table, mapping, tmp_path):
    folder = synthesize(table, tmp_path / "c", mapping=mapping, sentences_per_row=9)
    lines = (folder / "expansions.tsv").read_text().splitlines()
    pairs = [tuple(line.split("\t")) for line in lines if not line.startswith("#")]
    assert ("ultrabook weight", "ultrabook mass") in pairs
    assert ("gaming laptop price", "laptop for gamers price") in pairs
    assert ("ultrabook price", "laptop price") in pairs
    assert ("ultrabook weight", "laptop mass") in pairs  # shares no word with its concept
    assert ("norvik ultrabook price", "norvik laptop price") in pairs
    concepts = set(pl.read_parquet(folder / "quantities.parquet")["concept"])
    assert {concept for concept, _ in pairs} <= concepts
    assert not concepts & {expansion for _, expansion in pairs}


def test_same_input_same_bytes(table, mapping, tmp_path):
    def content(folder):
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    first = content(synthesize(table, tmp_path / "a", mapping=mapping))
    assert content(synthesize(table, tmp_path / "b", mapping=mapping)) == first
    other = content(synthesize(table, tmp_path / "c", mapping=mapping, seed=14))
    assert other["corpus.jsonl"] != first["corpus.jsonl"]


def test_a_finished_corpus_is_left_alone(table, mapping, tmp_path):
    folder = synthesize(table, tmp_path / "c", mapping=mapping)
    before = (folder / "manifest.json").stat().st_mtime_ns
    synthesize(table, folder, mapping=mapping)
    assert (folder / "manifest.json").stat().st_mtime_ns == before
    with pytest.raises(OptionError, match="--overwrite"):
        synthesize(table, folder, mapping=mapping, seed=1)
    synthesize(table, folder, mapping=mapping, seed=1, overwrite=True)
    assert read_manifest(folder).params["seed"] == 1


def test_without_a_mapping_the_guess_can_be_given_back(table, tmp_path):
    guessed = synthesize(table, tmp_path / "a")
    assert read_manifest(guessed).params["guessed"]
    again = synthesize(table, tmp_path / "b", mapping=guessed / "mapping.toml")
    assert (again / "corpus.jsonl").read_bytes() == (guessed / "corpus.jsonl").read_bytes()
    assert '"Weight" = { name = "weight", unit = "kilogram" }' in (guessed / "mapping.toml").read_text()


def test_rows_with_the_same_facts_count_once(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,name,weight\n" + "".join(f"{i},Velora,1.5kg\n" for i in range(5)) + "9,Tarnic,2kg\n")
    counts = read_manifest(synthesize(table, tmp_path / "c", sentences_per_row=1)).counts
    assert counts["sentences"] == 2
    assert counts["skipped"]["same facts as another row"] == 4


def test_no_text_twice(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("name,weight,note\n" + "".join(f"Velora,{i % 2 + 1}kg,{i}\n" for i in range(2)))
    folder = synthesize(table, tmp_path / "c", sentences_per_row=60)
    texts = [line["text"] for line in read_corpus(folder)]
    assert len(texts) == len(set(texts))
    skipped = read_manifest(folder).counts["skipped"]
    assert len(texts) + skipped.get("sentence that the corpus has already", 0) == 120


def test_a_table_of_one_column(tmp_path):
    table = tmp_path / "bikes.csv"
    table.write_text("weight\n12.5kg\n9kg\nNULL\n")
    corpus = read_corpus(synthesize(table, tmp_path / "c", sentences_per_row=1))
    assert [line["title"] for line in corpus] == ["item 1", "item 2"]
    assert all("bike" in line["text"].lower() for line in corpus)


def test_hostile_text_stays_text_on_one_line(tmp_path):
    table = tmp_path / "t.jsonl"
    names = [
        "<script>alert('x')</script>",
        "two\nlines\x00\x1b[31m",
        "\ud800 surrogate",
        "x" * 5000,
        "../../etc/passwd",
        "عربى 日本",
    ]
    rows = [{"name": name, "weight": index + 0.5} for index, name in enumerate(names)]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = read_corpus(synthesize(table, tmp_path / "c", sentences_per_row=2))
    assert {line["source_id"] for line in corpus} == {"1", "2", "3", "4", "5", "6"}
    text = " ".join(line["text"] for line in corpus)
    assert "<script>alert('x')</script>" in text
    assert "two lines [31m" in text
    assert text.isprintable()
    assert max(len(line["title"]) for line in corpus) == 80


def test_unreadable_lines(tmp_path):
    table = tmp_path / "t.jsonl"
    table.write_text('{"name": "Velora", "weight": 1.5}\nnonsense\n{"name": "Tarnic", "weight": 2.5}\n')
    counts = read_manifest(synthesize(table, tmp_path / "c")).counts
    assert counts["skipped"]["bad JSON"] == 1
    assert "t.jsonl:2" in counts["examples"][0]
    assert str(tmp_path) not in counts["examples"][0]
    with pytest.raises(InputError, match=r"t\.jsonl:2: not valid JSON"):
        synthesize(table, tmp_path / "d", on_error="fail")
    with pytest.raises(OptionError, match="bad records"):
        synthesize(table, tmp_path / "d", on_error="nonsense")


def test_what_cannot_be_used(tmp_path, mapping, table):
    empty = tmp_path / "e.csv"
    empty.write_text("Maker,Model,Type,Weight,Price_euros,Memory\nNorvik,Velora,Gaming,heavy,NULL,\n")
    with pytest.raises(InputError, match=r"no row of the table states a quantity.*Weight: \['heavy'\]"):
        synthesize(empty, tmp_path / "c", mapping=mapping)
    assert not (tmp_path / "c").exists()
    with pytest.raises(InputError, match="no column of this table holds numbers"):
        synthesize(empty, tmp_path / "c")
    with pytest.raises(OptionError, match="at least one sentence"):
        synthesize(table, tmp_path / "c", sentences_per_row=0)
    with pytest.raises(InputError, match="no such table"):
        synthesize(tmp_path / "none.csv", tmp_path / "c")


def test_concepts_that_answer_for_others_are_told(tmp_path):
    table, mapping = tmp_path / "t.csv", tmp_path / "m.toml"
    table.write_text("name,kind,sugar,fat\nVelora,pie,1.5,2.5\nTarnic,cake,2.5,3.5\n")
    mapping.write_text('name = "name"\ncategory = "kind"\n[attributes]\nsugar = {}\nfat = {}\n')
    counts = read_manifest(synthesize(table, tmp_path / "c", mapping=mapping, sentences_per_row=5)).counts
    assert counts["overlapping"] == []
    table.write_text("name,kind,sugar,fat\nVelora,Sugar,1.5,2.5\nTarnic,,2.5,3.5\n")
    counts = read_manifest(synthesize(table, tmp_path / "d", mapping=mapping, sentences_per_row=5)).counts
    assert counts["overlapping"] == ["sugar / sugar fat"]


def test_progress_is_told(tmp_path):
    table, told = tmp_path / "t.csv", []
    table.write_text("name,weight\n" + "".join(f"Velora {i},{i + 0.5}\n" for i in range(1200)))
    synthesize(
        table,
        tmp_path / "c",
        sentences_per_row=1,
        progress=lambda done, total=None, what="": told.append((done, total)),
    )
    assert [total for _, total in told] == [table.stat().st_size] * 2
    assert 0 < told[0][0] <= told[1][0] <= table.stat().st_size
