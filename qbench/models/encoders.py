"""BERT-family encoders and their tokenisers, from a folder or by a name on the hub. Needs the extra `neural`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from qbench.errors import InputError, MissingPackageError, OptionError


def require_neural() -> None:
    """Ask for the packages of the extra before any work.

    Raises:
        MissingPackageError: one of them is not installed.
    """
    try:
        for name in ("safetensors", "torch", "transformers"):
            import_module(name)
    except ImportError as fault:
        raise MissingPackageError(
            f"{fault.name} is not installed", remedy="Install it with `pip install 'qbench[neural]'`"
        ) from None


def open_encoder(model: str) -> tuple[Any, Any]:
    """An encoder with its weights in single precision, and its tokeniser.

    Args:
        model: a folder, or a name on the hub. Weights must be safetensors: other formats can run code when read.

    Raises:
        InputError: there is no such model, or it cannot be read.
        OptionError: its tokeniser cannot say where its tokens are in the text.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    local = Path(model).is_dir()
    with _quiet():
        try:
            tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=local)
            encoder = AutoModel.from_pretrained(
                model, local_files_only=local, use_safetensors=True, dtype=torch.float32
            )
        except (OSError, ValueError, KeyError) as fault:
            raise InputError(
                f"the model cannot be opened: {_first_line(fault)}",
                value=model,
                remedy="Give a folder with config.json, tokenizer.json and model.safetensors, or a name on the hub",
            ) from fault
    if not tokenizer.is_fast:
        remedy = "Choose a model with a tokenizer.json"
        raise OptionError("the model's tokeniser does not tell where its tokens are", value=model, remedy=remedy)
    return encoder, tokenizer


def rebuild_encoder(folder: Path) -> tuple[Any, Any]:
    """An encoder of the shape that `config.json` says, its weights random, and the tokeniser; nothing is downloaded.

    Raises:
        InputError: the files are missing or broken.
    """
    import torch
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    shape: Any = AutoModel
    with _quiet():
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            config = AutoConfig.from_pretrained(folder, local_files_only=True)
            return shape.from_config(config, dtype=torch.float32), tokenizer
        except (OSError, ValueError, KeyError) as fault:
            raise InputError(f"the model cannot be opened: {_first_line(fault)}", file=folder) from fault


def longest_input(encoder: Any, tokenizer: Any) -> int:
    """How many tokens the encoder takes at most."""
    return int(min(tokenizer.model_max_length, getattr(encoder.config, "max_position_embeddings", 512)))


def choose_device(device: str) -> str:
    """The torch device that a name means: "auto" is a GPU where there is one.

    Raises:
        OptionError: torch knows no such device, or it is not there.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as fault:
        raise OptionError(f"no such device: {_first_line(fault)}", value=device, remedy="Use cpu or auto") from None
    return device


@contextmanager
def _quiet() -> Iterator[None]:
    """No bars and no notes of transformers while a model is opened; what matters becomes an error of ours."""
    from transformers.utils import logging as notes

    logging: Any = notes
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _first_line(fault: BaseException) -> str:
    return (str(fault).splitlines() or [type(fault).__name__])[0].rstrip(".")
