"""Choose a system's numeric parameters on validation queries: *WolfPQ* 7.2.1, where alpha is chosen on the dev set.

    tune("my-benchmark", "BM25 + TCT-ColBERT(model=my-tct)-PQ-I", {"alpha": [0.0, 0.1, 0.2]}, output="tuned")

Every combination of values is a system of its own, and all of them run together, so that documents and queries are
encoded once. Test queries are refused: a parameter that was chosen on them would make their figure too high.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from qbench.benchmark.benchmark import Benchmark
from qbench.benchmark.disk import open_benchmark
from qbench.errors import OptionError
from qbench.evaluation.measures import parse_measures, score_run
from qbench.leaderboard.run import output_folder, select_queries
from qbench.locks import locked
from qbench.progress import Progress, silent
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.execute import execute
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions, Setting
from qbench.retrieval.registry import RERANKED, Parameter, Role, Value, chosen, working
from qbench.retrieval.systems import Component, Stage, System
from qbench.store import write_json, write_text

SYSTEM = "system.txt"
"""The chosen system's name, one line."""

TRIED = "tuning.json"
"""All that was tried, with figures."""

ALPHAS: tuple[float, ...] = tuple(step / 10 for step in range(11))
"""Weights of the first stage that are tried where nothing else is said."""

LIMIT = 10_000
"""Combinations of values; more are a slip of the pen."""


@dataclass(frozen=True)
class Tuned:
    """What was tried, and which was best.

    Attributes:
        system: the name of the best; of equally good ones the first tried.
        tried: name -> mean of the measure over the queries, in the order of trying.
        measure: the measure.
        queries: number of queries.
    """

    system: str
    tried: Mapping[str, float]
    measure: str
    queries: int


def tune(
    benchmark: str | Path | Benchmark,
    system: str | System,
    values: Mapping[str, Sequence[Value]] | None = None,
    *,
    output: str | Path,
    split: Literal["train", "dev"] = "dev",
    measure: str = "nDCG@10",
    qrels: str | None = None,
    setting: Setting = "parsed",
    depth: int = 1000,
    progress: Progress = silent,
) -> Tuned:
    """The best of a system's variants on the queries of a split; its name is written to `output`/system.txt.

    Args:
        benchmark: a folder, or a benchmark in memory.
        system: the system to start from.
        values: parameter -> the values to try, as in `varied`; by default the alpha of its interpolation, 0 to 1.
        output: the folder for the choice, and for runs and indexes, which a leaderboard can share.
        split: whose queries decide.
        measure: its mean decides.
        qrels: which judgments of a BEIR folder with several.
        setting: where a system that needs conditions takes them from.
        depth: documents kept per query.
        progress: reports progress.

    Raises:
        OptionError: the split is test, or a parameter or value does not fit the system.
    """
    if split not in ("train", "dev"):
        remedy = "Use dev; figures on test queries are for systems that were chosen without them"
        raise OptionError("parameters are not chosen on this split", value=split, remedy=remedy)
    start = parse_system(system) if isinstance(system, str) else system
    (name,) = parse_measures([measure])
    systems = list(varied(start, _alphas(start) if values is None else values))
    opened = benchmark if isinstance(benchmark, Benchmark) else open_benchmark(Path(benchmark), qrels=qrels)
    query_ids = [query.query_id for query in select_queries(opened, split)[0]]
    folder = output_folder(output)
    with locked(folder):
        options = ExecuteOptions(split=split, settings=(setting,), depth=depth, progress=progress)
        means: dict[str, float] = {}
        judged = opened.judged(split)
        for result in execute(opened, systems, folder, options):
            scores = score_run(result.run, judged, [name], query_ids)
            means[result.system] = float(scores["value"].to_numpy().mean())
        best = max(means, key=lambda tried: means[tried])  # the first of equal ones
        tuned = Tuned(best, means, name, len(query_ids))
        write_text(folder / SYSTEM, best + "\n")
        about = {"benchmark": opened.name, "digest": opened.digest, "split": split, "queries": len(query_ids)}
        shown = {name: parse_system(name).shown() for name in means}
        tried = [{"system": shown[each], "mean": mean} for each, mean in means.items()]
        write_json(folder / TRIED, {"system": shown[best], "measure": name, **about, "tried": tried})
    return tuned


def varied(system: System, values: Mapping[str, Sequence[Value]]) -> Iterator[System]:
    """A system with every combination of values of some of its numeric parameters; equal systems come once.

    Where a value leaves another parameter nothing to change, as alpha=0 does with phi, that one is left out.

    Args:
        system: the system to start from.
        values: a parameter's name, `alpha`, or `I.alpha` with the component's, where several components have one of
            that name -> its values.

    Raises:
        OptionError: no component, or more than one, has such a parameter; it is no number; or a value is not allowed.
    """
    if not values or not all(values.values()):
        raise OptionError("nothing is to be tried", remedy="Name a parameter and its values, such as alpha=0,0.1,0.2")
    if math.prod(map(len, values.values())) > LIMIT:
        raise OptionError(f"these are more than {LIMIT:,} combinations", remedy="Try fewer values")
    slots = [_slot(system, name) for name in values]
    seen = set()
    for combination in itertools.product(*values.values()):
        changed = system
        for (stage, part, parameter), value in zip(slots, combination, strict=True):
            stages = list(changed.stages)
            beside = {p.name for n, of, p in slots if (n, of) == (stage, part)}
            stages[stage] = _with(stages[stage], part, parameter, parameter.checked(value), beside)
            changed = System(tuple(stages))
        if changed not in seen:
            seen.add(changed)
            yield changed


