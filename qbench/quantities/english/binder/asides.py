"""What is no word of a concept: asides ("net of tax"), opposites ("profit vs loss"), the labels of other numbers."""

from __future__ import annotations

from collections.abc import Sequence, Set

from qbench.quantities.english.concepts import MentionTokens
from qbench.quantities.english.lexicon import FUNCTION_WORDS, SCALES, VERBS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.result_names import left_out_of
from qbench.quantities.english.tokens import Token, glued

LONGEST = 14
"""Tokens of an aside at most."""
_OPENERS = (
    ("net", "of"), ("excluding",), ("exclusive", "of"), ("after", "deducting"), ("before", "deducting"),
    ("not", "including"), ("not", "counting"), ("less",),
)  # fmt: skip
"""What opens an aside that says what is left out."""
_OPPOSITES = {
    "loss": "profit profits income gain gains earnings",
    "losses": "profit profits income gain gains earnings",
    "profit": "loss losses",
    "profits": "loss losses",
    "deficit": "surplus surpluses",
    "surplus": "deficit deficits",
    "deficits": "surplus surpluses",
    "surpluses": "deficit deficits",
    "outflow": "inflow inflows",
    "inflow": "outflow outflows",
    "outflows": "inflow inflows",
    "inflows": "outflow outflows",
    "discharge": "charge",
}
_COMPARING = frozenset("vs versus against with to from than".split())
_BETWEEN = frozenset("a an the of net".split())
_REACH = 5
"""Tokens from a number back to the word that compares it at most."""


def corrected(
    tokens: Sequence[Token],
    mentions: Sequence[MentionTokens],
    m: int,
    parse: Parse,
    words: Set[int],
    inside: Set[int],
) -> set[int]:
    """A mention's words without those that are not of its concept, and with its own label in place of another's.

    Args:
        tokens: of the text.
        mentions: in it.
        m: index of the mention.
        parse: of the tokens.
        words: tokens that were found for it.
        inside: tokens of all mentions.

    Returns:
        tokens; none only of a time that tells when, and of an age that stands for the person of whom more is said.
    """
    mention = mentions[m]
    if _tells_when(tokens, mention) or (words == {mention.last} and _reports(tokens, mention)):
        return set()
    if _acts(tokens, mention, parse):
        return {k for k in words if k <= mention.last}
    outside = {k for k in words if _is_genitive(tokens, k)}
    outside |= {k for k in words if _in_aside(tokens, k, mention.number)} | _opposite(tokens, mention.first, words)
    outside |= {k for k in words if _ties(tokens, k)}
    kept = set(words - outside) or set(words)
    return _relabelled(tokens, mentions, m, kept, inside)


def with_what_is_left_out(tokens: Sequence[Token], words: Set[int], inside: Set[int]) -> set[int]:
    """A concept's words with what belongs to the name of a result: the "before tax" of "profit before tax"."""
    return {*words, *(j for k in words for j in left_out_of(tokens, k) if j not in inside)}


def _ties(tokens: Sequence[Token], k: int) -> bool:
    """Whether the word at token k only ties a number or a date to what it is said of: "amounting to", "priced at"."""
    after = tokens[k + 1] if k + 1 < len(tokens) else None
    if after is None or tokens[k].low not in _TYING:
        return False
    if tokens[k].low in ("fiscal", "calendar"):
        return after.kind == "number"
    return after.low in _TYING[tokens[k].low] and tokens[k].text.islower()


_TYING = {
    "amounting": ("to",), "totaling": ("about", "$", "€", "£"), "totalling": ("about", "$", "€", "£"),
    "accounting": ("for",), "amounted": ("to",), "priced": ("at",), "valued": ("at",), "made": ("by",),
    "issued": ("by", "at"), "generated": ("by", "in", "from"), "fiscal": (), "calendar": (),
}  # fmt: skip
"""Words that tie, and what follows where they do: "profit for fiscal 2019", not "fiscal deficit"."""


def _tells_when(tokens: Sequence[Token], mention: MentionTokens) -> bool:
    """Whether a length of time only says when: "they left five minutes ago", not "the mill was built 80 years ago"."""
    k = mention.last
    if mention.family != "time" or k >= len(tokens) or tokens[k].low not in _WHEN:
        return False
    number = tokens[mention.number]
    ages = len(number.text) >= _AGES and number.kind == "number"  # "the crater was made 4000 years ago"
    ages = ages or any(t.low in SCALES for t in tokens[mention.number : k])
    shifts = any(t.low == "than" for t in tokens[k : k + _REACH])  # "it ships two months earlier than planned"
    began = any(t.low in _BEGINNING for t in tokens[max(0, mention.first - LONGEST) : mention.first])
    return not (ages or shifts or began)


