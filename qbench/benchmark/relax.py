"""Relaxed equality: a value near the one that a query asks for counts, less than the very value.

Source: *DeepQuant*, appendix H. Its authors found strict equality too strict a gold label, and edited labels by hand:
176.6 billion answers "worth 177 billion", 1.00 percent does not answer "1.05 percentage". Here a rule does it: a
document that speaks of the concept and comes within a tolerance of the value gets a grade of its own. All strict
grades are doubled, so that 1 is free for what is near. nDCG with linear gains does not see the doubling, and
`P(rel=2)@10` counts what P@10 counted before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from qbench.benchmark.benchmark import Benchmark, benchmark_key
from qbench.benchmark.matching import Matcher
from qbench.benchmark.types import UNDECIDED, Query, qrels_schema
from qbench.errors import InputError, OptionError
from qbench.keys import key
from qbench.options import check, option
from qbench.quantities.types import Condition
from qbench.quantities.units import load_units
from qbench.toml_files import read_toml

TOLERANCE = 0.01
"""It tells the two examples of appendix H apart: 176.6 is within 0.3 % of 177, 1.00 is 4.8 % off 1.05."""

NEAR = 1
"""The grade of a document that is near, and not equal."""


@dataclass(frozen=True)
class Tolerances:
    """How far off a value may be, as a share of the value asked for, in the query's own unit.

    The tolerance of a query goes before that of a unit family, and that before the default; 0 is strict equality.
    """

    default: float = option(TOLERANCE, help="Tolerance of all other queries.", low=0, high=1)
    families: Mapping[str, float] = option({}, help="Tolerance by unit family.", low=0, high=1, key="family")
    queries: Mapping[str, float] = option({}, help="Tolerance by query id.", low=0, high=1, key="query")

    def __post_init__(self) -> None:
        check(self)

    @classmethod
    def load(cls, path: Path, default: float | None = None) -> Tolerances:
        """Read a TOML file: `default = 0.01`, and tables `family` and `query` of names and tolerances.

        Args:
            path: the file.
            default: goes before that of the file.

        Raises:
            InputError: the file is missing, no TOML, or holds something else.
        """
        read = read_toml(path, "tolerances", cls)
        return read if default is None else replace(read, default=default)

    def of(self, query_id: str, family: str) -> float:
        """The tolerance of a query's condition on a quantity of a family."""
        return self.queries.get(query_id, self.families.get(family, self.default))

    def to_params(self) -> dict[str, Any]:
        """For a manifest."""
        return {"default": self.default, "families": dict(self.families), "queries": dict(self.queries)}


def relax_benchmark(
    benchmark: Benchmark, tolerances: Tolerances | None = None, *, command: str | None = None
) -> Benchmark:
    """The benchmark with graded judgments of nearness: 4 and 2 for what had 2 and 1, 1 for what is near.

    A document is near if it would be relevant were the query's "=" the range of the tolerance around its value, by
    the rule of generation (concept, unit, every possible value), and is not relevant by equality. Judged before or
    not, it gets grade 1; what is undecided stays so. Conditions other than "=" stay strict; so does a query without
    "=". Training samples keep their strict labels. `strict_benchmark` gives the benchmark back as it was.

    Args:
        benchmark: with quantities that have concepts, and queries with conditions.
        tolerances: by default `TOLERANCE` for every query.
        command: the command line, for the card.

    Raises:
        OptionError: the benchmark is relaxed already.
        InputError: it has no quantities, no concepts or no conditions, or a tolerance names a query or a family that
            it does not have.

    Returns:
        a benchmark; the judgments that the rule added stand after the others.
    """
    tolerances = tolerances or Tolerances()
    raised, added, counts = _near(benchmark, tolerances)
    grades = [
        NEAR if (query_id, doc_id) in raised else grade if grade == UNDECIDED else 2 * grade
        for query_id, doc_id, grade in benchmark.qrels.iter_rows()
    ]
    qrels = benchmark.qrels.with_columns(grade=pl.Series(grades, dtype=pl.Int16))
    extra = pl.DataFrame(added, schema=qrels_schema(), orient="row")
    rule = {"source": benchmark_key(benchmark), "tolerances": tolerances.to_params(), "judgments_added": len(added)}
    before = benchmark.params
    return replace(
        benchmark,
        qrels=pl.concat([qrels, extra]),
        params={
            **before,
            "command": command,
            "relaxed": {**rule, **{name: before[name] for name in ("command",) if name in before}},
            "counts": {**before.get("counts", {}), "relaxed": counts},
        },
        digest=key("relax", **rule),
    )


