"""Numbers that are ages, by the words around: "aged 26", "Marta Ruiz, 65,", "age >= 18 years", "65 years or older".

An age is written with a unit of time as often as with "years old", and bare: all get one of the units of age, which
compare with each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.comparator_phrases import before as bound_before
from qbench.quantities.english.dates import is_month
from qbench.quantities.english.lexicon import FUNCTION_WORDS, VERBS, WEEKDAYS
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import HYPHENS, Token, glued
from qbench.quantities.english.written import NUMERALS

OLDEST = 120
_BRIDGE = frozenset(
    "of is was were are be no not under over above below than less more greater older younger between and from to "
    "least most at about approximately equal mean median average range ranged ranging group groups sd years year "
    "months month weeks week days day : = ( [ ≥ ≤ > < ± + / - – — −".split()
)
"""Words and marks between "age" and its number, beside other numbers."""
_BRIDGE_LENGTH = 10
PEOPLE = frozenset(
    "people persons adults children kids men women boys girls patients those anyone everyone someone anybody everybody "
    "individuals voters residents workers seniors citizens americans males females students employees participants "
    "subjects players drivers drinkers smokers singles infants babies toddlers newborns teenagers girl boy woman man "
    "child volunteers females adolescents persons respondents pupils youths outpatients inpatients".split()
)
"""Whom a bare number after "over" or before "and over" gives the age of."""
_BEFORE_COHORTS = frozenset("the for among of all many most".split())
_MIDDLE_AGED = 40
"""From here on, "over 70s" are people."""
_SIDES = frozenset("over under above below aged".split())
_NO_NAMES = WEEKDAYS | {"however", "first", "second"}


def is_age(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a number without a unit is an age."""
    if number.scaled or not 0 <= number.value < OLDEST:
        return False
    if _asked_for(tokens, number.first) or _compared(tokens, number) or _after_name(tokens, number):
        return True
    return _turned(tokens, number) or _older_than(tokens, number.first)


def is_time_of_life(tokens: Sequence[Token], number: Number, last: int) -> bool:
    """Whether an amount of time is an age: "aged 65 years", "65 years or older", "children under 5 years".

    Args:
        tokens: of the text.
        number: the amount's number.
        last: the token after its unit.
    """
    first = number.first
    after = [t.low for t in tokens[last : last + 2]]
    if after[:1] == ["olds"] or (len(after) == 2 and after[0] in HYPHENS and after[1] == "olds"):
        return True  # "5 to 7 year olds"
    if after[:1] and (after[0] in _AFTER_TIME or (after[0] == "of" and after[1:] not in (["age"], ["life"]))):
        return False  # "women at least 30 weeks of pregnancy"
    if len(after) == 2 and after[0] in ("or", "and") and after[1] in ("older", "younger", "over"):
        return True
    if _asked_for(tokens, first) or _older_than(tokens, first):
        return True
    return _of_people(tokens, first) or _in_brackets(tokens, first, last)


_AFTER_TIME = frozenset(
    "ago after before later earlier from since prior experience more longer gestation pregnant".split()
)
"""Words after an amount of time with which it is no age."""
_SIGNS = frozenset("≥ ≤ > < >= <= =".split())
_THINGS = frozenset(
    "cheese whisky whiskey rum wine wines beef steak cask casks barrel barrels oak bourbon brandy tequila port "
    "receivable receivables invoice invoices balance balances loan loans debt debts".split()
)
"""What is aged for some time, and has no age in years of life."""


def of_cohort(tokens: Sequence[Token], number: Number) -> bool:
    """Whether a number and the "s" glued to it name people by their age: "the under-5s", "over 65s"."""
    first, last = number.first, number.last
    if number.scaled or number.written or not 0 < number.value < OLDEST or last >= len(tokens):
        return False
    if tokens[last].text not in ("s", "'s", "’s") or not glued(tokens[last - 1], tokens[last]):
        return False
    k = first - 1
    joined = k > 0 and tokens[k].text in HYPHENS and glued(tokens[k], tokens[first])
    k -= joined
    if k < 0 or tokens[k].low not in ("under", "over"):
        return False
    if tokens[k].low == "over" and number.value >= _MIDDLE_AGED and number.value % 5 == 0:
        return True
    return joined or not k or tokens[k - 1].low in _BEFORE_COHORTS  # "in under 10s" is less than ten seconds


def _asked_for(tokens: Sequence[Token], first: int) -> bool:
    """ "aged 26", "an age of 26", "mean age was 45 ± 3", "ranging in age from 19 to 64": a word of age before."""
    k, stop = first - 1, max(-1, first - 1 - _BRIDGE_LENGTH)
    while k > stop and (bridged := _bridged(tokens, k)):
        k -= bridged
    if k > 1 and tokens[k].text == "," and k + 1 == first and tokens[k - 2].low in ("mean", "median", "average"):
        k -= 1  # "median age, 54 years"
    if k < 0 or tokens[k].low not in ("age", "aged", "ages"):
        return False
    if k and tokens[k - 1].low in ("gestational", "menstrual"):
        return False
    return _THINGS.isdisjoint(t.low for t in tokens[max(0, k - 4) : k])


