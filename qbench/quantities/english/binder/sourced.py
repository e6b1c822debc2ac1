"""Results with what they are from: "a loss from continuing operations of $5 million" is a loss, and no operations.

A parser hangs the amount on the nearest noun, and the binder follows it where it has not learnt better.
"""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.binder.features import Sentence
from qbench.quantities.english.concepts import Concept, MentionTokens
from qbench.quantities.english.noun_phrases import NOUN_TAGS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import HYPHENS, Token, glued

SOURCED = "result with its source"
"""The rule's name."""
_RESULTS = frozenset(
    "loss losses gain gains income expense expenses profit profits earnings proceeds cash flow flows benefit benefits "
    "charge charges interest tax taxes revenue revenues sales cost costs amortization amortisation depreciation "
    "impairment impairments".split()
)
"""What has amounts of money and comes from, or is spent on, something."""
_FROM = frozenset("from on for by in".split())
_BROUGHT = frozenset("provided used generated arising resulting recognized recognised realized realised".split())
_INSIDE = frozenset("the a an its our their of and".split())
_REACH = 8
"""Tokens between a result and the "of" before its amount, at most."""
_IN_NAME = frozenset({*NOUN_TAGS, "JJ", "JJR", "JJS", "AFX"})


def with_sources(sentence: Sentence, concepts: Sequence[Concept]) -> list[Concept]:
    """The concepts of a text's mentions, those of what a result is from with the result before it."""
    tokens, mentions, parse = sentence
    found = list(concepts)
    for n, (mention, concept) in enumerate(zip(mentions, concepts, strict=True)):
        if not mention.family.startswith("currency"):
            continue
        source = _source(tokens, mention, parse)
        name = set() if source.isdisjoint(concept.words) else _name(tokens, min(source) - 2, parse)
        if name and name.isdisjoint(concept.words):
            subject = tuple(k for k in concept.subject if k not in name)
            found[n] = Concept((*sorted(name), *concept.words), SOURCED, subject)
        elif n and found[n - 1].how == SOURCED and _is_compared(tokens, mentions[n - 1], mention):
            found[n] = found[n - 1]
    return found


def _is_compared(tokens: Sequence[Token], a: MentionTokens, b: MentionTokens) -> bool:
    """Whether b is what a is compared with: "113,432 dlrs vs 88,946 dlrs"."""
    return b.first - a.last == 1 and tokens[a.last].low in ("vs", "versus", "against")


def _source(tokens: Sequence[Token], mention: MentionTokens, parse: Parse) -> set[int]:
    """The tokens between the preposition and the "of" of "from continuing operations of $5 million"."""
    last = mention.first - 1
    goes_on = mention.last < len(tokens) and parse.tags[mention.last] in _IN_NAME  # "of 80 mln dlrs principal amount"
    if last < 1 or tokens[last].low != "of" or goes_on or tokens[last - 1].low in _RESULTS:
        return set()  # "to a profit from a loss of $5 million"
    for k in range(last - 1, max(0, last - _REACH), -1):
        if tokens[k].low in _FROM:
            return set(range(k + 1, last))
        named = parse.tags[k] in _IN_NAME or parse.tags[k] in ("VBN", "VBG") or tokens[k].text in HYPHENS
        opens = tokens[k].low in ("a", "an") and tokens[k - 1].low not in _FROM  # "interest in it and a gain of"
        if opens or not (named or tokens[k].low in _INSIDE):
            break
    return set()


def _name(tokens: Sequence[Token], k: int, parse: Parse) -> set[int]:
    """The tokens of the result that ends at token k, "net cash provided"; empty if no result does."""
    last = k
    k -= k > 0 and tokens[k].low in _BROUGHT
    if k > 0 and tokens[k].low not in _RESULTS:  # "amortization of intangibles"
        while k > 1 and parse.tags[k] in _IN_NAME and tokens[k].kind == "word":
            k -= 1
        k -= tokens[k].low == "of"
    if k < 1 or tokens[k].low not in _RESULTS or tokens[k - 1].text in HYPHENS:
        return set()
    first = k
    while first:
        if first > 1 and tokens[first - 1].text in HYPHENS and glued(tokens[first - 1], tokens[first]):
            first -= 2  # "after-tax gains"
        elif parse.tags[first - 1] in _IN_NAME and tokens[first - 1].kind == "word":
            first -= 1
        else:
            break
    return {n for n in range(first, last + 1) if tokens[n].low != "of"}
