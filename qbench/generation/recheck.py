"""The second look at every label: what a permuted sentence says when it is read again, and what a label claims."""

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
"""Texts whose extraction is kept: queries on one pair permute the same few sentences alike."""


class Rechecker:
    """Judges samples. Without an extractor (gold quantities) a permuted sentence is judged by arithmetic alone.

    Args:
        extractor: the one that the index was built with; None if its quantities were given.
        language: code of the sentences' language.
    """

    def __init__(self, extractor: Extractor | None, language: str = ENGLISH) -> None:
        self.extractor = extractor
        self.language = language
        self._read: OrderedDict[str, list[Quantity]] = OrderedDict()

    def permuted(
        self, samples: Sequence[Permuted], conditions: Sequence[Condition], positive: bool
    ) -> list[str | None]:
        """Why each of some permuted samples must not be written; None where it may.

        The re-extracted quantities must be the expected ones (the changed mention where it was changed, all others as
        they were), and they must say what the label says.
        """
        # By arithmetic first: it costs little, and many sentences have another mention that decides.
        reasons = [self.sentence(made.mentions, conditions, positive) for made in samples]
        if self.extractor is None:
            return reasons
        good = [i for i, reason in enumerate(reasons) if reason is None]
        # All at once, since many texts are read faster than one after the other.
        for i, found in zip(good, self._extract(self.extractor, [samples[i].text for i in good]), strict=True):
            as_meant = reads_as(found, samples[i])
            reasons[i] = self.sentence(found, conditions, positive) if as_meant else READS_DIFFERENTLY
        return reasons

    def sentence(self, mentions: Sequence[Quantity], conditions: Sequence[Condition], positive: bool) -> str | None:
        """Why a sentence with these mentions must not carry a label; None if it may."""
        answer = holds(conditions, mentions, self.language)
        if positive:
            return None if answer == "yes" else NO_LONGER
        return None if answer == "no" else STILL_SATISFIES

    def _extract(self, extractor: Extractor, texts: Sequence[str]) -> list[list[Quantity]]:
        unread = [text for text in dict.fromkeys(texts) if text not in self._read]
        self._read.update(zip(unread, extractor.extract_many(unread), strict=True))
        found = [self._read[text] for text in texts]
        while len(self._read) > CACHE:
            self._read.popitem(last=False)
        return found


def reads_as(mentions: Sequence[Quantity], made: Permuted) -> bool:
    """Whether re-extracted mentions are the expected ones: by value and unit, the changed one also by place."""
    changed = [m for m in mentions if _overlap(m.value_span, made.value_span) and _same(m, made.quantity)]
    return bool(changed) and Counter(map(_said, mentions)) == Counter(map(_said, made.mentions))


def _said(quantity: Quantity) -> tuple[str, str, str, str]:
    return quantity.comparator, quantity.unit, f"{quantity.value:.9g}", f"{quantity.high:.9g}"


def _same(a: Quantity, b: Quantity) -> bool:
    return a.unit == b.unit and equal(a.value, b.value)


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]
