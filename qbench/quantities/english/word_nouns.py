"""What a number counts where no parse says so: a plural within three words, "bedroom" in "a 3 bedroom flat"."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.ages import PEOPLE
from qbench.quantities.english.compounds import UnitMatch
from qbench.quantities.english.inflection import singular
from qbench.quantities.english.lexicon import FUNCTION_WORDS, VERBS
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import HYPHENS, Token, glued
from qbench.quantities.english.unit_forms import PIECES
from qbench.quantities.units import Units


def noun_by_words(tokens: Sequence[Token], number: Number, j: int, units: Units) -> UnitMatch | None:
    """What a number counts by the words from token j on: a plural, a part of a product, an attribute.

    Args:
        tokens: of the text.
        number: that counts.
        j: the token after it, past the words that bound it.
        units: the known units.
    """
    k = j + (j < len(tokens) and tokens[j].text in HYPHENS)
    of_people = k + 1 < len(tokens) and tokens[k + 1].low in PEOPLE  # "80 adult patients"
    if k < len(tokens) and tokens[k].low in ATTRIBUTES and not number.scaled and not of_people:
        return units.get(tokens[k].low), k + 1, (tokens[k].start, tokens[k].end)
    if j < len(tokens) and tokens[j].low in PIECES and not number.scaled:
        return units.get(PIECES[tokens[j].low]), j + 1, (tokens[j].start, tokens[j].end)
    if j < len(tokens) and glued(tokens[j - 1], tokens[j]) and tokens[j].kind == "word":
        return None
    words, k = 0, j
    while k < len(tokens) and words < 3:
        token = tokens[k]
        if token.text == "-" and words and k + 1 < len(tokens) and glued(token, tokens[k + 1]):
            k += 1
            continue
        if token.kind != "word" or not token.text.islower() or token.low in FUNCTION_WORDS or token.low in _INCLUDING:
            break
        if _is_plural(token.low) or (not words and token.low in _NOUNS_TOO):
            return units.get(singular(token.low)), k + 1, (token.start, token.end)
        if token.low in VERBS:
            break
        words, k = words + (tokens[k - 1].text != "-"), k + 1
    return None


ATTRIBUTES = frozenset(
    "star bedroom bed bathroom bath room door seat seater person piece pack core speed burner slot player storey "
    "drawer port blade string car page slice berth burner tier pocket ply key digit lane bottle man "
    "guest grit denier tog proof gauge bay vcpu thread pin hole zone channel bit prong cylinder phase "
    "stroke frame gang compartment row light hook rung tread section valve ring wire input output jet shelf tray "
    "panel cell shot round gear step way "
    "sheet ream wheel function adult child kid night".split()
)
"""Singular nouns that a number before them counts, without a parser to say so: "a five-star hotel", "2 bed flat"."""


_INCLUDING = frozenset("incl inc excl".split())
_NO_PLURALS = frozenset(
    "diabetes prediabetes rabies measles mumps herpes scabies caries shingles rickets tetanus news "
    "bias atlas canvas alias pancreas "
    "christmas pyjamas pajamas overseas whereas perhaps always besides sometimes "
    "wales alps leeds athens naples brussels netherlands philippines bahamas maldives seychelles texas kansas arkansas "
    "dallas vegas cotswolds highlands barbados honduras".split()
)
"""Words in -s that are no plurals, places among them: "egfr 30-59 diabetes", "land under 100k wales"."""


_NOUNS_TOO = frozenset("packs runs records issues plans trades starts".split())
"""Forms of verbs that a number counts as readily."""


def _is_plural(word: str) -> bool:
    if word in ("people", "men", "women", "children", "staff", "personnel", "teeth"):
        return True
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    plural = plural or (word.endswith("us") and singular(word) != word)  # "cpus", "menus"
    return plural and word not in VERBS and word not in _NO_PLURALS
