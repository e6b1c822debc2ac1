"""Mends of a parse where amounts or names led the parser astray: what the sentence's form says against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token

Span = tuple[int, int]


def repaired(tokens: Sequence[Token], spans: Sequence[Span], parse: Parse) -> Parse:
    """The parse with its mends; trees stay trees.

    Args:
        tokens: of the text.
        spans: for each mention, in order, its first token and the one after its last.
        parse: of the tokens; it stays as it is.
    """
    mender = _Mender(tokens, parse)
    for before, span in pairwise(spans):
        mender.join_alike(before, span)
    mender.leave_one_subject()
    return replace(parse, heads=mender.heads, relations=mender.relations)


class _Mender:
    def __init__(self, tokens: Sequence[Token], parse: Parse) -> None:
        self.tokens, self.tags = tokens, parse.tags
        self.heads, self.relations = list(parse.heads), list(parse.relations)

    def join_alike(self, before: Span, span: Span) -> None:
        """ "Revenue of $5 million and profit of $2 million": the second noun joins the first, not the first amount.

        The same preposition before both amounts says that they are parallel.
        """
        (start, end), noun, case = before, span[0] - 2, span[0] - 1
        if start < 2 or noun < end or self.tokens[case].low != self.tokens[start - 1].low:
            return
        joined = self.relations[noun] == "conj" and start <= self.heads[noun] < end
        if not joined or not self._prepositional(noun):
            return
        outer, own = self._outward(before), self._outward(span)
        over = self.heads[outer]
        if self._is_noun(over) and not {noun, own} & self._above(over):
            self.heads[noun] = over
            self._hang(own, noun, "nmod")

    def leave_one_subject(self) -> None:
        """ "Acmes sales rose": a clause has one subject, so of two nouns side by side the first is the second's."""
        for k, head in enumerate(self.heads):
            if not self._is_subject(k):
                continue
            after = next((m for m in range(k + 1, head) if self.heads[m] == head), k)
            between = range(k + 1, after)
            if after != k and self._is_subject(after) and all(after in self._above(m) for m in between):
                self._hang(k, after, "nmod:poss")

    def _hang(self, k: int, head: int, relation: str) -> None:
        self.heads[k], self.relations[k] = head, relation

    def _is_noun(self, k: int) -> bool:
        return self.tags[k].startswith("NN")

    def _is_subject(self, k: int) -> bool:
        return self._is_noun(k) and self.relations[k].startswith("nsubj")

    def _prepositional(self, k: int) -> bool:
        """Whether a preposition follows the noun k."""
        return self._is_noun(k) and self.tags[k + 1] in ("IN", "TO")

    def _above(self, k: int) -> set[int]:
        """Token k and all its governors up to the root."""
        governors = {k}
        while self.heads[k] not in governors:
            k = self.heads[k]
            governors.add(k)
        return governors

    def _outward(self, span: Span) -> int:
        """The token of a mention that hangs on one outside it; its first where none does."""
        first, last = span
        return next((k for k in range(first, last) if not first <= self.heads[k] < last), first)
