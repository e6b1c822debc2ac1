"""Fewer vectors instead of smaller ones: passages of one document share the mean of their vectors."""

from __future__ import annotations

from dataclasses import dataclass

from qbench.compression.plain import Float32
from qbench.options import option


@dataclass(frozen=True)
class Coalesced(Float32):
    """Sequential coalescing (*WolfPQ* 4.1): see `qbench.scoring.coalescing`, and `qbench.retrieval.merging` for files.

    What it gets to encode are the means, which are kept as they are.
    """

    delta: float = option(
        0.1, help="Distance, 1 - cosine, from the mean from which on a passage begins another group", low=0, high=2
    )
