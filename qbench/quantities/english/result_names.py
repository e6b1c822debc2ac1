"""Names of results that say what is left out of them: "profit before tax", "loss after financial items"."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.lexicon import FUNCTION_WORDS
from qbench.quantities.english.tokens import HYPHENS, Token


def left_out_of(tokens: Sequence[Token], k: int) -> range:
    """The tokens of the "before tax" behind the result at token k, of its name; empty for none."""
    first = k + 1
    if first < len(tokens) and tokens[first].text == "(":  # "income (loss) before taxes"
        first = next((j + 1 for j in range(first, min(len(tokens), k + _REACH)) if tokens[j].text == ")"), first)
    if first >= len(tokens) or tokens[k].low not in _RESULTS or tokens[first].low not in _LEAVING_OUT:
        return range(0)
    for end in range(first + 1, min(len(tokens), first + _REACH)):
        if tokens[end].low in _LEFT_OUT:
            return range(first, end + 1)
        if tokens[end].low in FUNCTION_WORDS or not (tokens[end].kind == "word" or tokens[end].text in HYPHENS):
            break
    return range(0)


_LEAVING_OUT = frozenset("before after excluding".split())
_RESULTS = frozenset(
    "profit profits loss losses income earnings result results margin sales revenue revenues expenditure expenditures "
    "expenses costs ebit ebitda eps flow".split()
)
_LEFT_OUT = frozenset(
    "tax taxes vat interest items item depreciation amortization amortisation depletion acquisitions minorities "
    "interests charges gains".split()
)
"""What the names of results say is left out, or is not any more."""
_REACH = 5
"""Tokens from "before" to what is left out at most: "before certain non-recurring items"."""