def _bridged(tokens: Sequence[Token], k: int) -> int:
    """How many tokens up to k may stand between "age" and its number: a bound, whose age it is, one of `_BRIDGE`."""
    bound = bound_before(tokens, k + 1)
    if bound is not None and bound[2][0] not in _TIMES:
        return k + 1 - bound[1]
    if tokens[k].low in PEOPLE and k and tokens[k - 1].low in _OF_WHOM:
        return 2  # "age of participants above 60"
    return int(tokens[k].low in _BRIDGE or tokens[k].kind == "number" or tokens[k].low in NUMERALS)


_OF_WHOM = frozenset("of the all these those our".split())
_TIMES = frozenset("after before since past post pre prior until till within".split())
"""First words of bounds on a point in time or a length of it."""


def _older_than(tokens: Sequence[Token], first: int) -> bool:
    """ "older than 65", "younger than about 5 years"."""
    words = [t.low for t in tokens[max(0, first - 3) : first]]
    return words[-2:] in (["older", "than"], ["younger", "than"])


def _of_people(tokens: Sequence[Token], first: int) -> bool:
    """ "patients ≥ 65 years", "children under 5 years": people, and how old they are at most or at least."""
    k = first - 1
    while k > 0 and tokens[k].text in _SIGNS:
        k -= 1
    if k < first - 1:
        return tokens[k].low in PEOPLE
    return k > 0 and tokens[k].low in ("under", "below", "aged") and tokens[k - 1].low in PEOPLE


def _in_brackets(tokens: Sequence[Token], first: int, last: int) -> bool:
    """ "twenty women (30.3 ± 2.0 years)", "122 children (7–12 years)": nothing but the age stands in brackets."""
    if last >= len(tokens) or tokens[last].text not in ")];,":
        return False
    k, several = first - 1, False
    while k > max(0, first - 6) and (tokens[k].kind == "number" or tokens[k].low in _SPREAD):
        several, k = several or tokens[k].low in _SPREAD, k - 1
    return several and k > 0 and tokens[k].text in "([" and tokens[k - 1].low in PEOPLE


_SPREAD = frozenset("± - – to +/- aged age mean median".split())


def _turned(tokens: Sequence[Token], number: Number) -> bool:
    """ "when you turn 21", "she turned 40 in May"."""
    first, last = number.first, number.last
    if not first or tokens[first - 1].low not in ("turn", "turns", "turned", "turning") or number.value < 1:
        return False
    after = tokens[last] if last < len(tokens) else None
    if after is None:
        return True
    return (after.text in ".,;:!?)" or after.low in FUNCTION_WORDS) and after.low not in ("to", "per")


def _compared(tokens: Sequence[Token], number: Number) -> bool:
    """ "60 or older", "65 and younger", "adults 65 and over", "people over 40 who"."""
    first, last = number.first, number.last
    before = tokens[first - 1].low if first else ""
    words = [t.low for t in tokens[last : last + 2]]
    if len(words) == 2 and words[0] in ("or", "and"):
        if words[1] in ("older", "younger"):
            return last + 2 >= len(tokens) or tokens[last + 2].low != "than"
        if words[1] in ("over", "under", "above", "up", "below") and before in PEOPLE:
            return True
    if before not in _SIDES or first < 2 or tokens[first - 2].low not in PEOPLE:
        return False
    if tokens[first - 2].low in _YOUNG and number.value > _GROWN:
        return False  # "family ticket 2 adults 2 children under 50"
    return _stands_alone(tokens, last)


_YOUNG = frozenset("child children kids infants babies toddlers newborns teenagers pupils youths".split())
_GROWN = 25


def _stands_alone(tokens: Sequence[Token], last: int) -> bool:
    """Whether nothing follows that a number may count: "people over 40 who", not "employees under 40 contracts"."""
    after = tokens[last] if last < len(tokens) else None
    return after is None or after.kind == "mark" or after.low in FUNCTION_WORDS or after.low in VERBS


def _after_name(tokens: Sequence[Token], number: Number) -> bool:
    """A number between commas after a name or a person: "Marta Ruiz, 65, now runs it", "the striker, 27, scored"."""
    first, last = number.first, number.last
    if number.written or first < 2 or last + 1 >= len(tokens) or number.value < 1:
        return False
    name, following = tokens[first - 2], tokens[last + 1]
    if tokens[first - 1].text != "," or tokens[last].text not in ",." or not tokens[first].text.isdecimal():
        return False
    person = name.low in _PEOPLE and number.value >= _SCHOOL_AGE
    if name.kind != "word" or not (name.text.istitle() or person) or len(name.text) < 2 or is_month(name):
        return False
    if name.low in FUNCTION_WORDS or name.low in VERBS or name.low in _NO_NAMES:
        return False
    return tokens[last].text == "," and following.kind == "word" and not is_month(following)


_PEOPLE = frozenset(
    "man woman boy girl student pupil teacher nurse doctor surgeon lawyer judge officer soldier sailor pilot driver "
    "farmer fisherman miner worker builder carpenter engineer scientist professor author writer poet journalist "
    "reporter editor painter artist actor actress singer musician guitarist drummer dancer director producer designer "
    "striker midfielder winger defender goalkeeper forward captain player coach golfer swimmer runner cyclist boxer "
    "wrestler skier jockey champion chef baker waiter waitress owner founder chairman chairwoman president manager "
    "executive banker broker trader lawmaker politician senator minister mayor governor activist priest widow widower "
    "mother father grandmother grandfather son daughter brother sister wife husband suspect victim defendant patient "
    "resident native veteran comedian".split()
)
"""Whose age may follow between commas: "the striker, 27, has scored"."""
_SCHOOL_AGE = 6
