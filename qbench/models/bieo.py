"""BIEO tags of tokens <-> character spans (*Quantity Retrieval*, section 3.1). Pure functions on sequences.

A segment is written B, I ... I, E: its first token begins it, its last one ends it. A segment of one token is B alone.
A token that may not be tagged (a special token, a token of the pivot) has None for its span.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Span = tuple[int, int]
"""Half-open offsets of characters."""

OUTSIDE, BEGIN, INSIDE, END = range(4)
TAGS = "OBIE"
"""The letters of the tags, by number."""


def tags_of(tokens: Sequence[Span | None], segments: Iterable[Span]) -> list[int]:
    """The tags that say which tokens the segments hold.

    A token belongs to a segment if they share a character, and to the first of two such segments.

    Args:
        tokens: the span of each token, in order.
        segments: spans in order, apart from each other.

    >>> "".join(TAGS[tag] for tag in tags_of([None, (0, 2), (3, 9), (10, 14), (15, 20), None], [(3, 14), (15, 20)]))
    'OOBEBO'
    """
    tags = [OUTSIDE] * len(tokens)
    for start, end in segments:
        held = [
            position
            for position, span in enumerate(tokens)
            if span and span[0] < end and start < span[1] and tags[position] == OUTSIDE
        ]
        for position in held:
            tags[position] = INSIDE
        if held:
            tags[held[-1]] = END
            tags[held[0]] = BEGIN
    return tags


def segments_of(text: str, tokens: Sequence[Span | None], tags: Sequence[int]) -> tuple[Span, ...]:
    """The segments that some tags say, whatever their order: a model may write what no gold does.

    A segment goes on over tags other than O. A B starts a new one; so does an I or an E after an O. A token without a
    span ends it. E need therefore not be there, and a B alone is a segment of one token.

    Args:
        text: that the spans index into; white space at the ends of a segment is trimmed.
        tokens: the span of each token, in order.
        tags: one for each token.

    Returns:
        half-open character spans, in order, apart from each other.

    >>> text, tokens = "in rural areas of China", [(0, 2), (3, 8), (9, 14), (15, 17), (18, 23)]
    >>> segments_of(text, tokens, [OUTSIDE, BEGIN, END, OUTSIDE, BEGIN])
    ((3, 14), (18, 23))
    >>> segments_of(text, tokens, [INSIDE, END, BEGIN, BEGIN, END])
    ((0, 8), (9, 14), (15, 23))
    """
    segments: list[Span] = []
    going = False
    for span, tag in zip(tokens, tags, strict=True):
        if span is None or tag == OUTSIDE:
            going = False
        elif going and tag != BEGIN:
            segments[-1] = (segments[-1][0], max(span[1], segments[-1][1]))
        else:
            # Tokens of some vocabularies share characters (the bytes of one letter).
            start = max(span[0], segments[-1][1]) if segments else span[0]
            segments.append((start, max(start, span[1])))
            going = True
    return tuple(span for span in (_trimmed(text, *span) for span in segments) if span[0] < span[1])


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
