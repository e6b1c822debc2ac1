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
            "bound": "=",
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
    rows = [(a, b, label, 1, 1.0, 4, 2, 0.9, 0.9, split) for a, b in pairs]
    return pl.DataFrame(rows, schema=pair_schema(), orient="row")


def pairs_folder(folder: Path, records: pl.DataFrame, pairs: pl.DataFrame) -> Path:
    key = digest({"records": records.write_json(), "pairs": pairs.write_json()})
    with drafting(folder, PAIRS_KIND, key, {}) as draft:
        records.write_parquet(draft.folder / DESCRIPTIONS)
        pairs.write_parquet(draft.folder / PAIRS)
    return folder


def fact_world(facts: int = 30) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Each fact is told in two documents in other words, each time beside two other quantities in a longer sentence.

    The words of the others are those of other facts, so that a sentence says less of one fact than its description
    does: by words alone descriptions find what sentences do not.
    """
    names = ["revenue", "profit", "staff", "debt", "output", "sales"]
    firms = [f"firm{chr(97 + i % 26)}{i // 26}" for i in range(facts)]
    records, pairs = [], []
    for i, firm in enumerate(firms):
        name, value = names[i % 6], 1234.0 + 17 * i
        for side, verb in enumerate(("total", "annual")):
            doc = f"d{side}-{i:03d}::0"
            others = [(firms[(i + step) % facts], names[(i + step + 1) % 6]) for step in (1 + side, 7 + side)]
            words = [f"{verb} {name} {firm}", *(f"{n} {f}" for f, n in others)]
            values = [value, 50_001.0 + 100 * i + side, 90_001.0 + 100 * i + side]
            sentence = "; ".join(f"{w} was {v:g}" for w, v in zip(words, values, strict=True))
            # The firm's name is in many sentences, those of the other facts among them.
            records += [
                Record(f"{doc}#{n}", w, v, sentence) for n, (w, v) in enumerate(zip(words, values, strict=True))
            ]
        pairs.append((f"d0-{i:03d}::0#0", f"d1-{i:03d}::0#0"))
    return record_table(records), pair_table(pairs)
