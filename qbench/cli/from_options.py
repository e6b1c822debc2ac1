"""Commands made from functions whose parameters may be options dataclasses.

A parameter that is annotated with such a class stands for its fields, an option of the command line each. A field's
`option(...)` gives the type, default, limits, choices and help; fields without help are for Python alone. What only the
command line needs stands beside them:

- `flag`: the option's name, where it differs from the field's;
- `metavar`: what stands for the value in the help;
- `negatable`: whether a switch that is off by default has a `--no-` form too (one that is on by default always has);
- `hidden`: whether the help leaves the option out;
- `comma`: whether several values are written in one word, separated by commas, and not with the option repeated;
- `recorded`: False where the recorded command leaves the option out; a word that is recorded instead of the value, or a
  function from the value to that word.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, is_dataclass
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from qbench.cli.recorded import Word, command_line
from qbench.errors import QbenchError
from qbench.options import Declared, LimitError, declared

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Function = TypeVar("Function", bound=Callable[..., Any])

CommandLine = NewType("CommandLine", str)
"""A parameter of this type gets the command as it was typed: what cards and manifests record."""

UNRECORDED = "left out of the recorded command"
"""In the annotation of a function's own option: it does not change the result."""
BY_NAME = "recorded by its name"
"""In the annotation of a path that is an argument: its last part is recorded, not the word of the help."""


def command(app: typer.Typer, verb: str, without: Collection[str] = ()) -> Callable[[Function], Function]:
    """Register a function as a command of `app`.

    Args:
        app: of the verb.
        verb: what follows `qbench` on the command line; its last word names the command within `app`.
        without: fields of its options classes that this command has no options for.
    """

    def register(function: Function) -> Function:
        app.command(verb.split()[-1])(from_options(function, verb, without))
        return function

    return register


def changed(options: DataclassInstance, *ignored: str) -> list[str]:
    """The flags of the options that differ from their defaults, but for those of `ignored` fields."""
    return [
        _flag(spec)
        for spec in declared(type(options))
        if spec.help and spec.name not in ignored and getattr(options, spec.name) != spec.default
    ]


def from_options(function: Callable[..., Any], verb: str, without: Collection[str] = ()) -> Callable[..., Any]:
    """The function that typer calls: `function` with every options class spread out into its fields.

    Raises:
        TypeError: an option has a type that no command line can give.
    """
    hints = get_type_hints(function, include_extras=True)
    slots: dict[str, _Slot] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        if isinstance(hint, type) and is_dataclass(hint):
            names = {parameter.name for slot in slots.values() for parameter in slot.parameters}
            slots[name] = _group(name, hint, names, without)
        elif hint is not CommandLine:
            slots[name] = _own(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hint))
    words = [word for slot in slots.values() for word in slot.words]
    lines = [name for name, hint in hints.items() if hint is CommandLine]

    def run(**values: Any) -> Any:
        try:
            given = {name: slot.fill(values) for name, slot in slots.items()}
            return function(**given, **dict.fromkeys(lines, command_line(verb, words, given)))
        except QbenchError as error:
            _name_flags(error, {option: flag for slot in slots.values() for option, flag in slot.flags.items()})
            raise

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {}
    parameters = [parameter for slot in slots.values() for parameter in slot.parameters]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


@dataclass(frozen=True)
class _Slot:
    """What a parameter of a function takes from the command line.

    Attributes:
        parameters: as typer sees them.
        words: how they are recorded.
        fill: from the values of all parameters to that of this one.
        flags: of an options class' fields, by class and field.
    """

    parameters: Sequence[inspect.Parameter]
    words: Sequence[Word]
    fill: Callable[[Mapping[str, Any]], Any]
    flags: Mapping[tuple[type, str], str] = field(default_factory=dict)


def _own(parameter: inspect.Parameter) -> _Slot:
    """A parameter that typer understands as it is; one without typer's declaration is not recorded."""
    name, default = parameter.name, parameter.default
    kind, *extras = get_args(parameter.annotation) if get_origin(parameter.annotation) is Annotated else [None]
    info = next((extra for extra in extras if isinstance(extra, ArgumentInfo | OptionInfo)), None)
    words = []
    if info is not None and UNRECORDED not in extras:
        is_argument, needed = isinstance(info, ArgumentInfo), default is inspect.Parameter.empty
        names_folder = kind in (Path, list[Path]) and needed and BY_NAME not in extras
        words = [
            Word(
                slot=name,
                flag="" if is_argument else _own_flag(name, info),
                default=None if needed else default,
                recorded=(info.metavar or name.upper()) if names_folder else True,
            )
        ]
    return _Slot([parameter], words, lambda values: values[name])