_AGES = 3
"""Figures of a number from which on it is an age, and not when something else was."""


def _is_genitive(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is the "s" of "Acme 's" or "Acme s", as some texts part it; not that of "s.d."."""
    if tokens[k].text != "s" or (k + 1 < len(tokens) and tokens[k + 1].text == "."):
        return False
    return k > 0 and (tokens[k - 1].text in ("'", "’") or not glued(tokens[k - 1], tokens[k]))


def _reports(tokens: Sequence[Token], mention: MentionTokens) -> bool:
    """Whether a length of time is that of a report: "profit for the 12-month period rose", not "the period before"."""
    k = mention.last
    after = tokens[k + 1].low if k + 1 < len(tokens) else ""
    return mention.family == "time" and tokens[k].low == "period" and after not in _OF_PERIODS


_OF_PERIODS = frozenset("prior before after following of from until in".split())
_WHEN = frozenset("ago later earlier previously".split())
_BEGINNING = frozenset(
    "start started starts begin began begun found founded open opened launch launched establish established build "
    "built create created invent invented discover discovered born die died age aged".split()
)
"""Verbs of what has an age since: "founded 20 years ago"."""


def _acts(tokens: Sequence[Token], mention: MentionTokens, parse: Parse) -> bool:
    """Whether an age names who does what follows: "the 36-year-old showed her coat"."""
    k = mention.last
    age = mention.family == "age" and k < len(tokens) and tokens[k - 1].low == "old"
    return age and parse.tags[k] in _FINITE


_FINITE = frozenset(("VBD", "VBZ", "VBP", "MD"))


def _in_aside(tokens: Sequence[Token], k: int, number: int) -> bool:
    """Whether token k stands in an aside between two marks that the number is no part of."""
    stop = max(0, k - LONGEST)
    start = next((j for j in range(k, stop, -1) if tokens[j - 1].text in ",("), None)
    if start is None or not any(tuple(t.low for t in tokens[start : start + len(o)]) == o for o in _OPENERS):
        return False
    end = next((j for j in range(k + 1, min(len(tokens), k + LONGEST)) if tokens[j].text in ",)"), None)
    return end is not None and not start <= number < end


def _opposite(tokens: Sequence[Token], first: int, words: Set[int]) -> set[int]:
    """The "profit" of "a profit of 8 cents vs a loss of 10", for the second number."""
    k = first - 1
    while k > 0 and first - k < _REACH and tokens[k].low in _BETWEEN:
        k -= 1
    opposites = _OPPOSITES.get(tokens[k].low, "").split() if k > 0 else []
    if not opposites:
        return set()
    j = k - 1
    while j > 0 and k - j < _REACH and tokens[j].kind == "word" and tokens[j].low not in _COMPARING:
        j -= 1
    compares = tokens[j].low in _COMPARING and (tokens[j].low != "to" or tokens[j - 1].low == "compared")
    # The "income" of "income tax" is no opposite of a loss.
    return {w for w in words if compares and w < j and tokens[w].low in opposites and w + 1 not in words}


def _relabelled(
    tokens: Sequence[Token], mentions: Sequence[MentionTokens], m: int, words: set[int], inside: Set[int]
) -> set[int]:
    """The words with "van" in place of "courier" in "for the courier (2.4 days) than for the van (4.1 days)"."""
    own = _label(tokens, mentions[m], inside)
    if not own:
        return words
    labels = [_label(tokens, other, inside) for n, other in enumerate(mentions) if n != m]
    alike = {k for label in labels if label and tokens[label[0]].low == tokens[own[0]].low for k in label[1:]}
    others = words & alike - set(own)
    return words - others | set(own[1:]) if others and words - others else words


def _label(tokens: Sequence[Token], mention: MentionTokens, inside: Set[int]) -> list[int]:
    """The preposition and the words of the phrase before the bracket that a mention opens; [] for no such phrase."""
    end = mention.first - 1
    if end < 1 or tokens[end].text not in "([":
        return []
    for k in range(end - 1, max(0, end - _LONGEST_LABEL) - 1, -1):
        if tokens[k].low in _PREPOSITIONS:
            named = [j for j in range(k + 1, end) if j not in inside and tokens[j].low not in FUNCTION_WORDS]
            return [k, *named] if named else []
        if tokens[k].low in VERBS or (tokens[k].kind == "mark" and tokens[k].text not in "-/"):
            return []
    return []


_PREPOSITIONS = frozenset("for in with at from after during on by among".split())
_LONGEST_LABEL = 8
"""Tokens of "for the postal service" at most."""
