"""What turns a bound round from afar: "no holder owns more than 5 %", "is unlikely to lend more than 5 million"."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.lexicon import CLAUSES, FUNCTION_WORDS, VERBS
from qbench.quantities.english.tokens import Token


def excludes(tokens: Sequence[Token], end: int, start: int) -> bool:
    """Whether what stands before a phrase at `start` denies it: "no holder owns", "unlikely to", "forbids from owning".

    Args:
        end: where the verb of the phrase begins, if it has one: "may be" of "may be more than".
    """
    if end > 1 and tokens[end - 1].low == "of" and tokens[end - 2].low.endswith(_PASSIVE):
        end -= 1  # "no grant is made of more than"
    accounts = end > 1 and tokens[end - 1].low == "for" and tokens[end - 2].low in _ACCOUNTING
    if not end or (tokens[end - 1].low in _PLACES and not accounts):
        return False
    acts = accounts or end < start or tokens[end - 1].low in VERBS or tokens[start].low.startswith("exceed")
    barred = False
    for k in range(end - 1, max(0, end - _FARTHEST_DENIAL) - 1, -1):
        word = tokens[k].low
        if tokens[k].kind == "number" or (tokens[k].kind == "mark" and tokens[k].text not in "-’'/"):
            return False
        if word in _NOBODY:
            return (acts or tokens[end].low == "of") and k + 1 < end
        if word == "unlikely":
            follows = tokens[k + 1].low in ("to", "that")
            return follows and k + 1 < start and (acts or _is_plain_verb(tokens[end - 1]))
        if word == "that" and k and tokens[k - 1].low == "unlikely":
            continue
        if barred and word in _FORBIDDING:
            return True
        if word in CLAUSES:
            return False
        barred = barred or word == "from"
    return False


_ACCOUNTING = frozenset("account accounts accounted accounting".split())
_NOBODY = frozenset("no none nobody neither".split())
_FORBIDDING = frozenset(
    "forbid forbids forbade forbidden forbidding prohibit prohibits prohibited prohibiting bar bars barred barring ban "
    "bans banned banning prevent prevents prevented preventing".split()
)
_PLACES = frozenset("in of for after at by from with on among between during within over through".split())
_FARTHEST_DENIAL = 10
"""Tokens between "no" and the phrase that it denies at most."""


_PASSIVE = ("ed", "made", "given", "paid", "sold", "done", "held", "taken")
"""How participles end."""


def _is_plain_verb(token: Token) -> bool:
    """Whether a word may be a verb's plain form."""
    inflected = token.low.endswith(("ly", "ing", "ed")) and not token.low.endswith("eed")  # "need", "exceed"
    return token.kind == "word" and token.low not in FUNCTION_WORDS and not inflected


def is_denied_verb(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is the verb of "do not spend more than", "can't weigh more than"."""
    verb, before_it = tokens[k], tokens[k - 1] if k else None
    if before_it is None or not _is_plain_verb(verb):
        return False
    if before_it.low == "not":
        return k > 1 and tokens[k - 2].low in _AUXILIARIES
    if before_it.low in ("never", "cannot"):
        return True
    return before_it.low.endswith("t") and before_it.low[:-1].rstrip("'’") in _NEGATED_AUXILIARIES


_AUXILIARIES = frozenset("do does did can could should will would must may might shall".split())
_NEGATED_AUXILIARIES = frozenset("don doesn didn can couldn shouldn won wouldn mustn mayn mightn".split())
