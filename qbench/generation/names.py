"""Names in a corpus, and the currencies that texts with these names state: what ties a text to a country.

"The central bank of Ruritania lent 5 million crowns" cannot be told of francs, and no list of names can say why. The
corpus can: it never speaks of francs where it speaks of this bank.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

import polars as pl

from qbench.quantities.english.lexicon import FUNCTION_WORDS

_TOKEN = re.compile(r"[^\W\d_](?:[\w&]|[.'’-](?=\w))*")
_DATES = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday i".split()
)
_PLAIN = FUNCTION_WORDS | _DATES
_OF_A_COUNTRY = frozenset("federal american british japanese german french canadian swiss chinese indian".split())
"""Words that tie a text to a country however they are written."""

_JOINED = re.compile(r"\b([A-Z][a-z]{2,})([A-Z][a-z]{2,})\b")
COMMON = 5
"""How often the corpus writes each half without a capital; the halves of a name ("YouTube") are rarer."""

NAMED = 2.0
"""A word is a name if it is written with a capital more than so many times as often as without."""

TWICE, OFTEN = 2, 0.1
"""Amounts in a currency beside a name from which on one more is no surprise, and their share of all beside it."""


class Names:
    """The names of a corpus.

    Args:
        texts: n sentences.
        money: of each amount of money its sentence and its currency.
    """

    def __init__(self, texts: pl.Series, money: Iterable[tuple[int, str]]) -> None:
        self._texts = texts
        self._money = money

    @cached_property
    def _cases(self) -> tuple[Counter[str], Counter[str]]:
        """How often each word is written with a capital (that does not begin a sentence), and without."""
        large: Counter[str] = Counter()
        small: Counter[str] = Counter()
        for text in self._texts:
            for match in _TOKEN.finditer(text):
                word = match[0]
                if word[0].islower():
                    small[word] += 1
                elif match.start() > 0:
                    large[word.lower()] += 1
        return large, small

    def is_name(self, word: str) -> bool:
        """Whether the corpus writes a word with a capital, but for some slips."""
        large, small = self._cases
        word = word.lower()
        return large[word] > NAMED * small[word]

    def ran_together(self, text: str) -> bool:
        """Whether a text has two words of the corpus in one: a heading without its line break, "TaxesCash paid"."""
        _, small = self._cases
        parts = _JOINED.findall(text)
        return any(min(small[first.lower()], small[second.lower()]) >= COMMON for first, second in parts)

    def of(self, text: str) -> set[str]:
        """The names in a text, in small letters; those of several words whole."""
        found: set[str] = set()
        words: list[str] = []
        end = -1
        for match in _TOKEN.finditer(text):
            word = match[0].removesuffix("'s").removesuffix("’s")
            named = self._is_named(word)
            if words and (not named or text[end : match.start()] != " "):
                found.add(" ".join(words))
                words = []
            if named:
                words.append(word.lower())
            end = match.end() if len(word) == len(match[0]) else -1
        return found | {" ".join(words)} - {""}

    def _is_named(self, word: str) -> bool:
        small = word.lower()
        if small in _OF_A_COUNTRY:
            return True
        large, small_ones = self._cases
        # At the beginning of a sentence, too, where nothing is known of a word.
        return word[0].isupper() and len(word) > 1 and small not in _PLAIN and large[small] >= small_ones[small]

    @cached_property
    def _currencies(self) -> dict[str, Counter[str]]:
        """Name -> the currencies stated beside it."""
        found: dict[str, Counter[str]] = {}
        for doc, currency in self._money:
            for name in self.of(self._texts[doc]):
                found.setdefault(name, Counter())[currency] += 1
        return found

    def allow(self, text: str, currency: str) -> bool:
        """Whether a text could speak of a currency: the corpus often speaks of it beside each name in the text.

        Args:
            text: a sentence.
            currency: canonical name.
        """
        counts = [self._currencies.get(name, Counter()) for name in self.of(text)]
        return all(each[currency] >= max(TWICE, OFTEN * each.total()) for each in counts)
