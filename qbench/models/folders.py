"""Where a model's files lie, and what they hold: a folder, or a name on the hub."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from qbench.errors import InputError, MissingPackageError
from qbench.store import MANIFEST, digest, file_digest

LOG = "log.json"
"""What a training of ours wrote down, beside the model."""

_SUFFIXES = (".json", ".txt", ".model", ".safetensors")
_NOT_THE_MODEL = {MANIFEST, LOG}
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


def model_folder(model: str) -> Path:
    """The folder with a model's files; those of a model on the hub are fetched once and then kept by the hub's cache.

    Only configuration, vocabulary and safetensors are fetched: nothing that would be unpickled.

    Args:
        model: a folder, or a name on the hub ("bert-base-chinese").

    Raises:
        InputError: it is neither, or cannot be fetched.
        MissingPackageError: it would have to be fetched, and nothing here could open it.
    """
    folder = Path(model)
    if not folder.is_dir():
        folder = _fetched(model)
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        raise InputError(
            "not a model's folder: it has neither modules.json nor config.json",
            file=folder,
            remedy="Give the folder that `save_pretrained` or `qbench train` wrote",
        )
    return folder


def _fetched(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    if not _HUB_NAME.fullmatch(name):
        raise InputError("no such model folder", file=name, remedy="Give a folder, or a model's name on the hub")
    if find_spec("torch") is None:  # before a long download, not after it
        raise MissingPackageError("neural models need torch", remedy="Install it: pip install 'qbench[neural]'")
    try:
        return Path(snapshot_download(name, allow_patterns=[f"*{suffix}" for suffix in _SUFFIXES]))
    except (OSError, ValueError, HfHubHTTPError) as fault:
        raise InputError(
            f"no folder has this name, and the hub does not give a model of this name: {_first_line(fault)}",
            value=name,
            remedy="Give a folder with the model's files: model=/path/to/model",
        ) from None


def _first_line(fault: Exception) -> str:
    return next((line.strip() for line in str(fault).splitlines() if line.strip()), type(fault).__name__).rstrip(".")


def model_digest(folder: Path) -> str:
    """Names a model by what is in its files, wherever they lie: for the keys of caches.

    Args:
        folder: from `model_folder`.
    """
    files = []
    for path in sorted(folder.rglob("*"), key=lambda p: p.relative_to(folder).as_posix()):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in name.split("/"))
        if path.suffix in _SUFFIXES and name not in _NOT_THE_MODEL and not hidden and path.is_file():
            seen = path.stat()
            files.append((name, str(path.resolve()), seen.st_size, seen.st_mtime_ns))
    return _content(tuple(files))


@lru_cache(maxsize=16)
def _content(files: tuple[tuple[str, str, int, int], ...]) -> str:
    return digest({name: file_digest(Path(path)) for name, path, _, _ in files})


@contextmanager
def quiet() -> Iterator[None]:
    """Without the bars and notes of transformers; what matters becomes an error of ours."""
    from transformers.utils import logging as untyped

    logging: Any = untyped
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def readable(folder: Path) -> Iterator[None]:
    """Load a model's files in silence; whatever a damaged folder makes the libraries raise becomes an error of ours.

    Raises:
        InputError: the block failed.
    """
    try:
        with quiet():
            yield
    except InputError:
        raise
    except Exception as fault:
        raise InputError(
            f"this model cannot be loaded: {_first_line(fault)}",
            file=folder,
            remedy="It needs a configuration, a tokenizer and weights as safetensors",
        ) from fault
