"""The writing systems of texts: which one a text is in, and how many texts are in one that a language does not use.

What is told apart is what a reader of texts needs: Japanese is Han with kana, and none that the Chinese rules read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable

LATIN, HAN = "Latin", "Chinese"

# A syllable or a character of the first ones says as much as several letters do, and counts as so many.
_LETTERS: tuple[tuple[str, int, str], ...] = (
    ("Japanese", 3, "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"),
    (HAN, 3, "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"),
    ("Korean", 3, "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"),
    ("Arabic", 1, "\u0620-\u064a\u066e-\u06d3\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc"),
    ("Cyrillic", 1, "\u0400-\u052f"),
    ("Greek", 1, "\u0370-\u03ff\u1f00-\u1fff"),
    ("Hebrew", 1, "\u05d0-\u05ea"),
    ("Thai", 1, "\u0e01-\u0e3a\u0e40-\u0e4e"),
    ("Devanagari", 1, "\u0900-\u0963\u0970-\u097f"),
    ("Bengali", 1, "\u0980-\u09e5\u09f0-\u09ff"),
    ("Tamil", 1, "\u0b80-\u0be5"),
    ("Georgian", 1, "\u10a0-\u10ff"),
    ("Armenian", 1, "\u0531-\u058f"),
    (LATIN, 1, "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a"),
)
SCRIPTS = tuple(name for name, _, _ in _LETTERS)
"""Names of the writing systems that are told apart."""

_FOREIGN = re.compile(f"[{''.join(letters for name, _, letters in _LETTERS if name != LATIN)}]")
_COUNTED = [(name, weight, re.compile(f"[{letters}]")) for name, weight, letters in _LETTERS]
_JAPANESE = 0.1
"""Share of kana above which Han characters are Japanese."""
_FEW = 3
"""Latin letters that are a symbol or a name, and no text."""


def script_of(text: str) -> str:
    """The writing system of most of a text's words; "" where it has no letters, or no more than a symbol's.

    >>> script_of("Sales rose 5%"), script_of("净利润为3.5亿元"), script_of("売上は5億円でした"), script_of("5 kg")
    ('Latin', 'Chinese', 'Japanese', '')
    """
    if _FOREIGN.search(text) is None:
        return LATIN if len(_COUNTED[-1][2].findall(text)) > _FEW else ""
    counts = {name: weight * len(letters.findall(text)) for name, weight, letters in _COUNTED}
    if counts["Japanese"] > _JAPANESE * counts[HAN]:
        counts["Japanese"] += counts[HAN]
        counts[HAN] = 0
    name = max(counts, key=lambda name: counts[name])
    return "" if name == LATIN and counts[name] <= _FEW else name


def unread(texts: Iterable[str], scripts: Collection[str]) -> dict[str, int]:
    """How many texts are in other writing systems than `scripts`, by the system; most first."""
    counts = Counter(script_of(text) for text in texts)
    return {name: count for name, count in counts.most_common() if name and name not in scripts}


def told(counts: dict[str, int]) -> str:
    """Counts of `unread` in words.

    >>> told({"Thai": 1200, "Arabic": 3})
    'Thai 1,200, Arabic 3'
    """
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
