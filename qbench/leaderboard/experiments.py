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
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

from qbench.benchmark.mask import Masked
from qbench.errors import InputError, OptionError, QbenchError
from qbench.evaluation.buckets import DIMENSIONS
from qbench.evaluation.measures import DEFAULT_MEASURES, parse_measures
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
from qbench.resources import resource
from qbench.store import read_text
from qbench.training.kinds import Kind
from qbench.training.recipes import ContrastiveRecipe

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")

COLUMNS = ("leaderboards", *DIMENSIONS)
"""What a table's columns are: the leaderboards, or the buckets of a dimension."""


def read_experiment(path: str | Path) -> Experiment:
    """The experiment that a file describes; names, references and options are checked, inputs when it runs.

    Args:
        path: a file, or the name of an experiment that comes with qbench ("main").

    Raises:
        InputError: the file cannot be read, is no TOML, or something in it makes no sense: the error names the part.
    """
    path = Path(path)
    if _NAME.fullmatch(str(path)) and not path.suffix and not path.exists():
        path = _built_in(str(path))
    text = read_text(path, "experiment")
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"this experiment is not TOML: {error}", file=path) from None
    try:
        return _experiment(path.stem, raw)
    except QbenchError as error:
        raise InputError(f"this experiment makes no sense: {error}", file=path) from None


def _built_in(name: str) -> Path:
    folder = resource("benchmarks/experiments")
    known = sorted(path.stem for path in folder.glob("*.toml"))
    if name not in known:
        raise InputError("no such experiment", value=name, remedy=f"Give a file, or one of {', '.join(known)}")
    return folder / f"{name}.toml"


def _experiment(name: str, raw: dict[str, Any]) -> Experiment:
    _only(raw, "the experiment", ("title", "about", "inputs", "mask", "training", "train", "leaderboard", "table"))
    inputs = {key: _input(key, value) for key, value in _mapping(raw.get("inputs", {}), "inputs").items()}
    common = _mapping(raw.get("training", {}), "training")
    if "name" in common:
        raise OptionError("trainings have names of their own", value=common["name"], remedy="Name each [[train]]")
    experiment = Experiment(
        name,
        _text(raw, "title", "the experiment", name),
        _text(raw, "about", "the experiment", ""),
        inputs,
        tuple(_mask(part) for part in _parts(raw, "mask")),
        tuple(_training({**common, **part}) for part in _parts(raw, "train")),
        tuple(_leaderboard(part) for part in _parts(raw, "leaderboard")),
        tuple(_table(part) for part in _parts(raw, "table")),
    )
    _check_names(experiment)
    _check_tables(experiment)
    return experiment


def _input(name: str, raw: Any) -> Input:
    where = f"input {name}"
    part = _mapping(raw, where)
    _only(part, where, ("help", "default"))
    return Input(_text(part, "help", where), _text(part, "default", where) if "default" in part else None)


def _mask(part: dict[str, Any]) -> Mask:
    where = f"mask {part.get('name', '')}".rstrip()
    _only(part, where, ("name", "bench", "what"))
    return Mask(
        _text(part, "name", where),
        _text(part, "bench", where),
        _choice(part, "what", where, " ".join(get_args(Masked))),
    )


def _training(part: dict[str, Any]) -> Training:
    where = f"train {part.get('name', '')}".rstrip()
    options = {one.name for one in fields(ContrastiveRecipe)}
    own = ("name", "kind", "bench", "model", "joint", "teacher")
    _only(part, where, (*own, *sorted(options)))
    training = Training(
        _text(part, "name", where),
        _choice(part, "kind", where, " ".join(get_args(Kind))),
        _text(part, "bench", where),
        _text(part, "model", where),
        _text(part, "joint", where) if "joint" in part else None,
        _text(part, "teacher", where) if "teacher" in part else None,
        {key: value for key, value in part.items() if key in options},
    )
    told = {key: value for key, value in training.recipe.items() if not REFERENCE.search(str(value))}
    recipe_of(replace(training, recipe=told), lambda text: text)
    return training


def _leaderboard(part: dict[str, Any]) -> LeaderboardPlan:
    where = f"leaderboard {part.get('name', '')}".rstrip()
    _only(part, where, [one.name for one in fields(LeaderboardPlan)])
    systems = _mapping(part.get("systems", {}), f"{where}, systems")
    if not systems:
        raise OptionError(f"{where} has no systems", remedy='For example: systems = { BM25 = "BM25" }')
    if not all(isinstance(value, str) for value in systems.values()):
        raise OptionError(f"a system of {where} is no text", value=systems)
    depth = part.get("depth", 1000)
    if not isinstance(depth, int) or depth < 1:
        raise OptionError(f"depth of {where} is a whole number from 1", value=depth)
    return LeaderboardPlan(
        _text(part, "name", where),
        _text(part, "bench", where),
        systems,
        _choice(part, "conditions", where, "given parsed", "parsed"),
        _choice(part, "split", where, "train dev test", "test"),
        tuple(parse_measures(_texts(part, "measures", where, DEFAULT_MEASURES))),
        depth,
        _text(part, "qrels", where) if "qrels" in part else None,
    )


def _table(part: dict[str, Any]) -> Table:
    where = f"table {part.get('title', '')}".rstrip()
    _only(part, where, [one.name for one in fields(Table)])
    measures = _texts(part, "measures", where, ())
    return Table(
        _text(part, "title", where),
        _choice(part, "columns", where, " ".join(COLUMNS), "leaderboards"),
        tuple(parse_measures(measures)) if measures else (),
        _texts(part, "leaderboards", where, ()),
        _names(part.get("against", {}), f"{where}, against"),
        _text(part, "change_from", where) if "change_from" in part else None,
    )


