"""Whether the full stop after a word is a word of its own, or part of the word, as in "e.g." and "J.".

The answers are those of spaCy's tokeniser for English (MIT licence), whose abbreviations these are; a test compares.
"""

from __future__ import annotations

import re
from unicodedata import category

_ABBREVIATIONS = {
    *(
        "Adm Ak Ala Apr Ariz Ark Aug Bros Calif Co Colo Conn Corp D.C Dec Del Dr E.G E.g Feb Fla Ga Gen Gov I.E "
        "I.e Ia Id Ill Inc Ind Jan Jr Jul Jun Kan Kans Ky La Ltd Mar Mass Md Messrs Mich Minn Miss Mo Mont Mr Mrs "
        "Ms Mt N.C N.D N.H N.J N.M N.Y Neb Nebr Nev Nov Oct Okla Ore Pa Ph.D Prof Rep Rev S.C Sen Sep Sept St Tenn "
        "Va Wash Wis a.m co e.g i.e p.m v.s vs ._ ä ö ü"
    ).split(),
    *(f"{hour}{half}.m" for hour in range(1, 13) for half in "ap"),
    *"abcdefghijklmnopqrstuvwxyz",
}
"""Words that keep their full stop, without it."""

_MARKS = frozenset("%²-+|…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪'\"”“`‘´’‚„»«「」『』（）〔〕【】《》〈〉⟦⟧")
"""What a full stop never belongs to; so are symbols such as ° and ®."""

_OPENING = frozenset("§%=—–$£€¥฿") | (_MARKS - set("²-|"))
"""What is cut from the front of a word before it is looked up; so are symbols."""

_INNER = re.compile(r"(?:(?<=[^\W_²³¹])[-–—~:<>=/…]|(?<=[^\W\d_²³¹]),)(?=[^\W\d_])|\.\.+|(?<=[a-zß-öø-ÿ])\.(?=[A-Z])")
"""What parts the words of "mg/d" and "(R-Kan.": the last of them is looked up."""


def full_stop_is_token(word: str) -> bool:
    """Whether the full stop that follows a word directly is a word of its own.

    It belongs to abbreviations, to single capitals, and to words that end with a capital after anything but a capital.

    >>> [full_stop_is_token(word) for word in ("price", "Inc", "J", "USA", "U.S", "(5%)")]
    [True, False, False, True, False, True]
    """
    start = 0
    while start < len(word) and (word[start] in _OPENING or _symbol(word[start])):
        start += 1
    if start == len(word):
        return True
    if _INNER.split(word[start:])[-1] in _ABBREVIATIONS:
        return False
    before, last = word[-2:-1], word[-1]
    if last.isupper():
        return (before == "°" and last in "FCK") or (before.isalpha() and not before.islower())
    return last in _MARKS or last.isalnum() or _symbol(last)


def _symbol(char: str) -> bool:
    return not char.isascii() and category(char) == "So"
