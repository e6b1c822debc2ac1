"""Templates and prompts: printed, edited, given back."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import open_benchmark
from qbench.cli.templates import OPTIONS, app
from qbench.errors import UnknownNameError
from qbench.generation.generate import generate
from qbench.generation.options import GenerationOptions
from qbench.generation.templates import load_templates
from qbench.llm.prompts import BUILT_IN, load_prompt
from tests.generation.conftest import sentences, write_index


def printed(name: str) -> str:
    result = CliRunner().invoke(app, [name], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_the_list_names_all_of_them():
    listed = CliRunner().invoke(app, []).stdout
    for task, names in BUILT_IN.items():
        assert task in OPTIONS
        assert all(f"{task}-{name} " in listed for name in names)
    assert "queries " in listed
    assert "queries.zh " in listed
    assert "{concept}{condition}" in printed("queries.zh")


def test_query_templates_go_round(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(printed("queries"), encoding="utf-8")
    assert load_templates(file) == load_templates()
    index = write_index(tmp_path / "index", sentences())
    few = {"min_sentences": 4, "max_train": 4, "max_dev": 2, "max_test": 6}
    same = open_benchmark(generate(index, tmp_path / "same", GenerationOptions(templates=file, **few)))
    usual = open_benchmark(generate(index, tmp_path / "usual", GenerationOptions(**few)))
    assert same.queries == usual.queries
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"{concept} {condition}', '"wanted: {concept} {condition}'), encoding="utf-8")
    edited = open_benchmark(generate(index, tmp_path / "edited", GenerationOptions(templates=file, **few)))
    assert any("wanted: " in query.text for query in edited.queries)


@pytest.mark.parametrize(("task", "name"), [(task, name) for task, names in BUILT_IN.items() for name in names])
def test_prompts_go_round(task, name, tmp_path: Path):
    file = tmp_path / f"{name}.toml"
    file.write_text(printed(f"{task}-{name}"), encoding="utf-8")
    given, usual = load_prompt(task, file), load_prompt(task, name)
    assert (given.system, given.user, given.examples) == (usual.system, usual.user, usual.examples)


def test_a_mistyped_name_is_answered_with_the_nearest():
    result = CliRunner().invoke(app, ["expand-finanse"])
    assert isinstance(result.exception, UnknownNameError)
    assert "Did you mean expand-finance?" in str(result.exception)
