"""Singular and plural of English nouns, by rules and a list of irregular ones."""

from __future__ import annotations

import re

_PHRASE = re.compile(r" (?:per|of|for|with|a|an|to) ")


def plural(noun: str) -> str:
    """The regular English plural of a noun (of the last word of a phrase, of the head of a rate).

    >>> plural("employee"), plural("company"), plural("box"), plural("square inch"), plural("mile per hour")
    ('employees', 'companies', 'boxes', 'square inches', 'miles per hour')
    >>> plural("laptop for gamers")
    'laptops for gamers'
    >>> plural("per hour")
    'per hour'
    """
    if not noun or noun.startswith("per "):
        return noun
    if joint := _PHRASE.search(noun):
        return plural(noun[: joint.start()]) + noun[joint.start() :]
    head, space, last = noun.rpartition(" ")
    if last in _PLURALS:
        return head + space + _PLURALS[last]
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


_IRREGULAR = {
    "people": "people", "men": "man", "women": "woman", "children": "child", "feet": "foot", "teeth": "tooth",
    "mice": "mouse", "geese": "goose", "stimuli": "stimulus", "nuclei": "nucleus", "foci": "focus", "fungi": "fungus",
    "alumni": "alumnus", "radii": "radius", "criteria": "criterion", "phenomena": "phenomenon", "bacteria": "bacterium",
    "analyses": "analysis", "diagnoses": "diagnosis", "crises": "crisis", "hypotheses": "hypothesis", "bases": "base",
    "prostheses": "prosthesis", "metastases": "metastasis", "lives": "life", "wives": "wife", "knives": "knife",
    "halves": "half", "leaves": "leaf", "loaves": "loaf", "wolves": "wolf", "shelves": "shelf", "thieves": "thief",
    "vertebrae": "vertebra", "larvae": "larva", "ova": "ovum", "matrices": "matrix", "vertices": "vertex",
    "cargoes": "cargo", "potatoes": "potato", "tomatoes": "tomato", "heroes": "hero", "vetoes": "veto",
    "torpedoes": "torpedo", "mosquitoes": "mosquito", "volcanoes": "volcano", "echoes": "echo", "quizzes": "quiz",
    "buses": "bus", "minibuses": "minibus", "gases": "gas", "lenses": "lens", "biases": "bias", "atlases": "atlas",
    "attorneys general": "attorney general", "cpus": "cpu", "gpus": "gpu", "menus": "menu", "gurus": "guru",
}  # fmt: skip
_IRREGULAR |= {
    f"{noun}s": noun
    for noun in (
        "movie cookie tie pie calorie zombie brownie selfie rookie hoodie smoothie genie prairie pixie birdie "
        "caddie cache tranche niche ache headache toothache avalanche moustache quiche creche psyche cliche "
        "brioche".split()
    )
}
_IRREGULAR |= {
    f"{noun}es": noun
    for noun in "virus campus bonus status census sinus fetus foetus chorus circus surplus genius walrus canvas alias "
    "iris syllabus exodus prospectus consensus octopus platypus apparatus focus caucus abacus omnibus trolleybus "
    "cactus crocus hippopotamus hiatus plus".split()
}
_PLURALS = {single: plural for plural, single in _IRREGULAR.items()} | {"staff": "staff", "personnel": "personnel"}
_SINGULAR_S = ("ss", "us", "is", "sis", "news", "series", "species")


def singular(noun: str) -> str:
    """The singular of a regular English plural; anything else as it is.

    >>> singular("employees"), singular("companies"), singular("boxes"), singular("business"), singular("people")
    ('employee', 'company', 'box', 'business', 'people')
    >>> singular("movies"), singular("T470s")
    ('movie', 'T470s')
    """
    head, space, last = noun.rpartition(" ")
    low = last.lower()
    if low in _IRREGULAR:
        last = _IRREGULAR[low]
    elif low in _PLURALS:
        pass  # "lens", "canvas", "atlas"
    elif low[:1].isalpha() and low[-2:-1].isdigit():
        pass  # a model's name: a T470s is no T470
    elif len(low) > 3 and low.endswith("s") and not low.endswith(_SINGULAR_S):
        if low.endswith("ies"):
            last = last[:-3] + "y"
        elif low.endswith(("xes", "ches", "shes", "sses", "tzes")):
            last = last[:-2]
        else:
            last = last[:-1]
    return head + space + last
