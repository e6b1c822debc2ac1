"""Progress of long computations: a callback that the caller may give."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called as work advances; `total` is None while it is not known."""

    def __call__(self, done: int, total: int | None = None, what: str = "") -> None:
        """`done` of `total` steps are complete."""


def silent(done: int, total: int | None = None, what: str = "") -> None:
    """The default: no progress is reported."""
