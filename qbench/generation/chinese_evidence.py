"""Which mentions of Chinese texts are sure: does only what states, bounds or compares stand between name and number?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import polars as pl

from qbench.generation.evidence import PARTED
from qbench.generation.scope import NOT_DONE, PART
from qbench.quantities.chinese.characters import folded, plain
from qbench.quantities.chinese.lexicon import alternatives, comparators, phrases, words
from qbench.quantities.chinese.notquantity import held

REACH = 40
"""Characters between a name and its number, at most."""

PLANNED_REACH = 80
"""Characters before a number in which a word may make it a plan."""

_PLANNED = re.compile(
    r"(?:拟|预计|预期|预估|预测|估计|有望|料将|或将|目标|如果|假设|假如|倘若|(?<!般)若|测算|不排除|可能|承诺|预案|授权"
    r"|(?<!励)(?<!股)计划(?!已|实施|完成|期间)"
    r"|将(?:会|达|有|在|由|从|增|减|提|降|升|变|出资|投资|投入|斥资|收购|发行|回购|购买|获得|获|使用|注销|支付|募|为|不))"
    r"(?=[^。!?;\n]*$)"
)
"""Before a number, in its sentence: what is planned, expected or supposed leaves open what it comes to."""
SLIP = "a price or a number of something below zero"
_NEVER_NEGATIVE = ("价", "价格", "股数", "数量", "涉资", "股本", "人数")
_DUE = re.compile(r"到期(?!日)[^。!?;\n]*$")
_BALANCES = ("余额", "借款", "负债", "债务", "欠款")
"""What is owed, of which a part falls due: 未来半年内到期的股份对应融资余额."""
STEP = "a change and what it led to, or a range"
_STEP = 8.0
"""A range of an act whose ends are further apart (增持197亿美元至3935亿美元) says by how much it moved, and to what."""
_NOT_YET = re.compile(r"(?:未|没有|不再|并无|无需|不予|取消|终止)[会能曾有]?[^，。；,;、]{0,2}$")
"""Before a name: what is not done."""
_DONE = re.compile(r"(?:已|截至|实际|累计|完成|目前|现有|此前|报告期)")
"""After such a word: what is the case all the same."""


@cache
def _linking() -> re.Pattern[str]:
    said = phrases()
    stating = (*words("state"), *comparators("before"), *said["between"], *said["compared"], *said["up"], *said["down"])
    compared = r"(?:较|比|与)[^,。;:、]{1,10}?(?:同期|上期|年末|期末|年初|期初|年|相比|日)"
    return re.compile(rf"(?:{alternatives(stating)}|{compared}|[ :,(约\d]|\)|人民币|[$¥€£]|合)*")


def doubts(table: pl.DataFrame, texts: Sequence[str]) -> list[str]:
    """Why each mention is not sure; "" for those that are.

    Args:
        table: n mentions (`quantity_schema`), those of a sentence one after the other.
        texts: n texts, the sentence of each mention.

    Returns:
        n reasons. A mention without a concept is sure: nothing is said of what it is about.
    """
    columns = ["concept", "concept_spans", "value", "value_start", "value_end", "unit_start", "unit_end", "high"]
    rows = table.select(columns).iter_rows(named=True)
    found = []
    for row, original in zip(rows, texts, strict=True):
        text, concept = plain(original), folded(row["concept"])
        spans = [
            (first, last)
            for first, last in row["concept_spans"]
            if folded(original[first:last]).split() == concept.split()
        ]
        if concept and not any(_tied(text, row, span) for span in spans):
            found.append(PARTED)
        elif row["value"] < 0 and concept.endswith(_NEVER_NEGATIVE):
            found.append(SLIP)
        elif concept.endswith(tuple(words("act"))) and _STEP * row["value"] < row["high"] < math.inf:
            found.append(STEP)
        elif concept.endswith(_BALANCES) and _DUE.search(text[: row["value_start"]]):
            found.append(PART)
        elif _is_planned(text, row) or any(_NOT_YET.search(text, 0, first) for first, _ in spans):
            found.append(NOT_DONE)
        else:
            found.append("")
    return found


def _is_planned(text: str, row: Mapping[str, Any]) -> bool:
    """Whether a number is planned, expected or supposed: a word in its clauses says so, and none after it undoes it."""
    lead = plain(text[max(0, row["value_start"] - PLANNED_REACH) : row["value_start"]])
    planned = list(_PLANNED.finditer(lead))
    return bool(planned) and _DONE.search(lead, planned[-1].end()) is None


def _tied(text: str, row: Mapping[str, Any], span: tuple[int, int]) -> bool:
    unit = row["unit_start"] if row["unit_start"] >= 0 else row["value_start"]
    start, end = min(row["value_start"], unit), max(row["value_end"], row["unit_end"])
    if span[0] >= end:
        return text[end : span[0]].strip(" 的") == ""
    if start - span[1] > REACH or span[1] > start:
        return False
    between = plain(text[span[1] : start])
    dates = [(stretch.start, stretch.end) for stretch in held(between)]
    for first, last in reversed(dates):
        between = between[:first] + between[last:]
    return _linking().fullmatch(between) is not None
