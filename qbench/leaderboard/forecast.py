"""Forecast of the server calls of a leaderboard and their cost, without any call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.types import Split
from qbench.leaderboard.experiment_run import inputs_of
from qbench.leaderboard.experiment_steps import Steps
from qbench.leaderboard.experiment_types import Experiment
from qbench.leaderboard.run import DEPTH, run_settings, select_queries
from qbench.leaderboard.views import line_up
from qbench.llm.client import Access, Estimate
from qbench.mining.test_set import QuantityTestSet
from qbench.progress import silent
from qbench.retrieval.api import ExpectedCalls, expected_calls
from qbench.retrieval.document_quantities import DocumentQuantities
from qbench.retrieval.execute import BATCH
from qbench.retrieval.expected_questions import expected_questions
from qbench.retrieval.jobs import ExecuteOptions, Setting
from qbench.retrieval.passages import passages
from qbench.retrieval.systems import System


def forecast(
    benchmark: str | Path | Benchmark | QuantityTestSet,
    systems: Sequence[str | System] | None = None,
    *,
    split: Split = "test",
    qrels: str | None = None,
    settings: Sequence[Setting] | None = None,
    depth: int = DEPTH,
    document_quantities: DocumentQuantities = "auto",
    work: str | Path,
    access: Access,
) -> tuple[list[ExpectedCalls], Estimate]:
    """Forecast the server calls of `run_leaderboard` that are not recorded yet.

    Args:
        benchmark, systems, split, qrels, settings, depth, document_quantities, work: as in `run_leaderboard`. Finished
            runs say what language models would be asked.
        access: the recording, by default that in `work`, and the prices.

    Returns:
        the calls of each server, and their total; its cost is None if a price is missing.

    Raises:
        UnknownNameError: a system is not known.
        OptionError: the split has no queries.
        InputError: the benchmark or the recording cannot be read.
    """
    contest = line_up(benchmark, systems, qrels)
    answered, _ = select_queries(contest.groups[0].benchmark, split)
    options = ExecuteOptions(
        split=split,
        settings=run_settings(answered, settings),
        depth=depth,
        document_quantities=document_quantities,
        access=access.recording_in(Path(work)),
    )
    lines = []
    for group in contest.groups:
        texts = passages(group.benchmark.corpus)["passage"]
        # Queries without relevant documents are run, too.
        queries = group.benchmark.queries_of(split)
        lines += expected_calls(group.systems, texts, queries, options.access, BATCH)
        lines += expected_questions(group.systems, group.benchmark, Path(work), options)
    return lines, _together(lines)


def forecast_experiment(
    experiment: Experiment, given: Mapping[str, str], *, work: str | Path, access: Access
) -> tuple[list[ExpectedCalls], Estimate]:
    """Forecast the server calls of `run_experiment` that are not recorded yet.

    For a benchmark to be masked, the texts before masking are counted.

    Args:
        experiment: from `read_experiment`.
        given: input -> value.
        work, access: as in `forecast`.

    Returns:
        as `forecast`.

    Raises:
        OptionError, InputError, UnknownNameError: an input or the recording is invalid.
    """
    steps = Steps(experiment, inputs_of(experiment, given), Path(), silent, lambda line: None)
    lines = [
        line
        for benchmark, systems, split, settings in steps.searched()
        for line in forecast(benchmark, systems, split=split, settings=settings, work=work, access=access)[0]
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