_Part = Literal["model", "quantity", "compression", "fusion", "k"]
_Slot = tuple[int, _Part, Parameter]


def _parameters(system: System) -> Iterator[tuple[str, _Slot]]:
    """Every numeric parameter of a system, with its component's name."""
    for number, (stage, role) in enumerate(system.roles):
        own: tuple[tuple[_Part, Component | None, tuple[Parameter, ...]], ...] = (
            ("model", stage.model, tuple(p for p in stage.entry().parameters_as(role) if p.name != RERANKED.name)),
            ("quantity", stage.quantity, _quantity_parameters(stage, role)),
            ("compression", stage.compression, _tail_parameters(stage.compression, "compression")),
            ("fusion", stage.fusion, _tail_parameters(stage.fusion, "fusion")),
            ("k", stage.model, (RERANKED,) if role == "reranker" or stage.takes_best else ()),
        )
        for part, component, parameters in own:
            for parameter in parameters:
                if component is not None and parameter.kind in ("number", "integer"):
                    yield component.name, (number, part, parameter)


def _quantity_parameters(stage: Stage, role: Role) -> tuple[Parameter, ...]:
    if stage.quantity is None:
        return ()
    return REGISTRY.find(stage.quantity.name, "quantity score").parameters_on(stage.entry(), role)


def _tail_parameters(component: Component | None, role: Literal["compression", "fusion"]) -> tuple[Parameter, ...]:
    return () if component is None else REGISTRY.find(component.name, role).parameters


def _slot(system: System, written: str) -> _Slot:
    owner, _, name = written.rpartition(".")
    known = list(_parameters(system))
    found = [(part, slot) for part, slot in known if slot[2].name == name and owner in ("", part)]
    if len(found) == 1:
        return found[0][1]
    if not found:
        remedy = f"It has {', '.join(sorted({f'{part}.{slot[2].name}' for part, slot in known})) or 'none'}"
        raise OptionError(f"{system} has no such numeric parameter", value=written, remedy=remedy)
    remedy = f"Write {' or '.join(f'{part}.{name}' for part, _ in found)}, and each component once in the system"
    raise OptionError(f"{len(found)} components of {system} have this parameter", value=written, remedy=remedy)


def _with(stage: Stage, part: _Part, parameter: Parameter, value: Value, tried: Set[str]) -> Stage:
    """The stage with another value of one parameter; `tried` are the ones of the same part whose values vary."""
    if part == "k":
        return replace(stage, k=int(value))
    component: Component = getattr(stage, part)
    if part == "model":
        entry = stage.entry()
        allowed = (*entry.parameters, *entry.search_parameters)
    else:
        of_score = _quantity_parameters(stage, "first stage")
        allowed = of_score if part == "quantity" else _tail_parameters(component, part)
    # What this value makes idle is left out; what is idle whatever is tried is refused.
    kept = () if parameter.needs is not None and parameter.needs[0] in tried else (parameter.name,)
    given = working(allowed, {**dict(component.params), parameter.name: value}, kept)
    params = chosen(allowed, given, component.name)
    changed = Component(component.name, params)
    if part == "model":
        return replace(stage, model=changed)
    if part == "quantity":
        return replace(stage, quantity=changed)
    return replace(stage, compression=changed) if part == "compression" else replace(stage, fusion=changed)


def _alphas(system: System) -> dict[str, Sequence[Value]]:
    if not any(stage.fusion is not None and stage.fusion.name == "I" for stage in system.stages):
        remedy = "Name a parameter and its values, such as k1=0.9,1.2,1.5, or add an interpolation: ...-I"
        raise OptionError(f"{system} has no interpolation whose alpha could be chosen", remedy=remedy)
    return {"I.alpha": ALPHAS}


def parsed_values(text: str) -> tuple[str, list[Value]]:
    """A parameter and its values, as written on the command line: a list, or first:last:step with both ends.

    Raises:
        OptionError: the text is neither.

    >>> parsed_values("alpha=0:0.3:0.1"), parsed_values("PQ.M=8,16")
    (('alpha', [0.0, 0.1, 0.2, 0.3]), ('PQ.M', [8, 16]))
    """
    name, _, written = (word.strip() for word in text.partition("="))
    try:
        if written.count(":") != 2:
            values = [_number(word) for word in written.split(",")]
        else:
            first, last, step = map(float, written.split(":"))
            count = math.floor((last - first) / step + 1e-9) + 1 if step > 0 else 0
            values = [round(first + number * step, 12) for number in range(min(count, LIMIT + 1))]
    except (ValueError, OverflowError):
        values = []
    if not name or not values:
        remedy = "Write alpha=0,0.1,0.2 or alpha=0:1:0.1"
        raise OptionError("not a parameter with values to try", value=text, remedy=remedy)
    return name, values


def _number(word: str) -> Value:
    return int(word) if word.strip().lstrip("+-").isdigit() else float(word)
