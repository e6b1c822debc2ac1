"""BERT-family encoders with their hidden states, and their tokenisers. Needs the extra `neural`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qbench.errors import OptionError
from qbench.extras import needed
from qbench.models.folders import readable, require_words


def require_neural() -> None:
    """Check that the packages of the extra are installed, before any work.

    Raises:
        MissingPackageError: one of them is not installed.
    """
    for name in ("safetensors", "torch", "transformers"):
        needed(name, "neural", "neural models")


def open_encoder(folder: Path, *, weights: bool = True) -> tuple[Any, Any]:
    """An encoder in single precision, and its tokeniser. Nothing is downloaded, and no code from the folder is run.

    Args:
        folder: with configuration, tokeniser, and weights as safetensors; see `qbench.models.folders.model_folder`.
        weights: whether they are read; else they are random, for one's own to be put in.

    Raises:
        InputError: the folder holds no such model, or it is not whole.
        OptionError: its tokeniser gives no offsets of its tokens.
    """
    encoder, tokenizer, _ = open_network(folder, "AutoModel", weights=weights)
    if not tokenizer.is_fast:
        remedy = "Choose a model with a tokenizer.json"
        raise OptionError("the model's tokeniser gives no offsets of its tokens", value=folder.name, remedy=remedy)
    return encoder, tokenizer


def open_network(folder: Path, kind: str, *, weights: bool = True) -> tuple[Any, Any, set[str]]:
    """A network of transformers in single precision, its tokeniser, and the names of weights that its folder lacks.

    Args:
        folder: with configuration, tokeniser, and weights as safetensors.
        kind: the class of transformers that opens it ("AutoModel", "AutoModelForMaskedLM").
        weights: whether they are read; else they are random, and none is missing.

    Raises:
        InputError: the folder holds no such model, or it is not whole.
    """
    import torch
    import transformers

    opener: Any = getattr(transformers, kind)
    missing: set[str] = set()
    with readable(folder):
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        if weights:
            options = {"use_safetensors": True, "dtype": torch.float32, "local_files_only": True}
            network, info = opener.from_pretrained(folder, output_loading_info=True, **options)
            missing = set(info["missing_keys"])
        else:
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
            network = opener.from_config(config, dtype=torch.float32)
        require_words(tokenizer)
    return network, tokenizer, missing


def longest_input(encoder: Any, tokenizer: Any) -> int:
    """Longest input of the encoder, in tokens."""
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
        message = str(fault).splitlines()[0].partition(". ")[0].rstrip(".")[:120]
        raise OptionError(f"no such device: {message}", value=device, remedy="Use cpu or auto") from None
    return device
