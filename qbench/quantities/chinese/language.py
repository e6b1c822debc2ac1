"""Chinese as a language of qbench: see `qbench.quantities.languages.LanguagePackage`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from qbench.quantities.scripts import HAN

if TYPE_CHECKING:
    import polars as pl

    from qbench.quantities.chinese.sentences import ChineseSplitter
    from qbench.quantities.languages import Extractor
    from qbench.quantities.units import Units

EXTRACTORS: Mapping[str, str] = {"rules": "numbers, units, comparators and concepts by rules over characters (default)"}

WITH_MODEL = ()

SCRIPTS = (HAN,)


def extractor(
    name: str, units: Units, *, years: bool, p_values: bool, spacy_model: str, model: Path | None
) -> Extractor:
    """The extractor by rules; it needs no parser, and knows no p-values."""
    from qbench.quantities.chinese.rules import ChineseExtractor

    return ChineseExtractor(units, years=years)


def parser_digest(name: str) -> str:
    """What stands for the parser in keys: none is used."""
    return ""


def model_digest(folder: Path) -> str:
    """Never asked for: no extractor of Chinese has a model."""
    return folder.name


def sentence_splitter() -> ChineseSplitter:
    """The splitter at 。！？； and line ends."""
    from qbench.quantities.chinese.sentences import ChineseSplitter

    return ChineseSplitter()


def tokenized(texts: pl.Series) -> pl.Series:
    """The tokens of lexical search; see `qbench.quantities.chinese.tokens`."""
    from qbench.quantities.chinese.tokens import tokenized as cut

    return cut(texts)


def fold(word: str) -> str:
    """A word without differences of width and case.

    >>> fold("ＲＯＥ"), fold("净利润")
    ('roe', '净利润')
    """
    from qbench.quantities.chinese.characters import folded

    return folded(word)


def parts(word: str) -> list[str]:
    """The pairs of neighbouring characters of a name, and its Latin words; 的 is left out.

    Names then are the same, or end in one another, exactly where their parts do: 净利润 is a 利润, and no 利率.

    >>> parts("归母净利润"), parts("roe")
    (['归母', '母净', '净利', '利润'], ['roe'])
    """
    from qbench.quantities.chinese.tokens import tokens

    return tokens(word.replace("的", "")) or [word]


def stem(word: str) -> str:
    """A word without differences of width and case: Chinese words have no other forms."""
    return fold(word)
