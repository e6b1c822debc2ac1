"""Facts -> one sentence, with the span of everything that says them.

A sentence is a list of pieces (text, role, whose); spans fall out when the pieces are joined, so that no text is ever
searched for what was put into it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from qbench.quantities.types import Quantity, Span
from qbench.quantities.units import Units
from qbench.synth.dice import Dice
from qbench.synth.facts import Fact, Thing
from qbench.synth.mapping import Attribute, TableMapping
from qbench.synth.surfaces import Surfaces, Written
from qbench.synth.words import article, be
from qbench.toml_files import read_toml

Piece = tuple[str, str, int]
"""Text; its role (value, unit, comparator, attribute, kind, "" for the rest); the mention, or the thing of a kind."""

QUALIFIED, SYNONYM, CONTRAST, ASIDE, OWN_WORDS, ADJECTIVE = 0.4, 0.25, 0.35, 0.25, 0.6, 0.2
"""Shares of the sentences, or of the places where there is a choice, that take the option."""

_SLOT = re.compile(r"\{([a-z ]+)\}")
_MONTHS = "January February March April May June July August September October November December".split()


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with slots; takes at most `facts` facts, and as often as its `weight` says."""

    text: str
    facts: int
    weight: int = 1

    @property
    def single(self) -> bool:
        """Whether it speaks of one attribute by name."""
        return "{quantity}" in self.text


@dataclass(frozen=True)
class Grammar:
    """The templates of one file; see templates/sentences.toml for what the parts are."""

    frames: tuple[Frame, ...]
    subjects: dict[str, tuple[str, ...]]
    attributes: dict[str, tuple[str, ...]]
    contrasts: tuple[str, ...]
    asides: tuple[str, ...]
    comparators: dict[str, tuple[str, ...]]
    alternatives: dict[str, tuple[tuple[str, ...], ...]]
    unwanted: tuple[str, ...]

    @classmethod
    def load(cls, path: Path) -> Grammar:
        """Read a template file.

        Raises:
            InputError: it is missing or no TOML, or an entry is missing or wrong.
        """
        read = read_toml(path, "template", _File)
        return cls(
            frames=read.frames,
            subjects=read.subjects,
            attributes=read.attributes,
            contrasts=read.contrasts.texts,
            asides=read.asides.texts,
            comparators=read.comparators,
            alternatives=read.alternatives,
            unwanted=read.unwanted.surfaces,
        )


@dataclass(frozen=True)
class _Texts:
    texts: tuple[str, ...]


@dataclass(frozen=True)
class _Surfaces:
    surfaces: tuple[str, ...]


@dataclass(frozen=True)
class _File:
    """A template file as it stands."""

    frames: tuple[Frame, ...]
    subjects: dict[str, tuple[str, ...]]
    attributes: dict[str, tuple[str, ...]]
    contrasts: _Texts
    asides: _Texts
    comparators: dict[str, tuple[str, ...]]
    alternatives: dict[str, tuple[tuple[str, ...], ...]]
    unwanted: _Surfaces


