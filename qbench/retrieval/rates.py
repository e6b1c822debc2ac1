"""Rates of money and of counted things per time, which texts and queries also state without the period."""

from __future__ import annotations

from qbench.quantities.units import Units

_FAMILIES = ("currency per time", "count per time")


def amount_of(name: str, units: Units) -> tuple[str, float] | None:
    """The base unit of the amount in a period, and what turns base values of the rate into the amount's.

    "dollar" and 31,557,600 for "dollar per year", whose base unit is the dollar per second; None for other units.
    """
    above, per, _ = name.rpartition(" per ")
    if not per or (rate := units.get(name)).family not in _FAMILIES:
        return None
    return units.get(above).base_unit, units.get(above).factor / rate.factor
