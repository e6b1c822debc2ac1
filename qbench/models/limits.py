"""What an encoder cannot take whole: texts with more tokens than it reads, batches that do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from qbench.errors import OptionError

Result = TypeVar("Result")


def cut_texts(tokenizer: Any, texts: Sequence[str], longest: int) -> int:
    """How many texts have more tokens than the model reads.

    Args:
        tokenizer: of transformers.
        texts: any number.
        longest: tokens that the model reads, markers included.
    """
    # A token takes at least one character, so that most texts need no look.
    long = [text for text in texts if len(text) > longest - tokenizer.num_special_tokens_to_add()]
    if not long:
        return 0
    found = tokenizer(long, truncation=False, return_attention_mask=False, return_token_type_ids=False, verbose=False)
    return sum(len(ids) > longest for ids in found["input_ids"])


def with_smaller_batches(run: Callable[[int], Result], batch: int) -> Result:
    """What `run` gives for a batch size, tried with half of it as often as the GPU's memory does not suffice.

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
