"""Extractors that many tests read with: each is made once, and the parser is loaded when the first test needs it."""

import pytest

from qbench.quantities.extractors import ExtractorOptions, get_extractor


@pytest.fixture(scope="session")
def rules():
    """The default: rules, and the embedded parser."""
    return get_extractor(ExtractorOptions())


@pytest.fixture(scope="session")
def words_only():
    """Rules and word lists, no parser."""
    return get_extractor(ExtractorOptions(spacy_model="none"))
