"""Units that share a form ("C", "pound", "m"), resolved by the words around them, as `data/senses.txt` says.

Each sense has cue words; those within a bounded window of the same sentence are counted, the nearer the more. The cost
is a fixed number of dictionary look-ups for each ambiguous form, whatever the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from qbench.errors import InputError
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import Token, glued
from qbench.store import read_text

SENSES_FILE = Path(__file__).parent / "data" / "senses.txt"
REACH = 30
"""Tokens looked at on either side."""
BESIDE, NEAR = 2, 5
"""Cues within so many tokens count four times and twice."""


@dataclass(frozen=True, slots=True)
class Sense:
    """What a form may mean.

    Attributes:
        unit: canonical name; "" for a magnitude or for no unit at all.
        scale: the magnitude's factor; None for a unit.
        cued: whether a word around speaks for it, so that it is no mere default.
    """

    unit: str
    scale: float | None = None
    cued: bool = False


@dataclass(slots=True)
class _Form:
    senses: list[Sense] = field(default_factory=list)
    cues: dict[str, list[tuple[tuple[str, ...], int]]] = field(default_factory=dict)
    otherwise: Sense | None = None


def resolve(surface: str, tokens: Sequence[Token], first: int, last: int) -> Sense | None:
    """What the form at tokens first..last-1 means; None for a form of one meaning, or where nothing speaks.

    A default of the file ("otherwise") comes back with `cued` false.
    """
    form = _forms().get(surface)
    if form is None:
        return None
    counts = [0] * len(form.senses)
    for k in _window(tokens, first, last):
        for rest, index in form.cues.get(tokens[k].low, ()):
            if not rest or tuple(t.low for t in tokens[k + 1 : k + 1 + len(rest)]) == rest:
                counts[index] += _weight(first - k if k < first else k - last + 1)
    best = max(range(len(counts)), key=lambda i: counts[i], default=-1)
    if best >= 0 and counts[best]:
        sense = form.senses[best]
        return Sense(sense.unit, sense.scale, cued=True)
    return form.otherwise


def shared_forms() -> Iterator[tuple[str, str]]:
    """The forms of the file, each with the unit that it means by default ("" for none)."""
    for surface, form in _forms().items():
        yield surface, form.otherwise.unit if form.otherwise is not None else ""


def is_shared(surface: str) -> bool:
    """Whether the file lists senses of a form."""
    return surface in _forms()


def scaled(tokens: Sequence[Token], number: Number) -> Number:
    """The number with the letter after it, where that is a magnitude by the words around: "35m of its devices"."""
    k = number.last
    if number.scaled or number.written or k >= len(tokens) or tokens[k].text not in _PLAIN:
        return number
    if k + 1 < len(tokens) and tokens[k + 1].text in _POWERS and glued(tokens[k], tokens[k + 1]):
        return number  # "120 m2 for 900 euros"
    if tokens[k].start - tokens[k - 1].end > 1 or (scale := is_magnitude(tokens[k].text, tokens, k)) is None:
        return number
    return number.times(scale, k + 1)


def is_magnitude(surface: str, tokens: Sequence[Token], k: int) -> float | None:
    """The factor that a letter at token k stands for after a number ("35m users": a million); None for a unit.

    Args:
        surface: the letter.
        tokens: of the text.
        k: the letter's token.
    """
    if surface == "m" and k > 1 and tokens[k - 2].low == "within":
        return None  # "within 500 m of the station"
    sense = resolve(surface, tokens, k, k + 1)
    if sense is not None and sense.scale is not None and sense.cued:
        return sense.scale
    scale = _PLAIN.get(surface)
    if scale is None or (sense is not None and sense.cued) or not _counts(tokens, k + 1):
        return None
    return scale


_POWERS = frozenset("23²³")
_PLAIN = {"m": 1e6, "b": 1e9, "k": 1e3}
_COUNTED = frozenset("people men women children".split())
_MEASURED = frozenset(
    "yards metres meters hurdles hurdlers sprints sprinters runners swimmers finals relays races times hours miles "
    "always across".split()
)


def _counts(tokens: Sequence[Token], k: int) -> bool:
    """Whether a plural noun or "of its" follows: "35m users", "2b of their devices"."""
    if k >= len(tokens) or glued(tokens[k - 1], tokens[k]):
        return False
    word = tokens[k]
    if word.low == "of":
        return k + 1 < len(tokens) and tokens[k + 1].low in ("its", "their", "the", "our", "his", "her", "them")
    if word.kind != "word" or not word.text.islower() or word.low in _MEASURED:
        return False
    plural = len(word.low) > 3 and word.low.endswith("s") and not word.low.endswith(("ss", "us"))
    return plural or word.low in _COUNTED


def _weight(distance: int) -> int:
    return 4 if distance <= BESIDE else 2 if distance <= NEAR else 1


def _window(tokens: Sequence[Token], first: int, last: int) -> Iterator[int]:
    """The tokens of the same sentence within reach, those of the form left out."""
    low = first
    while low > max(0, first - REACH) and not _ends_sentence(tokens, low - 1):
        low -= 1
    yield from range(low, first)
    high = last
    while high < min(len(tokens), last + REACH):
        yield high
        if _ends_sentence(tokens, high, initials=high > last):
            break
        high += 1


def _ends_sentence(tokens: Sequence[Token], k: int, *, initials: bool = True) -> bool:
    if tokens[k].text in "!?":
        return True
    if tokens[k].text != "." or k + 1 >= len(tokens) or glued(tokens[k], tokens[k + 1]):
        return False
    initial = initials and k > 0 and len(tokens[k - 1].text) == 1 and tokens[k - 1].text.isupper()
    return tokens[k + 1].text[:1].isupper() and not initial


@lru_cache(maxsize=1)
def _forms() -> dict[str, _Form]:
    """The senses of the file, by form.

    Raises:
        InputError: a line is neither a [form, ...] heading, `unit : cues` nor `otherwise unit`.
    """
    forms: dict[str, _Form] = {}
    current: list[str] = []
    for number, raw in enumerate(read_text(SENSES_FILE, "senses").splitlines(), start=1):
        line = re.sub(r"(^|\s)#.*", "", raw).strip()
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            current = [name.strip() for name in line[1:-1].split(" , ")]
            forms.update((name, _Form()) for name in current)
        elif line.startswith("otherwise ") and current:
            for name in current:
                forms[name].otherwise = _sense(line.removeprefix("otherwise "))
        elif " : " in line and current:
            target, _, cues = line.partition(" : ")
            for name in current:
                _add(forms[name], _sense(target), cues)
        else:
            raise InputError("neither [form , form] nor `unit : cue words`", file=SENSES_FILE, line=number, value=raw)
    return forms


def _sense(text: str) -> Sense:
    """A unit's name, "x 1e6" for a magnitude, or "-" for no unit."""
    text = text.strip()
    if text.startswith("x "):
        return Sense("", float(text[2:]))
    return Sense("" if text == "-" else text)


def _add(form: _Form, sense: Sense, cues: str) -> None:
    """Cue words are separated by spaces; "_" joins those of a phrase."""
    if sense not in form.senses:
        form.senses.append(sense)
    for cue in cues.split():
        head, *rest = cue.lower().split("_")
        form.cues.setdefault(head, []).append((tuple(rest), form.senses.index(sense)))
