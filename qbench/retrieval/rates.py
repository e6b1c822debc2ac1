"""Rates that are also stated without what they are measured by: of money, of counted things, of numbers."""

from __future__ import annotations

from dataclasses import replace

from qbench.quantities.types import Condition, Quantity
from qbench.quantities.units import PER, Units

_FAMILIES = ("currency per time", "count per time")
_DENSITIES = ("count per area", "count per volume", "count per mass")


def amount_of(name: str, units: Units) -> tuple[str, float] | None:
    """The base unit of the amount in one period, and what turns base values of the rate into the amount's.

    "dollar" and 31,557,600 for "dollar per year", whose base unit is the dollar per second. A number by something is a
    bare number, too ("" and 60 for "per minute"), and so many of something by an area, a volume or a mass are a number
    by it: "per square metre" and 1 for "house per hectare". None for other units.
    """
    if name.startswith(PER):
        return "", 1 / units.get(name).factor
    above, per, below = name.rpartition(" per ")
    rate = units.get(name)
    if per and rate.family in _DENSITIES:
        return f"per {units.get(below).base_unit}", 1.0
    if not per or rate.family not in _FAMILIES:
        return None
    return units.get(above).base_unit, units.get(above).factor / rate.factor


def comparable(mention: Quantity, condition: Condition, units: Units) -> Quantity | None:
    """The mention in the base unit of a condition: as it is, or a rate as the amount in one period; None for others."""
    if mention.base_unit == condition.base_unit:
        return mention
    amount = amount_of(mention.unit, units)
    if amount is None or amount[0] != condition.base_unit:
        return None
    values = mention.base_value * amount[1], mention.base_high * amount[1]
    return replace(mention, base_unit=amount[0], base_value=values[0], base_high=values[1])
