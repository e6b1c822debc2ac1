"""A writer's lock in other hands, for tests of what happens then."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qbench.locks import WAIT, locked


@contextmanager
def held_by_another(folder: Path, wait: str = "0") -> Iterator[threading.Event]:
    """Another thread holds the lock of `folder`, and nobody waits for it longer than `wait` seconds.

    Gives the event that makes the other thread let go earlier.
    """
    has, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(folder):
            has.set()
            may_end.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert has.wait(10)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(WAIT, wait)
            yield may_end
    finally:
        may_end.set()
        thread.join()
