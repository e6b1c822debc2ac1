"""Description parsers by name, and how well one does on gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from qbench.errors import OptionError, UnknownNameError
from qbench.mining.gold import GoldSample
from qbench.mining.languages import mining_package
from qbench.mining.segment_scores import SegmentScores, partial, strict
from qbench.mining.types import DescriptionParser
from qbench.quantities.languages import EMBEDDED, ENGLISH
from qbench.quantities.types import Quantity

PARSERS: Mapping[str, str] = {
    "rules": "from the extractor's parse: concept, subject, verb, places and times (default)",
    "tagger": "the BERT + BiLSTM tagger of *Quantity Retrieval*, trained by `qbench train description-parser`",
}


def get_parser(
    name: str, *, folder: Path | None = None, spacy_model: str = EMBEDDED, language: str = ENGLISH
) -> DescriptionParser:
    """The parser of a name.

    Args:
        name: a key of `PARSERS`.
        folder: the tagger's checkpoint.
        spacy_model: what parses sentences for the rules.
        language: code of the texts' language; a tagger reads that of its gold.

    Raises:
        UnknownNameError: there is no such parser or language.
        OptionError: the tagger's folder is missing, or given to another parser.
        InputError: the folder holds no tagger.
        MissingPackageError: the tagger needs the extra `neural`.
    """
    if name not in PARSERS:
        raise UnknownNameError("unknown description parser", value=name, remedy=f"Known: {', '.join(PARSERS)}")
    if (folder is not None) != (name == "tagger"):
        raise OptionError(
            "the tagger needs the folder of its checkpoint, and no other parser does",
            value=name,
            remedy="Give both --parser tagger and --checkpoint FOLDER",
        )
    if folder is not None:
        from qbench.mining.tagger_parser import TaggerParser

        return TaggerParser(folder)
    return mining_package(language).rules_parser(spacy_model)


def score_parser(parser: DescriptionParser, samples: Sequence[GoldSample]) -> dict[str, SegmentScores]:
    """Scores of a parser, given the positions of the quantities.

    The pivots of one text are passed together, in order, as mentions without value or unit.

    Returns:
        the scores under "strict" and "partial" (see `qbench.mining.segment_scores`).
    """
    order = sorted(samples, key=lambda sample: (sample.group, sample.text, sample.pivot))
    rows = [(text, list(some)) for (_, text), some in groupby(order, key=lambda sample: (sample.group, sample.text))]
    parsed = parser.parse_many([(text, [_mention(sample) for sample in some]) for text, some in rows])
    predicted = [description.segments for row in parsed for description in row]
    gold = [sample.segments for sample in order]
    return {"strict": strict(predicted, gold), "partial": partial(predicted, gold)}


def _mention(sample: GoldSample) -> Quantity:
    neutral: Any = {"value": 0.0, "high": 0.0, "base_value": 0.0, "base_high": 0.0}
    return Quantity(comparator="=", unit="", family="", base_unit="", value_span=sample.pivot, **neutral)
