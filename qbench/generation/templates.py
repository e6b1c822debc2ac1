"""How queries are worded: templates, comparator phrases and joins from a TOML file (*Numbers Matter* 3.3.2, B.4)."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from qbench.errors import InputError
from qbench.quantities.types import COMPARATORS, Comparator
from qbench.resources import resource
from qbench.toml_files import TomlFile

SINGLE = frozenset({"concept", "condition", "unit_before", "value", "unit_after"})
RANGE = frozenset({"concept", "condition"})
RANGE_PHRASE = frozenset({"low", "high"})
OPTIONAL = frozenset({"unit_before", "unit_after"})


About = Literal["level", "count", "act", "up", "down"]
"""What a query asks for: a level, a number of what its concept counts, how much of an act was done, or the size of a
change."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The numbers and unit of one constraint as they will be written."""

    low: str
    high: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """One slot order.

    Attributes:
        name: of the template.
        text: its text, with slots.
        comparators: those that it suits.
        about: what it asks for.
        ends: what the names end with that it is for, in the place of other templates; empty for any name.
    """

    name: str
    text: str
    comparators: tuple[Comparator, ...]
    about: About = "level"
    ends: tuple[str, ...] = ()

    @property
    def number_first(self) -> bool:
        """Whether the number stands before the concept."""
        return self.text.index("{condition}") < self.text.index("{concept}")


@dataclass(frozen=True)
class Templates:
    """Everything that a templates file says.

    Attributes:
        templates: slot orders.
        phrases: comparator -> its phrases; amount_phrases: those of counts, acts and changes.
        families: unit family -> phrases of levels in its units, in the place of `phrases`.
        joins: number of constraints (2, 3) -> how they are joined.
    """

    templates: tuple[Template, ...]
    phrases: dict[Comparator, tuple[str, ...]]
    joins: dict[int, tuple[str, ...]]
    amount_phrases: dict[Comparator, tuple[str, ...]] = field(default_factory=dict)
    families: dict[str, dict[Comparator, tuple[str, ...]]] = field(default_factory=dict)

    def render(
        self,
        concept: str,
        comparator: Comparator,
        wording: Wording,
        rng: np.random.Generator,
        about: About = "level",
        family: str = "",
    ) -> tuple[str, str]:
        """The text of one constraint, and the name of the template it took.

        Args:
            concept: name of what is asked about.
            comparator: of the constraint.
            wording: its numbers and unit.
            rng: chooses.
            about: what is asked for.
            family: of the unit.
        """
        possible = [t for t in self.templates if comparator in t.comparators and concept.endswith(t.ends or "")]
        suited = [t for t in possible if t.about == about] or [t for t in possible if t.about == "level"] or possible
        if about == "level" and not (wording.before or wording.after):
            # "above 300 employees" asks for a count of employees, "employees above 300" for a number about them.
            suited = [t for t in suited if not t.number_first] or suited
        suited = [t for t in suited if t.ends] or suited
        template = suited[int(rng.integers(len(suited)))]
        phrases = self.families.get(family, {}).get(comparator) or self.phrases[comparator]
        if template.about != "level":
            phrases = self.amount_phrases.get(comparator) or phrases
        before = template.text.partition("{condition}")[0].split()[-1:]
        phrases = tuple(p for p in phrases if p.split()[:1] != before) or phrases  # no "up up to 5%"
        if template.about in ("up", "down"):  # "up 5 to 10 euros" is up by 5, to 10
            phrases = tuple(p for p in phrases if not p.startswith("{")) or phrases
        phrase = phrases[int(rng.integers(len(phrases)))]
        slots = {"unit_before": wording.before, "unit_after": wording.after}
        condition = phrase.format(low=wording.low, high=wording.high, **slots) if comparator == "between" else phrase
        text = template.text.format(concept=concept, condition=condition, value=wording.low, **slots)
        return " ".join(text.split()), template.name

    def join(self, parts: list[str], rng: np.random.Generator) -> str:
        """Several rendered constraints as one query."""
        if len(parts) == 1:
            return parts[0]
        joins = self.joins[len(parts)]
        return joins[int(rng.integers(len(joins)))].format(*parts)


