"""Retrieval units: a document as a whole, in passages or in sentences, each with what it needs of the rest.

A passage or a sentence begins with the title of its document, unless it says it. A mention without a subject has that
of its document, and one without a concept is about it ("1.37 kg in the hand").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from qbench.grounding.align import Said
from qbench.grounding.options import GroundOptions
from qbench.quantities.types import Quantity, Span, moved_by
from qbench.synth.mapping import concept_words

GAP = "\n\n"
"""Between a title and the text that it begins."""

SUBJECT_WORDS = 8
"""Words of a subject, at most."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of what was read: its span there, and its quantities, whose spans count from its start."""

    start: int
    end: int
    quantities: Sequence[Quantity]


@dataclass(frozen=True)
class Reading:
    """A document as it was read: `text` is its title and its text, `body` where the latter begins.

    `subject` are the words for what it is about.
    """

    doc_id: str
    title: str
    text: str
    body: int
    sentences: Sequence[Sentence]
    subject: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unit:
    """A retrieval unit.

    Attributes:
        doc_id, text, title: for the corpus.
        start, end: its span in the document's text, without what is carried into it.
        mentions: (place among the document's mentions, quantity whose spans are those in `text`).
    """

    doc_id: str
    text: str
    title: str
    start: int
    end: int
    mentions: list[tuple[int, Quantity]] = field(default_factory=list)


def read_text(title: str, text: str) -> tuple[str, int]:
    """The text that is read of a document, and where its own begins: after the title, unless it begins with it."""
    if not title or text.lstrip().casefold().startswith(title.casefold()):
        return text, 0
    return f"{title}{GAP}{text}", len(title) + len(GAP)


def subject_of(title: str, name: str, text: str) -> tuple[str, ...]:
    """What a document is about: its title, else the name of its row, if the text says it."""
    said = title or (name if name.casefold() in text.casefold() else "")
    return concept_words(said)[:SUBJECT_WORDS]


def mentions_of(reading: Reading) -> list[Said]:
    """The mentions of a document, in order, each with the text around it."""
    found = []
    for sentence in reading.sentences:
        text = reading.text[sentence.start : sentence.end]
        spans = [extent(quantity) for quantity in sentence.quantities]
        for quantity, (start, end) in zip(sentence.quantities, spans, strict=True):
            left = max((last for _, last in spans if last <= start), default=0)
            right = min((first for first, _ in spans if first >= end), default=len(text))
            found.append(Said(quantity, text[slice(*quantity.value_span)], text[left:start], text[end:right]))
    return found


def units_of(reading: Reading, options: GroundOptions) -> Iterator[Unit]:
    """The retrieval units of a document, in order."""
    numbered: list[tuple[Sentence, list[tuple[int, Quantity]]]] = []
    at = 0
    for sentence in reading.sentences:
        own = [(at + place, quantity) for place, quantity in enumerate(sentence.quantities)]
        numbered.append((sentence, [(place, _with_subject(q, reading.subject)) for place, q in own]))
        at += len(own)
    if options.unit == "document":
        # Its text holds the title, which searching would add to it a second time.
        whole = Unit(reading.doc_id, reading.text, "", 0, len(reading.text) - reading.body)
        for sentence, mentions in numbered:
            whole.mentions.extend((place, moved_by(quantity, sentence.start)) for place, quantity in mentions)
        yield whole
        return
    head = [part for part in numbered if part[0].end <= reading.body]
    groups = _groups([part for part in numbered if part[0].end > reading.body], reading, options)
    for number, group in enumerate(groups):
        first, last = max(group[0][0].start, reading.body), group[-1][0].end
        text = reading.text[first:last]
        carried = options.carry and bool(reading.body) and reading.title.casefold() not in text.casefold()
        shift = reading.body if carried else 0
        unit = Unit(
            f"{reading.doc_id}::{number}",
            reading.text[:shift] + text,
            reading.title,
            first - reading.body,
            last - reading.body,
        )
        if carried:
            for sentence, mentions in head:
                unit.mentions.extend((place, moved_by(quantity, sentence.start)) for place, quantity in mentions)
        for sentence, mentions in group:
            for place, quantity in mentions:
                moved = moved_by(quantity, sentence.start - first + shift)
                if moved.value_span[0] >= shift:
                    unit.mentions.append((place, moved))
        yield unit


Numbered = tuple[Sentence, list[tuple[int, Quantity]]]


def _groups(sentences: Sequence[Numbered], reading: Reading, options: GroundOptions) -> Iterator[list[Numbered]]:
    group: list[Numbered] = []
    words = 0
    for sentence, mentions in sentences:
        group.append((sentence, mentions))
        words += len(reading.text[sentence.start : sentence.end].split())
        if options.unit == "sentence" or words >= options.passage_words:
            yield group
            group, words = [], 0
    if group:
        yield group


def _with_subject(quantity: Quantity, subject: tuple[str, ...]) -> Quantity:
    if not quantity.concept:
        return replace(quantity, concept=subject)
    return quantity if quantity.subject else replace(quantity, subject=subject)


def extent(quantity: Quantity) -> Span:
    """From the first to the last character of a number and its unit."""
    value, unit = quantity.value_span, quantity.unit_span
    return value if unit is None else (min(value[0], unit[0]), max(value[1], unit[1]))
