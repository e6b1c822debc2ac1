"""Formats that are named by a number: races by their length, pictures by their lines, networks by their generation."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import Token, glued


def race_until(tokens: Sequence[Token], number: Number) -> int | None:
    """ "a 5k run", "the 10K race": a race that is named by its length; and plans for old age, "a 401k"."""
    last = number.last
    if tokens[number.first].text in ("401", "403") and tokens[last - 1].text == "k":
        return last  # "a 401k plan"
    if tokens[number.first].text not in ("3", "5", "8", "10", "15", "20", "50") or tokens[last - 1].low != "k":
        return None
    return last if last < len(tokens) and tokens[last].low in _RACES else None


_RACES = frozenset("run runs race races runner runners running jog walk walks course pb swim fun charity road".split())


def resolution_until(tokens: Sequence[Token], number: Number) -> int | None:
    """ "a 4K screen", "in 8K", "1080p": the name of a picture format."""
    last = number.last
    if tokens[number.first].text in _LINES and last < len(tokens) and tokens[last].text in ("p", "i"):
        return last + 1 if glued(tokens[last - 1], tokens[last]) else None
    if tokens[number.first].text not in ("2", "4", "5", "6", "8") or tokens[last - 1].low != "k":
        return None
    pictured = last < len(tokens) and tokens[last].low in _PICTURES
    pictured = pictured or (tokens[last - 1].text == "K" and last < len(tokens) and tokens[last].low in ("at", "or"))
    alone = last >= len(tokens) or tokens[last].text in ".,;)"
    return last if pictured or (alone and tokens[last - 1].text == "K") else None


_LINES = frozenset("240 360 480 576 720 1080 1440 2160 4320".split())
"""Lines of the formats that are named by them."""


_PICTURES = frozenset(
    "tv tvs video videos screen screens display displays resolution hdr monitor monitors content camera cameras "
    "footage uhd ultra blu streaming television televisions quality movies movie films oled lcd hdmi gaming and".split()
)


def generation_until(tokens: Sequence[Token], number: Number) -> int | None:
    """ "its 5G network", "in 3G": the name of a technology, where it is not what a phone has."""
    last = number.last
    if number.value not in _GENERATIONS or last >= len(tokens) or tokens[last].text not in ("G", "g"):
        return None
    if not glued(tokens[last - 1], tokens[last]) and tokens[last].text != "G":
        return None
    after = tokens[last + 1].low if last + 1 < len(tokens) else ""
    plain = tokens[last].text == "G" and number.first > 0 and tokens[number.first - 1].low == "in"
    return last + 1 if after in _TECHNICAL or (plain and not after.isalnum()) else None


_GENERATIONS = (2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6)
_TECHNICAL = frozenset(
    "network networks deployment technology technologies licence licences license licenses modem modems rollout "
    "spectrum service services coverage infrastructure era standard standards auction auctions".split()
)
