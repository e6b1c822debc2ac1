"""Aggretriever: its equations reckoned by hand, what it is made from, what it is kept in."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import InputError, OptionError
from qbench.models import aggretriever as module
from qbench.models.aggretriever import SURE, Aggretriever, load_aggretriever, sliced_maxima
from qbench.models.mlm_head import probes
from tests.encoder_factories import tiny_bert

TEXTS = ["the revenue of 2019", "profit", "", "in 2018 the group debt of the reported tax"]


@pytest.fixture(scope="module")
def masked(tiny, tmp_path_factory):
    """The tiny BERT as a masked language model, its head with random weights."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    folder = shutil.copytree(tiny, tmp_path_factory.mktemp("masked") / "tiny")
    with torch.random.fork_rng():
        torch.manual_seed(3)
        BertForMaskedLM(BertConfig.from_pretrained(tiny)).save_pretrained(folder)
    return folder


def drawn(model, seed=5):
    """The same model, all weights above the encoder random."""
    import torch

    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        for layer in (model.weight, model.projection):
            if layer is not None:
                layer.weight.normal_()
                layer.bias.normal_()
        for name, weight in model.head.named_parameters():
            if name.endswith("bias"):
                weight.normal_()
    return model


def by_hand(model, text):
    """Equations 2.10 and 2.11, then slices: one text, one token, one term at a time, in double precision."""
    import torch

    features = model.features([text])
    with torch.no_grad():
        hidden = model.encoder(**features).last_hidden_state[0]
        scores = model.head(hidden).double().numpy()
    hidden = hidden.double().numpy()
    w, b = model.weight.weight.detach().double().numpy()[0], model.weight.bias.item()
    pooled = np.full(scores.shape[1], -np.inf)
    for e, row in list(zip(hidden, scores, strict=True))[1:]:
        probabilities = np.exp(row) / np.exp(row).sum()
        pooled = np.maximum(pooled, abs(e @ w + b) * probabilities)
    config = model.config
    if config.signed:
        slices = 2 * config.agg_dimension
        best = [max(pooled[term] for term in range(m, len(pooled), slices)) for m in range(slices)]
        agg = [p if p > n else -n for p, n in zip(best[0::2], best[1::2], strict=True)]
    else:
        agg = [max(pooled[m :: config.agg_dimension]) for m in range(config.agg_dimension)]
    first = hidden[0]
    if model.projection is not None:
        matrix, bias = (p.detach().double().numpy() for p in (model.projection.weight, model.projection.bias))
        first = matrix @ first + bias
    return np.concatenate([first, agg])


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(("base", "sizes"), [("masked", (10, 0)), ("masked", (13, 8)), ("tiny", (7, 5))])
def test_vectors_are_those_of_equations_2_10_and_2_11(request, monkeypatch, base, sizes, signed):
    folder = request.getfixturevalue(base)
    model = drawn(Aggretriever.new(folder, agg_dimension=sizes[0], cls_dimension=sizes[1], signed=signed))
    assert model.dimension == sizes[0] + (sizes[1] or 32)
    expected = np.array([by_hand(model, text) for text in TEXTS])
    np.testing.assert_allclose(model.encode(TEXTS), expected, rtol=1e-4, atol=1e-5)
    monkeypatch.setattr(module, "CHUNK", 3)  # fewer tokens at a time than there are texts
    np.testing.assert_allclose(model.encode(TEXTS), expected, rtol=1e-4, atol=1e-5)


def test_the_heads_scores_are_those_of_the_masked_language_model(masked):
    import torch
    from transformers import AutoModelForMaskedLM

    model = Aggretriever.new(masked, agg_dimension=9)
    assert model.config.head == "own"
    features = model.features(TEXTS)
    with torch.no_grad():
        theirs = AutoModelForMaskedLM.from_pretrained(masked)(**features).logits
        ours = model.head(model.encoder(**features).last_hidden_state)
    torch.testing.assert_close(ours, theirs)


def test_without_a_head_the_embeddings_serve_and_the_user_is_told(tiny, masked, tmp_path):
    import torch

    model = load_aggretriever(str(tiny))
    assert model.config.head == "embeddings"
    assert "no MLM head" in model.notes()["note"]
    assert model.config.agg_dimension == model.encoder.config.vocab_size  # fewer than 640
    hidden = torch.randn(2, 32)
    normal = (hidden - hidden.mean(dim=1, keepdim=True)) / hidden.std(dim=1, keepdim=True, correction=0)
    expected = model.head.sharpness * normal @ model.encoder.get_input_embeddings().weight.T
    torch.testing.assert_close(model.head(hidden), expected, rtol=1e-3, atol=1e-3)
    assert load_aggretriever(str(masked)).notes() == {"note": "this Aggretriever was not trained"}
    made = Aggretriever.new(tiny, agg_dimension=8)
    made.config = replace(made.config, trained=True)
    made.save(tmp_path)
    assert load_aggretriever(str(tmp_path)).notes() == {}


@pytest.mark.parametrize("base", ["tiny", "masked"])
@pytest.mark.parametrize("signed", [False, True])
def test_what_is_saved_opens_again_with_the_same_vectors_and_bytes(request, tmp_path, base, signed):
    folder = request.getfixturevalue(base)
    model = drawn(Aggretriever.new(folder, agg_dimension=11, cls_dimension=6, signed=signed, max_length=20))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        model.save(tmp_path / name)
    files = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    assert {"aggretriever.json", "config.json", "model.safetensors", "tokenizer.json"} <= set(files)
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert not any(str(folder).encode() in content for content in files.values())
    again = load_aggretriever(str(tmp_path / "a"))
    assert again.config == model.config
    np.testing.assert_array_equal(again.encode(TEXTS), model.encode(TEXTS))
    assert load_aggretriever(str(tmp_path / "a"), max_length=7).config.max_length == 7


