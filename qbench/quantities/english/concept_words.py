"""What a number is about: the words of its concept, found by word lists and the order of the clause.

*Numbers Matter* section 3.1 takes concepts from CQE's dependency parse. Here chunks of content words stand for noun
phrases, and the nearest verb on the left for the predicate.
"""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.lexicon import (
    CHANGE_NOUNS,
    FUNCTION_WORDS,
    LEADING_NOISE,
    LY_NOUNS,
    MONTHS,
    TRAILING_NOISE,
    VERBS,
    WEAK_WORDS,
)
from qbench.quantities.english.tokens import Token, abbreviates, glued

REACH = 30
"""Tokens to look at on either side of a mention."""
MAX_WORDS = 5
CLAUSE_ENDS = frozenset(";:.!?•|")
CLAUSE_WORDS = frozenset("while whereas but although though because if unless".split())
JOINERS = frozenset(["of", "in", "for", "on"])

Range = tuple[int, int]


def find_concept(tokens: Sequence[Token], first: int, last: int, taken: Sequence[bool], *, counts: bool) -> list[int]:
    """Indexes of the tokens that name the concept of the mention at tokens first..last-1; [] if there are none.

    Args:
        tokens: of the text.
        first, last: the mention with its comparator and unit.
        taken: for each token, whether it belongs to some mention (those are never concept words).
        counts: the unit is money, a percentage, a counted noun or none, so that what follows seldom names the concept.
    """
    before, after = _previous(tokens, first), _next(tokens, last)
    left = _chunk_left(tokens, first - 1, taken)
    right = _chunk_right(tokens, last, taken)
    # "revenue of 5", "laptop under 5", "Metascore 70": the words next to the mention, unless a verb stands between.
    adjacent = left is not None and left[1] == first
    if (adjacent or before in ("of", ":", "(", "=")) and (near := _meaningful(tokens, left)):
        return _finish(tokens, _with_joined(tokens, near, taken))
    if not counts:
        if right and _meaningful(tokens, right) and right[0] - last <= 1:
            return _finish(tokens, right)
        if after == "of" and (far := _chunk_right(tokens, last + 1, taken)):
            return _finish(tokens, far)
    if after in CHANGE_NOUNS and _next(tokens, last + 1) in JOINERS:
        if far := _meaningful(tokens, _chunk_right(tokens, last + 2, taken)):
            return _finish(tokens, far)
    if subject := _subject(tokens, first, taken):
        return _finish(tokens, _with_joined(tokens, subject, taken))
    if after in JOINERS and (far := _meaningful(tokens, _chunk_right(tokens, last + 1, taken))):
        return _finish(tokens, far)
    for chunk in (left, right):
        if chunk and _meaningful(tokens, chunk):
            return _finish(tokens, chunk)
    return []


def _previous(tokens: Sequence[Token], first: int) -> str:
    k = first - 1
    while k >= 0 and tokens[k].low in ("a", "an", "the", "only", "just"):
        k -= 1
    return tokens[k].low if k >= 0 else ""


def _next(tokens: Sequence[Token], k: int) -> str:
    return tokens[k].low if k < len(tokens) else ""


def _is_content(tokens: Sequence[Token], k: int, taken: Sequence[bool]) -> bool:
    token = tokens[k]
    if abbreviates(tokens, k) and _is_content(tokens, k - 1, taken):
        return not taken[k]
    initial = any(m < len(tokens) and abbreviates(tokens, m) for m in (k + 1, k + 3))
    if taken[k] or token.kind != "word" or (len(token.text) == 1 and not token.text.isupper() and not initial):
        return False
    if token.text in MONTHS or (token.low in FUNCTION_WORDS and not (token.text.isupper() and len(token.text) > 1)):
        return False
    if token.low.endswith("ly") and len(token.low) > 4 and token.low not in LY_NOUNS:
        return False
    return token.low not in VERBS or _attributive(tokens, k)


def _attributive(tokens: Sequence[Token], k: int) -> bool:
    """Whether a word of the verb list is used as a noun: "total cost", "sales growth", after another noun or "the"."""
    if tokens[k].low not in (
        "cost",
        "costs",
        "sales",
        "pay",
        "total",
        "issue",
        "report",
        "use",
        "change",
        "runs",
        "cut",
    ):
        return False
    return (k + 1 < len(tokens) and tokens[k + 1].kind == "word" and tokens[k + 1].low in ("of", "per")) or (
        k > 0 and tokens[k - 1].low in ("the", "a", "our", "its", "operating", "production", "total", "average")
    )


def _joint(tokens: Sequence[Token], k: int, taken: Sequence[bool]) -> bool:
    """A mark inside a word: the "&" of "R&D", the hyphen of "full-time"."""
    return (
        0 < k < len(tokens) - 1
        and not taken[k]
        and tokens[k].text in "-&+.’'"
        and glued(tokens[k - 1], tokens[k])
        and glued(tokens[k], tokens[k + 1])
        and tokens[k - 1].kind == tokens[k + 1].kind == "word"
    )


