"""The description parser "tagger": a trained model finds the words that say what a quantity is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from qbench.mining.types import Description
from qbench.models.encoders import choose_device, require_neural
from qbench.models.folders import require_whole
from qbench.quantities.types import Quantity, Span
from qbench.store import digest, file_digest, read_manifest

KIND = "description-parser"
"""Kind of the checkpoints, as in `qbench.store.Manifest`."""


class TaggerParser:
    """Describes each mention with a tagger of `qbench train description-parser` (`DescriptionParser`).

    A mention for which the model tags no words states no fact.

    Args:
        folder: the checkpoint.
        batch_size: mentions that go through the model at a time.
        device: a torch device; "auto" is a GPU where there is one.

    Raises:
        MissingPackageError: the extra `neural` is not installed.
        InputError: the folder holds no finished checkpoint, or a broken one.
        OptionError: there is no such device.
    """

    name = "tagger"

    def __init__(self, folder: Path, *, batch_size: int = 32, device: str = "auto") -> None:
        require_neural()
        from qbench.models.tagger import Tagger

        manifest = read_manifest(folder, KIND)
        require_whole(folder)
        self._digest = digest({name: file_digest(folder / name) for name in manifest.files})
        self._tagger = Tagger.load(folder).to(choose_device(device))
        self._batch_size = batch_size

    def key(self) -> dict[str, object]:
        """The parser's name, and a digest of the checkpoint's files."""
        return {"name": self.name, "checkpoint": self._digest}

    def parse_many(self, sentences: Sequence[tuple[str, Sequence[Quantity]]]) -> list[list[Description]]:
        """The description of each mention of each sentence (see `DescriptionParser`)."""
        items = [(text, pivot_of(text, quantity)) for text, quantities in sentences for quantity in quantities]
        segments = iter(self._tagger.segments(items, self._batch_size))
        return [
            [
                _description(spans, quantity)
                for quantity, spans in zip(quantities, islice(segments, len(quantities)), strict=True)
            ]
            for _, quantities in sentences
        ]


def pivot_of(text: str, quantity: Quantity) -> Span:
    """The words of a mention as annotators mark them: the value; unit and comparator too, if only marks stand between.

    >>> from dataclasses import replace
    >>> five = Quantity(5, 5, ">", "", "", "", 5, 5, value_span=(13, 14))
    >>> text = "it took over 5 -- years, of ten"
    >>> pivot_of(text, replace(five, unit_span=(18, 23), comparator_span=(8, 12)))
    (8, 23)
    >>> pivot_of(text, replace(five, unit_span=(28, 31)))
    (13, 14)
    """
    start, end = quantity.value_span
    for span in (quantity.unit_span, quantity.comparator_span):
        if span and not any(char.isalnum() for char in text[min(end, span[1]) : max(start, span[0])]):
            start, end = min(start, span[0]), max(end, span[1])
    return start, end


def _description(segments: Sequence[Span], quantity: Quantity) -> Description:
    """Segments without a unit that stands apart from its value."""
    unit = quantity.unit_span or quantity.value_span
    apart = tuple((start, end) for start, end in segments if end <= unit[0] or unit[1] <= start)
    return Description(apart, factual=bool(apart))