@dataclass(frozen=True, slots=True)
class Mention:
    """A gold quantity of a sentence, and the fact that it states."""

    quantity: Quantity
    thing: Thing
    fact: Fact


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text, and all its quantities in order."""

    text: str
    mentions: tuple[Mention, ...]


@dataclass
class _UnfinishedSentence:
    """A sentence under construction: the facts it states, each with its thing and its written form."""

    things: list[Thing]
    qualified: list[bool]
    dice: Dice
    statements: list[tuple[int, Fact, Written]] = field(default_factory=list)


class Writer:
    """Writes sentences about the things of one table.

    Args:
        mapping: of the table.
        grammar: the templates.
        units: the known units.
    """

    def __init__(self, mapping: TableMapping, grammar: Grammar, units: Units) -> None:
        self._attributes = mapping.attributes
        self._called = {names[0]: names[1:] for names in mapping.categories.values() if len(names) > 1}
        self._grammar = grammar
        self._units = units
        self._surfaces = Surfaces(units, grammar.comparators, grammar.alternatives, grammar.unwanted)
        self._frames = {
            n: [f for f in grammar.frames for _ in range(f.weight) if f.facts >= n and (n == 1 or not f.single)]
            for n in range(1, 1 + max(f.facts for f in grammar.frames))
        }

    @property
    def most_facts(self) -> int:
        """Maximum number of facts in a sentence."""
        return max(self._frames)

    def write(self, thing: Thing, facts: Sequence[Fact], others: Sequence[Thing], dice: Dice) -> Sentence:
        """One sentence about a thing.

        Args:
            thing: what it is about.
            facts: 1 to `most_facts` of its facts, all of which the sentence states.
            others: things that it may be compared with; their quantities get their own concepts.
            dice: makes the choices.
        """
        draft = _UnfinishedSentence([thing], [dice.chance(QUALIFIED)], dice)
        frame = dice.choice(self._frames[len(facts)])
        slots: dict[str, Callable[[], list[Piece]]] = {
            "subject": lambda: self._subject(0, draft),
            "verbs": lambda: self._verbs(0, facts, draft),
            "phrases": lambda: _listed([self._phrase(0, fact, draft) for fact in facts]),
            "clauses": lambda: _listed([self._clause(0, fact, draft) for fact in facts]),
            "specs": lambda: _listed([self._spec(0, fact, draft) for fact in facts], ", "),
            "contrast": lambda: self._contrast(facts[-1], others, draft),
            "aside": lambda: self._aside(dice),
        }
        if frame.single:
            name, written = self._name(facts[0], draft), self._write(facts[0], draft)
            index = self._tell(draft, 0, facts[0], written)
            per = self._attributes[facts[0].attribute].per
            slots["attribute"] = lambda: [(name, "attribute", index)]
            slots["is"] = lambda: [(be(name), "", 0)]
            slots["quantity"] = lambda: [*_pieces(written, index), *_per(per)]
        return self._finish(_fill(frame.text, slots), draft)

    def _subject(self, which: int, draft: _UnfinishedSentence) -> list[Piece]:
        thing, dice = draft.things[which], draft.dice
        name = _name_pieces(thing, which)
        qualifier = thing.qualifier if draft.qualified[which] and thing.qualifier_at is None else ""
        if not thing.kind or (thing.kind_at is not None and not qualifier):
            return _fill(dice.choice(self._grammar.subjects["plain"]), {"name": lambda: name})
        kind = thing.kind
        if kind in self._called and dice.chance(SYNONYM):
            kind = dice.choice(self._called[kind])
        kinds: list[Piece] = [(qualifier, "kind", which), (" ", "", 0)] if qualifier else []
        kinds.append((kind, "kind", which))
        start = article(kinds[0][0], kind)
        slots: dict[str, Callable[[], list[Piece]]] = {
            "name": lambda: name,
            "kind": lambda: kinds,
            "a kind": lambda: [(f"{start} " if start else "", "", 0), *kinds],
        }
        return _fill(dice.choice(self._grammar.subjects["kind"]), slots)

    def _name(self, fact: Fact, draft: _UnfinishedSentence) -> str:
        attribute = self._attributes[fact.attribute]
        if attribute.synonyms and draft.dice.chance(SYNONYM):
            return draft.dice.choice(attribute.synonyms)
        return attribute.name

    def _write(self, fact: Fact, draft: _UnfinishedSentence) -> Written:
        # "4.2 g per 100 g" is a standard of labels: nobody writes 0.15 oz there.
        per = self._attributes[fact.attribute].per
        return self._surfaces.write(fact.value, fact.unit, draft.dice, convert=not per)

    def _tell(self, draft: _UnfinishedSentence, which: int, fact: Fact, written: Written) -> int:
        draft.statements.append((which, fact, written))
        return len(draft.statements) - 1

    def _verbs(self, which: int, facts: Sequence[Fact], draft: _UnfinishedSentence) -> list[Piece]:
        """ "weighs 1.2 kg, costs 900 euros and has a display of 13 inches and 8 GB of memory"."""
        dice = draft.dice
        owns = [bool(self._attributes[f.attribute].verbs) and dice.chance(OWN_WORDS) for f in facts]
        verbs = [
            self._own(dice.choice(self._attributes[fact.attribute].verbs), which, fact, draft)
            for fact, own in zip(facts, owns, strict=True)
            if own
        ]
        rest = [fact for fact, own in zip(facts, owns, strict=True) if not own]
        if rest:
            template = dice.choice(self._grammar.attributes["verbs"])
            verbs.append(
                _fill(template, {"phrase": lambda: _listed([self._phrase(which, fact, draft) for fact in rest])})
            )
        return _listed(verbs)

    def _phrase(self, which: int, fact: Fact, draft: _UnfinishedSentence) -> list[Piece]:
        attribute, dice = self._attributes[fact.attribute], draft.dice
        if attribute.phrases and dice.chance(OWN_WORDS):
            return self._own(dice.choice(attribute.phrases), which, fact, draft)
        if not attribute.uncountable and dice.chance(ADJECTIVE):
            written = self._surfaces.adjective(fact.value, fact.unit)
            if written is not None:
                return self._say("adjective", which, fact, written, draft)
        sort = "uncountable" if attribute.uncountable else "countable"
        return self._say(sort, which, fact, self._write(fact, draft), draft)

    def _clause(self, which: int, fact: Fact, draft: _UnfinishedSentence) -> list[Piece]:
        return self._say("clauses", which, fact, self._write(fact, draft), draft)

    def _spec(self, which: int, fact: Fact, draft: _UnfinishedSentence) -> list[Piece]:
        return self._say("specs", which, fact, self._write(fact, draft), draft)

    def _say(self, sort: str, which: int, fact: Fact, written: Written, draft: _UnfinishedSentence) -> list[Piece]:
        """One of the grammar's ways to speak of an attribute."""
        index, name = self._tell(draft, which, fact, written), self._name(fact, draft)
        quantity = _pieces(written, index)
        start = article(name, name)
        slots: dict[str, Callable[[], list[Piece]]] = {
            "attribute": lambda: [(name, "attribute", index)],
            "a attribute": lambda: [(f"{start} " if start else "", "", 0), (name, "attribute", index)],
            "is": lambda: [(be(name), "", 0)],
            "quantity": lambda: quantity,
            "a amount": lambda: [(f"{article(quantity[0][0], 'x')} ", "", 0), *quantity],
        }
        sentence = _fill(draft.dice.choice(self._grammar.attributes[sort]), slots)
        return [*sentence, *_per(self._attributes[fact.attribute].per)]

    def _own(self, template: str, which: int, fact: Fact, draft: _UnfinishedSentence) -> list[Piece]:
        """One of the mapping's ways to speak of an attribute; its words stand for the attribute's name."""
        written = self._write(fact, draft)
        index = self._tell(draft, which, fact, written)
        before, _, after = template.partition("{}")
        pieces: list[Piece] = []
        for text, middle in ((before, _pieces(written, index)), (after, _per(self._attributes[fact.attribute].per))):
            words = text.strip()
            if words:
                lead, trail = text[: text.index(words)], text[text.index(words) + len(words) :]
                pieces += [(lead, "", 0), (words, "attribute", index), (trail, "", 0)]
            pieces += middle
        return pieces

    def _contrast(self, fact: Fact, others: Sequence[Thing], draft: _UnfinishedSentence) -> list[Piece]:
        dice, thing = draft.dice, draft.things[0]
        if not others or not dice.chance(CONTRAST):
            return []
        for _ in range(6):
            second = dice.choice(others)
            same = next((f for f in second.facts if f.attribute == fact.attribute), None)
            if same is not None and second.name != thing.name:
                break
        else:
            return []
        draft.things.append(second)
        draft.qualified.append(dice.chance(QUALIFIED))
        slots: dict[str, Callable[[], list[Piece]]] = {
            "other": lambda: self._subject(1, draft),
            "other verb": lambda: self._verbs(1, [same], draft),
            "other phrase": lambda: self._phrase(1, same, draft),
        }
        return _fill(dice.choice(self._grammar.contrasts), slots)

    def _aside(self, dice: Dice) -> list[Piece]:
        if not dice.chance(ASIDE):
            return []
        year, month, day = dice.number(1990, 2024), dice.number(1, 12), dice.number(1, 28)
        dates = (
            f"{day} {_MONTHS[month - 1]} {year}",
            f"{year}-{month:02}-{day:02}",
            f"{_MONTHS[month - 1]} {day}, {year}",
        )
        letters = "ABCDEFGHKLMNPRSTVWXZ"
        invented = {
            "year": str(year),
            "date": dice.choice(dates),
            "page": str(dice.number(2, 400)),
            "code": f"{dice.choice(letters)}{dice.choice(letters)}-{dice.number(1000, 9999)}",
        }
        slots = {name: _constant(text) for name, text in invented.items()}
        return _fill(dice.choice(self._grammar.asides), slots)

    def _finish(self, pieces: Sequence[Piece], draft: _UnfinishedSentence) -> Sentence:
        text, spans = _join(pieces)
        mentions = [
            Mention(
                self._quantity(number, which, written, draft, spans, self._attributes[fact.attribute]),
                draft.things[which],
                fact,
            )
            for number, (which, fact, written) in enumerate(draft.statements)
        ]
        return Sentence(text, tuple(sorted(mentions, key=lambda m: m.quantity.value_span)))

    def _quantity(
        self,
        number: int,
        which: int,
        written: Written,
        draft: _UnfinishedSentence,
        spans: dict[tuple[str, int], list[Span]],
        attribute: Attribute,
    ) -> Quantity:
        thing, unit = draft.things[which], self._units.get(written.unit)
        # Without a kind there is nothing that a qualifier could stand before; in the name it is said in any case.
        qualified = thing.qualifier_at is not None or (draft.qualified[which] and bool(thing.kind))
        concept = (*(thing.qualifier_words if qualified else ()), *thing.kind_words, *attribute.words)
        return Quantity(
            value=written.value,
            high=written.high,
            comparator=written.comparator,
            unit=unit.name,
            family=unit.family,
            base_unit=unit.base_unit,
            base_value=self._units.to_base(written.value, unit.name),
            base_high=self._units.to_base(written.high, unit.name),
            concept=concept,
            digits=written.digits,
            value_span=spans["value", number][0],
            unit_span=next(iter(spans.get(("unit", number), ())), None),
            comparator_span=next(iter(spans.get(("comparator", number), ())), None),
            concept_spans=tuple(sorted(spans.get(("kind", which), []) + spans.get(("attribute", number), []))),
        )


