"""Whether a query asks for a rise or a fall: "rent rise over 5%", but "climbs over 2000 m", "contract over 18"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qbench.quantities.english.change_words import MOVES, NOUNS_TOO, TURNS, directed
from qbench.quantities.english.comparator_phrases import LESS, MORE
from qbench.quantities.english.lexicon import CHANGE_NOUNS, CHANGE_VERBS, FUNCTION_WORDS
from qbench.quantities.english.query_conditions import DOSES, ReadCondition
from qbench.quantities.english.tokens import Token
from qbench.quantities.types import Change, Quantity, Span

CHANGES = directed("increase rise", "up") | directed("decrease reduction decline", "down")
"""Nouns of change before a bound, whatever the unit; others are things as well ("a drop over 100 m")."""
SHARES = directed("hike gain surge jump", "up") | directed("drop fall cut plunge slump", "down")
"""Nouns of change before a bound that is a percentage."""
FALLS = frozenset("drops falls slumps plunges surges jumps gains hikes".split())
"""Those that are said of a thing as verbs, too: "oil price drops 5%"."""
NAMED_BY = frozenset("high voltage pressure heel head cliff".split())
"""Words with which a noun of change names a thing or a measure."""
GROWS = frozenset(("grow", "grows", "growing"))
"""What living things do to their height."""
PARTS = frozenset(("percentage", "percentage point", "basis point"))
THINGS = frozenset(
    "tank climb dive slide mark lift balloon rocket rally crash dip spike leap retreat swell slip".split()
)
"""Words of change that name things: "fish tank over 100 l"."""


def change(tokens: Sequence[Token], first: int, last: int, quantity: Quantity) -> Change:
    """The change that a quantity of a query is the size of; "" where it asks for a level.

    Args:
        tokens: of the query.
        first, last: the quantity's token range with its unit and the words that bound it.
        quantity: as it was read.
    """
    if quantity.change:
        named = _is_dose(tokens, last, quantity) or _is_named(tokens, first, last, quantity)
        return "" if named else quantity.change
    bounded = quantity.comparator_span is not None and quantity.comparator_span[0] < quantity.value_span[0]
    if first < 2:
        return ""
    if opening := _opens(tokens, first):
        return opening
    what, noun = tokens[first - 2], tokens[first - 1].low
    if what.kind != "word" or what.low in FUNCTION_WORDS or what.low in NAMED_BY:
        return ""  # "high rise over 100 m", "voltage drop under 3%"
    if noun == "loss" and what.low == "weight" and quantity.unit not in DOSES:
        return "down" if bounded or quantity.family == "mass" else ""
    if noun == "loss" or (not bounded and noun not in FALLS):
        return ""
    noun = noun.removesuffix("s")
    return CHANGES.get(noun) or (SHARES.get(noun, "") if quantity.unit in PARTS else "")


def of_changes(tokens: Sequence[Token], conditions: Sequence[ReadCondition]) -> Iterator[Span]:
    """The words by which changes are asked for, and no others: documents say a change in many words.

    "Profit rose by over 5%" searches for profit. Nouns that may name what is asked for stay ("pay rise over 5%").
    """
    for condition in conditions:
        k = condition.first - 1
        while k > 0 and tokens[k].low in ("by", "of"):
            k -= 1
        if condition.change and k > 0 and tokens[k].low in MOVES and tokens[k].low not in NOUNS_TOO:
            yield tokens[k].start, tokens[k].end
        elif condition.change and tokens[0].low in CHANGES and tokens[1].low == "in":
            yield tokens[0].start, tokens[0].end


def _opens(tokens: Sequence[Token], first: int) -> Change:
    """The change of a query that begins with its noun: "increase in the cost of goods and of services of over 5%"."""
    of = any(token.low == "of" for token in tokens[first - 2 : first + 1])
    if not of or tokens[1].low != "in" or any(token.kind == "number" for token in tokens[:first]):
        return ""
    return CHANGES.get(tokens[0].low, "")


def _is_dose(tokens: Sequence[Token], last: int, quantity: Quantity) -> bool:
    """Whether what changes is not the amount before it: "statin 40 mg ldl reduction"."""
    if quantity.unit not in DOSES or last >= len(tokens) or tokens[last].kind != "word":
        return False
    return tokens[last].low not in CHANGE_NOUNS | CHANGE_VERBS | FUNCTION_WORDS


def _is_named(tokens: Sequence[Token], first: int, last: int, quantity: Quantity) -> bool:
    """Whether a word of change belongs to what is asked for, or to the next amount: "2 gb older than 30 days"."""
    if last + 1 < len(tokens) and tokens[last].low in NOUNS_TOO and tokens[last + 1].kind == "number":
        return True  # "shoes under 250 g drop 4 mm"
    if last + 1 < len(tokens) and tokens[last].low in MORE + LESS and tokens[last + 1].low in ("than", "then"):
        return True
    moves = [k for k, t in enumerate(tokens[:first]) if t.low in MOVES or t.low in TURNS]
    if not moves and quantity.family == "count" and last < len(tokens) and tokens[last].kind == "word":
        after = tokens[last].low  # "shredder 12 sheet cross cut"
        return after not in MOVES and after not in TURNS and after not in FUNCTION_WORDS
    if len(moves) != 1:
        return False
    word, following = tokens[moves[0]].low, tokens[moves[0] + 1].low
    noun = word.removesuffix("s")
    if tokens[max(0, moves[0] - 1)].low in NAMED_BY or (word in GROWS and quantity.family == "length"):
        return True  # "voltage drop no more than 3%", "plants that grow less than 1 m"
    opens = moves[0] == 0 and noun in NOUNS_TOO and word != noun and following != "of"
    return opens or noun == "contract" or (noun in THINGS and quantity.unit not in PARTS)
