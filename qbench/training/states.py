"""Where a training run stands after an epoch, on disk, without pickle: weights, optimiser and a record of it.

The folder `.state` in a draft is replaced whole; drafts throw it away when they are finished.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.store import read_json, write_json

if TYPE_CHECKING:
    import torch

STATE = ".state"


def save_state(
    folder: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, record: Mapping[str, object]
) -> None:
    """Write the state of a run; a kill leaves the one before or this one.

    Args:
        folder: of the draft.
        model: its weights are written.
        optimizer: its tensors are written; rates and the like come from the options again.
        record: what else there is to know, as JSON.
    """
    from safetensors.torch import save_file

    new, old = folder / f"{STATE}.new", folder / f"{STATE}.old"
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir()
    save_file(
        {name: tensor.cpu().contiguous() for name, tensor in model.state_dict().items()}, new / "model.safetensors"
    )
    save_file(
        {
            f"{number}.{name}": value.cpu().contiguous()
            for number, values in optimizer.state_dict()["state"].items()
            for name, value in values.items()
        },
        new / "optimizer.safetensors",
    )
    write_json(new / "record.json", record)
    if (folder / STATE).exists():
        (folder / STATE).rename(old)
    new.rename(folder / STATE)
    shutil.rmtree(old, ignore_errors=True)


def load_state(folder: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Put weights and optimiser back as `save_state` found them.

    Returns:
        the record; {} where no epoch was finished, and nothing was changed.
    """
    from safetensors.torch import load_file

    state = folder / STATE
    if not state.is_dir():
        # A kill between the two renames of `save_state`.
        state = folder / f"{STATE}.old"
    if not (state / "record.json").is_file():
        return {}
    load_weights(model, state / "model.safetensors")
    tensors: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in load_file(state / "optimizer.safetensors").items():
        number, _, what = name.partition(".")
        tensors.setdefault(int(number), {})[what] = value
    optimizer.load_state_dict({"state": tensors, "param_groups": optimizer.state_dict()["param_groups"]})
    record: dict[str, Any] = read_json(state / "record.json")
    return record


def load_weights(model: torch.nn.Module, path: Path) -> None:
    """Give a model the weights of a safetensors file."""
    from safetensors.torch import load_file

    model.load_state_dict(load_file(path))
