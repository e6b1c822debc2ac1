"""Files that travel with qbench: sentence and query templates, prompts."""

from __future__ import annotations

from pathlib import Path

from qbench.errors import InputError


def resource(name: str) -> Path:
    """The path of a file such as "templates/sentences.toml".

    In a wheel they lie in `qbench/_data`, in a checkout (an editable install) at the root of the repository.

    Raises:
        InputError: there is no such file; the installation is damaged.
    """
    package = Path(__file__).parent
    for root in (package / "_data", package.parent):
        path = root / name
        if path.exists():
            return path
    raise InputError("a file of qbench's own is missing", file=name, remedy="Install qbench again")
