"""Nouns of change, and the amounts that are their size: "a 5 % rise", "an increase in net sales of $3 million".

A noun of change counts only as the head of its phrase (a "growth rate" does not grow), and only where nothing but its
own complement stands between it and the amount.
"""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.lexicon import FUNCTION_WORDS, VERBS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token
from qbench.quantities.types import Change

_UP: Change = "up"
_DOWN: Change = "down"
CHANGE_NOUNS: dict[str, Change] = dict.fromkeys(
    "rise rises increase increases growth jump jumps surge surges hike hikes climb climbs upturn uptick upticks uplift "
    "boost boosts raise raises improvement improvements expansion appreciation rebound increment gain gains "
    "leap leaps spike spikes advance advances escalation escalations".split(),
    _UP,
) | dict.fromkeys(
    "fall falls decrease decreases decline declines drop drops reduction reductions cut cuts cutback cutbacks downturn "
    "slump slumps dip dips plunge plunges slide slides contraction shrinkage depreciation devaluation deterioration "
    "erosion loss losses lowering".split(),
    _DOWN,
)
_SIGNED = frozenset({"change", "changes", "difference", "differences"})
"""What says only by a sign, or by an adjective, where it goes."""
NOUNS = CHANGE_NOUNS.keys() | _SIGNED
_WON_OR_LOST = frozenset("gain gains loss losses appreciation depreciation".split())
"""Of money they are results and no changes: "a net loss of $5 million", "depreciation of $2 million"."""
_LAID_OFF = frozenset("job position post".split())
"""What firms lose by number: "the loss of 380 jobs"."""
_BODILY = frozenset("weight mass fat bone height".split())
"""Before "loss" and "gain": "a weight loss of 5 kg"."""
_OF_LENGTHS = frozenset("fall falls drop drops climb climbs jump jumps leap leaps slide slides hike hikes".split())
"""A length of these is one that somebody moves: "a 9 m drop"."""
_LIGHT = frozenset(
    "about around approximately approx exactly precisely nearly almost roughly some more less than as much many a "
    "an the another average mean median net total overall only just at least most up to over under further "
    "additional estimated of ~ ≈ - – − +".split()
)
_THAN = frozenset("higher lower greater larger smaller more less".split())
_DETERMINERS = frozenset("the a an this these its their our his her mean median average total and between".split())
_COPULAS = frozenset("was were is are be been averaged averaging totaled totalled totaling reached equals = :".split())
_COMPLEMENTS = frozenset("in of to for and or the a an our its their & net other between from".split())
_HEADED = frozenset("in of to for on by from over was were is are among between at with and or during than (".split())
"""What may follow a noun of change that is the head of its phrase."""
_EXPENSES = frozenset(
    "cost costs expense expenses sales revenue revenues volume volumes price prices income profit profits earnings "
    "spending demand output production shipments deliveries bookings orders".split()
)
"""What can be higher or lower by a percentage, and is not itself measured in percent."""
_COMPARATIVES: dict[str, Change] = {"higher": _UP, "increased": _UP, "lower": _DOWN, "reduced": _DOWN}
_JUDGED: dict[str, Change] = {
    "favorable": _UP, "favourable": _UP, "positive": _UP, "unfavorable": _DOWN, "unfavourable": _DOWN,
    "adverse": _DOWN, "negative": _DOWN,
}  # fmt: skip
"""Which way a change is: "an unfavorable change of $3 million"."""
_MODIFIERS = 3
"""Words between an amount and the noun after it at most: "a 5 % annual price increase"."""
_REACH = 24
"""Tokens back from an amount to the noun before it at most."""


def noun_change(tokens: Sequence[Token], amount: Amount, first: int, floor: int, parse: Parse | None) -> Change:
    """The change whose size an amount is by a noun beside it, or "".

    Args:
        first: the first token of the amount and of the words that bound it.
        floor: where the amount before it ends.
    """
    told = _noun_after(tokens, amount, parse) or _of_sum(tokens, amount)
    return told or _noun_before(tokens, amount, first, floor, parse)


