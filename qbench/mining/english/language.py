"""English as mining sees it: see `qbench.mining.languages.MiningPackage`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qbench.mining.english.asked_kinds import GRAMMAR
from qbench.mining.english.asked_kinds import asked_family as asked_family
from qbench.mining.english.content import lack as lack
from qbench.mining.english.content import says as says
from qbench.mining.english.periods import periods as periods

if TYPE_CHECKING:
    import polars as pl

    from qbench.mining.types import DescriptionParser

CONTEXT = 4

_WORDS = re.compile(r"[^\W\d_]+")


def rules_parser(spacy_model: str) -> DescriptionParser:
    """The parser by rules over the extractor's parse."""
    from qbench.mining.english.rules_parser import RulesParser

    return RulesParser(spacy_model)


def words(texts: pl.Series) -> pl.Series:
    """The words of each text that are not grammar alone, in lower case."""
    return texts.str.to_lowercase().str.extract_all(r"[\p{L}\d]+").list.set_difference(sorted(GRAMMAR))


def asked_words(text: str) -> str:
    """The question as it is: the few words that ask are in nearly no description."""
    return text


def context_words(text: str) -> list[str]:
    """Its words, in lower case."""
    return _WORDS.findall(text.lower())
