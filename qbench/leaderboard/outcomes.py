"""The runs of a leaderboard's rows: those of now and of earlier calls, and what failed."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from qbench.errors import BusyError, OptionError, QbenchError, without_paths
from qbench.leaderboard.board import RUNS, Board, Ran
from qbench.leaderboard.standings import Entry
from qbench.leaderboard.training_sizes import training_samples
from qbench.leaderboard.views import Contest, Group
from qbench.llm.budget import Prices
from qbench.progress import Parts
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions, Setting
from qbench.retrieval.systems import System
from qbench.retrieval.types import ConditionSource, RunResult
from qbench.store import write_text

ERRORS = "errors.txt"
"""File in a leaderboard's folder with the tracebacks of unexpected errors."""


@dataclass
class Outcome:
    """Results and failures of a group.

    Attributes:
        group: the group.
        ran: rows with runs.
        failed: rows without a run.
        tracebacks: tracebacks of unexpected errors.
        notes: on rows of an earlier call.
        first: the first error.
    """

    group: Group
    ran: list[Ran] = field(default_factory=list)
    failed: list[Entry] = field(default_factory=list)
    tracebacks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first: Exception | None = None

    def add(self, results: Iterable[RunResult]) -> None:
        """Make rows of runs."""
        for result in results:
            label, shown = self.group.label(result.system, result.conditions), self.group.shown(result.system)
            self.ran.append(Ran(label, shown, result, training_samples(parse_system(result.system))))

    def keep(self, board: Board, work: Path, prices: Prices) -> None:
        """Keep the rows of an earlier call that this one does not make again."""
        failed = {entry.label for entry in self.failed}
        kept, self.notes = board.kept(self.group, work / RUNS, self.ran, prices)
        self.ran += [ran for ran in kept if ran.label not in failed]


def all_outcomes(
    contest: Contest, board: Board | None, work: Path, options: ExecuteOptions, *, nothing_new: bool, bar: Parts
) -> list[Outcome]:
    """The rows of each group with any, those that stay on a board among them; to one, nothing new may be added.

    Args:
        contest: the benchmarks and systems.
        board: whose rows stay; None for a new one.
        work: folder of runs and indexes.
        options: of the runs.
        nothing_new: whether only the board's own rows are wanted.
        bar: each group is as many parts of it as it has rows.

    Raises:
        OptionError: nothing new is wanted, and the board has no row with a run.
        Exception: the first error of a run, where there is no run at all.
    """
    groups = contest.groups
    if board is not None and nothing_new:
        groups = [replace(group, systems=[]) for group in groups]
    outcomes = []
    for group in groups:
        bar.begin(len(rows(group, options)))
        outcomes.append(_execute(group, work, replace(options, progress=bar)))
    if board is not None:
        for outcome in outcomes:
            outcome.keep(board, work, options.access.budget.prices)
    if not any(outcome.ran for outcome in outcomes):
        if board is not None and nothing_new:
            raise OptionError("the board in this folder has no row with a run", remedy="Name systems with --systems")
        raise next(outcome.first for outcome in outcomes if outcome.first is not None)
    return [outcome for outcome in outcomes if outcome.ran or outcome.failed]


def rows(group: Group, options: ExecuteOptions) -> list[tuple[System, Setting]]:
    """The rows that are run, each with the source of its conditions."""
    asking = [(system, setting) for system in group.systems for setting in options.settings if system.uses_conditions]
    return asking + [(system, options.settings[0]) for system in group.systems if not system.uses_conditions]


def _execute(group: Group, folder: Path, options: ExecuteOptions) -> Outcome:
    """Run all rows of a group together; if that fails, one by one, so that only the faulty rows fail."""
    outcome, wanted = Outcome(group), rows(group, options)
    if not wanted:
        return outcome
    try:
        outcome.add(execute(group.benchmark, group.systems, folder, options))
        return outcome
    except BusyError:
        raise
    except Exception as error:
        outcome.first = error
        if len(wanted) == 1:
            return _fail(outcome, wanted[0], error)
        outcome.tracebacks += _unexpected(f"{group.prefix}all rows at once", error)
    for system, setting in wanted:
        try:
            outcome.add(execute(group.benchmark, [system], folder, replace(options, settings=(setting,))))
        except Exception as error:
            _fail(outcome, (system, setting), error)
    return outcome


def _fail(outcome: Outcome, row: tuple[System, Setting], error: Exception) -> Outcome:
    """Record that a row has no run."""
    system, setting = row
    source: ConditionSource = setting if system.uses_conditions else "none"
    label = outcome.group.label(system, source)
    unexpected = _unexpected(label, error)
    reason = f"{type(error).__name__}: {error} (traceback in {ERRORS})" if unexpected else str(error)
    reason = without_paths(reason, filter(None, [getattr(error, "file", None), *system.paths()]))
    outcome.failed.append(Entry(label, outcome.group.shown(system), source, problem=reason))
    outcome.tracebacks += unexpected
    return outcome


def _unexpected(label: str, error: Exception) -> list[str]:
    if isinstance(error, QbenchError):
        return []
    return [f"{label}\n{''.join(traceback.format_exception(error))}"]


def write_errors(folder: Path, tracebacks: list[str]) -> None:
    """Keep tracebacks in a leaderboard's folder; remove those of an earlier call where there are none."""
    if tracebacks:
        write_text(folder / ERRORS, "\n".join(tracebacks))
    else:
        (folder / ERRORS).unlink(missing_ok=True)
