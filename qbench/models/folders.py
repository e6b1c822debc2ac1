"""Where a model's files lie, and what they hold: a folder, or a name on the hub."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from qbench.digests import remembered
from qbench.errors import InputError, MissingPackageError, QbenchError
from qbench.extras import needed
from qbench.keys import key
from qbench.store import DIGITS, MANIFEST, digest, file_digest, read_json, read_manifest

LOG = "log.json"
"""Log of a training of ours, beside the model."""

_SUFFIXES = (".json", ".txt", ".model", ".safetensors", ".metadata")
_NOT_THE_MODEL = {MANIFEST, LOG}
_TRAINED = {
    "bi-encoder",
    "colbert",
    "splade",
    "aggretriever",
    "numcolbert",
    "deepquant",
    "codedcolbert",
    "description-parser",
    "extractor",
}

_MODULES, _SETTINGS = "modules.json", "config_sentence_transformers.json"
_MODULE_FOLDER = re.compile(r"\d+_[A-Za-z]\w*")
_NEED_SETTINGS = ("pylate.", "sentence_transformers.sparse_encoder.", "sentence_transformers.multi_vector_encoder.")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


def model_folder(model: str) -> Path:
    """The folder with a model's files; those of a model on the hub are fetched once and then kept by the hub's cache.

    Only configuration, vocabulary and safetensors are fetched: nothing that would be unpickled.

    Args:
        model: a folder, or a name on the hub ("bert-base-chinese").

    Raises:
        InputError: it is neither, cannot be fetched, or is not whole: see `require_whole`.
        MissingPackageError: it would have to be fetched, and nothing here could open it.
    """
    folder = Path(model)
    if not folder.is_dir():
        folder = _fetched(model)
    require_whole(folder)
    if not any((folder / name).is_file() for name in (_MODULES, "config.json")):
        raise InputError(
            "not a model's folder: it has neither modules.json nor config.json",
            file=folder,
            remedy="Give the folder that `save_pretrained` or `qbench train` wrote",
        )
    return folder


def require_whole(folder: Path) -> None:
    """Refuse a model's folder that lacks files: the libraries put defaults in their place and give other vectors.

    A checkpoint of ours has every file that its manifest lists, as it was written. A folder of sentence-transformers
    has its list of modules, what these are configured by, and its own settings where the kind cannot do without.

    Args:
        folder: of a model.

    Raises:
        InputError: a file is missing, or is not the one that was written.
    """
    path = folder / MANIFEST
    written = read_json(path) if path.is_file() else None
    if isinstance(written, dict) and written.get("kind") in _TRAINED:
        _require_written(folder)
    else:
        _require_listed(folder)


def _require_written(folder: Path) -> None:
    files = {name: seen for name, seen in read_manifest(folder).files.items() if _is_of_model(name)}
    found = remembered(folder, files)
    for name, seen in files.items():
        if name not in found:
            remedy = "Copy the checkpoint whole, or train it again"
            raise InputError(f"this checkpoint is not whole: it lacks {name}", file=folder, remedy=remedy)
        if found[name][:DIGITS] != seen["sha256"]:
            raise InputError(
                f"this checkpoint is not as it was written: {name} was changed",
                file=folder,
                remedy=f"Copy the checkpoint whole, or train it again; where it was meant, remove {MANIFEST}",
            )


def _require_listed(folder: Path) -> None:
    if not (folder / _MODULES).is_file():
        inner = sorted(path.name for path in folder.iterdir() if path.is_dir() and _MODULE_FOLDER.fullmatch(path.name))
        if inner:
            raise _lacking(folder, _MODULES, f"and has a folder {inner[0]}")
        return
    modules = modules_of(folder)
    if any(name.startswith(_NEED_SETTINGS) for name, _ in modules) and not (folder / _SETTINGS).is_file():
        raise _lacking(folder, _SETTINGS, "which says what kind of model it is, and what stands before its texts")
    markers = model_kind(folder) == "multi-vector"
    for name, module in modules:
        short = name.rpartition(".")[2]
        transformer = short in ("Transformer", "MLMTransformer")
        # What makes vectors as long as 1 has nothing to configure but in late interaction.
        wanted = "sentence_*config.json" if transformer else "*.json"
        if not any(module.glob(wanted)) and (short != "Normalize" or markers):
            file = module / ("sentence_bert_config.json" if transformer else "config.json")
            raise _lacking(folder, file.relative_to(folder).as_posix(), f"of its module {short}")


def _lacking(folder: Path, name: str, why: str) -> InputError:
    remedy = "Copy, fetch or save the folder whole"
    return InputError(f"this model is not whole: it lacks {name}, {why}", file=folder, remedy=remedy)


def _is_of_model(name: str) -> bool:
    """Whether a file, by its path in a model's folder, can change what the model gives."""
    hidden = any(part.startswith(".") for part in name.split("/"))
    return name.endswith(_SUFFIXES) and name not in _NOT_THE_MODEL and not hidden


Kind = Literal[
    "plain",
    "single-vector",
    "sparse",
    "multi-vector",
    "cross-encoder",
    "aggretriever",
    "deepquant",
    "description-parser",
    "extractor",
    "image",
]

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
    "deepquant": "DeepQuant",
}

