"""How a query bounds a number in wordings of its own: negations, labels, one end of a range, limits behind a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from qbench.quantities.english.amounts import CALENDAR_YEAR
from qbench.quantities.english.comparator_phrases import after as phrase_after
from qbench.quantities.english.comparator_phrases import before as phrase_before
from qbench.quantities.english.comparator_phrases import comparative
from qbench.quantities.english.lexicon import FUNCTION_WORDS
from qbench.quantities.english.query_attributes import MEASURED
from qbench.quantities.english.query_conditions import BOUNDS, EDGES, ReadCondition
from qbench.quantities.english.query_names import BEFORE_MAX, PERIODS
from qbench.quantities.english.tokens import Token
from qbench.quantities.types import NEGATED, Comparator, Span

NEGATIONS = frozenset(
    tuple(phrase.split())
    for phrase in "not|other than|except|except for|excluding|different from|different than|different to|anything but|"
    "not equal to|not equals|not equal|not exactly|not of|not at|not with|unequal to|unlike|not =|! =|≠|< >|≠ to|isn't|"
    "outside|outside of|not within|not in the range of|not between|"
    "differs from|aren't|does not equal|any but|all but|apart from|besides|not counting|not including|"
    "leaving out|not in|not from|never|no".split("|")
)
"""Phrases before a plain number or a range that ask for any other value."""
LONGEST_NEGATION = 3
POINTERS = frozenset(
    "those these ones one anything any everything all items products the that which are is cost costs costing priced "
    "weighing with".split()
)
"""What may stand between a negation and a comparator that it turns round: "excluding those over $1000"."""
NOTHING = frozenset("nothing none nobody".split())
"""Words that turn the comparator after them round: "nothing over 20 kg"."""
LABELS: dict[str, Comparator] = {"min": ">=", "minimum": ">=", "max": "<=", "maximum": "<="}
"""Labels of a limit with the concept between it and the number: "a minimum battery of 4000 mAh", "max price $50"."""
TRAILING: dict[str, Comparator] = {**LABELS, "plus": ">="}
"""Labels after a whole amount: "battery life 8 h min", "long jump 7 metres plus"."""
LABEL_REACH = 4
SEVERE_REACH = 4
LIMITED = frozenset("price budget cost costs rent salary pay weight size age length distance width height".split())
"""What a searcher limits by "max price 50". Of other things the maximum is a property: "maximum load 150 kg"."""
SINCE = frozenset("ago away".split())
"""Words after "from 5 km" that make it no lower end."""
TIMED: dict[str, Comparator] = {"over": ">", "before": "<"}
"""Words before a length of time that bound it in queries: "babies born before 32 weeks"."""
LENT = frozenset("loan loans mortgage finance credit repay repayment borrow".split())
SEVERE = frozenset("pain grade stage toxicity severity symptom symptoms depression anxiety fatigue disability".split())
"""What is worse the higher it is: "pain score of 7 or worse"."""
APPARENT: dict[str, Comparator] = {"brighter": "<", "fainter": ">", "dimmer": ">"}
"""Comparatives of light with which magnitudes turn round: what is brighter than magnitude 6 has less."""
SIDES: dict[str, Comparator] = {"below": "<", "under": "<", "above": ">", "over": ">"}
BEFORE_TO = frozenset(
    "up close next due down add back compared equal prior according similar relative equivalent convert go went "
    "switch rise fall upgrade waterproof resistant proof rated accurate hardy charge charges charging collapsible "
    "foldable folds adjustable extends extending extendable expandable expands reclines".split()
)
"""Words before "to 5 kg" that make it no upper end."""
DATED = frozenset("after before since until till past prior pre post within sub".split())
"""Bounds of times, which no grade has: "before phase 3"."""


def bound_before(tokens: Sequence[Token], k: int) -> tuple[Comparator, int, tuple[str, ...]] | None:
    """What "stronger than" before a label at token k makes of its number, the bound's first token and its words."""
    phrase = phrase_before(tokens, k)
    if phrase is None or phrase[0] not in BOUNDS or phrase[2][-1] in DATED or phrase[2][-1] in LABELS:
        return None
    return cast("Comparator", phrase[0]), phrase[1], phrase[2]


