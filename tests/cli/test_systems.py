"""`qbench systems`, and the reference page that it makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from qbench.cli.systems import app
from qbench.errors import UnknownNameError
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.reference import markdown, rows

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "systems.md"


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_lists_every_system_with_its_defaults():
    result = run()
    assert result.exit_code == 0, result.output
    for form, model, _ in REGISTRY.forms("first stage"):
        assert form in result.stdout
        assert all(parameter.name in result.stdout for parameter in model.parameters)


def test_explains_one_system():
    result = run("QBM25(alpha=0.25, k1=1.5)")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("QBM25(alpha=0.25)\n")
    assert ["alpha", "0.25", "1"] in [line.split()[:3] for line in result.stdout.splitlines()]


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
