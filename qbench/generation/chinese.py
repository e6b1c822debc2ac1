"""Chinese as a language of generation: see `qbench.generation.languages.GenerationPackage`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from qbench.generation.forms import Style, UnitForm
from qbench.generation.surfaces import RARE, clean, digits_of
from qbench.quantities.chinese.characters import folded
from qbench.quantities.chinese.lexicon import unit_forms as forms_read
from qbench.quantities.chinese.lexicon import words, written_forms
from qbench.quantities.units import Unit, Units

TEMPLATES = "templates/queries.zh.toml"

ANSWERS = "qbench.generation.chinese_answers"

DOUBTS = "qbench.generation.chinese_evidence:doubts"

GATE = "qbench.generation.chinese_gate:ChineseGate"

_SCALES = (("万亿", 12), ("亿", 8), ("万", 4))
_DECIMALS = 4
"""More decimals than this before 万 or 亿 are not how people write."""


def value_forms(value: float) -> dict[Style, str]:
    """Every exact way to write a number; each reads back to the same value.

    >>> value_forms(35_000_000.0), value_forms(0.0)
    ({'plain': '35000000', 'comma': '35,000,000', 'word': '3500万'}, {'plain': '0', 'word': '0'})
    """
    exact = Decimal(repr(clean(value)))
    forms: dict[Style, str] = {"plain": digits_of(exact)}
    if not exact:
        return {**forms, "word": forms["plain"]}  # beside another end of a range
    if abs(exact) >= 1000:
        forms["comma"] = digits_of(exact, comma=True)
    for name, power in _SCALES:
        mantissa = exact / Decimal(10) ** power
        if abs(mantissa) >= 1:
            written = digits_of(mantissa)
            if len(written.partition(".")[2]) <= _DECIMALS:
                forms["word"] = f"{written}{name}"
            break
    return forms


def usual(style: Style, size: float) -> float:
    """How usual a style is for numbers of a size."""
    if size >= 1e5:
        return {"word": 8.0, "comma": 1.0 if size < 1e8 else 0.0, "plain": 0.0, "letter": 0.0}[style]
    return {"word": 4.0, "comma": 4.0, "plain": 8.0 if size < 1e4 else 2.0, "letter": 0.0}[style]


def unit_forms(unit: Unit, units: Units, value: float) -> tuple[UnitForm, ...]:
    """The ways to write a unit after a number; a unit of which no Chinese form is known is written by its symbol.

    >>> from qbench.quantities.units import load_units
    >>> [form.after for form in unit_forms(load_units().get("yuan per share"), load_units(), 3.0)]
    ['元/股']
    """
    if not unit.name:
        return (UnitForm(),)
    top, per, under = unit.name.partition(" per ")
    written = written_forms()
    if unit.name in written:
        return tuple(UnitForm(after=form, named=True) for form in written[unit.name][:2])
    if per and top in written and under in written:
        return (UnitForm(after=f"{written[top][0]}/{written[under][0]}", named=True),)
    return (UnitForm(after=(*unit.symbols, unit.name)[0], named=not unit.symbols),)


def usual_forms(
    said: Mapping[tuple[str, bool], int], unit: Unit, units: Units, value: float
) -> list[tuple[UnitForm, int]]:
    """The ways in which a corpus writes a unit after a number, with how often it does; [] if it never writes it."""
    read = forms_read()
    counts = {
        UnitForm(after=surface, named=True): number
        for (surface, before), number in said.items()
        if not before and surface in read and read[surface].unit == unit.name and read[surface].factor == 1
    }
    most = max(counts.values(), default=0)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0].bare))
    return [(form, number) for form, number in ordered if RARE * number >= most]


def plain_forms(unit: Unit, units: Units, value: float) -> list[UnitForm]:
    """The usual form of a unit."""
    return list(unit_forms(unit, units, value)[:1])


def form_beside(name: str, unit: Unit, value: float) -> UnitForm | None:
    """The currency alone beside a name that says 每股: 每股收益超过0.5元, not 0.5元/股."""
    top, _, under = unit.name.partition(" per ")
    if "每股" not in name or under != "share" or top not in written_forms():
        return None
    return UnitForm(after=written_forms()[top][0], named=True)


def is_act(name: str) -> bool:
    """Whether a name is a verb: 回购超过500万股, but 估值高于5亿元."""
    name = folded(name)
    return name in words("act") and not name.endswith(("价", "值", "涉资"))


def stands_alone(name: str) -> bool:
    """Whether a name is more than a share: 占公司总股本超过5% asks for nothing, but beside 减持超过300万股."""
    name = folded(name)
    return not name.startswith("占") or name.startswith(("占地", "占用", "占有"))
