"""Objects that are named by text, so that their modules are imported when they are used and not before."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def object_at(path: str) -> Any:
    """What a module has under a name, the two parted by a colon.

    >>> object_at("math:floor")(2.5)
    2
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
