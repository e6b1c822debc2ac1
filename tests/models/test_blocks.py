"""Encoding in blocks, and what encoders cannot take whole."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from qbench.errors import OptionError
from qbench.models.blocks import encode_blocks, remove_blocks
from qbench.models.limits import too_long, with_smaller_batches
from tests.encoder_factories import tiny_bert

TEXTS = pl.Series([f"text {n}" for n in range(10)])


def lengths(texts):
    return {"length": np.array([len(text) for text in texts]), "first": np.array([ord(text[0]) for text in texts])}


def test_blocks_come_in_order_and_leave_nothing(tmp_path):
    seen = []
    blocks = list(encode_blocks(tmp_path, TEXTS, lengths, lambda *told: seen.append(told[:2]), block=4))
    assert [len(block["length"]) for block in blocks] == [4, 4, 2]
    assert np.concatenate([block["length"] for block in blocks]).tolist() == [len(text) for text in TEXTS]
    assert seen == [(0, 10), (4, 10), (8, 10), (10, 10)]
    del blocks
    remove_blocks(tmp_path)
    assert not list(tmp_path.iterdir())
    assert list(encode_blocks(tmp_path, TEXTS[:0], lengths)) == []


def test_a_killed_run_encodes_only_what_is_missing(tmp_path):
    asked = []

    def dies_in_the_third_block(texts):
        asked.append(texts[0])
        if len(asked) == 3:
            raise KeyboardInterrupt
        return lengths(texts)

    with pytest.raises(KeyboardInterrupt):
        list(encode_blocks(tmp_path, TEXTS, dies_in_the_third_block, block=4))
    again = list(encode_blocks(tmp_path, TEXTS, dies_in_the_third_block, block=4))
    assert asked == ["text 0", "text 4", "text 8", "text 8"]
    assert sum(len(block["first"]) for block in again) == 10


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