def test_gradients_reach_every_weight_and_do_not_depend_on_the_chunks(masked, monkeypatch):
    import torch

    def gradients(model):
        model.zero_grad()
        model.embed(model.features(TEXTS)).pow(2).sum().backward()
        return {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}

    model = drawn(Aggretriever.new(masked, agg_dimension=6, cls_dimension=4))
    whole = gradients(model)
    assert set(whole) == {name for name, _ in model.named_parameters()}
    assert all(torch.isfinite(grad).all() for grad in whole.values())
    assert whole["weight.weight"].abs().sum() > 0
    monkeypatch.setattr(module, "CHUNK", 2)
    for name, grad in gradients(model).items():
        torch.testing.assert_close(grad, whole[name], rtol=1e-4, atol=1e-5)


def test_an_untrained_model_weighs_all_tokens_alike_and_is_the_same_every_time(tiny):
    import torch

    a, b = (Aggretriever.new(tiny, agg_dimension=8, cls_dimension=4) for _ in range(2))
    assert a.weight(torch.randn(5, 32)).unique().numel() == 1
    np.testing.assert_array_equal(a.encode(TEXTS), b.encode(TEXTS))
    other = Aggretriever.new(tiny, agg_dimension=8, cls_dimension=4, seed=1)
    assert not np.allclose(a.encode(TEXTS)[:, :4], other.encode(TEXTS)[:, :4])


@pytest.mark.parametrize("base", ["tiny", "masked"])
def test_both_parts_of_an_untrained_model_count(base, request):
    import torch

    model = Aggretriever.new(request.getfixturevalue(base))
    texts = probes(model.tokenizer)
    vectors = model.encode(texts)
    first, agg = np.split(vectors, [model.config.cls_dimension], axis=1)
    assert np.linalg.norm(agg, axis=1).mean() == pytest.approx(np.linalg.norm(first, axis=1).mean(), rel=1e-3)
    if base == "tiny":  # its head is made, and sure enough for gradients to come through
        with torch.no_grad():
            highest = model.head(model._states(texts)).softmax(dim=-1).amax(dim=-1)
        assert highest.median().item() == pytest.approx(SURE, abs=0.01)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 99))
def test_slices_part_the_vocabulary(terms, slices, seed):
    import torch

    slices = min(slices, terms)
    scores = np.random.default_rng(seed).standard_normal((2, 3, terms))
    found = sliced_maxima(torch.tensor(scores), slices).numpy()
    expected = np.stack([scores[..., m::slices].max(axis=-1) for m in range(slices)], axis=-1)
    np.testing.assert_array_equal(found, expected)


def test_long_texts_are_cut_and_told(tiny):
    model = Aggretriever.new(tiny, agg_dimension=8, max_length=6)
    long = "the revenue of 2019 " * 2500
    assert model.cut(["", "the revenue of 2019", "the revenue of 2019 in", long]).tolist() == [False, False, True, True]
    vectors = model.encode(["the revenue of 2019", "the revenue of 2019 in", long])
    np.testing.assert_allclose(vectors[1:], vectors[[0, 0]], atol=1e-6)
    with pytest.raises(OptionError, match="at most 32 tokens"):
        load_aggretriever(str(tiny), max_length=33)


def test_more_slices_than_terms_are_an_error(tiny):
    with pytest.raises(OptionError, match=r"agg_dimension is larger than the vocabulary .*\(found 5000\)"):
        Aggretriever.new(tiny, agg_dimension=5000)


def test_folders_that_are_not_whole_or_of_another_kind_are_named(tiny, tmp_path):
    made = tmp_path / "made"
    made.mkdir()
    Aggretriever.new(tiny, agg_dimension=8).save(made)

    def broken(name):
        return shutil.copytree(made, tmp_path / name)

    (broken("no-weights") / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"it has no model.safetensors"):
        load_aggretriever(str(tmp_path / "no-weights"))
    (broken("half") / "model.safetensors").write_bytes((made / "model.safetensors").read_bytes()[:900])
    with pytest.raises(InputError, match="weights cannot be read"):
        load_aggretriever(str(tmp_path / "half"))
    shutil.copy(tiny / "model.safetensors", broken("other") / "model.safetensors")
    with pytest.raises(InputError, match="weights are not those of this model"):
        load_aggretriever(str(tmp_path / "other"))
    (broken("config") / "aggretriever.json").write_text(json.dumps({"slices": 3}))
    with pytest.raises(InputError, match="no configuration of the Aggretriever"):
        load_aggretriever(str(tmp_path / "config"))
    for name in ("config.json", "tokenizer.json"):
        (broken(f"no-{name}") / name).unlink()
        (tmp_path / f"no-{name}" / "vocab.txt").unlink(missing_ok=True)
        with pytest.raises(InputError, match=f"no-{name}"):
            load_aggretriever(str(tmp_path / f"no-{name}"))
    empty = shutil.copytree(tiny, tmp_path / "empty")
    tiny_bert(tmp_path / "narrow", ["fox"])
    shutil.copy(tmp_path / "narrow" / "config.json", empty / "config.json")
    with pytest.raises(InputError, match="empty"):
        load_aggretriever(str(empty))
