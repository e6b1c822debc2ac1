"""Where a model's files lie, and what they hold: a folder, or a name on the hub."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from qbench.errors import InputError, MissingPackageError, QbenchError
from qbench.store import MANIFEST, digest, file_digest, read_json

LOG = "log.json"
"""What a training of ours wrote down, beside the model."""

_SUFFIXES = (".json", ".txt", ".model", ".safetensors", ".metadata")
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


Kind = Literal["plain", "single-vector", "sparse", "multi-vector", "cross-encoder", "aggretriever"]

_KINDS: dict[str, Kind] = {
    "SentenceTransformer": "single-vector",
    "SparseEncoder": "sparse",
    "MultiVectorEncoder": "multi-vector",
    "ColBERT": "multi-vector",
    "CrossEncoder": "cross-encoder",
}
"""What sentence-transformers and PyLate call the kinds of models that they save."""

_SYSTEMS: dict[Kind, str] = {
    "single-vector": "SBERT",
    "sparse": "SPLADE",
    "multi-vector": "ColBERT",
    "aggretriever": "Aggretriever",
}

AGGRETRIEVER = "aggretriever.json"
"""What stands in a folder of `qbench.models.aggretriever`, beside the encoder's files."""


def model_kind(folder: Path) -> Kind:
    """What a model's folder says that it holds.

    Args:
        folder: from `model_folder`.

    Raises:
        InputError: one of its JSON files is broken.
    """
    if (folder / AGGRETRIEVER).is_file():
        return "aggretriever"
    saved = folder / "config_sentence_transformers.json"
    if saved.is_file():
        said = read_json(saved)
        # Old folders do not say it: only single-vector models were saved then.
        name = said.get("model_type", "SentenceTransformer") if isinstance(said, dict) else "SentenceTransformer"
        if name in _KINDS and name != "SentenceTransformer":
            return _KINDS[name]
    return "single-vector" if (folder / "modules.json").is_file() else "plain"


def require_kind(folder: Path, wanted: str, *kinds: Kind) -> None:
    """Refuse a model of another kind before it is loaded, because the libraries would convert it in silence.

    Args:
        folder: from `model_folder`.
        wanted: what is needed, for the error ("a single-vector model").
        kinds: those that will do.

    Raises:
        InputError: it is of another kind.
    """
    kind = model_kind(folder)
    if kind not in kinds:
        fitting = f"Name the system {_SYSTEMS[kind]}, or choose another model" if kind in _SYSTEMS else "Choose another"
        name = "an Aggretriever" if kind == "aggretriever" else f"a {kind} model"
        raise InputError(f"this is {name}, and {wanted} is needed", file=folder, remedy=fitting)


def transformer_folder(folder: Path) -> Path:
    """Where the transformer of a model lies: old folders of sentence-transformers have it in a folder of its own.

    Args:
        folder: from `model_folder`.

    Raises:
        InputError: its list of modules is broken, or names no folder in it.
    """
    path = folder / "modules.json"
    if not path.is_file():
        return folder
    try:
        first = folder / str(read_json(path)[0]["path"])
    except (LookupError, TypeError) as fault:
        raise InputError("not a list of modules", file=path) from fault
    if not first.resolve().is_relative_to(folder.resolve()) or not (first / "config.json").is_file():
        raise InputError("the first module is no transformer", file=path)
    return first


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


def require_sentence_transformers() -> None:
    """Ask for the package before any work.

    Raises:
        MissingPackageError: it is not installed.
    """
    try:
        import sentence_transformers  # noqa: F401
    except ImportError:
        raise MissingPackageError(
            "neural models need sentence-transformers", remedy="Install it: pip install 'qbench[neural]'"
        ) from None


def require_words(tokenizer: Any) -> None:
    """Refuse a tokenizer without words: transformers makes one up where a folder has none, and all texts look alike.

    Raises:
        ValueError: it has none; `readable` makes it an error for people.
    """
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise ValueError("it has no vocabulary")


@contextmanager
def readable(folder: Path) -> Iterator[None]:
    """Load a model's files in silence; whatever a damaged folder makes the libraries raise becomes an error of ours.

    Raises:
        InputError: the block failed.
    """
    try:
        with quiet():
            yield
    except QbenchError:
        raise
    except Exception as fault:
        raise InputError(
            f"this model cannot be loaded: {_first_line(fault)}",
            file=folder,
            remedy="It needs a configuration, a tokenizer and weights as safetensors",
        ) from fault
