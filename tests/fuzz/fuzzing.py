"""A run of the fuzzer: mutate a file of an input, read it, and see that no more than an error of one line comes."""

from __future__ import annotations

import random
import shutil
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from qbench.errors import QbenchError
from tests.fuzz.mutate import mutated
from tests.fuzz.subject import Subject
from tests.fuzz.subjects import SUBJECTS, sealed

SLOW = 20
"""Seconds for one input: longer is a hang."""


@dataclass(frozen=True)
class Finding:
    """An input that a reader does not survive.

    Attributes:
        subject, seed, number: make the input again.
        folder: where it lies, if it was kept.
        what: the traceback.
    """

    subject: str
    seed: int
    number: int
    folder: Path | None
    what: str


class Fuzzed:
    """A subject, with its whole input made once.

    Args:
        name: of the subject.
        scratch: an empty folder.
    """

    def __init__(self, name: str, scratch: Path) -> None:
        self.name, self.subject = name, SUBJECTS[name]
        self.whole, self.spoilt = scratch / "whole", scratch / "spoilt"
        self.whole.mkdir(parents=True)
        self.subject.make(self.whole)
        self.files = sorted(path.relative_to(self.whole) for path in self.whole.rglob("*") if path.is_file())

    def survives_whole(self) -> None:
        """Read the input as it is, which has to succeed.

        Raises:
            Exception: it does not.
        """
        copy = self.spoilt
        shutil.copytree(self.whole, copy)
        self.subject.read(copy)
        shutil.rmtree(copy)

    def spoil(self, seed: int, number: int) -> None:
        """Write the input of this number, the same each time."""
        draw = random.Random(f"{self.name} {seed} {number}")
        shutil.rmtree(self.spoilt, ignore_errors=True)
        shutil.copytree(self.whole, self.spoilt)
        for path in draw.sample(self.files, min(len(self.files), draw.choice((1, 1, 1, 2)))):
            data = (self.spoilt / path).read_bytes()
            (self.spoilt / path).write_bytes(mutated(data, draw))
        if self.subject.sealed:
            sealed(self.spoilt)

    def finding(self, seed: int, number: int) -> Finding | None:
        """Read the input of this number; None if it is read, or refused in one line and in time."""
        self.spoil(seed, number)
        what = read_spoilt(self.subject, self.spoilt)
        return None if what is None else Finding(self.name, seed, number, None, what)


def read_spoilt(subject: Subject, folder: Path) -> str | None:
    """What is wrong with how a subject reads a folder; None if nothing is."""
    try:
        with _in_time():
            subject.read(folder)
    except QbenchError as error:
        said = str(error)
        if "\n" in said or "\x1b" in said:
            return f"not one line, or not printable: {said!r}"
    except KeyboardInterrupt:
        raise
    except BaseException:
        # A panic of polars is no Exception.
        return traceback.format_exc()
    return None


@contextmanager
def _in_time() -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {SLOW} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SLOW)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fuzz(
    name: str, scratch: Path, seed: int, numbers: range, seconds: float = float("inf")
) -> Iterator[Finding | None]:
    """For each input of these numbers the finding, or None, until the seconds are over."""
    fuzzed = Fuzzed(name, scratch)
    fuzzed.survives_whole()
    start = time.monotonic()
    for number in numbers:
        if time.monotonic() - start > seconds:
            return
        finding = fuzzed.finding(seed, number)
        if finding is None:
            yield None
        else:
            kept = scratch / f"found-{seed}-{number}"
            shutil.copytree(fuzzed.spoilt, kept)
            yield Finding(finding.subject, seed, number, kept, finding.what)
