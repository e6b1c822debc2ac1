"""Numbers that may count a noun, whatever unit they were read with.

"14 unpaid young nurses", "31 second year pupils", "bakers (n = 9)", "of 60 recruits 22 (37%) were farmers": between a
number and what it counts stand modifiers, a share or a verb, and the unit that was read may be the last of these nouns,
another noun or none at all. Nothing tells which of them a query means, so that such a number decides no query about
one of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from qbench.generation.gists import gist
from qbench.quantities.concept_match import Concept, concept_alternatives, concept_words

REACH = 80
"""Characters of the text in which a number and its noun stand together."""

COLUMNS = ("value_start", "value_end", "unit_start", "unit_end", "family")
"""What `may_count` reads of a mention."""

_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_CLOSE = re.compile(r"[.;:]\s|\d")
_SAMPLE = re.compile(r"\(\s*[nN]\s*=\s*$")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Nouns:
    """What a query counts.

    Attributes:
        words: folded nouns.
        kinds: gists of nouns, for which others of the same gist may stand: of concepts that say more than the noun,
            "healthy subjects" and "healthy participants".
        language: code of their language.
    """

    words: frozenset[str]
    kinds: frozenset[str]
    language: str

    def among(self, text: str) -> bool:
        """Whether a text says one of them."""
        said = (part for word in _WORD.findall(text) for part in concept_words((word,), self.language))
        return any(word in self.words or gist(word) in self.kinds for word in said)


def nouns(concept: Concept, language: str) -> Nouns:
    """The nouns that a query's concept counts: the last word of each alternative."""
    said = [concept_words(alternative, language) for alternative in concept_alternatives(concept)]
    kinds = frozenset(gist(words[-1]) for words in said if len(words) > 1)
    return Nouns(frozenset(words[-1] for words in said if words), kinds, language)


def may_count(mention: dict[str, Any], text: str, wanted: Nouns) -> bool:
    """Whether a number may count one of some nouns.

    The noun follows the number, without another number or the end of a clause between them, or stands before the size
    of a sample. Amounts of money, shares, and numbers with a unit of measure beside them count nothing.

    Args:
        mention: its `COLUMNS`, of `quantity_schema`.
        text: its sentence.
        wanted: the nouns.
    """
    start, end = mention["value_start"], mention["value_end"]
    if start < 0 or mention["family"].startswith(("currency", "ratio")):
        return False
    if mention["family"] not in ("", "count") and _beside(mention):
        return False
    after = _ASIDE.sub(" ", text[end : end + REACH])
    close = _CLOSE.search(after)
    said = after[: close.start()] if close else after
    if sample := _SAMPLE.search(text, max(0, start - REACH), start):
        before = _ASIDE.sub(" ", text[max(0, sample.start() - REACH) : sample.start()])
        said += " " + before[max((match.end() for match in _CLOSE.finditer(before)), default=0) :]
    return wanted.among(said)


def _beside(mention: dict[str, Any]) -> bool:
    """Whether the unit of a mention stands right beside its number: "7 days", "6-week"."""
    value, unit = ((mention[f"{part}_start"], mention[f"{part}_end"]) for part in ("value", "unit"))
    return unit[0] >= 0 and not {unit[0] - value[1], value[0] - unit[1]}.isdisjoint((0, 1))
