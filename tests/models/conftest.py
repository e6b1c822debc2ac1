"""Tiny models for the tests of this room."""

from __future__ import annotations

import pytest

from tests.encoder_factories import WORDS, tiny_bert


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", WORDS)


@pytest.fixture(scope="session")
def masked(tmp_path_factory):
    """A masked language model."""
    return tiny_bert(tmp_path_factory.mktemp("models") / "masked", WORDS, head=True)