_NAMES: dict[Kind, str] = {
    "aggretriever": "an Aggretriever",
    "deepquant": "a DeepQuant",
    "description-parser": "a description parser",
    "extractor": "a model of an extractor",
    "image": "an image model",
}

_BUILT = ("multi-vector", "aggretriever", "deepquant")
"""Kinds that are built from a model of another kind, where one is opened as such."""

AGGRETRIEVER = "aggretriever.json"
"""What stands in a folder of `qbench.models.aggretriever`, beside the encoder's files."""

DEEPQUANT = "deepquant.json"
"""What stands in a folder of `qbench.models.deepquant`, beside the encoder's files."""

TAGGER = "tagger.json"
"""What stands in a folder of `qbench.models.tagger`."""

EXTRACTOR = "extractor.json"
"""What stands in a folder of `qbench.models.word_binder`."""


def model_kind(folder: Path) -> Kind:
    """What a model's folder says that it holds.

    Args:
        folder: from `model_folder`.

    Raises:
        InputError: one of its JSON files is broken, or names an unknown kind.
    """
    if (folder / AGGRETRIEVER).is_file():
        return "aggretriever"
    if (folder / DEEPQUANT).is_file():
        return "deepquant"
    if (folder / TAGGER).is_file():
        return "description-parser"
    if (folder / EXTRACTOR).is_file():
        return "extractor"
    # Old folders do not say it: only single-vector models were saved then.
    name = str(_setting(folder / _SETTINGS, "model_type") or "SentenceTransformer")
    if name not in _KINDS:
        raise InputError("a model of an unknown kind", file=folder / _SETTINGS, value=name)
    if name != "SentenceTransformer":
        return _KINDS[name]
    architectures = [str(name) for name in _setting(folder / "config.json", "architectures") or []]
    if "HF_ColBERT" in architectures:
        return "multi-vector"  # as the ColBERT authors save it
    if any(name.endswith("ForRetrieval") for name in architectures):
        return "image"  # ColPali and its kin
    return "single-vector" if (folder / _MODULES).is_file() else "plain"


def _setting(path: Path, name: str) -> Any:
    """A value of a model's configuration; None where there is none."""
    settings = read_json(path) if path.is_file() else {}
    return settings.get(name) if isinstance(settings, dict) else None


def require_kind(folder: Path, wanted: str, *kinds: Kind) -> None:
    """Refuse a model of another kind before it is loaded, because the libraries would convert it in silence.

    Args:
        folder: from `model_folder`.
        wanted: what is needed, for the error ("a single-vector model").
        kinds: those that will do.

    Raises:
        InputError: it is of another kind; says which, and which system searches with it.
    """
    kind = model_kind(folder)
    if kind not in kinds:
        fitting = f"; the system {_SYSTEMS[kind]} searches with this one" if kind in _SYSTEMS else ""
        name = _NAMES.get(kind, f"a {kind} model")
        raise InputError(
            f"this is {name}, and {wanted} is needed", file=folder, remedy=f"Choose another model{fitting}"
        )


def modules_of(folder: Path) -> list[tuple[str, Path]]:
    """The modules of a model of sentence-transformers: their classes' full names, and the folder of each.

    Args:
        folder: of a model.

    Returns:
        [] where the folder has no list of modules.

    Raises:
        InputError: the list is broken, or names a folder outside of the model's.
    """
    path = folder / _MODULES
    if not path.is_file():
        return []
    listed = read_json(path)
    try:
        if not isinstance(listed, list):
            raise TypeError(listed)
        modules = [(str(module.get("type", "")), str(module["path"])) for module in listed]
    except (AttributeError, LookupError, TypeError) as fault:
        raise InputError("not a list of modules", file=path) from fault
    for _, inner in modules:
        if not (folder / inner).resolve().is_relative_to(folder.resolve()):
            raise InputError("the list of modules names a folder outside of the model's", file=path, value=inner)
    return [(name, folder / inner) for name, inner in modules]


def transformer_folder(folder: Path) -> Path:
    """Where the transformer of a model lies: old folders of sentence-transformers have it in a folder of its own.

    Args:
        folder: from `model_folder`.

    Raises:
        InputError: its list of modules is broken, or its first module is none.
    """
    path = folder / _MODULES
    if not path.is_file():
        return folder
    modules = modules_of(folder)
    if not modules or not (modules[0][1] / "config.json").is_file():
        raise InputError("the first module is no transformer", file=path)
    return modules[0][1]


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


def model_digest(folder: Path, kind: str | None = None) -> str:
    """Names a model by what is in its files, wherever they lie: for the keys of caches.

    Args:
        folder: from `model_folder`.
        kind: what it is opened as. A kind that is built from a model of another kind has a key of its own.
    """
    if kind in _BUILT and model_kind(folder) != kind:
        return key("new model", kind=kind, model=model_digest(folder))
    files = []
    for path in sorted(folder.rglob("*"), key=lambda p: p.relative_to(folder).as_posix()):
        name = path.relative_to(folder).as_posix()
        if _is_of_model(name) and path.is_file():
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
    """Check that the package is installed, before any work.

    Raises:
        MissingPackageError: it is not installed.
    """
    needed("sentence_transformers", "neural", "neural models")


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
