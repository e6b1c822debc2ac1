"""The description parser "rules" of Chinese: concept, whose it is, what is done, and when (*Quantity Retrieval*, 2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from qbench.keys import revision
from qbench.mining.chinese.asked_kinds import ANYONE
from qbench.mining.chinese.times import TIME
from qbench.mining.types import Description
from qbench.quantities.chinese.characters import plain
from qbench.quantities.chinese.lexicon import alternatives, words
from qbench.quantities.extractors import Extractor, ExtractorOptions, get_extractor
from qbench.quantities.languages import CHINESE
from qbench.quantities.types import Quantity, Span

_OPTIONS = ExtractorOptions(language=CHINESE)

_NAME = r"(?!据|记者|丨)[^\W丨]{2,16}?(?:-[A-Z]{1,3})?"
_COMPANY = re.compile(
    # "蓝月科技(600001.SH)公布", "蓝月科技公告称"; the name begins the sentence, a clause or what a heading says.
    rf"(?:^|[，,。；;：:】》丨|、 ]|讯|据)(?P<name>{_NAME})"
    r"(?=[（(][\d.,+%\-]*[）)]?[（(]?\d{4,6}|[（(]\d{4,6}|(?:近日|日前|晚间|今日|最新)?(?:公告|公布|发布|宣布|表示|披露|称))"
)
_NO_NAME = re.compile(
    rf"^(?:{TIME.pattern}|公告|公司|根据.*|据悉|消息|原标题|来源|记者|该公司|显示)$|^\d+$|原标题|记者"
)
_REACH = 24
"""Characters before and behind a number in which what is done is named."""
_PAID = frozenset(
    "斥资 耗资 出资 支付 作价 出价 叫价 报收 收报 估值 涉及 持有 持股 成交 售价 定价 报价 流入 流出".split()
)
"""Acts that say how an amount came about, not what was done."""


class ChineseRulesParser:
    """Parser of Chinese descriptions by rules; without state between calls.

    A description is the mention's concept and what has it, as the extractor names them; what is done where that is
    a verb of trade (回购, 质押), the company that the sentence is about, and the time nearest before the number.
    """

    name = "rules"

    def key(self) -> dict[str, object]:
        """Everything that can change the descriptions."""
        return {
            "descriptions": self.name,
            **_OPTIONS.key(),
            "rules of descriptions": revision("description rules"),
        }

    @cached_property
    def _extractor(self) -> Extractor:
        return get_extractor(_OPTIONS)

    @cached_property
    def _act(self) -> re.Pattern[str]:
        return re.compile(alternatives(tuple(word for word in words("act") if len(word) > 1 and word not in _PAID)))

    def parse_many(self, sentences: Sequence[tuple[str, Sequence[Quantity]]]) -> list[list[Description]]:
        """The description of each mention of each sentence; see `DescriptionParser`."""
        return [self._parse(text, mentions) if mentions else [] for text, mentions in sentences]

    def _parse(self, text: str, mentions: Sequence[Quantity]) -> list[Description]:
        text = plain(text)
        company = _company(text)
        # What a value is compared with is not its own time: "较上年同期".
        found = (match.span() for match in TIME.finditer(text))
        times = [span for span in found if not text[: span[0]].endswith(("较", "比", "与"))]
        numbers = [mention.extent for mention in mentions]
        concepts = self._concepts(text, mentions)
        return [self._description(text, numbers, at, concept, (company, times)) for at, concept in enumerate(concepts)]

    def _concepts(self, text: str, mentions: Sequence[Quantity]) -> list[tuple[Span, ...]]:
        """The concept spans of the mentions; where only their numbers are known, those that the extractor finds."""
        if all(mention.concept_spans for mention in mentions):
            return [mention.concept_spans for mention in mentions]
        found = self._extractor.extract(text)
        spans = []
        for mention in mentions:
            start, end = mention.value_span
            other = (one for one in found if one.value_span[0] < end and start < one.value_span[1])
            spans.append(mention.concept_spans or next((one.concept_spans for one in other), ()))
        return spans

    def _description(
        self,
        text: str,
        numbers: Sequence[Span],
        at: int,
        concept: tuple[Span, ...],
        around: tuple[Span | None, Sequence[Span]],
    ) -> Description:
        own, (company, times) = numbers[at], around
        spans = [span for span in concept if text[slice(*span)] not in ANYONE]
        acts = [match.span() for match in self._act.finditer(text, max(own[0] - _REACH, 0), own[1] + _REACH)]
        spans += [span for span in acts if span[1] <= own[0]][-1:] or [span for span in acts if own[1] <= span[0]][:1]
        before = [span for span in times if span[1] <= own[0]]
        spans += before[-1:] or [span for span in times if own[1] <= span[0]][:1]
        if company is not None:
            spans.append(company)
        segments = tuple(_apart(spans, numbers))
        return Description(segments, factual=bool(segments))


def _company(text: str) -> Span | None:
    """The first name that is followed by a code or by what companies do with news."""
    for match in _COMPANY.finditer(text):
        if not _NO_NAME.search(match["name"]):
            return match.span("name")
    return None


def _apart(spans: Iterable[Span], numbers: Sequence[Span]) -> list[Span]:
    """Spans in order, joined where they touch; those that hold a number are left out."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if any(start < b and a < end for a, b in numbers):
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
