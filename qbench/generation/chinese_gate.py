"""The gate on (concept, unit) pairs of Chinese texts, by what their names end with."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qbench.generation.gate import CODE, MOVED, NOTHING, PER_SHARE, POPULATION, SHARE_OR_GROWTH, TIME, WORDLESS, Gate
from qbench.generation.pairs import Pair
from qbench.quantities.chinese.characters import folded
from qbench.quantities.chinese.lexicon import words

HAN = re.compile(r"[\u4e00-\u9fff]")
LONGEST = 14
"""Characters of a concept; a longer one is a clause."""


def sane(concept: str) -> bool:
    """Whether a concept can be searched for: a name of a few characters without numbers."""
    return bool(HAN.search(concept)) and 2 <= len(concept) <= LONGEST and not re.search(r"\d", concept)


class ChineseGate(Gate):
    """Decides on pairs of Chinese texts by the characters that their concepts end with."""

    def sane(self, concept: str) -> bool:
        """Whether a concept can be searched for."""
        return sane(concept)

    def reason(self, pair: Pair) -> str | None:
        """Why nobody would ask about a pair; None if somebody might."""
        concept, family = folded("".join(pair.concept)), self.mentions.family_of(pair.unit)
        if not self.sane(concept):
            return WORDLESS
        if concept in words("empty") or concept in words("adverb") or concept in words("state"):
            return NOTHING
        if pair.change and concept[0] == "占":
            return MOVED
        acts = concept in words("act")
        if not acts and not _ends(concept, words("head")):
            return NOTHING
        return self._of_family(pair, concept, family, acts)

    def _of_family(self, pair: Pair, concept: str, family: str, acts: bool) -> str | None:
        if family == "time":
            return None if _ends(concept, words("lasting")) else TIME
        if family == "ratio" and not pair.change and not _ends(concept, words("portion")) and concept[0] != "占":
            return POPULATION if _ends(concept, words("owner")) else SHARE_OR_GROWTH
        if pair.unit.endswith(" per share") and self._is_money(pair):
            return PER_SHARE
        return CODE if not pair.unit else None


def _ends(concept: str, endings: Sequence[str]) -> bool:
    return concept.endswith(tuple(endings))
