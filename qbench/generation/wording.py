"""How queries about things and their facts are worded: frames, phrases and joins from a file of their domain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

import numpy as np

from qbench.errors import InputError
from qbench.generation.options import Domain
from qbench.generation.templates import check_slots
from qbench.quantities.english.inflection import plural, singular
from qbench.quantities.languages import ENGLISH
from qbench.quantities.types import Comparator
from qbench.resources import resource
from qbench.toml_files import TomlFile

Phrases = Mapping[Comparator, tuple[str, ...]]

ASKED: tuple[Comparator, ...] = ("=", "<", "<=", ">", ">=", "between")
"""What people ask of a thing; nobody looks for a laptop that does not weigh 2 kg."""

Wanted = Literal["little", "much", "either"]

WEIGHTS: Mapping[Wanted, Mapping[Comparator, float]] = {
    "little": {"<": 5, "<=": 3, "between": 2, ">": 1, ">=": 1, "=": 1},
    "much": {">=": 5, ">": 3, "between": 1, "<": 1, "<=": 1, "=": 2},
    "either": {"<": 2, "<=": 2, "between": 2, ">": 2, ">=": 2, "=": 2},
}
"""How often people ask for what of attributes of which they want little or much, where a file does not say."""

_LEADS = frozenset(
    "with under below over above up between from for at of in cheaper lighter heavier shorter longer weighing "
    "lasting".split()
)
"""First words of a constraint that may follow another one without anything between."""

_VOWEL = re.compile(r"\ba (?=[aeiou])", re.IGNORECASE)


@dataclass(frozen=True)
class Attribute:
    """What a grounded index says of a column.

    Attributes:
        column: where its cells are.
        name, synonyms: what it is called.
        unit: canonical unit of its cells, where they name none.
        per: what its values refer to ("100 g"), said after them.
        uncountable: "8 GB of memory" instead of "a memory of 8 GB".
    """

    column: str
    name: str
    synonyms: tuple[str, ...] = ()
    unit: str = ""
    per: str = ""
    uncountable: bool = False


@dataclass(frozen=True)
class Written:
    """A constraint's values, as they will be written: both ends of a range, else twice the same."""

    low: str
    high: str


@dataclass(frozen=True)
class Wording:
    """Everything that a file says.

    Attributes:
        frames: whole queries.
        plain: phrases for an attribute that its unit tells; families: unit family -> phrases in the place of these.
        named: phrases with the attribute's name; stuff: those for what is not counted.
        joins: number of constraints (2, 3) -> how they are joined.
        low, high: words of attributes of which people want little, and much.
        mass: last words of kinds that have no plural ("rice").
        asked: how often people ask for what of these, and of the others ("either").
        thing: what things are called that nobody named.
        narrowed: a kind of thing narrowed down by a maker or the like.
        per: a constraint on an attribute that refers to something ("100 g").
        range: both ends of a range.
    """

    frames: tuple[str, ...]
    plain: Phrases
    named: Phrases
    stuff: Phrases
    joins: Mapping[Literal["2", "3"], tuple[str, ...]]
    families: Mapping[str, Phrases] = field(default_factory=dict)
    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()
    mass: tuple[str, ...] = ()
    asked: Mapping[Wanted, Mapping[Comparator, float]] = field(default_factory=dict)
    thing: str = "item"
    narrowed: str = "{qualifier} {noun}"
    per: str = "{constraint} per {per}"
    range: str = "{low} to {high}"

    def constraint(
        self,
        attribute: Attribute,
        comparator: Comparator,
        written: Written,
        family: str,
        rng: np.random.Generator,
        *,
        alone: bool,
    ) -> tuple[str, str]:
        """The text of one constraint, and the attribute's name in it ("" where its unit tells it).

        Args:
            attribute: what is asked about.
            comparator: of the constraint.
            written: its values.
            family: of the values' unit.
            rng: chooses.
            alone: whether the attribute is the only one of its unit family, so that it need not be named.
        """
        phrases, name = self.stuff if attribute.uncountable or attribute.per else self.named, ""
        if alone and not attribute.per and rng.random() < 0.5:
            phrases = self.families.get(family, self.plain)
        else:
            names = (attribute.name, attribute.name, *attribute.synonyms)
            name = names[int(rng.integers(len(names)))]
        chosen = phrases[comparator]
        phrase = chosen[int(rng.integers(len(chosen)))]
        text = phrase.format(name=name, value=written.low, low=written.low, high=written.high)
        text = _VOWEL.sub("an ", text)
        return self.per.format(constraint=text, per=attribute.per) if attribute.per else text, name

    def query(self, category: str, constraints: Sequence[str], rng: np.random.Generator) -> str:
        """A whole query."""
        joined = constraints[0]
        if len(constraints) > 1:
            joins = self.joins["2" if len(constraints) == 2 else "3"]
            loose = all(part.split(" ")[0] in _LEADS for part in constraints[1:])
            # "phone with 2 GB RAM under $300", but no "phone with 2 GB RAM screen size 5 inches".
            suited = [join for join in joins if loose or "} {" not in join] or joins
            joined = suited[int(rng.integers(len(suited)))].format(*constraints)
        frame = self.frames[int(rng.integers(len(self.frames)))]
        text = frame.format(category=category, categories=self._several(category), constraints=joined)
        return " ".join(text.split())

    def _several(self, category: str) -> str:
        """The plural of a category; itself if it is one already ("cookies") or has none ("rice")."""
        last = category.partition(" for ")[0].rpartition(" ")[2]
        if last.lower() in self.mass or plural(singular(last)) == last != singular(last):
            return category
        return plural(category)

    def wanted(self, attribute: Attribute) -> Wanted:
        """Whether people want little or much of an attribute; of words that are not parted the last one decides."""
        for text in (attribute.name, *attribute.synonyms):
            words = {word.lower() for word in re.split(r"[\s-]+", text)}
            for wanted, known in (("little", self.low), ("much", self.high)):
                if words & {*known} or text.endswith(tuple(word for word in known if not word.isascii())):
                    return cast("Wanted", wanted)
        return "either"

    def weights(self, attribute: Attribute) -> Mapping[Comparator, float]:
        """How often people ask for what of an attribute; 0, or nothing, for what nobody asks for."""
        wanted = self.wanted(attribute)
        return self.asked.get(wanted) or WEIGHTS[wanted]


