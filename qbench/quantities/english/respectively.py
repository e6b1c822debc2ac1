""" "X and Y were 5 and 8, respectively": which words of a list belong to which mention of another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token

REACH = 40
"""Tokens between a list of mentions and "respectively", or between the mentions and the list before them, at most."""
BETWEEN_MENTIONS = 4
MOST = 12
"""Mentions that one "respectively" deals with at most."""
PREDICATE = 4
"""Tokens between the subject of a clause and the mentions that are its predicate, at most."""
CONTENT = frozenset({"NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS", "VBN", "VBG", "AFX", "FW", "HYPH", "CD"})
SKIPPED = frozenset({"DT", "PRP$", "POS", "PDT", "CC"})
FINITE = frozenset({"VBD", "VBZ", "VBP"})
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
FIXED = frozenset(
    {
        ("research", "development"),
        ("property", "plant", "equipment"),
        ("selling", "general", "administrative"),
        ("general", "administrative"),
        ("terms", "conditions"),
        ("profit", "loss"),
    }
)
"""Pairs that name one thing: first words of the items of a list that is none."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Dealt:
    """A list of words that is dealt out to a list of mentions.

    Attributes:
        group: the mentions, in order.
        items: for each of them the content words of its item.
        lent: for each of them the words that the last item lends it: the "areas" of "urban and rural areas".
        tail: content words behind a list that stands before the mentions, which hold for all its items: "of Acme".
        before: whether nothing but a verb stands between the list and the mentions behind it. Then an item says by
            itself what its mention is about; else it adds to what the sentence says of all.
    """

    group: tuple[int, ...]
    items: tuple[tuple[int, ...], ...]
    lent: tuple[tuple[int, ...], ...]
    tail: tuple[int, ...]
    before: bool

    def words(self) -> set[int]:
        """The words of all items."""
        return {k for item in self.items for k in item}


def dealt(tokens: Sequence[Token], mentions: Sequence[Span], parse: Parse) -> Iterator[Dealt]:
    """What each "respectively" of a text deals out.

    Args:
        tokens: of the text.
        mentions: for each mention, in order, its first token and the one after its last.
        parse: of the tokens.
    """
    ends = [last for _, last in mentions]
    for k, token in enumerate(tokens):
        if token.low != "respectively":
            continue
        group = _group(tokens, mentions, bisect_right(ends, k), k)
        if len(group) < 2:
            continue
        start, end = mentions[group[0]][0], mentions[group[-1]][1]
        after = _segments(tokens, parse, range(end, k), len(group))
        if after:
            yield _deal(group, after, [], parse, before=False)
            continue
        floor = mentions[group[0] - 1][1] if group[0] else 0
        listed, tail = _segments_before(tokens, parse, start, floor, len(group))
        if listed:
            yield _deal(group, listed, tail, parse, before=True)
            continue
        verb = next((m for m in range(start - 1, max(floor, start - REACH), -1) if parse.tags[m] in FINITE), floor)
        if listed := _segments_before(tokens, parse, verb, floor, len(group))[0]:
            # "France and Spain had deficits of 5 and 8, respectively": what is had is said of both.
            yield _deal(group, listed, [], parse, before=False)


def dealt_unsaid(tokens: Sequence[Token], mentions: Sequence[Span], parse: Parse, group: Sequence[int]) -> Dealt | None:
    """What the subject of a clause deals out to the amounts of its predicate: "boys and girls weighed 3 kg and 4 kg".

    Args:
        tokens, mentions, parse: as in `dealt`.
        group: mentions of one kind that stand next to each other as a list.

    Returns:
        None unless the subject is a list of as many items, and nothing but a verb stands between.
    """
    start = mentions[group[0]][0]
    listed, tail = _segments_before(tokens, parse, start, mentions[group[0] - 1][1] if group[0] else 0, len(group))
    if not listed or tuple(tokens[item[0]].low for item in listed) in FIXED:
        return None
    gap = range(max(*tail, *listed[-1]) + 1 if tail else listed[-1][-1] + 1, start)
    verbs = [k for k in gap if parse.tags[k] in FINITE]
    if len(gap) > PREDICATE or len(verbs) != 1 or any(parse.tags[k] in ("IN", "TO", ",") for k in gap):
        return None
    return _deal(group, listed, tail, parse, before=True)


def _deal(
    group: Sequence[int], items: Sequence[Sequence[int]], tail: Sequence[int], parse: Parse, *, before: bool
) -> Dealt:
    last = items[-1]
    # What follows the last name may be lent: "mini and Pro Max models" are "mini models".
    start = max((i + 1 for i, k in enumerate(last) if parse.tags[k].startswith("NNP")), default=1)
    lent = last[start:] if parse.tags[last[-1]] in NOUNS else []
    given = [tuple(lent) if item is not last and _lacks_noun(item, lent, parse) else () for item in items]
    return Dealt(tuple(group), tuple(tuple(item) for item in items), tuple(given), tuple(tail), before)


def _lacks_noun(item: Sequence[int], lent: Sequence[int], parse: Parse) -> bool:
    """Whether an item ends before its noun: the first of "urban and rural areas"."""
    if not lent:
        return False
    k = item[-1]
    return parse.tags[k] not in NOUNS or (parse.heads[k] in lent and parse.relations[k] in ("amod", "compound"))


def _group(tokens: Sequence[Token], mentions: Sequence[Span], before: int, k: int) -> list[int]:
    """The run of mentions, next to each other, that ends before token k: the last of the first `before` ones."""
    group: list[int] = []
    edge, dated = k, -1
    for n in range(before - 1, -1, -1):
        first, last = mentions[n]
        if tokens[last].low in ("ended", "ending") or 0 <= dated - last <= 2:
            dated = first  # "the three and six months ended June 30" is a date, and no member of a list of amounts
            continue
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


def _segments_before(
    tokens: Sequence[Token], parse: Parse, start: int, floor: int, wanted: int
) -> tuple[list[list[int]], list[int]]:
    """The items of the list that stands before the mentions, and what follows the list and holds for all of it."""
    k, floor = start - 1, max(floor, start - REACH)
    while k >= floor and parse.tags[k] not in CONTENT - {"VBN", "VBG"}:
        k -= 1
    items: list[list[int]] = [[]]
    tail: list[int] = []
    while k >= floor:
        if tokens[k].text == ")":
            while k > floor and tokens[k].text != "(":
                k -= 1
        elif tokens[k].text == "," or tokens[k].low in ("and", "or"):
            if items[0] and not _in_date(tokens, k):
                items.insert(0, [])
        elif parse.tags[k] in CONTENT:
            items[0].insert(0, k)
        elif parse.tags[k] == "IN" and len(items) == 1:
            tail, items = [*items[0], *tail], [[]]
        elif parse.tags[k] not in SKIPPED:
            break
        k -= 1
    items = [item for item in items if item]
    return (items, tail) if len(items) == wanted else ([], [])


def _in_date(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is the comma of "June 30, 2023"."""
    return tokens[k].text == "," and 0 < k < len(tokens) - 1 and tokens[k - 1].kind == tokens[k + 1].kind == "number"
