"""Experiments as TOML files.

Entries name each other in braces: `{bench}` is the input of that name, `{colbert-ft}` the checkpoint of that training,
`{masked}` the benchmark of that masking.

    [inputs]            bench = { help = "a benchmark" }    model = { help = "an encoder", default = "..." }
    [[mask]]            name, bench, what
    [training]          what holds for every training that does not say otherwise
    [[train]]           name, kind, bench, model [, joint, teacher, and any option of `ContrastiveRecipe`]
    [[leaderboard]]           name, bench, systems [, conditions, split, measures, depth, qrels]
    [[table]]           title [, columns, measures, leaderboards, against, change_from]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, make_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from qbench.errors import InputError, OptionError
from qbench.evaluation.buckets import DIMENSIONS
from qbench.evaluation.measures import parse_measures
from qbench.leaderboard.experiment_types import (
    REFERENCE,
    Experiment,
    Input,
    LeaderboardPlan,
    Mask,
    Table,
    Training,
    filled,
    recipe_of,
    systems_of,
)
from qbench.options import declared, option
from qbench.resources import resource
from qbench.toml_files import Entry, TomlFile
from qbench.training.recipes import ContrastiveRecipe

Plan = TypeVar("Plan", LeaderboardPlan, Table)

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")

COLUMNS = ("leaderboards", *DIMENSIONS)
"""What a table's columns are: the leaderboards, or the buckets of a dimension."""


@dataclass(frozen=True)
class _File:
    """An experiment as it stands in its file."""

    title: str = ""
    about: str = ""
    inputs: Mapping[str, Input] = option({}, help="name -> what it is")
    mask: tuple[Mask, ...] = ()
    training: Mapping[str, Any] = option({}, help="options of every training")
    train: tuple[Mapping[str, Any], ...] = ()
    leaderboard: tuple[LeaderboardPlan, ...] = ()
    table: tuple[Table, ...] = ()


_OWN = [
    (declaration.name, declaration.type, declaration.default)
    for declaration in declared(Training)
    if declaration.name != "recipe"
]
_RECIPE = [declaration.name for declaration in fields(ContrastiveRecipe)]
_TRAIN = make_dataclass(
    "_Train",
    [(name, kind, option(default, help="")) for name, kind, default in _OWN] + [(name, Any, None) for name in _RECIPE],
)
"""A training as it stands in its file: its options beside its name, and names in braces for any of them."""


def read_experiment(path: str | Path) -> Experiment:
    """The experiment that a file describes; names, references and options are checked, inputs when it runs.

    Args:
        path: a file, or the name of an experiment that comes with qbench ("main").

    Raises:
        InputError: the file cannot be read, is no TOML, or an entry is wrong: the error names line and entry.
    """
    path = Path(path)
    if _NAME.fullmatch(str(path)) and not path.suffix and not path.exists():
        path = _built_in(str(path))
    file = TomlFile.open(path, "experiment")
    read = file.read(_File)
    if "name" in read.training:
        message, remedy = "trainings have names of their own", "Name each [[train]]"
        raise file.error("training", "name", message=message, value=read.training["name"], remedy=remedy)
    experiment = Experiment(
        path.stem,
        read.title or path.stem,
        read.about,
        read.inputs,
        read.mask,
        tuple(_training(file, number, {**read.training, **entry}) for number, entry in enumerate(read.train)),
        tuple(_with_measures(file, ("leaderboard", number), plan) for number, plan in enumerate(read.leaderboard)),
        tuple(_with_measures(file, ("table", number), table) for number, table in enumerate(read.table)),
    )
    _check_names(file, experiment)
    _check_references(file, experiment)
    for number, plan in enumerate(experiment.leaderboards):
        with _errors_at(file, "leaderboard", number, "systems"):
            _check_systems(experiment, plan)
    if not experiment.leaderboards:
        remedy = "Add a [[leaderboard]] with name, bench and systems"
        raise InputError("there is no leaderboard", file=path, remedy=remedy)
    for number, table in enumerate(experiment.tables):
        with _errors_at(file, "table", number):
            _check_table(table, {plan.name: plan for plan in experiment.leaderboards})
    return experiment


def _built_in(name: str) -> Path:
    folder = resource("benchmarks/experiments")
    names = sorted(path.stem for path in folder.glob("*.toml"))
    if name not in names:
        raise InputError("no such experiment", value=name, remedy=f"Give a file, or one of {', '.join(names)}")
    return folder / f"{name}.toml"


@contextmanager
def _errors_at(file: TomlFile, *entry: str | int) -> Iterator[None]:
    """Give errors about options the file, the line and the name of an entry."""
    try:
        yield
    except OptionError as fault:
        error = file.error(*entry, message=fault.message, remedy=fault.remedy)
        error.value = fault.value
        raise error from None


