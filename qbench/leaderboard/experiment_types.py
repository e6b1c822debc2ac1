"""An experiment as a value: what is masked, what is trained, which leaderboards are made, and the tables over them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from qbench.benchmark.mask import Masked
from qbench.errors import OptionError
from qbench.evaluation.measures import DEFAULT_MEASURES
from qbench.options import option
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.systems import System
from qbench.store import digest
from qbench.training.kinds import METHODS, Kind
from qbench.training.recipes import ContrastiveRecipe

REFERENCE = re.compile(r"\{([^{}]*)\}")
_QUOTED = re.compile(r'"([^"{}]*\{[^{}]*\}[^"]*)"|(\{[^{}]*\})')
_BARE = re.compile(r"[\w.+-]+")
_KINDS = {int: "whole number", float: "number", str: "text"}


@dataclass(frozen=True)
class Input:
    """A value provided by the user: a folder, a model's name, a number.

    Attributes:
        help: description of the input.
        default: default value, which may refer to earlier inputs; None if the input is required.
    """

    help: str
    default: str | None = None


@dataclass(frozen=True)
class Mask:
    """A copy of `bench` with `what` masked in its documents."""

    name: str
    bench: str
    what: Masked


@dataclass(frozen=True)
class Training:
    """A checkpoint to train.

    Attributes:
        name: name of its folder.
        kind: "bi-encoder", "colbert", "splade", "aggretriever", "numcolbert", "deepquant" or "codedcolbert".
        bench, model: benchmark with the training queries, and the model to fine-tune.
        joint, teacher: as in `train_retriever`.
        recipe: options of `ContrastiveRecipe`; texts may name inputs.
    """

    name: str
    kind: Kind
    bench: str
    model: str
    joint: str | None = None
    teacher: str | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LeaderboardPlan:
    """A leaderboard to compute.

    Attributes:
        name: name of its folder and header of its column.
        bench: the benchmark to search.
        systems: row name -> system in the grammar.
        conditions: where systems take the queries' conditions from.
        split, measures, depth, qrels: as in `run_leaderboard`.
    """

    name: str
    bench: str
    systems: Mapping[str, str] = option(help="the name of a row -> a system")
    conditions: Literal["given", "parsed"] = "parsed"
    split: Literal["train", "dev", "test"] = "test"
    measures: tuple[str, ...] = DEFAULT_MEASURES
    depth: int = option(1000, help="documents kept per query", low=1)
    qrels: str | None = None


@dataclass(frozen=True)
class Table:
    """A table over leaderboards: a row for each of their rows.

    Attributes:
        title: title of the table.
        columns: "leaderboards", or a dimension of buckets ("comparator", "kind", ...).
        measures: shown in each column; () for the leaderboards' own, with buckets the leaderboards' first.
        leaderboards: leaderboards to include; () for all.
        against: row -> the row of the same leaderboard it is compared with; with `change_from` changes are compared.
        change_from: the leaderboard that the other leaderboards' figures are compared with, row by row.
    """

    title: str
    columns: str = "leaderboards"
    measures: tuple[str, ...] = ()
    leaderboards: tuple[str, ...] = ()
    against: Mapping[str, str] = field(default_factory=dict)
    change_from: str | None = None


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Attributes:
        name: name of its file.
        title, about: title and introduction of its page.
        inputs: name -> input.
        masks, trainings: run in this order, masks first.
        leaderboards, tables: computed in this order.
    """

    name: str
    title: str
    about: str
    inputs: Mapping[str, Input]
    masks: tuple[Mask, ...]
    trainings: tuple[Training, ...]
    leaderboards: tuple[LeaderboardPlan, ...]
    tables: tuple[Table, ...]

    @property
    def produced(self) -> list[str]:
        """Names of the masked benchmarks and checkpoints that the experiment produces."""
        return [mask.name for mask in self.masks] + [training.name for training in self.trainings]

    @property
    def digest(self) -> str:
        """Digest of the whole experiment."""
        return digest(repr(self))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Replace the names in braces of a text by their values."""
    return REFERENCE.sub(lambda match: values[match[1]], text)


def systems_of(leaderboard: LeaderboardPlan, fill: Callable[[str], str]) -> dict[str, System]:
    """The names of a leaderboard's rows -> their systems.

    Args:
        leaderboard: of an experiment.
        fill: replaces names in braces by their values; values are quoted as the grammar requires.

    Raises:
        UnknownNameError, OptionError: as in `parse_system`.
        OptionError: two rows are the same system.
    """
    systems: dict[str, System] = {}
    for name, text in leaderboard.systems.items():
        system = parse_system(_QUOTED.sub(lambda match: _written(fill(match[1] or match[2])), text))
        same = next((row for row, assigned in systems.items() if assigned == system), None)
        if same is not None:
            raise OptionError(f"{same} and {name} of leaderboard {leaderboard.name} are the same system", value=text)
        systems[name] = system
    return systems


def _written(value: str) -> str:
    """A value as written in the grammar: numbers and words plain, anything else quoted."""
    return value if _BARE.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def recipe_of(training: Training, fill: Callable[[str], str]) -> ContrastiveRecipe:
    """The recipe of a training, checked.

    Args:
        training: of an experiment.
        fill: replaces names in braces by their values.

    Raises:
        OptionError: an option has the wrong type or an invalid value.
    """
    standard = ContrastiveRecipe()
    options: dict[str, Any] = {
        name: _option(f"train {training.name}: {name}", fill(value) if isinstance(value, str) else value, usual)
        for name, value in training.recipe.items()
        if (usual := getattr(standard, name)) is not None
    }
    wrong = next((method for method in options.get("methods", ()) if method not in METHODS), None)
    if wrong is not None:
        raise OptionError(f"train {training.name}: no such method", value=wrong, remedy=f"Use {', '.join(METHODS)}")
    recipe = ContrastiveRecipe(**options)
    recipe.check()
    return recipe


def _option(where: str, value: Any, usual: Any) -> Any:
    """Convert a value to the type of its default; lists are sorted, so that order does not change the checkpoint."""
    if isinstance(usual, tuple):
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise OptionError(f"{where} is a list of texts", value=value)
        return tuple(sorted(value))
    kind = type(usual)
    if kind is bool:
        if str(value).lower() not in ("true", "false"):
            raise OptionError(f"{where} is no true or false", value=value)
        return str(value).lower() == "true"
    try:
        converted = kind(value)
    except (TypeError, ValueError):
        raise OptionError(f"{where} is no {_KINDS[kind]}", value=value) from None
    if isinstance(value, bool) or (not isinstance(value, str) and converted != value):
        raise OptionError(f"{where} is no {_KINDS[kind]}", value=value)
    return converted
