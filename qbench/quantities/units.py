"""Units: names and surface forms from a commented text file, arithmetic by pint.

A unit belongs to a *family* (what it measures) and has a *base unit*: two values compare if and only if their base
units are equal. Units of a family with a base convert into it; currencies have none and stand for themselves.
Nouns ("employee") and compounds ("dollar per share") need no entry: `Units.get` makes them. Names of units are English,
whatever the language of the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qbench.errors import InputError, OptionError
from qbench.quantities.english.inflection import plural, singular
from qbench.store import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

UNITS_FILE = Path(__file__).parent / "data" / "units.txt"
FACTORS_FILE = Path(__file__).parent / "data" / "unit_factors.txt"
PER = "per "
"""What names of units begin with that say by what a number is measured, and not what: "12 per day"."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit.

    Attributes:
        name: canonical name, singular.
        family: what it measures; "count" for nouns, "" for the bare number.
        base_unit: name of the unit in which values compare.
        factor, offset: value in base unit = value * factor + offset.
        names: written-out forms, singular and plural; they follow the number after a space.
        symbols: short forms that follow the number.
        before: short forms that precede the number.
    """

    name: str
    family: str
    base_unit: str
    factor: float = 1.0
    offset: float = 0.0
    names: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


NO_UNIT = Unit("", "", "")


HUNDREDS = {"hundred": 1e2, "thousand": 1e3, "million": 1e6}
"""Words that say of how many a rate is: "dollar per thousand cubic feet"."""


class Units:
    """The known units, by name and by surface form.

    Attributes:
        own: names of those that a user defined, whose forms mean them whatever the words around say.
    """

    def __init__(self, units: Iterable[Unit], own: frozenset[str] = frozenset()) -> None:
        self.own = own
        self._by_name: dict[str, Unit] = {}
        self._after: dict[str, Unit] = {}
        self._folded: dict[str, Unit] = {}
        self._before: dict[str, Unit] = {}
        self._created: dict[str, Unit] = {}
        for unit in units:
            self._add(unit)

    def _add(self, unit: Unit) -> None:
        self._by_name[unit.name] = unit
        for symbol in unit.symbols:
            self._after.setdefault(symbol, unit)
        for name in (unit.name, *unit.names):
            self._folded.setdefault(fold(name), unit)
        for symbol in unit.before:
            self._before.setdefault(symbol, unit)

    def __iter__(self) -> Iterator[Unit]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def get(self, name: str) -> Unit:
        """The unit of a canonical name; "" is the bare number, an unknown name is a counted noun.

        "X per Y" is a compound of its parts: it compares by the quotient of their base units. A noun phrase compares by
        its head: "other employee" with "employee".
        """
        if not name:
            return NO_UNIT
        unit = self._by_name.get(name) or self._created.get(name)
        if unit is None:
            unit = self._compound(name) if " per " in f" {name}" else self._counted(name)
            if len(self._created) < 100_000:
                self._created[name] = unit
        return unit

    def _counted(self, name: str) -> Unit:
        head = name.partition(" of ")[0].rpartition(" ")[2]
        return Unit(name, "count", {"people": "person"}.get(head, head), names=(name, plural(name)))

    def _compound(self, name: str) -> Unit:
        top, _, bottom = f" {name}".rpartition(" per ")
        top = top.strip()  # "" of "per person-year"
        if (many := self._below_many(top, bottom)) is not None:
            return many
        over, under = self.get(top), self.get(bottom)
        # 5 °C per hour is no 278 K per hour: the offset of a scale plays no part in a rate.
        tops = over.names or (top,)
        return Unit(
            name,
            f"{over.family} per {under.family}".lstrip(),
            f"{over.base_unit} per {under.base_unit}".lstrip(),
            over.factor / under.factor,
            names=tuple(f"{form} per {bottom}" for form in tops),
            symbols=tuple(f"{a}/{b}" for a in over.symbols[:1] for b in under.symbols[:1]),
        )

    def _below_many(self, top: str, bottom: str) -> Unit | None:
        """A unit by so many of another, "milligram per 100 millilitres"; None if `bottom` is one of something."""
        count, _, rest = bottom.partition(" ")
        times = HUNDREDS.get(count) or (float(count) if count.isdecimal() else 0.0)
        if not (rest and times):
            return None
        one = self.named(fold(rest))
        single = self.get(f"{top} per {singular(rest) if one is None else one.name}".lstrip())
        names = tuple(f"{form} per {bottom}".lstrip() for form in self.get(top).names or (top,))
        return replace(
            single, name=f"{top} per {bottom}".lstrip(), factor=single.factor / times, names=names, symbols=()
        )

    def lookup(self, surface: str) -> Unit | None:
        """The unit that a surface form names: symbols exactly as written, names in any case and spelling."""
        return self._after.get(surface) or self._folded.get(fold(surface)) or self._before.get(surface)

    def symbol(self, surface: str) -> Unit | None:
        """The unit of a symbol that follows the number, upper and lower case as written."""
        return self._after.get(surface)

    def named(self, folded: str) -> Unit | None:
        """The unit of a written-out form, given as `fold` leaves it."""
        return self._folded.get(folded)

    def preceding(self, surface: str) -> Unit | None:
        """The unit of a symbol that precedes the number ("$", "USD")."""
        return self._before.get(surface)

    def surfaces(self) -> Iterator[str]:
        """Every surface form that may follow a number."""
        yield from self._after
        yield from self._folded

    def to_base(self, value: float, name: str) -> float:
        """A value of the named unit, in that unit's base unit."""
        unit = self.get(name)
        return value * unit.factor + unit.offset

    def convert(self, value: float, source: str, target: str) -> float:
        """A value of one unit, in another.

        Raises:
            OptionError: the two do not measure the same.
        """
        a, b = self.get(source), self.get(target)
        if a.base_unit != b.base_unit:
            raise OptionError(f"cannot convert {source or 'a bare number'} into {target or 'a bare number'}")
        return (value * a.factor + a.offset - b.offset) / b.factor


