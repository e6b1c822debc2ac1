"""The head of a masked language model: is it there, and a start for one that is not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qbench.errors import InputError
from qbench.randomness import generator

if TYPE_CHECKING:
    from sentence_transformers import SparseEncoder

ACTIVE = 128
"""Terms that a new head gives weight to in a text, about."""

PROBES, WORDS = 64, 16
"""Number of texts that calibrate a new head, and of words in each."""

SHIFT = 4.0
"""Larger than what hidden states go below zero; not so large that half precision loses them beside it."""

SILENT = -1e4
"""The bias of a term that never gets weight."""


def check_head(folder: Path, options: dict[str, Any]) -> bool:
    """Whether a model's weights lack the head; the libraries would fill it, or any other gap, at random.

    Args:
        folder: of a transformer.
        options: for `from_pretrained`.

    Raises:
        InputError: other weights are missing too, or the head is there in part.
    """
    from transformers import AutoModelForMaskedLM

    untyped: Any = AutoModelForMaskedLM
    model, info = untyped.from_pretrained(folder, output_loading_info=True, **options)
    missing = set(info["missing_keys"])
    inside = f"{model.base_model_prefix}."
    # Weights that are tied to the embeddings are named once, as those.
    head = {name for name, _ in model.named_parameters() if not name.startswith(inside)}
    lost = {name for name in missing if name.startswith(inside)}
    if not lost and head & missing and not head <= missing:
        lost = head & missing
    if lost:
        raise InputError(
            f"this model lacks {len(lost)} of its weights", file=folder, value=min(lost), remedy="Fetch or save it anew"
        )
    return bool(head) and head <= missing


def knows_masks(folder: Path) -> bool:
    """Whether a transformer comes with a head that says what stands at [MASK].

    Args:
        folder: of a transformer that loads.
    """
    import torch

    try:
        return not check_head(folder, {"dtype": torch.float32, "use_safetensors": True, "local_files_only": True})
    except ValueError:  # of a build that has no such head
        return False


def new_head(model: SparseEncoder) -> None:
    """Initialise a masked language model's head from the word embeddings, in place: a start for training.

    The output weights are the word embeddings (in BERT they are tied), and the layer before them passes on the hidden
    states normalised: its dense part is the identity plus `SHIFT`, which keeps the activation where it is all but
    linear, and which the layer norm takes away again. So a logit says how near a word's embedding is to a hidden state.

    Left so, nearly every term would weigh something in every text: no index can hold that, and no FLOPS loss soon
    mends it. So the biases take away what is common to all texts: bias(v) = -(mean(v) + c * deviation(v)) of the
    highest logit of term v in a text, over `PROBES` texts of words drawn from the vocabulary, with one number c for all
    terms, such that these texts have `ACTIVE` terms each on average. Markers ([CLS], [SEP]), which every text has,
    weigh nothing.

    Raises:
        ValueError: the head is of an unknown build.
    """
    import torch
    from torch.nn import LayerNorm, Linear

    inner: Any = model.transformers_model
    output, words = inner.get_output_embeddings(), inner.get_input_embeddings().weight
    if output is None or output.weight.shape != words.shape:
        raise ValueError("its head is of a kind that cannot be initialised from its embeddings")
    with torch.no_grad():
        if output.weight is not words:
            output.weight.copy_(words)
        for name, part in inner.named_modules():
            if name.startswith(f"{inner.base_model_prefix}.") or part is output:
                continue
            if isinstance(part, Linear):
                torch.nn.init.eye_(part.weight)
                torch.nn.init.constant_(part.bias, SHIFT)
            elif isinstance(part, LayerNorm):
                part.reset_parameters()
        output.bias.zero_()
        output.bias.copy_(torch.from_numpy(_biases(model)))


def probes(tokenizer: Any) -> list[str]:
    """Texts of words drawn from a vocabulary, always the same, which calibrate a new head."""
    drawn = generator(0, "mlm head")
    plain = sorted(number for word, number in tokenizer.get_vocab().items() if word.isalpha())
    plain = plain or sorted(set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids))
    return [tokenizer.decode(drawn.choice(plain, WORDS).tolist()) for _ in range(PROBES)]


def _biases(model: SparseEncoder) -> Any:
    """The biases, shape (terms,), for the highest logits that the probes give with biases of zero."""
    import torch
    from sentence_transformers.util import batch_to_device

    tokenizer = model.tokenizer
    model.eval()
    highest = []
    for text in probes(tokenizer):
        features = batch_to_device(model.preprocess([text]), model.device)
        with torch.inference_mode():
            highest.append(model[0](features)["token_embeddings"][0].amax(dim=0).cpu().numpy())
    logits = np.stack(highest).astype(np.float64)
    mean, deviation = logits.mean(axis=0), logits.std(axis=0)
    steps = np.sort(((logits - mean) / np.maximum(deviation, 1e-9)).ravel())
    common = steps[max(0, steps.size - 1 - PROBES * ACTIVE)]
    biases = -(mean + common * deviation)
    biases[tokenizer.all_special_ids] = SILENT
    return biases.astype(np.float32)
