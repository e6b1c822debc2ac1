"""`--format`: one way to print tables for programs."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from qbench.benchmark.disk import write_benchmark
from qbench.cli import benchmark, extract, leaderboard, records, systems, templates
from tests.factories import tiny_benchmark

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
