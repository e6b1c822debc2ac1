"""What the words around an amount say of it: how they bound its value, and whether it is a change up or down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qbench.quantities.amounts import Amount
from qbench.quantities.lexicon import BOUNDS_AFTER, BOUNDS_BEFORE, DATE_ONLY_BOUNDS
from qbench.quantities.parse import Parse
from qbench.quantities.tokens import Token, glued
from qbench.quantities.types import Bound, Change


class Reading(NamedTuple):
    """How an amount is bounded and what it changes.

    Attributes:
        bound: of the value.
        change: "up" or "down" where the amount is the size of a change, else "".
        first, last: token range of the mention with the words that bound it.
    """

    bound: Bound
    change: Change
    first: int
    last: int


def read_bounds(tokens: Sequence[Token], amounts: Sequence[Amount], parse: Parse | None) -> list[Reading]:
    """One reading for each amount, in order."""
    return [Reading(kind, "", first, last) for kind, first, last in (_bound(tokens, a) for a in amounts)]


def _bound(tokens: Sequence[Token], amount: Amount) -> tuple[Bound, int, int]:
    """How the words around an amount bound it; and the token range with those words."""
    if amount.is_range:
        return "between", amount.first, amount.last
    is_date = amount.unit.family == "date"
    end = first = amount.first
    while end and tokens[end - 1].low in ("a", "the", "year", "just", "only", "is", "an") and is_date:
        end -= 1
    for k in (4, 3, 2, 1):
        if end - k < 0:
            continue
        phrase = tuple(t.low for t in tokens[end - k : end])
        kind = BOUNDS_BEFORE.get(phrase)
        if kind is not None and (is_date or phrase not in DATE_ONLY_BOUNDS):
            return kind, end - k, amount.last  # type: ignore[return-value]
    plus = amount.number.last
    if plus < len(tokens) and tokens[plus].text == "+" and glued(tokens[plus - 1], tokens[plus]):
        return ">=", first, max(plus + 1, amount.last)
    for k in (2, 1):
        phrase = tuple(t.low for t in tokens[amount.last : amount.last + k])
        kind = BOUNDS_AFTER.get(phrase)
        if kind is not None and len(phrase) == k and not _bounds_next(tokens, amount.last, k):
            return kind, first, amount.last + k  # type: ignore[return-value]
    return "=", first, amount.last


def _bounds_next(tokens: Sequence[Token], last: int, k: int) -> bool:
    """Whether a phrase bounds the number after it instead: "1.4 kg and above 250 GB"."""
    return last + k < len(tokens) and (tokens[last + k].kind == "number" or tokens[last + k].text in "$€£¥")