def wording_file(domain: Domain, path: Path | None = None, language: str = ENGLISH) -> Path:
    """The file of a domain in a language, which has one for all domains where it is not English; or the user's own."""
    if path is not None:
        return path
    return resource(f"templates/{domain}.toml" if language == ENGLISH else f"templates/products.{language}.toml")


def load_wording(path: Path) -> Wording:
    """Read a file of wordings.

    Raises:
        InputError: it is missing, no TOML, or a frame, phrase or join in it cannot be used.
    """
    file = TomlFile.open(path, "templates")
    if "template" in file.data:
        raise InputError(
            "these templates word queries of a corpus alone, and this index has things and facts",
            file=path,
            remedy="Start from templates/products.toml",
        )
    wording = file.read(Wording)
    for number, frame in enumerate(wording.frames):
        category = "{categories}" if "{categories}" in frame else "{category}"
        check_slots((frame,), frozenset((category[1:-1], "constraints")), file, "frames", number)
    tables: list[tuple[tuple[str, ...], Phrases, frozenset[str]]] = [
        (("plain",), wording.plain, frozenset()),
        (("named",), wording.named, frozenset(("name",))),
        (("stuff",), wording.stuff, frozenset(("name",))),
        *((("families", family), phrases, frozenset[str]()) for family, phrases in wording.families.items()),
    ]
    for entry, phrases, named in tables:
        for comparator in ASKED:
            if not phrases.get(comparator):
                remedy = f'Write "{comparator}" = ["..."]'
                raise file.error(*entry, message="no phrases for this comparator", value=comparator, remedy=remedy)
            values = frozenset(("low", "high")) if comparator == "between" else frozenset(("value",))
            check_slots(phrases[comparator], named | values, file, *entry, comparator)
    for count in ("2", "3"):
        if not wording.joins.get(count):
            raise InputError(f"no joins for {count} constraints", file=path, remedy="Write them under [joins]")
        check_slots(wording.joins[count], frozenset(map(str, range(int(count)))), file, "joins", count)
    for form, text, slots in (
        ("narrowed", wording.narrowed, ("qualifier", "noun")),
        ("per", wording.per, ("constraint", "per")),
        ("range", wording.range, ("low", "high")),
    ):
        check_slots((text,), frozenset(slots), file, form)
    for wanted, weights in wording.asked.items():
        if min(weights.values(), default=0) < 0 or not any(weights.get(comparator) for comparator in ("=", "<", ">")):
            message = "needs no negative number, and one above 0 for = or < or >"
            raise file.error("asked", wanted, message=message, value=dict(weights))
    return wording