def _noun_after(tokens: Sequence[Token], amount: Amount, parse: Parse | None) -> Change:
    """ "a 5 % rise", "an 8 % organic growth", "6 % weight loss"."""
    k = amount.last
    for _ in range(_MODIFIERS + 1):
        if k >= len(tokens) or tokens[k].kind != "word":
            return ""
        if tokens[k].low in NOUNS and _ends_phrase(tokens, k, parse):
            if tokens[k].low in _SIGNED:
                return by_sign(tokens, amount)
            return "" if amount.bare and tokens[k].low.endswith("s") else of_noun(tokens, k, amount)
        named = parse is not None and parse.tags[k].startswith("NN")  # "a 5 % pay cut"
        if tokens[k].low in FUNCTION_WORDS or (tokens[k].low in VERBS - NOUNS and not named):
            return ""
        if parse is not None and parse.tags[k] and not parse.tags[k].startswith(("JJ", "NN", "VBG", "VBN", "AFX")):
            return ""
        k += 1
    return ""


def _of_sum(tokens: Sequence[Token], amount: Amount) -> Change:
    """ "$9 billion in military spending cuts", "40 megawatts of load reductions": sums of cuts and rises."""
    k, family = amount.last, amount.unit.family
    if k >= len(tokens) or tokens[k].low not in ("in", "of") or family in _NO_SUMS:
        return ""
    for j in range(k + 1, min(len(tokens), k + 2 + _WORDS_OF_SUM)):
        if tokens[j].low in _SUMS:
            after = tokens[j + 1] if j + 1 < len(tokens) else None
            ends = after is None or after.kind != "word" or after.low in FUNCTION_WORDS | VERBS | _WHEN
            said = [t.low for t in tokens[k + 1 : j]]
            told = said or (family == "currency" and tokens[k].low == "in")
            return CHANGE_NOUNS[tokens[j].low] if ends and told and _OTHER_CUTS.isdisjoint(said) else ""
        if tokens[j].text != "-" and (tokens[j].kind != "word" or tokens[j].low in FUNCTION_WORDS):
            return ""
    return ""


_SUMS = frozenset("cuts reductions decreases increases hikes raises".split())
_WHEN = frozenset("last this next since yesterday today tomorrow so".split())
_OTHER_CUTS = frozenset(
    "beef pork lamb veal meat steak prime choice premium cold thin thick deep lean fresh frozen loin rib mountain hill "
    "hills forest guided day scenic rail road paper hair fabric clear diamond gem short long first".split()
)
"""Before cuts of meat, cloth and roads, and hikes in the hills, which are no sums."""
_NO_SUMS = frozenset(("", "count", "time", "date", "age", "ratio"))
_WORDS_OF_SUM = 4
"""Words between "in" and "cuts" at most."""


def _ends_phrase(tokens: Sequence[Token], k: int, parse: Parse | None) -> bool:
    """Whether the noun at k is the head of its phrase, and a noun: no "growth fund", no "sales of 5 tonnes fall"."""
    if parse is not None and parse.tags[k] and not parse.tags[k].startswith(("NN", "JJ")):
        return False
    after = tokens[k + 1] if k + 1 < len(tokens) else None
    if after is not None and after.text == "-" and k + 2 < len(tokens) and tokens[k + 2].low == "to":
        return False  # "67 cut-to-length machines"
    if after is None or after.kind != "word" or after.low in FUNCTION_WORDS or after.low in VERBS:
        return True
    return parse is not None and not parse.tags[k + 1].startswith(("NN", "JJ", "CD"))


