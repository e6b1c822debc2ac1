"""The writer's lock of a folder or file: one process writes, others wait for it, and say so.

The lock is one of the operating system (`flock`), which frees it when its process ends, however that happens: a killed
process leaves a file, and no lock.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from qbench.errors import BusyError, InputError, OptionError

if TYPE_CHECKING:
    from filelock import BaseFileLock

WAIT = "QBENCH_WAIT"
"""The environment variable with the seconds to wait for another process; without it, as long as it takes."""

SILENT = 1.0
"""Seconds of waiting after which a message is printed."""

_UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST}
"""Faults of the place; others (too many open files, a full disk) are the machine's, and another folder helps nobody."""

_MINE = threading.local()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the writer's lock of a folder or file; wait where another process or thread holds it.

    A thread that holds the lock may take it again. Several locks are taken in the order of their names, and that of an
    artefact before those of what it is made of, so that two processes never wait for each other.

    Raises:
        BusyError: another process still holds it after the seconds in `QBENCH_WAIT`.
        InputError: files cannot be written there.
        OptionError: `QBENCH_WAIT` is no number of seconds.
    """
    from filelock import FileLock

    folder = folder.absolute()
    path = _lock_file(folder)
    mine = _held()
    if path in mine:
        yield
        return
    lock = FileLock(path)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _acquire(lock, folder, path)
    except OSError as fault:
        if fault.errno not in _UNWRITABLE:
            raise
        raise InputError(f"cannot be written: {fault.strerror}", file=folder, remedy="Choose another folder") from fault
    mine.add(path)
    try:
        _sign(lock, path)
        yield
    finally:
        mine.discard(path)
        # Removed while held: filelock (4 and later) gives up a lock on a file that is gone.
        path.unlink(missing_ok=True)
        lock.release()


def writer(folder: Path) -> str | None:
    """Who writes a folder at this moment: "another qbench process (4711)"; None for nobody that can be told.

    The lock itself is not touched, so that who only looks keeps nobody from writing: its file says which process of
    this host holds it, and a killed one no longer runs.
    """
    path = _lock_file(folder)
    signed = _signed(path)
    if signed is None:
        return None
    process, host = signed
    if host != socket.gethostname() or not _runs(process) or (process == os.getpid() and path in _held()):
        return None
    return _named(signed)


def _runs(process: int) -> bool:
    """Whether a process of this machine runs; False where the system does not say so."""
    if os.name != "posix" or process <= 0:
        return False
    try:
        os.kill(process, 0)  # sends nothing
    except PermissionError:
        return True  # of another user
    except (OSError, OverflowError):
        return False
    return True


def _lock_file(folder: Path) -> Path:
    return folder.absolute().parent / f".{folder.name}.lock"


def _held() -> set[Path]:
    """The locks of this thread."""
    if not hasattr(_MINE, "paths"):
        _MINE.paths = set()
    held: set[Path] = _MINE.paths
    return held


def _acquire(lock: BaseFileLock, folder: Path, path: Path) -> None:
    from filelock import Timeout

    patience = _patience()
    first = SILENT if patience is None else min(SILENT, patience)
    with suppress(Timeout):
        lock.acquire(timeout=first)
        return
    _check_writable(path)
    holder = _holder(path)
    if patience is None or patience > first:
        logging.getLogger("qbench").warning(
            "%s: waiting for %s, which is writing here. Ctrl-C ends the wait; %s=60 in the environment waits a minute "
            "at most, %s=0 not at all",
            folder, holder, WAIT, WAIT,
        )  # fmt: skip
        with suppress(Timeout):
            lock.acquire(timeout=-1 if patience is None else patience - first)
            return
    raise BusyError(f"{holder} is writing here", file=folder, remedy="Wait for it, or choose another folder")


def _check_writable(path: Path) -> None:
    """Tell a place where no lock can be taken from one whose lock another process holds.

    Raises:
        OSError: no file can be made there.
    """
    if not path.exists():
        with TemporaryFile(dir=path.parent):  # not the lock's own file: where locks are files, that would take it
            pass


def _patience() -> float | None:
    """Seconds to wait; None for as long as it takes."""
    given = os.environ.get(WAIT, "").strip()
    if not given:
        return None
    with suppress(ValueError):
        if (seconds := float(given)) >= 0:
            return seconds
    raise OptionError(f"{WAIT} in the environment is no number of seconds", value=given)


def _sign(lock: BaseFileLock, path: Path) -> None:
    """Say in the lock's file who holds it."""
    from filelock import SoftFileLock

    if isinstance(lock, SoftFileLock):  # the stand-in where files cannot be locked: its file is the lock
        return
    with suppress(OSError):  # which other processes cannot read then; it locks all the same
        path.write_text(json.dumps({"process": os.getpid(), "host": socket.gethostname()}), encoding="utf-8")


def _holder(path: Path) -> str:
    """Who holds a lock, as its file says: "another qbench process (4711 on alpha)"."""
    return _named(_signed(path))


def _signed(path: Path) -> tuple[int, str] | None:
    """The process and the host in a lock's file, which `_sign` wrote; None where it does not say."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return int(said["process"]), str(said["host"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _named(signed: tuple[int, str] | None) -> str:
    if signed is None:
        return "another qbench process"
    process, host = signed
    if (process, host) == (os.getpid(), socket.gethostname()):
        return "another thread of this process"
    return f"another qbench process ({process}{'' if host == socket.gethostname() else f' on {host}'})"
