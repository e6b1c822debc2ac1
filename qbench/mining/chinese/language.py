"""Chinese as mining sees it: see `qbench.mining.languages.MiningPackage`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qbench.mining.chinese.asked_kinds import GRAMMAR
from qbench.mining.chinese.asked_kinds import asked_family as asked_family
from qbench.mining.chinese.asked_kinds import asked_words as asked_words
from qbench.mining.chinese.content import lack as lack
from qbench.mining.chinese.content import says as says
from qbench.mining.chinese.times import periods as periods
from qbench.quantities.languages import CHINESE
from qbench.retrieval.analysis import tokenized

if TYPE_CHECKING:
    import polars as pl

    from qbench.mining.types import DescriptionParser

CONTEXT = 8

_CHARACTERS = re.compile(r"[^\W\d_]")


def rules_parser(spacy_model: str) -> DescriptionParser:
    """The parser by rules over characters; it needs no pipeline of spaCy."""
    from qbench.mining.chinese.rules_parser import ChineseRulesParser

    return ChineseRulesParser()


def words(texts: pl.Series) -> pl.Series:
    """The tokens of each text that are not grammar alone."""
    return tokenized(texts, CHINESE).list.set_difference(GRAMMAR)


def context_words(text: str) -> list[str]:
    """Its characters, but for digits and marks."""
    return _CHARACTERS.findall(text.lower())
