"""`qbench log`: what ran, from a file to which every command adds a line."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from qbench.cli.records import FormatOption, print_table

app = typer.Typer(add_completion=False, rich_markup_mode=None)

SWITCH = "QBENCH_LOG"
"""The environment variable that names another file, or is "off"."""

LONGEST = 200
"""Characters of a word of a command that are kept."""


@app.command()
def log(
    last: Annotated[int, typer.Option(min=1, help="How many commands.")] = 20,
    output_format: FormatOption = "text",
) -> None:
    """Show which commands ran, when, for how long, and how they ended; paths stand by their last part.

    Passwords, tokens and keys are hidden. The log is in ~/.local/state/qbench/log.jsonl (XDG_STATE_HOME); QBENCH_LOG
    names another file, and QBENCH_LOG=off switches it off.

    Example: qbench log --last 5
    """
    from qbench.cli.console import aligned, note

    file = log_file()
    if file is None:
        note(f"the log is switched off ({SWITCH}=off)")
        return
    entries = _entries(file)[-last:]
    rows = [[e["time"], f"{e['seconds']:.1f}", str(e["exit"]), e["command"]] for e in entries]
    print_table(aligned(["time", "seconds", "exit", "command"], rows) if rows else (), entries, output_format)
    if not entries:
        note("no command has run yet")


def log_file() -> Path | None:
    """The file of the log; None where it is switched off, or there is no place for it."""
    given = os.environ.get(SWITCH)
    if given is not None:
        return None if given.lower() in ("off", "0", "") else Path(given)
    try:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    except RuntimeError:  # nobody's home
        return None
    return state / "qbench" / "log.jsonl"


def add_entry(words: Sequence[str], seconds: float, code: int) -> None:
    """Add a command to the log; asking for help, for the version or for the log is none.

    A log that cannot be written stops no command.

    Args:
        words: what was typed after `qbench`.
        seconds: how long it took.
        code: its exit code.
    """
    file = log_file()
    if file is None or not words or words[0] in ("log", "--version") or {"-h", "--help"} & set(words):
        return
    from qbench import __version__
    from qbench.llm.api_keys import words_without_secrets

    time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    command = shlex.join(["qbench", *map(_shown, words_without_secrets(words))])
    entry = {"time": time, "seconds": round(seconds, 2), "exit": code, "command": command, "version": __version__}
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        # One write to a file that is open for appending: lines of processes that end together do not mix.
        with file.open("ab", buffering=0) as stream:
            stream.write(json.dumps(entry, ensure_ascii=True).encode() + b"\n")


def _shown(word: str) -> str:
    """A word without the paths in it, and no longer than a line."""
    from qbench.errors import is_path, without_paths

    name, sign, value = word.partition("=")
    if is_path(word):
        word = Path(word).name or Path(word).resolve().name
    elif sign and is_path(value):
        word = f"{name}={Path(value).name}"
    word = without_paths(word)
    return word if len(word) <= LONGEST else f"{word[:LONGEST]}..."


def _entries(file: Path) -> list[dict[str, Any]]:
    """The commands of a log, oldest first; what is no entry is left out."""
    kinds: dict[str, type | tuple[type, ...]] = {"time": str, "seconds": (int, float), "exit": int, "command": str}
    found = []
    with suppress(OSError):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, RecursionError):
                entry = json.loads(line)
                if isinstance(entry, dict) and all(isinstance(entry.get(name), kind) for name, kind in kinds.items()):
                    found.append(entry)
    return found
