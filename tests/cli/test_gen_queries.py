"""`qbench gen-queries` on the command line."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from qbench.benchmark.disk import open_benchmark
from qbench.cli.gen_queries import app
from qbench.errors import InputError, OptionError
from tests.generation.conftest import EXPANSIONS, sentences, write_index

runner = CliRunner()


def run(*words):
    return runner.invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return write_index(tmp_path_factory.mktemp("cli-generation") / "index", sentences()).path


@pytest.fixture(scope="module")
def result(index):
    (index.parent / "expansions.tsv").write_text(EXPANSIONS)
    return run(
        index, "-o", index.parent / "bench", "--expansions", index.parent / "expansions.tsv", "--min-sentences", 4,
        "--max-train", 30, "--max-dev", 10, "--max-test", 30, "--value-permutation", "--no-negation",
    )  # fmt: skip


def test_the_summary_counts_what_was_written(index, result):
    assert result.exit_code == 0
    benchmark = open_benchmark(index.parent / "bench")
    lines = result.stdout.splitlines()
    header = lines[0].split()
    assert header == ["split", "kind", "=", "!=", "<", "<=", ">", ">=", "between", "several", "all"]
    rows = [line.split() for line in lines[1:] if re.match(r"(train|dev|test) ", line)]
    assert sum(int(row[-1]) for row in rows) == len(benchmark.queries)
    assert all(sum(map(int, row[2:-1])) == int(row[-1]) and row[3] == "0" for row in rows)
    assert {row[1] for row in rows} >= {"seen", "unseen", "expansion"}
    methods = {line.split()[0]: line.split()[1:] for line in lines if line.startswith(("original", "unit", "value"))}
    counts = benchmark.samples.group_by("method").len()
    assert {m: sum(int(n) for n in ns) for m, ns in methods.items()} == dict(counts.iter_rows())
    (summary,) = [
        number for number, line in enumerate(lines) if line.startswith(f"{benchmark.corpus.height} sentences")
    ]
    assert f"{len(benchmark.queries)} queries" in lines[summary]
    shown = [line.strip() for line in lines[summary + 2 :]]
    assert len(shown) == 10
    assert set(shown) <= {query.text for query in benchmark.queries if query.split == "test"}


def test_rejections_go_to_standard_error(result):
    assert "pairs are asked about" in result.stderr
    assert re.search(r"rejected: \d+ unit permutation: ", result.stderr)
    assert re.search(r"(these|the other) numbers are normal", result.stderr)
    assert "rejected" not in result.stdout


def test_the_same_again_is_no_work_and_other_options_need_overwrite(index, result):
    bench = index.parent / "bench"
    before = (bench / "manifest.json").read_bytes()
    with pytest.raises(OptionError, match="--overwrite"):
        run(index, "-o", bench, "--seed", 99, "--min-sentences", 4)
    assert (bench / "manifest.json").read_bytes() == before


def test_without_expansions_it_says_so(index, tmp_path):
    result = run(index, "-o", tmp_path / "b", "--min-sentences", 4, "--max-train", 4, "--max-dev", 2, "--max-test", 4)
    assert "only seen and unseen" in result.stderr


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--min-sentences", "500"], InputError, "no usable .* pair: of 12 pairs, 0 have at least 500"),
        (["--kinds", "seen,other"], OptionError, "kinds is one of seen, unseen.*found 'other'"),
        (["--templates", "missing.toml"], InputError, "no such templates file"),
        (["--expansions", "missing.tsv"], InputError, "no such expansions file"),
    ],
)
def test_errors_are_clear(index, tmp_path, words, error, message):
    with pytest.raises(error, match=message):
        run(index, "-o", tmp_path / "b", *words)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("words", [["--corpus", "most"], ["--dev-share", "2"], ["--samples", "0"]])
def test_values_beyond_the_limits_are_refused_before_any_work(index, tmp_path, words):
    result = runner.invoke(app, [str(index), "-o", str(tmp_path / "b"), *words])
    assert result.exit_code == 2
    assert f"Invalid value for '{words[0]}'" in result.stderr


def test_a_folder_that_is_no_index(tmp_path):
    with pytest.raises(InputError, match="not a finished qbench artefact"):
        run(tmp_path, "-o", tmp_path / "b")


def test_workers_change_neither_bytes_nor_the_recorded_command(index, tmp_path, monkeypatch):
    words = ("gen-queries", index, "--min-sentences", 4, "--max-train", 30, "--max-dev", 10, "--max-test", 30)
    found = []
    for folder, workers in (("one", ()), ("two", ("--workers", 2))):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        monkeypatch.setattr("sys.argv", ["qbench", *map(str, words), "-o", "bench", *map(str, workers)])
        assert run(*words[1:], "-o", "bench", *workers).exit_code == 0
        found.append({path.name: path.read_bytes() for path in (tmp_path / folder / "bench").iterdir()})
    assert found[0] == found[1]
