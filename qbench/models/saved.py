"""Models of ours on disk: the encoder's configuration and tokeniser, the layers above it in JSON, safetensors.

Nothing is downloaded, and nothing from a folder is run. This module imports torch: import it inside functions.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from qbench.errors import InputError
from qbench.store import read_json, write_json

WEIGHTS = "model.safetensors"

Config = TypeVar("Config")


def save_model(model: Any, folder: Path, file: str, shared: Collection[str] = ()) -> None:
    """Write weights, configurations and tokeniser into a folder; nothing of where the encoder came from.

    Args:
        model: a module with `encoder`, `tokenizer` and `config`, a dataclass.
        folder: to write into.
        file: name of the JSON file of the configuration.
        shared: names of weights that are stored under another name.
    """
    model.encoder.config._name_or_path = ""
    model.encoder.config.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    write_json(folder / file, asdict(model.config))
    weights = {name: tensor.cpu().contiguous() for name, tensor in model.state_dict().items() if name not in shared}
    save_file(weights, folder / WEIGHTS)


def read_config(folder: Path, file: str, config: type[Config], what: str, remedy: str | None = None) -> Config:
    """The configuration that `save_model` wrote.

    Args:
        folder: of the model.
        file: name of the JSON file.
        config: its dataclass.
        what: the kind of model, for errors ("Aggretriever").
        remedy: where a file is missing.

    Raises:
        InputError: a file is missing, or is no such configuration.
    """
    for name in (file, WEIGHTS):
        if not (folder / name).is_file():
            raise InputError(f"no {what}: it has no {name}", file=folder, remedy=remedy)
    try:
        return config(**read_json(folder / file))
    except TypeError as fault:
        raise InputError(f"no configuration of the {what}: {fault}", file=folder / file) from None


def read_weights(model: nn.Module, folder: Path, shared: Collection[str] = ()) -> None:
    """Put the weights that `save_model` wrote into a model.

    Args:
        model: with random weights.
        folder: of the saved model.
        shared: names of weights that are stored under another name.

    Raises:
        InputError: the file is damaged, or its weights are not those of this model.
    """
    path = folder / WEIGHTS
    try:
        missing, unexpected = model.load_state_dict(load_file(path), strict=False)
    except (SafetensorError, RuntimeError) as fault:
        message = str(fault).splitlines()[0]
        raise InputError(f"the weights cannot be read: {message}", file=path) from None
    wrong = sorted((set(missing) - set(shared)) | set(unexpected))
    if wrong:
        raise InputError("the weights are not those of this model", file=path, value=wrong[0])
