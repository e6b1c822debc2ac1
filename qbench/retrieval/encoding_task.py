"""The task of encoding a block of documents with a model, on this machine or a node of a cluster."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from qbench.compression.codec import Arrays
from qbench.models.finite import naming
from qbench.work.tasks import Chunk, Shard, Task, payload_of

CUT = ".cut"
"""Name of the array with which texts were cut."""


@dataclass(frozen=True)
class Loader:
    """How a model is opened, here and in a worker.

    Attributes:
        module, function: that opens it, given its name.
        options: other arguments of the function, as JSON can hold them.
    """

    module: str
    function: str
    options: Mapping[str, Any]

    def __call__(self, model: str) -> Any:
        """The encoder of a model.

        Raises:
            InputError: the model is missing, not whole, or of another kind.
            MissingPackageError: a package is not installed.
        """
        return _function(self.module, self.function)(model, **self.options)


def _function(module: str, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def encoding(load: Loader, model: str, make: Callable[..., Arrays], **how: Any) -> Task:
    """The task of encoding with a model, which every node finds under this name.

    Args:
        load: opens it.
        model: folder, or name on the hub.
        make: a function of a module, which gives the arrays of some texts: of an encoder, the texts, what stands beside
            them in a block, and `how`.
        how: as JSON can hold it.
    """
    made = {"module": make.__module__, "function": make.__name__, "options": how}
    return Task(__name__, {"load": asdict(load), "model": model, "make": made})


def block(first: int, texts: Sequence[str], ids: Sequence[str], beside: Sequence[Any] | None = None) -> Chunk:
    """A block of texts.

    Args:
        first: position of the first text.
        texts: to be encoded.
        ids: of their documents, for messages.
        beside: what the encoder reads besides each text, as JSON can hold it; None for an encoder of texts alone.
    """
    payload, digest = payload_of([list(texts), list(ids), *([] if beside is None else [list(beside)])])
    return Chunk(f"{first:012d}-{digest}", len(texts), payload)


def tools(options: Mapping[str, Any]) -> tuple[Any, Callable[..., Arrays]]:
    """The encoder, and what makes arrays with it."""
    make = options["make"]
    encode = partial(_function(make["module"], make["function"]), **make["options"])
    return Loader(**options["load"])(options["model"]), encode


def process(payload: str, encoder: Any, make: Callable[..., Arrays]) -> Shard:
    """The arrays of a block.

    Args:
        payload: of `block`: texts, ids, and perhaps what stands beside the texts.
        encoder, make: of `tools`.

    Raises:
        InputError: a vector is not finite; names its document.
    """
    texts, ids, *beside = json.loads(payload)
    with naming(texts, 0, lambda position: ids[position]):
        return shard({**make(encoder, texts, *beside), CUT: encoder.cut(texts)}, len(texts))


LAST = "+"
"""Ending of an empty file that says that a shard is whole."""


def shard(arrays: Arrays, count: int) -> Shard:
    """Arrays as files, in their order."""
    files = {}
    for number, (name, array) in enumerate(arrays.items()):
        stream = io.BytesIO()
        np.save(stream, array, allow_pickle=False)
        files[f"+{number}{name}.npy"] = stream.getvalue()
    return Shard({**files, LAST: b""}, count)


def read(folder: Path, name: str) -> Arrays:
    """The arrays of a shard, in their order."""
    files = sorted(folder.glob(f"{name}+*.npy"))
    names = [file.name.removeprefix(f"{name}+")[1:].removesuffix(".npy") for file in files]
    return {each: np.load(file, allow_pickle=False) for each, file in zip(names, files, strict=True)}
