"""Extractors that many tests read with: each is made once, and the parser is loaded when the first test needs it."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from qbench.quantities.english import rules as extraction
from qbench.quantities.english.binder.concepts import by_rules
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.training.annotations import read_annotations
from qbench.training.extractor import train_extractor
from qbench.training.recipes import ExtractorRecipe
from tests.encoder_factories import tiny_bert
from tests.extractor_factories import WORDS, write_annotations


@pytest.fixture(scope="session")
def rules():
    """The default: rules, and the embedded parser."""
    return get_extractor(ExtractorOptions(language="en"))


@pytest.fixture
def no_binder(monkeypatch):
    """The rules alone: the binder, which has the last word, is tested on its own."""
    monkeypatch.setattr(extraction, "bind", lambda sentences: [by_rules(sentence) for sentence in sentences])


@pytest.fixture(scope="session")
def words_only():
    """Rules and word lists, no parser."""
    return get_extractor(ExtractorOptions(spacy_model="none"))


@pytest.fixture(scope="session")
def extractor_model(tmp_path_factory):
    """A folder with a small model of the extractor "neural", trained on a few sentences."""
    folder = tmp_path_factory.mktemp("extractor")
    encoder = tiny_bert(folder / "tiny", WORDS, positions=64)
    texts = read_annotations([write_annotations(folder / "gold.jsonl")])
    train_extractor(texts, folder / "model", str(encoder), ExtractorRecipe(epochs=1, dev_share=0), device="cpu")
    return folder / "model"


@pytest.fixture(scope="session")
def small_pipeline():
    """A spaCy pipeline with a tagger and a parser that know a sentence by heart."""
    pipeline = spacy.blank("en")
    pipeline.add_pipe("tagger")
    pipeline.add_pipe("parser", config={"min_action_freq": 1})
    doc = Doc(
        pipeline.vocab,
        words=["The", "firm", "sold", "5", "cars", "."],
        tags=["DT", "NN", "VBD", "CD", "NNS", "."],
        heads=[1, 2, 2, 4, 2, 2],
        deps=["det", "nsubj", "ROOT", "nummod", "obj", "punct"],
    )
    examples = [Example(pipeline.make_doc("The firm sold 5 cars."), doc)]
    optimizer = pipeline.initialize(lambda: examples)
    for _ in range(30):
        pipeline.update(examples, sgd=optimizer)
    return pipeline
