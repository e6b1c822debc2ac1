""" "X and Y were 5 and 8, respectively": which words of a list belong to which mention of another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from qbench.quantities.parse import Parse
from qbench.quantities.tokens import Token

REACH = 40
"""Tokens between a list of mentions and "respectively", or between the mentions and the list before them, at most."""
BETWEEN_MENTIONS = 4
MOST = 12
"""Mentions that one "respectively" deals with at most."""
CONTENT = frozenset({"NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS", "VBN", "VBG", "AFX", "FW", "HYPH", "CD"})
SKIPPED = frozenset({"DT", "PRP$", "POS", "PDT", "CC"})

Span = tuple[int, int]
Share = tuple[list[int], bool]
"""Tokens of a list that belong to a mention; and whether they say by themselves what it is about, since the list stood
before the mentions, or add to what the sentence says of all."""


def shares(tokens: Sequence[Token], mentions: Sequence[Span], parse: Parse) -> dict[int, Share]:
    """Mention -> its share of a list, for the mentions that a "respectively" deals out."""
    found: dict[int, Share] = {}
    ends = [last for _, last in mentions]
    for k, token in enumerate(tokens):
        if token.low != "respectively":
            continue
        group = _group(tokens, mentions, bisect_right(ends, k), k)
        if len(group) < 2:
            continue
        start, end = mentions[group[0]][0], mentions[group[-1]][1]
        after = _segments(tokens, parse, range(end, k), len(group))
        listed = after or _segments_before(
            tokens, parse, start, mentions[group[0] - 1][1] if group[0] else 0, len(group)
        )
        found |= {n: (words, not after) for n, words in zip(group, listed, strict=False)}
    return found


def _group(tokens: Sequence[Token], mentions: Sequence[Span], before: int, k: int) -> list[int]:
    """The run of mentions, next to each other, that ends before token k: the last of the first `before` ones."""
    group: list[int] = []
    edge = k
    for n in range(before - 1, -1, -1):
        first, last = mentions[n]
        if edge - last > (BETWEEN_MENTIONS if group else REACH) or any(t.text in ".;" for t in tokens[last:edge]):
            break
        if len(group) == MOST:
            return []
        group.insert(0, n)
        edge = first
    return group


def _segments(tokens: Sequence[Token], parse: Parse, span: range, wanted: int) -> list[list[int]]:
    """The content words of the items of a list, an item each; [] unless there are as many as wanted."""
    items: list[list[int]] = [[]]
    for k in span:
        if tokens[k].text == "," or tokens[k].low in ("and", "or"):
            items.append([])
        elif parse.tags[k] in CONTENT:
            items[-1].append(k)
        elif parse.tags[k] not in SKIPPED:
            items = [[]]  # "in the third and fourth quarter of 2019": the list starts after the preposition
    items = [item for item in items if item]
    return items if len(items) == wanted else []


def _segments_before(tokens: Sequence[Token], parse: Parse, start: int, floor: int, wanted: int) -> list[list[int]]:
    """The items of the list that stands before the mentions, each with what follows the list and holds for all."""
    k, floor = start - 1, max(floor, start - REACH)
    while k >= floor and parse.tags[k] not in CONTENT - {"VBN", "VBG"}:
        k -= 1
    items: list[list[int]] = [[]]
    tail: list[int] = []
    while k >= floor:
        if tokens[k].text == "," or tokens[k].low in ("and", "or"):
            if items[0]:
                items.insert(0, [])
        elif parse.tags[k] in CONTENT:
            items[0].insert(0, k)
        elif parse.tags[k] == "IN" and len(items) == 1:
            tail, items = [*items[0], *tail], [[]]
        elif parse.tags[k] not in SKIPPED:
            break
        k -= 1
    items = [item for item in items if item]
    return [[*item, *tail] for item in items] if len(items) == wanted else []
