"""What two concepts have in common beyond their words: synonyms, derived words, and words that change nothing.

"Mean age" and "average age", "loans to Brazil" and "Brazilian loans" may be one thing. That is too little for a label,
and too much for the opposite one: what is alike in this way is left undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qbench.quantities.concept_match import Concept, concept_alternatives, concept_words

_CLASSES = (
    "price cost quotation expense expenditure spending outlay",
    "fee commission concession",
    "charge writedown writeoff write-down write-off impairment",
    "dividend div payout distribution distributed payment paid pay",
    "revenue rev revs sale turnover",
    "profit earning",
    "stake holding shareholding",
    "employee staff worker workforce personnel headcount",
    "output production",
    "debt borrowing loan outstanding outstandings",
    "liability payable",
    "purchase acquisition takeover",
    "unemployment jobless jobles",
    "maturity term tenor life",
    "reserve provision allowance",
    "participant subject patient volunteer individual people person",
    "woman female",
    "man male",
    "child kid",
    "oil crude",
    "baby newborn infant neonate",
    "vessel ship",
    "factory plant",
    "building construction",
    "age aged",
    "severance termination",
)
_CLASS_OF = {word: words.split()[0] for words in _CLASSES for word in words.split()}
NEUTRAL = frozenset(
    "total overall aggregate average mean median avg rate level amount number value figure annual yearly quarterly "
    "monthly regular estimated expected projected reported recorded recognized recognised registered adjusted "
    "seasonally mandatory outstanding current new gross combined share primary diluted undiluted basic first second "
    "third fourth half quarter year month week day nine six twelve full prior qtly qtrly mthly qtr annually".split()
)
"""Words without which a concept may still be the same."""
STEM = 6
"""Letters that derived words share: "Brazil" and "Brazilian", "invest" and "investment"."""
ENOUGH = 3
"""Words of a gist from which on one of them may be missing."""


def gist(word: str) -> str:
    """What a folded word has in common with words like it.

    >>> gist("brazilian") == gist("brazil"), gist("mean") == gist("median"), gist("div") == gist("dividend")
    (True, False, True)
    """
    return _CLASS_OF.get(word, word)[:STEM]


def gists(words: Sequence[str]) -> frozenset[str]:
    """The gists of a concept's folded words, without those of neutral words where others stand beside them.

    >>> sorted(gists(("mean", "age"))), sorted(gists(("total",)))
    (['age'], ['total'])
    """
    telling = [word for word in words if word not in NEUTRAL and not word[0].isdigit()]
    return frozenset(map(gist, telling or words))


def unmeasured(concept: Concept, family: str, language: str) -> list[Concept]:
    """The alternatives of a concept without the word that its unit says anyway: "electrical energy" in kilowatt hours.

    Args:
        concept: of a query.
        family: what its unit measures.
        language: code of its language.

    Returns:
        those with that word that say more than it, as they are compared.

    >>> unmeasured(("electrical", "energy"), "energy", "en"), unmeasured(("mean", "mass"), "mass", "en")
    ([('electrical',)], [])
    """
    said = [concept_words(alternative, language) for alternative in concept_alternatives(concept)]
    rests = [tuple(word for word in words if word != family) for words in said if family in words]
    return [rest for rest in rests if any(word not in NEUTRAL for word in rest)]


def alike(asked: Iterable[frozenset[str]], stated: frozenset[str]) -> bool:
    """Whether a concept may be one of those asked for: no word more or less, or all but one of three.

    Args:
        asked: the gists of each alternative.
        stated: the gists of a concept.

    >>> asked = [gists(("allowance", "expected", "credit", "loss"))]
    >>> alike(asked, gists(("total", "allowance", "credit", "loss"))), alike(asked, gists(("credit", "card")))
    (True, False)
    """
    return any(
        words <= stated or stated <= words or (len(words) >= ENOUGH and len(words & stated) >= len(words) - 1)
        for words in asked
        if words and stated
    )
