"""Encoders that see one quantity of a text between two marks, the pivot of *Quantity Retrieval*, section 3.1.

What the models on such an encoder share: the marks, a new encoder that knows them, and the window of a long text.

This module imports torch: import it inside functions.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch

from qbench.models.encoders import longest_input, open_encoder
from qbench.models.folders import require_kind

MARKS = ("[START]", "[END]")

Model = TypeVar("Model")


def new_model(folder: Path, seed: int, make: Callable[[Any, Any, int], Model]) -> Model:
    """A model to be trained: a pre-trained encoder whose tokeniser knows `MARKS`, all around it random.

    Args:
        folder: of the encoder; see `qbench.models.folders.model_folder`.
        seed: of the random weights.
        make: from the encoder, its tokeniser and the longest sequence that it reads to the model.

    Raises:
        InputError: the encoder cannot be opened, or is a model of a kind that has none for this.
        OptionError: its tokeniser gives no offsets.
    """
    require_kind(folder, "an encoder", "plain", "single-vector", "sparse", "multi-vector")
    encoder, tokenizer = open_encoder(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tokenizer.add_tokens(list(MARKS), special_tokens=True)
        if len(tokenizer) > encoder.get_input_embeddings().num_embeddings:
            encoder.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        return make(encoder, tokenizer, longest_input(encoder, tokenizer))


def window(before: int, pivot: int, after: int, room: int) -> tuple[int, int, int]:
    """Number of tokens before, in and after the pivot that fit into `room`.

    The pivot comes first; what is left is shared by both sides evenly, and a side gives what it does not need.

    >>> window(5, 2, 5, 20), window(50, 2, 50, 20), window(50, 2, 3, 20), window(5, 30, 5, 20)
    ((5, 2, 5), (9, 2, 9), (15, 2, 3), (0, 20, 0))
    """
    pivot = min(pivot, room)
    left = min(before, max((room - pivot) // 2, room - pivot - after))
    return left, pivot, min(after, room - pivot - left)
