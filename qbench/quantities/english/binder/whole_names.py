"""Names in concepts, whole or not at all: half of one, the "America" of "North America", names something else."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from qbench.quantities.english.binder.features import Sentence
from qbench.quantities.english.concepts import Concept
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import HYPHENS, Token, glued

_NAMES = ("NNP", "NNPS")
_LONGEST = 5
"""Words of a name at most: more stand in a title, or in a row of a table."""
_FORMS = frozenset("inc corp ltd llc plc co oy oyj ab asa ag sa nv bv gmbh kk company corporation".split())
"""Legal forms of companies, which name nothing."""


def with_whole_names(sentence: Sentence, concepts: Sequence[Concept]) -> list[Concept]:
    """The concepts of a text's mentions, with whole names, or without them."""
    if not any(concept.words or concept.subject for concept in concepts):
        return list(concepts)
    tokens, mentions, parse = sentence
    owned = {k for mention in mentions for k in range(mention.first, mention.last)}
    names = _names(tokens, owned, parse)
    return [_whole(sentence, concept, names) for concept in concepts]


class _Name(NamedTuple):
    """A run of capitalised words: its tokens, and those with the legal form behind it, "Standard Oil" and its "Co."."""

    words: range
    all: range


def _names(tokens: Sequence[Token], owned: set[int], parse: Parse) -> dict[int, _Name]:
    """The names of a text, by each of their tokens."""
    names: dict[int, _Name] = {}
    k = 0
    while k < len(tokens):
        first = k
        while k < len(tokens) and k not in owned and _is_of_name(tokens, k, parse):
            k += 1
            if tokens[k - 1].text.endswith(("'s", "’s")):
                break  # "Lithuania's Kauno"
        if k == first:
            k += 1
            continue
        words = range(first, k)
        while k < len(tokens) and k not in owned and _is_form(tokens, k):
            k += 1
        if k - first > 1 and len(words) <= _LONGEST:
            names.update(dict.fromkeys(range(first, k), _Name(words, range(first, k))))
    return names


def _is_form(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is a legal form, or the point of one."""
    form = tokens[k].low.removesuffix("'s").removesuffix("’s")
    hyphened = k + 1 < len(tokens) and tokens[k + 1].text in HYPHENS and glued(tokens[k], tokens[k + 1])
    return (form in _FORMS and not hyphened) or (
        tokens[k].text == "." and glued(tokens[k - 1], tokens[k]) and tokens[k - 1].low in _FORMS
    )


def _is_of_name(tokens: Sequence[Token], k: int, parse: Parse) -> bool:
    token = tokens[k]
    capital = token.text[:1].isupper() and not (token.text.isupper() and len(token.text) > _ABBREVIATION)
    piece = (k > 0 and glued(tokens[k - 1], token)) or (k + 1 < len(tokens) and glued(token, tokens[k + 1]))
    joined = piece and not _JOINTS.isdisjoint(t.text for t in tokens[max(0, k - 1) : k + 2])  # the S of "A-S"
    return parse.tags[k] in _NAMES and token.kind == "word" and capital and not joined and token.low not in _FORMS


_JOINTS = frozenset("-–+&/.")
_ABBREVIATION = 4
"""Letters of a word in capitals that may stand in a name: more are of a heading."""


def _whole(sentence: Sentence, concept: Concept, names: dict[int, _Name]) -> Concept:
    """A concept with names whole: those that hang on another word of it, and all where it has no other word."""
    told = {*concept.words, *concept.subject}
    kept = {k for k in told if k not in names or told.issuperset(names[k].words)}
    if kept == told:
        return concept
    alone = all(sentence.tokens[k].kind == "number" for k in kept)  # the 13 of "Lumen Air 13"
    for k in sorted(told - kept):
        if alone or _hangs_on(sentence.parse, names[k], kept):
            kept.update(names[k].words)
    words, subject = (_filled(some, kept, names) for some in (concept.words, concept.subject))
    return replace(concept, words=words or subject, subject=subject if words else ())


def _hangs_on(parse: Parse, name: _Name, words: Set[int]) -> bool:
    """Whether a name belongs to one of some words: "farmers in Rio Grande", "Nokia Multimedia's net sales"."""
    heads = {parse.heads[k] for k in name.all if parse.relations[k] in _BELONGING} - set(name.all)
    return not heads.isdisjoint(words)


_BELONGING = frozenset(("nmod", "nmod:poss", "compound", "appos"))


def _filled(words: Sequence[int], kept: Set[int], names: dict[int, _Name]) -> tuple[int, ...]:
    """The words that are kept, each name in place of its first word that is among them."""
    filled: list[int] = []
    for k in words:
        whole = names[k].words if k in names and names[k].words.start in kept else (k,)
        filled += [n for n in whole if n in kept and n not in filled]
    return tuple(filled)