def _training(file: TomlFile, number: int, entry: Mapping[str, Any]) -> Training:
    own = file.value(_TRAIN, entry, ("train", number))
    recipe = {key: value for key, value in entry.items() if key in _RECIPE}
    training = Training(**{name: getattr(own, name) for name, *_ in _OWN}, recipe=recipe)
    plain = {key: value for key, value in recipe.items() if not REFERENCE.search(str(value))}
    with _errors_at(file, "train", number):
        recipe_of(replace(training, recipe=plain), lambda text: text)
    return training


def _with_measures(file: TomlFile, entry: tuple[str, int], plan: Plan) -> Plan:
    """The plan with its measures by their canonical names; a table may have none."""
    with _errors_at(file, *entry, "measures"):
        named = plan.measures or isinstance(plan, LeaderboardPlan)
        return replace(plan, measures=parse_measures(plan.measures)) if named else plan


def _check_names(file: TomlFile, experiment: Experiment) -> None:
    """Refuse names used twice, or unfit for folders."""
    artefacts: list[tuple[str, Entry]] = [
        *[(name, ("inputs", name)) for name in experiment.inputs],
        *[(mask.name, ("mask", number)) for number, mask in enumerate(experiment.masks)],
        *[(training.name, ("train", number)) for number, training in enumerate(experiment.trainings)],
    ]
    plans: list[tuple[str, Entry]] = [
        (plan.name, ("leaderboard", number)) for number, plan in enumerate(experiment.leaderboards)
    ]
    for group in (artefacts, plans):
        seen = set()
        for name, entry in group:
            if name in ("experiment.md", "experiment.json"):
                raise file.error(*entry, message="this is the name of a page", value=name)
            if not _NAME.fullmatch(name):
                message = "a name has letters, digits, and . _ - after the first character"
                raise file.error(*entry, message=message, value=name)
            if name in seen:
                raise file.error(*entry, message="this name is used twice", value=name)
            seen.add(name)


def _check_references(file: TomlFile, experiment: Experiment) -> None:
    """Refuse names in braces that nothing before them has."""
    inputs = [(name, ("inputs", name), [entry.default or ""]) for name, entry in experiment.inputs.items()]
    defined: list[str] = []
    for name, entry, texts in (*inputs, *_uses(experiment)):
        for reference in (name for text in texts for name in REFERENCE.findall(text)):
            if reference not in defined:
                message, remedy = "nothing before it has this name", f"Known here: {', '.join(defined) or 'nothing'}"
                raise file.error(*entry, message=message, value=f"{{{reference}}}", remedy=remedy)
        if entry[0] != "leaderboard":
            defined.append(name)


def _uses(experiment: Experiment) -> Iterator[tuple[str, Entry, list[str]]]:
    """What is made, in order: its name, its entry, and the texts that may name something made before it."""
    for number, mask in enumerate(experiment.masks):
        yield mask.name, ("mask", number), [mask.bench]
    for number, training in enumerate(experiment.trainings):
        texts = [training.bench, training.model, training.joint or "", training.teacher or ""]
        options = [value for value in training.recipe.values() if isinstance(value, str)]
        yield training.name, ("train", number), texts + options
    for number, plan in enumerate(experiment.leaderboards):
        yield plan.name, ("leaderboard", number), [plan.bench, *plan.systems.values()]


def _check_systems(experiment: Experiment, leaderboard: LeaderboardPlan) -> None:
    """Parse the systems in which nothing stands that only the inputs can tell: it may be a number."""
    values = {name: name for name in experiment.produced}
    whole = {name: text for name, text in leaderboard.systems.items() if set(REFERENCE.findall(text)) <= set(values)}
    for name in leaderboard.systems:
        if name.endswith((" [given]", " [parsed]")):
            raise OptionError("a row is named like the source of conditions", value=name)
    systems_of(replace(leaderboard, systems=whole), lambda text: filled(text, values))


def _check_table(table: Table, leaderboards: Mapping[str, LeaderboardPlan]) -> None:
    if table.columns not in COLUMNS:
        raise OptionError("no such columns", value=table.columns, remedy=f"Use {', '.join(COLUMNS)}")
    shown = table.leaderboards or tuple(leaderboards)
    for name in (*shown, *((table.change_from,) if table.change_from else ())):
        if name not in leaderboards:
            raise OptionError("no such leaderboard", value=name, remedy=f"Use {list(leaderboards)}")
    if table.change_from and table.change_from not in shown:
        raise OptionError("the leaderboard it starts from is not shown", value=table.change_from)
    for measure in table.measures:
        lost = next((name for name in shown if measure not in leaderboards[name].measures), None)
        if lost is not None:
            raise OptionError(f"leaderboard {lost} does not have this measure", value=measure)
    if table.columns != "leaderboards" and len(table.measures) > 1:
        raise OptionError("buckets are shown for one measure", value=table.measures)
    if table.columns != "leaderboards" and (table.change_from or table.against):
        raise OptionError("buckets are shown, which are not tested", value=table.columns)
    rows = {row for name in shown for row in leaderboards[name].systems}
    for row in (*table.against, *table.against.values()):
        if row not in rows:
            raise OptionError("no such row", value=row, remedy=f"Use {sorted(rows)}")
