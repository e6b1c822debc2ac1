"""`qbench systems`, and the reference page that it makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qbench.cli.systems import app
from qbench.errors import UnknownNameError
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.reference import components, markdown, rows

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "systems.md"


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_lists_every_model_once_on_a_line_of_80_columns():
    result = run()
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    first = [line.split()[0] for line in lines if line.startswith("  ")]
    for role in ("first stage", "fusion", "compression"):
        assert all(first.count(entry.name) == 1 for entry in REGISTRY.of(role) if entry.name != "BM25")
    assert {"QBM25", "BindBM25", "BM25_filter", "LLM-listwise"} <= set(first)
    assert not {"QSBERT", "SBERT_filter"} & set(first)
    assert max(map(len, lines)) <= 80


def test_records_have_every_form_and_parameter():
    records = json.loads(run("--format", "json").stdout)
    assert [record["name"] for record in records] == [row.name for row in rows()]
    (given,) = json.loads(run("QBM25(alpha=0.25)", "--format", "json").stdout)
    assert [p["value"] for p in given["parameters"] if p["name"] == "alpha"] == [0.25]


def test_explains_one_system():
    result = run("QBM25(alpha=0.25, k1=1.5)")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("QBM25(alpha=0.25)\n")
    assert ["alpha", "0.25", "1"] in [line.split()[:3] for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Q", "BM25 plus a score for how near"),
        ("filter", "BM25 without the documents"),
        ("PQ", "cuts vectors into M parts"),
        ("RRF", "reciprocal rank fusion"),
        ("LLM-itemwise", "a chat model scores each document"),
    ],
)
def test_explains_what_the_list_names_besides_models(name, said):
    result = run(name)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == name
    assert result.stdout.splitlines()[1].startswith(said)
    assert "parameter" in result.stdout or name == "filter"


def test_explains_every_part_of_a_composed_system():
    result = run("QBM25(alpha=0.25) + TCT-ColBERT(model=m, k=100)-I(alpha=0.1, norm=none)")
    assert result.exit_code == 0, result.output
    first, reranker, fusion = result.stdout.split("\n\n")[1:]
    for text, title, known in (
        (first, "first stage: QBM25", [["alpha", "0.25", "1"], ["k1", "1.5", "1.5"]]),
        (reranker, "reranker: TCT-ColBERT", [["model", "m", "..."], ["k", "100", "1000"]]),
        (fusion, "fusion: I", [["alpha", "0.1", "0.5"], ["norm", "none", "max"]]),
    ):
        assert text.startswith(title + "\n")
        told = [line.split()[:3] for line in text.splitlines()]
        assert all(row in told for row in known)
    assert "engine" not in reranker  # it looks at the first stage's documents alone
    assert "Source: WolfPQ eq. 2.8" in reranker


def test_the_page_has_what_rerankers_and_fusions_take():
    page = markdown()
    for entry in (*REGISTRY.of("reranker"), *REGISTRY.of("fusion")):
        assert all(f"`{parameter.name}`" in page for parameter in entry.parameters)


def test_parts_cover_compressions():
    system = parse_system("SBERT(model=a)-PQ(M=8) + SBERT(model=b)-PQ-RRF")
    found = [(row.role, row.name, dict(given)) for row, given in components(system)]
    assert found == [
        ("first stage", "SBERT", {"model": "a"}),
        ("compression", "PQ", {"M": 8}),
        ("reranker", "SBERT", {"model": "b", "k": 1000}),
        ("compression", "PQ", {}),
        ("fusion", "RRF", {}),
    ]
    assert "## Compressions" in markdown()


def test_an_unknown_system_is_an_error():
    assert isinstance(run("BM52").exception, UnknownNameError)


def test_the_reference_page_is_the_one_that_the_registry_makes():
    assert PAGE.read_text(encoding="utf-8") == markdown(), "run: qbench systems --markdown > docs/reference/systems.md"
    assert run("--markdown").stdout == markdown()


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_every_system_says_what_it_does_and_where_it_is_from(row):
    assert row.what
    assert row.source
    assert all(parameter.help for parameter in row.parameters)
