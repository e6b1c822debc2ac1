"""Artefacts as `qbench train codebook` writes them, without training."""

from __future__ import annotations

import numpy as np

from qbench.compression.trained import ABOUT, CODEBOOK, KIND
from qbench.store import drafting, write_json


def drawn(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def write_codebook(folder, codebook, variant="WolfPQ", vectors=None, network=None, gamma=0.5, mdf=3.0):
    """A trained codebook; `network` is (w1, b1, w2, b2) of a semantic one."""
    with drafting(folder, KIND, "a key", {}) as draft:
        np.save(draft.folder / CODEBOOK, codebook)
        about = {"variant": variant, "vectors": vectors or {}}
        if network is not None:
            for name, array in zip(("w1", "b1", "w2", "b2"), network, strict=True):
                np.save(draft.folder / f"{name}.npy", array)
            about |= {"gamma": gamma, "mdf": mdf}
        write_json(draft.folder / ABOUT, about)
    return folder


def some_network(M, K, width, seed=3):
    hidden = M * K // 2
    return (
        drawn((hidden, width), seed),
        drawn(hidden, seed + 1),
        drawn((M * K, hidden), seed + 2) / hidden,
        drawn(M * K, seed + 3),
    )
