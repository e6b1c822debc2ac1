"""What has digits and is no quantity: dates and times, codes, ordinals, numbered headings, titles, quoted prices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from qbench.quantities.chinese.lexicon import alternatives, words
from qbench.quantities.chinese.numbers import LONGEST, MONEY_AFTER

_N = r"[\d零一二三四五六七八九十]"
_YEAR = r"(?:(?:1[5-9]|20)\d\d|[一二][零一二三四五六七八九]{3})"
_DASH = r" ?[-~至到/] ?"
_MONTH = rf"{_N}{{1,3}} ?月(?:份|底|初|末|中旬|上旬|下旬)?"
_DAY = rf"{_N}{{1,3}} ?(?:日|号)"

_RULES: dict[str, str] = {
    # Before dates, which they may hold: a title is one name, whatever stands in it.
    "title": r"《[^《》]{1,80}》",
    "address": r"(?:https?://|www\.)[\w./?=&%:#\-]+|[\w.\-]{1,64}@[\w.\-]{1,64}\.\w+",
    "quoted price": r"\((?:-?\+?\d+(?:\.\d+)?%?, ?){1,2}-?\+?\d+(?:\.\d+)?%\)",
    "stock code": r"\(?\b(?:[A-Z]{2,4}[:.])?\d{4,6}\.(?:SZ|SH|HK|BJ|US|OC|TW|sz|sh|hk)\b\)?|\(\d{5,6}\)",
    "document number": r"[〔\[【(]?(?:19|20)\d\d[〕\]】)]? ?(?:第 ?)?\d+ ?号|[〔\[【]\d+[〕\]】]",
    "date": rf"{_YEAR} ?年?[-./年] ?\d{{1,2}}[-./月] ?\d{{1,2}}(?: ?[日号])?(?![\d.])|"
    rf"{_YEAR} ?年?(?:度)?{_DASH}{_YEAR} ?年(?:度)?|"
    rf"{_YEAR} ?年(?:度|初|底|末|中)?(?: ?{_MONTH}(?: ?{_DAY})?)?(?:{_DASH}(?:{_YEAR} ?年)?{_MONTH}(?: ?{_DAY})?)?|"
    rf"(?:[01]\d|2\d|9\d) ?年(?=度|初|底|末|{_MONTH}|上半|下半|前?[一二三四]季|Q\d)(?:{_MONTH}(?: ?{_DAY})?)?|"
    rf"{_N}{{1,3}}{_DASH}{_MONTH}|"
    rf"(?<!个){_MONTH}(?:{_DASH}{_MONTH})?(?: ?{_DAY}(?:{_DASH}(?:{_MONTH})?{_DAY})?)?(?![个龄])|"
    rf"{_N}{{1,3}}{_DASH}{_DAY}|{_DAY}(?![内均游间])",
    "quarter": r"(?:第|前|上|下|今年|去年|年)?[一二三四1-4] ?季(?:度|报)?|[Qq][1-4]|[1-4][Qq]",
    "time": r"\d{1,2}:\d{2}(?::\d{2})?(?:[-~至]\d{1,2}:\d{2})?|"
    rf"{_N}{{1,3}} ?时(?![间速候代尚期])(?:{_N}{{1,3}}分)?|"
    rf"{_N}{{1,3}} ?点(?:{_N}{{1,3}}分|{_N}?十{_N}?|半|整|许|钟|(?!{_N}|多))",
    "ordinal": rf"第 ?{_N}[\d零一二三四五六七八九十百千]*(?:[条款项章节名位]?[、和至~-] ?第?{_N}+"
    r"(?:[条款项章节]|(?![万亿]?[元%股人个])))*",
    "label": r"(?:标?包|标段|附件|附表|图|表|注|卷|方案|情景|版本|附注) ?\d{1,3}(?![\d.,万亿%])",
    "plan": r"[“\"]?十[一二三四五]五[”\"]?(?=规|期|时|末|以|收|开|”|\")|[“\"]十[一二三四五]五[”\"]",
    "phase": rf"(?<![分共]){_N}{{1,3}} ?(?:期(?!间|限)|级|轮|环(?!比)|线|股权(?=登记)|号(?!召))",
    "ratio": r"(?<!\d)\d++(?:\.\d+)?:\d+(?:\.\d+)?|(?<![\d.])\d{1,3}+比\d{1,3}(?![\d.%万亿])",
    "name": r"(?<![A-Za-z])[A-Za-z][A-Za-z.\-_]{0,60}\d[A-Za-z\d\-_.+]*|"
    rf"(?<![\d.$¥€£₩])\d++(?![KMB]{MONEY_AFTER})(?![WVLA](?:[\u4e00-\u9fff]|\b))[A-Z](?:[\u4e00-\u9fff]|\b)"
    r"|(?<![A-Za-z\d$])[a-z]?[A-Z][a-z][a-zA-Z]*+ \d++(?![\d,.]*[万亿%]| ?(?:[美港欧日]?元|[mbtr]+illion))"
    r"(?= |[\u4e00-\u9fff]|$)",
    "parameter": r"[A-Za-z_][A-Za-z0-9_]{0,39}=[A-Za-z0-9_%:\-]*",
    "heading": r"(?<![\d.(])\d{1,2}\)(?=[\u4e00-\u9fff])|"
    r"(?:^|(?<=[。;\n]))\s{0,8}[(]?[一二三四五六七八九十\d]{1,3} ?[、.)](?!\d)|"
    r"\([一二三四五六七八九十\d]{1,2}\)",
    "long number": r"(?<![\d.,])(?:0\d{4,}|\d{10,}+)(?![\d.,]*[%万亿元股])",
    "endless": rf"[\d零一二两三四五六七八九十百千万亿兆点]{{{LONGEST},}}",
    "telephone": r"(?<![\d.])(?:0\d{2,3}-\d{7,8}|1[3-9]\d{9}|[48]00-\d{3,4}-\d{3,4})(?!\d)",
}
_NAMES = (*_RULES, "code", "word")


@cache
def _known() -> re.Pattern[str]:
    """A pattern of all rules, those with words of data files among them."""
    code = rf"{alternatives(words('label'))}(?:为|是|:|号|字)* ?[A-Za-z]*\d[\w\-()]*"
    word = rf"(?<![\d零一二三四五六七八九十百千万分]){alternatives(words('no number'))}(?![之钟])"
    return re.compile("|".join(f"(?P<r{n}>{pattern})" for n, pattern in enumerate((*_RULES.values(), code, word))))


_YEAR_ALONE = re.compile(r"(?:1[5-9]|20)\d\d(?= ?年)")


@dataclass(frozen=True, slots=True)
class Held:
    """A stretch of a text whose digits are no quantity, and the rule that says so."""

    start: int
    end: int
    rule: str


def held(text: str) -> list[Held]:
    """The stretches of a text (through `plain`) whose numbers are no quantities, in order.

    >>> [(text_rule.rule) for text_rule in held("2019年3月5日,某公司(600000.SH)公告称")]
    ['date', 'stock code']
    """
    found = []
    for match in _known().finditer(text):
        rule = _NAMES[int(str(match.lastgroup)[1:])]
        found.append(Held(match.start(), match.end(), rule))
    return found


def years(text: str, stretches: list[Held]) -> Iterator[tuple[int, int]]:
    """Spans of the calendar years among the dates of a text."""
    for stretch in stretches:
        if stretch.rule == "date":
            for match in _YEAR_ALONE.finditer(text, stretch.start, stretch.end):
                yield match.span()
