"""Many small choices from one generator: a block of random numbers at a time, for numpy is slow one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from qbench.randomness import generator

T = TypeVar("T")

_BLOCK = 64


class Dice:
    """The choices for one item; the same (seed, step, item) makes the same ones."""

    def __init__(self, seed: int, step: str, item: str) -> None:
        self._generator = generator(seed, step, item)
        self._left: list[float] = []

    def roll(self) -> float:
        """A number in [0, 1)."""
        if not self._left:
            self._left = self._generator.random(_BLOCK).tolist()
        return self._left.pop()

    def chance(self, share: float) -> bool:
        """True in this share of the calls."""
        return self.roll() < share

    def number(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self.roll() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, equally likely."""
        return options[int(self.roll() * len(options))]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """The options in a random order."""
        return sorted(options, key=lambda _: self.roll())
