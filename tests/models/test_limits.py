"""What encoders cannot take whole."""

from __future__ import annotations

import pytest

from qbench.errors import OptionError
from qbench.models.limits import too_long, with_smaller_batches
from tests.encoder_factories import tiny_bert


def test_texts_that_are_longer_than_the_model_reads_are_counted(tmp_path):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_bert(tmp_path / "tiny", ["fox"]))
    texts = ["fox " * 30, "fox " * 31, "", "fox", "x" * 100]
    assert too_long(tokenizer, texts, 32).sum() == 2
    assert too_long(tokenizer, [], 32).size == 0


def test_batches_shrink_until_they_fit():
    import torch

    tried = []

    def run(batch, fits=2):
        tried.append(batch)
        if batch > fits:
            raise torch.cuda.OutOfMemoryError
        return batch

    assert with_smaller_batches(run, 9) == 2
    assert tried == [9, 4, 2]
    with pytest.raises(OptionError, match="single text"):
        with_smaller_batches(lambda batch: run(batch, fits=0), 4)
