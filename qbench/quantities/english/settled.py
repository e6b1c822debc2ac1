"""Units that stand elsewhere: "the number of boats rose to 300", "five of nine boats", "$7, $15 and $13 per share"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.compounds import closed_period
from qbench.quantities.english.elided import MONEY, PAID
from qbench.quantities.english.lexicon import CHANGE_VERBS
from qbench.quantities.english.nouns import ADJECTIVES, NOUNS, plural_noun
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.staffs import RULE as STAFF
from qbench.quantities.english.staffs import persons
from qbench.quantities.english.tokens import Token, abbreviates
from qbench.quantities.units import Unit, Units

_REACH = 30
_IN_LISTS = frozenset({",", "and", "or", ",and", ",or"})
_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD", "VB"})


def settle(tokens: Sequence[Token], amounts: Sequence[Amount], units: Units, parse: Parse | None) -> list[Amount]:
    """The amounts, with the unit that the sentence's subject (where there is a parse) or the next amount gives them."""
    settled: list[Amount] = []
    for amount in amounts:
        unit = _numbered(tokens, amount, settled, units, parse) if amount.bare and parse is not None else None
        if unit is None and amount.bare and _is_row_of_shares(tokens, amount, settled):
            unit = units.get("share")
        rule = "noun of the subject"
        if unit is None and amount.bare and parse is not None:
            unit, rule = _of_the_same(tokens, amount, settled, parse), "elided unit"
            unit = unit or _of_its_size(tokens, amount, settled, parse)
            if unit is None and (period := closed_period(tokens, amount.last)) is not None:
                span = tokens[amount.last].start, tokens[amount.last + 1].end
                amount = replace(amount, last=amount.last + 2, unit_span=span)
                unit, rule = units.get(f"per {period}"), "rate"
        if unit is None and amount.bare and (unit := persons(tokens, amount, settled, units)) is not None:
            rule = STAFF
        settled.append(amount if unit is None else replace(amount, unit=unit, how=(*amount.how, rule)))
    for k in range(len(settled) - 2, -1, -1):
        if (unit := _shared(tokens, settled[k], settled[k + 1])) is not None:
            settled[k] = replace(settled[k], unit=unit, how=(*settled[k].how, "shared unit"))
        elif parse is not None and (shared := _of_one_noun(tokens, settled[k], settled[k + 1], units, parse)):
            settled[k] = shared
        elif parse is not None and _are_bounds(tokens, settled[k], settled[k + 1]):
            settled[k] = replace(settled[k], unit=settled[k + 1].unit, how=(*settled[k].how, "shared unit"))
    return settled


def with_thousands(tokens: Sequence[Token], amounts: Sequence[Amount]) -> list[Amount]:
    """The amounts, those of what comes whole in thousands where a point parts them: "6.000 shares", "20.000 IU"."""
    return [_in_thousands(amount) if _parts_thousands(tokens, amount) else amount for amount in amounts]


def _parts_thousands(tokens: Sequence[Token], amount: Amount) -> bool:
    if amount.unit.family.partition(" per ")[0] not in _WHOLE or amount.number.scaled or amount.unit.name == "point":
        return False
    figures = [t.text for t in tokens[amount.number.first : amount.number.last] if t.kind == "number"]
    return bool(figures) and all(_THOUSANDS.fullmatch(text) for text in figures)


def _in_thousands(amount: Amount) -> Amount:
    return replace(amount, low=amount.low * 1000, high=amount.high * 1000, how=(*amount.how, "point of thousands"))


_WHOLE = ("count", "biological activity")
"""Families of what has no thousandths."""
_THOUSANDS = re.compile(r"[1-9]\d{0,2}\.000")


