"""Encoders: vectors of length 1, the same as sentence-transformers gives; errors; going on after a kill."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest

from qbench.errors import InputError, MissingPackageError, OptionError
from qbench.models.finite import NotFiniteError
from qbench.models.folders import model_kind
from qbench.models.single_vector import encode_by_length, load_encoder
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
    for name in ("torch", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match=r"pip install 'qbench\[neural\]'"):
        load_encoder(str(tiny))


def test_nothing_is_fetched_that_cannot_be_opened(monkeypatch):
    monkeypatch.setattr("qbench.models.folders.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"pip install 'qbench\[neural\]'"):
        load_encoder("bert-base-uncased")


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_pooling_can_be_chosen(tiny, pooling):
    import torch
    from transformers import AutoModel, AutoTokenizer

    vectors = load_encoder(str(tiny), pooling=pooling).encode(TEXTS[:2])
    model, tokenizer = AutoModel.from_pretrained(tiny), AutoTokenizer.from_pretrained(tiny)
    for text, vector in zip(TEXTS[:2], vectors, strict=True):
        with torch.no_grad():
            hidden = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        pooled = {"mean": hidden.mean(dim=0), "cls": hidden[0], "max": hidden.amax(dim=0)}[pooling]
        np.testing.assert_allclose(vector, (pooled / pooled.norm()).numpy(), atol=1e-5)


def test_only_cosines_need_vectors_of_length_one(tiny, tmp_path):
    from sentence_transformers import SentenceTransformer

    plain = load_encoder(str(tiny), similarity="dot")
    assert plain.similarity == "dot"
    theirs = SentenceTransformer(str(tiny))
    np.testing.assert_allclose(plain.encode(TEXTS), theirs.encode(TEXTS), atol=1e-5)
    theirs.similarity_fn_name = "dot"
    theirs.save_pretrained(str(tmp_path / "dot"), create_model_card=False)
    assert load_encoder(str(tmp_path / "dot")).similarity == "dot"
    assert load_encoder(str(tmp_path / "dot"), similarity="cosine").similarity == "cosine"
    theirs.similarity_fn_name = "euclidean"
    theirs.save_pretrained(str(tmp_path / "far"), create_model_card=False)
    with pytest.raises(OptionError, match=r"neither by cosine nor by dot product \(found 'euclidean'\)"):
        load_encoder(str(tmp_path / "far"))


def test_a_model_without_pooling_has_none_to_choose(tiny):
    from qbench.models.single_vector import _pool

    class Words:
        def named_children(self):
            return iter(())

    with pytest.raises(OptionError, match="does not pool"):
        _pool(Words(), "cls")


def test_cut_texts_are_told_with_the_models_own_prompt(tiny):
    encoder = load_encoder(str(tiny), max_length=6)
    texts = ["", "the revenue of 2019", "the revenue of 2019 in", "the revenue " * 5000]
    assert encoder.cut(texts).tolist() == [False, False, True, True]
    encoder.model.prompts = {"query": "in the total ", "passage": "the "}
    assert encoder.cut(texts).tolist() == [False, True, True, True]


def test_batches_are_halved_until_they_fit(tiny, monkeypatch):
    import torch

    encoder, tried = load_encoder(str(tiny), batch=8), []
    real = encoder.model.encode_document

    def small(texts, batch_size, **options):
        tried.append(batch_size)
        if batch_size > 2:
            raise torch.cuda.OutOfMemoryError
        return real(texts, batch_size=batch_size, **options)

    monkeypatch.setattr(encoder.model, "encode_document", small)
    vectors = encoder.encode(TEXTS)
    assert tried == [8, 4, 2]
    np.testing.assert_allclose(vectors, load_encoder(str(tiny)).encode(TEXTS), atol=1e-6)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_texts_go_through_by_length_and_come_back_in_order(size):
    seen = []

    def run(texts):
        seen.append([len(text) for text in texts])
        return np.array([[len(text), 1] for text in texts], np.float32)

    vectors = encode_by_length(TEXTS, 2, run, size)
    assert vectors[:, 0].tolist() == [len(text) for text in TEXTS]
    flat = [length for batch in seen for length in batch]
    assert flat == sorted(flat, reverse=True)
    assert max(map(len, seen)) <= size
    with pytest.raises(NotFiniteError, match="not finite") as caught:
        encode_by_length(["a", "bb"], 1, lambda texts: np.array([[np.nan if t == "a" else 0] for t in texts]), 9)
    assert caught.value.position == 0


def said_to_be(name, base, folder):
    """What sentence-transformers writes for a model of another kind; only its configuration matters here."""
    shutil.copytree(base, folder)
    (folder / "modules.json").write_text("[]")
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"model_type": name}))
    return folder


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("SparseEncoder", "this is a sparse model, and a single-vector model is needed.*the system SPLADE searches"),
        ("MultiVectorEncoder", "this is a multi-vector model.*the system ColBERT searches with this one"),
        ("ColBERT", "this is a multi-vector model"),
        ("CrossEncoder", "this is a cross-encoder model.*Choose another"),
    ],
)
def test_a_model_of_another_kind_is_refused(tiny, tmp_path, name, said):
    with pytest.raises(InputError, match=said):
        load_encoder(str(said_to_be(name, tiny, tmp_path / name)))


def test_what_sentence_transformers_itself_saves_is_told_apart(tiny, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.multi_vector_encoder import MultiVectorEncoder
    from sentence_transformers.sparse_encoder import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling
    from transformers import BertConfig, BertForMaskedLM

    from qbench.models.aggretriever import load_aggretriever

    SentenceTransformer(str(tiny)).save_pretrained(str(tmp_path / "dense"), create_model_card=False)
    MultiVectorEncoder(str(tiny)).save_pretrained(str(tmp_path / "colbert"), create_model_card=False)
    masked = shutil.copytree(tiny, tmp_path / "masked")
    BertForMaskedLM(BertConfig.from_pretrained(tiny)).save_pretrained(masked)
    splade = SparseEncoder(modules=[MLMTransformer(str(masked)), SpladePooling()])
    splade.save_pretrained(str(tmp_path / "splade"), create_model_card=False)
    kinds = {name: model_kind(tmp_path / name) for name in ("dense", "colbert", "splade", "masked")}
    assert kinds == {"dense": "single-vector", "colbert": "multi-vector", "splade": "sparse", "masked": "plain"}
    load_encoder(str(tmp_path / "dense"))
    assert load_aggretriever(str(tmp_path / "splade")).config.head == "own"
    for name in ("colbert", "splade"):
        with pytest.raises(InputError, match=f"{name}: this is a"):
            load_encoder(str(tmp_path / name))


def test_an_aggretriever_starts_from_what_has_an_encoder_and_is_no_sbert(tiny, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.multi_vector_encoder import MultiVectorEncoder

    from qbench.models.aggretriever import load_aggretriever

    dense, colbert, made = (tmp_path / name for name in ("dense", "colbert", "made"))
    SentenceTransformer(str(tiny)).save_pretrained(str(dense), create_model_card=False)
    MultiVectorEncoder(str(tiny)).save_pretrained(str(colbert), create_model_card=False)
    made.mkdir()
    load_aggretriever(str(dense)).save(made)
    with pytest.raises(InputError, match="made: this is an Aggretriever, and a single-vector model is needed"):
        load_encoder(str(made))
    with pytest.raises(InputError, match="colbert: this is a multi-vector model, and an Aggretriever or a BERT"):
        load_aggretriever(str(colbert))
