"""TCT-ColBERT: which tokens are read, and which of them are in the mean."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from qbench.errors import InputError, OptionError
from qbench.models.single_vector import load_encoder
from qbench.models.tct_colbert import load_tct_colbert

TEXTS = ["the revenue of 2019", "profit", "in 2018 the group debt of the reported tax"]


@pytest.fixture(scope="module")
def encoder(tiny):
    return load_tct_colbert(str(tiny))


def by_hand(folder, text, role, pooling="mean"):
    """As the published checkpoints are used: the marked text, one at a time, without the first tokens."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    if role == "query":
        text, longest = f"[CLS] [Q] {text}" + "[MASK]" * 36, min(36, 32)
    else:
        text, longest = f"[CLS] [D] {text}", 32
    options = {"max_length": longest, "truncation": True, "add_special_tokens": False}
    marker = len(tokenizer("[CLS] [D]", add_special_tokens=False)["input_ids"])
    with torch.no_grad():
        hidden = model(**tokenizer(text, return_tensors="pt", **options)).last_hidden_state[0, marker:]
    return (hidden.mean(dim=0) if pooling == "mean" else hidden.amax(dim=0)).numpy()


@pytest.mark.parametrize("pooling", ["mean", "max"])
@pytest.mark.parametrize("role", ["query", "document"])
def test_markers_are_read_and_left_out_of_the_mean(tiny, role, pooling):
    encoder = load_tct_colbert(str(tiny), pooling=pooling)
    vectors = encoder.encode(TEXTS, role)
    assert (encoder.similarity, encoder.dimension) == ("dot", 32)
    expected = np.array([by_hand(tiny, text, role, pooling) for text in TEXTS])
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_queries_and_documents_differ_and_plain_texts_do_not(tiny, encoder):
    assert not np.allclose(encoder.encode(TEXTS, "query"), encoder.encode(TEXTS), atol=1e-3)
    plain = load_tct_colbert(str(tiny), markers="none")
    np.testing.assert_allclose(plain.encode(TEXTS, "query"), plain.encode(TEXTS), atol=1e-6)
    expected = load_encoder(str(tiny), pooling="mean", similarity="dot").encode(TEXTS)
    np.testing.assert_array_equal(plain.encode(TEXTS), expected)


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_an_empty_document_is_zeros_whatever_it_stands_beside(tiny, pooling):
    encoder = load_tct_colbert(str(tiny), pooling=pooling)
    assert not encoder.encode([""]).any()
    both = encoder.encode(["", TEXTS[2]])
    assert not both[0].any()
    np.testing.assert_allclose(both[1], encoder.encode([TEXTS[2]])[0], atol=1e-5)
    assert encoder.encode([""], "query").any()  # masks are left
    assert encoder.encode([]).shape == (0, 32)


def test_long_documents_are_cut_and_told(tiny):
    encoder = load_tct_colbert(str(tiny), max_length=8)
    long = "the revenue of 2019 in " * 2000
    markers = len(encoder._prefix("document"))
    exact = " ".join("the revenue of 2019 in".split()[: 8 - markers])
    assert encoder.cut(["", exact, exact + " in", long]).tolist() == [False, False, True, True]
    np.testing.assert_allclose(*encoder.encode([exact, exact + " the in"]), atol=1e-6)


def test_what_makes_no_sense_is_an_error(tiny, tmp_path):
    with pytest.raises(OptionError, match="at most 32 tokens"):
        load_tct_colbert(str(tiny), max_length=33)
    with pytest.raises(OptionError, match="tokens stand around a text"):
        load_tct_colbert(str(tiny), max_length=2)
    broken = shutil.copytree(tiny, tmp_path / "broken")
    (broken / "model.safetensors").unlink()
    with pytest.raises(InputError, match="broken"):
        load_tct_colbert(str(broken))
