"""What is a name, and which currencies stand beside it."""

from __future__ import annotations

import polars as pl

from qbench.generation.names import Names

TEXTS = pl.Series(
    [
        "In May the Harbour Board of Oldport paid 5 crowns.",
        "Oldport's harbour cost 6 francs.",
        "The harbour had a Board, and the board met.",
        "Sails were sold by TARLINE for 7 crowns.",
        "We saw a board of the ship.",
    ]
)
NAMES = Names(TEXTS, [(0, "crown"), (1, "franc"), (1, "franc"), (3, "crown"), (3, "crown"), (0, "crown")])


def test_names_are_written_with_a_capital_wherever_they_stand():
    assert [word for word in ("Oldport", "harbour", "board", "tarline", "sails") if NAMES.is_name(word)] == [
        "Oldport",
        "tarline",
    ]
    assert NAMES.of("Oldport's sails, in May: a Japanese harbour") == {"oldport", "japanese"}
    assert NAMES.of("Oldport Tarline and Oldport, Ruritania") == {"oldport tarline", "oldport", "ruritania"}


def test_a_text_allows_what_stands_beside_all_of_its_names():
    assert NAMES.allow("Oldport had it.", "franc")
    assert NAMES.allow("a harbour had it", "franc")
    assert not NAMES.allow("Oldport and TARLINE had it.", "franc")
    assert NAMES.allow("Oldport and TARLINE had it.", "crown")
    assert not NAMES.allow("Ruritania had it.", "crown")
    assert not NAMES.allow("Oldport Tarline had it.", "crown")
    assert NAMES.allow("During this time it had it.", "crown")
