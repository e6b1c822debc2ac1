"""How well a description parser does on gold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from qbench.mining.gold import GoldSample
from qbench.mining.segment_scores import SegmentScores, partial, strict
from qbench.mining.types import DescriptionParser
from qbench.quantities.types import Quantity


def score_parser(parser: DescriptionParser, samples: Sequence[GoldSample]) -> dict[str, SegmentScores]:
    """Scores of a parser that is told where the quantities are.

    The pivots of one text are given together, in order, as mentions without value or unit.

    Returns:
        the scores under "strict" and "partial" (see `qbench.mining.segment_scores`).
    """
    order = sorted(samples, key=lambda sample: (sample.group, sample.text, sample.pivot))
    rows = [(text, list(some)) for (_, text), some in groupby(order, key=lambda sample: (sample.group, sample.text))]
    found = parser.parse_many([(text, [_mention(sample) for sample in some]) for text, some in rows])
    predicted = [description.segments for row in found for description in row]
    gold = [sample.segments for sample in order]
    return {"strict": strict(predicted, gold), "partial": partial(predicted, gold)}


def _mention(sample: GoldSample) -> Quantity:
    neutral: Any = {"value": 0.0, "high": 0.0, "base_value": 0.0, "base_high": 0.0}
    return Quantity(comparator="=", unit="", family="", base_unit="", value_span=sample.pivot, **neutral)
