"""The mapping: which columns of a table name a thing, say what kind of thing it is, and hold its quantities.

A short TOML file, see docs/how-to/synth.md:

    name = "Product"
    category = "TypeName"
    noun = "laptop"

    [attributes]
    Weight = { name = "weight", synonyms = ["mass"], unit = "kilogram" }
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path

from qbench.errors import InputError, UnknownNameError
from qbench.options import option
from qbench.quantities.english.inflection import plural
from qbench.quantities.units import Units, load_units
from qbench.toml_files import TomlFile

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


@dataclass(frozen=True)
class Attribute:
    """A column with quantities, and how sentences speak of it.

    Attributes:
        column: where the cells are; nested JSON has dotted names.
        name: what the quantity is about; its words end the concept.
        synonyms: other names, used in some sentences and offered as expansions of the concept.
        unit: canonical unit, "" for none; a cell that names its own unit ("128GB") keeps that.
        per: what each quantity refers to ("100 g"), said after it.
        decimals: to round the cells to; None keeps them as they are.
        pattern: a regular expression that finds the quantity within a cell; its first group, or all of it.
        uncountable: "8 GB of memory" instead of "a memory of 8 GB".
        verbs, phrases: further ways to say it, {} for the quantity: "weighs {}", "{} of memory".
    """

    column: str = ""
    name: str = ""
    synonyms: tuple[str, ...] = ()
    unit: str = ""
    per: str = ""
    decimals: int | None = option(None, help="Number of decimals to round cells to.", low=0, high=9)
    pattern: str = ""
    uncountable: bool = False
    verbs: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The concept's last words."""
        return concept_words(self.name)