def load_units(extra: Path | None = None) -> Units:
    """The built-in units, and those of a user's own file (same format; its entries win).

    Raises:
        InputError: a line of the file cannot be read, or pint does not know its definition.
    """
    return _load(extra)


@lru_cache(maxsize=8)
def _load(extra: Path | None) -> Units:
    own = [] if extra is None else _read(extra)
    units = _define(_read(UNITS_FILE) + own, Converter(kept_factors()))
    return Units(units, frozenset(entry.name for entry in own))


@dataclass(frozen=True)
class _Entry:
    file: Path
    line: int
    family: str
    base: str | None
    name: str
    definition: str
    names: tuple[str, ...]
    symbols: tuple[str, ...]
    before: tuple[str, ...]


def _read(path: Path) -> list[_Entry]:
    text = read_text(path, "units")
    family, base = "", None
    entries: list[_Entry] = []
    known: set[str] = set()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = re.sub(r"(^|\s)#.*", "", raw).strip()
        if not line:
            continue
        if header := re.fullmatch(r"\[([^:\]]+)(?::([^\]]+))?\]", line):
            family, base = header[1].strip(), header[2].strip() if header[2] else None
            continue
        name, equals, rest = line.partition(" = ")
        if not equals or not family:
            raise InputError(
                "neither a [family] nor `name = definition ; names ; symbols ; before`",
                file=path,
                line=number,
                value=raw,
            )
        definition, names, symbols, before, *more = [*(part.strip() for part in rest.split(";")), "", "", ""]
        twice = name.strip() in known
        known.add(name.strip())
        if twice or any(more):
            raise InputError(
                "a unit that was defined before" if twice else "more than four columns",
                file=path,
                line=number,
                value=raw,
            )
        entries.append(
            _Entry(
                path,
                number,
                family,
                base,
                name.strip(),
                definition,
                _forms(names, name.strip()),
                _listed(symbols),
                _listed(before),
            )
        )
    return entries


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _forms(text: str, name: str) -> tuple[str, ...]:
    """Singular and plural forms; "foot=feet" gives an irregular plural, "lux=lux" none of its own, "~" is the name."""
    parts = [name + part[1:] if part.startswith("~") else part for part in _listed(text)]
    irregular = {part.partition("=")[0].strip() for part in parts if "=" in part}
    forms: dict[str, None] = {}
    for part in parts:
        singular, equals, many = (piece.strip() for piece in part.partition("="))
        for form in (singular, many if equals else "" if singular in irregular else plural(singular)):
            if form:
                forms[form] = None
                forms[_AMERICAN.sub(r"\1er", form)] = None
    return tuple(forms)


_AMERICAN = re.compile(r"(met|lit)re")