def compared(tokens: Sequence[Token], condition: ReadCondition, family: str) -> ReadCondition:
    """Set the comparator from wording found only in queries: negations, labels, "from $500", "over 2 hours"."""
    first = condition.first
    lead = tokens[first - 1] if first else None
    if lead is not None and lead.low == "or" and _bounds_other(tokens, condition):
        used = tuple(span for span in condition.used if span[1] > condition.value_span[0])
        condition = replace(condition, comparator="=", plain=True, used=used)
    if condition.comparator == ">" and lead is not None and lead.text == "<":
        return replace(condition, comparator="!=", used=(*condition.used, (lead.start, lead.end)))  # "<> 5"
    if condition.comparator in NEGATED and (denied := _denied(tokens, first)) is not None:
        return replace(
            condition,
            comparator=cast("Comparator", NEGATED[condition.comparator]),
            used=(*condition.used, (tokens[denied].start, tokens[first].start)),
        )
    if condition.comparator == "<=" and tokens[condition.last - 1].low == "worse":
        if any(t.low in SEVERE for t in tokens[max(0, first - SEVERE_REACH) : first]):
            return replace(condition, comparator=">=")
    if condition.plain and (late := _late(tokens, condition)) is not None:
        return late
    if lead is None or not (condition.plain or condition.comparator == "between"):
        return condition
    negation = negation_before(tokens, first) or (negation_before(tokens, first - 1) if lead.low in EDGES else None)
    if negation is not None:
        return replace(
            condition, comparator="!=", plain=False, used=(*condition.used, (negation[0], tokens[first].start))
        )
    if not condition.plain:
        return condition
    if (label := _label(tokens, first)) is not None:
        return replace(condition, comparator=label, plain=False)
    if lead.low == "than" and (parted := _parted_comparative(tokens, condition)) is not None:
        return parted
    return _bounded(tokens, condition, family)


def _bounded(tokens: Sequence[Token], condition: ReadCondition, family: str) -> ReadCondition:
    """A plain amount with the bound that words farther off set: "above magnitude 6", "below freezing (32°F)"."""
    first, lead = condition.first, tokens[condition.first - 1]
    if lead.low in MEASURED and (phrase := bound_before(tokens, first - 1)) is not None:
        used = (*condition.used, (tokens[phrase[1]].start, tokens[first - 2].end))  # "above magnitude 6"
        bound = APPARENT.get(phrase[2][0], phrase[0]) if lead.low == "magnitude" else phrase[0]
        return replace(condition, comparator=bound, plain=False, used=used)
    if (bracketed := _below_bracket(tokens, first)) is not None:
        return replace(condition, comparator=bracketed, plain=False)
    if lead.low in TIMED and (lead.low == "over" or family in ("time", "age")) and not _is_lent(tokens, first - 1):
        bound, denied = TIMED[lead.low], _denied(tokens, first - 1)
        if denied is None:
            return replace(condition, comparator=bound, plain=False)
        used = (*condition.used, (tokens[denied].start, lead.end))  # "not over 8 hours"
        return replace(condition, comparator=cast("Comparator", NEGATED[bound]), plain=False, used=used)
    return _one_end(tokens, condition)


def _parted_comparative(tokens: Sequence[Token], condition: ReadCondition) -> ReadCondition | None:
    """What "a longer battery life than 20 hours" asks, where the thing stands within the comparison."""
    than = condition.first - 1
    for k in range(than - 1, max(-1, than - 1 - LABEL_REACH), -1):
        if tokens[k].kind != "word" or tokens[k].low in FUNCTION_WORDS - {"more", "less", "fewer"}:
            return None
        if (bound := comparative(tokens[k].low)) is not None:
            ends = ((each.start, each.end) for each in (tokens[k], tokens[than]))
            return replace(condition, comparator=bound, plain=False, used=(*condition.used, *ends))
    return None


def _is_lent(tokens: Sequence[Token], k: int) -> bool:
    """Whether "over" at token k says for how long money is lent: "loan 10000 over 5 years"."""
    money = k > 0 and (tokens[k - 1].kind == "number" or tokens[k - 1].low in ("k", "euros", "pounds", "mortgage"))
    return money and tokens[k].low == "over" and any(t.low in LENT for t in tokens[:k])


def _bounds_other(tokens: Sequence[Token], condition: ReadCondition) -> bool:
    """Whether an "or above" before a number is said of the word before it: "rating c or above 2 bed terrace"."""
    first = condition.first
    word = tokens[first - 2] if first > 1 else None
    stated = tokens[first].low in SIDES and first + 1 < len(tokens) and tokens[first + 1].kind == "number"
    if not stated or word is None or _ends_amount(tokens, first - 1):
        return False  # "over 1 kg or under 500 g"
    return word.kind == "word" and word.low not in ("at", "equal", "equals", "to", "on")


def _ends_amount(tokens: Sequence[Token], end: int) -> bool:
    """Whether a bounded number and its unit stand before a token: "over 120 km/h or"."""
    for k in range(end - 2, max(-1, end - 2 - _UNIT), -1):
        if tokens[k].kind == "number" and not tokens[k].text.isalpha():
            unit = tokens[k + 1 : end]
            rate = any(t.low in ("/", "per", "a", "an", "°", "square", "cubic") for t in unit)
            return (rate or sum(t.kind == "word" for t in unit) == 1) and bound_before(tokens, k) is not None
    return False


_UNIT = 4
"""Tokens of a unit at most."""