def _chunk_left(tokens: Sequence[Token], k: int, taken: Sequence[bool]) -> Range | None:
    """The nearest run of content words that ends at or before token k, within the clause."""
    floor = max(-1, k - REACH)
    while k > floor and not _is_content(tokens, k, taken):
        if _ends_clause(tokens, k):
            return None
        k -= 1
    if k <= floor:
        return None
    end = k + 1
    while k - 1 > floor and (_is_content(tokens, k - 1, taken) or _joint(tokens, k - 1, taken)):
        k -= 1
    return k, end


def _chunk_right(tokens: Sequence[Token], k: int, taken: Sequence[bool]) -> Range | None:
    """The run of content words that starts at token k, an article or possessive skipped."""
    while k < len(tokens) and tokens[k].low in (
        "the",
        "a",
        "an",
        "its",
        "our",
        "their",
        "his",
        "her",
        "of",
        "-",
        "all",
    ):
        k += 1
    start = k
    while k < len(tokens) and k - start < REACH and (_is_content(tokens, k, taken) or _joint(tokens, k, taken)):
        k += 1
    return (start, k) if k > start else None


def _ends_clause(tokens: Sequence[Token], k: int) -> bool:
    return (tokens[k].text in CLAUSE_ENDS and not abbreviates(tokens, k)) or tokens[k].low in CLAUSE_WORDS


def _subject(tokens: Sequence[Token], first: int, taken: Sequence[bool]) -> Range | None:
    """The chunk on the left of the nearest verb on the left, within the clause."""
    k, floor = first - 1, max(-1, first - 1 - REACH)
    while k > floor and not (tokens[k].low in VERBS and not taken[k] and not _attributive(tokens, k)):
        if _ends_clause(tokens, k):
            return None
        k -= 1
    if k <= floor:
        return None
    while k >= 0 and (tokens[k].low in VERBS or tokens[k].low in FUNCTION_WORDS) and not _ends_clause(tokens, k):
        k -= 1
    chunk = _chunk_left(tokens, k, taken)
    # A chunk that only says when ("in the last quarter", "yesterday") hides the subject before it.
    for _ in range(3):
        if chunk is None or _meaningful(tokens, chunk):
            return chunk
        chunk = _chunk_left(tokens, chunk[0] - 1, taken)
    return None


def _with_joined(tokens: Sequence[Token], chunk: Range, taken: Sequence[bool]) -> list[int]:
    """The chunk, and the one before it when a preposition ties them: "cost of sales", "rate in Germany"."""
    own = list(range(*chunk))
    k = chunk[0] - 1
    while k >= 0 and tokens[k].low in ("the", "a", "an", "its", "our", "their"):
        k -= 1
    if k < 1 or tokens[k].low not in JOINERS:
        return own
    head = _chunk_left(tokens, k - 1, taken)
    if head is None or head[1] != k or not _meaningful(tokens, head):
        return own
    joined = [*range(*head), *own]
    return joined if len(joined) <= MAX_WORDS + 1 else list(range(*head))


def _meaningful(tokens: Sequence[Token], chunk: Range | None) -> Range | None:
    """The chunk, if one of its words says something by itself."""
    if chunk is None:
        return None
    weak = WEAK_WORDS | CHANGE_NOUNS
    if any(tokens[k].kind == "word" and tokens[k].low not in weak and len(tokens[k].text) > 1 for k in range(*chunk)):
        return chunk
    return None


def _finish(tokens: Sequence[Token], indexes: Range | Sequence[int]) -> list[int]:
    """Without noise at the ends, and with at most MAX_WORDS words counted from the head at the end."""
    if isinstance(indexes, tuple):
        indexes = list(range(*indexes))
    trimmed = list(indexes)
    while len(trimmed) > 1 and (tokens[trimmed[0]].low in LEADING_NOISE or tokens[trimmed[0]].kind != "word"):
        trimmed.pop(0)
    while len(trimmed) > 1 and _trails(tokens, trimmed[-1]):
        trimmed.pop()
    starts = [
        n
        for n, k in enumerate(trimmed)
        if n == 0 or not glued(tokens[trimmed[n - 1]], tokens[k]) or trimmed[n - 1] != k - 1
    ]
    return trimmed[starts[-MAX_WORDS] :] if len(starts) > MAX_WORDS else trimmed


def _trails(tokens: Sequence[Token], k: int) -> bool:
    """Whether a concept can't end with token k."""
    return tokens[k].low in TRAILING_NOISE or (tokens[k].kind != "word" and not abbreviates(tokens, k))
