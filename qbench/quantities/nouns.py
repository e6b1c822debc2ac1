"""Counted nouns: what a number without a unit counts ("1,200 employees", "four FA Cup finals", "one solution")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.amounts import Amount
from qbench.quantities.lexicon import FUNCTION_WORDS, VERBS
from qbench.quantities.numbers import Number
from qbench.quantities.parse import Parse
from qbench.quantities.tokens import Token, glued
from qbench.quantities.units import Units, singular

Found = tuple[str, int, tuple[int, int]]
"""Canonical name, the token after the noun, characters."""


def count_nouns(tokens: Sequence[Token], amounts: Sequence[Amount], units: Units, parse: Parse | None) -> list[Amount]:
    """The amounts, bare ones with the noun that they count; without those that count nothing ("one of them")."""
    kept = []
    for amount in amounts:
        if amount.bare or (amount.year and _announced(tokens, amount.first)):
            found = _by_words(tokens, amount.number)
            if found is not None:
                name, last, span = found
                how = (*amount.how, "noun unit")
                amount = replace(amount, unit=units.get(name), last=last, unit_span=span, how=how)
            elif amount.bare and _says_nothing(tokens, amount.number):
                continue
        kept.append(amount)
    return kept


def _announced(tokens: Sequence[Token], first: int) -> bool:
    """Whether a word before a year-like number makes it a year whatever follows: "the 2019 plans"."""
    return not (first and tokens[first - 1].low in ("the", "fiscal", "its", "our"))


def _says_nothing(tokens: Sequence[Token], number: Number) -> bool:
    """A "one" or "half" that counts nothing."""
    single = number.last - number.first == 1 and tokens[number.first].low == "half"
    return number.written and (number.value == 1 or single)


def _by_words(tokens: Sequence[Token], number: Number) -> Found | None:
    j = number.last
    if j < len(tokens) and tokens[j].text == "+" and glued(tokens[j - 1], tokens[j]):
        j += 1
    elif j < len(tokens) and glued(tokens[j - 1], tokens[j]) and tokens[j].kind == "word":
        return None
    words, k = 0, j
    while k < len(tokens) and words < 3:
        token = tokens[k]
        if token.text == "-" and words and k + 1 < len(tokens) and glued(token, tokens[k + 1]):
            k += 1
            continue
        if token.kind != "word" or not token.text.islower() or token.low in FUNCTION_WORDS:
            break
        if _is_plural(token.low):
            return singular(token.low), k + 1, (token.start, token.end)
        if token.low in VERBS:
            break
        words, k = words + (tokens[k - 1].text != "-"), k + 1
    return None


def _is_plural(word: str) -> bool:
    if word in ("people", "men", "women", "children"):
        return True
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "as")) and word not in VERBS
