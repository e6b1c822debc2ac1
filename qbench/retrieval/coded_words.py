"""The words of texts as codes behind token vectors, and what each word of a query is worth.

    share(w) = ln(1 + (N - df + 0.5) / (df + 0.5)) / ln(1 + (N + 0.5) / 0.5)

of a word that df of N texts have, so that a word that few have is worth nearly 1, and one that all have nearly 0. Words
are compared without case and number, as those of concepts are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qbench.models.numbers import Span, token_owners
from qbench.quantities.concept_match import folded
from qbench.quantities.languages import ENGLISH
from qbench.retrieval.analysis import token_ids
from qbench.scoring.value_code import WORD_SIGNS, word_code

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class WordCodes:
    """The codes of words, and the shares of those that some texts have.

    Attributes:
        shares: of each folded word, above 0 and at most 1.
        language: code of the texts' language.
    """

    shares: dict[str, float] = field(default_factory=dict)
    language: str = ENGLISH

    @classmethod
    def of(cls, texts: pl.Series, language: str = ENGLISH) -> WordCodes:
        """The words of a corpus.

        Args:
            texts: shape (N,).
            language: code of their language.
        """
        vocabulary, ids, lengths = token_ids(texts, language)
        words: dict[str, int] = {}
        pairs = [
            (token, words.setdefault(word, len(words)))
            for token, text in enumerate(vocabulary)
            for word in sorted(folded(_WORD.findall(text), language))
        ]
        of_token = pl.DataFrame(pairs, {"token": pl.Int32, "word": pl.Int32}, orient="row")
        held = pl.DataFrame({"token": ids, "text": np.repeat(np.arange(lengths.size), lengths)})
        counted = held.join(of_token, on="token").select("text", "word").unique().group_by("word").len()
        frequency = np.zeros(len(words), np.int64)
        frequency[counted["word"].to_numpy()] = counted["len"].to_numpy()
        size = max(lengths.size, 1)
        shares = np.log1p((size - frequency + 0.5) / (frequency + 0.5)) / np.log1p((size + 0.5) / 0.5)
        return cls(dict(zip(words, shares.tolist(), strict=True)), language)

    def codes(self, text: str, offsets: Sequence[Span]) -> NDArray[np.float32]:
        """The code of the folded word that each token is of, zeros for none.

        Args:
            text: of a document or query.
            offsets: half-open characters of its n tokens.

        Returns:
            shape (n, WORD_SIGNS).
        """
        words = list(_WORD.finditer(text))
        codes = np.zeros((len(offsets), WORD_SIGNS), np.float32)
        for place, owner in enumerate(token_owners(offsets, [match.span() for match in words])):
            if owner >= 0:
                for word in folded([words[owner].group()], self.language):
                    codes[place] += word_code(word)
        return codes

    def worth(self, text: str, offsets: Sequence[Span], searched: Iterable[int]) -> NDArray[np.float32]:
        """The share of the word that each token of a query is of, divided among the word's tokens.

        Args:
            text: of the query.
            offsets: half-open characters of its n tokens.
            searched: the tokens that count.

        Returns:
            shape (n,), 0 for other tokens and for words that no text has.
        """
        words = list(_WORD.finditer(text))
        owners = token_owners(offsets, [match.span() for match in words])
        worth = np.zeros(len(offsets), np.float32)
        places: dict[int, list[int]] = {}
        for place in searched:
            places.setdefault(int(owners[place]), []).append(place)
        for owner, own in places.items():
            if owner >= 0:
                shares = [self.shares.get(word, 0.0) for word in folded([words[owner].group()], self.language)]
                worth[own] = sum(shares) / len(own)
        return worth
