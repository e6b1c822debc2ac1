"""Write the table of families in docs/reference/units.md from the units that qbench knows.

    python scripts/unit_families.py

Run it after a change of units.txt; a test compares the page with `page`. What stands between the two markers is
replaced, the rest of the page is written by hand.
"""

from __future__ import annotations

from pathlib import Path

from qbench.quantities.units import Unit, load_units

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "units.md"
BEGIN, END = "<!-- families: scripts/unit_families.py -->\n", "<!-- end of families -->"
SHOWN_BASES, SHOWN_UNITS = 2, 4


def table() -> str:
    """How many units and families there are, and a row for each family in the order of units.txt."""
    families: dict[str, list[Unit]] = {}
    for unit in load_units():
        families.setdefault(unit.family, []).append(unit)
    lines = [
        f"{sum(map(len, families.values()))} units in {len(families)} families.",
        "",
        "| family | values compare in | units | such as |",
        "|---|---|---:|---|",
    ]
    for family, units in families.items():
        bases = list(dict.fromkeys(unit.base_unit for unit in units))
        many = len(bases) > SHOWN_BASES
        compare = f"{bases[0]}; {len(bases) - 1} others by themselves" if many else ", ".join(bases)
        lines.append(f"| {family} | {compare} | {len(units)} | {', '.join(u.name for u in units[:SHOWN_UNITS])} |")
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """The page with the present table between its markers."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    return before + begin + table() + end + after


def main() -> None:
    """Bring the page up to date."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