def of_noun(tokens: Sequence[Token], k: int, amount: Amount) -> Change:
    """What the noun of change at k makes of an amount."""
    noun, family = tokens[k].low, amount.unit.family
    if family in ("date", "age", "time") or (noun in _OF_LENGTHS and family == "length"):
        return ""
    before, after = tokens[k - 1].low if k else "", tokens[k + 1].low if k + 1 < len(tokens) else ""
    if _named(tokens, k) or (noun == "loss" and after == "to"):
        return ""  # "the Tax Cuts and Jobs Act", "loss to follow-up"
    if noun in _SIGNED:
        return _signed(tokens, k, amount)
    if noun in ("improvement", "improvements"):
        return _improved(tokens, k, amount)
    results = family not in ("ratio", "ratio difference", "mass") and amount.unit.name not in ("point", "tick", "pip")
    results = results and amount.unit.name.rsplit(" ", 1)[-1] not in _LAID_OFF
    if noun in _WON_OR_LOST and before not in _BODILY and (results or (family == "ratio" and after == "to")):
        return ""
    return CHANGE_NOUNS[noun]


def _named(tokens: Sequence[Token], k: int) -> bool:
    """Whether the noun at k is in a name that goes on: "the Tax Cuts and Jobs Act"."""
    ahead = tokens[k + 1 : k + 3]
    return tokens[k].text[:1].isupper() and len(ahead) == 2 and ahead[0].low in ("and", "&") and ahead[1].text.istitle()


def _signed(tokens: Sequence[Token], k: int, amount: Amount) -> Change:
    """What a change is by its sign; a difference only where it is one of changes, or by an adjective."""
    if judged := _JUDGED.get(tokens[k - 1].low if k else ""):
        return judged
    inside = {t.low for t in tokens[k + 1 : amount.first]}
    if tokens[k].low.startswith("difference") and inside.isdisjoint(_CHANGED) and tokens[k - 1].low not in _CHANGED:
        return ""
    if amount.high > 0 and (tokens[k - 1].low in _MEASURED or "baseline" in inside) and amount.low > 0:
        return _UP
    return by_sign(tokens, amount)


_CHANGED = frozenset("change changes reduction reductions decrease decreases increase increases".split())
_MEASURED = frozenset("mean median percentage percent relative absolute".split())
"""Before "change": one that was measured, and is a rise where it has no minus."""


def _improved(tokens: Sequence[Token], k: int, amount: Amount) -> Change:
    """An improvement of what is better when it is less is a fall: "an improvement in pain of 3 points"."""
    if amount.high < 0:
        return _DOWN
    near = {t.low for t in tokens[max(0, k - _MODIFIERS) : amount.first]}
    return _UP if near.isdisjoint(_BETTER_LESS) else _DOWN


_BETTER_LESS = frozenset(
    "pain symptom symptoms severity cholesterol ldl glucose hba1c a1c pressure iop disability depression depressive "
    "anxiety fatigue itching pruritus inflammation insomnia stress weight bmi".split()
)
"""What patients are the better for the less there is of it."""


def by_sign(tokens: Sequence[Token], amount: Amount) -> Change:
    """The change that the sign of an amount says: "a change of -3 kg"."""
    if amount.high < 0:
        return _DOWN
    k = amount.first - 1
    return _UP if k >= 0 and tokens[k].text == "+" else ""


