r"""TOML files that users write, read against a type: templates, prompts, prices, mappings, tolerances, experiments.

A file's shape is a dataclass (see `qbench.options`), or a mapping of texts to one. Every error names the file, the line
where it can be found, the entry, its value and a remedy:

>>> @dataclass(frozen=True)
... class Price:
...     input: float = option(help="per million tokens", low=0)
...     output: float = option(0.0, help="per million tokens", low=0)
>>> prices = TomlFile(Path("prices.toml"), '[small]\ninput = "two"')
>>> prices.read(dict[str, Price])
Traceback (most recent call last):
    ...
qbench.errors.InputError: prices.toml:2: small, input should be a number (found 'two')
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, is_dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.options import Declared, declared, option
from qbench.store import read_text

__all__ = ["TomlFile", "option", "read_toml"]

T = TypeVar("T")
Entry = tuple[str | int, ...]
"""The keys that lead to a value, and places in lists."""

_HEADER = re.compile(r"\s*(\[\[?)(.+?)\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PLAIN: dict[Any, tuple[type | tuple[type, ...], str]] = {
    str: (str, "a text"),
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
}


def read_toml(path: Path, what: str, shape: type[T]) -> T:
    """A TOML file as a value of a type.

    Args:
        path: the file.
        what: what it holds, for errors ("prices").
        shape: a dataclass, or a mapping from texts. Fields may be texts, numbers, truth values, `Literal`s, tuples of
            these, mappings, other dataclasses, and None. A tuple of texts may be written as one text. A field's key
            in the file is its name, or what `option(..., key=...)` says.

    Raises:
        InputError: the file is missing or no TOML; an entry is unknown, missing, of another type or out of its limits.
    """
    return TomlFile.open(path, what).read(shape)


@dataclass(frozen=True)
class TomlFile:
    """The text of a TOML file, for readers that check more than types: their errors name its lines too."""

    path: Path
    text: str

    @classmethod
    def open(cls, path: Path, what: str) -> TomlFile:
        """Read a file.

        Raises:
            InputError: it is missing, a folder, or not UTF-8.
        """
        return cls(path, read_text(path, what))

    @cached_property
    def data(self) -> dict[str, Any]:
        """Its tables.

        Raises:
            InputError: it is no TOML.
        """
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as fault:
            position = re.search(r"\(at line (\d+), column \d+\)$", str(fault))
            message = f"not valid TOML: {str(fault)[: position.start()].rstrip() if position else fault}"
            raise InputError(message, file=self.path, line=int(position[1]) if position else None) from None
        except RecursionError:
            raise InputError("not valid TOML: too many brackets in brackets", file=self.path) from None
        except ValueError:
            raise InputError("not valid TOML: a number of too many digits, or no date", file=self.path) from None

    def read(self, shape: type[T]) -> T:
        """The file as a value of a type; see `read_toml`.

        Raises:
            InputError: as in `read_toml`.
        """
        return cast(T, self.value(shape, self.data, ()))

    def error(self, *entry: str | int, message: str, value: object = None, remedy: str | None = None) -> InputError:
        """An error about an entry: the keys that lead to it, and places in lists, from 0."""
        where = self._name(entry)
        return InputError(
            f"{where}: {message}" if where else message,
            file=self.path,
            line=self.line(*entry),
            value=value,
            remedy=remedy,
        )

    def line(self, *entry: str | int) -> int | None:
        """The 1-based line of an entry, or of the table around it; None where neither has one of its own."""
        while entry:
            if entry in self._lines:
                return self._lines[entry]
            entry = entry[:-1]
        return None

    @cached_property
    def _lines(self) -> dict[Entry, int]:
        lines: dict[Entry, int] = {}
        table: Entry = ()
        counts: dict[Entry, int] = {}
        for number, text in enumerate(self.text.splitlines(), start=1):
            if header := _HEADER.fullmatch(text):
                table = _keys(header[2])
                if header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                    table = (*table, counts[table])
                lines.setdefault(table, number)
            elif key := _KEY.match(text):
                lines.setdefault((*table, *_keys(key[1])), number)
        return lines

    def _name(self, entry: Sequence[str | int]) -> str:
        """An entry in words: "leaderboard plain, depth"; a table in a list goes by its name or title, if it has one."""
        words: list[str] = []
        value: Any = self.data
        for step in entry:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                value = None
            if isinstance(step, int):
                named = value if isinstance(value, dict) else {}
                words[-1:] = [f"{' '.join(words[-1:])} {named.get('name') or named.get('title') or step + 1}".strip()]
            else:
                words.append(step)
        return ", ".join(words)

    def value(self, shape: Any, value: Any, entry: Entry) -> Any:
        """A value of an entry as a type; see `read_toml`.

        Raises:
            InputError: it is of another type.
        """
        origin, arguments = get_origin(shape), get_args(shape)
        if shape is Any:
            return value
        if origin in (Union, UnionType):
            (inner,) = (kind for kind in arguments if kind is not NoneType)
            return self.value(inner, value, entry)
        if origin is Literal:
            if value not in arguments or isinstance(value, bool):
                raise self._wrong(entry, f"one of {', '.join(map(str, arguments))}", value)
            return value
        if origin is tuple:
            return self._texts_or_list(arguments[0], value, entry)
        if isinstance(shape, type) and is_dataclass(shape):
            return self._record(shape, self._table(value, entry), entry)
        if origin is not None and issubclass(origin, Mapping):
            kind, inner = arguments
            table = self._table(value, entry)
            return {
                self.value(kind, key, (*entry, key)): self.value(inner, item, (*entry, key))
                for key, item in table.items()
            }
        types, expected = _PLAIN[shape]
        if not isinstance(value, types) or (isinstance(value, bool) and shape is not bool):
            raise self._wrong(entry, expected, value)
        return float(cast(float, value)) if shape is float else value

    def _texts_or_list(self, kind: Any, value: Any, entry: Entry) -> tuple[Any, ...]:
        if kind is str and isinstance(value, str):
            value = [value]
        if not isinstance(value, list):
            is_table = kind is not str and get_origin(kind) is not Literal
            expected = f"a list of tables, [[{entry[-1]}]]" if is_table else "a list of texts"
            raise self._wrong(entry, expected, value)
        if kind is str and not all(isinstance(item, str) and item.strip() for item in value):
            raise self._wrong(entry, "a text or a list of texts", value)
        return tuple(self.value(kind, item, (*entry, number)) for number, item in enumerate(value))

    def _table(self, value: Any, entry: Entry) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(entry, "a table", value)
        return value

    def _record(self, shape: type[Any], table: Mapping[str, Any], entry: Entry) -> Any:
        options = {str(declaration.extra.get("key", declaration.name)): declaration for declaration in declared(shape)}
        for key in table:
            if key not in options:
                near = get_close_matches(key, options, n=1)
                remedy = f"{f'Did you mean {near[0]}? ' if near else ''}Known: {', '.join(options)}"
                where = self._name(entry)
                message = f"{where}: unknown entry" if where else "unknown entry"
                raise InputError(message, file=self.path, line=self.line(*entry, key), value=key, remedy=remedy)
        values = {}
        for key, declaration in options.items():
            given = table.get(key)
            if declaration.default is MISSING and (given is None or given in ([], {}) or not str(given).strip()):
                remedy = f"Needed: {', '.join(name for name, other in options.items() if other.default is MISSING)}"
                raise self.error(*entry, message=f"{key} is missing", remedy=remedy)
            if given is not None:
                values[declaration.name] = self.value(declaration.type, given, (*entry, key))
                self._limits(declaration, values[declaration.name], (*entry, key))
        try:
            return shape(**values)
        except OptionError as fault:
            raise self._refused(fault, entry, options) from None

    def _limits(self, declaration: Declared, value: Any, entry: Entry) -> None:
        steps: Iterable[tuple[Any, Any]] = [(None, value)]
        if isinstance(value, Mapping):
            steps = value.items()
        elif isinstance(value, tuple):
            steps = enumerate(value)
        for step, item in steps:
            if not declaration.allows(item):
                at = entry if step is None else (*entry, step)
                message = f"{self._name(at)} {declaration.allowed()}"
                raise InputError(message, file=self.path, line=self.line(*at), value=item)

    def _refused(self, fault: OptionError, entry: Entry, options: Mapping[str, Any]) -> Exception:
        """An error of the options class, with file and line."""
        name = fault.message.partition(" ")[0]
        at = (*entry, name) if name in options else entry
        kind = UnknownNameError if isinstance(fault, UnknownNameError) else InputError
        where = self._name(entry)
        message = f"{where}: {fault.message}" if where else fault.message
        error = kind(message, file=self.path, line=self.line(*at), remedy=fault.remedy)
        error.value = fault.value
        return error

    def _wrong(self, entry: Entry, expected: str, value: object) -> InputError:
        message = f"{self._name(entry) or 'the file'} should be {expected}"
        return InputError(message, file=self.path, line=self.line(*entry), value=value)


def _keys(text: str) -> Entry:
    """The parts of a dotted key."""
    names = re.findall(r"""[\w-]+|"[^"]*"|'[^']*'""", text)
    return tuple(key[1:-1] if key[0] in "\"'" else key for key in names)
