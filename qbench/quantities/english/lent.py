"""Units that a number without one has of another: as the binder says, or since both are of the very same thing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.comparators import Modifiers
from qbench.quantities.english.concepts import Concept
from qbench.quantities.english.elided import MONEY, PAID
from qbench.quantities.english.lexicon import CHANGE_VERBS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.ratios import RATIO
from qbench.quantities.english.tokens import HYPHENS, Token
from qbench.quantities.units import PER

SHARED = "shared unit"
"""The rule's name."""
Read = tuple[Amount, Modifiers, Concept]
"""An amount with what bounds it and what it is of."""


def may_share(tokens: Sequence[Token], amount: Amount, lent: Amount, reading: Modifiers) -> bool:
    """Whether a bare amount that the binder gives another's unit may have it.

    What a number is by is of it alone, and what another one counts is not counted by an amount of money, a score, or a
    number in another phrase: "employs 4,300 at two mills".
    """
    before = tokens[reading.first - 1].low if reading.first else ""
    scored = reading.first < amount.first and tokens[reading.first].text in _SIGNED
    paid = before in PAID or (before == "of" and reading.first > 1 and tokens[reading.first - 2].low in MONEY)
    gap = [token.low for token in tokens[amount.last : min(lent.first, amount.last + _PHRASE)]]
    placed = gap != ["in"] and not _PLACING.isdisjoint(gap)  # "3 in 10 shops"
    acts = amount.last < len(tokens) and tokens[amount.last].low in _BEFALLS and lent.unit.base_unit in _LIFELESS
    counts = (
        paid or acts or before == "among" or before in _LABELS or scored or placed
    ) and lent.unit.family == "count"
    large = lent.unit.family == "ratio" and abs(amount.low) >= _NO_PERCENT  # "52% in the study, and 3,100 answered"
    large = large or (lent.unit.family == "ratio" and _is_of_quotient(tokens, amount))  # "38% (16/42)"
    # "an issue of 30 million dollars, priced at 101-1/4"
    large = large or (lent.unit.family == "currency" and lent.number.scaled and abs(amount.low) < _NO_SUM)
    return not (counts or large or _is_part(amount) or lent.unit.name.startswith(PER))


def _is_of_quotient(tokens: Sequence[Token], amount: Amount) -> bool:
    """Whether a number stands above or below a slash."""
    around = (*tokens[max(0, amount.first - 1) : amount.first], *tokens[amount.last : amount.last + 1])
    return any(token.text == "/" for token in around)


_NO_PERCENT = 1000
"""From here on a number without a unit is no percentage."""
_NO_SUM = 1000
"""Up to here a number without a unit is none of the money of which millions are told."""
_BEFALLS = frozenset("died drowned perished survived drown die perish survive".split())
"""What befalls those who live, and none of the things that may be counted before: "two ferries sank, 174 drowned"."""
_LIFELESS = frozenset("ferry ship boat vessel car bus truck lorry van train plane aircraft house home building".split())
_LABELS = frozenset("class classes grade grades stage stages level levels type types system status category".split())
"""Nouns that a number behind them labels: "patients of ASA class 1-3"."""
_PHRASE = 6
"""Tokens after a number among which a preposition says that another phrase begins."""
_PLACING = frozenset("at in from with on".split())
"""Prepositions between a number and what is counted after them, and not by it."""
_SIGNED = frozenset("≤ ≥ < > ≦ ≧ ⩽ ⩾".split())
"""Signs between a score and its bound, which counts nothing: "90 patients with a score ≥ 3"."""


def _is_part(amount: Amount) -> bool:
    """Whether a number shares no other's unit, as a ratio or a part: "300 members, or half of the village"."""
    return amount.number.rule == RATIO or (amount.number.written and 0 < amount.low < 1)


