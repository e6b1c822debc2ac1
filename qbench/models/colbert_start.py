"""A late-interaction model from one that was made for something else: markers, a projection, a filter. Not trained.

What ColBERT (Khattab and Zaharia, 2020; *WolfPQ* section 2.2.3) puts around a BERT:

- *Markers.* [unused0] before queries and [unused1] before documents where the vocabulary has them, as in ColBERT's own
  checkpoints: a trained vector is there, and the vocabulary does not grow. Else [Q] and [D] are added, with the mean
  of all word vectors.
- *Query augmentation.* Queries are filled up to 32 tokens with [MASK], which sees the query without being seen.
  A longer query stays whole: ColBERT cuts it, and with it the last condition. So it is only where the checkpoint has
  the head of a masked language model, as ColBERT's BERT does: an encoder that was tuned without one has nothing to say
  at [MASK], and what it says there drowns a query of two words (`benchmarks/README.md`: nDCG@10 0.291 with it, 0.431
  without).
- *Filter.* Vectors of punctuation marks in documents are left out.
- *Projection* to 128 numbers, without bias, then length 1. It starts with the first principal directions of the token
  vectors that the model gives to words of its own vocabulary, drawn at random: they keep 79-82 % of the ten nearest
  sentences by MaxSim without projection, where a random orthogonal projection keeps 73-77 % and the usual random
  start of a layer 68-74 % (`benchmarks/projections.py`, MiniLM, sentences of filings and news).
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qbench.randomness import generator

if TYPE_CHECKING:
    import sentence_transformers

DIMENSION = 128
QUERY_LENGTH = 32
DRAWN = 128, 16
"""Made-up texts, and tokens in each, whose vectors give the principal directions."""

_MARKERS = (("[Q]", "[D]"), ("[unused0]", "[unused1]"))


def late_interaction_from(
    model: sentence_transformers.SentenceTransformer, *, augmented: bool
) -> sentence_transformers.MultiVectorEncoder:
    """A model for late interaction around the transformer of a single-vector one, whose pooling and heads are dropped.

    The same model gives the same projection, but for the last digits of sums on another processor.

    Args:
        model: loaded; its transformer is used and changed.
        augmented: whether queries are filled up with [MASK].

    Raises:
        ValueError: it has no transformer over tokens, no token to fill queries with, or vectors that are not finite.
    """
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
    from torch import from_numpy, nn

    transformer = model[0]
    tokenizer: Any = getattr(transformer, "tokenizer", None)
    if not isinstance(transformer, Transformer) or not hasattr(tokenizer, "get_vocab"):
        raise ValueError("late interaction needs a transformer over tokens")
    query, document = _mark(transformer, tokenizer)
    if augmented:
        transformer.query_expansion = {"strategy": "min", "attend": False, "length": QUERY_LENGTH}
    filtered = [mark for mark in string.punctuation if mark in tokenizer.get_vocab()]
    rest = [MultiVectorMask(skiplist_words=filtered), Normalize(module_input_name="token_embeddings")]
    options: dict[str, Any] = {
        "prompts": {"query": f"{query} ", "document": f"{document} "},
        "device": str(model.device),
        "similarity_fn_name": "maxsim",
    }
    drawn = _drawn_vectors(MultiVectorEncoder(modules=[transformer, *rest], **options))
    if not np.isfinite(drawn).all():
        raise ValueError("its vectors are not finite")
    directions = principal_directions(drawn)
    projection = Dense(
        in_features=directions.shape[1],
        out_features=directions.shape[0],
        bias=False,
        activation_function=nn.Identity(),
        init_weight=from_numpy(directions),
        module_input_name="token_embeddings",
    )
    return MultiVectorEncoder(modules=[transformer, projection, *rest], **options)


def principal_directions(vectors: NDArray[np.float32], count: int = DIMENSION) -> NDArray[np.float32]:
    """The directions along which vectors are longest, the first one most.

    Args:
        vectors: shape (n, d).
        count: how many; d if there are fewer.

    Returns:
        shape (min(count, d), d), each of length 1 and at right angles to the others; its largest number is positive.

    >>> principal_directions(np.array([[0, -2, 0], [1, 0, 0]], np.float32), 2)
    array([[0., 1., 0.],
           [1., 0., 0.]], dtype=float32)
    """
    exact = vectors.astype(np.float64)
    _, columns = np.linalg.eigh(exact.T @ exact)
    directions = columns.T[::-1][:count]
    # A direction and its opposite are both right: queries and documents must get the same one in every process.
    largest = directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)]
    signed: NDArray[np.float32] = np.ascontiguousarray(directions * np.sign(largest)[:, None], dtype=np.float32)
    # Not minus zero, so that equal directions have equal bytes.
    return signed + np.float32(0)


def _mark(transformer: Any, tokenizer: Any) -> tuple[str, str]:
    """The two markers, each one token of the tokenizer, with a vector."""
    import torch
    from transformers import AddedToken

    vocabulary = tokenizer.get_vocab()
    query, document = next((pair for pair in _MARKERS if set(pair) <= set(vocabulary)), _MARKERS[0])
    tokens = [AddedToken(marker, normalized=False, special=True) for marker in (query, document)]
    tokenizer.add_special_tokens({"additional_special_tokens": tokens})
    words = transformer.model.get_input_embeddings()
    before = len(vocabulary)
    if len(tokenizer) > before:
        mean = words.weight.detach()[:before].mean(dim=0)
        if len(tokenizer) > words.num_embeddings:
            words = transformer.model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        with torch.no_grad():
            words.weight[before : len(tokenizer)] = mean
    return query, document


def _drawn_vectors(model: sentence_transformers.MultiVectorEncoder) -> NDArray[np.float32]:
    """Token vectors of texts that are drawn from the vocabulary, shape (tokens, hidden size)."""
    tokenizer: Any = model.tokenizer
    words = np.setdiff1d(np.arange(len(tokenizer)), tokenizer.all_special_ids)
    rows = generator(0, "projection").choice(words, DRAWN)
    texts = [tokenizer.decode(row.tolist()) for row in rows]
    return np.concatenate(model.encode_document(texts, convert_to_numpy=True, show_progress_bar=False))
