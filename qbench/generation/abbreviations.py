"""Abbreviations that a corpus explains, "odds ratio (OR)": texts that say one may speak of what it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from qbench.quantities.concept_match import Concept, concept_words

KNOWN = {("odds", "ratio"): "OR", ("relative", "risk"): "RR", ("risk", "ratio"): "RR", ("hazard", "ratio"): "HR"}
"""Measures that abstracts abbreviate without a word."""

_EXPLAINED = re.compile(r"((?:[^\W\d_][\w-]*\s+){1,5}[^\W\d_][\w-]*)\s*\(([A-Z][A-Za-z]{0,4}[A-Z])s?\)")
_SHORT = re.compile(r"\b[A-Z][A-Za-z]{0,4}[A-Z](?=s?\b)")


@dataclass(frozen=True)
class Abbreviations:
    """The abbreviations of a corpus.

    Attributes:
        of: folded words -> what they are abbreviated to.
        long: abbreviation -> all that it stands for.
    """

    of: dict[Concept, set[str]] = field(default_factory=dict)
    long: dict[str, set[Concept]] = field(default_factory=dict)

    def add(self, words: Concept, short: str) -> None:
        """Take in one of them."""
        self.of.setdefault(words, set()).add(short)
        self.long.setdefault(short, set()).add(words)

    def other_ways(self, words: Concept) -> list[tuple[Concept, str]]:
        """A concept with each of its parts that has an abbreviation said otherwise.

        Args:
            words: folded words.

        Returns:
            (the words beside the abbreviation, it), and (all words, "") where the part has another name.
        """
        found = []
        for part, shorts in self.of.items():
            at = next((at for at in range(len(words)) if words[at : at + len(part)] == part), None)
            if at is None:
                continue
            before, after = words[:at], words[at + len(part) :]
            for short in shorts:
                found.append(((*before, *after), short))
                found += [((*before, *other, *after), "") for other in self.long[short] if other != part]
        return sorted(set(found))


def explained(texts: Iterable[str], language: str) -> Abbreviations:
    """The abbreviations that texts explain, and those that need no explanation."""
    found = Abbreviations()
    for words, short in KNOWN.items():
        found.add(concept_words(words, language), short)
    for text in texts:
        for match in _EXPLAINED.finditer(text) if "(" in text else ():
            long = _long_form(match[1].lower().split(), match[2].lower())
            if long:
                found.add(concept_words(long, language), match[2])
    return found


def _long_form(words: list[str], short: str) -> Concept:
    """The last words whose first letters are those of an abbreviation; () where they are not."""
    last = tuple(words[-len(short) :])
    return last if "".join(word[0] for word in last) == short and len(last) > 1 else ()


def shorts_in(text: str) -> set[str]:
    """The words of a text that look like abbreviations."""
    return set(_SHORT.findall(text))
