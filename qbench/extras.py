"""Packages that only some commands need, and the extras of qbench that install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from qbench.errors import MissingPackageError


def needed(package: str, extra: str, what: str, *, otherwise: str = "") -> Any:
    """A package that an extra installs, imported; called before any work.

    Args:
        package: the module's name, as in `import` (a dotted one for a submodule).
        extra: of pyproject.toml.
        what: what needs it, as in "engine=faiss"; the message's subject.
        otherwise: what could be done without it, as in "or write engine=exact".

    Raises:
        MissingPackageError: it is not installed.
    """
    try:
        return import_module(package)
    except ImportError:
        remedy = f"Install it: pip install 'qbench[{extra}]'" + (f", {otherwise}" if otherwise else "")
        name = package.partition(".")[0].replace("_", "-")
        verb = "need" if what.endswith("s") else "needs"
        raise MissingPackageError(f"{what} {verb} {name}", remedy=remedy) from None
