"""What a check of a benchmark reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

Severity = Literal["error", "warning", "skipped"]

EXAMPLES = 5
"""How many examples a finding names."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a rule, or that the rule could not be checked.

    Attributes:
        rule: the rule's name.
        severity: "error" makes results on the benchmark wrong, "warning" is worth a look, "skipped" says that the rule
            needs something that the benchmark does not have.
        where: the table.
        message: what is wrong, for a person.
        count: how often.
        examples: ids, or pairs of ids, at most `EXAMPLES`.
    """

    rule: str
    severity: Severity
    where: str
    message: str
    count: int = 0
    examples: tuple[str, ...] = ()


def report(
    rule: str,
    severity: Severity,
    where: str,
    message: str,
    cases: Sequence[object] | pl.Series,
    count: int | None = None,
) -> Iterator[Finding]:
    """One finding about `cases`, or none if there are none.

    Args:
        rule, severity, where: as in `Finding`.
        message: `{n}` in it stands for the number of cases.
        cases: all of them, or the first.
        count: how many there are; the number of `cases` by default.
    """
    count = len(cases) if count is None else count
    if count:
        examples = tuple(_shown(case) for case in list(cases[:EXAMPLES]))
        yield Finding(rule, severity, where, message.format(n=count), count, examples)


def _shown(case: object) -> str:
    return " ".join(str(part) for part in case) if isinstance(case, tuple) else str(case)