def _noun_before(tokens: Sequence[Token], amount: Amount, first: int, floor: int, parse: Parse | None) -> Change:
    """ "an increase of 5 %", "a decline in unit volume of 7 %", "the mean rise was 3 kg"."""
    floor = max(floor, first - _REACH)
    k = first - 1
    while k >= floor and tokens[k].low in _LIGHT and tokens[k].low != "of":
        k -= 1
    if k <= floor:
        return ""
    link, family = tokens[k].low, amount.unit.family
    if link in NOUNS and tokens[k + 1].low == "up" and _may_be_noun(k, parse):
        return of_noun(tokens, k, amount)  # "a decrease up to 40 %"
    if link in ("=", ":") and tokens[k - 1].low in ("change", "changes") and amount.unit.name:
        return _DOWN if amount.high < 0 else _UP  # "(weight change: 0.3 kg)"
    if link == ":" and (opening := _label_opens(tokens, k, floor)):
        k, link = opening, "("  # "(men: 5 %"
    if amount.is_range and link in ("ranged", "ranging", "ranges"):
        return _subject(tokens, k - 1, amount, floor, parse)
    if amount.last < len(tokens) and tokens[amount.last].low in _THAN:
        return ""  # "the weight loss was 1.5 times higher"
    if link == "(":
        compared = _compared(tokens, k, floor, parse)
        if compared is not None:
            return of_noun(tokens, compared, amount)
        linked = amount.low < 0 or family.startswith(("ratio", "currency")) or amount.unit.name == "point"
    elif link == "by" and tokens[k - 1].text in "([":
        return _around_brackets(tokens, k - 1, amount, floor, parse)
    elif link == "by":
        linked = family != "count"
    else:
        linked = link == "of" or link in _COPULAS
    if not linked:
        return ""
    if link in _BEEN:
        k = _first_auxiliary(tokens, k)
    change = _head(tokens, k - 1, amount, floor, parse, direct=link == "of")
    return change or (
        _subject(tokens, k - 1, amount, floor, parse) if link in _COPULAS and link not in ("=", ":") else ""
    )


_BEEN = frozenset({"be", "been"})


def _first_auxiliary(tokens: Sequence[Token], k: int) -> int:
    """The first word of "would have been" that ends at k."""
    while k and tokens[k - 1].low in _HELPING:
        k -= 1
    return k


_HELPING = frozenset("will would could may might can should must have has had be been not also".split())


def _subject(tokens: Sequence[Token], end: int, amount: Amount, floor: int, parse: Parse | None) -> Change:
    """What the noun of change makes of an amount that heads the subject which ends at `end`, all its phrases included.

    The subject is what stands between the beginning of the clause and its verb.
    """
    start = end
    while start >= floor and not _opens_clause(tokens, start, parse):
        start -= 1
    for k in range(start + 1, end + 1):
        token = tokens[k]
        if token.low in NOUNS and _may_be_noun(k, parse):
            return of_noun(tokens, k, amount) if k == end or tokens[k + 1].low in _HEADED else ""
        determines = token.low in _DETERMINERS or token.text in "-–%"
        if not determines and (token.kind != "word" or token.low in FUNCTION_WORDS or token.low in VERBS):
            return ""
    return ""


def _opens_clause(tokens: Sequence[Token], k: int, parse: Parse | None) -> bool:
    token = tokens[k]
    if token.kind == "mark":
        return token.text in ".;:!?,"
    if token.low in ("that", "which", "who", "because", "while", "although", "but", "if"):
        return True
    return parse is not None and bool(parse.tags[k]) and parse.tags[k] in _FINITE


def _around_brackets(tokens: Sequence[Token], k: int, amount: Amount, floor: int, parse: Parse | None) -> Change:
    """ "a decrease in plaque (by 5 %)", "a slight (by 7 %, p = 0.1) decrease": the noun around the bracket at k."""
    for j in range(k - 1, floor - 1, -1):
        if tokens[j].low in NOUNS and tokens[j + 1].low in ("in", "of") and _may_be_noun(j, parse):
            return of_noun(tokens, j, amount)
        if _ends_clause(tokens[j]):
            break
    closing = next(
        (j for j in range(amount.last, min(len(tokens), amount.last + _REACH)) if tokens[j].text in ")]"), -2
    )
    after = closing + 1
    named = 0 < after < len(tokens) and tokens[after].low in NOUNS
    return of_noun(tokens, after, amount) if named else ""


def _label_opens(tokens: Sequence[Token], k: int, floor: int) -> int:
    """The bracket before the label that the colon at k ends, or 0."""
    for j in range(k - 1, max(floor, k - 4) - 1, -1):
        if tokens[j].text == "(":
            return j
        if tokens[j].kind != "word":
            return 0
    return 0