def load_templates(path: Path | None = None) -> Templates:
    """Read a templates file; None for the one that comes with qbench.

    Raises:
        InputError: the file is missing, no TOML, or a template, phrase or join in it cannot be used.
    """
    if path is None:
        path = resource("templates/queries.toml")
    file = TomlFile.open(path, "templates")
    read = file.read(_File)
    _check_templates(read.template, file)
    for comparator in COMPARATORS:
        if not any(comparator in t.comparators for t in read.template if t.about == "level" and not t.ends):
            raise InputError("no template suits this comparator", file=path, value=comparator)
        if not read.phrases.get(comparator):
            remedy = f'Write "{comparator}" = ["..."]'
            raise file.error("phrases", message="no phrases for this comparator", value=comparator, remedy=remedy)
    tables: list[tuple[tuple[str, ...], dict[Comparator, tuple[str, ...]]]] = [
        (("phrases",), read.phrases),
        (("amount_phrases",), read.amount_phrases),
        *((("families", family), table) for family, table in read.families.items()),
    ]
    for entry, table in tables:
        for comparator, phrases in table.items():
            ranged = comparator == "between"
            needed, optional = (RANGE_PHRASE, OPTIONAL) if ranged else (frozenset[str](), frozenset[str]())
            check_slots(phrases, needed, file, *entry, comparator, optional=optional)
    for count in ("2", "3"):
        if not read.joins.get(count):
            raise InputError(f"no joins for {count} constraints", file=path, remedy="Write them under [joins]")
        check_slots(read.joins[count], frozenset(map(str, range(int(count)))), file, "joins", count)
    joins = {int(count): texts for count, texts in read.joins.items()}
    return Templates(read.template, read.phrases, joins, read.amount_phrases, read.families)


@dataclass(frozen=True)
class _File:
    """A file of templates."""

    template: tuple[Template, ...]
    phrases: dict[Comparator, tuple[str, ...]]
    joins: dict[Literal["2", "3"], tuple[str, ...]]
    amount_phrases: dict[Comparator, tuple[str, ...]] = field(default_factory=dict)
    families: dict[str, dict[Comparator, tuple[str, ...]]] = field(default_factory=dict)


def _check_templates(templates: Sequence[Template], file: TomlFile) -> None:
    names: set[str] = set()
    for number, template in enumerate(templates):
        if template.name in names:
            raise file.error("template", number, message="two templates have one name", value=template.name)
        names.add(template.name)
        ranges = "between" in template.comparators
        if ranges and len(template.comparators) > 1:
            message = "a template of `between` suits no other comparator"
            raise file.error("template", number, message=message, value=template.comparators)
        check_slots((template.text,), RANGE if ranges else SINGLE, file, "template", number, "text")


def check_slots(
    texts: Sequence[str],
    needed: frozenset[str],
    file: TomlFile,
    *entry: str | int,
    optional: frozenset[str] = frozenset(),
) -> None:
    """Each needed slot exactly once, each optional one (units of a range) once or more, no other, no format tricks.

    Raises:
        InputError: a text breaks that.
    """
    allowed = needed | optional
    for text in texts:

        def wrong(message: str, remedy: str | None = None, *, text: str = text) -> InputError:
            return file.error(*entry, message=message, value=text, remedy=remedy)

        try:
            slots = [slot for _, *slot in string.Formatter().parse(text) if slot[0] is not None]
        except ValueError as fault:
            raise wrong(f"the braces do not match: {fault}") from None
        names = [name for name, _, _ in slots]
        if any(spec or conversion for _, spec, conversion in slots):
            raise wrong("a slot is a name in braces and nothing else")
        for name in names:
            if name not in allowed:
                listed = ", ".join(f"{{{slot}}}" for slot in sorted(allowed)) or "none"
                raise wrong(f"unknown slot {{{name}}}", f"Slots here: {listed}")
        for name in sorted(needed):
            if names.count(name) != 1:
                raise wrong(f"the slot {{{name}}} must stand there once")
        if not set(names) >= optional:
            raise wrong("a phrase of `between` needs {unit_before} and {unit_after}")