@dataclass(frozen=True)
class TableMapping:
    """How to read a table of facts.

    Attributes:
        name: columns that together name a thing, joined by spaces; () calls it "item" and the row's number.
        category: the column that says what kind of thing it is; "" for none.
        words: kinds that end the category's cells ("Oat Cookies, plain" is of the kind "cookies"), the longest that
            does; cells that end otherwise have no kind. () takes the whole cell.
        qualifier: a column that narrows the kind down (a maker, a country), said in some sentences only; "" for none.
        noun: what all things of the table are: their kind where there is no category, else the broader concept.
        broader: a column with a broader kind for each row ("laptop" for "ultrabook"), instead of one noun for all.
        categories: cell -> what the kind is called, and synonyms of that.
        attributes: the columns with quantities.
    """

    name: tuple[str, ...] = ()
    category: str = ""
    words: tuple[str, ...] = ()
    qualifier: str = ""
    noun: str = ""
    broader: str = ""
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attributes: tuple[Attribute, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, each once."""
        named = (*self.name, self.category, self.qualifier, self.broader, *(a.column for a in self.attributes))
        return tuple(dict.fromkeys(column for column in named if column))


def concept_words(text: str) -> tuple[str, ...]:
    """Lower-case words of a name, as concepts have them.

    >>> concept_words("Battery Capacity (typical)")
    ('battery', 'capacity', 'typical')
    """
    return tuple(_WORD.findall(text.lower()))


def load_mapping(path: Path, columns: Iterable[str], units: Units) -> TableMapping:
    """Read and check a mapping file.

    Args:
        path: the TOML file.
        columns: those that the table has.
        units: to check the units' names.

    Raises:
        InputError: the file is missing or no TOML; a key, a type, a column or a pattern is wrong.
        UnknownNameError: a unit that qbench does not know, and that no plural makes a counted noun.
    """
    file = TomlFile.open(path, "mapping")
    read = file.read(_File)
    names = set(columns)
    for key in ("name", "category", "qualifier", "broader"):
        value = getattr(read, key)
        for column in value if isinstance(value, tuple) else filter(None, [value]):
            _check_column(file, column, names, key)
    if not read.attributes:
        remedy = 'Write [attributes] and Weight = { unit = "kilogram" }'
        raise InputError("the mapping names no quantities", file=path, remedy=remedy)
    if read.words and not read.category:
        message = "these are looked for in the category column, and none is named"
        raise file.error("words", message=message, value=read.words)
    attributes = tuple(_attribute(file, key, entry, names, units) for key, entry in read.attributes.items())
    _refuse_overlap(attributes, path)
    return TableMapping(
        read.name, read.category, read.words, read.qualifier, read.noun, read.broader, read.categories, attributes
    )


@dataclass(frozen=True)
class _File:
    """A mapping as it stands in its file, the attributes by column."""

    name: tuple[str, ...] = ()
    category: str = ""
    words: tuple[str, ...] = ()
    qualifier: str = ""
    noun: str = ""
    broader: str = ""
    categories: Mapping[str, tuple[str, ...]] = option({}, help="How kinds are called.")
    attributes: Mapping[str, Attribute] = option({}, help="The columns with quantities.")


def _check_column(file: TomlFile, column: str, columns: set[str], *entry: str) -> None:
    if column not in columns:
        near = get_close_matches(column, sorted(columns), n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        remedy = f"{hint}It has: {', '.join(sorted(columns)[:40])}"
        raise file.error(*entry, message="the table has no such column", value=column, remedy=remedy)


def _attribute(file: TomlFile, key: str, read: Attribute, columns: set[str], units: Units) -> Attribute:
    """A checked attribute; its column is the key, and its name the column's, where the file names no other."""
    where = ("attributes", key)
    column = read.column or key
    _check_column(file, column, columns, *where)
    name = read.name or spoken(column)
    if not concept_words(name):
        raise file.error(*where, message="the name has no word", value=name)
    try:
        re.compile(read.pattern)
    except re.error as fault:
        message = f"not a regular expression: {fault}"
        raise file.error(*where, "pattern", message=message, value=read.pattern) from None
    for kind in ("verbs", "phrases"):
        for saying in getattr(read, kind):
            if saying.count("{}") != 1 or not concept_words(saying):
                message = "needs words and one {} for the quantity"
                raise file.error(*where, kind, message=message, value=saying)
    return replace(read, column=column, name=name, unit=_unit(file, read.unit, units, *where))


def _unit(file: TomlFile, name: str, units: Units, *where: str) -> str:
    unit = canonical_unit(name, units)
    if unit is None:
        names = sorted({*(u.name for u in units), *(n for u in units for n in u.names)})
        near = get_close_matches(name.lower(), names, n=3)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        raise UnknownNameError(
            f"{', '.join(where)}: unknown unit",
            file=file.path,
            line=file.line(*where, "unit"),
            value=name,
            remedy=f'{hint}For things that are counted write the noun in two forms, such as "employee/employees"',
        )
    return unit


def canonical_unit(name: str, units: Units) -> str | None:
    """The canonical name for what a mapping calls a unit; None if nothing known is meant.

    "employee/employees" makes a counted noun of its own; "X per Y" a rate of two units.
    """
    if not name or name in units:
        return name
    if (listed := units.lookup(name)) is not None:
        return listed.name
    single, slash, many = (part.strip() for part in name.partition("/"))
    if slash and many and many in (plural(single), counted_plural(single)):
        return single
    over, per, under = name.rpartition(" per ")
    if not (over and per and under):
        return None
    top, bottom = canonical_unit(over, units), canonical_unit(under, units)
    return f"{top} per {bottom}" if top and bottom else None


_IRREGULAR_PLURALS = {"person": "people", "man": "men", "woman": "women", "child": "children"}


def counted_plural(noun: str) -> str:
    """The plural of a counted noun.

    >>> counted_plural("person"), counted_plural("employee")
    ('people', 'employees')
    """
    return _IRREGULAR_PLURALS.get(noun) or plural(noun)


def _refuse_overlap(attributes: Sequence[Attribute], path: Path) -> None:
    """Names that contain one another would make one attribute an answer to queries for the other."""
    for a in attributes:
        for b in attributes:
            if a is not b and set(a.words) <= set(b.words):
                same = set(a.words) == set(b.words)
                raise InputError(
                    "two attributes have the same name" if same else "an attribute's name holds all words of another's",
                    file=path,
                    value=f"{a.name} / {b.name}",
                    remedy="Give them names of which none contains the other: a query for the one would find the other",
                )


def spoken(column: str) -> str:
    """A column's name as words.

    >>> spoken("per_100g.saturated_fats"), spoken("batteryCapacity")
    ('saturated fats', 'battery capacity')
    """
    last = column.rpartition(".")[2] or column
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", last)
    return " ".join(re.sub(r"[\W_]+", " ", spaced).split()).lower() or "value"


def mapping_toml(mapping: TableMapping) -> str:
    """The mapping as a file that `load_mapping` reads back to the same value."""
    lines = []
    for key in ("name", "category", "words", "qualifier", "noun", "broader"):
        if value := getattr(mapping, key):
            lines.append(f"{key} = {_toml(value)}")
    if mapping.categories:
        lines += ["", "[categories]", *(f"{_toml(key)} = {_toml(value)}" for key, value in mapping.categories.items())]
    lines += ["", "[attributes]"]
    for number, attribute in enumerate(mapping.attributes):
        entries = []
        repeated = any(a.column == attribute.column for a in mapping.attributes[:number])
        for part in fields(Attribute):
            value = getattr(attribute, part.name)
            written = repeated if part.name == "column" else value not in ("", ()) and value is not None
            if written and value is not False:
                entries.append(f"{part.name} = {_toml(_unit_text(value) if part.name == 'unit' else value)}")
        key = f"{attribute.column} {number}" if repeated else attribute.column
        lines.append(f"{_toml(key)} = {{ {', '.join(entries)} }}")
    return "\n".join(lines) + "\n"


def _unit_text(unit: str) -> str:
    """Counted nouns are written with their plural, as `load_mapping` wants them."""
    units = load_units()
    return unit if not unit or " per " in unit or unit in units else f"{unit}/{counted_plural(unit)}"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08X}" for c in str(value))
    return f'"{escaped}"'
