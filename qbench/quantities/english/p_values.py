"""P-values: "p = 0.03", "P<.001", "a p-value of 0.2", "p for trend < 0.05": bare numbers whose concept is p.

They are properties of a test, not of what was tested, so an extractor can leave them out
(`ExtractorOptions.p_values`).
"""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import HYPHENS, Token

P_VALUE = "p-value"
"""The rule's name in `Amount.how`."""
_SIGNS = frozenset("= < > ≤ ≥ ≦ ≧ ⩽ ⩾ ∼ ~ ≈".split())
_NAMES = frozenset({"p", "ps"})
_VALUES = frozenset("value values val".split())
_LINKS = frozenset("of was were is are : at below above under over than less greater equal to about only".split())
"""Words that may stand between "p value" and its number, where no sign does."""
_PRESSURES = frozenset("bar mbar Pa hPa kPa MPa GPa atm psi Torr torr mmHg".split())
_LONGEST = 6
"""Tokens between the p and its number at most."""


def p_value_name(tokens: Sequence[Token], number: Number) -> tuple[int, ...]:
    """The tokens that name a p-value before its number, "p" or "p value"; none if the number is no p-value."""
    k, stop = number.first - 1, max(0, number.first - 1 - _LONGEST)
    if k < 0 or number.written or number.scaled or not 0 <= number.value <= 1:
        return ()
    if number.last < len(tokens) and tokens[number.last].text in _PRESSURES:
        return ()
    signed = False
    while k > stop and (tokens[k].text in _SIGNS or tokens[k].low in _LINKS):
        signed = signed or tokens[k].text in _SIGNS
        k -= 1
    if signed and k > stop + 1 and tokens[k - 1].low == "for" and tokens[k].kind == "word":
        k -= 2  # "p for trend < 0.05"
    if tokens[k].low in _VALUES and k:
        name = k - 2 if k > 1 and tokens[k - 1].text in HYPHENS else k - 1
        return (name, k) if tokens[name].low in _NAMES else ()
    return (k,) if signed and tokens[k].low in _NAMES else ()
