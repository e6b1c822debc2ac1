"""Chinese descriptions that do not say what their number is, and words that name nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qbench.mining.chinese.times import TIME
from qbench.mining.languages import NOTHING, ONLY_TIME
from qbench.quantities.chinese.characters import plain
from qbench.quantities.types import Quantity

_EMPTY = frozenset(
    "公司 本公司 集团 其中 合计 共计 累计 总计 分别 同比 环比 增长 下降 增加 减少 上升 下跌 上涨 "
    "上年 去年 今年 同期 报告 报告期 期内 期末 以上 以下 以及 不超 超过 低于 高于 不低 约为 达到 "
    "实现 预计 公告 披露 发布 表示 显示 近日 日前 截至 截止 目前 本次 此次 该项 年度 半年 上半 下半 "
    "季度 第一 第二 第三 第四 日期 时间 股份有限公司 有限公司 有限 限公".split()
)
"""Words that, without others, leave open what a number measures."""

_STATED = re.compile("|".join(sorted(_EMPTY, key=len, reverse=True)))
_NAMES = re.compile(r"[^\W\d_]{2,}")


def lack(words: str, sentence: str, mention: Quantity, segments: Iterable[tuple[int, int]] = ()) -> str:
    """The reason why words do not say what a quantity is; "" where they do.

    See `qbench.mining.languages.MiningPackage.lack`. What is counted says it too: the 员工 of 500名员工.

    >>> five = Quantity(5, 5, "=", "yuan", "currency", "yuan", 5, 5)
    >>> lack("2019年 净利润", "", five), lack("2019年", "", five), lack("同比增长", "", five)
    ('', 'only a time', 'nothing measured')
    """
    if mention.family == "count" and mention.unit:
        return ""
    rest = TIME.sub(" ", plain(words))
    if _NAMES.search(_STATED.sub(" ", rest)):
        return ""
    return ONLY_TIME if not _NAMES.search(rest) else NOTHING


def says(word: str) -> bool:
    """Whether a token of lexical search may name what is measured: two characters, or a Latin word.

    >>> [word for word in ("利润", "润", "同比", "roe", "3.5") if says(word)]
    ['利润', 'roe']
    """
    return len(word) > 1 and not word[0].isdigit() and word not in _EMPTY
