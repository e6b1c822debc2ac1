"""What the words around an amount say of it: how they bound its value, and whether it is a change up or down."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.change_words import MOVES, TURNS
from qbench.quantities.english.changes import read_changes
from qbench.quantities.english.comparator_phrases import (
    DATE_ONLY,
    DEGREES,
    LESS,
    MORE,
    NEGATIONS,
    RISES_TO,
    SWIFT,
    Phrase,
    after,
    before,
    chained,
)
from qbench.quantities.english.comparator_sharing import is_listed, of_other_group, of_other_year, restates, spans_ages
from qbench.quantities.english.denials import excludes, is_denied_verb
from qbench.quantities.english.lexicon import CHANGE_VERBS, FUNCTION_WORDS, MONTHS, VERBS, WEEKDAYS
from qbench.quantities.english.limits import DURATION_LEADS, MARKS, is_agreed, is_capped, stands_under
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token, glued
from qbench.quantities.english.written import NUMERALS
from qbench.quantities.types import NEGATED, Change, MentionComparator

ARTICLES = frozenset(
    "a an another further additional extra average of total full combined us the aggregate principal amount sum".split()
)
"""Words that may stand between a phrase and its number: "more than a 5% rise", "at least another 5 kg"."""
DATE_WORDS = frozenset("a an the year years just only is of".split())
PERIODS = frozenset("the a last past previous prior preceding next first following coming same".split())
"""Words that may stand between "within" and its number."""
BRIDGES = frozenset(
    "be been have any being weigh cost take last measure pay earn spend contain "
    "requiring needing costing weighing taking lasting paying having".split()
)
"""Words that may stand between a negation and a phrase: "should not be more than 5"."""
TELLING = frozenset(
    "film films movie movies story stories book books novel novels tale tales documentary comedy drama series article "
    "articles question questions talk talks song songs news report reports joke jokes all".split()
)
"""What is "about" two boys without being roughly two of them."""
_MIRRORED: dict[MentionComparator, MentionComparator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


class Modifiers(NamedTuple):
    """How an amount is bounded and what it changes.

    Attributes:
        comparator: of the value.
        change: "up" or "down" where the amount is the size of a change, else "". The level that a change leads to
            ("rose 5% to $3") is no change.
        first, last: token range of the mention with the words that bound it.
    """

    comparator: MentionComparator
    change: Change
    first: int
    last: int


def read_comparators(tokens: Sequence[Token], amounts: Sequence[Amount], parse: Parse | None) -> list[Modifiers]:
    """One reading for each amount, in order."""
    comparators = [_comparator(tokens, amount) for amount in amounts]
    lead: int | None = None
    for k in range(1, len(amounts)):
        previous, (own, first, last) = comparators[k - 1], comparators[k]
        # Words before an amount bound those listed after it, too; words behind one do not.
        if lead is None and previous[1] < amounts[k - 1].first and previous[2] == amounts[k - 1].last:
            lead = previous[1]
        if own == "=" and restates(tokens, amounts[k - 1], amounts[k]):
            # "about 60 miles (97 km)": the exact-looking restatement is no longer approximate; "or 97 km" is.
            kept = previous[0] in NEGATED or "or" in (t.low for t in tokens[amounts[k - 1].last : amounts[k].first])
            comparators[k], lead = (previous[0] if kept else "=", first, last), None
        elif own == "=" and _goes_on(tokens, amounts[k - 1], amounts[k], previous[0], lead):
            comparators[k] = previous[0], first, last
        else:
            lead = None
            if spans_ages(tokens, amounts[k - 1], amounts[k]):
                comparators[k - 1 : k + 1] = [(">=", *previous[1:]), ("<=", first, last)]
    comparators = [
        ("<=" if c == "=" and is_capped(tokens, a, parse) else c, first, last)
        for a, (c, first, last) in zip(amounts, comparators, strict=True)
    ]
    if parse is not None:  # "minimum wage 12 euros" is no bound in a query
        comparators = [
            (_named_extreme(tokens, a) if c == "=" else c, first, last)
            for a, (c, first, last) in zip(amounts, comparators, strict=True)
        ]
    changes = read_changes(tokens, amounts, [first for _, first, _ in comparators], parse)
    return [Modifiers(c, change, first, last) for (c, first, last), change in zip(comparators, changes, strict=True)]


def _goes_on(tokens: Sequence[Token], a: Amount, b: Amount, bound: MentionComparator, lead: int | None) -> bool:
    """Whether the bound of a, whose words begin at token `lead`, is one of b, too."""
    yearly = bound != "~" and of_other_year(tokens, a, b)
    if lead is None and bound in (">=", "<=") and _extreme(tokens, a) is not None and of_other_group(tokens, a, b):
        return "respectively" not in [t.low for t in tokens[b.last : b.last + 2]]
    return yearly or (lead is not None and is_listed(tokens, a, b, lead))


def _comparator(tokens: Sequence[Token], amount: Amount) -> tuple[MentionComparator, int, int]:
    """How the words around an amount bound it; and the token range with those words."""
    if amount.is_range:
        return "between", amount.first, amount.last
    lead = _before(tokens, amount)
    tail = chained(tokens, amount.last) or _after(tokens, amount)
    if lead is not None and (tail is None or tail[0] == "~" or lead[0] != "~"):
        return lead[0], lead[1], amount.last
    if tail is not None:
        return tail[0], amount.first, tail[1]
    return "=", amount.first, amount.last


def _before(tokens: Sequence[Token], amount: Amount) -> tuple[MentionComparator, int] | None:
    """The comparator that stands before an amount, and its first token."""
    is_date = amount.unit.family == "date"
    skipped = DATE_WORDS if is_date else ARTICLES
    end = amount.first
    if (named := _at_age(tokens, amount) or _spanned(tokens, amount) or _repeats(tokens, amount)) is not None:
        return named
    for _ in range(_LONGEST_LEAD):
        phrase = before(tokens, end)
        if phrase is not None and _holds(tokens, amount, phrase[2], phrase[1], end):
            turned = amount.unit.family == "time" and not SWIFT.isdisjoint(phrase[2])
            return _outermost(tokens, amount, _MIRRORED[phrase[0]] if turned else phrase[0], phrase[1])
        if not end or tokens[end - 1].low not in skipped:
            break
        end -= 1
    return _within(tokens, amount) or _extreme(tokens, amount)


_LONGEST_LEAD = 6
"""Steps from an amount to the phrase that bounds it at most: "up to an aggregate principal amount of"."""
_SUMS = frozenset("aggregate amount total sum".split())


def _at_age(tokens: Sequence[Token], amount: Amount) -> tuple[MentionComparator, int] | None:
    """ "under the age of 5", "before age 12 years", "over age 65": the word between a bound and an age."""
    end = amount.first
    words = [t.low for t in tokens[max(0, end - 3) : end]]
    if words == ["the", "age", "of"]:
        end -= 3
    elif words[-1:] == ["age"] and amount.unit.family == "age" and words[-2:-1] != ["min"]:
        end -= 1
    else:
        return None
    phrase = before(tokens, end)
    return None if phrase is None else _outermost(tokens, amount, phrase[0], phrase[1])


def _extreme(tokens: Sequence[Token], amount: Amount) -> tuple[MentionComparator, int] | None:
    """ "the maximum load was 5 kg", "a maximum load of 5 kg": at most 5 kg, by the head of what it is said of.

    The maximum temperature of a day is a measure of its own, as forecasts tell it, and no bound; an oven's is one.
    """
    k = amount.first - 1
    if k < 1 or amount.unit.family == "date":
        return None
    if tokens[k].low not in _COPULAS and tokens[k].low != "of":
        return None
    of = tokens[k].low == "of"
    for j in range(k - 1, max(0, k - _LONGEST_SUBJECT) - 1, -1):
        word = tokens[j].low
        if word in _EXTREMES:
            before_it = tokens[j - 1].low if j else ""
            if before_it in _READINGS or before_it in _LISTING or (of and before_it not in FUNCTION_WORDS | VERBS):
                return None  # "an alternative minimum tax of 15 %"
            if not of and tokens[j + 1].low in ("temperature", "temperatures") and _is_weather(tokens, j, k):
                return None
            return (_EXTREMES[word], amount.first) if not (of and tokens[j + 1].kind != "word") else None
        if of and word in FUNCTION_WORDS:
            return None  # "the maximum of the sum of 5 kg"
        if not of and (word in _WITHIN_SUBJECT or tokens[j].kind == "number" or word in _HAVING):
            continue
        if tokens[j].kind != "word" or word in VERBS or (word in FUNCTION_WORDS and word not in _WITHIN_SUBJECT):
            return None
    return None


def _is_weather(tokens: Sequence[Token], first: int, verb: int) -> bool:
    """Whether the maximum temperature from token `first` to its verb is one that a day has: "will be 35 °C"."""
    told = {t.low for t in tokens[first : min(len(tokens), verb + _WEATHER_REPORT)]}
    told.update(t.low for t in tokens[max(0, first - 3) : first])
    return "will" in told or not told.isdisjoint(_WEATHER)


_WEATHER_REPORT = 12
"""Tokens of a report behind its verb among which words of weather are looked for."""
_REPORTING = "forecast expected recorded today tonight tomorrow yesterday weather sunny cloudy rain summer winter"
_WEATHER = WEEKDAYS.union((month.lower() for month in MONTHS), _REPORTING.split())


def _named_extreme(tokens: Sequence[Token], amount: Amount) -> MentionComparator:
    """ "max torque 55 Nm", "minimum order: 100 boxes": an amount right behind the words that it is the limit of."""
    k = amount.first - 1
    if amount.unit.family == "date" or k < 1:
        return "="
    k -= tokens[k].text == ":"
    for j in range(k, max(0, k - _LONGEST_NAME) - 1, -1):
        word = tokens[j].low
        if word in _EXTREMES and j < k:
            named = tokens[j].text.istitle() and tokens[j + 1].text.istitle()
            named = named or (j > 0 and (tokens[j - 1].kind == "number" or tokens[j - 1].low == "pro"))  # "737 max"
            return "=" if named or (j and tokens[j - 1].low in _READINGS) else _EXTREMES[word]
        if tokens[j].kind != "word" or word in FUNCTION_WORDS or word in VERBS:
            return "="
    return "="


_LONGEST_NAME = 3


def _spanned(tokens: Sequence[Token], amount: Amount) -> tuple[MentionComparator, int] | None:
    """ "at least the next 12 months", "about the last 5 years": a length of time that a phrase before "the" bounds."""
    k = amount.first - 1
    if amount.unit.family != "time" or k < 2 or tokens[k].low not in PERIODS or tokens[k - 1].low != "the":
        return None
    phrase = before(tokens, k - 1)
    return (phrase[0], phrase[1]) if phrase is not None and phrase[2] in _SPANNING else None


def _repeats(tokens: Sequence[Token], amount: Amount) -> tuple[MentionComparator, int] | None:
    """ "at least every three years", "at least once every 28 days": no longer than that from one time to the next."""
    k = amount.first - 1
    if amount.unit.family != "time" or k < 1 or tokens[k].low != "every":
        return None
    phrase = before(tokens, k - (tokens[k - 1].low == "once"))
    return (_MIRRORED.get(phrase[0], phrase[0]), phrase[1]) if phrase is not None and phrase[2] in _SPANNING else None


_SPANNING = frozenset(
    tuple(p.split())
    for p in "at least|at most|up to|about|approximately|roughly|around|nearly|almost|more than|less than".split("|")
)
_COPULAS = frozenset("was were is are be".split())
_EXTREMES: dict[str, MentionComparator] = {"maximum": "<=", "max": "<=", "minimum": ">=", "min": ">="}
_WITHIN_SUBJECT = frozenset("of the this that these those for in at on to by under we it they our its and".split())
_LISTING = frozenset(("and", "or", ","))
"""Words before "maximum" that make it one of several: "threshold, target and maximum awards were 0, 1 and 2"."""
_HAVING = frozenset("have has had could may would will should must amount".split())
_LONGEST_SUBJECT = 14
"""Tokens of a subject before its verb at most."""


def _within(tokens: Sequence[Token], amount: Amount) -> tuple[MentionComparator, int] | None:
    """ "within the last 6 months": at most 6; any other phrase before "the last" says when, not how much."""
    end = amount.first
    while end and amount.first - end < 3 and tokens[end - 1].low in PERIODS:
        end -= 1
    if amount.unit.family == "date":
        return None
    return ("<=", end - 1) if end and tokens[end - 1].low == "within" else None


def _outermost(
    tokens: Sequence[Token], amount: Amount, comparator: MentionComparator, first: int
) -> tuple[MentionComparator, int]:
    """A comparator with its adverbs ("well over"), its negation ("not over") and what holds over it ("up to about")."""
    if comparator == "~":
        end = first - 1 if first and tokens[first - 1].low in ("a", "an") else first
        outer = before(tokens, end)
        if outer is not None and outer[0] != "~" and _holds(tokens, amount, outer[2], outer[1], end):
            comparator, first = outer[0], outer[1]
    start = first
    while start and first - start < 2 and tokens[start - 1].low in DEGREES:
        start -= 1
    end, gap = start, first - start
    while end and start - end < 2 and tokens[end - 1].low in BRIDGES:
        end -= 1
    if comparator in ("<", ">") and not gap and excludes(tokens, end, start):
        return NEGATED[comparator], start
    # "not just over 5 kg" denies that it is all there is, not that it is over 5 kg.
    if comparator in NEGATED and not gap and end:
        if tokens[end - 1].low in NEGATIONS:
            return NEGATED[comparator], end - 1
        if end == start and is_denied_verb(tokens, end - 1):
            return NEGATED[comparator], end - 2
    return comparator, start


def _holds(tokens: Sequence[Token], amount: Amount, phrase: Phrase, first: int, end: int) -> bool:
    """Whether a phrase that ends at `end`, before an amount, bounds it."""
    unit = amount.unit
    following = tokens[amount.last].low if amount.last < len(tokens) else ""
    if phrase in DATE_ONLY and not (phrase == ("past",) and following in MARKS):
        return unit.family == "date"
    lead = tokens[first - 1] if first else None
    head = phrase[0]
    if phrase == ("under",) and is_agreed(tokens, amount, end):
        return False
    if _means_else(tokens, amount, phrase, first, end) or _directs(tokens, amount, phrase, first):
        return False
    inner = {t.low for t in tokens[end : amount.first]}
    if "the" in inner and unit.family != "date" and _SUMS.isdisjoint(inner):
        return following in MARKS or (following == "-" and _mark_after(tokens, amount.last))
    if head in ("min", "max", "minimum", "maximum"):
        named = tokens[first].text.istitle() and lead is not None and lead.kind == "word" and lead.text[:1].isupper()
        return not named and (lead is None or lead.low not in _READINGS)
    few = amount.number.written and amount.number.value <= _FEW and unit.family == "count"
    if phrase == ("over",) and any(t.low in _PREFERRING for t in tokens[max(0, first - _FAR_BETTER) : first]):
        return False  # "superior in healing over 5 % cream"
    if phrase == ("over",) and (few or (lead is not None and lead.low in _SPREADING)):
        return False  # "royalties over two mines"
    if phrase == ("over",):
        return not _is_span(tokens, amount, end) and (unit.family != "time" or _lasts(tokens, first, end, amount))
    if phrase in (("under",), ("within",)):
        return not stands_under(tokens, amount, first)
    if phrase == ("near",):
        return unit.family != "count"
    if phrase == ("about",) and lead is not None and lead.low in TELLING and amount.number.value < 20:
        return unit.family not in ("count", "")
    if phrase == ("up", "to"):
        bought = lead is not None and lead.low == "back" and first > 1 and tokens[first - 2].low in _BUYING
        verb = "" if lead is None else lead.low
        reaches = verb == "gone" and unit.family not in ("currency", "ratio")  # "gone up to 30 m deep"
        return verb not in RISES_TO or reaches or bought  # "will buy back up to 5 million shares"
    return not (phrase[:2] in (("as", "many"), ("as", "much")) and lead is not None and lead.low in ("twice", "half"))


_BUYING = frozenset("buy buys buying bought pay pays paying paid give gives sell sells".split())
_FEW = 3
_PREFERRING = frozenset("superior superiority advantage advantages preference".split())
_FAR_BETTER = 14
"""Tokens between "superior" and its "over" at most."""
_SPREADING = frozenset(
    "spread spreads spreading scattered distributed dispersed stretch stretches stretched extends extended".split()
)
"""What goes over a place or a number of them: "spread over 70 countries"."""


def _means_else(tokens: Sequence[Token], amount: Amount, phrase: Phrase, first: int, end: int) -> bool:
    """Whether the words of a phrase say something else than how much: "took over 31 shops", "at min 5"."""
    family, head = amount.unit.family, phrase[0]
    if head in ("c", "ca", "sub"):
        return not tokens[first].text.islower()
    if phrase == ("some",):
        return end < amount.first
    if phrase == ("as", "soon", "as"):
        return family not in ("time", "date")  # "as soon as 20 people came"
    if phrase == ("min",):
        return amount.bare and _names_minute(tokens, first)
    if phrase[-1] == "estimated":  # "estimated 3-year survival"
        return amount.number.last < len(tokens) and tokens[amount.number.last].text == "-"
    if phrase[-1] == "from" and head.startswith("cost"):
        return family != "currency"  # "the costs from 3 lawsuits"
    if phrase == ("over",):
        return family != "time" and first > 0 and tokens[first - 1].low in _TAKERS
    return phrase == ("within",) and family == "date"


def _directs(tokens: Sequence[Token], amount: Amount, phrase: Phrase, first: int) -> bool:
    """Whether a phrase says where something moved: "rose as high as $5", "was up to $5, from $4"."""
    lead = tokens[first - 1].low if first else ""
    if phrase in (("as", "high", "as"), ("as", "low", "as")):
        possible = first > 1 and tokens[first - 2].low in _MODALS  # "could rise as high as $5"
        return (lead in CHANGE_VERBS or lead in _REACHING) and not possible
    if phrase[-1] == "from" and phrase[0] in _PRICED:
        near = {t.low for t in tokens[max(0, first - _NEAR_MOVE) : first]}
        leads = amount.last < len(tokens) and tokens[amount.last].low in ("to", "a", "in", "last")
        return leads or not near.isdisjoint(MOVES.keys() | TURNS.keys() | CHANGE_VERBS)  # "cut its rates from 5% to 4%"
    if phrase == ("up", "to") and (lead in _COPULAS or lead.endswith("ed")):
        k = amount.last + (amount.last < len(tokens) and tokens[amount.last].text == ",")
        if lead not in _COPULAS:  # "was revised up to $5 from $4", not "invited up to 5 from Spain"
            return [t.low for t in tokens[k : k + 1]] == ["from"] and any(
                t.kind == "number" for t in tokens[k + 1 : k + 3]
            )
        return k < len(tokens) and tokens[k].low in ("from", "compared", "versus", "vs")
    if amount.unit.family == "time" and phrase[-1] in ("than", "then"):
        # "5 % higher than 12 months before"
        after = tokens[amount.last].low if amount.last < len(tokens) else ""
        return phrase[0] in _OF_LEVELS and after in ("ago", "before", "earlier", "previously")
    return False


_MODALS = frozenset("could can may might will would should".split())
_PRICED = frozenset("prices fares rates cost costs".split())
_NEAR_MOVE = 6
"""Tokens from a verb of change to "rates from" at most."""
_REACHING = frozenset("got gets traded trading trade went goes hit reached reach ran to settled closed opened".split())
_OF_LEVELS = frozenset("higher lower greater larger smaller bigger cheaper better worse stronger weaker".split())
_TAKERS = frozenset("took take takes taken taking handed turned turning carried carrying won rolled".split())


def _names_minute(tokens: Sequence[Token], first: int) -> bool:
    """Whether "min" is the minute at which something was measured: "at min 2 and min 5"."""
    before_it = [t.low for t in tokens[max(0, first - _NEAR_MINUTE) : first]]
    return "at" in before_it[-1:] or any(pair == ("at", "min") for pair in itertools.pairwise(before_it))


_NEAR_MINUTE = 8
_READINGS = frozenset(
    "daily hourly nightly weekly monthly yearly annual seasonal mean average absolute local global record "
    "overnight".split()
)
"""Words before "max" and "min" that make them a part of what is measured: "daily max 13 °C"."""


def _mark_after(tokens: Sequence[Token], k: int) -> bool:
    return k + 1 < len(tokens) and tokens[k + 1].low in MARKS


def _lasts(tokens: Sequence[Token], first: int, end: int, amount: Amount) -> bool:
    """Whether "over 10 years" is a length of more than 10 years, and not "in the course of 10 years"."""
    if end != amount.first:
        return False
    if first == 0:
        return amount.last >= len(tokens) or tokens[amount.last].text != ","
    following = tokens[amount.last].low if amount.last < len(tokens) else ""
    lead = tokens[first - 1]
    opens = lead.kind == "mark" and lead.text not in ",)]%‰°"
    return opens or lead.low in DURATION_LEADS or following in ("ago", "old", "-", "later", "earlier")


def _is_span(tokens: Sequence[Token], amount: Amount, end: int) -> bool:
    """Whether "over" stands before the time in which something happens: "over a 2-y period"."""
    if tokens[end].low not in ("a", "an", "the"):
        return False
    return any(t.low in _SPANS for t in tokens[amount.number.last : amount.number.last + 3])


_SPANS = frozenset("period course span interval".split())


def _after(tokens: Sequence[Token], amount: Amount) -> tuple[MentionComparator, int] | None:
    """The comparator that stands after an amount, or between its number and its unit; and the token after both."""
    for k in dict.fromkeys((amount.number.last, amount.last, _past_life(tokens, amount))):
        inner = tokens[k - 2] if k - 2 >= amount.number.first else None
        if inner is not None and inner.text == "+" and tokens[k - 1].kind == "word":
            return ">=", max(k, amount.last)  # "2.5+million"
        if k < len(tokens) and tokens[k].text == "+" and glued(tokens[k - 1], tokens[k]) and not _adds(tokens, k):
            return ">=", max(k + 1, amount.last)
        start = k
        while start < len(tokens) and start - k < 1 and tokens[start].text in (",", "("):
            start += 1
        phrase = after(tokens, start)
        if phrase is not None and _closes(tokens, phrase[2], start, phrase[1]):
            return phrase[0], max(phrase[1], amount.last)
    return None


def _past_life(tokens: Sequence[Token], amount: Amount) -> int:
    """The token after "gestation" or "of age" behind a length of time: "37 weeks' gestation or more"."""
    k = amount.last
    if amount.unit.family not in ("time", "age"):
        return k
    while k < len(tokens) and tokens[k].low in ("'", "’", "of"):
        k += 1
    return k + 1 if k < len(tokens) and tokens[k].low in ("gestation", "age") else amount.last


def _adds(tokens: Sequence[Token], k: int) -> bool:
    """Whether a plus sign joins a number or stands in "+/-"."""
    if k + 1 >= len(tokens) or not glued(tokens[k], tokens[k + 1]):
        return False
    return tokens[k + 1].kind == "number" or tokens[k + 1].text in "/-−"


def _closes(tokens: Sequence[Token], phrase: Phrase, first: int, last: int) -> bool:
    """Whether a phrase after an amount is about that amount, and not about what follows."""
    following = tokens[last] if last < len(tokens) else None
    if phrase[-1] == "plus" and not (first and glued(tokens[first - 1], tokens[first])):
        return False
    if following is None:
        return True
    if following.low == "than" and any(t.kind == "number" or t.low in NUMERALS for t in tokens[last + 1 : last + 3]):
        return False  # "5,000 shares, or less than 2 %"
    if following.kind == "number" or following.text in ("$", "€", "£", "¥") or following.low in ("to", "than", "equal"):
        # "1.4 kg and above 250 GB" bounds the second; "to qualify" begins something else.
        goes_on = following.low == "to" and last + 1 < len(tokens) and tokens[last + 1].kind == "word"
        bounded = phrase[0] == "or" and phrase[-1] in _COMPARATIVES and following.low != "to"
        return phrase[-1] in ("ish", "odd") or bounded or (goes_on and phrase[0] == "or")
    if phrase[0] == "and" or phrase in (("approximately",), ("approx",), ("at", "least"), ("at", "most")):
        ends = following.low in FUNCTION_WORDS and following.low != "of"  # "and upwards of 30"
        return following.kind == "mark" or ends or following.low in VERBS
    if phrase[0] in ("max", "maximum", "minimum"):
        return tokens[first].text.islower()
    return True


_COMPARATIVES = frozenset(MORE + LESS)
"""What closes a bound before another number: "55 inch or bigger 120 Hz"."""
