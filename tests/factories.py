"""Hand-made benchmarks for tests: small, whole, and free of the faults that `qbench benchmark check` looks for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from qbench.benchmark.audits import ALL, Audit, Cause, Figure
from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.parquet import SCHEMAS
from qbench.benchmark.types import Query, corpus_schema, qrels_schema
from qbench.quantities.types import Condition, Quantity, quantity_schema, to_row
from qbench.quantities.units import load_units
from qbench.store import read_manifest


def quantity(
    text: str,
    value_text: str,
    value: float,
    unit: str = "",
    concept: str = "",
    *,
    high: float | None = None,
    comparator: str = "=",
) -> Quantity:
    """A mention whose value is written as `value_text` in `text`."""
    units = load_units()
    known = units.get(unit)
    start = text.index(value_text)
    top = value if high is None else high
    return Quantity(
        value=value,
        high=top,
        comparator=comparator,
        unit=unit,
        family=known.family,
        base_unit=known.base_unit,
        base_value=units.to_base(value, unit),
        base_high=units.to_base(top, unit),
        concept=tuple(concept.split()),
        digits=sum(c.isdigit() for c in value_text),
        value_span=(start, start + len(value_text)),
    )


def condition(concept: str, comparator: str, value: float, unit: str = "", high: float | None = None) -> Condition:
    """What a query asks of one quantity."""
    units = load_units()
    top = value if high is None else high
    return Condition(
        comparator=comparator,
        value=value,
        high=top,
        unit=unit,
        base_unit=units.get(unit).base_unit,
        base_value=units.to_base(value, unit),
        base_high=units.to_base(top, unit),
        concept=tuple(concept.split()),
        value_text=f"{value:g}",
        unit_text=unit,
    )


def frame(table: str, rows: Iterable[Any]) -> pl.DataFrame:
    """Rows (tuples or dicts) as a table of a benchmark."""
    rows = list(rows)
    return pl.DataFrame(rows, schema=SCHEMAS[table](), orient=None if rows and isinstance(rows[0], dict) else "row")


_SENTENCES: list[tuple[str, str, list[tuple[str, float, str, str]]]] = [
    # id, text, [(value as written, value, unit, concept)]
    ("d01", "The Aria laptop weighs 1.2 kg.", [("1.2", 1.2, "kilogram", "laptop weight")]),
    (
        "d02",
        "The Brio laptop weighs 900 g and costs $1500.",
        [("900", 900, "gram", "laptop weight"), ("1500", 1500, "dollar", "laptop price")],
    ),
    ("d03", "At 2.4 kg the Castor is a heavy laptop.", [("2.4", 2.4, "kilogram", "laptop weight")]),
    ("d04", "A Delta laptop sells for $800.", [("800", 800, "dollar", "laptop price")]),
    ("d05", "Net income of Acme rose to $5 million.", [("5 million", 5e6, "dollar", "net income")]),
    ("d06", "Bolt reported net income of $12 million.", [("12 million", 12e6, "dollar", "net income")]),
    ("d07", "Acme's annual net income was $7 million.", [("7 million", 7e6, "dollar", "annual net income")]),
    ("d08", "The profit of Corax fell to $3 million.", [("3 million", 3e6, "dollar", "profit")]),
    ("d09", "Acme has 250 employees.", [("250", 250, "employee", "staff")]),
    ("d10", "Bolt employs more than 900 people.", [("900", 900, "employee", "staff")]),
    ("d11", "Corax has 40 employees in two plants.", [("40", 40, "employee", "staff")]),
    ("d12", "The weather was fine.", []),
]


def tiny_benchmark(name: str = "tiny") -> Benchmark:
    """Twelve sentences, two training, one development and four test queries, samples and triples for training.

    "laptop weight" and "laptop price" are trained on, "staff" is held out, "net income" is asked for in training too,
    "earnings" is an expansion of "profit". All labels hold.
    """
    corpus = [(doc_id, text, "", f"page{number % 3}") for number, (doc_id, text, _) in enumerate(_SENTENCES)]
    rows = []
    for doc_id, text, mentions in _SENTENCES:
        for written, value, unit, concept in mentions:
            comparator = ">" if "more than" in text else "="
            rows.append(to_row(doc_id, quantity(text, written, value, unit, concept, comparator=comparator)))
    queries = [
        Query(
            "q1",
            "laptop weight under 2 kg",
            "laptop weight",
            (condition("laptop weight", "<", 2, "kilogram"),),
            "train",
            "seen",
            "t1",
            7,
        ),
        Query(
            "q2",
            "laptop price of $800",
            "laptop price",
            (condition("laptop price", "=", 800, "dollar"),),
            "train",
            "seen",
            "t2",
            7,
        ),
        Query(
            "q3",
            "net income over $10 million",
            "net income",
            (condition("net income", ">", 10e6, "dollar"),),
            "dev",
            "unseen",
            "t3",
            7,
        ),
        Query(
            "q4",
            "laptop weight over 2 kg",
            "laptop weight",
            (condition("laptop weight", ">", 2, "kilogram"),),
            "test",
            "seen",
            "t3",
            7,
        ),
        Query(
            "q5",
            "staff between 200 and 300",
            "staff",
            (condition("staff", "between", 200, "employee", 300),),
            "test",
            "unseen",
            "t4",
            7,
        ),
        Query(
            "q6",
            "earnings below $4 million",
            "earnings",
            (condition("profit", "<", 4e6, "dollar"),),
            "test",
            "expansion",
            "t1",
            7,
        ),
        Query(
            "q7",
            "laptop under 1 kg for more than $1000",
            "laptop",
            (condition("laptop weight", "<", 1, "kilogram"), condition("laptop price", ">", 1000, "dollar")),
            "test",
            "seen",
            "t5",
            7,
        ),
    ]
    qrels = [
        ("q1", "d01", 2),
        ("q1", "d02", 2),
        ("q1", "d03", 0),
        ("q2", "d04", 2),
        ("q3", "d06", 2),
        ("q3", "d05", 0),
        ("q4", "d03", 2),
        ("q5", "d09", 2),
        ("q5", "d11", 0),
        ("q6", "d08", 2),
        ("q7", "d02", 2),
    ]
    samples = [
        ("s1", "q1", "d01", "The Aria laptop weighs 1.2 kg.", 1, "original", 1.2, "kilogram", 23, 26),
        ("s2", "q1", "d01", "The Aria laptop weighs 3.1 kg.", 0, "value", 3.1, "kilogram", 23, 26),
        ("s3", "q2", "d04", "A Delta laptop sells for $800.", 1, "original", 800.0, "dollar", 26, 29),
        ("s4", "q2", "d04", "A Delta laptop sells for €800.", 0, "unit", 800.0, "euro", 26, 29),
    ]
    return Benchmark(
        name=name,
        corpus=pl.DataFrame(corpus, schema=corpus_schema(), orient="row"),
        queries=queries,
        qrels=pl.DataFrame(qrels, schema=qrels_schema(), orient="row"),
        quantities=pl.DataFrame(rows, schema=quantity_schema()),
        samples=frame("samples", samples),
        triples=frame("triples", [("q1", "s1", "s2"), ("q2", "s3", "s4")]),
        params={"quantities": "gold", "seed": 7, "counts": {"rejected": {"undecided": 1}}},
    )


def tiny_audit(folder: Path) -> Audit:
    """An audit of the benchmark in a folder: three of four relevant judgments are right."""
    return Audit(
        artefact=read_manifest(folder).digest,
        sheet="0123456789abcdef",
        drawn={"split": "test", "seed": 13},
        auditors={"annotator 1": {"verdicts": 4, "cannot tell": 0}},
        agreement={},
        figures=(Figure("relevant", ALL, "", 9, 4, 3, 1, 0, 0, 0.75, 0.300642, 0.954413),),
        causes=(Cause("relevant", "wrong", "another thing", 1),),
    )
