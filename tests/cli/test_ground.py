"""`qbench ground` on the command line, from a table and pages to a benchmark and its check."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest
from typer.testing import CliRunner

from qbench import open_benchmark
from qbench.benchmark.check import check
from qbench.cli.benchmark import app as benchmark_verbs
from qbench.cli.gen_queries import app as gen_queries
from qbench.cli.ground import app
from qbench.errors import InputError
from qbench.generation.generate import generate
from qbench.grounding.report import read_report
from qbench.index.disk import Index
from qbench.store import write_manifest
from tests.annotation.conftest import rows_of

MAPPING = """
name = "model"
category = "kind"
qualifier = "maker"
noun = "kettle"

[attributes]
weight = { unit = "kilogram", synonyms = ["mass"], verbs = ["weighs {}"] }
price = { unit = "euro" }
volume = { unit = "litre", synonyms = ["capacity"] }
power = { unit = "watt" }
"""
KINDS = ("travel kettle", "whistling kettle", "glass kettle")
MAKERS = ("Norvik", "Tesslin")


def rows(number):
    rng = random.Random(5)
    for at in range(number):
        yield {
            "sku": f"K{at}",
            "model": f"Velora {at}",
            "maker": MAKERS[at % 2],
            "kind": KINDS[at % 3],
            "weight": f"{rng.randrange(60, 300) / 100:.2f} kg",
            "price": rng.randrange(15, 120),
            "volume": rng.choice([0.5, 1.0, 1.5, 1.7]),
            "power": rng.choice([800, 1500, 2200, 3000]),
        }


def page(row):
    pounds = float(row["weight"].split()[0]) / 0.45359237
    text = f"A {row['kind']} for every kitchen. Weighs {row['weight']} ({pounds:.1f} lb)."
    text += f" Its volume is {row['volume']} litres."
    if row["sku"].endswith(("1", "4", "7")):
        return text
    return f"{text} The price is {row['price']} euros."


@pytest.fixture
def shop(tmp_path):
    """A table of 90 kettles, their pages (two of them wrong), and a mapping."""
    kettles = list(rows(90))
    lines = ["sku,model,maker,kind,weight,price,volume,power"]
    lines += [",".join(str(value) for value in row.values()) for row in kettles]
    (tmp_path / "kettles.csv").write_text("\n".join(lines) + "\n")
    pages = [{"id": row["sku"], "title": row["model"], "text": page(row)} for row in kettles]
    pages[0]["text"] = pages[0]["text"].replace("The price is ", "The price is 9")
    pages[2]["text"] = "Weighs 9.9 kg. The price is 990 euros."
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(each) + "\n" for each in pages))
    (tmp_path / "kettles.toml").write_text(MAPPING)
    return tmp_path


def run(command, *words):
    return CliRunner().invoke(command, [str(word) for word in words])


def ground(shop, output, *words, table="kettles.csv"):
    common = ("--mapping", shop / "kettles.toml", "--workers", 1)
    return run(app, shop / table, shop / "pages.jsonl", "-o", shop / output, *common, *words)


def test_from_pages_and_a_table_to_a_benchmark(shop):
    result = ground(shop, "index", "--id", "sku")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["weight", "90", "89", "0", "0", "1", "98.9", "%"] in lines
    assert ["power", "90", "0", "0", "90", "0", "0.0", "%"] in lines
    index = Index.open(shop / "index")
    wrong = json.loads((index.path / "report.json").read_text())["disagreements"]
    assert [(row["document"], row["column"], row["text says"]) for row in wrong][1:] == [
        ("K2", "weight", "9.9 kg"),
        ("K2", "price", "990 euros"),
    ]
    assert wrong[0]["document"] == "K0"
    assert (index.path / "disagreements.csv").read_text(encoding="utf-8-sig").count("\n") == 4
    assert "3 disagreements" in (index.path / "report.md").read_text()
    concepts = set(index.quantities().filter(pl.col("unit") == "kilogram").collect()["concept"])
    assert "weight" in concepts

    made = run(gen_queries, index.path, "-o", shop / "bench", "--max-train", 60)
    assert made.exit_code == 0, made.output
    benchmark = open_benchmark(shop / "bench")
    assert benchmark.factual
    assert [finding for finding in check(benchmark) if finding.severity == "error"] == []
    _labels_are_exact(benchmark, {row["sku"]: row for row in rows(90)})
    texts = " ".join(query.text for query in benchmark.queries)
    assert "kettle" in texts
    assert "power" not in texts  # no page states it
    again = run(gen_queries, index.path, "-o", shop / "strict", "--max-train", 60, "--no-table-only")
    assert again.exit_code == 0, again.output
    assert set(open_benchmark(shop / "strict").qrels["grade"]) == {-1, 0, 2}
    assert set(benchmark.qrels["grade"]) == {-1, 0, 1, 2}

    _facts_are_the_tables(benchmark)
    _audit_shows_facts(shop, benchmark)


def _facts_are_the_tables(benchmark):
    kettles = {row["sku"]: row for row in rows(90)}
    facts = {(source, name): rest for source, name, *rest in benchmark.facts.iter_rows()}
    assert len(facts) == 90 * (4 + 3)
    assert facts["K5", "price"][0] == kettles["K5"]["price"]
    assert facts["K5", "kind"][-1] == kettles["K5"]["kind"]
    assert facts["K2", "weight"][-2] == "disagrees"
    # Nobody asks for a small kettle, a dear or a heavy one; and exactly a price of 37 euros is nobody's wish.
    for query in benchmark.queries:
        for condition in query.conditions:
            wanted = {"weight": "< <= between", "price": "< <= between", "volume": ">= > between ="}
            assert condition.comparator in wanted[condition.concept[0]].split(), query.text


def _audit_shows_facts(shop, benchmark):
    result = run(benchmark_verbs, "audit", shop / "bench", "-o", shop / "audit", "--relevant", 9, "--by-table", 7)
    assert result.exit_code == 0, result.output
    drawn = rows_of(shop / "audit" / "audit.csv")
    claims = [row["claim"] for row in drawn if row["kind"] == "relevant by the table"]
    assert len(claims) == 7
    assert all("Judged 1" in claim and "The table: name: Velora" in claim for claim in claims)
    assert any("(not in the text)" in claim for claim in claims)
    assert "Documents with facts" in (shop / "audit" / "guideline.md").read_text()


def test_options_that_do_nothing_are_refused(shop):
    assert ground(shop, "index", "--id", "sku").exit_code == 0
    useless = [
        ("--kinds", "seen"),
        ("--min-sentences", 9),
        ("--no-gate",),
        ("--value-permutation",),
        ("--corpus", "all"),
    ]
    for words in useless:
        result = run(gen_queries, shop / "index", "-o", shop / "bench", *words)
        assert f"does nothing on an index with facts (found '{words[0].replace('no-', '')}')" in str(result.exception)
        assert not (shop / "bench").exists()


@pytest.mark.parametrize(
    "words", [("--passage-words", 5), ("--no-carry",), ("--unit", "sentence", "--passage-words", 5)]
)
def test_options_of_other_units_are_refused(shop, words):
    result = ground(shop, "index", "--id", "sku", *words)
    assert result.exit_code != 0
    assert "--passage-words" in str(result.exception) or "--no-carry" in str(result.exception)


def _labels_are_exact(benchmark, table):
    grades = {(q, d): g for q, d, g in benchmark.qrels.iter_rows()}
    columns = {"weight": "weight", "price": "price", "volume": "volume"}
    for query in benchmark.queries:
        kinds = {kind for kind in KINDS if kind in query.text or f"{kind}s" in query.text} or set(KINDS)
        makers = {maker for maker in MAKERS if maker in query.text} or set(MAKERS)
        for doc_id, row in table.items():
            fits = row["kind"] in kinds and row["maker"] in makers
            for condition in query.conditions:
                value = float(str(row[columns[condition.concept[0]]]).split()[0])
                low, high = condition.base_value, condition.base_high
                value = value / 1000 if condition.base_unit == "cubic metre" else value
                fits &= _meets(value, condition.comparator, low, high)
            grade = grades.get((query.query_id, doc_id), 0)
            if doc_id in ("K0", "K2"):
                continue
            assert (grade > 0) == fits or grade == -1, (query.text, doc_id, row)


def _meets(value, comparator, low, high):
    near = 1e-9 * max(abs(low), abs(high))
    return {
        "=": abs(value - low) <= near,
        "<": value < low - near,
        "<=": value <= low + near,
        ">": value > low + near,
        ">=": value >= low - near,
        "between": low - near <= value <= high + near,
    }[comparator]


@pytest.mark.parametrize("unit", ["sentence", "passage"])
def test_smaller_units_carry_the_title(shop, unit):
    words = ("--passage-words", 8) if unit == "passage" else ()
    result = ground(shop, "index", "--id", "sku", "--unit", unit, *words)
    assert result.exit_code == 0, result.output
    index = Index.open(shop / "index")
    sentences = index.sentences().collect()
    assert sentences.height > 150
    assert all(text.startswith(title) for text, title in sentences.select("text", "title").iter_rows())
    texts = dict(sentences.select("doc_id", "text").iter_rows())
    for doc_id, start, end in index.quantities().select("doc_id", "value_start", "value_end").collect().iter_rows():
        assert texts[doc_id][start:end].strip()[0].isdigit()
    stated = index.stated().filter(pl.col("attribute") == 0, "agrees").collect()
    assert all(word.endswith((" kg", " lb")) for word in stated["words"])
    subjects = set(index.quantities().collect()["subject"])
    assert any("velora" in subject for subject in subjects)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--id", "skuu"), "the table has no such column, which --id names (found 'skuu'). Did you mean sku?"),
        ((), "no column is recognised as the documents' ids"),
        (("--id", "model"), "no document has a row in the table"),
        (("--id", "sku", "--extractor", "given"), "read in their texts"),
    ],
)
def test_what_cannot_be_joined_is_said(shop, words, message):
    result = ground(shop, "index", *words)
    assert result.exit_code != 0
    assert message in f"{result.exception} {result.output}"
    assert not (shop / "index").exists()


def test_titles_join_too(shop):
    result = ground(shop, "index", "--join", "title")
    assert result.exit_code == 0, result.output
    assert Index.open(shop / "index").things().collect().height == 90


def test_bad_rows_and_documents_are_counted(shop):
    table = shop / "bad.csv"
    table.write_text(
        "sku,model,kind,maker,weight,price,volume,power\n"
        "K1,Velora 1,a,b,1.2 kg,NaN,about a litre,1500\n"
        "K1,Velora 1,a,b,1.9 kg,30,1,1500\n"  # the same id, and another weight
        "K3,Velora 3,a,b,3 lb,30,1,1500\n"
        "K3,Velora 3,a,b,3 lb,30,1,1500\n"
        ",Velora 4,a,b,1 kg,30,1,1500\n"
        "K5,Velora 5,a,b,2 litres,cheap,1,1500\n"  # a unit of something else; text in a number's place
        "X9,Velora 9,a,b,1 kg,30,1,1500\n"
    )
    result = ground(shop, "index", "--id", "sku", table="bad.csv")
    assert result.exit_code == 0, result.output
    counts = Index.open(shop / "index").summary()["grounding"]
    assert (counts["grounded"], counts["read"]) == (2, 90)
    assert counts["documents left out"] == {"id of several rows": 1, "without a row": 87}
    assert counts["ids without a document"] == 1
    assert counts["rows left out"] == {
        "id of another row that says other things": 1,
        "no id": 1,
        "same id and facts as another row": 1,
    }
    weight, price, volume, _ = counts["cells"]
    assert (weight["used"], weight["unreadable"], weight["examples"]) == (5, 1, ["2 litres"])
    assert (price["empty"], price["unreadable"], price["examples"]) == (1, 1, ["cheap"])
    assert volume["unreadable"] == 1
    assert "2 documents id of several rows" not in result.output
    assert "weight: 1 cells are no quantity (such as '2 litres')" in result.stderr


def test_expansions_and_templates_of_corpora_are_refused(shop):
    assert ground(shop, "index", "--id", "sku").exit_code == 0
    (shop / "names.tsv").write_text("weight\tmass\n")
    result = run(gen_queries, shop / "index", "-o", shop / "bench", "--expansions", shop / "names.tsv")
    assert "worded by a domain's file" in str(result.exception)
    (shop / "words.toml").write_text('[[template]]\nname = "x"\n')
    result = run(gen_queries, shop / "index", "-o", shop / "bench", "--templates", shop / "words.toml")
    assert "Start from templates/products.toml" in str(result.exception)


def test_rows_may_come_of_a_query(shop):
    query = "SELECT sku, model, kind, maker, weight, price, volume, power FROM facts WHERE price < 60"
    result = ground(shop, "index", "--id", "sku", "--sql", query)
    assert result.exit_code == 0, result.output
    assert Index.open(shop / "index").things().collect().height == sum(row["price"] < 60 for row in rows(90))
    (shop / "shop.db").write_bytes(b"")
    refused = run(app, shop / "shop.db", shop / "pages.jsonl", "-o", shop / "other")
    assert "a database needs a query" in str(refused.exception)


@pytest.mark.parametrize("change", [{"attributes": None}, {"attributes": [{"column": "x"}]}, {"categories": 3}])
def test_facts_of_a_stranger_are_one_line(shop, change):
    assert ground(shop, "index", "--id", "sku").exit_code == 0
    index = Index.open(shop / "index")
    manifest = json.loads((index.path / "manifest.json").read_text())
    manifest["params"]["grounding"] |= change
    write_manifest(index.path, manifest)
    with pytest.raises(InputError, match="does not say what the facts"):
        generate(index.path, shop / "bench")
    (index.path / "report.json").write_text('{"disagreements": ["x"]}')
    with pytest.raises(InputError, match="not a report of disagreements"):
        read_report(index.path)
