"""The command that made an artefact, as cards and manifests record it: what was typed beyond the defaults.

It is the same wherever it is run: files stand in it by their names, folders that are read and written as the help calls
them (INDEX, BENCH), and what cannot change the result (processes, budgets, recordings) does not. Secrets are hidden.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.llm.api_keys import words_without_secrets


@dataclass(frozen=True)
class Word:
    """How a value of the command line is recorded.

    Attributes:
        slot: the command's parameter that holds it.
        field: of that parameter, where it is an options class; "" for the parameter itself.
        flag: what stands before the value; "" for an argument.
        default: the value that is not recorded.
        recorded: whether it is recorded; or the word that is recorded instead, or a function from the value, or each of
            several, to that word.
        comma: whether several values are one word.
    """

    slot: str
    field: str = ""
    flag: str = ""
    default: Any = None
    recorded: bool | str | Callable[[Any], str] = True
    comma: bool = False

    def texts(self, value: Any) -> list[str]:
        """The words of a value; none for the default."""
        if not self.recorded or value == self.default or value is None:
            return []
        if isinstance(value, bool):
            return [self.flag if value else f"--no-{self.flag.removeprefix('--')}"]
        items = value if isinstance(value, tuple | list) else [value]
        if callable(self.recorded):
            items = [self.recorded(item) for item in items]
        if isinstance(self.recorded, str):
            items = [self.recorded]
        elif self.comma:
            items = [",".join(map(_text, items))]
        return [word for item in items for word in (*filter(None, [self.flag]), _text(item))]


def command_line(verb: str, words: Sequence[Word], given: Mapping[str, Any]) -> str:
    """The command, its arguments first, quoted for a shell.

    Args:
        verb: what follows `qbench`.
        words: how its values are recorded, in order.
        given: the values of its parameters.
    """
    line = ["qbench", *verb.split()]
    for word in sorted(words, key=lambda word: word.flag != ""):
        value = given[word.slot]
        line += word.texts(getattr(value, word.field) if word.field else value)
    return shlex.join(words_without_secrets(line))


def _text(value: Any) -> str:
    if isinstance(value, Path):
        return value.name or value.resolve().name
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def file_name(text: str) -> str:
    """A name, or a path by its last part: what is recorded of an option that takes either."""
    return Path(text).name or text


def named_input(text: str) -> str:
    """`NAME=VALUE`, a path that exists by its last part."""
    name, sign, value = text.partition("=")
    path = Path(value.strip())
    return f"{name}{sign}{path.name}" if path.is_absolute() or path.exists() else text
