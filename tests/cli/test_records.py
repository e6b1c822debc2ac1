"""`--format`: one way to print tables for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.cli import benchmark, extract, leaderboard, records, systems, templates
from qbench.cli.main import VERBS
from tests.factories import tiny_benchmark
from tests.mining.pairs_factory import fact_world, pairs_folder

FORMATS = ("json", "jsonl", "csv")


def read(text: str, how: str) -> list[dict[str, object]]:
    if how == "json":
        return json.loads(text)
    if how == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("how", FORMATS)
def test_every_table_is_also_one_for_programs(how, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    quick = ["--systems", "BM25", "--resamples", "100", "--workers", "1"]
    for verb, words, column in (
        (systems.app, [], "needs"),
        (systems.app, ["QBM25(alpha=2)"], "parameters"),
        (templates.app, [], "taken by"),
        (benchmark.app, ["show", "bench"], "conditions"),
        (leaderboard.app, ["bench", *quick], "ci_low"),
        (extract.app, ["weighs 2 kg and 4 lb", "costs 3 euros"], "unit" if how == "csv" else "quantities"),
    ):
        result = CliRunner().invoke(verb, [*words, "--format", how], catch_exceptions=False)
        rows = read(result.stdout, how)
        assert rows, words
        assert all(column in row for row in rows), words
    assert len(rows) == (3 if how == "csv" else 2)


SILENT = {
    "ground", "expand-concepts", "pull", "export", "benchmark export", "extract",  # its own: also a drawn table
    "serve-index",  # a statement
}  # fmt: skip
"""Commands that print a line or paths, and no table of their own choice."""


def commands() -> Iterator[tuple[str, Any]]:
    for verb in VERBS:
        made = typer.main.get_command(import_module(f"qbench.cli.{verb.replace('-', '_')}").app)
        inner = getattr(made, "commands", None)
        yield from ((f"{verb} {name}", each) for name, each in inner.items()) if inner else ((verb, made),)


def test_every_command_that_prints_a_table_has_the_option():
    formats = {name for name, each in commands() if any("--format" in p.opts for p in each.params)}
    assert {name for name, _ in commands()} - formats - SILENT == set()


def test_what_a_chain_of_commands_makes_is_printed_as_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"Aria {n},laptop,{n % 9 + 1}.2,{500 + 10 * n}\n" for n in range(40))
    Path("laptops.csv").write_text(f"name,kind,weight_kg,price_usd\n{rows}")
    pairs_folder(tmp_path / "pairs", *fact_world(10))
    for words, column in (
        ("synth laptops.csv -o corpus", "used"),
        ("build-index corpus -o index --extractor given --workers 1", "sentences"),
        ("gen-queries index -o bench --expansions corpus/expansions.tsv", "split"),
        ("describe index -o described --workers 1", "descriptions"),
        ("mine-paraphrases described -o mined --threads 1", "pairs"),
        ("benchmark mask bench -o masked", "spans"),
        ("benchmark relax bench -o relaxed", "judgments_added"),
        ("benchmark audit bench -o audit", None),
        ("annotate export bench -o sheet --queries 2", None),
        ("explain bench", "parts"),
        ("test-set make pairs -o ts --max-queries 4", "queries"),
    ):
        verb, *rest = words.split()
        rest += [open_benchmark("bench").queries[-1].text] if verb == "explain" else []
        app = import_module(f"qbench.cli.{verb.replace('-', '_')}").app
        result = CliRunner().invoke(app, [*rest, "--format", "jsonl"], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        found = read(result.stdout, "jsonl")
        assert found, words
        assert column is None or column in found[0], (words, found[0])
    assert found[0]["queries"] == 4


@given(st.lists(st.dictionaries(st.sampled_from("ab"), st.none() | st.text() | st.floats() | st.lists(st.integers()))))
def test_records_are_valid_whatever_is_in_them(rows):
    import contextlib

    for how in ("json", "csv"):
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            records.print_records(rows, how)
        if how == "json":
            found = json.loads(stream.getvalue())
            assert [set(row) for row in found] == [set(row) for row in rows]


def test_undefined_figures_are_null(capsys):
    records.print_records([{"a": float("nan"), "b": [float("inf")], "c": None}], "jsonl")
    records.print_records([{"a": float("nan"), "b": [1]}, {"c": "x,y"}], "csv")
    assert capsys.readouterr().out == '{"a": null, "b": [null], "c": null}\na,b,c\n,[1],\n,,"x,y"\n'
