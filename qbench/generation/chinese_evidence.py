"""Which mentions of Chinese texts are sure: does only what states, bounds or compares stand between name and number?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import polars as pl

from qbench.generation.evidence import PARTED
from qbench.quantities.chinese.characters import plain
from qbench.quantities.chinese.lexicon import alternatives, comparators, phrases, words
from qbench.quantities.chinese.notquantity import held

REACH = 40
"""Characters between a name and its number, at most."""


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
    columns = ["concept", "concept_spans", "value_start", "value_end", "unit_start", "unit_end"]
    rows = table.select(columns).iter_rows(named=True)
    found = []
    for row, text in zip(rows, texts, strict=True):
        spans = [
            (first, last)
            for first, last in row["concept_spans"]
            if text[first:last].lower().split() == row["concept"].split()
        ]
        found.append("" if not row["concept"] or any(_tied(text, row, span) for span in spans) else PARTED)
    return found


def _tied(text: str, row: dict[str, int], span: tuple[int, int]) -> bool:
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