def _near(
    benchmark: Benchmark, tolerances: Tolerances
) -> tuple[set[tuple[str, str]], list[tuple[str, str, int]], dict[str, int]]:
    """What is near, judged (query, document) or not (query, document, grade), and how many of each there are."""
    matcher, families = _prepared(benchmark, tolerances)
    judged: dict[str, dict[str, int]] = {}
    for query_id, doc_id, grade in benchmark.qrels.iter_rows():
        judged.setdefault(query_id, {})[doc_id] = grade
    raised: set[tuple[str, str]] = set()
    added: list[tuple[str, str, int]] = []
    widened_queries = with_near = 0
    for query in benchmark.queries:
        wide = widened(query, tolerances, families)
        if wide == query.conditions:
            continue
        widened_queries += 1
        strict = judged.get(query.query_id, {})
        near = sorted(doc for doc, grade in matcher.grades(wide).items() if grade > 0 and strict.get(doc, 0) == 0)
        with_near += bool(near)
        raised |= {(query.query_id, doc) for doc in near if doc in strict}
        added += [(query.query_id, doc, NEAR) for doc in near if doc not in strict]
    counts = {
        "queries_with_a_tolerance": widened_queries,
        "queries_with_something_near": with_near,
        "judgments_raised": len(raised),
        "judgments_added": len(added),
    }
    return raised, added, counts


def is_relaxed(benchmark: Benchmark) -> bool:
    """Whether its judgments are graded by nearness."""
    return "relaxed" in benchmark.params


def strict_benchmark(benchmark: Benchmark) -> Benchmark:
    """The benchmark that a relaxed one was made from, row by row.

    Raises:
        OptionError: the benchmark is not relaxed.
    """
    if not is_relaxed(benchmark):
        raise OptionError("this benchmark is not relaxed", value=benchmark.name)
    params = dict(benchmark.params)
    rule = params.pop("relaxed")
    params.pop("command", None)
    counts = {name: count for name, count in params.pop("counts", {}).items() if name != "relaxed"}
    return replace(
        benchmark,
        qrels=benchmark.qrels.head(benchmark.qrels.height - rule["judgments_added"]).with_columns(
            grade=pl.col("grade").floordiv(2).cast(pl.Int16)
        ),
        params={**params, **{name: rule[name] for name in ("command",) if name in rule}, "counts": counts},
        digest=rule["source"],
    )


def widened(query: Query, tolerances: Tolerances, families: Mapping[str, str]) -> tuple[Condition, ...]:
    """A query's conditions, "=" made the range of its tolerance.

    Args:
        query: as it is.
        tolerances: of queries and families.
        families: unit -> family, for units that only the benchmark knows.
    """
    return tuple(
        _widened(condition, tolerances.of(query.query_id, _family(condition.unit, families)))
        for condition in query.conditions
    )


def unit_families(benchmark: Benchmark) -> dict[str, str]:
    """Unit -> family, as the benchmark's quantities say."""
    if benchmark.quantities is None:
        return {}
    return dict(benchmark.quantities.select("unit", "family").unique().sort("unit", "family").iter_rows())


def _widened(condition: Condition, tolerance: float) -> Condition:
    off = tolerance * abs(condition.value)
    if condition.comparator != "=" or not off:
        return condition
    units = load_units()
    low, high = condition.value - off, condition.value + off
    if units.get(condition.unit).base_unit == condition.base_unit:
        # In the query's unit: one percent of 68 °F is 0.38 °C, and one percent of 20 °C is less.
        ends = sorted(units.to_base(end, condition.unit) for end in (low, high))
    else:
        # A unit of the user's own file.
        base = tolerance * abs(condition.base_value)
        ends = [condition.base_value - base, condition.base_value + base]
    return replace(condition, comparator="between", value=low, high=high, base_value=ends[0], base_high=ends[1])


def _family(unit: str, families: Mapping[str, str]) -> str:
    return families[unit] if unit in families else load_units().get(unit).family


def _prepared(benchmark: Benchmark, tolerances: Tolerances) -> tuple[Matcher, dict[str, str]]:
    if is_relaxed(benchmark):
        remedy = "Relax the one that it was made from, or get that back with --undo"
        raise OptionError("this benchmark is relaxed already", value=benchmark.name, remedy=remedy)
    if benchmark.quantities is None:
        remedy = "Import it with --quantities ours, or generate it with `qbench gen-queries`"
        raise InputError("this benchmark has no quantities to compare", value=benchmark.name, remedy=remedy)
    if (benchmark.qrels["grade"].cast(int).abs() * 2 >= 2**15).any():
        raise InputError("a grade is too high to be doubled", value=benchmark.name)
    if not any(query.conditions for query in benchmark.queries):
        raise InputError("no query of this benchmark has conditions as data", value=benchmark.name)
    matcher = Matcher.of(benchmark)
    if not matcher.knows_concepts:
        remedy = "Import it with --quantities ours: values alone do not tell whose they are"
        raise InputError("the quantities of this benchmark have no concepts", value=benchmark.name, remedy=remedy)
    families = unit_families(benchmark)
    unknown = sorted(tolerances.queries.keys() - {query.query_id for query in benchmark.queries})
    if unknown:
        raise InputError("a tolerance is given for an unknown query", value=unknown[0])
    of_queries = {_family(condition.unit, families) for query in benchmark.queries for condition in query.conditions}
    strange = sorted(tolerances.families.keys() - of_queries)
    if strange:
        remedy = f"The queries ask for {', '.join(name or repr(name) for name in sorted(of_queries))}"
        raise InputError("a tolerance is given for a unit family of no query", value=strange[0], remedy=remedy)
    return matcher, families
