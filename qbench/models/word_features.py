"""What the words of a text are, as one vector: the mean of the vectors that an encoder's own table has for them.

    f(d) = sum_t w_t e_t / |w|,    w_t = log(1 + tf_t)

over the distinct tokens t of d. It needs no pass of the encoder: a look-up and a sum for each token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.models.single_vector import Encoder, SingleVector

Features = Callable[[Sequence[str]], NDArray[np.float32]]
"""From n texts to their f, shape (n, F); zeros for a text without a token."""

LONGEST = 512
"""Tokens of a text that are counted."""


def encoder_features(encoder: Encoder) -> Features | None:
    """F by the vectors of words that an encoder reads texts with; None where it has no such table."""
    owner: Any = next(iter(encoder.model), None) if isinstance(encoder, SingleVector) else encoder
    network: Any = getattr(owner, "auto_model", None) or getattr(owner, "network", None)
    tokenizer = getattr(owner, "tokenizer", None)
    if not hasattr(network, "get_input_embeddings") or not callable(tokenizer):
        return None
    weight: Any = network.get_input_embeddings().weight
    return word_features(weight.detach().float().cpu().numpy(), tokenizer)


def word_features(table: NDArray[np.float32], tokenizer: Any) -> Features:
    """F by a table of vectors.

    Args:
        table: shape (words, F).
        tokenizer: of transformers; its numbers are rows of the table.
    """
    special = {"add_special_tokens": False, "return_attention_mask": False, "return_token_type_ids": False}

    def features(texts: Sequence[str]) -> NDArray[np.float32]:
        found = np.zeros((len(texts), table.shape[1]), np.float32)
        if not texts:
            return found
        read = tokenizer(list(texts), truncation=True, max_length=LONGEST, verbose=False, **special)["input_ids"]
        for row, ids in zip(found, read, strict=True):
            tokens, counts = np.unique(np.asarray(ids, np.int64), return_counts=True)
            if tokens.size:
                weights = np.log1p(counts).astype(np.float32)
                row[:] = (weights @ table[tokens]) / np.linalg.norm(weights)
        return found

    return features