def _of_one_noun(tokens: Sequence[Token], a: Amount, b: Amount, units: Units, parse: Parse) -> Amount | None:
    """The first of "6 normal and 6 asthmatic subjects" with the noun of the second, behind adjectives of its own."""
    plain = not (a.is_range or b.is_range) and a.low.is_integer() and a.unit.family in ("", "count")
    modified = b.unit.family == "count" and (b.last - b.number.last > 1 or b.how[-1:] == (_SHARED_NOUN,))
    if not plain or not modified or b.first - a.number.last > _LONGEST_MODIFIER + 2:
        return None
    end = b.first
    while end > a.number.last and tokens[end - 1].low in ("and", "or", ","):
        end -= 1
    own = range(a.number.last, end)
    if not own or end == b.first or a.last > end or tokens[own.start].kind != "word":
        return None
    name = " ".join(t.low for t in tokens[own.start : end]).replace(" - ", "-")
    if not ("-" in name or name in _MODIFIERS or all(parse.tags[k] in _MODIFYING for k in own)):
        return None
    span = tokens[own.start].start, tokens[end - 1].end
    unit = units.get(f"{name} {b.unit.name.split()[-1]}")
    return replace(a, unit=unit, unit_span=span, last=end, how=(*a.how, _SHARED_NOUN))


_SHARED_NOUN = "shared noun"
"""The rule's name."""
_LONGEST_MODIFIER = 3
"""Tokens of the adjectives of a number that shares its noun, at most."""
_MODIFYING = ADJECTIVES | {"VBN"}
_MODIFIERS = frozenset("male female adult control placebo".split())
"""Nouns that stand as adjectives do: "20 male and 30 female patients"."""


