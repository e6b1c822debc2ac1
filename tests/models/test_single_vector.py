"""Encoders: vectors of length 1, the same as sentence-transformers gives; errors; going on after a kill."""

from __future__ import annotations

import builtins
import shutil

import numpy as np
import polars as pl
import pytest

from qbench.errors import InputError, MissingPackageError, OptionError
from qbench.models import single_vector as module
from qbench.models.single_vector import encode_to, load_encoder
from tests.encoder_factories import THINGS, YEARS

TEXTS = [
    f"the {thing} of {year}" * (1 + i % 3) for i, (thing, year) in enumerate(zip(THINGS * 4, YEARS * 6, strict=True))
]


@pytest.fixture(scope="module")
def encoder(tiny):
    return load_encoder(str(tiny), batch=4)


def test_a_plain_bert_gets_mean_pooling_and_length_one(encoder, tiny):
    import torch
    from transformers import AutoModel, AutoTokenizer

    vectors = encoder.encode([*TEXTS, ""])
    assert vectors.shape == (len(TEXTS) + 1, encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    model, tokenizer = AutoModel.from_pretrained(tiny), AutoTokenizer.from_pretrained(tiny)
    for text, vector in zip(TEXTS[:3], vectors, strict=False):
        with torch.no_grad():
            mean = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(dim=0)
        np.testing.assert_allclose(vector, (mean / mean.norm()).numpy(), atol=1e-5)


def test_it_gives_what_sentence_transformers_gives(encoder, tiny):
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(tiny)).encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(encoder.encode(TEXTS), theirs, atol=1e-6)
    np.testing.assert_allclose(encoder.encode(TEXTS, "query"), theirs, atol=1e-6)
    assert encoder.encode([]).shape == (0, encoder.dimension)


def test_long_texts_are_cut_where_asked(encoder, tiny):
    short = load_encoder(str(tiny), max_length=4)  # two words between [CLS] and [SEP]
    long, same = short.encode(["the revenue of 2019 in", "the revenue"])
    np.testing.assert_allclose(long, same, atol=1e-6)
    assert not np.allclose(*encoder.encode(["the revenue of 2019 in", "the revenue"]))
    assert np.isfinite(encoder.encode(["the revenue " * 500])).all()
    with pytest.raises(OptionError, match="at most 32 tokens"):
        load_encoder(str(tiny), max_length=33)


@pytest.mark.parametrize("lost", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_folder_that_lacks_a_file_is_named(tiny, tmp_path, lost):
    broken = shutil.copytree(tiny, tmp_path / "broken")
    (broken / lost).unlink()
    (broken / "vocab.txt").unlink()
    with pytest.raises(InputError, match="broken"):
        load_encoder(str(broken))


def test_damaged_weights_are_named(tiny, tmp_path):
    broken = shutil.copytree(tiny, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes((tiny / "model.safetensors").read_bytes()[:500])
    with pytest.raises(InputError, match=r"broken: this model cannot be loaded: .*\. It needs"):
        load_encoder(str(broken))


def test_a_vector_that_is_not_finite_names_its_text(tiny, tmp_path):
    import torch
    from transformers import AutoModel

    broken = shutil.copytree(tiny, tmp_path / "broken")
    model = AutoModel.from_pretrained(tiny)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight[:] = float("nan")
    model.save_pretrained(broken)
    with pytest.raises(InputError, match=r"not finite \(found 'the revenue'\)"):
        load_encoder(str(broken)).encode(["the revenue"])


def test_without_the_extra_there_is_a_line_to_install_it(tiny, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] in ("torch", "sentence_transformers"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPackageError, match=r"pip install 'qbench\[neural\]'"):
        load_encoder(str(tiny))


def test_a_killed_encoding_goes_on(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 5)
    texts, calls, told = pl.Series(TEXTS), [], []

    class Counting:
        dimension = encoder.dimension

        def encode(self, texts, role="document"):
            calls.append(len(texts))
            if len(calls) == 3:
                raise KeyboardInterrupt
            return encoder.encode(texts, role)

        def cut(self, texts):
            return encoder.cut(texts)

    path = tmp_path / "vectors.npy"
    with pytest.raises(KeyboardInterrupt):
        encode_to(path, texts, Counting())
    encode_to(path, texts, Counting(), lambda done, total, what: told.append((done, total)))
    assert calls == [5, 5, 5, 5, 5, 4]
    assert told[0] == (10, 24)
    assert told[-1] == (24, 24)
    assert [p.name for p in tmp_path.iterdir()] == ["vectors.npy"]
    np.testing.assert_allclose(np.load(path), encoder.encode(TEXTS), atol=1e-6)


def test_encoding_nothing(encoder, tmp_path):
    encode_to(tmp_path / "none.npy", pl.Series([], dtype=pl.String), encoder)
    assert np.load(tmp_path / "none.npy").shape == (0, encoder.dimension)


def test_nothing_is_fetched_that_cannot_be_opened(monkeypatch):
    monkeypatch.setattr("qbench.models.folders.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"pip install 'qbench\[neural\]'"):
        load_encoder("bert-base-uncased")
