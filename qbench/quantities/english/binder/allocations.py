"""Ratios of an allocation: in "patients were randomised (1:1) to" a ratio is of patients that are randomised."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.binder.features import Sentence
from qbench.quantities.english.concepts import Concept, MentionTokens
from qbench.quantities.english.noun_phrases import NOUN_TAGS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token

ALLOCATION = "of an allocation"
"""The rule's name."""
_ALLOCATED = frozenset("randomised randomized allocated assigned rerandomised rerandomized".split())
_ADVERBS = frozenset("randomly equally".split())
_REACH = 30
"""Tokens between who is allocated and the verb, at most."""
_SUBJECTS = ("nsubj", "nsubj:pass")
_JOINED = ("conj", "xcomp", "advcl", "acl", "acl:relcl")


def with_allocations(sentence: Sentence, concepts: Sequence[Concept]) -> list[Concept]:
    """The concepts of a text's mentions, a ratio right behind a verb of allocation with that and whom it allocates."""
    found = list(concepts)
    for k, mention in enumerate(sentence.mentions):
        if (verb := _verb(sentence.tokens, mention)) is not None:
            words = (verb - 1, verb) if sentence.tokens[verb - 1].low in _ADVERBS else (verb,)
            whom = _whom(sentence.parse, verb)
            found[k] = Concept(words if whom is None else (whom, *words), ALLOCATION)
    return found


def _verb(tokens: Sequence[Token], mention: MentionTokens) -> int | None:
    """The verb before a ratio: "randomised (2:1)", "randomly assigned 1:1"."""
    ratio = [token.text for token in tokens[mention.number : mention.number + 2]]
    if ratio[1:] != [":"] or not ratio[0].isdecimal():
        return None
    k = mention.first - 1
    k -= k > 0 and tokens[k].text in "(["
    return k if k > 0 and tokens[k].low in _ALLOCATED else None


def _whom(parse: Parse, verb: int) -> int | None:
    """The noun that the verb, or one that it is joined to, says something of: "were treated and then randomised"."""
    k = verb
    while k >= 0:
        back = range(k - 1, max(-1, k - _REACH), -1)
        subject = next((n for n in back if parse.heads[n] == k and parse.relations[n] in _SUBJECTS), None)
        if subject is not None and parse.tags[subject] in NOUN_TAGS:
            return _of_a_total(parse, subject)
        if parse.relations[k] not in _JOINED or not 0 <= parse.heads[k] < k:
            return None
        k = parse.heads[k]
        if parse.tags[k] in NOUN_TAGS:
            return _of_a_total(parse, k)  # "participants randomised 2:1", "men who were randomised"
    return None


def _of_a_total(parse: Parse, k: int) -> int:
    """The noun of which a singular says how many there are: the patients of "a total of 409 patients"."""
    if parse.tags[k] != "NN":
        return k
    after = range(k + 1, min(len(parse.tags), k + _TOTAL))
    return next((n for n in after if parse.heads[n] == k and parse.tags[n] == "NNS"), k)


_TOTAL = 8