def _compared(tokens: Sequence[Token], k: int, floor: int, parse: Parse | None) -> int | None:
    """The noun of "the fall in pain was greater in men" before the bracket at k, and only of such a clause."""
    compared = False
    for j in range(k - 1, floor - 1, -1):
        token = tokens[j]
        if token.low in _ALIKE and token.low not in NOUNS:
            compared = True
        elif token.low in NOUNS and tokens[j + 1].low in ("in", "of"):
            compared = compared or any(t.low in _DEGREES for t in tokens[max(floor, j - _MODIFIERS) : j])
            return j if compared and _may_be_noun(j, parse) else None
        elif _ends_clause(token):
            return None
    return None


def _ends_clause(token: Token) -> bool:
    if token.kind == "mark":
        return token.text not in "-–’'"
    return token.low in _OTHER_CLAUSES or (token.low in VERBS and token.low not in _COPULAS)


_ALIKE = frozenset("similar comparable equal greater larger smaller higher lower pronounced significant seen".split())
_DEGREES = _ALIKE - {"significant", "pronounced", "seen"}
_OTHER_CLAUSES = frozenset("with by which that who to from after when because among".split())


def _head(
    tokens: Sequence[Token], end: int, amount: Amount, floor: int, parse: Parse | None, *, direct: bool
) -> Change:
    """The noun of change that heads the phrase which ends at token `end`, past its complement.

    Args:
        direct: "of" stands between the phrase and the amount.
    """
    k, listed = end, False
    while k >= floor:
        token = tokens[k]
        if token.text == ")":
            k = _opening(tokens, k, floor)
            continue
        if token.low in NOUNS and (k == end or tokens[k + 1].low in _HEADED) and _may_be_noun(k, parse):
            if (listed and tokens[k + 1].low not in ("in", "to")) or (
                direct and k != end and amount.unit.family == "count"
            ):
                return ""  # "a rise in the number of 5 boats"
            return of_noun(tokens, k, amount)
        if direct and token.low in _EXPENSES and amount.unit.family == "ratio":
            if (change := _of_comparative(tokens, k, floor)) is not None:
                return change
        listed = listed or (token.text == "," and tokens[k + 1].low in ("and", "or"))
        if _ends_complement(tokens, k, parse, listed=listed):
            return ""
        k -= 1
    return ""


def _ends_complement(tokens: Sequence[Token], k: int, parse: Parse | None, *, listed: bool) -> bool:
    """Whether token k is no part of what a noun of change may be of: "in unit volume", "to income, tax, and dues"."""
    token = tokens[k]
    if token.kind == "mark":
        return token.text not in "-–/&’'" and not (listed and token.text == ",")
    if token.low in FUNCTION_WORDS:
        return token.low not in _COMPLEMENTS
    if parse is not None and parse.tags[k]:
        return parse.tags[k] in _FINITE
    return token.low in VERBS and token.low not in NOUNS and token.low != "total"


_FINITE = frozenset({"VB", "VBD", "VBP", "VBZ", "MD"})


def _may_be_noun(k: int, parse: Parse | None) -> bool:
    return parse is None or not parse.tags[k] or parse.tags[k].startswith(("NN", "JJ"))


def _of_comparative(tokens: Sequence[Token], k: int, floor: int) -> Change | None:
    """ "higher operating costs of 3 %"; None where no comparative stands before the noun at k."""
    for j in range(k - 1, max(floor, k - 4) - 1, -1):
        if tokens[j].low in _COMPARATIVES:
            return _COMPARATIVES[tokens[j].low]
        if (tokens[j].low in FUNCTION_WORDS and tokens[j].low not in ("and", "or")) or tokens[j].kind != "word":
            return None
    return None


def _opening(tokens: Sequence[Token], k: int, floor: int) -> int:
    """The token before the bracket that closes at k."""
    while k >= floor and tokens[k].text != "(":
        k -= 1
    return k - 1
