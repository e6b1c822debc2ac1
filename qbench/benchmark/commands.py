"""The command lines that cards and manifests tell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

_NO_NAMES: Mapping[str, str] = MappingProxyType({})


def command_line(
    start: Sequence[str],
    options: Any,
    more: Sequence[str] = (),
    *,
    names: Mapping[str, str] = _NO_NAMES,
    repeated: bool = False,
) -> str:
    """A command with those of its options that are not the usual ones; files by their name alone.

    Args:
        start: the command and what it needs in any case.
        options: a dataclass whose fields are called as the options are.
        more: further words.
        names: field -> option, where they are called otherwise.
        repeated: whether an option with several values is repeated, and not given once with commas.
    """
    words = [*start]
    for option in fields(options):
        value, flag = getattr(options, option.name), names.get(option.name, option.name.replace("_", "-"))
        if value == option.default:
            continue
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif isinstance(value, tuple):
            words += [word for one in (value if repeated else [",".join(value)]) for word in (f"--{flag}", one)]
        else:
            words += [f"--{flag}", _told(value)]
    return shlex.join([*words, *more])


def _told(value: Any) -> str:
    if isinstance(value, Path):
        return value.name
    return f"{value:.15g}" if isinstance(value, float) else str(value)
