"""Gold sets that a tiny tagger can learn, in English and in Chinese, and the words of its vocabulary."""

from __future__ import annotations

import json
import random

ENGLISH = (
    "in 2019 2020 2021 the of was were staff revenue area acme borel cyan delta mn km fine up to may be . , -".split()
)
CHINESE = list("年公司的收入为员工面积万元，。")


def english(count, seed=1):
    """Gold rows: who, what and when of one or two quantities; every eighth sentence states no fact."""
    dice = random.Random(seed)
    for number in range(count):
        if number % 8 == 7:
            text = f"a fine of up to {dice.randrange(100, 999)} mn may be ."
            yield {"text": text, "pivot": span(text, text.split()[5] + " mn"), "segments": []}
            continue
        year, what = f"20{dice.choice((19, 20, 21))}", dice.choice(("staff", "revenue", "area"))
        who, value = dice.choice(("Acme", "Borel", "Cyan", "Delta")), f"{dice.randrange(100, 999)}"
        text = f"in {year} the {what} of {who} was {value} mn , up"
        segments = [span(text, words) for words in (year, f"{what} of {who}")]
        yield {"text": text, "pivot": span(text, f"{value} mn"), "segments": segments, "group": f"g{number}"}


def chinese(count, seed=1):
    """The same without spaces."""
    dice = random.Random(seed)
    for number in range(count):
        year, what = f"20{dice.choice((19, 20, 21))}年", dice.choice(("收入", "面积", "员工"))
        text = f"{year}公司的{what}为{dice.randrange(100, 999)}万元。"
        pivot = [text.index("为") + 1, text.index("。")]
        yield {"text": text, "pivot": pivot, "segments": [span(text, year), span(text, what)], "group": f"g{number}"}


def span(text, words):
    """Where some words of a text stand."""
    return [text.index(words), text.index(words) + len(words)]


def write_rows(path, rows):
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
