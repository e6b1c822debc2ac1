"""What the form of a sentence says for sure of what its numbers measure, whatever the binder takes its words for.

Lists are dealt out by their order; the items of a list of features name themselves; amounts that are compared measure
the same thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from qbench.quantities.english.concepts import Concept, MentionTokens
from qbench.quantities.english.lexicon import MONTHS
from qbench.quantities.english.noun_phrases import NOUN_TAGS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import HYPHENS, Token

LISTED = "respectively"
"""The rule that deals a list out by its order: the binder adds what is said of all items, and takes no other item."""
ITEM = "item of a list"
"""The rule of "5 MP camera, 4 GB storage"."""
SURE = frozenset({"of its abbreviation"})
"""Rules that the binder does not overrule: "(pop. 3,400)" names what it is."""
REACH = 30
"""Tokens between two amounts that are compared, at most, notes in brackets included."""
BACK = 4
"""Amounts to look back at, at most: "3.9 (SD 3.1) vs. 2.7 (SD 3.7)"."""
LONGEST_ITEM = 5
"""Tokens of the noun phrase of an item at most."""

_LINKS = frozenset(
    {
        (",",),
        (";",),
        ("/",),
        ("and",),
        ("or",),
        ("vs",),
        ("vs", "."),
        ("versus",),
        ("compared", "with"),
        ("compared", "to"),
    }
)
_OF_NO_THING = frozenset({"", "count", "ratio", "ratio difference", "time", "age", "date"})
"""Families of units that are no measure that a thing is named with."""
_OPEN_ITEM = frozenset(",;:+")
_CLOSE_ITEM = frozenset(",;.)")
_IN_ITEM = frozenset({*NOUN_TAGS, "JJ", "AFX"})


def item_of_list(tokens: Sequence[Token], mention: MentionTokens, parse: Parse) -> tuple[int, ...]:
    """The words of the thing that has a measure as an item of a list: "3 inch display, *5 MP front camera*, 4 GB RAM".

    Returns:
        () unless the measure follows a comma, and a noun phrase fills the rest of the item.
    """
    family = mention.family
    if family in _OF_NO_THING or family.startswith("currency") or " per " in family:
        return ()
    if not mention.first or tokens[mention.first - 1].text not in _OPEN_ITEM:
        return ()
    k = start = _past_sum(tokens, mention.last)
    while k < len(tokens) and k - start < LONGEST_ITEM:
        if not (parse.tags[k] in _IN_ITEM and tokens[k].kind == "word") and tokens[k].text not in HYPHENS:
            break
        k += 1
    closed = k == len(tokens) or tokens[k].text in _CLOSE_ITEM or tokens[k].low in ("and", "or")
    named = k > start and closed and parse.tags[k - 1] in NOUN_TAGS
    return tuple(range(start, k)) if named else ()


def _past_sum(tokens: Sequence[Token], k: int) -> int:
    """Past the other measures of an item that is a sum, and notes in brackets: "13 MP (wide) + 2 MP main camera"."""
    while (end := _past_note(tokens, k)) + 2 < len(tokens) and tokens[end].text == "+":
        if tokens[end + 1].kind != "number" or tokens[end + 2].kind != "word":
            break
        k = end + 3
    return k


def _past_note(tokens: Sequence[Token], k: int) -> int:
    """Past the brackets that open at token k; k if none do, or they are long."""
    if k >= len(tokens) or tokens[k].text != "(":
        return k
    closing = (j for j in range(k, min(len(tokens), k + REACH)) if tokens[j].text == ")")
    return next(closing, k - 1) + 1


def compared_with(tokens: Sequence[Token], mentions: Sequence[MentionTokens], n: int) -> int | None:
    """The mention before mention n with nothing but a link between them, notes in brackets apart; None for none.

    "less bleeding (317 mL vs. 615 mL)", "3.9 (SD 3.1) vs. 2.7 (SD 3.7) kg".
    """
    for m in range(n - 1, max(-1, n - 1 - BACK), -1):
        if mentions[n].first - mentions[m].last > REACH:
            return None
        if mentions[m].family == mentions[n].family:
            if _outside_brackets(tokens[mentions[m].last : mentions[n].first]) in _LINKS:
                return m
    return None


def _outside_brackets(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The words outside brackets; () if not all brackets are closed."""
    words: list[str] = []
    depth = 0
    for token in tokens:
        depth += (token.text in "([") - (token.text in ")]")
        if depth < 0:
            return ()
        if not depth and token.text not in ")]":
            words.append(token.low)
    return () if depth else tuple(words)


def dealt_out(concepts: Iterable[Concept]) -> frozenset[int]:
    """All words that are dealt out to some mention of a text."""
    return frozenset(k for concept in concepts if concept.how == LISTED for k in concept.words)


def with_shared(own: Concept, words: Set[int], dealt: Set[int], tokens: Sequence[Token]) -> Concept:
    """A concept that was dealt out, with the words that are of no other item.

    A list of dates deals nothing out: "the costs in May and June were $5 and $7, respectively".

    Args:
        own: what was dealt out.
        words: of the concept, as the binder sees it.
        dealt: words that were dealt out to it or others.
        tokens: of the text.
    """
    shared = {*own.words, *(k for k in words if k not in dealt)}
    undated = {k for k in shared if tokens[k].kind != "number" and tokens[k].text not in MONTHS}
    return Concept(tuple(sorted(undated)), LISTED, own.subject)
