"""How numbers and units are written, whatever the language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Style = Literal["plain", "comma", "word", "letter"]


@dataclass(frozen=True, slots=True)
class UnitForm:
    """One way to write a unit: what stands before the number, or after it (spaces included)."""

    before: str = ""
    after: str = ""
    named: bool = False

    @property
    def bare(self) -> str:
        """The form without the space that joins it to the number."""
        return (self.before or self.after).strip()
