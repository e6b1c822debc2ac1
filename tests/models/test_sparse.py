"""SPLADE encoders: the weights that sentence-transformers gives, made heads, what cannot be read."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest

from qbench.errors import InputError, MissingPackageError, OptionError
from qbench.models import sparse as module
from qbench.models.mlm_head import ACTIVE
from qbench.models.sparse import UNTRAINED, Splade, load_sparse_encoder
from tests.encoder_factories import SPECIAL, THINGS, WORDS, YEARS, tiny_bert

TEXTS = [
    f"the {thing} of {year}" * (1 + i % 3) for i, (thing, year) in enumerate(zip(THINGS * 4, YEARS * 6, strict=True))
]


@pytest.fixture(scope="module")
def encoder(masked):
    return load_sparse_encoder(str(masked), batch=4)


@pytest.fixture(scope="module")
def made(tiny):
    return load_sparse_encoder(str(tiny))


def saved_tensors(folder):
    from safetensors.numpy import load_file

    return load_file(folder / "model.safetensors")


def save_tensors(folder, tensors):
    from safetensors.numpy import save_file

    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def test_weights_are_the_log_of_the_highest_logit(encoder, masked):
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    model, tokenizer = AutoModelForMaskedLM.from_pretrained(masked), AutoTokenizer.from_pretrained(masked)
    found = encoder.encode([*TEXTS[:3], ""])
    assert found.dtype == np.float32
    assert (found.data > 0).all()
    assert not encoder.note
    for text, row in zip([*TEXTS[:3], ""], found.toarray(), strict=True):
        with torch.no_grad():
            logits = model(**tokenizer(text, return_tensors="pt")).logits[0]
        expected = torch.log1p(torch.relu(logits)).amax(dim=0).numpy()
        assert 0 < (expected > 0).sum() < expected.size
        np.testing.assert_allclose(row, expected, atol=1e-5)


def test_it_gives_what_sentence_transformers_gives(encoder, masked):
    from sentence_transformers import SparseEncoder

    theirs = SparseEncoder(str(masked))
    np.testing.assert_allclose(encoder.encode(TEXTS).toarray(), theirs.encode_document(TEXTS).to_dense(), atol=1e-5)
    np.testing.assert_allclose(
        encoder.encode(TEXTS, "query").toarray(), theirs.encode_query(TEXTS).to_dense(), atol=1e-5
    )
    assert encoder.encode([]).shape == (0, encoder.dimension)


def test_prompts_of_queries_and_documents_are_used(masked, tmp_path):
    model = load_sparse_encoder(str(masked)).model
    model.prompts = {"query": "the tax ", "document": ""}
    model.save(str(tmp_path / "asks"))
    saved = load_sparse_encoder(str(tmp_path / "asks"))
    np.testing.assert_allclose(
        saved.encode(["profit"], "query").toarray(), saved.encode(["the tax profit"]).toarray(), atol=1e-5
    )


def test_terms_are_the_words_of_the_vocabulary(encoder, masked):
    words = (masked / "vocab.txt").read_text().split("\n")[:-1]
    assert encoder.terms() == words
    assert encoder.dimension == len(words)


@pytest.mark.parametrize("logits", [1, 300, 2**24])
def test_batches_hold_as_many_logits_as_they_may(encoder, monkeypatch, logits):
    whole = encoder.encode(TEXTS).toarray()
    monkeypatch.setattr(module, "LOGITS", {"cpu": logits * encoder.dimension})
    lengths = [len(encoder.model.tokenizer(text)["input_ids"]) for text in TEXTS]
    batches = list(encoder._batches(TEXTS))
    assert sorted(row for rows in batches for row in rows) == list(range(len(TEXTS)))
    for rows in batches:
        assert len(rows) <= 4
        assert len(rows) == 1 or len(rows) * max(lengths[row] for row in rows) <= logits
    assert len(batches) == (len(TEXTS) if logits == 1 else 6)
    np.testing.assert_allclose(encoder.encode(TEXTS).toarray(), whole, atol=1e-5)


def test_a_gpu_without_memory_gets_smaller_batches(encoder, monkeypatch):
    import torch

    sizes, dense = [], Splade._dense

    def crowded(self, texts, role, size):
        sizes.append(size)
        if size > 2:
            raise torch.cuda.OutOfMemoryError
        return dense(self, texts, role, size)

    whole = encoder.encode(TEXTS[:4]).toarray()
    monkeypatch.setattr(Splade, "_dense", crowded)
    np.testing.assert_allclose(encoder.encode(TEXTS[:4]).toarray(), whole, atol=1e-5)
    assert sizes == [4, 2]


def test_long_texts_are_cut_and_counted(encoder, masked):
    short = load_sparse_encoder(str(masked), max_length=4)  # two words between [CLS] and [SEP]
    long, same = short.encode(["the revenue of 2019 in", "the revenue"]).toarray()
    np.testing.assert_allclose(long, same, atol=1e-5)
    assert short.cut(["the revenue of 2019 in", "the revenue", ""]).tolist() == [True, False, False]
    assert encoder.cut(["the revenue of 2019 in", "revenue " * 31]).tolist() == [False, True]
    assert np.isfinite(encoder.encode(["the revenue " * 5000]).data).all()
    with pytest.raises(OptionError, match="at most 32 tokens"):
        load_sparse_encoder(str(masked), max_length=33)


def test_a_saved_model_opens_as_it_was(encoder, made, tmp_path):
    for name, one in (("trained", encoder), ("made", made)):
        one.model.save(str(tmp_path / name))
        again = load_sparse_encoder(str(tmp_path / name))
        np.testing.assert_allclose(again.encode(TEXTS).toarray(), one.encode(TEXTS).toarray(), atol=1e-5)
        assert (again.dimension, again.note) == (one.dimension, "")


def test_a_missing_head_is_made_from_the_embeddings(made, tiny):
    import torch

    assert made.note == UNTRAINED
    model = made.model.transformers_model
    embeddings = model.get_input_embeddings().weight
    assert model.get_output_embeddings().weight is embeddings
    # The transform is a layer norm, but for what the activation bends.
    hidden = torch.linspace(-1, 2, 96).reshape(3, 32)
    normal = torch.nn.functional.layer_norm(hidden, (32,))
    with torch.no_grad():
        np.testing.assert_allclose(model.cls.predictions.transform(hidden), normal, atol=0.02)
    rows = made.encode([" ".join(WORDS[i : i + 6]) for i in range(len(WORDS) - 6)]).toarray()
    counts = (rows > 0).sum(axis=1)
    assert 0 < counts.mean() < made.dimension
    special = [made.terms().index(word) for word in SPECIAL]
    assert not rows[:, special].any()
    again = load_sparse_encoder(str(tiny)).encode(TEXTS).toarray()
    np.testing.assert_array_equal(again, made.encode(TEXTS).toarray())


def test_a_made_head_gives_a_text_so_many_terms(tmp_path):
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprst"]
    encoder = load_sparse_encoder(str(tiny_bert(tmp_path / "wide", words)))
    drawn = np.random.default_rng(3)
    found = encoder.encode([" ".join(drawn.choice(words, 16)) for _ in range(50)])
    assert ACTIVE / 2 < found.nnz / 50 < ACTIVE * 2
    assert encoder.dimension > 4 * ACTIVE
    rank = [
        (row > row[encoder.terms().index(word)]).sum()
        for word, row in zip(words, encoder.encode(words).toarray(), strict=True)
    ]
    assert np.median(rank) < 5  # a word is among the heaviest terms of its own text


def test_a_single_vector_model_gets_a_head_and_keeps_its_length(tiny, made, tmp_path):
    from sentence_transformers import SentenceTransformer

    dense = SentenceTransformer(str(tiny))
    dense.max_seq_length = 24
    dense.save(str(tmp_path / "dense"))
    encoder = load_sparse_encoder(str(tmp_path / "dense"))
    assert (encoder.note, encoder.longest) == (UNTRAINED, 24)
    assert encoder.cut(["revenue " * 23, "revenue " * 22]).tolist() == [True, False]
    np.testing.assert_allclose(encoder.encode(["the tax"]).toarray(), made.encode(["the tax"]).toarray(), atol=1e-5)


def test_a_model_that_gives_terms_no_weights_is_refused(tiny, tmp_path):
    from sentence_transformers import SparseEncoder

    SparseEncoder(str(tiny)).save(str(tmp_path / "csr"))  # mean pooling and an autoencoder
    with pytest.raises(InputError, match=r"csr: a sparse model of Transformer, Pooling, SparseAutoEncoder, which"):
        load_sparse_encoder(str(tmp_path / "csr"))
    other = shutil.copytree(tiny, tmp_path / "other")
    (other / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "a.b.WordBags"}]))
    with pytest.raises(InputError, match="WordBags"):
        load_sparse_encoder(str(other))
    (other / "modules.json").write_text(json.dumps([{"path": "../csr", "type": "sentence_transformers.Transformer"}]))
    with pytest.raises(InputError, match=r"outside of the model's \(found '../csr'\)"):
        load_sparse_encoder(str(other))


@pytest.mark.parametrize("lost", ["cls.predictions.transform.dense.weight", "bert.encoder.layer.1.output.dense.bias"])
def test_missing_weights_are_not_made_up(masked, tmp_path, lost):
    broken = shutil.copytree(masked, tmp_path / "broken")
    tensors = saved_tensors(masked)
    del tensors[lost]
    save_tensors(broken, tensors)
    with pytest.raises(InputError, match=rf"broken: this model lacks 1 of its weights \(found '{lost}'\)"):
        load_sparse_encoder(str(broken))


def test_a_saved_splade_model_without_its_head_is_not_whole(encoder, tmp_path):
    encoder.model.save(str(tmp_path / "headless"))
    tensors = saved_tensors(tmp_path / "headless")
    save_tensors(tmp_path / "headless", {k: v for k, v in tensors.items() if not k.startswith("cls.")})
    with pytest.raises(InputError, match="headless: this model cannot be loaded: it lacks the weights of its"):
        load_sparse_encoder(str(tmp_path / "headless"))


@pytest.mark.parametrize("lost", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_folder_that_lacks_a_file_is_named(masked, tmp_path, lost):
    broken = shutil.copytree(masked, tmp_path / "broken")
    (broken / lost).unlink()
    (broken / "vocab.txt").unlink()
    with pytest.raises(InputError, match="broken"):
        load_sparse_encoder(str(broken))


def test_a_weight_that_is_not_finite_names_its_text(masked, tmp_path):
    broken = shutil.copytree(masked, tmp_path / "broken")
    tensors = saved_tensors(masked)
    tensors["bert.embeddings.word_embeddings.weight"][:] = float("nan")
    save_tensors(broken, tensors)
    with pytest.raises(InputError, match=r"not finite \(found 'the revenue'\)"):
        load_sparse_encoder(str(broken)).encode(["the revenue"])


def test_without_the_extra_there_is_a_line_to_install_it(masked, monkeypatch):
    for name in ("torch", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match=r"pip install 'qbench\[neural\]'"):
        load_sparse_encoder(str(masked))
