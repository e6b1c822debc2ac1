"""Options of sheets and of reading them; light to import, since the command line is made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from qbench.benchmark.types import Split
from qbench.corpora.types import OnError
from qbench.evaluation.agreement import Resolve
from qbench.options import check, option

Scale = Literal["binary", "graded"]

HIGHEST: Mapping[Scale, int] = {"binary": 1, "graded": 2}
"""The highest grade of each scale; the lowest is 0."""


@dataclass(frozen=True)
class SheetOptions:
    """What annotators are asked to judge.

    `number` limits the queries of the split, and `queries` names them instead.
    """

    split: Split = option("test", help="Split whose queries are judged.")
    number: int | None = option(
        None,
        help="Maximum number of queries; comparators take turns. [default: all of the split]",
        low=1,
        flag="queries",
    )
    queries: tuple[str, ...] = option((), help="Judge this query; may be repeated.", flag="query", metavar="ID")
    depth: int = option(10, help="Number of first documents of each run to judge.", low=1)
    most: int = option(50, help="Maximum number of documents per query that the index proposes.", low=0)
    tolerance: float = option(
        0.0,
        help="Also propose documents whose value is within this share of the value of an '='; annotators see it.",
        low=0,
        high=1,
    )
    scale: Scale = option("graded", help="Grades 0 and 1 (binary), or 0, 1 and 2 (graded).")
    annotators: int = option(1, help="Number of annotators; each gets a sheet with a share of the queries.", low=1)
    shared: int = option(20, help="Number of queries that all annotators judge, to measure their agreement.", low=0)
    seed: int = option(0, help="Seed of all choices and orders.")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class ImportOptions:
    """How filled sheets become judgments."""

    resolve: Resolve = option(
        "fail",
        help="Grade of an item that annotators grade differently: fail stops, first takes the grade of the file named "
        "first, lowest and highest the lowest and the highest grade.",
    )
    adjudicated: Path | None = option(
        None,
        help="The filled file of disagreements; its grades replace all others.",
        metavar="FILE",
        recorded="DISAGREEMENTS",  # a file's name may be a person's
    )
    on_error: OnError = option(
        "fail", help="An answer that cannot be used: fail stops, skip leaves it out and counts it."
    )
    names: bool = option(
        False,
        help="Keep the annotators' names in the benchmark, which are published with it; without it they are numbered.",
    )

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class AuditOptions:
    """How many labels of each kind an audit draws."""

    split: Split = option("test", help="Split whose queries and judgments are drawn; samples are drawn from all.")
    queries: int = option(50, help="Number of queries that are read by themselves.", low=0)
    relevant: int = option(100, help="Number of judgments of relevant documents.", low=0)
    by_table: int = option(
        50,
        help="Of a benchmark of `qbench ground`: number of judgments of grade 1, by the table alone.",
        low=0,
    )
    negative: int = option(50, help="Number of judgments of grade 0.", low=0, flag="judged-0")
    missed: int = option(25, help="Number of queries whose likeliest unjudged documents are read.", low=0)
    likeliest: int = option(5, help="Number of unjudged documents of each of these.", low=1)
    samples: int = option(30, help="Number of training samples of each method, and positive or negative.", low=0)
    pairs: int = option(50, help="Of mined pairs: number of each label.", low=0)
    descriptions: int = option(50, help="Of mined pairs: number of descriptions.", low=0)
    seed: int = option(13, help="Seed of the choice.")

    def __post_init__(self) -> None:
        check(self)
