"""Mutations of files: bits, cuts, copies, pieces that have broken readers before, and odd values within JSON."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

PIECES: tuple[bytes, ...] = (
    b"",
    b"\0",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n\n",
    b'"',
    b'""',
    b"'",
    b",",
    b"\t",
    b";",
    b"|",
    b" ",
    b"\\",
    b"\\u0000",
    b"\\ud83d",
    b"-0",
    b"-",
    b"+",
    b".",
    b"e",
    b"1e999",
    b"-1e999",
    b"1e-999",
    b"nan",
    b"NaN",
    b"inf",
    b"-Infinity",
    b"null",
    b"true",
    b"9" * 30,
    b"9" * 5000,
    b"0." + b"3" * 5000,
    b"0x10",
    b"1_000",
    "٣".encode(),
    "½".encode(),
    "²".encode(),
    "１２".encode(),
    b"1/0",
    b"0/0",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[" * 3000,
    b"{" * 3000,
    b'{"a":' * 3000,
    b"(" * 3000,
    b"[]",
    b"{}",
    b"<",
    b"&",
    b"%",
    b"%s",
    b"{0}",
    b"$",
    b"\x1b[2J",
    b"\x9b",
    b"\xff",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    "\u202e".encode(),
    "\u2028".encode(),
    "\u00a0".encode(),
    "\ufeff".encode(),
    b"../",
    b"/etc/passwd",
    b"..",
    b"~",
    b"*",
    b"?",
    b"#",
    b"=",
    b"a" * 3000,
    "\u0301".encode() * 300,
    b"5 kg",
    b"$3 to $5 million",
    b"ten to twelve",
    b"between 1 and",
    b"-5 \xc2\xb0C",
)
"""What is put in somewhere."""

VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -0.0,
    1,
    -1,
    2**31,
    2**63,
    2**64,
    10**400,
    0.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "\0",
    "x",
    "../x",
    "\x1b[2J",
    "\ud83d",
    "٣",
    "NaN",
    "9" * 5000,
    [],
    [None],
    [[]],
    {},
    {"": None},
    {"a": {}},
    ["x", 1],
    "=",
    "between",
    "test",
)
"""What takes the place of a value in JSON."""

_MOST = 1 << 20


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Some bytes after one to four mutations."""
    for _ in range(draw.choice((1, 1, 1, 2, 2, 4))):
        data = draw.choice(_MUTATIONS)(data, draw)
    return data[:_MOST]


def _span(data: bytes, draw: random.Random) -> tuple[int, int]:
    start = draw.randrange(len(data) + 1)
    return start, min(len(data), start + draw.choice((0, 1, 2, 8, 64, 1024)))


def _flip(data: bytes, draw: random.Random) -> bytes:
    if not data:
        return data
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << draw.randrange(8))]) + data[at + 1 :]


def _byte(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]


def _cut(data: bytes, draw: random.Random) -> bytes:
    start, end = _span(data, draw)
    return data[:start] + data[end:]


def _break_off(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _put(data: bytes, draw: random.Random) -> bytes:
    start, end = _span(data, draw)
    return data[:start] + draw.choice(PIECES) + data[draw.choice((start, end)) :]


def _repeat(data: bytes, draw: random.Random) -> bytes:
    start, end = _span(data, draw)
    return data[:end] + data[start:end] * draw.choice((1, 2, 50)) + data[end:]


def _token(data: bytes, draw: random.Random) -> bytes:
    """A whole word, number or cell becomes something else."""
    places = [at for at in range(len(data)) if at == 0 or data[at - 1] in b',\t "=:[{(\n']
    if not places:
        return data
    start = draw.choice(places)
    end = start
    while end < len(data) and data[end] not in b',\t "=:]})\n':
        end += 1
    return data[:start] + draw.choice(PIECES) + data[end:]


def _lines(data: bytes, draw: random.Random) -> bytes:
    """Lines swapped, dropped or doubled."""
    lines = data.split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one] = lines[other] if draw.random() < 0.5 else b""
    return b"\n".join(lines)


def _json(data: bytes, draw: random.Random) -> bytes:
    """A value in a JSON document, or in a line of JSON lines, becomes another one, or goes, or gets a twin."""
    lines = data.split(b"\n")
    try:
        root = json.loads(data)
        at = None
    except (ValueError, RecursionError):
        at = draw.randrange(len(lines))
        try:
            root = json.loads(lines[at])
        except (ValueError, RecursionError):
            return _token(data, draw)
    changed = json.dumps(_changed(root, draw), ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")
    if at is None:
        return changed
    return b"\n".join((*lines[:at], changed, *lines[at + 1 :]))


def _changed(value: Any, draw: random.Random) -> Any:
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(list(value))
        others = {name: inner for name, inner in value.items() if name != key}
        what = draw.random()
        if what < 0.1:
            return others
        if what < 0.2:
            return {**value, str(draw.choice(VALUES)): value[key]}
        return {**value, key: _changed(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.9:
        at = draw.randrange(len(value))
        return [*value[:at], _changed(value[at], draw), *value[at + 1 :]]
    return draw.choice(VALUES)


_MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip, _byte, _cut, _break_off, _put, _put, _repeat, _token, _token, _lines, _json, _json, _json,
)  # fmt: skip
