"""Random generators that depend on what they are for, never on when they are called."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def generator(seed: int, step: str, item: str = "") -> np.random.Generator:
    """The generator of one item of one step.

    The same (seed, step, item) gives the same numbers whatever the number of workers, the order
    of the input or PYTHONHASHSEED.
    """
    import numpy as np

    key = f"{seed}\x1f{step}\x1f{item}".encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16], "little"))
