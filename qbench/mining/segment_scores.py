"""Scores of parsed descriptions, by segments and by quantities (*Quantity Retrieval*, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from qbench.errors import InputError
from qbench.quantities.types import Span

Segments = Sequence[Span]


@dataclass(frozen=True, slots=True)
class SegmentScores:
    """Four fractions in [0, 1].

    Attributes:
        precision, recall, f1: of segments, over all quantities together (micro-average).
        accuracy: the share of quantities of which the whole description is right.
    """

    precision: float
    recall: float
    f1: float
    accuracy: float

    def to_dict(self) -> dict[str, float]:
        """A dict that JSON can hold."""
        return asdict(self)


def strict(predicted: Sequence[Segments], gold: Sequence[Segments]) -> SegmentScores:
    """Scores with exact segments.

    With P(s,q) and Y(s,q) the segments predicted and annotated for quantity q of sentence s, in a set D of N pairs:

        precision = sum_D sum_{e in P} 1(e in Y) / sum_D |P|        recall = sum_D sum_{e in Y} 1(e in P) / sum_D |Y|
        F1 = 2 precision recall / (precision + recall)              accuracy = 1/N sum_D 1(P = Y)

    A fraction of nothing is 0. A quantity that states no fact has no segments: it counts in the accuracy alone, unless
    segments are predicted for it.

    Args:
        predicted, gold: for each quantity its segments, half-open character spans, in any order, none twice.

    Raises:
        InputError: the two are of different lengths.

    The first of two segments is right, and the second quantity, of which nothing is said, too:

    >>> strict([[(0, 4), (8, 12)], []], [[(0, 4), (8, 14)], []])
    SegmentScores(precision=0.5, recall=0.5, f1=0.5, accuracy=0.5)
    """
    return _scores(predicted, gold, lambda segment, others: segment in others)


def partial(predicted: Sequence[Segments], gold: Sequence[Segments]) -> SegmentScores:
    """Scores with overlapping segments: those of `strict`, with another test.

    A segment e is right where some f of the other side has |e and f| / |e or f| > 1/3, in characters. A description is
    right where every predicted segment and every annotated one is right.

    Of "staff of the firm" only "the firm" is found (8 of 17 characters: right), of "year 2019" only "201" (3 of 9):

    >>> partial([[(9, 17), (25, 28)]], [[(0, 17), (20, 29)]])
    SegmentScores(precision=0.5, recall=0.5, f1=0.5, accuracy=0.0)
    """
    return _scores(predicted, gold, lambda segment, others: any(overlaps(segment, other) for other in others))


def overlaps(a: Span, b: Span) -> bool:
    """Whether the intersection of two spans is more than a third of their union, in whole numbers.

    >>> overlaps((0, 2), (0, 6)), overlaps((0, 2), (0, 5)), overlaps((0, 2), (5, 6))
    (False, True, False)
    """
    shared = min(a[1], b[1]) - max(a[0], b[0])
    union = (a[1] - a[0]) + (b[1] - b[0]) - max(shared, 0)
    return 3 * shared > union


def _scores(
    predicted: Sequence[Segments], gold: Sequence[Segments], right: Callable[[Span, Segments], bool]
) -> SegmentScores:
    if len(predicted) != len(gold):
        raise InputError("predictions and gold are of different lengths", value=(len(predicted), len(gold)))
    correct = [sum(right(segment, g) for segment in p) for p, g in zip(predicted, gold, strict=True)]
    recalled = [sum(right(segment, p) for segment in g) for p, g in zip(predicted, gold, strict=True)]
    whole = sum(c == len(p) and r == len(g) for c, r, p, g in zip(correct, recalled, predicted, gold, strict=True))
    precision = _share(sum(correct), sum(map(len, predicted)))
    recall = _share(sum(recalled), sum(map(len, gold)))
    f1 = _share(2 * precision * recall, precision + recall)
    return SegmentScores(precision, recall, f1, _share(whole, len(gold)))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
