"""What an encoder cannot take whole: texts with more tokens than it reads, batches that do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from qbench.errors import OptionError

Result = TypeVar("Result")


def too_long(tokenizer: Any, texts: Sequence[str], longest: int, markers: int | None = None) -> NDArray[np.bool_]:
    """Which texts have more tokens than the model reads.

    Args:
        tokenizer: of transformers.
        texts: n strings.
        longest: tokens that the model reads, markers included.
        markers: number of tokens around the text; by default those that the tokeniser adds.

    Returns:
        shape (n,).
    """
    room = longest - (tokenizer.num_special_tokens_to_add() if markers is None else markers)
    longer = np.zeros(len(texts), dtype=np.bool_)
    # A token takes at least one character, so that most texts need no look.
    long = [number for number, text in enumerate(texts) if len(text) > room]
    if long:
        plain = {"return_attention_mask": False, "return_token_type_ids": False, "add_special_tokens": False}
        ids = tokenizer([texts[number] for number in long], truncation=False, verbose=False, **plain)["input_ids"]
        longer[long] = [len(tokens) > room for tokens in ids]
    return longer


def too_long_documents(model: Any, texts: Sequence[str], longest: int) -> NDArray[np.bool_]:
    """Which texts, with what a model of sentence-transformers puts before documents, have more tokens than it reads.

    Args:
        model: of sentence-transformers.
        texts: n strings.
        longest: as in `too_long`.

    Returns:
        shape (n,).
    """
    prompt = prompt_of(model, "document")
    return too_long(model.tokenizer, [prompt + text for text in texts] if prompt else texts, longest)


def positions(model: Any) -> int | None:
    """Tokens that a model of sentence-transformers has positions for; None where it sets no limit."""
    count = getattr(getattr(model.transformers_model, "config", None), "max_position_embeddings", None)
    return int(count) if count else None


def prompt_of(model: Any, role: str) -> str:
    """The prompt that a model of sentence-transformers puts before a text.

    Args:
        model: of sentence-transformers.
        role: "query" or "document".
    """
    # In the order in which `encode_query` and `encode_document` try them.
    names = ("query",) if role == "query" else ("document", "passage", "corpus")
    return next((model.prompts[n] or "" for n in (*names, model.default_prompt_name) if n in model.prompts), "")


def markers_of(model: Any) -> int:
    """Largest number of tokens that a model of sentence-transformers adds to a text: markers, and either prompt."""
    tokenizer = model.tokenizer
    if not hasattr(tokenizer, "num_special_tokens_to_add"):
        return 0  # word vectors
    return max(len(tokenizer(prompt_of(model, role))["input_ids"]) for role in ("query", "document"))


def limit_texts(model: Any, max_length: int) -> None:
    """Limit the number of tokens of a text that a model of sentence-transformers reads.

    Raises:
        OptionError: that is more than it can read, or too little for any word.
    """
    check_length(max_length, positions(model), markers_of(model))
    model.max_seq_length = max_length


def check_length(max_length: int, longest: int | None, markers: int) -> None:
    """Refuse a length that a model cannot read, or that leaves no room for a text.

    Args:
        max_length: tokens to read; 0 for as many as the model was trained with.
        longest: tokens that it can read; None where it sets no limit.
        markers: tokens that stand around a text.

    Raises:
        OptionError: `max_length` is more than `longest`, or not more than `markers`.
    """
    if longest and max_length > longest:
        raise OptionError(f"this model reads at most {longest} tokens", value=max_length, remedy="Lower max_length")
    if max_length and max_length <= markers:
        message = f"{markers} tokens stand around a text: no word would be read"
        raise OptionError(message, value=max_length, remedy=f"Raise max_length to {markers + 1} or more")


def with_smaller_batches(run: Callable[[int], Result], batch: int) -> Result:
    """The result of `run(batch)`, with half the batch size as often as the GPU's memory does not suffice.

    Raises:
        OptionError: a single text does not fit.
    """
    import torch

    while True:
        try:
            return run(batch)
        except torch.cuda.OutOfMemoryError:
            if batch == 1:
                raise OptionError(
                    "a single text does not fit into the GPU's memory", remedy="Lower max_length, or use a CPU"
                ) from None
        # Outside the handler, because the exception holds on to the tensors.
        torch.cuda.empty_cache()
        batch = max(batch // 2, 1)


@contextmanager
def refusing_a_full_gpu(remedy: str) -> Iterator[None]:
    """Raise an error of one line where the GPU's memory does not suffice for work that cannot be split.

    Raises:
        OptionError: it did not suffice.
    """
    import torch

    try:
        yield
    except torch.cuda.OutOfMemoryError:
        raise OptionError("this does not fit into the GPU's memory", remedy=remedy) from None