def _listed(parts: Sequence[list[Piece]], last: str = " and ") -> list[Piece]:
    """The parts one after the other, with commas, and `last` before the last one."""
    pieces: list[Piece] = []
    for number, part in enumerate(parts):
        if number:
            pieces.append((last if number == len(parts) - 1 else ", ", "", 0))
        pieces += part
    return pieces


def _constant(text: str) -> Callable[[], list[Piece]]:
    return lambda: [(text, "", 0)]


def _pieces(written: Written, index: int) -> list[Piece]:
    return [(text, role, index) for text, role in written.pieces]


def _per(per: str) -> list[Piece]:
    return [(f" per {per}", "", 0)] if per else []


def _name_pieces(thing: Thing, which: int) -> list[Piece]:
    """The name, cut where it holds the kind and the qualifier."""
    pieces: list[Piece] = []
    at = 0
    for start, end in sorted(span for span in (thing.kind_at, thing.qualifier_at) if span is not None):
        if start >= at:
            pieces += [(thing.name[at:start], "name", which), (thing.name[start:end], "kind", which)]
            at = end
    return [*pieces, (thing.name[at:], "name", which)]


@lru_cache(maxsize=4096)
def _parts(template: str) -> list[str]:
    return _SLOT.split(template)


def _fill(template: str, slots: dict[str, Callable[[], list[Piece]]]) -> list[Piece]:
    """The template's pieces; slots are filled from left to right."""
    pieces: list[Piece] = []
    for number, part in enumerate(_parts(template)):
        if number % 2:
            pieces += slots[part]()
        elif part:
            pieces.append((part, "", 0))
    return pieces


def _join(pieces: Sequence[Piece]) -> tuple[str, dict[tuple[str, int], list[Span]]]:
    """The text, its first letter large, and the spans of each (role, whose)."""
    texts: list[str] = []
    spans: dict[tuple[str, int], list[Span]] = {}
    length = 0
    for text, role, whose in pieces:
        if not text:
            continue
        if not texts and role != "name" and len(text[0].upper()) == 1:
            text = text[0].upper() + text[1:]
        if texts and not role and text[0] in ",.;:)" and texts[-1].endswith(","):
            # "the Velora, an ultrabook,": the second comma goes where a mark of its own follows
            length -= 1
            texts[-1] = texts[-1][:-1]
        texts.append(text)
        if role:
            spans.setdefault((role, whose), []).append((length, length + len(text)))
        length += len(text)
    return "".join(texts), spans
