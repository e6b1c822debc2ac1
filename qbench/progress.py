"""How long work tells how far it is: a callback that the caller may give, and nothing else."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called as work advances; `total` is None while it is not known."""

    def __call__(self, done: int, total: int | None = None, what: str = "") -> None:
        """Hear that `done` of `total` steps are behind us."""


def silent(done: int, total: int | None = None, what: str = "") -> None:
    """The default: nobody listens."""
