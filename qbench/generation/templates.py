"""How queries are worded: templates, comparator phrases and joins from a TOML file (*Numbers Matter* 3.3.2, B.4)."""

from __future__ import annotations

import string
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.errors import InputError
from qbench.quantities.types import COMPARATORS, Comparator
from qbench.store import read_text

if TYPE_CHECKING:
    import numpy as np

SINGLE = frozenset({"concept", "condition", "unit_before", "value", "unit_after"})
RANGE = frozenset({"concept", "condition"})
RANGE_PHRASE = frozenset({"low", "high"})
OPTIONAL = frozenset({"unit_before", "unit_after"})


@dataclass(frozen=True, slots=True)
class Wording:
    """The numbers and unit of one constraint as they will be written."""

    low: str
    high: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """One slot order: its name, its text, and the comparators that it suits."""

    name: str
    text: str
    comparators: tuple[Comparator, ...]

    @property
    def number_first(self) -> bool:
        """Whether the number stands before the concept."""
        return self.text.index("{condition}") < self.text.index("{concept}")


@dataclass(frozen=True)
class Templates:
    """Everything that a templates file says.

    Attributes:
        templates: slot orders.
        phrases: comparator -> its phrases.
        joins: number of constraints (2, 3) -> how they are joined.
    """

    templates: tuple[Template, ...]
    phrases: dict[Comparator, tuple[str, ...]]
    joins: dict[int, tuple[str, ...]]

    def render(
        self, concept: str, comparator: Comparator, wording: Wording, rng: np.random.Generator
    ) -> tuple[str, str]:
        """The text of one constraint, and the name of the template it took."""
        suited = [t for t in self.templates if comparator in t.comparators]
        if not (wording.before or wording.after):
            # "above 300 employees" asks for a count of employees, "employees above 300" for a number about them.
            suited = [t for t in suited if not t.number_first] or suited
        template = suited[int(rng.integers(len(suited)))]
        phrases = self.phrases[comparator]
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
        from qbench.resources import resource

        path = resource("templates/queries.toml")
    try:
        data = tomllib.loads(read_text(path, "templates"))
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"not valid TOML: {fault}", file=path) from None
    unknown = sorted(set(data) - {"template", "phrases", "joins"})
    if unknown:
        raise InputError("unknown table", file=path, value=unknown[0], remedy="Use [[template]], [phrases] and [joins]")
    return Templates(_templates(data, path), _phrases(data, path), _joins(data, path))


def _templates(data: dict[str, Any], path: Path) -> tuple[Template, ...]:
    entries = data.get("template")
    if not isinstance(entries, list) or not entries:
        raise InputError("no [[template]] in the templates file", file=path)
    found: dict[str, Template] = {}
    for entry in entries:
        name, text, comparators = entry.get("name"), entry.get("text"), entry.get("comparators")
        if not isinstance(name, str) or not name or not isinstance(text, str) or not isinstance(comparators, list):
            raise InputError("a template needs name, text and comparators", file=path, value=entry)
        if name in found:
            raise InputError("two templates have one name", file=path, value=name)
        for comparator in comparators:
            _known(comparator, path)
        ranges = "between" in comparators
        if ranges and len(comparators) > 1:
            raise InputError("a template of `between` suits no other comparator", file=path, value=name)
        _check_slots(text, RANGE if ranges else SINGLE, path)
        found[name] = Template(name, text, tuple(comparators))
    for comparator in COMPARATORS:
        if not any(comparator in template.comparators for template in found.values()):
            raise InputError("no template suits this comparator", file=path, value=comparator)
    return tuple(found.values())


def _phrases(data: dict[str, Any], path: Path) -> dict[Comparator, tuple[str, ...]]:
    table = data.get("phrases", {})
    for comparator in table:
        _known(comparator, path)
    phrases: dict[Comparator, tuple[str, ...]] = {}
    for comparator in COMPARATORS:
        listed = table.get(comparator)
        if not _texts(listed):
            raise InputError(
                "no phrases for this comparator", file=path, value=comparator, remedy='Write "=" = ["..."]'
            )
        for phrase in listed:
            _check_slots(phrase, RANGE_PHRASE if comparator == "between" else frozenset(), path)
        phrases[comparator] = tuple(listed)
    return phrases


def _joins(data: dict[str, Any], path: Path) -> dict[int, tuple[str, ...]]:
    joins: dict[int, tuple[str, ...]] = {}
    for count in (2, 3):
        listed = data.get("joins", {}).get(str(count))
        if not _texts(listed):
            raise InputError(f"no joins for {count} constraints", file=path, remedy="Write them under [joins]")
        for join in listed:
            _check_slots(join, frozenset(str(n) for n in range(count)), path)
        joins[count] = tuple(listed)
    return joins


def _known(comparator: object, path: Path) -> None:
    if comparator not in COMPARATORS:
        raise InputError("unknown comparator", file=path, value=comparator, remedy=f"Use {' '.join(COMPARATORS)}")


def _texts(listed: object) -> bool:
    return isinstance(listed, list) and bool(listed) and all(isinstance(text, str) and text.strip() for text in listed)


def _check_slots(text: str, needed: frozenset[str], path: Path) -> None:
    """Each needed slot exactly once (units of a range may stand twice), no other slot, no format tricks."""
    try:
        fields = [
            (name, spec, conversion) for _, name, spec, conversion in string.Formatter().parse(text) if name is not None
        ]
    except ValueError as fault:
        raise InputError(f"the braces do not match: {fault}", file=path, value=text) from None
    if any(spec or conversion for _, spec, conversion in fields):
        raise InputError("a slot is a name in braces and nothing else", file=path, value=text)
    names = [name for name, _, _ in fields]
    allowed = needed | OPTIONAL if needed == RANGE_PHRASE else needed
    for name in names:
        if name not in allowed:
            known = ", ".join(f"{{{slot}}}" for slot in sorted(allowed)) or "none"
            raise InputError(f"unknown slot {{{name}}}", file=path, value=text, remedy=f"Slots here: {known}")
    for name in sorted(needed):
        if names.count(name) != 1:
            raise InputError(f"the slot {{{name}}} must stand there once", file=path, value=text)
    if needed == RANGE_PHRASE and not set(names) >= OPTIONAL:
        raise InputError("a phrase of `between` needs {unit_before} and {unit_after}", file=path, value=text)
