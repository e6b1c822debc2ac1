"""A folder of pairs as `qbench mine-paraphrases` leaves it, from a few facts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import polars as pl

from qbench.mining.types import DESCRIPTIONS, PAIRS, PAIRS_KIND, description_schema, pair_schema
from qbench.store import digest, drafting


class Record(NamedTuple):
    """One description; records of one sentence share `doc_id` and `sentence`."""

    description_id: str
    description: str
    value: float
    sentence: str
    unit: str = "dollar"

    @property
    def doc_id(self) -> str:
        return self.description_id.partition("#")[0]


def record_table(records: Iterable[Record]) -> pl.DataFrame:
    rows = [
        {
            "description_id": r.description_id,
            "description": r.description,
            "doc_id": r.doc_id,
            "source_id": r.doc_id.partition("::")[0],
            "sentence": r.sentence,
            "segments": [],
            "value": r.value,
            "high": r.value,
            "comparator": "=",
            "change": "",
            "unit": r.unit,
            "family": "currency" if r.unit == "dollar" else "count",
            "base_unit": r.unit,
            "base_value": r.value,
            "base_high": r.value,
            "digits": len(f"{r.value:g}".replace(".", "")),
            "value_start": 0,
            "value_end": 1,
            "unit_start": -1,
            "unit_end": -1,
        }
        for r in records
    ]
    return pl.DataFrame(rows, schema=description_schema())


def pair_table(pairs: Iterable[tuple[str, str]], *, split: str = "test", label: str = "paraphrase") -> pl.DataFrame:
    known = (None, None, None) if label == "confusing" else (2, 0.9, 0.9)
    rows = [(a, b, label, 1, 1.0, 4, *known, split) for a, b in pairs]
    return pl.DataFrame(rows, schema=pair_schema(), orient="row")


def pairs_folder(folder: Path, records: pl.DataFrame, pairs: pl.DataFrame, **params: object) -> Path:
    key = digest({"records": records.write_json(), "pairs": pairs.write_json(), **params})
    with drafting(folder, PAIRS_KIND, key, params) as draft:
        records.write_parquet(draft.folder / DESCRIPTIONS)
        pairs.write_parquet(draft.folder / PAIRS)
    return folder


def fact_world(facts: int = 30) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Each fact is told twice, in other words; a third sentence has the words of the query, but for two other facts.

    The sentence that answers is long and speaks of other things too, the third one is short: a search of sentences
    finds the third one first. A search of descriptions finds the answer first, since no other one shares two words.
    """
    names = ["revenue", "profit", "staff", "debt", "output", "sales"]
    firms = [f"firm{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(facts)]
    records: list[Record] = []
    pairs = []

    def tell(doc: str, *told: tuple[str, float], padding: str = "") -> None:
        sentence = "; ".join(f"{words} was {value:g}" for words, value in told) + padding
        records.extend(Record(f"{doc}#{n}", words, value, sentence) for n, (words, value) in enumerate(told))

    for i, firm in enumerate(firms):
        name, value = names[i % 6], 1234.0 + 17 * i
        tell(f"asked{i:03d}::0", (f"total {name} {firm}", value), (f"weather {i}", 50_003.0 + i))
        more = " and much more is said here of roads and fields and of the rain in the hills" * 2
        tell(f"answer{i:03d}::0", (f"annual {name} {firm}", value), ("harvest", 60_001.0 + i), padding=more)
        tell(f"trap{i:03d}::0", (f"total {name} industry", 70_003.0 + i), (f"founding {firm}", 80_001.0 + i))
        pairs.append((f"asked{i:03d}::0#0", f"answer{i:03d}::0#0"))
    return record_table(records), pair_table(pairs)
