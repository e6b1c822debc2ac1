"""What reaches a terminal: what it would obey is shown, and not sent."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from qbench.cli import console
from qbench.cli import main as cli
from qbench.errors import InputError, visible

SENT = "\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp.exe\udc80"


def harmless(text):
    return not set(text) & {"\x1b", "\x07", "\x9b", "\u202e", "\udc80"}


def test_errors_show_what_they_name():
    error = InputError(f"no such {SENT}\n", file=f"a{SENT}.csv", line=3, value=SENT, remedy=f"Ask {SENT}")
    assert harmless(str(error))
    assert "\n" not in str(error)
    assert "a\\u001b]0;title" in str(error)


@pytest.mark.parametrize("make", [console.out, console.err])
def test_consoles_show_what_texts_hold(make, monkeypatch, capsys):
    from rich.table import Table
    from rich.text import Text

    table = Table("name")
    table.add_row(Text(SENT))
    for thing in (SENT, Text(SENT), table, ":100: :smile:"):
        make().print(thing, markup=False)
    console.note(SENT)
    printed = "".join(capsys.readouterr())
    assert harmless(printed)
    assert "\\u001b[2J" in printed
    assert ":100: :smile:" in printed


def test_styles_are_still_sent_to_a_terminal(monkeypatch):
    made = console.out()
    made.file = io.StringIO()
    made._force_terminal = True
    made._color_system = made._color_system or __import__("rich.color", fromlist=["x"]).ColorSystem.STANDARD
    made.print("plain \x1b[2J", style="bold", markup=False)
    assert made.file.getvalue().startswith("\x1b[1m")
    assert "\x1b[2J" not in made.file.getvalue()


def test_json_says_the_same(capsys):
    console.print_json({"text": SENT})
    printed = capsys.readouterr().out
    assert harmless(printed)
    assert json.loads(printed) == {"text": SENT}
    assert visible("a\tb\nc") == "a\tb\nc"


def test_progress_takes_names_as_they_are(monkeypatch):
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    with console.progress("[/reading]") as advance:
        advance(1, 2, "[/x].csv")


def test_a_panic_of_a_library_is_one_line(monkeypatch, capsys):
    class PanicException(BaseException):
        """Stands for polars' own."""

    def app():
        raise PanicException("index out of bounds\nthread")

    monkeypatch.setattr(cli, "app", app)
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err.count("\n") == 1


def test_an_encoding_without_a_character_is_no_failure():
    command = [sys.executable, "-m", "qbench", "extract", "5 µg of жир"]
    done = subprocess.run(
        command, capture_output=True, timeout=60, env={**__import__("os").environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0
    assert b"\\xb5g" in done.stdout
