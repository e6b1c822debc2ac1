"""The tagger, untrained: tokens and spans, batches, the folder it is saved in."""

from __future__ import annotations

import json

import pytest
import torch

from qbench.errors import InputError, MissingPackageError, OptionError
from qbench.models.encoders import choose_device, require_neural
from qbench.models.tagger import Tagger
from tests.encoder_factories import tiny_bert
from tests.gold_factories import CHINESE, ENGLISH, chinese, english


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("encoders")
    return {
        name: tiny_bert(root / name, words, positions=64)
        for name, words in (("english", ENGLISH), ("chinese", CHINESE))
    }


@pytest.fixture(scope="module")
def tagger(folders):
    return Tagger.new(folders["english"], 1, 16).eval()


def items(rows):
    return [(row["text"], tuple(row["pivot"])) for row in rows]


def tokens(tagger, encoded):
    return tagger.tokenizer.convert_ids_to_tokens(encoded.ids)


def test_marks_stand_around_the_pivot_and_spans_point_into_the_text(tagger):
    text = "The staff of Acme was 120km-"
    (encoded,) = tagger.encode([(text, (22, 25))])
    found = tokens(tagger, encoded)
    expected = "[CLS] the staff of acme was [START] 1 ##2 ##0 [END] km - [SEP]".split()
    assert found == expected
    assert [span and text[slice(*span)] for span in encoded.spans] == [
        None, "The", "staff", "of", "Acme", "was", *[None] * 5, "km", "-", None,
    ]  # fmt: skip
    # Peer: the same marks written into the text.
    written = tagger.tokenizer("The staff of Acme was [START]120[END]km-").input_ids
    assert encoded.ids == written


def test_special_tokens_in_a_text_are_text(tagger):
    (encoded,) = tagger.encode([("staff [SEP] [START] of 120", (23, 26))])
    assert [tokens(tagger, encoded).count(mark) for mark in ("[SEP]", "[START]", "[END]")] == [1, 1, 1]


def test_chinese_needs_no_spaces(folders):
    tagger = Tagger.new(folders["chinese"], 1, 16)
    text = "2020年公司的收入为365万元。"
    (encoded,) = tagger.encode([(text, (11, 16))])
    found = tokens(tagger, encoded)
    assert found[found.index("[START]") + 1 : found.index("[END]")] == ["3", "##6", "##5", "万", "元"]
    assert [text[slice(*span)] for span in encoded.spans if span] == [*"2020年公司的收入为", "。"]


def test_a_long_text_is_a_window_around_the_pivot(tagger):
    text = "the " * 100 + "120 km" + " of" * 100
    whole, cut = tagger.encode([("the 120 km of", (4, 10)), (text, (400, 406))])
    assert not whole.cut
    assert cut.cut
    assert len(cut.ids) == 64
    assert len(cut.spans) == 64
    found = tokens(tagger, cut)
    assert found.index("[START]") == 29
    assert found[:3] == ["[CLS]", "the", "the"]
    assert [text[slice(*span)] for span in cut.spans if span] == ["the"] * 28 + ["of"] * 28
    assert cut.spans[30 - 2] == (396, 399)
    assert cut.spans[-2] == (406 + 27 * 3 + 1, 406 + 28 * 3)
    assert len(tagger.segments([(text, (400, 406)), (text, (0, len(text)))])) == 2


def test_segments_do_not_depend_on_what_else_is_in_the_batch(tagger):
    rows = items(english(40))
    together = tagger.segments(rows, batch_size=16)
    assert together == [tagger.segments([row])[0] for row in rows]
    assert any(together), "an untrained model finds something, or this test says nothing"
    ids, lengths = tagger.batch(tagger.encode(rows[:8]))
    alone = [tagger(*tagger.batch(tagger.encode([row])))[0] for row in rows[:8]]
    for logits, one, length in zip(tagger(ids, lengths), alone, lengths, strict=True):
        torch.testing.assert_close(logits[:length], one, atol=1e-5, rtol=1e-4)


def test_reads_the_last_two_layers_of_the_encoder(tagger):
    ids, lengths = tagger.batch(tagger.encode(items(english(1))))
    states = tagger.encoder(input_ids=ids, output_hidden_states=True).hidden_states
    read, _ = tagger.lstm(torch.cat([states[1], states[2]], dim=-1))
    torch.testing.assert_close(tagger(ids, lengths), tagger.tags(read), atol=1e-5, rtol=1e-4)
    assert tagger.lstm.num_layers == 2
    assert tagger.lstm.bidirectional
    assert tagger.lstm.dropout == 0.1


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_a_saved_tagger_comes_back_with_the_same_outputs(folders, tmp_path, language):
    made = Tagger.new(folders[language], 3, 16).eval()
    rows = items(english(10) if language == "english" else chinese(10))
    expected = made(*made.batch(made.encode(rows)))
    made.save(tmp_path)
    loaded = Tagger.load(tmp_path)
    assert loaded.encode(rows) == made.encode(rows)
    assert torch.equal(loaded(*loaded.batch(loaded.encode(rows))), expected)
    written = [path for path in tmp_path.iterdir() if path.suffix == ".json"]
    assert len(written) >= 4
    for path in written:
        assert str(folders[language]) not in path.read_text(encoding="utf-8")
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".bin", ".pt", ".pkl")]


def test_a_seed_makes_the_new_weights_and_leaves_torch_alone(folders):
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, same, other = (Tagger.new(folders["english"], seed, 16) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), same.state_dict().values(), strict=True))
    assert not torch.equal(one.tags.weight, other.tags.weight)
    # The encoder is the one given, but for the two new tokens.
    old = one.encoder.get_input_embeddings().weight[:-2]
    assert torch.equal(old, other.encoder.get_input_embeddings().weight[:-2])


def test_what_is_no_model_is_an_error(folders, tmp_path):
    with pytest.raises(InputError, match="cannot be loaded") as caught:
        Tagger.new(tmp_path, 1)
    assert "safetensors" in str(caught.value)
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((folders["english"] / name).read_bytes())
    with pytest.raises(InputError, match="no vocabulary"):
        Tagger.new(tmp_path, 1)


def test_an_empty_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(InputError, match=r"it has no tagger\.json"):
        Tagger.load(tmp_path)


def test_broken_checkpoints_are_errors(folders, tmp_path):
    Tagger.new(folders["english"], 1, 16).save(tmp_path)
    weights = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(weights[:-100])
    with pytest.raises(InputError, match="weights cannot be read"):
        Tagger.load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(weights)
    config = json.loads((tmp_path / "tagger.json").read_text())
    (tmp_path / "tagger.json").write_text(json.dumps({**config, "hidden_size": 20}))
    with pytest.raises(InputError, match="weights cannot be read"):
        Tagger.load(tmp_path)
    (tmp_path / "tagger.json").write_text(json.dumps({**config, "heads": 20}))
    with pytest.raises(InputError, match="no configuration of the description parser"):
        Tagger.load(tmp_path)


def test_a_missing_package_and_a_missing_device_have_a_remedy(monkeypatch):
    with pytest.raises(OptionError, match="no such device"):
        choose_device("abacus")
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    with pytest.raises(MissingPackageError, match=r"qbench\[neural\]"):
        require_neural()
