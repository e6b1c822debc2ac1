"""The like halves of a sentence made alike: "revenue of $5 million and profit of $2 million"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from qbench.quantities.parse import Parse
from qbench.quantities.tokens import Token


def parallel(tokens: Sequence[Token], spans: Sequence[tuple[int, int]], parse: Parse) -> Parse:
    """The parse, with nouns joined to nouns where a parser joined one to the amount of the other.

    The same preposition before both amounts says that they are parallel.

    Args:
        tokens: of the text.
        spans: for each mention, in order, its first token and the one after its last.
        parse: of the tokens; it stays as it is.
    """
    heads, relations = list(parse.heads), list(parse.relations)
    for (start, end), (first, last) in pairwise(spans):
        noun, case = first - 2, first - 1
        if start < 2 or noun < end or tokens[case].low != tokens[start - 1].low:
            continue
        if parse.tags[case] not in ("IN", "TO") or not parse.tags[noun].startswith("NN"):
            continue
        if relations[noun] != "conj" or not start <= heads[noun] < end:
            continue
        outer = _outward(heads, start, end)
        own = _outward(heads, first, last)
        if parse.tags[heads[outer]].startswith("NN") and not {noun, own} & _above(heads, heads[outer]):
            heads[noun], heads[own], relations[own] = heads[outer], noun, "nmod"
    return Parse(parse.tags, heads, relations)


def _above(heads: Sequence[int], k: int) -> set[int]:
    """Token k and all that govern it."""
    found = {k}
    while heads[k] not in found:
        k = heads[k]
        found.add(k)
    return found


def _outward(heads: Sequence[int], first: int, last: int) -> int:
    """The token of a mention that hangs on one outside it; its first where none does."""
    return next((k for k in range(first, last) if not first <= heads[k] < last), first)
