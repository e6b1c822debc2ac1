import dataclasses
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.card import card, describe, markdown, printable, spread, summary
from qbench.benchmark.types import Query
from tests.factories import condition, frame, tiny_benchmark


def header(text):
    return yaml.safe_load(text.split("---\n")[1])


def test_the_header_names_the_tables():
    found = header(card(tiny_benchmark(), "my bench", "abc"))
    assert [entry["config_name"] for entry in found["configs"]] == [
        "corpus",
        "queries",
        "qrels",
        "quantities",
        "samples",
        "triples",
    ]
    assert found["license"] == "unknown"
    assert found["pretty_name"] == "my bench"


def test_empty_tables_are_not_offered_to_load():
    made = tiny_benchmark()
    bare = Benchmark("bare", made.corpus, made.queries, made.qrels)
    assert [entry["config_name"] for entry in header(card(bare, "bare", ""))["configs"]] == [
        "corpus",
        "queries",
        "qrels",
    ]


@pytest.mark.parametrize(
    ("licence", "entries"),
    [
        ("cc-by-4.0", {"license": "cc-by-4.0"}),
        ("", {"license": "unknown"}),
        ('My "own": terms\n# x', {"license": "other", "license_name": 'My "own": terms # x'}),
    ],
)
def test_the_licence_travels(licence, entries):
    made = dataclasses.replace(tiny_benchmark(), params={"licence": licence})
    found = header(card(made, "x", ""))
    assert {name: value for name, value in found.items() if name.startswith("license")} == entries


def test_the_card_says_what_was_made_and_left_out():
    made = tiny_benchmark()
    params = {
        "quantities": "gold",
        "seed": 7,
        "command": "qbench synth T -o C",
        "counts": {"rejected": {"why\n|": 12345}},
    }
    text = card(dataclasses.replace(made, params=params), "x", "abc123")
    assert "`abc123`" in text
    assert '"seed": 7' in text
    assert "qbench synth T -o C" in text
    assert re.search(r"\| rejected\S* why \S+ \| 12,345 \|", text)
    assert "Queries by split - train: 2, dev: 1, test: 4." in text
    assert "laptop weight &lt; 2 kilogram" in text


def test_text_of_the_corpus_is_not_markup():
    evil = "<script>alert(1)</script> [x](javascript:1) **b** `c` | d\n# head\n---\n\x1b[31m &amp; $x$"
    corpus = frame("corpus", [("d", evil, "", "d")])
    queries = [Query("q", evil, conditions=(condition(evil.replace("|", ""), "=", 5),), template=evil)]
    made = Benchmark("b", corpus, queries, frame("qrels", [("q", "d", 1)]), params={"counts": {evil: 1}, "note": evil})
    text = card(made, evil, "0")
    body = text.split("---\n", 2)[2]
    rendered = "\n".join(line for line in body.splitlines() if not line.startswith("    "))
    assert "<" not in rendered
    assert "\x1b" not in text
    assert "](" not in rendered
    assert not re.search(r"(?<!\\)\*\*b", rendered)
    assert not re.search(r"^# head", body, re.MULTILINE)
    assert header(text)["pretty_name"] == evil


@given(st.text())
def test_escaped_text_is_one_line_without_markup(text):
    escaped = markdown(text)
    assert "\n" not in escaped
    assert not re.search(r"[<>]", escaped)
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]|]", escaped)
    assert all(c.isprintable() or c in "\u00a0\u202f" for c in escaped)


@given(st.text())
def test_printable_text_stays_and_is_stable(text):
    once = printable(text)
    assert printable(once) == once
    if text.isascii() and text.isprintable():
        assert once == " ".join(text.split())


def test_long_texts_are_cut():
    assert len(markdown("x" * 1000)) == 300
    assert markdown("x" * 1000).endswith("…")


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (condition("fuel economy", ">", 30, "mile per gallon"), "fuel economy > 30 mile per gallon"),
        (condition("staff", "between", 5, "employee", 8), "staff between 5 and 8 employee"),
        (condition("", "!=", 0.1), "!= 0.1"),
        (condition("bag", "!=", 5, "kilogram", 10), "bag != 5 to 10 kilogram"),
        (dataclasses.replace(condition("debt", ">", 5, "percentage"), change="down"), "debt down > 5 percentage"),
        (condition("debt", "=", 1234567890123, "dollar"), "debt = 1234567890123 dollar"),
    ],
)
def test_conditions_for_people(one, text):
    assert describe(one) == text


def test_counts():
    counts = summary(tiny_benchmark())
    assert counts["documents"] == 12
    assert counts["queries_by_kind"] == {"seen": 4, "unseen": 2, "expansion": 1}
    assert counts["queries_by_comparator"] == {"<": 2, "=": 1, ">": 2, "between": 1, "several": 1}
    assert counts["queries_by_unit_family"] == {"count": 1, "currency": 3, "currency + mass": 1, "mass": 2}
    assert counts["samples_by_method"] == {"original, positive": 2, "unit, negative": 1, "value, negative": 1}


def test_queries_are_taken_from_everywhere():
    queries = [Query(str(n), "x") for n in range(10)]
    assert [query.query_id for query in spread(queries, 4)] == ["0", "2", "5", "7"]
    assert spread(queries, 99) == queries
    assert spread([], 3) == []
