"""Chinese as a language of qbench: see `qbench.quantities.languages.LanguagePackage`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
    """A word without differences of width, case and traditional characters.

    >>> fold("ＲＯＥ"), fold("净利润"), fold("淨利潤")
    ('roe', '净利润', '净利润')
    """
    from qbench.quantities.chinese.characters import folded

    return folded(word)


def parts(word: str) -> list[str]:
    """The pairs of neighbouring characters of a name, and its Latin words; 的 is left out.

    A share of the capital has many names that mean one thing, of which one is taken: 占公司总股本比例 is 占总股本.

    Names then are the same, or end in one another, exactly where their parts do: 净利润 is a 利润, and no 利率.

    >>> parts("归母净利润"), parts("roe"), parts("占公司股份总数的比例")
    (['归母', '母净', '净利', '利润'], ['roe'], ['占总', '总股', '股本'])
    """
    from qbench.quantities.chinese.characters import folded
    from qbench.quantities.chinese.tokens import tokens

    word = folded(word).replace("的", "")
    return tokens(_share(word) if word.startswith("占") else word) or [word]


def _share(name: str) -> str:
    """The usual name of a share of what a company or its owner has."""
    name = re.sub(r"本公司|公司|目前|当前|现有|已发行", "", re.sub(r"(?:比例|比重|比)$", "", name))
    if re.search(r"其.*持|所持|持有", name):
        held = re.sub(r"其?(?:直接|间接|合计)?(?:所持有|所持|持有|持股)", "所持", name)
        return re.sub(r"(?:股份|股票)?(?:总数|总额|数量|数)?$", "", held) + "股份"
    return re.sub(r"(?:股份总数|总股份|总股本数|总?股本)$", "总股本", name)


_DENYING = frozenset(("解除", "解质", "撤销", "取消", "终止", "预计", "计划", "目标", "潜在", "递延", "未来"))
_NOT = ("未", "拟", "待", "不", "免")


def denies(before: Sequence[str]) -> bool:
    """Whether what stands before a name makes it another thing: 解除质押 is no 质押, 非流动资产 no 流动资产.

    扣非净利润, a profit without one-off items, is a 净利润.

    >>> denies(parts("解除质")), denies(parts("未质")), denies(parts("归母净")), denies(parts("扣非净"))
    (True, True, False, False)
    """
    return (
        not _DENYING.isdisjoint(before)
        or any(pair.startswith(_NOT) for pair in before)
        or ("扣非" not in before and any(pair.startswith("非") for pair in before))
    )


def stem(word: str) -> str:
    """The same as `fold`: Chinese words have no other forms."""
    return fold(word)