def _check_names(experiment: Experiment) -> None:
    """Every name once, and only names of what was made before."""
    for names in (
        [*experiment.inputs, *experiment.made],
        [leaderboard.name for leaderboard in experiment.leaderboards],
    ):
        for name in names:
            if name in ("experiment.md", "experiment.json"):
                raise OptionError("this is the name of a page", value=name)
            if not _NAME.fullmatch(name):
                raise OptionError("a name is of letters, digits, and . _ - after the first", value=name)
            if names.count(name) > 1:
                raise OptionError("two parts of one name", value=name)
    known = list(experiment.inputs)
    for name, one in experiment.inputs.items():
        _check_references(f"input {name}", one.default or "", known[: known.index(name)])
    for mask in experiment.masks:
        _check_references(f"mask {mask.name}", mask.bench, known)
    known += [mask.name for mask in experiment.masks]
    for training in experiment.trainings:
        texts = (training.bench, training.model, training.joint or "", training.teacher or "")
        options = tuple(value for value in training.recipe.values() if isinstance(value, str))
        for text in (*texts, *options):
            _check_references(f"train {training.name}", text, known)
        known.append(training.name)
    for leaderboard in experiment.leaderboards:
        for text in (leaderboard.bench, *leaderboard.systems.values()):
            _check_references(f"leaderboard {leaderboard.name}", text, known)
        _check_systems(experiment, leaderboard)


def _check_systems(experiment: Experiment, leaderboard: LeaderboardPlan) -> None:
    """Parse the systems in which nothing stands that only the inputs can tell: it may be a number."""
    values = {name: name for name in experiment.made}
    told = {name: text for name, text in leaderboard.systems.items() if set(REFERENCE.findall(text)) <= set(values)}
    for name in leaderboard.systems:
        if name.endswith((" [given]", " [parsed]")):
            raise OptionError(
                f"a row of leaderboard {leaderboard.name} is named like the source of conditions", value=name
            )
    systems_of(replace(leaderboard, systems=told), lambda text: filled(text, values))


def _check_references(where: str, text: str, known: Sequence[str]) -> None:
    for name in REFERENCE.findall(text):
        if name not in known:
            raise OptionError(
                f"{where} names something that is not made before it",
                value=f"{{{name}}}",
                remedy=f"Known there: {', '.join(known) or 'nothing'}",
            )


def _check_tables(experiment: Experiment) -> None:
    if not experiment.leaderboards:
        raise OptionError("there is no leaderboard", remedy="Add a [[leaderboard]] with name, bench and systems")
    leaderboards = {leaderboard.name: leaderboard for leaderboard in experiment.leaderboards}
    for table in experiment.tables:
        shown = table.leaderboards or tuple(leaderboards)
        for name in (*shown, *((table.change_from,) if table.change_from else ())):
            if name not in leaderboards:
                raise OptionError(
                    f"table {table.title} shows no such leaderboard", value=name, remedy=f"Use {list(leaderboards)}"
                )
        if table.change_from and table.change_from not in shown:
            raise OptionError(
                f"table {table.title} does not show the leaderboard it starts from", value=table.change_from
            )
        for measure in table.measures:
            lost = next((name for name in shown if measure not in leaderboards[name].measures), None)
            if lost is not None:
                raise OptionError(f"leaderboard {lost} does not have a measure of table {table.title}", value=measure)
        if table.columns != "leaderboards" and len(table.measures) > 1:
            raise OptionError(f"table {table.title} shows buckets: of one measure", value=table.measures)
        if table.columns != "leaderboards" and (table.change_from or table.against):
            raise OptionError(f"table {table.title} shows buckets: they are not tested", value=table.columns)
        rows = {row for name in shown for row in leaderboards[name].systems}
        for row in (*table.against, *table.against.values()):
            if row not in rows:
                raise OptionError(f"table {table.title} has no such row", value=row, remedy=f"Use {sorted(rows)}")


def _parts(raw: dict[str, Any], name: str) -> list[dict[str, Any]]:
    parts = raw.get(name, [])
    if not isinstance(parts, list):
        raise OptionError(f"{name} is a list", remedy=f"Write [[{name}]] with two brackets")
    return [_mapping(part, name) for part in parts]


def _mapping(raw: Any, where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise OptionError(f"{where} is a table of names and values", value=raw)
    return raw


def _names(raw: Any, where: str) -> dict[str, str]:
    found = _mapping(raw, where)
    if not all(isinstance(value, str) for value in found.values()):
        raise OptionError(f"{where} names a row for each row", value=raw)
    return found


def _only(part: Mapping[str, Any], where: str, names: Sequence[str]) -> None:
    for name in part:
        if name not in names:
            raise OptionError(f"{where} has no such entry", value=name, remedy=f"Use {', '.join(names)}")


def _text(part: Mapping[str, Any], name: str, where: str, default: str | None = None) -> str:
    value = part.get(name, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise OptionError(f"{where} needs a text: {name}", value=value)
    return value


def _texts(part: Mapping[str, Any], name: str, where: str, default: Sequence[str]) -> tuple[str, ...]:
    value = part.get(name, default)
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise OptionError(f"{name} of {where} is a list of texts", value=value)
    return tuple(value)


def _choice(part: Mapping[str, Any], name: str, where: str, choices: str, default: str | None = None) -> Any:
    value = _text(part, name, where, default)
    if value not in choices.split():
        raise OptionError(f"{name} of {where} is none of them", value=value, remedy=f"Use {choices}")
    return value
