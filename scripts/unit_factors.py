"""Write what pint says of the built-in units' definitions into qbench/quantities/data/unit_factors.txt.

    python scripts/unit_factors.py

Run it after a change of units.txt. Loading pint takes over a second; with the file, `load_units` needs it only for
definitions of a user's own. Each line: definition, base definition, factor, offset, with tabs between.
"""

from __future__ import annotations

from qbench.quantities.units import FACTORS_FILE, UNITS_FILE, Converter, _define, _read


def built_in_definitions() -> list[tuple[str, str]]:
    """Every (definition, base definition) of the built-in file that pint has to answer, in the order of the file."""
    asked: dict[tuple[str, str], None] = {}

    class Listing(Converter):
        def __call__(self, definition: str, base: str) -> tuple[float, float]:
            asked[definition, base] = None
            return 1.0, 0.0

    list(_define(_read(UNITS_FILE), Listing({})))
    return list(asked)


def main() -> None:
    """Ask pint for every definition, in the order of units.txt."""
    ask = Converter({})
    rows = ((definition, base, *ask(definition, base)) for definition, base in built_in_definitions())
    text = "".join(f"{definition}\t{base}\t{factor!r}\t{offset!r}\n" for definition, base, factor, offset in rows)
    FACTORS_FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
