"""Sentences with one unit or one value replaced, and nothing else (*Numbers Matter* 3.3.3, B.7, B.8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from qbench.generation.surfaces import UnitForm, read_value, write_like
from qbench.quantities.types import Quantity, Span
from qbench.quantities.units import Units

Edit = tuple[int, int, str]

_JOINED = re.compile(r"\s*[-‑]\s*")


@dataclass(frozen=True, slots=True)
class Permuted:
    """A sentence with one mention changed.

    Attributes:
        text: the new sentence.
        value_span: where the changed mention's value stands in it.
        quantity: the changed mention, as it should be read (spans of the old text dropped).
        mentions: the sentence's mentions with that one in place of the old one.
    """

    text: str
    value_span: Span
    quantity: Quantity
    mentions: tuple[Quantity, ...]


def with_unit(
    text: str, mentions: Sequence[Quantity], position: int, unit: str, form: UnitForm, units: Units
) -> Permuted | None:
    """The sentence with one mention's unit written as `form`; None where the text does not allow it.

    Args:
        text: the sentence.
        mentions: all of its mentions.
        position: which of them changes.
        unit: canonical name of the new unit (the old one for a change of surface alone).
        form: how it is written.
        units: for arithmetic.
    """
    mention = mentions[position]
    amounts = sum(m.family.startswith("currency") for m in mentions)
    if unit != mention.unit and amounts > 1 and mention.family.startswith("currency"):
        return None  # "6 million yen, of which 2 million dollars": the sums of a sentence are in one currency
    if _says_more(text, mention, units) or _LEADS_TO_UNIT.match(text, max(mention.value_span[1], _unit_end(mention))):
        return None
    edits = _unit_edits(text, mention, form)
    if edits is None or not _alone(mentions, position, edits) or _apply(text, edits) == text:
        return None
    changed = unit_of(mention, unit, units)
    return _permuted(text, mentions, position, changed, edits)


_LEADS_TO_UNIT = re.compile(r"\s*(?:to|or|and)\s+(?:an?|one|half)\b", re.IGNORECASE)
"""After an amount: "50 cents to a dollar", whose two units go together."""


def _unit_end(mention: Quantity) -> int:
    return mention.unit_span[1] if mention.unit_span else 0


def _says_more(text: str, mention: Quantity, units: Units) -> bool:
    """Whether words beside a unit would be lost with it: "5 consecutive calendar years"."""
    words = text[slice(*mention.unit_span)].split() if mention.unit_span else []
    if len(words) < 2 or mention.unit_span is None or mention.unit_span[0] < mention.value_span[1]:
        return False
    whole, last = units.lookup(" ".join(words)), units.lookup(words[-1])
    return last is not None and last.name == mention.unit and (whole is None or len(words) > LONGEST_UNIT)


LONGEST_UNIT = 4


def joined(text: str, mention: Quantity) -> bool:
    """Whether a hyphen ties the unit to its number, as in "a 5-year term": the unit is a written-out singular then."""
    (_, end), (first, _) = mention.value_span, mention.unit_span or (0, 0)
    return end < first and _JOINED.fullmatch(text[end:first]) is not None


def with_value(text: str, mentions: Sequence[Quantity], position: int, value: float, units: Units) -> Permuted | None:
    """The sentence with one mention's value replaced, written like the old one; None where the text does not allow it.

    Only mentions of a single value in digits change; "1 year" does not become "5 year".
    """
    mention = mentions[position]
    start, end = mention.value_span
    old = text[start:end]
    if mention.comparator not in ("=", "~") or not 0 <= start < end <= len(text):
        return None
    read = read_value(old)
    if read is None or abs(read.value - mention.value) > 1e-9 * abs(mention.value):
        return None
    if (abs(value) == 1) != (abs(mention.value) == 1):
        return None
    new = write_like(value, old)
    written = read_value(new)
    edits = [(start, end, new)]
    if (
        written is None
        or abs(written.value - value) > 1e-9 * abs(value)
        or new == old
        or not _alone(mentions, position, edits)
    ):
        return None
    base = units.to_base(value, mention.unit)
    changed = replace(mention, value=value, high=value, base_value=base, base_high=base)
    return _permuted(text, mentions, position, changed, edits)


def unit_of(mention: Quantity, unit: str, units: Units) -> Quantity:
    """The mention with the same number in another unit."""
    target = units.get(unit)
    return replace(
        mention,
        unit=target.name,
        family=target.family,
        base_unit=target.base_unit,
        base_value=units.to_base(mention.value, unit),
        base_high=units.to_base(mention.high, unit),
    )


def _unit_edits(text: str, mention: Quantity, form: UnitForm) -> list[Edit] | None:
    """What to cut and what to write; the unit may change sides."""
    if mention.unit_span is None:
        return None
    (start, end), (first, last) = mention.value_span, mention.unit_span
    if text[last : last + 1] in ("'", "’"):
        return None  # "4 weeks' follow-up"
    if not form.named and not any(letter.isdigit() for letter in text[start:end]):
        return None  # "six percent" does not become "six%"
    if last <= start:
        # A range repeats its symbol ("$5 to $8"): cutting the first one alone would leave half a unit.
        if text[last:start].strip() or mention.comparator == "between":
            return None
        after = _before_stop(form.after, text, end)
        return [(first, start, form.before)] if form.before else [(first, start, ""), (end, end, after)]
    if first < end:
        return None
    if text[last - 1] == "." and not text[last:].strip():
        last -= 1  # the point of "2 lb." ends the sentence too
    if joined(text, mention):
        return [(first, last, form.bare)] if form.named else None
    if text[end:first].strip():
        return None
    return (
        [(start, start, form.before), (end, last, "")]
        if form.before
        else [(end, last, _before_stop(form.after, text, last))]
    )


def _before_stop(after: str, text: str, end: int) -> str:
    """A form without its own point where a full stop follows."""
    return after.removesuffix(".") if text[end : end + 1] == "." else after


def _alone(mentions: Sequence[Quantity], position: int, edits: Sequence[Edit]) -> bool:
    """Whether the edits touch nothing of the other mentions ("5 and 8 kg" share a unit)."""
    low, high = min(edit[0] for edit in edits), max(edit[1] for edit in edits)
    others = (m for number, m in enumerate(mentions) if number != position)
    spans = (span for m in others for span in (m.value_span, m.unit_span, m.comparator_span) if span is not None)
    return all(span[1] <= low or span[0] >= high for span in spans)


def _apply(text: str, edits: Sequence[Edit]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _permuted(
    text: str, mentions: Sequence[Quantity], position: int, changed: Quantity, edits: Sequence[Edit]
) -> Permuted:
    start, end = mentions[position].value_span
    width = end - start
    shift = 0
    for first, last, new in edits:
        if (first, last) == (start, end):
            width = len(new)
        elif first <= start and last <= start:
            shift += len(new) - (last - first)
    span = (start + shift, start + shift + width)
    bare = replace(changed, value_span=span, unit_span=None, comparator_span=None, concept_spans=())
    rest = tuple(bare if number == position else mention for number, mention in enumerate(mentions))
    return Permuted(_apply(text, edits), span, bare, rest)
