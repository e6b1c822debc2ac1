"""Progress of long computations: a callback that the caller may give, and the bar that people see.

The command line and the functions of `import qbench` show the same bar: on a terminal, and in a notebook. Elsewhere, as
in scripts whose output goes to a file, nothing is shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from html import escape
from typing import Any, Protocol

EVERY = 0.2
"""Seconds between two states of a bar in a notebook."""


class Progress(Protocol):
    """Called as work advances; `total` is None while it is not known."""

    def __call__(self, done: int, total: int | None = None, what: str = "") -> None:
        """`done` of `total` steps are complete."""


def silent(done: int, total: int | None = None, what: str = "") -> None:
    """The default: no progress is reported."""


@contextmanager
def shown(title: str) -> Iterator[Progress]:
    """A bar while the block runs, on standard error or in a notebook; it is gone afterwards."""
    with _in_notebook(title) if _notebook() else _on_terminal(title) as advance:
        yield advance


def shows_progress(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that shows a bar of its name where its caller gives no `progress`.

    Args:
        function: takes `progress` by keyword.
    """

    @wraps(function)
    def showing(*args: Any, **options: Any) -> Any:
        if options.get("progress") is not None:
            return function(*args, **options)
        with shown(function.__name__) as advance:
            return function(*args, **{**options, "progress": advance})

    return showing


@contextmanager
def _on_terminal(title: str) -> Iterator[Progress]:
    from rich import progress as bars
    from rich.console import Console

    from qbench.errors import visible

    console = Console(stderr=True, highlight=False, emoji=False)
    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)

        def advance(done: int, total: int | None = None, what: str = "") -> None:
            bar.update(task, completed=done, total=total, description=visible(f"{title} {what}".rstrip()))

        yield advance


def _notebook() -> bool:
    """Whether this process is the kernel of a notebook: nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def _in_notebook(title: str) -> Iterator[Progress]:
    from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

    place = display(HTML(_bar(title, 0, None, "")), display_id=True)
    last = time.monotonic()

    def advance(done: int, total: int | None = None, what: str = "") -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            place.update(HTML(_bar(title, done, total, what)))

    try:
        yield advance
    finally:
        place.update(HTML(""))


def _bar(title: str, done: int, total: int | None, what: str) -> str:
    """A bar as HTML; without a value where the total is not known."""
    state = f' value="{done}" max="{total}"' if total else ""
    counted = f"{done:,} of {total:,} " if total else f"{done:,} " if done else ""
    return f"{escape(title)} <progress{state}></progress> {counted}{escape(what)}"
