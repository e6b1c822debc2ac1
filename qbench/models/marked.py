"""Encoders that see one quantity of a text between two marks, the pivot of *Quantity Retrieval*, section 3.1.

What the models on such an encoder share: the marks, a new encoder that knows them, and the window of a long text.

This module imports torch: import it inside functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import torch
from torch import nn

from qbench.models.encoders import longest_input, open_encoder
from qbench.models.folders import require_kind
from qbench.models.saved import read_config, read_weights, save_model

MARKS = ("[START]", "[END]")

Model = TypeVar("Model")


class MarkedModel(nn.Module):
    """A model on such an encoder, with its tokeniser; it is made from encoder, tokeniser and configuration.

    Attributes:
        FILE: name of the file of its configuration.
        CONFIG: class of the configuration.
        KIND, REMEDY: what it is and how it is made, for errors.
    """

    FILE: ClassVar[str]
    CONFIG: ClassVar[type[Any]]
    KIND: ClassVar[str]
    REMEDY: ClassVar[str]
    tokenizer: Any

    @classmethod
    def load(cls, folder: Path) -> Self:
        """A model that `save` wrote; nothing is downloaded, nothing from the folder is run.

        Raises:
            InputError: files are missing or broken, or do not belong together.
        """
        config = read_config(folder, cls.FILE, cls.CONFIG, cls.KIND, cls.REMEDY)
        with torch.random.fork_rng(devices=[]):
            model = cls(*open_encoder(folder, weights=False), config)
        read_weights(model, folder)
        return model.eval()

    def save(self, folder: Path) -> None:
        """Write weights, configurations and tokeniser into a folder; nothing of where the encoder came from."""
        save_model(self, folder, self.FILE)

    def token_ids(self, texts: Sequence[str], *, offsets: bool = False) -> Any:
        """The tokeniser's `input_ids` of each text, without special tokens, and with `offsets` its `offset_mapping`."""
        return self.tokenizer(
            list(texts),
            add_special_tokens=False,
            split_special_tokens=True,  # "[SEP]" in a text is text
            truncation=False,
            padding=False,
            return_offsets_mapping=offsets,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )


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
