"""Whether a number of a query counts the noun after it: "novels under 300 pages", but "flat under 900 bills included".

A reader of documents takes a plural noun after a number for what is counted. In a query, another property of what is
asked for may stand there: the number is a price, or the value of the measure before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from qbench.quantities.english.ages import PEOPLE
from qbench.quantities.english.inflection import singular
from qbench.quantities.english.lexicon import FUNCTION_WORDS, LABELS, VERBS
from qbench.quantities.english.query_attributes import CAPACITIES, SCALES, UNCOUNTED, families, has_family
from qbench.quantities.english.query_names import NAMES
from qbench.quantities.english.tokens import Token, glued
from qbench.quantities.types import Quantity

MARKS = frozenset("point star mark out unit".split())
"""What the amount of a measure may be counted in: "rating over 4 stars"."""
GUESTS = frozenset("guest person people place seat cover".split())
"""What "sleeps" and "serves" may count."""
LIMITS = frozenset("under below max maximum < ≤ to than within".split())
"""Last words of the upper bounds that prices have: "under", "up to", "less than", "cheaper than"."""
LEADS_TO_ONE = frozenset("with and only just max maximum least most than".split())
"""What stands before a 1 that counts the noun after it."""
DEAREST = 1e6
"""From here on, a number before a word of money is money: nobody counts assets."""
MOST = 100
"""So many may be counted by a singular noun."""
COUNTERS = frozenset(
    "pack piece person people man seater bed bath bedroom door port core pair sheet roll set way speed drawer shelf "
    "tier burner slice bay berth row stage zone channel gang pin blade ply gauge".split()
)
"""What shops glue to a number of it: "4person tent", "24pack", "3bed flat"."""
AGED = frozenset("men women males females ladies gentlemen adults seniors".split())
MIDDLE_AGES = (40, 100, 5)
"""Who is told by an age with a plus, and the ages: "vitamins 50+ women"."""
OFFERED = frozenset("ok okay welcome free friendly only".split())
"""What is said, besides participles, of something that comes along: "pets welcome"."""


def counts_nothing(tokens: Sequence[Token], starts: Sequence[int], first: int, quantity: Quantity) -> bool:
    """Whether a number does not count the noun that it was read with.

    Args:
        tokens: of the query.
        starts: the first character of each token.
        first: the first token of the quantity, the words that bound it included.
        quantity: as it was read, of family "count".
    """
    if not first or quantity.unit_span is None or quantity.unit == "count":
        return False
    lead, begin = _word_before(tokens, first), bisect_left(starts, quantity.unit_span[0])
    end = bisect_left(starts, quantity.unit_span[1])
    noun = tokens[end - 1].low
    if noun.removesuffix("s") in MARKS:
        return False
    if noun in ("max", "min"):
        return True  # "set of four max 320 pounds"
    if quantity.value >= DEAREST and has_family(families(noun) or frozenset(), "currency"):
        return True  # "funds with 1bn assets"
    if noun in AGED and tokens[begin - 1].text == "+" and quantity.value in range(*MIDDLE_AGES):
        return True  # "multivitamin 50+ men"
    if quantity.comparator == "between" and lead in ("between", "from"):
        lead = _word_before(tokens, first - 1)
    if lead in CAPACITIES:
        return noun not in PEOPLE and noun.removesuffix("s") not in GUESTS  # "sleeps 8 dogs allowed"
    if quantity.comparator == "=":
        return lead in UNCOUNTED  # "spf 50 kids"
    if lead in SCALES:
        return True  # "beta under 0.8 utilities"
    bound = quantity.comparator_span
    if bound is None or bound[1] > quantity.value_span[0] or quantity.comparator not in ("<", "<="):
        return False
    limit = tokens[bisect_left(starts, bound[1]) - 1].low
    if limit not in LIMITS or tokens[first].low == "fewer" or lead in FUNCTION_WORDS or lead in VERBS:
        return False
    after = tokens[end].low if end < len(tokens) else ""
    apart = begin > bisect_left(starts, quantity.value_span[1])
    return apart or after in OFFERED or (after.endswith("ed") and len(after) > 4)


def counts_between(tokens: Sequence[Token], last: int, quantity: Quantity) -> Token | None:
    """The singular noun that a plain whole number counts, as another amount follows it: "tent 3 season 2 person".

    Args:
        tokens: of the query.
        last: the token after the number.
        quantity: as it was read, without a unit.
    """
    if quantity.value == 1 and quantity.high == 1:
        return _counted_once(tokens, last)
    if quantity.comparator != "=" or not 1 < quantity.value <= MOST or not quantity.value.is_integer():
        return None
    if [t.kind for t in tokens[last : last + 3]] != ["word", "number", "word"]:
        return None
    noun = tokens[last]
    lead = tokens[last - 2] if last > 1 else None
    named = lead is None or lead.kind != "word" or lead.low in NAMES or lead.low in SCALES or lead.low in LABELS
    return noun if _is_single(tokens, last) and not named else None


def _counted_once(tokens: Sequence[Token], last: int) -> Token | None:
    """The noun of "max 1 stop", "with 1 owner", "less than 1 gram", where words before the number lead to a count."""
    lead = tokens[last - 2].low if last > 1 else ""
    return tokens[last] if lead in LEADS_TO_ONE and last < len(tokens) and _is_single(tokens, last) else None


def _is_single(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k, behind a number, is a noun in the singular that may be counted."""
    noun = tokens[k]
    apart = not glued(tokens[k - 1], noun) and not (k + 1 < len(tokens) and glued(noun, tokens[k + 1]))
    known = noun.low in SCALES or noun.low in FUNCTION_WORDS or noun.low in VERBS or families(noun.low) is not None
    plain = apart and noun.kind == "word" and noun.text.islower() and len(noun.low) > 2
    return plain and not known and singular(noun.low) == noun.low


def glued_count(tokens: Sequence[Token], k: int) -> str | None:
    """The singular noun that a whole number at token k is glued to; None if there is none that shops count."""
    if not tokens[k].text.isdecimal() or k + 1 >= len(tokens) or not glued(tokens[k], tokens[k + 1]):
        return None
    if (k and glued(tokens[k - 1], tokens[k])) or (k + 2 < len(tokens) and glued(tokens[k + 1], tokens[k + 2])):
        return None
    noun = singular(tokens[k + 1].low)
    return noun if noun in COUNTERS else None


def _word_before(tokens: Sequence[Token], first: int) -> str:
    """The whole word before a token, digits included: "hba1c"."""
    k = first - 1
    while k and glued(tokens[k - 1], tokens[k]):
        k -= 1
    return "".join(t.low for t in tokens[k:first])
