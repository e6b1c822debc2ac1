"""The files of DuEE-fin (events of Chinese financial news) -> quantities with the spans that describe them.

A document has events, each with a trigger ("回购") and arguments: a role ("每股交易价格") and its words. The arguments
whose role is a quantity are pivots. What describes one (*Quantity Retrieval*, section 2) is the rest of its event: who,
when, of what; the trigger; and the words of its sentence that name its role. Arguments have no offsets in these files,
so all of it is looked for in the text: in the sentence that says most of the event, each as near as possible to the
pivot, rather before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from qbench.errors import InputError
from qbench.quantities.languages import CHINESE, language_package
from qbench.quantities.types import Span

QUANTITIES = frozenset(
    "中标金额 净亏损 交易金额 债务规模 融资金额 募资金额 发行价格 市值 每股交易价格 回购股份数量 "
    "交易股票/股份数量 质押股票/股份数量 减持部分占总股本比例 减持部分占所持比例 增持部分占总股本比例 "
    "占公司总股本比例 质押物占总股比 质押物占持股比".split()
)
"""Roles whose words are a quantity."""
_OTHER = frozenset("披露时间 披露日期 证券代码 环节 融资轮次 亏损变化".split())
"""Roles that say nothing of the event's quantities: when the news came out, how it is called, which way it went."""

_BEFORE, _BEHIND = 20, 8
"""Characters around a pivot in which its role is named."""
_CLAUSE = re.compile("[，,。；;：:（）()]")
_PART_OF_NUMBER = re.compile(r"[\d.,万亿]")
_COUNTED = re.compile("[股份]")

Described = tuple[str, Span, tuple[Span, ...]]
"""A sentence, a pivot in it, and the segments that describe it, in order and apart."""


def is_document(row: Mapping[str, Any]) -> bool:
    """Whether a line is a document of DuEE-fin; one without events has a title, and no list of them."""
    return "event_list" in row or ("title" in row and "pivot" not in row)


def described(
    document: Mapping[str, Any], counts: Counter[str], *, file: Path | None = None, line: int | None = None
) -> Iterator[Described]:
    """The quantities of a document, those of an earlier event first.

    Args:
        document: `text`, and `event_list`, if it has any, with trigger and arguments.
        counts: receives the numbers of quantities that no sentence says, and of those that two events share.
        file, line: of the document, for errors.

    Raises:
        InputError: text or events are not as in DuEE-fin.
    """
    text, events = document.get("text"), document.get("event_list", [])
    if not isinstance(text, str) or not isinstance(events, list) or not all(map(_is_event, events)):
        remedy = 'Give {"text": ..., "event_list": [{"trigger": ..., "arguments": [{"role": ..., "argument": ...}]}]}'
        raise InputError("not a document of DuEE-fin", file=file, line=line, value=document, remedy=remedy)
    sentences = [text[a:b] for a, b in language_package(CHINESE).sentence_splitter().spans(text)]
    found: dict[tuple[str, Span], tuple[Span, ...]] = {}
    for event in events:
        arguments = [(row["role"], row["argument"].strip()) for row in event["arguments"]]
        around = [words for role, words in arguments if role not in QUANTITIES | _OTHER]
        for role, words in arguments:
            if role not in QUANTITIES or not words:
                continue
            placed = _placed(sentences, words, role, (event["trigger"], *around))
            if placed is None:
                counts["quantities that no sentence says"] += 1
                continue
            sentence, pivot, segments = placed
            counts["quantities of two events"] += (sentence, pivot) in found
            if len(segments) >= len(found.get((sentence, pivot), ())):
                found[sentence, pivot] = segments
    yield from ((sentence, pivot, segments) for (sentence, pivot), segments in found.items())


def _is_event(row: object) -> bool:
    """Whether an event has a trigger, and arguments that are pairs of texts."""
    if not isinstance(row, dict) or not isinstance(row.get("trigger"), str):
        return False
    arguments = row.get("arguments")
    return isinstance(arguments, list) and all(
        isinstance(one, dict) and isinstance(one.get("role"), str) and isinstance(one.get("argument"), str)
        for one in arguments
    )


def _placed(sentences: Sequence[str], words: str, role: str, around: Sequence[str]) -> Described | None:
    """The mention that says most of the event, and its description."""
    holding = [sentence for sentence in sentences if _numbers(sentence, words)]
    if not holding:
        return None
    sentence = max(holding, key=lambda one: sum(other in one for other in {*around} if other))
    trigger = around[0]
    pivots = [(role_words(sentence, pivot, role), pivot) for pivot in _numbers(sentence, words)]
    named, pivot = max(pivots, key=lambda row: (row[0][1] - row[0][0], -_distance(sentence, row[1], trigger)))
    spans = [near for other in around if other and (near := _nearest(sentence, pivot, other))]
    return sentence, pivot, tuple(_merged([*spans, named] if named[0] < named[1] else spans))


def _numbers(sentence: str, words: str) -> list[Span]:
    """Where a quantity stands, no part of another number; with the noun that is counted, if it follows."""
    spans = []
    for match in re.finditer(re.escape(words), sentence):
        start, end = match.span()
        glued = start and words[0].isdigit() and re.match(r"[\d.]", sentence[start - 1])
        if glued or (words[-1].isdigit() and _PART_OF_NUMBER.match(sentence, end)):
            continue
        spans.append((start, end + bool(not words.endswith(("元", "%", "％")) and _COUNTED.match(sentence, end))))
    return spans


def role_words(sentence: str, pivot: Span, role: str) -> Span:
    """The words in a pivot's clause that name its role: the longest that both have, the nearest of the longest.

    >>> text = "公司已质押其股份，占公司总股本的3%。"
    >>> text[slice(*role_words(text, (16, 18), "占公司总股本比例"))]
    '占公司总股本'
    """
    start = max(pivot[0] - _BEFORE, 0)
    marks = [match.end() for match in _CLAUSE.finditer(sentence, start, pivot[0])]
    start = marks[-1] if marks else start
    after = _CLAUSE.search(sentence, pivot[1])
    end = min(pivot[1] + _BEHIND, after.start() if after else len(sentence))
    best = (pivot[0], pivot[0])
    for low, high in ((start, pivot[0]), (pivot[1], end)):
        for a in range(low, high):
            b = a + max(2, best[1] - best[0])  # a single character names nothing
            while b <= high and sentence[a:b] in role:
                best, b = (a, b), b + 1
    return best


def _nearest(sentence: str, pivot: Span, words: str) -> Span | None:
    """The occurrence nearest to a pivot, rather before it; None if there is none apart from it."""
    spans = [match.span() for match in re.finditer(re.escape(words), sentence)]
    apart = [span for span in spans if span[1] <= pivot[0] or pivot[1] <= span[0]]
    return min(apart, key=lambda span: (span[0] >= pivot[1], abs(span[0] - pivot[0])), default=None)


def _distance(sentence: str, pivot: Span, words: str) -> int:
    near = _nearest(sentence, pivot, words)
    return len(sentence) if near is None else abs(near[0] - pivot[0])


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Spans in order; those that touch are one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
