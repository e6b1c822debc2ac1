"""The surface forms of all units as two trees of tokens, so that one walk over a text finds the longest form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from qbench.quantities.english.ambiguity import shared_forms
from qbench.quantities.english.tokens import LINE_ENDS, Token, glued, tokenize
from qbench.quantities.units import Unit, Units

JOINERS = frozenset("-‐‑.·⋅")
"""Marks that may stand between the words of a unit and mean nothing: "kilowatt-hour", "lb.-ft.", "m.p.h."."""
SAME_IN_ANY_CASE = frozenset("hz kg km cm mm mg ml kw gb tb ft lb kv yd hp db bn".split())
"""Two-letter symbols that are no other unit and no abbreviation when written in capitals or without."""
_QUOTES = frozenset("'’\"")
"""Marks that `UnitReader` looks at itself: they are quotation marks first."""
_AS_WRITTEN = frozenset("war tds mets toe mas ips ppt pts pt nit".split())
"""Longer ones that are words or names when written otherwise."""
_FOLDED_CODES = frozenset("usd eur gbp jpy chf rmb dlr dlrs cts".split())
LONGEST = 12
_UNIT = ""


class Match(NamedTuple):
    """A form found at tokens first..last-1: the unit, the form as the units file gives it, and of what kind."""

    unit: Unit
    surface: str
    last: int
    symbol: bool


class UnitTrie:
    """Finds the forms that start at a token.

    Args:
        units: the known units.
    """

    def __init__(self, units: Units) -> None:
        self._exact: dict[str, Any] = {}
        self._folded: dict[str, Any] = {}
        for surface, default in shared_forms():
            existing = units.symbol(surface) or units.named(surface)
            if existing is None and surface not in _QUOTES:
                tree = self._folded if len(surface) > 3 else self._exact
                _grow(tree, _pieces(surface), (units.get(default), surface, len(surface) < 4))
        symbols: dict[str, Unit | None] = {}
        for unit in units:
            for symbol in unit.symbols:
                if units.symbol(symbol) is unit:
                    _grow(self._exact, _pieces(symbol), (unit, symbol, True))
                low = symbol.lower()
                if unit.family == "currency" and low not in _FOLDED_CODES:
                    continue
                symbols[low] = unit if symbols.get(low, unit) is unit else None
            for name in (unit.name, *unit.names):
                if units.named(" ".join(name.replace("-", " ").lower().split())) is unit:
                    _grow(self._folded, _pieces(name.lower()), (unit, name, False))
        for low, only in symbols.items():
            if only is not None and low not in _AS_WRITTEN and (len(low) > 2 or low in SAME_IN_ANY_CASE):
                _grow(self._folded, _pieces(low), (only, low, True))

    def starts(self, token: Token) -> bool:
        """Whether a form may start at a token."""
        return token.text in self._exact or token.low in self._folded

    def matches(self, tokens: Sequence[Token], j: int) -> list[Match]:
        """The forms that start at token j, longest first; a symbol as written comes before a name as long."""
        matches = [*_walk(self._exact, tokens, j, folded=False), *_walk(self._folded, tokens, j, folded=True)]
        return sorted(matches, key=lambda m: -m.last) if len(matches) > 1 else matches


def _pieces(form: str) -> list[str]:
    """The tokens of a form, as `tokenize` cuts them; most are plain words, for which that takes too long."""
    return form.split() if form.replace(" ", "").isalpha() else [token.text for token in tokenize(form)]


def _grow(root: dict[str, Any], pieces: Iterable[str], leaf: tuple[Unit, str, bool]) -> None:
    words = list(pieces)
    # The point of "in." tells it from the word: only marks between two words are left out.
    ends = (0, len(words) - 1)
    path = [p for i, p in enumerate(words) if p not in JOINERS or i in ends or words[i + 1].isdecimal()]
    node = root
    for piece in path:
        node = node.setdefault(piece, {})
    node.setdefault(_UNIT, leaf)


def _walk(root: dict[str, Any], tokens: Sequence[Token], j: int, *, folded: bool) -> list[Match]:
    # A mark may be part of a form ("lb.") or stand between its words ("lb.-ft."): both ways are followed at once.
    nodes, matches = [root], []
    for k in range(j, min(len(tokens), j + LONGEST)):
        if tokens[k].kind == "number" and k > j and not glued(tokens[k - 1], tokens[k]) and tokens[k - 1].low != "per":
            break  # the "m2" of a square metre is written together: "12 m 2 dm" are two lengths
        piece = tokens[k].low if folded else tokens[k].text
        following = [node[piece] for node in nodes if piece in node]
        for node in following:
            leaf = node.get(_UNIT)
            if leaf is not None and _ends_word(tokens, k + 1):
                matches.append(Match(leaf[0], leaf[1], k + 1, leaf[2]))
        if piece in JOINERS and k > j:
            following += nodes
        if not following:
            break
        nodes = following
    return matches


def _ends_word(tokens: Sequence[Token], k: int) -> bool:
    """Whether no letter or digit is glued to the token before k: the "m" of "m2x" is no metre."""
    if k >= len(tokens) or not glued(tokens[k - 1], tokens[k]) or tokens[k].kind == "mark":
        return True
    if tokens[k - 1].text in LINE_ENDS:
        return True
    return tokens[k].kind == "number" and tokens[k - 1].kind == "mark"
