"""How much the checkpoints of a system were trained on, for the words beside its row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qbench.errors import InputError
from qbench.retrieval.systems import System
from qbench.store import MANIFEST, read_manifest


def training_samples(system: System) -> int | None:
    """The number of positives that the checkpoints of a system were trained on, the smallest of several.

    Only checkpoints that `qbench train` wrote say so: a model of the hub, or a folder without a manifest, counts as
    trained by others, however little.

    Args:
        system: that ran.

    Returns:
        None where no stage has such a checkpoint.
    """
    sizes = [_size(name) for stage in system.stages for name in stage.checkpoints]
    return min((size for size in sizes if size is not None), default=None)


def _size(model: str | None) -> int | None:
    if not model or not (Path(model) / MANIFEST).is_file():
        return None
    try:
        manifest = read_manifest(Path(model))
    except InputError:
        return None
    return trained_on(manifest.params, manifest.counts)


def trained_on(params: Mapping[str, Any], counts: Mapping[str, Any]) -> int | None:
    """The number of positives that a training went through in an epoch, those of a second benchmark included.

    Args:
        params, counts: of the checkpoint's manifest.

    Returns:
        None where the manifest does not count positives.
    """
    sizes = [part.get("positives") for part in (counts, counts.get("joint") or {})]
    found = sum(size for size in sizes if size)
    most = params.get("max_pairs") or found
    return min(found, int(most)) if found else None
