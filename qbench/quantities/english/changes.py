"""Which amounts are the size of a change: "rose about 5%", "grew sales by 35 per cent", "1.2% lower", "or 0.6%".

Nouns of change are in `change_nouns`. The level that a change leads to ("fell to $3") and the one it comes from are no
change.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.change_nouns import NOUNS, by_sign, noun_change, of_noun
from qbench.quantities.english.change_sharing import FAR, LABELLED, PERCENT, shared_change
from qbench.quantities.english.change_words import (
    AFTERWARDS,
    BEFORE_NOUNS,
    COMPARATIVES,
    ENDS,
    JUDGED,
    JUDGED_VERBS,
    LIGHT,
    MOVES,
    NEVER_DIRECT,
    NOUNS_TOO,
    OUTDONE,
    PARTICLE_VERBS,
    PLACES,
    SAVINGS,
    STAFF,
    TAKERS,
    TURNS,
    directed,
)
from qbench.quantities.english.differences import difference
from qbench.quantities.english.lexicon import FUNCTION_WORDS, SIDES, VERBS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import HYPHENS, Token, glued
from qbench.quantities.types import Change

REACH = 10
"""Tokens back from an amount at most, to find its verb or the amount whose change it shares."""


def read_changes(
    tokens: Sequence[Token], amounts: Sequence[Amount], firsts: Sequence[int], parse: Parse | None
) -> list[Change]:
    """The change that each amount is the size of, or "".

    Args:
        firsts: for each amount the first token of it and of the words that bound it.
    """
    changes: list[Change] = []
    for k, amount in enumerate(amounts):
        last = amounts[k - 1].last if k else 0
        further = _past(amounts, k)
        following = amounts[k + 1] if k + 1 < len(amounts) else None
        change = _change(tokens, amount, firsts[k], (last, further), following, parse)
        change = change or difference(tokens, amount) or noun_change(tokens, amount, firsts[k], further, parse)
        change = change or _moved_by_sign(tokens, amount) or _in_brackets(tokens, amount, following, parse)
        change = change or shared_change(tokens, amounts, changes, k, firsts[k], parse)
        changes.append("" if amount.p_value or _is_measure(tokens, amount.first) else change)
        if k and not changes[k - 1] and _closes_list(tokens, amounts[k - 1], amount):
            changes[k - 1] = change
    return changes


def _past(amounts: Sequence[Amount], k: int) -> int:
    """Where the last amount before the one at k ends that may have a change itself: no time and no p-value."""
    k -= 1
    while k >= 0 and (amounts[k].p_value or amounts[k].unit.family in ("time", "date")):
        k -= 1
    return amounts[k].last if k >= 0 else 0


def _change(
    tokens: Sequence[Token],
    amount: Amount,
    first: int,
    ends: tuple[int, int],
    following: Amount | None,
    parse: Parse | None,
) -> Change:
    """The change by the words around one amount.

    Args:
        ends: where the amount before it ends, and the last before it that is no time.
    """
    family, floor = amount.unit.family, max(ends[0], first - REACH)
    if told := _paced(tokens, amount, first, parse) or _passive(tokens, amount):
        return told
    if family in ("date", "age") or (family == "length" and _is_extent(tokens, amount)):
        return ""
    k = amount.first - 1
    if k >= floor and tokens[k].low == "at":
        return ""  # "5 % lower at 7,512 points"
    if k > floor and _bounds(tokens, k, amount):
        k -= 2
        first = amount.first
    by = False
    if [t.low for t in tokens[max(floor, k - 2) : k + 1]] == ["a", "factor", "of"]:
        k -= 3  # "rose by a factor of 3"
    if k > floor and tokens[k].low in ("under", "over", "below", "above") and tokens[k - 1].low == "by":
        k -= 1  # "rose by under 2 %"
    while k >= floor and tokens[k].low in LIGHT and not _moves(tokens, k, amount, following, parse):
        by = by or tokens[k].low == "by"
        k -= 1
    if any(_places(tokens, j) for j in range(max(k + 1, first), amount.first)) and not by:
        return _afterwards(tokens, amount) if first == amount.first else ""
    if k == amount.first - 1 and _is_attribute(tokens, amount):
        return ""
    if k >= floor:
        change = _verb(tokens, k, amount, following, parse, by=by)
        if change:
            return "" if _denied(tokens, k) else change
        if by or (_leads(tokens, amount, following) and tokens[k].low not in PLACES):
            # "grew sales by 35%", "raised its dividend 7% to 60 cents"
            return _far_verb(tokens, k, max(ends[1], k - FAR) if by else floor, parse, by=by)
    return _afterwards(tokens, amount)


def _is_extent(tokens: Sequence[Token], amount: Amount) -> bool:
    """Whether a length says how large something is: "grows 6-8 feet high"."""
    k = amount.last
    if k >= len(tokens) or tokens[k].low not in SIDES or (amount.first and tokens[amount.first - 1].low == "by"):
        return False
    after = tokens[k + 1].low if k + 1 < len(tokens) else ""
    return (tokens[k].low, after) not in _NOT_OF_SIDES


_NOT_OF_SIDES = {("long", word) for word in ("before", "after", "ago", "since")} | {("high", "up")}
"""What is no side: "rose 2 m long before dawn", "climbed 30 m high up in the tree"."""


def _is_measure(tokens: Sequence[Token], first: int) -> bool:
    """Whether the amount at token `first` says where something ends: "the saw cuts to a depth of 65 mm"."""
    words = [t.low for t in tokens[max(0, first - 4) : first]]
    return words[:2] == ["to", "a"] and words[-1:] == ["of"] and words[-2] in _MEASURES


def _places(tokens: Sequence[Token], j: int) -> bool:
    """Whether token j makes a level of the number after it; the "at" of "up at least 8 %" does not."""
    return tokens[j].low in PLACES and not _is_bound(tokens, j)


def _is_bound(tokens: Sequence[Token], j: int) -> bool:
    """Whether "at least" or "at most" begins at token j."""
    return tokens[j].low == "at" and j + 1 < len(tokens) and tokens[j + 1].low in ("least", "most")


def _bounds(tokens: Sequence[Token], j: int, amount: Amount) -> bool:
    """Whether the "to" at j is that of "could fall up to $5 million" or "up to 3 %", and not of a level."""
    up_to = tokens[j].low == "to" and j > 0 and tokens[j - 1].low == "up"
    if up_to and j > 2 and tokens[j - 2].low in _LIFTED and tokens[j - 3].low in ("be", "been", "was", "were"):
        return amount.unit.family in PERCENT  # "may be increased up to $5 million"
    return up_to and (amount.unit.family in PERCENT or amount.unit.family.startswith("currency"))


_MEASURES = frozenset("depth width length height thickness".split())
_LIFTED = frozenset("increased raised expanded extended upped reduced lowered".split())


def _is_attribute(tokens: Sequence[Token], amount: Amount) -> bool:
    """Whether an amount describes a noun, "an advanced 360-degree camera": its unit is joined to it."""
    k = amount.number.last
    joined = k < amount.last and tokens[k].text in HYPHENS
    if not joined or amount.unit.family == "ratio":
        return False
    describes = amount.last < len(tokens) and _has_object(tokens, amount.last - 1)
    return describes or not _is_fold(tokens, amount)


def _is_fold(tokens: Sequence[Token], amount: Amount) -> bool:
    """ "threefold", "2.5-fold": how many times as much."""
    return amount.unit.name == "count" and (amount.number.rule == "fold" or tokens[amount.last - 1].low == "fold")


def _leads(tokens: Sequence[Token], amount: Amount, following: Amount | None) -> bool:
    """Whether an amount changes something to the level after its "to": "raised the dividend 2 cents to 35 cents"."""
    if following is None or following.first - amount.last != 1 or tokens[amount.last].low != "to":
        return False
    if amount.unit.name == "point":
        return following.unit.family == "ratio"
    money = amount.unit.family == "currency" and following.unit.family.startswith("currency")
    smaller = money and following.unit.name.startswith(amount.unit.name) and amount.high < following.low
    return amount.unit.family == "ratio" or smaller


def _moves(tokens: Sequence[Token], k: int, amount: Amount, following: Amount | None, parse: Parse | None) -> bool:
    return tokens[k].low in ("up", "down") and bool(_verb(tokens, k, amount, following, parse, by=False))


def _verb(
    tokens: Sequence[Token], k: int, amount: Amount, following: Amount | None, parse: Parse | None, *, by: bool
) -> Change:
    """What the word right before an amount (but for light words) makes of it."""
    word = tokens[k].low
    if word in ("up", "down"):
        return _direction(tokens, k, amount)
    if _is_noun(tokens, k, parse):
        return ""
    if parse is None and word in NOUNS_TOO and amount.unit.family == "length" and not by:
        return ""  # "high jump over 2.30 m", "shoes, drop 6 mm"
    if word in MOVES:
        return MOVES[word] if by or amount.unit.family != "time" else ""
    if word in TURNS and word not in NEVER_DIRECT:
        to_level = following is not None and following.first - amount.last == 1 and tokens[amount.last].low == "to"
        part = word in SAVINGS and amount.last < len(tokens) and tokens[amount.last].low == "of"
        sized = _is_market(amount) or is_staff(amount) or _is_weight(word, amount) or _is_fold(tokens, amount)
        sized = sized or (amount.unit.family == "currency" and _is_of_shares(tokens, k))
        return TURNS[word] if (by or to_level or sized) and not part else ""
    return ""


_SHARES = frozenset("share shares stock stocks shr".split())
"""What gains and loses amounts of money by moving."""


def _is_of_shares(tokens: Sequence[Token], k: int) -> bool:
    """Whether shares are the subject of the verb at k: "its A share lost EUR 0.12", not "holders of shares lost"."""
    if not k or tokens[k - 1].low not in _SHARES:
        return False
    before = [t.low for t in tokens[max(0, k - _FAR_SUBJECT) : k - 1]]
    return not any(word in VERBS or word in _TAKING or word.endswith("ed") for word in before)


_FAR_SUBJECT = 6
_TAKING = frozenset("of who which that whose bought sold held fake".split())


def _direction(tokens: Sequence[Token], k: int, amount: Amount) -> Change:
    """ "up 19 per cent", "down nearly $2", but not "gave up 500 yards" or "up to 5"."""
    lead = tokens[k - 1].low if k else ""
    if (lead in HYPHENS and glued(tokens[k - 1], tokens[k])) or lead in ("follow", "loss"):
        return ""  # "after the follow-up 60 patients"
    if lead in (TAKERS if _is_market(amount) else PARTICLE_VERBS) or (amount.unit.family == "time" and lead != "is"):
        return ""
    if k + 1 < len(tokens) and tokens[k + 1].low in ("to", "from", "for", "the", "at") and not _is_bound(tokens, k + 1):
        return ""
    return "up" if tokens[k].low == "up" else "down"


def _far_verb(tokens: Sequence[Token], k: int, floor: int, parse: Parse | None, *, by: bool) -> Change:
    """The verb of "grew sales by 35%", or the comparative of "higher than in May by 3 kg", nearest in the clause."""
    while k >= floor and tokens[k].text not in ENDS:
        word = tokens[k].low
        if by and word in OUTDONE:
            return "" if _denied(tokens, k) else "up"
        if k and (word in JUDGED_VERBS and (judged := JUDGED.get(tokens[k - 1].low) or JUDGED.get(tokens[k + 1].low))):
            return judged
        change = MOVES.get(word) or TURNS.get(word) or ""
        if change and k and tokens[k - 1].text in HYPHENS and glued(tokens[k - 1], tokens[k]):
            change = ""  # "the follow-up survey by 40 people"
        noun = _is_noun(tokens, k, parse) and not (by and word in TURNS and _has_object(tokens, k))
        if by and word in COMPARATIVES and (noun or not change):
            return COMPARATIVES[word]
        if change and not noun:
            return "" if _denied(tokens, k) else change
        k -= 1
    return ""


def _is_noun(tokens: Sequence[Token], k: int, parse: Parse | None) -> bool:
    """Whether a form that may be a noun is one: "a rise", "price cuts"."""
    if tokens[k].low not in NOUNS_TOO:
        return False
    if tokens[k].low == "lower" and k + 1 < len(tokens) and tokens[k + 1].low == "than":
        return True  # "a rate higher than 4% but lower than 6%"
    if any(t.low in _SEEING for t in tokens[max(0, k - _SEEN) : max(0, k - 1)]) and tokens[k + 1].kind == "number":
        return False  # "saw sales slip 5 %"
    if parse is not None and parse.tags[k]:
        return parse.tags[k].startswith(("NN", "JJ"))
    relative = k > 1 and tokens[k - 1].low == "that" and tokens[k - 2].low.endswith("s")  # "firms that cut 1,000 jobs"
    return bool(k) and tokens[k - 1].low in BEFORE_NOUNS and not relative


_SEEING = frozenset("saw see sees seen".split())
_SEEN = 5


def _has_object(tokens: Sequence[Token], k: int) -> bool:
    """Whether a noun stands right after token k: "a strong krona cut sales by 2 %"."""
    after = tokens[k + 1]
    return after.kind == "word" and after.low not in FUNCTION_WORDS and after.low not in VERBS


def _denied(tokens: Sequence[Token], k: int) -> bool:
    """Whether the verb at k is negated: "did not rise 5%"."""
    return any(t.low in ("not", "never") or t.low.endswith(("n't", "n’t")) for t in tokens[max(0, k - 2) : k])


def is_staff(amount: Amount) -> bool:
    """Whether an amount counts what is added and lost by number."""
    return amount.unit.name.rsplit(" ", 1)[-1] in STAFF


def _is_weight(word: str, amount: Amount) -> bool:
    """ "lost 3 kg", "gained 12 pounds"; what is added may be flour."""
    return amount.unit.family == "mass" and word.startswith(("los", "gain", "shed"))


def _is_market(amount: Amount) -> bool:
    """Whether an amount is one that prices, indices and shares move by."""
    unit = amount.unit
    if unit.family == "currency":
        return unit.factor < 1 and unit.base_unit != unit.name
    return unit.family in ("ratio", "ratio difference") or unit.name in ("point", "tick", "pip")


def _paced(tokens: Sequence[Token], amount: Amount, first: int, parse: Parse | None) -> Change:
    """ "grew at an annual rate of 6 %"."""
    k = first - 1
    if k < 2 or tokens[k].low != "of" or tokens[k - 1].low not in _PACES or amount.unit.family != "ratio":
        return ""
    k -= 2
    while k > 0 and first - k < _FAR_PACE and tokens[k].low not in ("a", "an", "the"):
        k -= 1
    if k < 1 or tokens[k - 1].low != "at":
        return ""
    for j in range(k - 2, max(0, k - REACH) - 1, -1):
        if tokens[j].low in MOVES and not _is_noun(tokens, j, parse):
            return MOVES[tokens[j].low]
        if tokens[j].low in VERBS or tokens[j].kind == "mark":
            return ""
    return ""


_PACES = frozenset("rate pace clip".split())
_FAR_PACE = 7


def _passive(tokens: Sequence[Token], amount: Amount) -> Change:
    """ "140 jobs will be cut", "30 posts were added"."""
    if not is_staff(amount):
        return ""
    k = amount.last
    while k < len(tokens) and k - amount.last < 3 and tokens[k].low in _AUXILIARIES:
        k += 1
    return _DONE.get(tokens[k].low, "") if amount.last < k < len(tokens) else ""


_AUXILIARIES = frozenset("will would could may must are were is was have has had to be been being".split())
_DONE: dict[str, Change] = directed("cut lost shed axed eliminated slashed scrapped reduced", "down") | directed(
    "added", "up"
)


def _in_brackets(tokens: Sequence[Token], amount: Amount, following: Amount | None, parse: Parse | None) -> Change:
    """ "increased the distance (172 m, p = 0.02)", "lower weight (4 kg, 95 % CI 2 to 6)": the size that is tested."""
    family, k = amount.unit.family, amount.first - 1
    while k > 0 and amount.first - k < LABELLED and (tokens[k].low in LIGHT or tokens[k].low in _DIFFERENCES):
        if tokens[k].text in "([":
            break
        k -= 1
    steps = is_staff(amount) or amount.unit.name in ("point", "step")
    counted = family in ("count", "date", "age", "time") and not steps
    if amount.bare or counted or k < 1 or tokens[k].text not in "([":
        return ""
    inside = _inside(tokens, amount.last)
    if following is not None and following.first < amount.last + len(inside) and not following.p_value:
        if following.unit.base_unit == amount.unit.base_unit and not following.is_range:
            return ""  # "(42 % vs 17 %, p = 0.02)"
    interval = not {"ci", "cis", "cri"}.isdisjoint(inside)
    if not (interval or "p" in inside) or not _COMPARING.isdisjoint(inside) or _compared_behind(tokens, amount, inside):
        return ""
    return _tested(tokens, amount, k - 1, parse, interval=interval)


_DIFFERENCES = frozenset("mean median difference differences change : = ,".split())
_COMPARING = frozenset("vs versus v from".split())


def _compared_behind(tokens: Sequence[Token], amount: Amount, inside: Sequence[str]) -> bool:
    """Whether another amount in brackets is compared with this one: "lower (1.04 kg, p = 0.1) than in men (1.4 kg)"."""
    k = amount.last + len(inside) + 1
    ahead = tokens[k : k + FAR]
    ends = next((n for n, t in enumerate(ahead) if t.text in ENDS), len(ahead))
    linked = next((n for n, t in enumerate(ahead[:ends]) if t.low in ("than", "versus", "vs", "with", "to")), ends)
    after = ahead[linked:ends]
    return any(a.text in "([" and b.kind == "number" for a, b in pairwise(after))


def _inside(tokens: Sequence[Token], k: int) -> list[str]:
    """The words from token k to the end of the brackets that it stands in."""
    words: list[str] = []
    while k < len(tokens) and len(words) < FAR and tokens[k].text not in ")]":
        words.append(tokens[k].low)
        k += 1
    return words


def _tested(tokens: Sequence[Token], amount: Amount, k: int, parse: Parse | None, *, interval: bool) -> Change:
    """The verb before the bracket that ends at token k, or, with an interval, the comparative: past other brackets."""
    stop, depth = max(0, k - FAR), 0
    while k >= stop:
        token = tokens[k]
        depth += (token.text in ")]") - (token.text in "([")
        if depth < 0 or (not depth and token.text in ENDS):
            return ""
        if not depth:
            change = MOVES.get(token.low) or TURNS.get(token.low) or ""
            if change and token.low not in ("up", "down") and not _is_noun(tokens, k, parse):
                return "" if _denied(tokens, k) else change
            if token.low in NOUNS and tokens[k + 1].low in ("in", "of"):
                return of_noun(tokens, k, amount)
            if interval and token.low in COMPARATIVES:
                return COMPARATIVES[token.low]
            if token.low in VERBS and token.low not in _BEING:
                return ""
        k -= 1
    return ""


_BEING = frozenset("was were is are had has have showed shown compared also".split())


def _afterwards(tokens: Sequence[Token], amount: Amount) -> Change:
    """ "1.2% lower", "10 cents higher", "5% up"."""
    k = amount.last
    if k >= len(tokens) or tokens[k].low not in AFTERWARDS:
        return ""
    if tokens[k].low == "off":
        moved = amount.unit.family in PERCENT or amount.unit.family.startswith("currency")
        return "down" if moved else ""
    if not _is_market(amount) and (tokens[k].low in ("up", "down") or amount.unit.family in _POSITIONS):
        return ""
    after = tokens[k + 1] if k + 1 < len(tokens) else None
    # "5% higher taxes" says how much higher they are, and so it is read; "5% up to 8%" is a range.
    return "" if after is not None and after.low in ("to", "for", "front") else AFTERWARDS[tokens[k].low]


_POSITIONS = frozenset("length time date age".split())
"""Families of what may be higher up or lower down without having moved."""


def _closes_list(tokens: Sequence[Token], a: Amount, b: Amount) -> bool:
    """Whether the word after b is about a, too: "3 and 5 % higher", "$3 million and $5 million lower"."""
    if not 1 <= b.first - a.last <= 2 or a.unit.base_unit != b.unit.base_unit:
        return False
    between = [t.low for t in tokens[a.last : b.first]]
    return between in (["and"], ["or"], [",", "and"]) and bool(_afterwards(tokens, b))


def _moved_by_sign(tokens: Sequence[Token], amount: Amount) -> Change:
    """ "(+0.2 %)", "-8 kg": the sign of what cannot be below zero, or has a plus for no other reason."""
    family, k = amount.unit.family, amount.first - 1
    sign = k - (k >= 0 and tokens[k].text == "+")
    if sign >= 0 and tokens[sign].low in _SIGNED and (told := by_sign(tokens, amount)):
        return told  # "changed by -4 %"
    if any(t.low in _LEVELS_APART for t in tokens[_clause_start(tokens, k) : k + 1]):
        return ""
    if amount.high < 0 and family in _RESULTS and not amount.is_range and _after_change(tokens, k):
        return "down"
    if amount.is_range or (family not in PERCENT and family in _MAY_BE_NEGATIVE) or family.startswith("currency"):
        return ""
    if amount.low >= 0:
        plus = k >= 0 and tokens[k].text == "+" and glued(tokens[k], tokens[k + 1])
        return "up" if plus and (not k or not glued(tokens[k - 1], tokens[k]) or tokens[k - 1].text in "([:") else ""
    # A percentage below zero may be a level: "a margin of -5 %".
    moved = family not in _MAY_BE_NEGATIVE or (k >= 0 and tokens[k].text in "([,;")
    return "down" if moved else ""


_SIGNED = frozenset("by changed moved varied".split())
"""Words before a sign that say how far something moved, whatever it is."""


def _clause_start(tokens: Sequence[Token], k: int) -> int:
    """Where the clause of token k begins, or how far back is looked for that."""
    stop = max(0, k - FAR)
    while k > stop and tokens[k].text not in ENDS:
        k -= 1
    return k


def _after_change(tokens: Sequence[Token], k: int) -> bool:
    """Whether a change is told before the negative number after token k: "improvements in scores were ... -15.6"."""
    if k < 0 or tokens[k].low in PLACES or tokens[k].low in ("at", "of"):
        return False
    words = {t.low for t in tokens[_clause_start(tokens, k) : k]}
    return not words.isdisjoint(_MEASURED) and words.isdisjoint(_LEVELS)


_MEASURED = NOUNS - {"difference", "differences", "growth", "loss", "losses", "gain", "gains"}
_LEVELS = frozenset("correlation correlated coefficient margin profit income result results rate yield score".split())
_RESULTS = PERCENT | {"", "count"}


_LEVELS_APART = frozenset("difference differences coefficient beta β b".split())
"""What lies between two levels, and moves nowhere."""
_MAY_BE_NEGATIVE = PERCENT | {
    "", "count", "date", "age", "time", "length", "temperature", "voltage", "current", "charge", "optical power",
    "sound", "angle", "angular speed", "acceleration", "force", "torque", "power", "electric field", "magnetic field",
}  # fmt: skip
"""Families of units whose values may lie below zero without being a change."""
