"""Quantities of texts in one call, and how a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload

from qbench.pages import highlighted, html_table
from qbench.progress import Progress, silent
from qbench.quantities.extractors import ExtractorOptions, get_extractor
from qbench.quantities.types import Condition, Quantity, Span

BATCH = 256
"""Texts that are read together: the parser works faster on many sentences at once."""


@dataclass(frozen=True)
class Mentions(Sequence[Quantity]):
    """The quantities of one text, in its order; a notebook shows them highlighted, with a table.

    Attributes:
        text: the text; the spans of the quantities count its characters.
        quantities: its mentions.
    """

    text: str
    quantities: tuple[Quantity, ...]

    @overload
    def __getitem__(self, place: int) -> Quantity: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Quantity, ...]: ...

    def __getitem__(self, place: int | slice) -> Quantity | tuple[Quantity, ...]:
        return self.quantities[place]

    def __len__(self) -> int:
        return len(self.quantities)

    def _repr_html_(self) -> str:
        words = [stated(mention) for mention in self.quantities]
        spans = [
            (*span, text)
            for text, mention in zip(words, self.quantities, strict=True)
            for span in self._stretches(mention)
        ]
        rows = [
            (text, mention.family, " ".join(mention.concept), " ".join(mention.subject))
            for text, mention in zip(words, self.quantities, strict=True)
        ]
        table = html_table(("quantity", "family", "concept", "of"), rows) if rows else "<p>no quantities</p>"
        return f"<p>{highlighted(self.text, spans)}</p>{table}"

    def _stretches(self, mention: Quantity) -> list[Span]:
        """Where value, unit and comparator stand; what only white space parts is one stretch."""
        stretches: list[Span] = []
        for start, end in sorted(filter(None, (mention.value_span, mention.unit_span, mention.comparator_span))):
            if stretches and not self.text[stretches[-1][1] : start].strip():
                stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
            else:
                stretches.append((start, end))
        return stretches


def quantity_text(value: float, high: float, comparator: str, change: str, unit: str) -> str:
    """A quantity as its text states it: its change, bound, value and unit.

    >>> quantity_text(1.4, 1.4, "<", "", "kilogram"), quantity_text(5, 8, "between", "up", "percentage")
    ('< 1.4 kilogram', 'up 5 to 8 percentage')
    >>> quantity_text(68328000000.0, 68328000000.0, "=", "", "")
    '68,328,000,000'
    """
    values = " to ".join(map(_digits, dict.fromkeys((value, high))))
    bound = "" if comparator in ("=", "between") else comparator
    return " ".join(filter(None, (change, bound, values, unit)))


def stated(quantity: Quantity | Condition) -> str:
    """What a mention states, or a condition asks for, in the words of `quantity_text`."""
    return quantity_text(quantity.value, quantity.high, quantity.comparator, quantity.change, quantity.unit)


def asked(condition: Condition) -> str:
    """What a condition asks of a value, its change and comparator first.

    >>> asked(Condition("=", 5, 5, "gram", "kilogram", 0.005, 0.005)), asked(Condition("between", 5, 8, "", "", 5, 8))
    ('= 5 gram', 'between 5 and 8')
    >>> asked(Condition(">", 5, 5, "percentage", "percentage", 5, 5, change="up"))
    'up > 5 percentage'
    """
    ends = (condition.value, condition.high) if condition.comparator == "between" else (condition.value,)
    values = " and ".join(map(_digits, ends))
    return " ".join(filter(None, (condition.change, condition.comparator, values, condition.unit)))


def _digits(value: float) -> str:
    return f"{int(value):,}" if abs(value) < 1e15 and value == int(value) else f"{value:,.10g}"


@overload
def extract(  # type: ignore[overload-overlap]
    texts: str, options: ExtractorOptions = ..., *, progress: Progress = ...
) -> Mentions: ...


@overload
def extract(texts: Iterable[str], options: ExtractorOptions = ..., *, progress: Progress = ...) -> list[Mentions]: ...


def extract(
    texts: str | Iterable[str], options: ExtractorOptions = ExtractorOptions(), *, progress: Progress = silent
) -> Mentions | list[Mentions]:
    """The quantities of a text, or of each of some texts.

    Args:
        texts: one text, or several.
        options: the extractor, its language and parser.
        progress: called after every `BATCH` texts.

    Returns:
        the mentions of the text; a list of them for several texts, in their order.

    Raises:
        OptionError, UnknownNameError, InputError, MissingPackageError: as in
            `qbench.quantities.extractors.get_extractor`.
    """
    engine = get_extractor(options)
    every = [texts] if isinstance(texts, str) else list(texts)
    found: list[Mentions] = []
    for start in range(0, len(every), BATCH):
        some = every[start : start + BATCH]
        found += [Mentions(text, tuple(own)) for text, own in zip(some, engine.extract_many(some), strict=True)]
        progress(len(found), len(every), "texts")
    return found[0] if isinstance(texts, str) else found
