"""A "one" that does not say how many: "one or more jurisdictions", "at one time", "one dealer said", "$39 one way"."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import Token


def unsaid_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number is a "one" that only stands for some one; None if it may count."""
    first, last = number.first, number.last
    if not number.written or number.value != 1 or last - first != 1 or tokens[first].low != "one":
        return None
    ahead = [t.low for t in tokens[last : last + 2]]
    if ahead in (["or", "more"], ["or", "several"]):
        return last + 2
    said = [t.low for t in tokens[last + 1 : last + 3]]
    if first + 1 < len(tokens) and not _SPEAKING.isdisjoint(said) and tokens[last].low not in ("of", "in"):
        return last + 1
    if ahead[:1] == ["way"] and any(t.kind == "number" for t in tokens[max(0, first - _FARE) : first]):
        return last + 1
    times = ahead[:1] == ["time"] and (first == 0 or tokens[first - 1].low in ("at", ".", "i", "(", ","))
    return last + 1 if times else None


_FARE = 3
"""Tokens from the number of a fare or a distance to its "one way" at most."""
_SPEAKING = frozenset("said says added adds noted told commented explained remarked".split())
"""What "one dealer" and "one local trader" do without being counted."""
