"""A journal says how far the data beside it are valid; it is written after them, so that interrupted work resumes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.errors import InputError
from qbench.store import read_json, write_json


@dataclass(frozen=True)
class Journal:
    """A JSON file with the state of unfinished work.

    Attributes:
        path: the file. A name with a leading dot goes when a draft is sealed.
        key: of what is being made; state of anything else is not read.
    """

    path: Path
    key: str = ""

    def read(self) -> dict[str, Any] | None:
        """The state that was written last; None if there is none, or none of this key."""
        try:
            written = read_json(self.path)
        except InputError:
            return None
        same = isinstance(written, dict) and written.get("digest") == self.key
        return written["state"] if same and isinstance(written.get("state"), dict) else None

    def write(self, **state: Any) -> None:
        """Replace the state, once all that it speaks of is on disk; values are JSON."""
        write_json(self.path, {"digest": self.key, "state": state})
