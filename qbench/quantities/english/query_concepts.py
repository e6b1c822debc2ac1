"""What a query's condition is about, in the query's search words, whole as they stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from qbench.quantities.english.lexicon import CHANGE_VERBS
from qbench.quantities.english.query_conditions import ReadCondition
from qbench.quantities.english.query_text import SearchWord
from qbench.quantities.types import Span

RANKED = frozenset("top best worst first last biggest largest highest lowest".split())
"""Words before a number of results wanted, which asks nothing of a quantity: "top 10 films"."""
IDLE = frozenset("equivalent away bigger smaller larger higher lower newer older around return returns".split())
"""Words that name nothing: "60w equivalent 800 lumens"."""
LONGEST = 4
"""Search words that are added to a concept on one side, at most."""


class Concepts:
    """Finds the concepts of a query's conditions.

    Args:
        text: of the query.
        words: its search words, in order.
    """

    def __init__(self, text: str, words: Sequence[SearchWord]) -> None:
        self._text = text
        self._words = words
        self._starts = [word.start for word in words]

    def of(self, condition: ReadCondition) -> tuple[str, ...]:
        """The words of a condition's concept, in small letters; () where nothing says what it is about.

        With the search words right before and after it: "p/e ratio", "fortune 500 companies".
        """
        found = sorted({k for span in condition.concept_spans for k in self._within(span)})
        start = min(span[0] for span in condition.used)
        nearest = self._before(start)
        if nearest and any(self._text[span[0]] == "(" for span in condition.used):
            found = nearest  # "cities in Spain with a budget (EUR) under 900"
        if nearest and "/" in self._words[nearest[-1]].text and nearest[-1] not in found:
            found = nearest[-1:]  # "stocks with p/e under 15"
        if not found or all(self._words[k].text.lower() in IDLE for k in found):
            found = [k for k in nearest if self._words[k].text.lower() not in IDLE] or ([0] if found else [])
        found = self._whole(found)
        return tuple(self._words[k].text.lower().removesuffix("'s").removesuffix("’s") for k in found)

    def _within(self, span: Span) -> Iterator[int]:
        k = max(0, bisect_right(self._starts, span[0]) - 1)
        while k < len(self._words) and self._words[k].start < span[1]:
            if self._words[k].end > span[0]:
                yield k
            k += 1

    def _before(self, start: int) -> list[int]:
        """The words right before a character."""
        last = bisect_left(self._starts, start)
        first = last
        while first and last - first < LONGEST and self._adjoin(self._words[first - 1].end, start):
            first -= 1
            start = self._words[first].start
        return list(range(first, last))

    def _whole(self, positions: list[int]) -> list[int]:
        if not positions:
            return positions
        first, last = positions[0], positions[-1] + 1
        while first and len(positions) + positions[0] - first <= LONGEST:
            word = self._words[first - 1]
            gap = word.end, self._words[first].start
            near = self._adjoin(*gap) or self._leads_to(*gap)
            if word.text.lower() in RANKED or not near:
                break
            first -= 1
        while last < len(self._words) and last - positions[-1] <= LONGEST:
            word = self._words[last]
            if word.text.lower() in CHANGE_VERBS or not self._adjoin(self._words[last - 1].end, word.start):
                break
            last += 1
        return [*range(first, positions[0]), *positions, *range(positions[-1] + 1, last)]

    def _leads_to(self, end: int, start: int) -> bool:
        """Whether a direction stands between two characters: "flights to rome"."""
        return self._text[end:start].strip().lower() in ("to", "from")

    def _adjoin(self, end: int, start: int) -> bool:
        """Whether nothing but a space or two stands between two characters."""
        return start - end < LONGEST and not self._text[end:start].strip()
