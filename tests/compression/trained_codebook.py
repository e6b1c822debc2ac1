"""Artefacts as `qbench train codebook` writes them, without training."""

from __future__ import annotations

import numpy as np

from qbench.compression.quantiser import KIND, Quantiser, Semantic
from qbench.scoring.semantic import Network
from qbench.store import drafting


def drawn(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def write_codebook(folder, codebook, variant="WolfPQ", vectors=None, network=None, gamma=0.5, mdf=3.0, keys=None):
    """A trained codebook; `network` is (w1, b1, w2, b2) of a semantic one."""
    semantic = Semantic(Network(*network), gamma, mdf) if network else None
    with drafting(folder, KIND, "a key", {}) as draft:
        Quantiser(codebook, keys, semantic).save(draft.folder, variant=variant, vectors=vectors or {})
    return folder


def some_network(M, K, width, seed=3):
    hidden = M * K // 2
    return (
        drawn((hidden, width), seed),
        drawn(hidden, seed + 1),
        drawn((M * K, hidden), seed + 2) / hidden,
        drawn(M * K, seed + 3),
    )
