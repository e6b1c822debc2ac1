"""Changes said once for several amounts: "12 cents (0.9%)", "fell 5 % in May and 3 % in June"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.change_words import ENDS, LIGHT, MOVES, PLACES, TURNS
from qbench.quantities.english.comparator_sharing import of_other_year
from qbench.quantities.english.intervals import in_interval
from qbench.quantities.english.lexicon import VERBS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token
from qbench.quantities.types import Change

REACH = 10
"""Tokens between two amounts of which the second takes its change from the first, at most."""
LABELLED = 5
"""Tokens of a label between two amounts, with the marks around it, at most."""
FAR = 20
"""Tokens between an amount and one after "by" that shares its change, at most."""
PERCENT = frozenset({"ratio", "ratio difference"})
_WHEN = frozenset("in for during over since on".split())
_TIMES = frozenset(
    "the , quarter quarters year years month months first second third fourth last fiscal half week and previous "
    "past current".split()
)
"""Words of a time between two changes: "rose 5 % in the first quarter and 6 % in May"."""
_EARLIER = (("after",), ("following",), ("instead", "of"), ("and", "not"), (",", "not"), ("rather", "than"))
"""What stands before a percentage that is another of the same change: "grew 3 pct in June after 2 pct in May"."""
_BEFORE_EARLIER = frozenset("a an the revised of some about".split())
_PREPOSITIONS = frozenset("for in with among during on over under at".split())


def shared_change(
    tokens: Sequence[Token],
    amounts: Sequence[Amount],
    changes: Sequence[Change],
    k: int,
    first: int,
    parse: Parse | None,
) -> Change:
    """The change of the amount at k, which no words of its own tell, as that of one before it; "" for none.

    Args:
        tokens: of the text.
        amounts: of the text, in order.
        changes: of the amounts before k.
        k: which amount.
        first: the first token of it and of the words that bound it.
        parse: of the text.
    """
    j = _previous(amounts, k)
    if (
        j >= 0
        and changes[j]
        and (_shares(tokens, amounts[j], amounts[k], first) or _gapped(tokens, amounts[j], amounts[k], first, parse))
    ):
        return _by_sign(amounts[j], amounts[k]) or changes[j]
    return _resumed(tokens, amounts, changes, k, first, parse)


def _gapped(tokens: Sequence[Token], a: Amount, b: Amount, first: int, parse: Parse | None) -> bool:
    """Whether a clause with a subject of its own leaves its verb out: "exports rose 5 % and imports 7 %"."""
    gap = range(a.last, first)
    if parse is None or not 1 < len(gap) <= LABELLED or {a.unit.family, b.unit.family} - PERCENT:
        return False
    if not a.low <= _LIKE * b.low or not b.low <= _LIKE * a.low:
        return False  # "prices rose 5 % and turnout 62 %"
    tags = [parse.tags[k] for k in gap[1:]]
    nouns = tags[-1].startswith("NN") and all(tag.startswith(("NN", "JJ")) or tag in ("DT", "PRP$") for tag in tags)
    return nouns and tokens[gap[0]].low in ("and", "while") and tokens[gap[-1]].low not in _LEVELS


_LIKE = 2.5
"""How many times larger than the other one of two changes may be, of which one has no verb."""
_LEVELS = frozenset("margin margins rate share ratio yield target".split())
"""Nouns of percentages that are no changes, whatever rose before: "sales rose 5 % and the margin 12 %"."""


def _by_sign(a: Amount, b: Amount) -> Change:
    """Where b goes if a and b have different signs: "-0.3 % vs 0.1 %"."""
    if a.high < 0 < b.low:
        return "up"
    return "down" if b.high < 0 < a.low else ""


def _previous(amounts: Sequence[Amount], k: int) -> int:
    """The position of the amount before the one at k that is no p-value; -1 for none."""
    k -= 1
    while k >= 0 and amounts[k].p_value:
        k -= 1
    return k


def _resumed(
    tokens: Sequence[Token],
    amounts: Sequence[Amount],
    changes: Sequence[Change],
    k: int,
    first: int,
    parse: Parse | None,
) -> Change:
    """The change of an amount that leaves its verb out: "rose 2 % to 5 million and imports 4 % to 3", ", or by 6 %"."""
    amount = amounts[k]
    near = takewhile(lambda j: first - amounts[j].last <= FAR, range(k - 1, -1, -1))
    j = next((j for j in near if changes[j]), None)
    if j is None:
        return ""
    between = _outside_brackets(tokens, amounts[j].last, first)
    if any(word in ENDS or word in MOVES or word in TURNS for word in between):
        return ""
    counted = amount.unit.family in ("time", "date", "age", "count")
    alike = amount.unit.base_unit == amounts[j].unit.base_unit
    if (alike or not counted) and _by_again(tokens, between, first, parse):
        return changes[j]
    if not _is_percent(amount):
        return ""
    if between[-2:] == ["or", "by"]:
        return changes[j]
    if between[-1:] == ["or"] and _is_move(tokens, amounts, j, k):
        return changes[j]
    after = amounts[k + 1] if k + 1 < len(amounts) else None
    levels = after is not None and after.first - amount.last <= _SPAN and tokens[after.first - 1].low == "to"
    joined = any(word in ("and", ",", "while") for word in between) and "to" in between[:_SPAN]
    return changes[j] if levels and joined and _is_percent(amounts[j]) else ""


def _is_percent(amount: Amount) -> bool:
    """Whether an amount is in percent, or in points, which may be of percentages."""
    return amount.unit.family in PERCENT or amount.unit.name == "point"


def _is_move(tokens: Sequence[Token], amounts: Sequence[Amount], j: int, k: int) -> bool:
    """Whether two levels stand between changes j and k: "rose $3 million, from $9 million to $12 million, or 33 %"."""
    if k != j + 3:
        return False
    gaps = [[t.low for t in tokens[a.last : b.first] if t.text != ","] for a, b in pairwise(amounts[j : k + 1])]
    return gaps in ([["from"], ["to"], ["or"]], [["to"], ["from"], ["or"]])


_SPAN = 6
"""Tokens of a time between a change and the level that it leads to, at most."""


def _outside_brackets(tokens: Sequence[Token], start: int, end: int) -> list[str]:
    """The words from token `start` on, without those in brackets; a bracket left open begins afresh."""
    words: list[str] = []
    opened: list[int] = []
    for token in tokens[start:end]:
        if token.text in "([":
            opened.append(len(words))
            words.append(token.text)
        elif token.text in ")]" and opened:
            del words[opened.pop() :]
        elif token.text in ")]":
            words = [token.text]
        else:
            words.append(token.low)
    return words


def _by_again(tokens: Sequence[Token], between: list[str], first: int, parse: Parse | None) -> bool:
    """Whether a clause of a list leaves its verb out: "cut sales by 3 %, and margins by 1 %"."""
    k = first - 1
    while between and between[-1] in LIGHT and between[-1] != "by":
        between, k = between[:-1], k - 1
    if between[-1:] != ["by"] or not between[:-1]:
        return False
    if between[-2] == "and":
        return True
    if len(between) < 3 or between[0] not in ("and", ",", "while", ")", "but"):
        return False
    if any(word in VERBS or word in PLACES for word in between[1:-1]):
        return False
    k -= 1
    if tokens[k].text in ")]":
        while k and tokens[k].text not in "([":
            k -= 1
        k -= 1
    if parse is not None and parse.tags[k]:
        return parse.tags[k].startswith(("NN", "CD"))
    return tokens[k].kind == "word" and not tokens[k].low.endswith(("ed", "en", "wn"))


def _shares(tokens: Sequence[Token], a: Amount, b: Amount, first: int) -> bool:
    """Whether b has the change of a: "190 points, or 0.6%", "12 cents (0.9%)", "and Starbucks 3.5%"."""
    gap = tokens[a.last : first]
    words = [t.low for t in gap]
    timed = b.unit.family == "time" and not (b.is_range and words[:1] in (["("], ["["]))
    if not gap or len(gap) > FAR or b.unit.family in ("date", "age") or timed:
        return False
    if b.is_range and in_interval(tokens, first) and _belongs(words):
        return True  # "fell by 12 mm (95% CI 8 to 16)"
    alike = a.unit.base_unit == b.unit.base_unit
    if words in (["("], ["["]):
        if b.bare:
            return b.is_range and a.low < 0  # "(4.1)" is a standard deviation
        if alike and not b.is_range and b.number.last < len(tokens) and tokens[b.number.last].text in ")]":
            return False  # and so is that of "-8.6 [1.6] mg"
    if words in (["or"], [",", "or"], ["("], ["["]):
        return alike or any(u.unit.family in PERCENT for u in (a, b))
    if not alike:
        return False
    if of_other_year(tokens, a, b):
        return True
    if words[0] in (";", ",") and words[-1] == ":" and len(words) <= LABELLED:
        return True  # "(men: 5 %; women: 7 %)"
    if words[-1] in ("only", "just"):
        words = words[:-1]
    compares = words[-2:] in (["compared", "to"], ["compared", "with"])
    signed = a.high < 0 and b.high < 0
    if compares and (signed or b.unit.family in PERCENT | {""}) and (a.low < 0) == (b.low < 0):
        return ENDS.isdisjoint(words)
    words = _outside_brackets(tokens, a.last, first)
    if words[-2:] == ["vs", "."]:
        words = words[:-1]
    return _goes_on(tokens, words, b) and not any(w in ENDS or w in MOVES or w in TURNS for w in words)


def _belongs(words: Sequence[str]) -> bool:
    """Whether the words between an estimate and its interval open a bracket, or begin with one."""
    near = len(words) <= REACH and words[0] in ("(", "[", ";", ",")
    return near or ("(" in words[-LABELLED - 1 :] and not any(w in ENDS or w in MOVES or w in VERBS for w in words))


def _goes_on(tokens: Sequence[Token], words: list[str], b: Amount) -> bool:
    """Whether the words between two amounts of one kind, without those in brackets, say nothing but where or when."""
    if words in (["vs"], ["versus"]):
        return True
    if not words or len(words) > REACH:
        return False
    if b.unit.family in PERCENT and _is_earlier(words):
        return True
    if any(word in PLACES for word in words):
        return False
    joins = words[-1] in ("and", ",", "or")
    if len(words) > 2 and words[0] in _WHEN and joins:
        if all(w in _TIMES or w.isdecimal() or _is_capital(tokens, b, w) for w in words[1:-1]):
            return True
    if joins and len(words) > 1 and [t.low for t in tokens[b.last : b.last + len(words) - 1]] == words[:-1]:
        return True  # "5 % year-on-year and 3 % year-on-year"
    opens = words[0] in ("and", ",", "while")
    if len(words) > 2 and words[0] in _PREPOSITIONS and joins and VERBS.isdisjoint(words):
        return _after_brackets(tokens, b.last) == words[0]
    if words[0] == ")" and words[-1] in "([" and len(words) <= _SPAN and words[1] in ("and", ",", "vs", "versus"):
        return VERBS.isdisjoint(words)  # "the strong (13 %; p = 0.1) and the weak (26 %) group"
    return opens and all(w in ("and", ",", "&", "while", "the", "of") or _is_capital(tokens, b, w) for w in words)


def _is_earlier(words: list[str]) -> bool:
    while words and words[-1] in _BEFORE_EARLIER and words[-2:] != ["instead", "of"]:
        words = words[:-1]
    timed = len(words) < LABELLED and (len(words) < 3 or words[0] in _WHEN)
    return timed and any(tuple(words[-len(link) :]) == link for link in _EARLIER)


def _is_capital(tokens: Sequence[Token], b: Amount, word: str) -> bool:
    """Whether a word just before an amount has a capital."""
    near = tokens[max(0, b.first - FAR) : b.first]
    return any(t.low == word and t.text[:1].isupper() for t in near)


def _after_brackets(tokens: Sequence[Token], k: int) -> str:
    """The word after token k, past one pair of brackets."""
    if k < len(tokens) and tokens[k].text in "([":
        stop = min(len(tokens), k + FAR)
        while k < stop and tokens[k].text not in ")]":
            k += 1
        k += 1
    return tokens[k].low if k < len(tokens) else ""