def _are_bounds(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether two amounts bound one thing from both sides: "at least 5 but no more than 10 kg"."""
    if not a.bare or b.bare or a.is_range or b.is_range or not a.low < b.low <= _APART * a.low:
        return False
    gap = [t.low for t in tokens[a.last : b.first]]
    gap = gap[1:] if gap[:1] == [","] else gap
    sides = _side([t.low for t in tokens[max(0, a.first - 4) : a.first]]), _side(gap[1:])
    return gap[:1] in (["and"], ["but"]) and len(gap) <= _LONGEST_BOUND and sides == ("lower", "upper")


_APART = 10.0
"""How many times larger the upper of two bounds of one thing is at most."""
_LONGEST_BOUND = 5


def _side(words: Sequence[str]) -> str:
    """Which bound some words say at their end; "" for none."""
    last = list(words[-2:])
    denied = words[-3:-2] in (["no"], ["not"])
    if last[-1:] in (["over"], ["above"], ["exceeding"]) or last in (["at", "least"],):
        return "lower"
    if last[-1:] in (["under"], ["below"]) or last in (["at", "most"], ["up", "to"]):
        return "upper"
    if len(last) < 2 or last[1] != "than":
        return ""
    more = last[0] in ("more", "greater", "higher", "larger", "longer", "older")
    less = last[0] in ("less", "fewer", "lower", "smaller", "shorter", "younger")
    return ("upper" if more == denied else "lower") if more or less else ""


def _is_row_of_shares(tokens: Sequence[Token], amount: Amount, before: Sequence[Amount]) -> bool:
    """Whether a number stands in the row of a table that counts shares: both of "Avg shrs 3,200,000 vs 3,100,000"."""
    words = [t.low for t in tokens[max(0, amount.first - 2) : amount.first]]
    if words[-1:] in (["shrs"], ["shares"]) and words[0] in _AVERAGE:
        return True
    return words[-1:] in (["vs"], ["versus"]) and bool(before) and before[-1].unit.name == "share"


_AVERAGE = frozenset("avg average diluted outstanding".split())


def _shared(tokens: Sequence[Token], a: Amount, b: Amount) -> Unit | None:
    """What b lends to a: the rate of "$7, $15 and $13 per share", the noun of "five of nine boats" and "5/9 boats"."""
    if a.is_range or b.is_range or b.first - a.last > 3:
        return None
    gap = "".join(t.low for t in tokens[a.last : b.first])
    one = b.last == b.number.last + 1 and b.how[-1:] == ("unit after",)  # "1,290 pixels, 460 ppi"
    if not one and a.unit.name and b.unit.name.startswith(f"{a.unit.name} per ") and gap in _IN_LISTS:
        # "$606 million, or $0.68 per share", "8,536,000 dlrs or 1.40 dlrs a share"
        total = (a.number.scaled and not b.number.scaled) or not _alike(a, b)
        return None if total else b.unit
    part = a.bare and b.unit.family == "count" and a.low <= b.low and a.low.is_integer()
    return b.unit if part and (gap in ("of", "outof") or (gap == "/" and not a.number.written)) else None


def _of_the_same(tokens: Sequence[Token], b: Amount, before: Sequence[Amount], parse: Parse) -> Unit | None:
    """The unit of the amount that b is compared with, though nouns stand between: "$8 mln against a loss of 5 mln"."""
    others = [a for a in before[-3:] if not a.year and a.unit.family not in _NEVER_SHARED]
    a = others[-1] if others else None
    if a is None or a.bare or b.first - a.last > _COMPARED or b.number.rule == "fraction":
        return None
    gap = tokens[a.last : b.first]
    links = [
        k for k, t in enumerate(gap) if t.low in _LINKS or (t.low in ("with", "to") and gap[k - 1].low == "compared")
    ]
    if not links or any(t.text in ".;:!?()" for t in gap) or not _alike(a, b):
        return None
    first = a.last + links[-1] + 1
    noun = all(parse.tags[k] in _NAMING or tokens[k].low == "of" for k in range(first, b.first))
    return a.unit if noun and first < b.first else None


def _of_its_size(tokens: Sequence[Token], b: Amount, before: Sequence[Amount], parse: Parse) -> Unit | None:
    """The unit of the millions before bare ones: "sales were 204 million dollars, and orders shrank to 58 million".

    Money is lent where the bare number can be some: none that does something ("2 million saw it"), stands after
    another verb ("fed 3 million") or after a noun of what is counted. Other measures are lent to levels and changes
    alone, and what is counted to a part of it, right after its verb: "of 19 million shares they took 12 million".
    """
    if b.number.magnitude < _MILLION:
        return None
    near = (a for a in reversed(before[-_BACK:]) if not a.bare and a.number.magnitude >= _MILLION)
    a = next(near, None)
    if a is None or b.first - a.last > _REACH:
        return None
    gap = range(a.last, b.first)
    if any(tokens[k].text in ".;!?" and not abbreviates(tokens, k) for k in gap):
        return None
    led = tokens[b.first - 1]
    if a.unit.family == "count":
        return a.unit if (led.low == "which" or parse.tags[b.first - 1] in _FINITE) and b.low < a.low else None
    words = {tokens[k].low for k in gap[-_NEAR:]}
    if not words.isdisjoint(_COUNTED):
        return None
    if a.unit.family in _MEASURED:
        return a.unit if led.low in _MOVES and words.isdisjoint(_PAYS) else None
    acts = b.last < len(tokens) and parse.tags[b.last] in _FINITE
    other = parse.tags[b.first - 1].startswith("VB") and led.low not in _TAKES_MONEY
    return a.unit if a.unit.family == "currency" and not (acts or other) else None


_MILLION = 0.999e6
_NEAR = 6
_BACK = 8
"""Amounts to look back at, at most."""
_MEASURED = frozenset({"mass", "volume", "area", "volume per time", "mass per time"})
_MOVES = CHANGE_VERBS | {"to", "from", "by"}
_PAYS = MONEY | PAID
_TAKES_MONEY = (
    CHANGE_VERBS
    | PAID
    | frozenset(
        "was were is are be been being lost lose loses spent spend spends raised paid bought buying buys lent borrowed "
        "invested totalled totaled total totals exceeded exceed worth made posted including".split()
    )
)
"""Verbs whose object in millions is money, where money was spoken of."""
_COUNTED = frozenset(
    "population circulation readership audience membership users subscribers customers members readers viewers people "
    "inhabitants residents employees workers shares votes copies visitors passengers tourists traffic attendance crowd "
    "crowds workforce staff fleet".split()
)
"""Nouns of what is counted, which stand before their number: "a population of 5 million"."""
_NEVER_SHARED = frozenset({"ratio", "ratio difference", "time", "age", "date", "count", ""})
_COMPARED = 20
_LINKS = frozenset("from against versus vs".split())
_NAMING = NOUNS | ADJECTIVES | {"DT", "PRP$", "VBN", "VBG", "POS"}
_ALIKE = 30.0


def _alike(a: Amount, b: Amount) -> bool:
    return 0 < abs(a.low) <= _ALIKE * abs(b.low) and abs(b.low) <= _ALIKE * abs(a.low)


def _numbered(
    tokens: Sequence[Token], amount: Amount, before: Sequence[Amount], units: Units, parse: Parse
) -> Unit | None:
    """ "The number of open posts rose to 300 from 280": what the subject of the verb counts."""
    if not amount.low.is_integer() or amount.number.rule == "fraction":
        return None
    subject = _subject_of_number(tokens, amount, parse)
    subject = _subject_of_level(tokens, amount, parse) if subject is None else subject
    if subject is not None:
        return plural_noun(tokens, subject, units)
    verb = False
    for k in range(amount.first - 1, max(0, amount.first - _REACH), -1):
        if tokens[k].text in ".;:!?" and not abbreviates(tokens, k):
            return None
        verb = verb or parse.tags[k] in _FINITE
        if tokens[k].low == "of" and tokens[k - 1].low in ("number", "numbers"):
            if k > 1 and tokens[k - 2].low in ("a", "any"):
                return None  # "a number of tests" are several
            head = _head(tokens, k + 1, amount.first, parse)
            others = [a for a in before if a.first > k and not a.bare and not a.year and a.unit.family != "ratio"]
            if head is None or not verb or any(a.unit.family != "count" for a in others):
                return None
            return plural_noun(tokens, head, units)
    return None


def _subject_of_number(tokens: Sequence[Token], amount: Amount, parse: Parse) -> int | None:
    """The plural before the verb of "the subscribers numbered 3.4 million", "customers will number about 70,000"."""
    k = amount.first
    while k and tokens[k - 1].low in _ABOUT:
        k -= 1
    if not k or tokens[k - 1].low not in ("number", "numbered") or parse.tags[k - 1] not in ("VB", "VBP", "VBD"):
        return None
    if amount.low < _FEW:
        return None
    k -= 1
    while k and (tokens[k - 1].low in _AVERAGELY or parse.tags[k - 1] in ("MD", "RB")):
        k -= 1
    plural = k > 0 and parse.tags[k - 1] in ("NNS", "NNPS")
    return k - 1 if plural and parse.relations[k - 1] in ("nsubj", "nsubj:pass") else None


def _subject_of_level(tokens: Sequence[Token], amount: Amount, parse: Parse) -> int | None:
    """The plural whose level a number is, of what is counted: "customers grew to 4,200", "deaths totaled 300"."""
    k = amount.first - 1
    while k > 0 and tokens[k].low in _ABOUT:
        k -= 1
    k -= k > 0 and tokens[k].low in ("to", "at")
    if k < 1 or amount.low < _FEW or not (tokens[k].low in _LEVELS or tokens[k].low in CHANGE_VERBS):
        return None
    for j in range(k - 1, max(0, k - _COMPARED) - 1, -1):
        led = parse.heads[j] == k or amount.number.first <= parse.heads[j] < amount.number.last  # of a copula
        if led and parse.relations[j] in ("nsubj", "nsubj:pass"):
            large = amount.low >= _SHARES or tokens[j].low != "shares"  # "shares rose to 45"
            return j if tokens[j].low in _THINGS and large and parse.tags[j] == "NNS" else None
    return None


_LEVELS = frozenset("was were are is totaled totalled reached stood numbered averaged hit".split())
_THINGS = frozenset(
    "users subscribers customers members readers viewers inhabitants residents employees workers shares votes copies "
    "visitors passengers tourists stores shops outlets branches restaurants hotels patients students pupils deaths "
    "births marriages accidents homes vehicles cars beds jobs seats".split()
)
"""Plurals of what is counted, and neither paid for nor measured."""
_SHARES = 10_000
"""Shares from which on a number counts them and is not their price."""
_FEW = 10
_ABOUT = frozenset("about around some nearly almost roughly over only just".split())
_AVERAGELY = frozenset("on average now".split())


def _head(tokens: Sequence[Token], k: int, stop: int, parse: Parse) -> int | None:
    """The plural noun of the phrase that starts at token k."""
    head = None
    while k < stop and (tokens[k].low == "the" or parse.tags[k] in NOUNS | ADJECTIVES | {"VBN", "VBG", "CC", "HYPH"}):
        if parse.tags[k] in ("NNS", "NNPS") or tokens[k].low in ("people", "staff", "personnel"):
            head = k
        k += 1
    return head