def _denied(tokens: Sequence[Token], first: int) -> int | None:
    """The first token of what turns the comparator at token `first` round: "excluding those", "nothing"."""
    if first and tokens[first - 1].low in NOTHING:
        return first - 1
    k = first
    while k and first - k < 4 and tokens[k - 1].low in POINTERS:
        k -= 1
    for length in range(min(LONGEST_NEGATION, k), 0, -1):
        if tuple(t.low for t in tokens[k - length : k]) in NEGATIONS | {("without",)}:
            return k - length
    return None


def _late(tokens: Sequence[Token], condition: ReadCondition) -> ReadCondition | None:
    """The comparator after the name of what there is so much of, "30 days of vacation or more"; "7 metres plus"."""
    k = condition.last
    if k < len(tokens) and tokens[k].low in TRAILING and (k + 1 == len(tokens) or _ends(tokens[k + 1])):
        used = (*condition.used, (tokens[k].start, tokens[k].end))
        return replace(condition, comparator=TRAILING[tokens[k].low], plain=False, used=used)
    paid = tokens[condition.last - 1].low in PERIODS  # "25 an hour or more"
    for k in range(condition.last + 1, min(condition.last + 3, len(tokens))):
        if tokens[k - 1].kind != "word" or tokens[k - 1].low in FUNCTION_WORDS | BEFORE_MAX:
            break
        if tokens[k].low in LABELS and k + 1 == len(tokens):  # "deposit 5 weeks rent max"
            used = (*condition.used, (tokens[k].start, tokens[k].end))
            return replace(condition, comparator=LABELS[tokens[k].low], plain=False, used=used)
    for k in range(condition.last + (not paid), min(condition.last + 4, len(tokens))):
        if tokens[k - 1].kind != "word":
            return None
        phrase = phrase_after(tokens, k)
        if phrase is not None and phrase[2][0] == "or":
            used = (*condition.used, (tokens[k].start, tokens[phrase[1] - 1].end))
            about = phrase[0] == "~"  # "$20 an hour or so"
            bound = "=" if about else phrase[0]
            return replace(condition, comparator=cast("Comparator", bound), plain=about, used=used)
    return None


def _ends(following: Token) -> bool:
    """Whether a mark after "max" leaves it to the amount before: not the "$" of "2 batteries max $300"."""
    return following.kind == "mark" and following.text not in "$€£¥"


def _below_bracket(tokens: Sequence[Token], first: int) -> Comparator | None:
    """What "below freezing (32°F)" or "above boiling point (100 °C)" makes of the number in the brackets."""
    if first < 3 or tokens[first - 1].text != "(" or tokens[first - 2].kind != "word":
        return None
    side = first - 4 if first > 3 and tokens[first - 2].low in ("point", "temperature") else first - 3
    return SIDES.get(tokens[side].low)


def _one_end(tokens: Sequence[Token], condition: ReadCondition) -> ReadCondition:
    """ "from 500 m2" is at least, "to $300" at most; "songs from 1999" are those of the year.

    The comparator stays open for the other end: "from 5 kg to 10 kg".
    """
    first = condition.first
    lead, before = tokens[first - 1], tokens[first - 2].low if first > 1 else ""
    after = tokens[condition.last].low if condition.last < len(tokens) else ""
    if condition.unit == CALENDAR_YEAR or after in SINCE:
        return condition
    if lead.low == "from":
        return replace(condition, comparator=">=", used=(*condition.used, (lead.start, lead.end)))
    amount = first > 2 and tokens[first - 3].kind == "number"  # "30 minutes to 80%"
    if (
        lead.low == "to"
        and condition.unit
        and condition.unit_span is not None
        and not amount
        and before not in BEFORE_TO
    ):
        return replace(condition, comparator="<=", used=(*condition.used, (lead.start, lead.end)))
    return condition


def negation_before(tokens: Sequence[Token], first: int) -> Span | None:
    """The characters of a negation that ends before a token."""
    for k in range(min(LONGEST_NEGATION, first), 0, -1):
        if tuple(t.low for t in tokens[first - k : first]) in NEGATIONS:
            return tokens[first - k].start, tokens[first - 1].end
    return None


def _label(tokens: Sequence[Token], first: int) -> Comparator | None:
    """What "a minimum battery of", "max. weight:" before a token makes of its number."""
    for k in range(first - 1, max(-1, first - 1 - LABEL_REACH), -1):
        token = tokens[k]
        paid = k > 1 and tokens[k - 2].text in "$€£"
        if token.low in LABELS and (k == 0 or tokens[k - 1].kind != "number" or paid or tokens[k + 1].low in LIMITED):
            asked = tokens[first - 1].text in ":=" or (k > 0 and tokens[k - 1].low in ("a", "an", "with"))
            return LABELS[token.low] if asked or any(t.low in LIMITED for t in tokens[k:first]) else None
        if token.kind == "number" or (token.kind == "mark" and token.text not in ":.="):
            return None
    return None
