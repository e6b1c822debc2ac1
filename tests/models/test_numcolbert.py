"""NumColBERT's model: heads beside a ColBERT, gates as norms, what is saved and opened again."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from qbench.errors import InputError
from qbench.models.folders import model_digest
from qbench.models.multi_vector import load_multi_vector_encoder, load_multi_vector_model
from qbench.models.numcolbert import (
    CONFIG,
    WEIGHTS,
    add_numeric_heads,
    heads_of,
    require_numeric_heads,
    save_numcolbert,
)
from qbench.models.numeric_heads import HIDDEN, NUMERIC, HeadsConfig, NumericHeads
from tests.encoder_factories import tiny_bert

WORDS = ["boats", "over", "20", "30", "metres", "long"]
TEXTS = ["boats over 20 metres", "long boats", ""]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", WORDS, head=True)


def with_heads(folder, **options):
    torch.manual_seed(3)
    model = load_multi_vector_model(str(folder))
    return model, add_numeric_heads(model, ["metre", "second"], **options)


def detecting(model, heads, word="20", norm=3.0):
    """Heads that take one word for a number, and give it a norm."""
    with torch.no_grad():
        model.eval()
        features = model.preprocess(["boats over 20 metres"], prompt=model.prompts["query"], task="query")
        features = model(features, task="query")
        at = features["input_ids"][0].tolist().index(model.tokenizer.convert_tokens_to_ids(word))
        hidden = features[HIDDEN][0]
        others = torch.cat([hidden[:at], hidden[at + 1 :]])
        heads.detection.weight.copy_((hidden[at] - others.mean(0))[None])
        products = hidden @ heads.detection.weight[0]
        middle = (products[at] + torch.cat([products[:at], products[at + 1 :]]).max()) / 2
        assert products[at] > middle
        heads.detection.bias.fill_(-middle)
        heads.gate.bias.fill_(math.log(math.expm1(norm)))
    return at


def norms(model, texts, role):
    call = model.encode_query if role == "query" else model.encode_document
    return [np.linalg.norm(rows, axis=1) for rows in call(texts)]


def test_new_heads_change_nothing(tiny):
    plain, (model, _) = load_multi_vector_model(str(tiny)), with_heads(tiny)
    for call in ("encode_query", "encode_document"):
        for one, other in zip(getattr(plain, call)(TEXTS), getattr(model, call)(TEXTS), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_gate_is_the_norm_of_a_detected_query_token_and_of_nothing_else(tiny):
    model, heads = with_heads(tiny)
    at = detecting(model, heads)
    (row,) = norms(model, TEXTS[:1], "query")
    assert row[at] == pytest.approx(3.0, abs=1e-4)
    np.testing.assert_allclose(np.delete(row, at), 1.0, atol=1e-4)
    plain = load_multi_vector_model(str(tiny))
    for one, other in zip(plain.encode_document(TEXTS), model.encode_document(TEXTS), strict=True):
        np.testing.assert_array_equal(one, other)
    # The direction is that of ColBERT.
    gated, whole = model.encode_query(TEXTS[:1])[0][at], plain.encode_query(TEXTS[:1])[0][at]
    np.testing.assert_allclose(gated / 3.0, whole, atol=1e-5)


def test_without_a_gate_every_token_has_length_one(tiny):
    model, heads = with_heads(tiny, gate=False)
    detecting(model, heads)
    np.testing.assert_allclose(norms(model, TEXTS[:1], "query")[0], 1.0, atol=1e-5)


def test_the_gate_by_hand():
    """softplus(0.5 * 2 + ln(e - 1)) = ln(1 + e (e - 1)) for the first token, which is detected; the rest keep 1."""
    heads = NumericHeads(HeadsConfig(2))
    with torch.no_grad():
        heads.detection.weight.copy_(torch.tensor([[1.0, 0.0]]))
        heads.gate.weight.copy_(torch.tensor([[0.5, 0.0]]))
    given = {
        HIDDEN: torch.tensor([[[2.0, 0.0], [-1.0, 0.0], [2.0, 0.0]]]),
        "token_embeddings": torch.tensor([[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]]),
        "attention_mask": torch.tensor([[1, 1, 0]]),
    }
    made = heads(dict(given), task="query")
    assert made[NUMERIC].tolist() == [[2.0, -1.0, 2.0]]
    norm = math.log1p(math.e * (math.e - 1))
    assert made["token_embeddings"].norm(dim=2)[0].tolist() == pytest.approx([norm, 1.0, 1.0])
    assert torch.equal(heads(dict(given), task="document")["token_embeddings"], given["token_embeddings"])


def test_a_saved_model_opens_with_its_heads(tiny, tmp_path):
    model, heads = with_heads(tiny)
    detecting(model, heads)
    save_numcolbert(model, tmp_path / "saved")
    assert heads_of(model) is heads  # it goes on as it was
    again = load_multi_vector_encoder(str(tmp_path / "saved"))
    assert again.trained
    assert heads_of(again.model).config == HeadsConfig(32, ("metre", "second"))
    for text in TEXTS:
        for role in ("query", "document"):
            np.testing.assert_array_equal(again.encode([text], role)[1], again.encode([text], role)[1])
    np.testing.assert_allclose(again.encode(TEXTS, "query")[1], np.concatenate(model.encode_query(TEXTS)), atol=1e-6)
    require_numeric_heads(str(tmp_path / "saved"))
    assert not [path for path in (tmp_path / "saved").rglob("*") if path.suffix in (".bin", ".pt", ".pkl", ".py")]
    # Heads are part of what a model is.
    assert model_digest(tmp_path / "saved") != model_digest(tiny)


def test_sentence_transformers_opens_the_folder_as_a_colbert(tiny, tmp_path):
    from sentence_transformers import MultiVectorEncoder

    model, heads = with_heads(tiny)
    detecting(model, heads)
    save_numcolbert(model, tmp_path / "saved")
    elsewhere = MultiVectorEncoder(str(tmp_path / "saved"))
    for one, other in zip(elsewhere.encode_document(TEXTS), model.encode_document(TEXTS), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_heads_for_another_list_of_units_keep_what_they_know(tiny, tmp_path):
    model, heads = with_heads(tiny)
    save_numcolbert(model, tmp_path / "saved")
    again = load_multi_vector_model(str(tmp_path / "saved"))
    wider = add_numeric_heads(again, ["second", "acre"])
    assert wider.config.units == ("metre", "second", "acre")
    assert torch.equal(wider.unit.weight[:3], heads.unit.weight)  # the unknown unit first
    assert wider.unit.weight.shape == (4, 32)
    assert torch.equal(wider.value.weight, heads.value.weight)
    assert len(again) == len(model)  # not a second pair of heads


def test_a_model_without_heads_is_refused(tiny):
    with pytest.raises(InputError, match=r"no numeric heads.*qbench train numcolbert"):
        require_numeric_heads(str(tiny))


def test_damaged_heads_are_an_error_in_a_line(tiny, tmp_path):
    model, _ = with_heads(tiny)
    folder = tmp_path / "saved"
    save_numcolbert(model, folder)
    whole = {name: (folder / name).read_bytes() for name in (CONFIG, WEIGHTS)}
    settings = json.loads(whole[CONFIG])
    for name, content, message in (
        (WEIGHTS, None, "no weights"),
        (WEIGHTS, b"nothing", "cannot be read"),
        (CONFIG, json.dumps({**settings, "units": ["metre"]}).encode(), "cannot be read"),
        (CONFIG, json.dumps({**settings, "height": 1}).encode(), "no configuration"),
        (CONFIG, b"[]", "no configuration"),
        (CONFIG, b"{", "JSON"),
    ):
        (folder / name).write_bytes(content) if content is not None else (folder / name).unlink()
        with pytest.raises(InputError, match=message):
            load_multi_vector_model(str(folder))
        (folder / name).write_bytes(whole[name])
    load_multi_vector_model(str(folder))
    other = NumericHeads(HeadsConfig(16, ("metre", "second")))
    from safetensors.torch import save_file

    save_file(other.state_dict(), folder / WEIGHTS)
    (folder / CONFIG).write_text(json.dumps({**settings, "hidden_size": 16}))
    with pytest.raises(InputError, match="another size than 32"):
        load_multi_vector_model(str(folder))
