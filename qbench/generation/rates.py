"""Which amounts of one currency may be as much as an amount of another one, at any plausible exchange rate."""

from __future__ import annotations

RATES: dict[str, tuple[float, float]] = {
    "dollar": (1.0, 1.0),
    "euro": (0.80, 1.65),
    "pound sterling": (1.00, 2.20),
    "swiss franc": (0.35, 1.40),
    "yen": (0.0035, 0.0140),
    "yuan": (0.11, 0.35),
    "canadian dollar": (0.60, 1.12),
    "australian dollar": (0.45, 1.15),
    "swedish krona": (0.08, 0.20),
    "norwegian krone": (0.08, 0.22),
    "danish krone": (0.08, 0.22),
    "deutsche mark": (0.28, 0.75),
    "french franc": (0.09, 0.26),
    "indian rupee": (0.011, 0.09),
    "hong kong dollar": (0.12, 0.14),
    "singapore dollar": (0.42, 0.85),
}
"""Currency -> its lowest and highest value in dollars since about 1984. Others are nobody's everyday alternative."""

EVERYWHERE = tuple(name for name in RATES if name not in ("deutsche mark", "french franc"))
"""Currencies that texts of any country and year name."""


def compare(value: float, unit: str, other: str) -> tuple[float, float] | None:
    """The least and the most that an amount of `unit` may have been worth in `other`.

    Args:
        value: the amount.
        unit, other: canonical names of currencies.

    Returns:
        both ends, or None where a rate is not known.

    >>> low, high = compare(10.0, "pound sterling", "dollar") or (0.0, 0.0)
    >>> (low, high)
    (10.0, 22.0)
    """
    if unit not in RATES or other not in RATES:
        return None
    (low, high), (least, most) = RATES[unit], RATES[other]
    ends = sorted((value * low / most, value * high / least))
    return ends[0], ends[1]
