"""Forecast of the server calls of a leaderboard and their cost, without any call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Split
from qbench.leaderboard.experiment_run import inputs_of
from qbench.leaderboard.experiment_steps import Steps
from qbench.leaderboard.experiment_types import Experiment
from qbench.leaderboard.run import run_settings, select_queries
from qbench.leaderboard.views import line_up
from qbench.llm.client import Access, Estimate
from qbench.mining.test_set import QuantityTestSet
from qbench.progress import silent
from qbench.retrieval.api import ExpectedCalls, expected_calls
from qbench.retrieval.execute import BATCH
from qbench.retrieval.expected_questions import expected_questions
from qbench.retrieval.jobs import Setting
from qbench.retrieval.passages import passages
from qbench.retrieval.systems import System


def forecast(
    benchmark: str | Path | Benchmark | QuantityTestSet,
    systems: Sequence[str | System] | None = None,
    *,
    split: Split = "test",
    qrels: str | None = None,
    settings: Sequence[Setting] | None = None,
    access: Access,
) -> tuple[list[ExpectedCalls], Estimate]:
    """Forecast the server calls of `run_leaderboard` that are not recorded yet.

    Args:
        benchmark, systems, split, qrels, settings: as in `run_leaderboard`.
        access: the recording and the prices.

    Returns:
        the calls of each server, and their total; its cost is None if a price is missing.

    Raises:
        UnknownNameError: a system is not known.
        OptionError: the split has no queries.
        InputError: the benchmark or the recording cannot be read.
    """
    contest = line_up(benchmark, systems, qrels)
    queries, _ = select_queries(contest.groups[0].benchmark, split)
    times = len(run_settings(queries, settings))
    lines = []
    for group in contest.groups:
        texts = passages(group.benchmark.corpus)["passage"]
        lines += expected_calls(group.systems, texts, queries, access, BATCH)
        lines += expected_questions(group.systems, group.benchmark, queries, times, access)
    return lines, _together(lines)


def forecast_experiment(
    experiment: Experiment, given: Mapping[str, str], *, access: Access
) -> tuple[list[ExpectedCalls], Estimate]:
    """Forecast the server calls of `run_experiment` that are not recorded yet.

    For a benchmark to be masked, the texts before masking are counted.

    Args:
        experiment: from `read_experiment`.
        given: input -> value.
        access: the recording and the prices.

    Returns:
        as `forecast`.

    Raises:
        OptionError, InputError, UnknownNameError: an input or the recording is invalid.
    """
    steps = Steps(experiment, inputs_of(experiment, given), Path(), silent, lambda line: None)
    lines = [
        line
        for benchmark, systems, split, settings in steps.searched()
        for line in forecast(benchmark, systems, split=split, settings=settings, access=access)[0]
    ]
    return lines, _together(lines)


def _together(lines: Sequence[ExpectedCalls]) -> Estimate:
    estimates = [line.estimate for line in lines]
    money = [estimate.money for estimate in estimates if estimate.money is not None]
    return Estimate(
        inputs=sum(estimate.inputs for estimate in estimates),
        recorded=sum(estimate.recorded for estimate in estimates),
        calls=sum(estimate.calls for estimate in estimates),
        input_tokens=sum(estimate.input_tokens for estimate in estimates),
        output_tokens=sum(estimate.output_tokens for estimate in estimates),
        money=sum(money) if len(money) == len(estimates) else None,
    )
