"""Units as they stand in text: after a number, before it, and compounds of several."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.lexicon import FUNCTION_WORDS, VERBS
from qbench.quantities.numbers import Number
from qbench.quantities.tokens import Token, glued, tokenize
from qbench.quantities.units import Unit, Units, fold, singular

LONGEST_UNIT = 7
PER_WORDS = frozenset({"per", "a", "an", "each", "every"})
PER_ADJECTIVES = frozenset(["diluted", "basic", "common", "ordinary", "class", "average", "weighted"])
A_DENOMINATORS = frozenset(
    (
        "share barrel ounce pound ton tonne gallon bushel head person unit second minute hour day week month "
        "year night piece litre kilo kilogram mile"
    ).split()
)
RISKY_SYMBOLS = frozenset(
    ("t A C F K J N T p d b in bar cal ct pc ha mi mp min ms PS kn kt ly bp MP cf Cal l kb Kb Mb Gb L dl gr").split()
)
"""Symbols that also are words or letters: taken only glued to the number, or where nothing speaks against them."""
NEVER_SPACED = frozenset({"p", "d", "b", "T", "F", "C", "t", "bp", "pc", "ly", "in", "J"})


class UnitReader:
    """Finds the unit of a number among the tokens around it.

    Args:
        units: the known units.
    """

    def __init__(self, units: Units) -> None:
        self.units = units
        self._first_words = frozenset(
            tokens[0].low if tokens[0].kind == "word" else tokens[0].text
            for surface in units.surfaces()
            if (tokens := tokenize(surface))
        )

    def before(self, tokens: Sequence[Token], text: str, i: int) -> tuple[Unit, int] | None:
        """A currency sign or code before token i, and the token at which it starts."""
        for k in (5, 4, 3, 2, 1):  # "U.S.$" is five tokens
            if i - k < 0 or tokens[i].start - tokens[i - 1].end > 1:
                continue
            unit = self.units.preceding(text[tokens[i - k].start : tokens[i - 1].end])
            if unit is not None and not (i - k > 0 and _part_of_word(tokens, i - k)):
                return unit, i - k
        return None

    def after(
        self, tokens: Sequence[Token], text: str, number: Number
    ) -> tuple[Unit | None, int, tuple[int, int] | None]:
        """The unit after a number, the token after it, and its characters."""
        j = number.last
        if j < len(tokens) and tokens[j].text in "-‑" and glued(tokens[j - 1], tokens[j]):
            if j + 1 < len(tokens) and glued(tokens[j], tokens[j + 1]) and tokens[j + 1].kind != "number":
                j += 1
        if (found := self._match(tokens, text, j, number)) is not None:
            unit, last = found
            return unit, last, (tokens[j].start, tokens[last - 1].end)
        if (
            j < len(tokens)
            and tokens[j].text == '"'
            and glued(tokens[j - 1], tokens[j])
            and _no_quotation(text, tokens[j].start)
        ):
            return self.units.get("inch"), j + 1, (tokens[j].start, tokens[j].end)
        return None, number.last, None

    def _match(self, tokens: Sequence[Token], text: str, j: int, number: Number | None) -> tuple[Unit, int] | None:
        """The longest unit that starts at token j."""
        if j >= len(tokens) or (tokens[j].low not in self._first_words and tokens[j].text not in self._first_words):
            return None
        for k in range(min(LONGEST_UNIT, len(tokens) - j), 0, -1):
            last = j + k
            if last < len(tokens) and glued(tokens[last - 1], tokens[last]) and tokens[last].kind in ("word", "number"):
                if tokens[last - 1].kind == "word" or tokens[last].kind == "word":
                    continue
            surface = text[tokens[j].start : tokens[last - 1].end]
            if len(surface) > 40 or "\n" in surface:
                continue
            unit = self.units.symbol(surface)
            if unit is not None and number is not None and not self._symbol_fits(tokens, j, last, surface):
                unit = None
            if unit is None and k <= 5:
                unit = self.units.named(fold(surface))
                if unit is not None and unit.family == "time" and surface[0].isupper() and not surface.isupper():
                    unit = None  # "19.5 mln Year Shr": the heading of the next column
            if unit is not None:
                return unit, last
        return None

    def _symbol_fits(self, tokens: Sequence[Token], j: int, last: int, surface: str) -> bool:
        if glued(tokens[j - 1], tokens[j]):
            return surface != "A" or not _section_name(tokens, j)
        if surface in NEVER_SPACED:
            return False
        if surface not in RISKY_SYMBOLS:
            return True
        following = tokens[last] if last < len(tokens) else None
        return following is None or (
            not (following.kind == "word" and following.text[:1].isupper()) and following.text != "."
        )

    def compound(
        self, tokens: Sequence[Token], text: str, unit: Unit, last: int, span: tuple[int, int] | None
    ) -> tuple[Unit, int, tuple[int, int] | None]:
        """Denominators after a unit: "cents per diluted share", "mg/kg/day", "dlrs a barrel", "hours a week"."""
        for _ in range(3):
            below = self._denominator(tokens, text, last, unit)
            if below is None:
                break
            name, end = below
            span = (span[0] if span and span[1] <= tokens[end - 1].end else tokens[last].start, tokens[end - 1].end)
            if span[0] > tokens[last].start:
                span = (tokens[last].start, tokens[end - 1].end)
            unit, last = self.units.get(f"{unit.name} per {name}"), end
        return unit, last, span

    def _denominator(self, tokens: Sequence[Token], text: str, j: int, unit: Unit) -> tuple[str, int] | None:
        if j + 1 >= len(tokens):
            return None
        sign = tokens[j].low
        slash = sign == "/" and glued(tokens[j], tokens[j + 1])
        if not slash and sign not in PER_WORDS:
            return None
        k = j + 1
        while k < len(tokens) - 1 and tokens[k].low in PER_ADJECTIVES:
            k += 1
        found = self._match(tokens, text, k, None)
        name, end = (found[0].name, found[1]) if found else (singular(tokens[k].low), k + 1)
        if found is None and (tokens[k].kind != "word" or tokens[k].low in FUNCTION_WORDS | VERBS):
            return None
        if sign in ("a", "an", "each", "every") and name not in A_DENOMINATORS:
            return None
        # Only a bare noun may follow "/" where both sides are words ("men/women" is no rate).
        if slash and found is None and unit.family == "count":
            return None
        return name, end


def _section_name(tokens: Sequence[Token], j: int) -> bool:
    """Whether "409A" names a section: a capitalised word stands beside it."""
    beside = [tokens[k] for k in (j - 2, j + 1) if 0 <= k < len(tokens)]
    return any(t.kind == "word" and t.text[:1].isupper() for t in beside)


def _no_quotation(text: str, at: int) -> bool:
    """Whether a double quote at `at` closes no quotation (looked for nearby, so that cost stays linear)."""
    return text.count('"', max(0, at - 300), at) % 2 == 0


def _part_of_word(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k continues a word: the "$" of "US$" is no dollar sign of its own, the "M" of "FARM 5" no code."""
    return glued(tokens[k - 1], tokens[k]) and tokens[k - 1].kind == "word" and tokens[k].kind == "word"
