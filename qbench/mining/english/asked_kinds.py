"""Which kind of quantity a description asks for: a price is an amount of money, a weight a mass."""

from __future__ import annotations

import re

_WORDS: dict[str, str] = {
    "currency": "price prices cost costs fee fees fare fares rent salary salaries wage wages budget debt revenue "
    "revenues turnover profit profits income earnings expenses expenditure",
    "mass": "weight weights weigh weighs mass",
    "length": "height length width depth distance diameter thickness altitude elevation wingspan",
    "time": "duration runtime lifetime lifespan",
    "age": "age ages",
    "speed": "speed velocity",
    "temperature": "temperature temperatures",
    "data": "memory storage ram",
    "area": "area acreage",
    "voltage": "voltage",
}
"""Family of units -> words that ask for a quantity in it; words of several families are left out."""

_PHRASES: dict[str, str] = {
    "how expensive": "currency",
    "how heavy": "mass",
    "how tall": "length",
    "how far": "length",
    "how long": "time",
    "battery life": "time",
    "running time": "time",
    "half-life": "time",
    "how old": "age",
    "how fast": "speed",
}

GRAMMAR = frozenset("of the a an in on at for to is are was what how much many does".split())
"""Words of a question that name nothing."""

_FAMILY = {word: family for family, words in _WORDS.items() for word in words.split()} | _PHRASES
_ASKED = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(_FAMILY, key=len, reverse=True))})(?![\w-])", re.IGNORECASE)


def asked_family(text: str) -> tuple[str, str] | None:
    """The family of units that a description asks for, and the words that are left.

    None where no word says so, two say different things, or nothing is left.

    >>> asked_family("price of a gaming laptop"), asked_family("number of employees"), asked_family("weight and price")
    (('currency', 'gaming laptop'), None, None)
    """
    found = {_FAMILY[match.lower()] for match in _ASKED.findall(text)}
    rest = " ".join(word for word in _ASKED.sub(" ", text).split() if word.lower() not in GRAMMAR)
    return (found.pop(), rest) if len(found) == 1 and rest else None
