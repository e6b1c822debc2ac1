"""Training of the extractor's model: it learns, goes on where it was, and is opened by the extractor."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from qbench.errors import InputError, OptionError
from qbench.models.word_binder import Encoded, Pointed, WordBinder
from qbench.quantities.english.binder.model import OUTPUTS
from qbench.quantities.english.concepts import find_concepts
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.training.annotations import AnnotatedText, labels_of, read_annotations, targets
from qbench.training.extractor import train_extractor
from qbench.training.recipes import ExtractorRecipe
from tests.encoder_factories import tiny_bert
from tests.extractor_factories import TEXTS, WORDS, annotated, write_annotations

RECIPE = ExtractorRecipe(epochs=2, lr=1e-3, head_lr=1e-2, patience=9, seed=3, dev_share=0.3)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(tiny_bert(tmp_path_factory.mktemp("encoder") / "tiny", WORDS, positions=64))


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    return read_annotations([write_annotations(tmp_path_factory.mktemp("gold") / "gold.jsonl")])


@pytest.fixture(scope="module")
def trained(encoder, texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "model"
    heard = []
    manifest = train_extractor(texts, folder, encoder, replace(RECIPE, epochs=6), device="cpu", on_epoch=heard.append)
    return folder, manifest, heard


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_learns_what_the_annotations_say(trained):
    folder, manifest, heard = trained
    counts = manifest.counts
    assert (counts["sentences"], counts["quantities"]) == (len(TEXTS), 2 * len(TEXTS))
    assert counts["found"] == 2 * len(TEXTS)
    assert counts["train"] + counts["dev"] == counts["found"] + counts["no_quantity"]
    assert json.loads((folder / "log.json").read_text()) == heard
    assert heard[-1]["loss"] < heard[0]["loss"] / 2
    assert counts["scores"]["f1"] > 0.8
    assert counts["scores"] == heard[counts["best_epoch"] - 1]["dev"]


def test_the_extractor_reads_with_it(trained):
    folder, _, _ = trained
    options = ExtractorOptions("neural", model=folder)
    (found,) = get_extractor(options).extract_many(["The north harbour has 30 boats and weighs 40 tonnes."])
    assert [q.value for q in found] == [30, 40]
    assert all("harbour" in (*q.concept, *q.subject) for q in found)
    assert options.key() != ExtractorOptions().key()
    again = ExtractorOptions.from_key(options.key(), model=folder)
    assert again == options
    # Where the model is not at hand, queries are read as they would be with it.
    assert ExtractorOptions.from_key(options.key()).name == "rules"


def test_goes_on_where_it_was_killed(encoder, texts, tmp_path):
    class StopError(Exception):
        pass

    train_extractor(texts, tmp_path / "whole", encoder, RECIPE, device="cpu")

    def stop(done, total=None, what=""):
        if what == "epoch 2":
            raise StopError

    with pytest.raises(StopError):
        train_extractor(texts, tmp_path / "cut", encoder, RECIPE, device="cpu", progress=stop)
    assert not (tmp_path / "cut").exists()
    heard = []
    train_extractor(
        texts, tmp_path / "cut", encoder, RECIPE, device="cpu", progress=lambda *given: heard.append(given[-1])
    )
    assert "epoch 1" not in heard
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_without_dev_the_last_epoch_is_kept(encoder, texts, tmp_path):
    manifest = train_extractor(texts, tmp_path / "model", encoder, replace(RECIPE, dev_share=0), device="cpu")
    assert (manifest.counts["dev"], manifest.counts["best_epoch"], manifest.counts["scores"]) == (0, 2, {})


def test_sentences_without_a_number_are_refused(encoder, tmp_path):
    with pytest.raises(InputError, match="no number that is annotated"):
        train_extractor([AnnotatedText("No number here.", (), "a")], tmp_path / "model", encoder, RECIPE)
    with pytest.raises(OptionError, match="dev_share"):
        train_extractor([], tmp_path / "model", encoder, replace(RECIPE, dev_share=0.9))


def test_models_that_are_none_are_said(trained, encoder, tmp_path):
    folder, _, _ = trained
    with pytest.raises(OptionError, match="train extractor"):
        get_extractor(ExtractorOptions("neural"))
    with pytest.raises(OptionError, match="uses no model"):
        get_extractor(ExtractorOptions(model=folder))
    with pytest.raises(OptionError, match="needs a parser"):
        get_extractor(ExtractorOptions("neural", model=folder, spacy_model="none"))
    with pytest.raises(InputError, match="no such folder"):
        get_extractor(ExtractorOptions("neural", model=tmp_path / "none"))
    with pytest.raises(InputError, match=r"no manifest\.json"):
        get_extractor(ExtractorOptions("neural", model=tmp_path.__class__(encoder)))
    torn = tmp_path / "torn"
    torn.mkdir()
    for name, content in contents(folder).items():
        if name != "extractor.json":
            (torn / name).write_bytes(content)
    with pytest.raises(InputError, match=r"lacks extractor\.json"):
        get_extractor(ExtractorOptions("neural", model=torn))
    other = tmp_path / "other"
    other.mkdir()
    for name, content in contents(folder).items():
        (other / name).write_bytes(content)
    manifest = json.loads((other / "manifest.json").read_bytes())
    del manifest["sha256"]
    (other / "manifest.json").write_text(json.dumps({**manifest, "kind": "index"}))
    with pytest.raises(InputError, match="this is a qbench index"):
        get_extractor(ExtractorOptions("neural", model=other))


def test_words_that_do_not_fit_are_not_seen(encoder):
    model = WordBinder.new(tmp(encoder), 0, words=[2], mentions=[2], outputs=2, labels=[]).eval()
    words = ["boats"] * 100
    item = Pointed(words, (50, 52), np.zeros((100, 1), dtype=np.int64), np.zeros(1, dtype=np.int64))
    (text,) = model.encode([item])
    assert isinstance(text, Encoded)
    assert len(text.ids) == model.config.max_tokens == 64
    assert {50, 51} < set(text.owners)
    (scores,) = model.probabilities([item])
    assert scores.shape == (100, 2)
    assert (scores[0] == 0).all()
    assert (scores[50] > 0).all()


def tmp(encoder):
    from pathlib import Path

    return Path(encoder)


def test_targets_are_words_changes_and_what_is_no_quantity():
    text = "Sales of boats rose 5 % to 30 from 20 tonnes, see page 7."
    extractor = get_extractor(ExtractorOptions(language="en"))
    row = annotated(text, ("5 %", ["Sales", "boats"], "up", "percentage"), ("30", ["Sales", "boats"], None, "tonne"),
                    ("20 tonnes", ["Sales", "boats"], None, "tonne"))  # fmt: skip
    read = extractor.read_many([text])
    parsed = [each.sentence() for each in read]
    concepts = [find_concepts(*sentence) for sentence in parsed]
    found = {}
    for target in targets([row], parsed, concepts, labels_of(parsed, concepts)):
        found[parsed[0].tokens[target.view.number].text] = target
    up = found["5"]
    tokens = [token.text for token in parsed[0].tokens][up.view.start :]
    assert [tokens[k] for k in up.marks[:, 0].nonzero()[0]] == ["Sales", "boats"]
    assert up.marks[up.view.number - up.view.start, OUTPUTS.index("up")] == 1
    assert up.quantity
    assert found["20"].marks[:, OUTPUTS.index("up") :].sum() == 0
    for name in set(found) - {"5", "30", "20"}:
        assert not found[name].quantity
        assert found[name].counted.sum() == 1
