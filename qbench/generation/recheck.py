"""Second check of every label: extract a permuted sentence again and compare it with its label."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence

from qbench.generation.labels import holds
from qbench.generation.permute import Permuted
from qbench.quantities.conditions import equal
from qbench.quantities.extractors import Extractor
from qbench.quantities.languages import ENGLISH
from qbench.quantities.types import Condition, Quantity

READS_DIFFERENTLY = "permuted text reads differently"
STILL_SATISFIES = "negative still satisfies or may satisfy"
NO_LONGER = "positive does not satisfy"

CACHE = 50_000
"""Maximum number of cached extractions: queries on one pair often permute the same sentences alike."""


class Rechecker:
    """Checks samples. Without an extractor (gold quantities) permuted sentences are checked by arithmetic only.

    Args:
        extractor: the extractor of the index; None if its quantities were given.
        language: code of the sentences' language.
    """

    def __init__(self, extractor: Extractor | None, language: str = ENGLISH) -> None:
        self.extractor = extractor
        self.language = language
        self._read: OrderedDict[str, list[Quantity]] = OrderedDict()

    def permuted(
        self, samples: Sequence[Permuted], conditions: Sequence[Condition], positive: bool
    ) -> list[str | None]:
        """Reasons to reject permuted samples; None for valid ones.

        The re-extracted quantities must be the expected ones (the changed mention where it was changed, all others as
        they were), and they must agree with the label.
        """
        # Arithmetic first: it is cheap and rejects many sentences.
        reasons = [self.sentence(sample.mentions, conditions, positive) for sample in samples]
        if self.extractor is None:
            return reasons
        good = [i for i, reason in enumerate(reasons) if reason is None]
        # In one batch, which is faster than one by one.
        for i, quantities in zip(good, self._extract(self.extractor, [samples[i].text for i in good]), strict=True):
            as_meant = reads_as(quantities, samples[i])
            reasons[i] = self.sentence(quantities, conditions, positive) if as_meant else READS_DIFFERENTLY
        return reasons

    def sentence(self, mentions: Sequence[Quantity], conditions: Sequence[Condition], positive: bool) -> str | None:
        """Reason why a label does not hold for a sentence with these mentions; None if it holds."""
        answer = holds(conditions, mentions, self.language, given=self.extractor is None)
        if positive:
            return None if answer == "yes" else NO_LONGER
        return None if answer == "no" else STILL_SATISFIES

    def _extract(self, extractor: Extractor, texts: Sequence[str]) -> list[list[Quantity]]:
        unread = [text for text in dict.fromkeys(texts) if text not in self._read]
        self._read.update(zip(unread, extractor.extract_many(unread), strict=True))
        results = [self._read[text] for text in texts]
        while len(self._read) > CACHE:
            self._read.popitem(last=False)
        return results


def reads_as(mentions: Sequence[Quantity], expected: Permuted) -> bool:
    """Whether re-extracted mentions are the expected ones: by value and unit, the changed one also by position."""
    changed = [m for m in mentions if _overlap(m.value_span, expected.value_span) and _same(m, expected.quantity)]
    return bool(changed) and Counter(map(_reading, mentions)) == Counter(map(_reading, expected.mentions))


def _reading(quantity: Quantity) -> tuple[str, str, str, str]:
    return quantity.comparator, quantity.unit, f"{quantity.value:.9g}", f"{quantity.high:.9g}"


def _same(a: Quantity, b: Quantity) -> bool:
    return a.unit == b.unit and equal(a.value, b.value)


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]