def _own_flag(name: str, info: ParameterInfo) -> str:
    declared_flags = [info.default, *(info.param_decls or ())]
    flags = [flag for flag in declared_flags if isinstance(flag, str)]
    return min(flags, key=len).partition("/")[0] if flags else f"--{name.replace('_', '-')}"


def _group(slot: str, options: type[Any], taken: Collection[str], without: Collection[str]) -> _Slot:
    """The fields of an options class; those whose name is taken get that of the class' parameter before it."""
    fields = [spec for spec in declared(options) if spec.help and spec.name not in without]
    members = {f"{slot}_{spec.name}" if spec.name in taken else spec.name: spec for spec in fields}

    def fill(values: Mapping[str, Any]) -> Any:
        given = {spec.name: (spec, values[name]) for name, spec in members.items()}
        return options(**{name: _value(*pair) for name, pair in given.items() if pair[1] is not None})

    words = [
        Word(slot, spec.name, _flag(spec), spec.default, spec.extra.get("recorded", True), comma="comma" in spec.extra)
        for spec in members.values()
    ]
    flags = {(options, spec.name): _flag(spec) for spec in fields}
    return _Slot([_parameter(name, spec) for name, spec in members.items()], words, fill, flags)


def _name_flags(error: QbenchError, flags: Mapping[tuple[type, str], str]) -> None:
    """Have an error speak of the flags that a user types, not of the fields that Python callers know.

    A word with an underscore is a field's name wherever it stands; one without is an English word, too.
    """
    if isinstance(error, LimitError) and error.owner is not None and (error.owner, error.name) in flags:
        error.message = flags[error.owner, error.name] + error.message.removeprefix(error.name)
    by_name = {name: flag for (_, name), flag in flags.items() if "_" in name}

    def flagged(text: str) -> str:
        return re.sub(r"(?<![\w./-])\w+(?![\w/-]|\.\w)", lambda match: by_name.get(match[0], match[0]), text)

    error.message, error.remedy = flagged(error.message), error.remedy and flagged(error.remedy)


def _value(spec: Declared, value: Any) -> Any:
    if "comma" in spec.extra:
        return tuple(item.strip() for item in value.split(",") if item.strip())
    return tuple(value) if isinstance(value, list) else value


def _flag(spec: Declared) -> str:
    flag: str = spec.extra.get("flag", spec.name.replace("_", "-"))
    return f"--{flag.removeprefix('--')}"


def _parameter(name: str, spec: Declared) -> inspect.Parameter:
    kind, several = _kind(spec)
    default, flags = spec.default, _flag(spec)
    if kind is bool and (default is True or spec.extra.get("negatable")):
        flags = f"{flags}/--no-{flags.removeprefix('--')}"
    if several and "comma" in spec.extra:
        kind, default = str, ",".join(default)
    elif several:
        # Choices of repeated options are checked by the class.
        kind, default = list[str if get_origin(kind) is Literal else kind], None  # type: ignore[misc]
    info: Any = typer.Option(
        ... if default is MISSING else default,
        flags,
        help=spec.help,
        metavar=spec.extra.get("metavar"),
        hidden=spec.extra.get("hidden", False),
        min=spec.low if spec.low > -math.inf else None,
        max=spec.high if spec.high < math.inf else None,
    )
    annotation = kind | None if default is None else kind
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=annotation)


def _kind(spec: Declared) -> tuple[Any, bool]:
    """The type of a value, without None, and whether there are several.

    Raises:
        TypeError: the command line cannot give such a value.
    """
    kind: Any = spec.type
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    several = get_origin(kind) is tuple and get_args(kind)[1:] == (...,)
    if several:
        kind = get_args(kind)[0]
    if kind not in (str, int, float, bool, Path) and get_origin(kind) is not Literal:
        raise TypeError(f"{spec.name}: the command line has no options of the type {spec.type}")
    return kind, several
