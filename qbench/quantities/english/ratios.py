"""Ratios of two numbers: "randomised 1:1", "a dilution of 1:100,000", "a three-for-one split"."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.lexicon import ONES
from qbench.quantities.english.notations import Notation
from qbench.quantities.english.tokens import HYPHENS, Token, glued

RATIO = "ratio"
"""The rule's name."""
_CUES = frozenset(
    "ratio ratios randomised randomized randomly randomisation randomization allocated allocation assigned mixture mix "
    "mixed diluted dilution dilutions proportion proportions contrast odds epinephrine adrenaline gear molar".split()
)
"""Words near two numbers with a colon that make a ratio of them, and no time of day."""
_SHARES = frozenset("split splits share shares stock stocks rights bonus issue basis reverse".split())
"""What is exchanged "three for one"."""
_BEFORE, _AFTER = 8, 4
"""Tokens before and after a ratio where such words stand."""
_MOST = 4
"""Parts of a ratio at most."""
_YEAR = 4
_LARGE = 1_000
"""From this number on the other side of "1:" is no minute."""


def ratio(tokens: Sequence[Token], i: int) -> Notation | None:
    """The ratio that starts at token i, as its first number divided by its last; None where there is none."""
    return _colon(tokens, i) or _exchange(tokens, i)


def _colon(tokens: Sequence[Token], i: int) -> Notation | None:
    """ "1:1", "2:2:1", "1:100,000"."""
    if i + 2 >= len(tokens) or tokens[i + 1].text != ":" or (i and tokens[i - 1].text == ":"):
        return None
    parts, last = [_part(tokens[i])], i + 1
    while last + 1 < len(tokens) and tokens[last].text == ":" and glued(tokens[last - 1], tokens[last]):
        if not glued(tokens[last], tokens[last + 1]) or len(parts) == _MOST:
            return None
        parts.append(_part(tokens[last + 1]))
        last += 2
    if len(parts) < 2 or not all(parts):
        return None
    if last < len(tokens) and glued(tokens[last - 1], tokens[last]) and tokens[last].kind == "word":
        return None
    several = len(parts) > 2 and all(len(tokens[k].text) == 1 for k in range(i, last))
    large = 1 in parts[:2] and max(parts) >= _LARGE
    if large and tokens[i].text[:2] in ("19", "20") and len(tokens[i].text) == _YEAR:
        return None  # "in the quarter of 2024:1 Value of shares"
    cues = _CUES - _ALLOCATIONS if _may_be_clock(tokens, i) else _CUES
    if not (several or large or _near(tokens, i, last, cues)):
        return None
    return _divided(tokens, i, last, parts[0], parts[-1])


def _may_be_clock(tokens: Sequence[Token], i: int) -> bool:
    """Whether two numbers may say when something is done: "assigned at 10:30"; a dilution may be "at 1:10", too."""
    minutes = tokens[i + 2].text
    return bool(i) and tokens[i - 1].low in _TIMES and len(minutes) == 2 and minutes.isdecimal() and minutes < "60"


_TIMES = frozenset("at by until till before after since from between".split())
_ALLOCATIONS = frozenset(
    "randomised randomized randomly randomisation randomization allocated allocation assigned".split()
)
"""Cues that may stand near a time of day, too."""


def _part(token: Token) -> float:
    """The number of a token, with one or two decimals at most ("1.5:1"); 0 for anything else."""
    whole, dot, decimals = token.text.partition(".")
    if not dot:
        return _whole(token)
    few = token.kind == "number" and whole.isdecimal() and decimals.isdecimal() and len(decimals) <= _DECIMALS
    return float(token.text) if few else 0.0


_DECIMALS = 2


def _whole(token: Token) -> int:
    """The whole number of a token, 0 for anything else."""
    digits = token.text.replace(",", "")
    return int(digits) if token.kind == "number" and digits.isdecimal() and len(digits) < 10 else 0


def _exchange(tokens: Sequence[Token], i: int) -> Notation | None:
    """ "a 3-for-1 split", "rights on a one-for-four basis"."""
    if i + 2 >= len(tokens):
        return None
    hyphen = tokens[i + 1].text in HYPHENS and glued(tokens[i], tokens[i + 1])
    k = i + 1 + hyphen
    last = k + 2 + hyphen
    if last > len(tokens) or tokens[k].low != "for" or (hyphen and tokens[k + 1].text not in HYPHENS):
        return None
    top, bottom = _few(tokens[i]), _few(tokens[last - 1])
    if not top or not bottom or not _near(tokens, i, last, _SHARES):
        return None
    return _divided(tokens, i, last, top, bottom)


def _few(token: Token) -> int:
    return int(ONES.get(token.low, 0)) or (_whole(token) if len(token.text) < 4 else 0)


def _near(tokens: Sequence[Token], i: int, last: int, cues: frozenset[str]) -> bool:
    around = [*tokens[max(0, i - _BEFORE) : i], *tokens[last : last + _AFTER]]
    return any(token.low in cues for token in around)


def _divided(tokens: Sequence[Token], i: int, last: int, top: float, bottom: float) -> Notation:
    return Notation(float(f"{top / bottom:.12g}"), last, tokens[i].text if tokens[i].kind == "number" else "1", RATIO)
