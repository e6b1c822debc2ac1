"""The description parsers by name, and how well one does on gold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from qbench.errors import OptionError, UnknownNameError
from qbench.mining.gold import GoldSample
from qbench.mining.segment_scores import SegmentScores, partial, strict
from qbench.mining.types import DescriptionParser
from qbench.quantities.types import Quantity


def get_parser(name: str, *, folder: Path | None = None, device: str = "auto") -> DescriptionParser:
    """A description parser.

    Args:
        name: one of `PARSERS`.
        folder: the checkpoint, for those that are trained.
        device: a torch device, for those too.

    Raises:
        UnknownNameError: there is no such parser.
        OptionError: it needs a folder and has none, or the other way round.
    """
    if name not in PARSERS:
        raise UnknownNameError("unknown description parser", value=name, remedy=f"Use one of {', '.join(PARSERS)}")
    return PARSERS[name](folder=folder, device=device)


def _tagger(*, folder: Path | None, device: str) -> DescriptionParser:
    from qbench.mining.tagger_parser import TaggerParser

    if folder is None:
        remedy = "Train one with `qbench train description-parser`, and give its folder"
        raise OptionError("the description parser tagger needs a checkpoint", remedy=remedy)
    return TaggerParser(folder, device=device)


PARSERS: Mapping[str, Callable[..., DescriptionParser]] = {"tagger": _tagger}
"""Name -> what opens it, from a folder and a device."""


def score_parser(parser: DescriptionParser, samples: Sequence[GoldSample]) -> dict[str, SegmentScores]:
    """Scores of a parser that is told where the quantities are.

    The pivots of one text are given together, as mentions without value or unit.

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
    return Quantity(bound="=", unit="", family="", base_unit="", value_span=sample.pivot, **neutral)
