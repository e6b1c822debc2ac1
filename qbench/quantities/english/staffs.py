"""Numbers of the persons that a staff or a crowd has: "a staff of 62", "headcount fell to 700 from 900"."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.elided import is_compared
from qbench.quantities.english.lexicon import CHANGE_VERBS
from qbench.quantities.english.tokens import Token
from qbench.quantities.units import Unit, Units

PERSON = "person"


def persons(tokens: Sequence[Token], amount: Amount, before: Sequence[Amount], units: Units) -> Unit | None:
    """The unit of a bare number of persons, by the words before it; None where it is no such number.

    Args:
        tokens: of the text.
        amount: a number without a unit.
        before: the amounts before it, with their units.
        units: the known units.
    """
    after = tokens[amount.last] if amount.last < len(tokens) else None
    named = after is not None and after.kind == "word" and after.text[:1].isupper()  # "the staff of 3 Mobile"
    if named or amount.low < _FEWEST or not (amount.low.is_integer() and amount.high.is_integer()):
        return None
    if _is_of_staff(tokens, amount.first) or (before and _goes_on(tokens, before[-1], amount)):
        return units.get(PERSON)
    return None


def _is_of_staff(tokens: Sequence[Token], first: int) -> bool:
    """Whether a number at token `first` is how many a staff has, or by how many that changes."""
    k = first
    while k and tokens[k - 1].low in _BOUNDS:
        k -= 1
    linked = k > 1 and tokens[k - 1].low in _LINKS
    k -= linked
    if linked and k > 1 and tokens[k].low in ("to", "at", "by", "from") and tokens[k - 1].low in CHANGE_VERBS | _LEVELS:
        k -= 1
    while linked and k > 1 and tokens[k - 1].low in _BETWEEN:
        k -= 1
    noun = tokens[k - 1].low if k and (linked or k < first) else ""
    return noun in _STAFFS or (noun in _GROUPS and tokens[k].low == "of")


def _goes_on(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether b is told of the staff that a is of: "from 900 to 700", "517, against 498"."""
    if a.how[-1:] != (RULE,) or b.first < a.last:
        return False
    gap = [token.low for token in tokens[a.last : b.first]]
    return gap == ["to"] or is_compared(tokens, a, b, gap)


RULE = "noun of a staff"
"""The rule's name."""
_FEWEST = 2
_STAFFS = frozenset("staff workforce personnel headcount crew manpower".split())
_GROUPS = frozenset("crowd audience team squad".split())
"""What has so many persons where "of" says so: "a crowd of 20,000", not "the audience rose to 3.4"."""
_LEVELS = frozenset("was were is are stands stood totals totaled totalled numbers numbered numbering averaged".split())
_LINKS = CHANGE_VERBS | _LEVELS | frozenset(("of", "by", "to", "from", "at", ":"))
_BOUNDS = frozenset(
    "about around some nearly almost roughly over only just under above below approximately more fewer less than at "
    "least most up".split()
)
_BETWEEN = frozenset("on average now currently is was were has had have been be will would should to".split())
"""What may stand between a staff and the verb of its number."""
