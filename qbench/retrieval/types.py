"""What a retrieval system gives: a run, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from qbench.benchmark.types import run_schema

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ConditionSource", "Cost", "RunResult", "row_label", "run_schema"]

ConditionSource = Literal["none", "given", "parsed"]
"""Where a system takes a query's conditions from: it uses none, they are given as data, or we parse the text."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a system needed, measured while it ran.

    Attributes:
        index_seconds: building everything that it searches (a shared part counts in full for each system).
        index_bytes: size of that on disk.
        ms_median, ms_p95: milliseconds per query, first stage included; what is done for many queries together (parsing
            into tokens, encoding, dense search) counts in equal shares.
        peak_bytes: highest resident memory of the process up to the end of its run; what ran before it counts too.
        extraction_seconds: of `index_seconds`, finding the documents' quantities; 0 where they were stored.
        calls: questions that its language models were asked, recorded ones included; 0 where it has none.
        tokens_read, tokens_written: by those models.
        refused: of the calls, those that the server or the model refused.
        malformed: of the calls, those whose answers lack the form that was asked for.
        money: price of the tokens; None where a model has no price.
    """

    index_seconds: float = 0.0
    index_bytes: int = 0
    ms_median: float = 0.0
    ms_p95: float = 0.0
    peak_bytes: int = 0
    extraction_seconds: float = 0.0
    calls: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    refused: int = 0
    malformed: int = 0
    money: float | None = None


ASKED = ("calls", "tokens_read", "tokens_written", "refused", "malformed")
"""What is counted of the answers of every language model, by the names of `Cost`."""


@dataclass(frozen=True)
class RunResult:
    """A system's answer to all queries of one split of a benchmark.

    Attributes:
        system: its name in the grammar.
        conditions: where it took the queries' conditions from.
        run: columns query_id, doc_id, rank (1-based, Int32), score (Float64); ordered by query, then rank.
        cost: what it needed.
        digest: names everything that could change `run`.
        meta: whatever else should be reported (number of queries whose text gave no condition, ...).
    """

    system: str
    conditions: ConditionSource
    run: pl.DataFrame
    cost: Cost = field(default_factory=Cost)
    digest: str = ""
    meta: dict[str, int | float | str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name of its row: the system, and the source of its conditions where it uses any."""
        return row_label(self.system, self.conditions)


def row_label(name: str, conditions: ConditionSource) -> str:
    """The name of a row: the system's, and the source of its conditions where it uses any."""
    return name if conditions == "none" else f"{name} [{conditions}]"
