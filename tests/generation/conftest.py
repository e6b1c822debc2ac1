"""A small index made by hand: companies, laptops and drugs, with gold quantities in known places."""

from __future__ import annotations

import polars as pl
import pytest

from qbench.index.disk import Index
from qbench.index.schemas import FORMAT, sentence_schema
from qbench.quantities.types import Quantity, quantity_schema, to_row
from qbench.quantities.units import load_units
from qbench.store import digest, drafting

UNITS = load_units()

FACTS = [
    # concept, unit, how the amount is written, values
    ("net income", "dollar", "${0} million", [1, 2, 2, 3, 5, 8, 13, 21]),
    ("revenue", "dollar", "${0} million", [10, 12, 12, 15, 20, 25, 40, 60]),
    ("recycling revenue", "dollar", "${0} million", [3, 4, 6, 7, 9, 11]),
    ("laptop weight", "kilogram", "{0} kg", [0.9, 1.2, 1.2, 1.4, 1.8, 2.1, 2.5, 3]),
    ("tablet weight", "pound-mass", "{0} lb", [1, 1.5, 1.5, 2, 2.2, 3, 4, 5]),
    ("battery life", "hour", "{0} hours", [4, 6, 6, 8, 9, 10, 12, 20]),
    ("unemployment rate", "percentage", "{0}%", [3, 4, 4, 4.5, 5, 6, 7, 9]),
    ("headcount", "employee", "{0} employees", [40, 120, 120, 250, 900, 1200, 3000, 5000]),
    ("morphine dose", "milligram", "{0} mg", [5, 10, 10, 15, 20, 30, 60, 90]),
    ("aspirin dose", "milligram", "{0} mg", [50, 75, 75, 81, 100, 150, 300, 500]),
    ("visibility", "kilometre", "{0} km", [1, 2, 2, 5, 8, 10, 20, 30]),
    ("house price", "euro", "€{0}", [95, 120, 120, 180, 240, 310, 420, 900]),
]

EXPANSIONS = (
    "net income\tprofit\nnet income\tearnings\nrevenue\tsales\nlaptop weight\theaviness of notebooks\n"
    "battery life\tendurance\nmorphine dose\topioid amount\naspirin dose\tpainkiller amount\nvisibility\tclear sight\n"
    "headcount\tstaff\nhouse price\tcost of homes\nunemployment rate\tjoblessness\ntablet weight\tslate mass\n"
)


def amount(concept, unit, form, value, text):
    """The gold mention of an amount that `text` holds once, the unit where the form puts it."""
    written = form.format(f"{value:,}")
    at = text.index(written)
    number = f"{value:,}" + (" million" if "million" in form else "")
    start = text.index(number, at)
    before, after = written.partition(number)[::2]
    unit_span = (at, at + len(before)) if before else (start + len(number) + after.count(" "), at + len(written))
    known = UNITS.get(unit)
    real = value * (1e6 if "million" in form else 1)
    base = UNITS.to_base(real, unit)
    return Quantity(
        value=float(real),
        high=float(real),
        comparator="=",
        unit=unit,
        family=known.family,
        base_unit=known.base_unit,
        base_value=base,
        base_high=base,
        concept=tuple(concept.split()),
        digits=2,
        value_span=(start, start + len(number)),
        unit_span=unit_span,
    )


def sentences():
    """(doc_id, text, mentions): each fact alone, and facts side by side in one sentence."""
    rows = []
    for number, (concept, unit, form, values) in enumerate(FACTS):
        other, other_unit, other_form, other_values = FACTS[number + 1 - 2 * (number % 2)]
        for place, value in enumerate(values):
            text = f"In case {'abcdefgh'[place]} the {concept} was {form.format(f'{value:,}')}."
            rows.append((f"{number}-{place}::0", text, [amount(concept, unit, form, value, text)]))
            if number % 2 == 0 and place < len(other_values):
                other_value = other_values[place]
                one, two = form.format(f"{value:,}"), other_form.format(f"{other_value:,}")
                text = f"Here the {concept} of {one} met some {other} at {two}."
                rows.append(
                    (
                        f"{number}-{place}::1",
                        text,
                        [
                            amount(concept, unit, form, value, text[: text.index(" met")]),
                            amount(other, other_unit, other_form, other_value, text),
                        ],
                    )
                )
    rows.append(("empty::0", "Nothing is counted here.", []))
    return rows


def write_index(folder, rows, extractor="given"):
    """An index artefact of (doc_id, text, mentions)."""
    table = pl.DataFrame(
        [(doc_id, text, "", doc_id.split("::")[0], 0, len(text)) for doc_id, text, _ in rows],
        schema=sentence_schema(),
        orient="row",
    )
    quantities = pl.DataFrame(
        [to_row(doc_id, mention) for doc_id, _, mentions in rows for mention in mentions], schema=quantity_schema()
    )
    pairs = (
        quantities.filter(pl.col("concept") != "")
        .group_by("concept", "unit", "family", "base_unit", maintain_order=True)
        .agg(
            count=pl.len(),
            sentences=pl.col("doc_id").n_unique(),
            mean=pl.col("value").mean(),
            low=pl.col("value").min(),
            high=pl.col("value").max(),
            values=pl.col("value"),
            doc_ids=pl.col("doc_id"),
        )
        .sort("concept", "unit")
    )
    made = {"extractor": extractor, "years": False, "units_file": None, "version": "0"}
    params = {"format": FORMAT, "extractor": made}
    key = digest([str(rows), extractor])
    with drafting(folder, "index", key, params) as draft:
        table.write_parquet(draft.folder / "sentences.parquet")
        quantities.write_parquet(draft.folder / "quantities.parquet")
        pairs.write_parquet(draft.folder / "pairs.parquet")
        sizes = {"documents": table.height, "sentences": table.height, "quantities": quantities.height}
        kinds = {"pairs": pairs.height, "concepts": pairs["concept"].n_unique(), "units": pairs["unit"].n_unique()}
        draft.counts = {**sizes, **kinds, "bad": {}, "mended": {}, "ignored_files": 0}
    return Index.open(folder)


@pytest.fixture(scope="session")
def index(tmp_path_factory):
    return write_index(tmp_path_factory.mktemp("generation") / "index", sentences())


@pytest.fixture(scope="session")
def expansions_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("expansions") / "expansions.tsv"
    path.write_text("# concept, tab, expansion\n\n" + EXPANSIONS, encoding="utf-8")
    return path
