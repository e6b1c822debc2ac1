"""One character for another: full-width, traditional and financial forms as the rules know them, lengths kept."""

from __future__ import annotations

import unicodedata

_FULL_WIDTH = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {"\u3000": " "}
_SAME = {
    "〇": "零", "○": "零", "Ｏ": "零", "億": "亿", "萬": "万", "點": "点", "負": "负", "兩": "两", "倆": "两",
    "俩": "两", "壹": "一", "貳": "二", "贰": "二", "弍": "二", "叁": "三", "參": "三", "叄": "三", "肆": "四",
    "伍": "五", "陸": "六", "陆": "六", "柒": "七", "捌": "八", "玖": "九", "拾": "十", "佰": "百", "仟": "千",
    "個": "个", "圓": "元", "圆": "元", "噸": "吨", "歲": "岁", "餘": "余", "幾": "几",
    "約": "约", "過": "过", "於": "于", "達": "达", "為": "为", "漲": "涨", "長": "长", "減": "减", "佔": "占",
    "～": "~", "〜": "~", "∼": "~", "–": "-", "—": "-", "－": "-", "−": "-", "‐": "-", "‑": "-",
    "￥": "¥", "％": "%", "，": ",", "．": ".", "：": ":", "（": "(", "）": ")", "；": ";",
    "\u00a0": " ", "\u200b": " ", "\u2002": " ", "\u2003": " ", "\u2009": " ", "\ufeff": " ", "\u202f": " ",
}  # fmt: skip
_TABLE = str.maketrans(_FULL_WIDTH | _SAME)


def plain(text: str) -> str:
    """A text of the same length in the forms that the rules know: spans count in both alike.

    >>> plain("３．５億元（約），貳拾")
    '3.5亿元(约),二十'
    """
    return text.translate(_TABLE)


def folded(text: str) -> str:
    """A text without differences of width and case, for comparing words.

    >>> folded("ＲＯＥ ﬁ")
    'roe fi'
    """
    return unicodedata.normalize("NFKC", text).lower()
