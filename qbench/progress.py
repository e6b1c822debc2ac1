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

    def __call__(self, done: float, total: float | None = None, what: str = "") -> None:
        """`done` of `total` steps are complete."""


def silent(done: float, total: float | None = None, what: str = "") -> None:
    """The default: no progress is reported."""


class Parts:
    """One bar over several parts of work: what a part reports moves the bar within its share, and never back.

    >>> def printed(done, total=None, what=""):
    ...     print(f"{done:g} of {total:g} {what}")
    >>> bar = Parts(printed, 3)
    >>> bar.begin(2, "BM25")
    0 of 3 BM25
    >>> bar(500, 1000, "indexing")
    1 of 3 indexing, 500 of 1,000
    >>> bar.begin(1, "tests")
    2 of 3 tests
    """

    def __init__(self, progress: Progress, total: float) -> None:
        """Of the work that `progress` shows, `total` is the size of all parts."""
        self._progress, self._total = progress, total
        self._start = self._size = self._furthest = 0.0

    def begin(self, size: float, what: str = "") -> None:
        """The part before is complete; a part of this size begins."""
        self._start, self._size = self._start + self._size, size
        self._show(self._start, what)

    def __call__(self, done: float, total: float | None = None, what: str = "") -> None:
        """`done` of `total` steps of the part are complete."""
        if isinstance(done, int):  # else the steps are parts themselves
            counted = f"{done:,} of {total:,}" if total else f"{done:,}"
            what = ", ".join(filter(None, (what, counted)))
        self._show(self._start + self._size * min(done / total, 1) if total else self._start, what)

    def _show(self, done: float, what: str) -> None:
        self._furthest = max(self._furthest, min(done, self._total))
        self._progress(self._furthest, self._total, what)


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

        def advance(done: float, total: float | None = None, what: str = "") -> None:
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

    def advance(done: float, total: float | None = None, what: str = "") -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            place.update(HTML(_bar(title, done, total, what)))

    try:
        yield advance
    finally:
        place.update(HTML(""))


def _bar(title: str, done: float, total: float | None, what: str) -> str:
    """A bar as HTML; without a value where the total is not known."""
    state = f' value="{done}" max="{total}"' if total else ""
    counted = f"{int(done):,} of {int(total):,} " if total else f"{int(done):,} " if done else ""
    return f"{escape(title)} <progress{state}></progress> {counted}{escape(what)}"
