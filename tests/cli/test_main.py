"""How errors, full disks and broken pipes reach a person."""

from __future__ import annotations

import errno
import subprocess
import sys

import pytest
import typer

from qbench.cli import main as cli
from qbench.errors import InputError
from qbench.quantities.languages import LANGUAGE_HELP


def raising(error):
    def app():
        raise error

    return app


class ComputeError(Exception):
    """Stands for polars' own."""


ComputeError.__module__ = "polars.exceptions"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("bad value", file="f.csv", line=3), 1, "qbench: f.csv:3: bad value"),
        (OSError(errno.ENOSPC, "No space left on device", "out.parquet"), 1, "No space left on device: out.parquet"),
        (ComputeError("No space left on device (os error 28)"), 1, "No space left on device"),
        (OSError("12277 requested and 5088 written"), 1, "cannot be written whole"),
        (ComputeError("parquet: underlying IO error: File too large (os error 27)"), 1, "qbench: File too large. F"),
        (SystemExit(130), 130, "run the same command again"),
    ],
)
def test_troubles_are_one_line(monkeypatch, capsys, error, code, message):
    monkeypatch.setattr(cli, "app", raising(error))
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == code
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1


def test_a_bug_shows_itself(monkeypatch):
    monkeypatch.setattr(cli, "app", raising(ZeroDivisionError("a bug")))
    with pytest.raises(ZeroDivisionError):
        cli.main()


@pytest.mark.parametrize("reader", ["head -1", "true"])
def test_a_reader_that_leaves_is_no_failure(reader):
    command = f"{sys.executable} -m qbench systems | {reader}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_unknown_verbs_and_options_are_wrong_usage():
    for words in (["frobnicate"], ["extract", "--nonsense", "5 kg"]):
        done = subprocess.run([sys.executable, "-m", "qbench", *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_extract_reads_texts_files_and_pipes(tmp_path):
    (tmp_path / "texts.txt").write_text("It weighs 2 lb.\n\nprice of $5\n")
    run = [sys.executable, "-m", "qbench", "extract", "--format", "jsonl"]
    from_file = subprocess.run([*run, str(tmp_path / "texts.txt")], capture_output=True, text=True, timeout=60)
    piped = subprocess.run(
        [*run, "-"], input=(tmp_path / "texts.txt").read_text(), capture_output=True, text=True, timeout=60
    )
    assert from_file.stdout == piped.stdout
    assert from_file.stdout.count("\n") == 3
    assert '"unit": "pound-mass"' in from_file.stdout
    asked = subprocess.run([*run, "--query", "laptop under 2 lb"], capture_output=True, text=True, timeout=60)
    assert '"terms": "laptop"' in asked.stdout


def test_the_options_of_every_verb_load_nothing_heavy():
    """So that --help is quick."""
    script = (
        "import sys, typer; from importlib import import_module; from qbench.cli.main import VERBS\n"
        'for verb in VERBS: typer.main.get_command(import_module(f\'qbench.cli.{verb.replace("-", "_")}\').app)\n'
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    heavy = {"torch", "spacy", "polars", "pyarrow", "numpy", "scipy", "transformers", "openai", "httpx", "matplotlib"}
    assert not set(done.stdout.split()) & heavy


@pytest.mark.parametrize(("verb", "meant"), [("extrat", "'extract'"), ("gen-query", "'gen-queries'")])
def test_a_mistyped_verb_suggests_another(monkeypatch, capsys, verb, meant):
    monkeypatch.setattr(sys, "argv", ["qbench", verb])
    with pytest.raises(SystemExit):
        cli.main()
    assert f"Did you mean {meant}" in capsys.readouterr().err


def options_of(command, name):
    """Each command at or below one, with its option --language."""
    for below, other in getattr(command, "commands", {}).items():
        yield from options_of(other, f"{name} {below}")
    yield from ((name, option) for option in command.params if "--language" in option.opts)


def test_the_language_is_stated_alike_wherever_texts_come_in(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["qbench", "extract"])  # commands whole, and not their one-line help alone
    root = typer.main.get_command(cli.app)
    found = dict(each for verb in root.list_commands(None) for each in options_of(root.get_command(None, verb), verb))
    del found["publish"]  # the tag of a data set's page
    assert set(found) == {"build-index", "ground", "benchmark import", "extract", "describe"}
    assert {(option.help.partition(" [")[0], option.metavar, option.default) for option in found.values()} == {
        (LANGUAGE_HELP, "CODE", "auto")
    }
