"""What a subject of the fuzzer is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

TEXTS = (
    "The Aria laptop weighs 1.2 kg and costs $1,299.",
    "Revenue rose 5% to between 3 and 4 million euros in 2019.",
    "About two thirds of 1,234 patients (65 years or older) took 5 mg twice daily (p < 0.05).",
)


@dataclass(frozen=True)
class Subject:
    """A reader or artefact.

    Attributes:
        make: writes a whole input into an empty folder.
        read: reads it; may raise errors of qbench only.
        sealed: whether the manifest is made to agree with what was changed, as a stranger's would.
    """

    make: Callable[[Path], object]
    read: Callable[[Path], object]
    sealed: bool = False


def each(*reads: Callable[[], object]) -> None:
    """Call all, though one may refuse."""
    from qbench.errors import QbenchError

    refused = None
    for read in reads:
        try:
            read()
        except QbenchError as error:
            str(error)
            refused = error
    if refused is not None:
        raise refused