def _define(entries: list[_Entry], convert: Converter) -> Iterator[Unit]:
    bases = {entry.name: entry for entry in entries}
    done: dict[str, Unit] = {}
    # A definition may name a unit that stands further down in the file (a family's base), so bases come first.
    for entry in sorted(entries, key=lambda e: e.name != e.base):
        done[entry.name] = _unit(entry, bases, done, convert)
    # The order of the file decides which unit an ambiguous surface form names; a later file wins over the built-in one.
    order = [e for e in entries if e.file != UNITS_FILE] + [e for e in entries if e.file == UNITS_FILE]
    yield from (done[name] for name in dict.fromkeys(e.name for e in order))


def _unit(entry: _Entry, bases: Mapping[str, _Entry], done: Mapping[str, Unit], convert: Converter) -> Unit:
    factor, offset, base = 1.0, 0.0, entry.base or entry.name
    number, _, other = entry.definition.partition(" ")
    if entry.definition == "=":
        base = entry.name
    elif other in done and _is_number(number):
        base, factor = done[other].base_unit, float(number) * done[other].factor
    elif entry.name != entry.base:
        factor, offset = _converted(entry, bases, convert)
    if not 0 < factor < float("inf"):
        raise InputError(
            "a unit is a positive number of its base unit", file=entry.file, line=entry.line, value=entry.definition
        )
    return Unit(entry.name, entry.family, base, factor, offset, entry.names, entry.symbols, entry.before)


def _converted(entry: _Entry, bases: Mapping[str, _Entry], convert: Converter) -> tuple[float, float]:
    if entry.base is None or entry.base not in bases:
        raise InputError(
            "the family of this unit has no base to convert into",
            file=entry.file,
            line=entry.line,
            value=entry.name,
            remedy="Write `=` for a unit that stands for itself, or give the family a base",
        )
    try:
        return convert(entry.definition, bases[entry.base].definition)
    except ValueError as fault:
        raise InputError(
            f"pint cannot read this definition: {fault}", file=entry.file, line=entry.line, value=entry.definition
        ) from None


_TOO_GREAT = re.compile(r"(?:\*\*|\^)\s*[-+(]*\s*(?:\d{3}|[\d.]+[eE]|[\w.() ]+(?:\*\*|\^))")


class Converter:
    """Factor and offset from one pint expression to another.

    Loading pint and its units takes over a second, longer than a short run of qbench. What pint answered for the
    built-in definitions is kept in `FACTORS_FILE` (a test compares each line with pint); others ask pint itself.

    Args:
        known: answers by (expression, base expression).
    """

    def __init__(self, factors: Mapping[tuple[str, str], tuple[float, float]]) -> None:
        self._factors = factors
        self._registry: Any = None

    def __call__(self, definition: str, base: str) -> tuple[float, float]:
        """The value of 1 `definition`, and of 0, in `base`: value in base = value * factor + offset.

        Raises:
            ValueError: pint knows no such unit, or the two do not measure the same.
        """
        conversion = self._factors.get((definition, base))
        return conversion if conversion is not None else self._ask(definition, base)

    def _ask(self, definition: str, base: str) -> tuple[float, float]:
        import pint

        if _TOO_GREAT.search(definition):  # pint would calculate them
            raise ValueError("powers of powers, or exponents of more than two digits")
        if self._registry is None:
            self._registry = pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
        registry = self._registry
        try:
            if definition.startswith("deg") or base.startswith("deg"):
                at_zero, at_one = (registry.Quantity(x, definition).to(base).magnitude for x in (0.0, 1.0))
                # Both ends come through kelvin and back: what that adds in the last bits goes away again.
                return float(f"{at_one - at_zero:.13g}"), float(f"{at_zero:.13g}")
            one_in_base = registry.Quantity(1.0) * registry.parse_expression(definition)
            # Products of conversion factors differ in the last bit from the number that is meant.
            return float(f"{(one_in_base / registry.parse_expression(base)).to('').magnitude:.15g}"), 0.0
        except (pint.errors.PintError, TypeError, AttributeError, ValueError, AssertionError) as fault:
            raise ValueError(str(fault)) from None


def kept_factors() -> dict[tuple[str, str], tuple[float, float]]:
    """What pint answered for the built-in definitions: (factor, offset) by (definition, base definition)."""
    factors = {}
    for line in FACTORS_FILE.read_text(encoding="utf-8").splitlines() if FACTORS_FILE.exists() else ():
        definition, base, factor, offset = line.split("\t")
        factors[definition, base] = float(factor), float(offset)
    return factors


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_UNFOLD = str.maketrans({"-": " ", "‐": " ", "‑": " "})


def fold(name: str) -> str:
    """A written-out form without the differences that do not matter: case, hyphens, runs of white space."""
    return " ".join(name.translate(_UNFOLD).lower().split())