def of_same_thing(tokens: Sequence[Token], read: Read, earlier: Sequence[Read], parse: Parse) -> Amount | None:
    """The amount before a bare one that is of the same thing by the same words, and of a like size.

    "The yield was 4.62 % at the close, easing towards 4.50", "its battery, quoted at 18 hours, came closer to 13". What
    stands in brackets or beside a slash is another statistic of that thing, what another verb governs is another thing
    ("raised $4 million and fed 3 million"), and a change leads to no level here.
    """
    amount, reading, concept = read
    if not amount.bare or amount.year or not concept.words or _is_part(amount) or _stands_aside(tokens, amount):
        return None
    if not is_led(tokens, reading.first - 1) or _is_told_more(tokens, amount.last, parse):
        return None
    words = {tokens[k].low for k in concept.words}
    for lent, said, of in reversed(earlier):
        if lent.bare or SHARED in lent.how or {tokens[k].low for k in of.words} != words:
            continue
        leads = said.change and not reading.change
        small = reading.change and not said.change  # "59.4 mln acres, 2.1 mln fewer"
        low = 0 if small else abs(lent.low) / _LIKE
        alike = low <= abs(amount.low) <= abs(lent.high) * (1 if small else _LIKE)
        lends = lent.unit.family not in _OWN and (lent.number.written or not amount.number.written)
        apart = _is_part_of(tokens, lent, words) or changes_verb(
            tokens[lent.last : reading.first], parse.tags[lent.last :]
        )
        return lent if alike and lends and not (leads or apart or _stands_aside(tokens, lent)) else None
    return None


def is_led(tokens: Sequence[Token], k: int) -> bool:
    """Whether the token before a number says that it is one more level: "was 13", "from 420,000", "stood at 4.5"."""
    lead = tokens[k].low if k >= 0 else ""
    if lead == "at":
        return k > 0 and (tokens[k - 1].low in _BEING or tokens[k - 1].low in CHANGE_VERBS)
    return lead in _BEING or lead in _COMPARING or lead in CHANGE_VERBS


def _is_told_more(tokens: Sequence[Token], k: int, parse: Parse) -> bool:
    """Whether what follows a number at token `k` makes it another thing: "12 died", "from 2600 BC", "17 of them"."""
    return k < len(tokens) and (parse.tags[k].startswith("VB") or tokens[k].low in _TELLING)


def _is_part_of(tokens: Sequence[Token], lent: Amount, words: Collection[str]) -> bool:
    """Whether an amount tells a part or a kind of what follows it: "72% of veterans", "48 pct protein soymeal"."""
    after = tokens[lent.last].low if lent.last < len(tokens) else ""
    return after in words or (lent.unit.family == "ratio" and after == "of")


def changes_verb(between: Sequence[Token], tags: Sequence[str]) -> bool:
    """Whether another verb comes between two amounts: "weighs 4 kg and sleeps 6"."""
    finite = (t.low for t, tag in zip(between, tags, strict=False) if tag in ("VBD", "VBZ", "VBP"))
    return any(word not in _BEING and word not in CHANGE_VERBS for word in finite)


_BEING = frozenset(
    "was were is are be been being stood stands stand opened opens closed closes ended ends settled quoted traded seen "
    "offered came comes averaged averages totaled totalled reached hit remained".split()
)
"""Verbs that say a level."""
_COMPARING = frozenset(", from to against versus vs than with towards toward and or but".split())
"""Words between two levels of one thing."""
_TELLING = frozenset("of bc bce ad ce".split())
_OWN = frozenset(("", "count", "date", "age", "wireless generation"))
"""Families of units that a number of the same thing need not have: what is counted may be another thing."""
_LIKE = 3
"""How many times as large as another a number of the same thing is at most."""


def _stands_aside(tokens: Sequence[Token], amount: Amount) -> bool:
    """Whether an amount stands in brackets or a quotient, or is joined to what it describes: "26-week bills"."""
    before = tokens[amount.first - 1].text if amount.first else ""
    after = tokens[amount.last].text if amount.last < len(tokens) else ""
    joined = amount.number.last < len(tokens) and tokens[amount.number.last].text in HYPHENS
    return before in _ASIDE or after in _ASIDE or joined


_ASIDE = frozenset("( [ { / × x ) ] } = ± :".split())
