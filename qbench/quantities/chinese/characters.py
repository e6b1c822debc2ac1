"""One character for another: full-width, traditional and financial forms as the rules know them, lengths kept."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

_FULL_WIDTH = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {"\u3000": " "}
_SAME = {
    "〇": "零", "○": "零", "Ｏ": "零", "倆": "两", "俩": "两", "圓": "元", "圆": "元", "佔": "占",
    "～": "~", "〜": "~", "∼": "~", "–": "-", "—": "-", "－": "-", "−": "-", "‐": "-", "‑": "-",
    "￥": "¥", "％": "%", "，": ",", "．": ".", "：": ":", "（": "(", "）": ")", "；": ";",
    "\u00a0": " ", "\u200b": " ", "\u2002": " ", "\u2003": " ", "\u2009": " ", "\ufeff": " ", "\u202f": " ",
}  # fmt: skip
_FINANCIAL = dict(zip("壹貳贰弍叁參叄肆伍陸陆柒捌玖拾佰仟", "一二二二三三三四五六六七八九十百千", strict=True))
_FORMS = "".join(_FINANCIAL)
_NUMERALS = "零〇一二两兩倆三四五六七八九十百千万萬亿億"
_AS_NUMERAL = re.compile(
    rf"[{_FORMS}零〇]{{2,}}|[{_FORMS}](?=[ ]?[{_NUMERALS}元圆圓角吨噸斤倍成折点點]|分之)|(?<=[{_NUMERALS}之])[{_FORMS}]"
)
"""Financial numerals that are numerals: 陆 and 伍 are also names, 參 and 拾 also verbs."""
_DATA = Path(__file__).parent / "data" / "traditional.txt"


@cache
def _traditional() -> dict[int, str]:
    """Traditional characters, by code, and the simplified ones that stand for them."""
    lines = (line for line in _DATA.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {ord(sign): word[0] for line in lines for word in line.split() for sign in word[1:]}


@cache
def _plain() -> dict[int, str]:
    return _traditional() | {ord(sign): same for sign, same in (_FULL_WIDTH | _SAME).items()}


def plain(text: str) -> str:
    """A text of the same length in the forms that the rules know: spans count in both alike.

    >>> plain("３．５億元（約），貳拾，淨資產")
    '3.5亿元(约),二十,净资产'
    """
    if _FINANCIAL.keys() & {*text}:
        text = _AS_NUMERAL.sub(lambda match: "".join(_FINANCIAL.get(sign, sign) for sign in match[0]), text)
    return text.translate(_plain())


def folded(text: str) -> str:
    """A text without differences of width, case and traditional characters, for comparing words.

    >>> folded("ＲＯＥ ﬁ 淨資產收益率")
    'roe fi 净资产收益率'
    """
    return unicodedata.normalize("NFKC", text).lower().translate(_traditional())
