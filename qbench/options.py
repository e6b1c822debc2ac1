"""Options declared once: a frozen dataclass whose fields give type, default, limits and help.

The command line is made from such a class, systems' parameters are read by it, and files of options are checked
against it:

>>> @dataclass(frozen=True)
... class Search:
...     engine: Literal["exact", "faiss"] = option("exact", help="how neighbours are found")
...     probes: int = option(32, help="lists to look into", low=1)
>>> check(Search(probes=0))
Traceback (most recent call last):
    ...
qbench.options.LimitError: probes is at least 1 (found 0)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from qbench.errors import OptionError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Declared", "LimitError", "again", "check", "declared", "option", "refusal"]


class LimitError(OptionError):
    """An option has a value outside its limits.

    Attributes:
        owner: the class that declares the option; None once the error came from another process.
        name: of its field, with which the message begins.
    """

    owner: type | None = None
    name: str = ""


def refusal(options: DataclassInstance, name: str, allowed: str, value: object) -> LimitError:
    """The error about the value of an option, which the command line calls by its flag."""
    error = LimitError(f"{name} {allowed}", value=value)
    error.owner, error.name = type(options), name
    return error


@dataclass(frozen=True)
class Declared:
    """One option of a class.

    Attributes:
        name: of the field.
        type: its annotation, resolved.
        default: MISSING where it must be given.
        help: what it does, for users.
        low, high: both ends of the allowed range, inclusive.
        choices: the allowed words, of a `Literal` or of `option(choices=...)`; () for any.
        extra: what only one reader of options needs: `flag`, `metavar`, ... of `qbench.cli.from_options`.
    """

    name: str
    type: Any
    default: Any
    help: str
    low: float
    high: float
    choices: tuple[str, ...]
    extra: Mapping[str, Any]

    def allowed(self) -> str:
        """The allowed values, in words, to follow the name: "is at least 1"."""
        if self.choices:
            return f"is one of {', '.join(self.choices)}"
        if self.low > -math.inf and self.high < math.inf:
            return f"lies between {self.low:g} and {self.high:g}"
        return f"is at least {self.low:g}" if self.low > -math.inf else f"is at most {self.high:g}"

    def allows(self, value: Any) -> bool:
        """Whether one value, or one of a tuple or mapping, lies within the limits and choices."""
        if self.choices and isinstance(value, str):
            return value in self.choices
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self.low <= value <= self.high
        return True


def option(
    default: Any = MISSING,
    *,
    help: str,  # noqa: A002
    low: float = -math.inf,
    high: float = math.inf,
    choices: tuple[str, ...] = (),
    **extra: Any,
) -> Any:
    """A field of an options class; limits hold for numbers, and for each of a tuple or mapping.

    `choices` are the allowed words of a `str`, where a table has them; else annotate the field with a `Literal`.
    """
    metadata = {"help": help, "low": low, "high": high, "choices": choices, "extra": extra}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def again(options: type[DataclassInstance], name: str, default: Any = MISSING, **changes: Any) -> Any:
    """A field that declares an option of another class again: with its help, limits and the rest, but for `changes`.

    Args:
        options: the class that has it.
        name: of its field.
        default: another default; by default that of the other class.
        changes: arguments of `option` that differ.

    >>> @dataclass(frozen=True)
    ... class Few:
    ...     probes: int = option(32, help="lists to look into", low=1)
    >>> @dataclass(frozen=True)
    ... class Many(Few):
    ...     probes: int = again(Few, "probes", 1000)
    >>> check(Many(probes=0))
    Traceback (most recent call last):
        ...
    qbench.options.LimitError: probes is at least 1 (found 0)
    """
    spec = next(spec for spec in declared(options) if spec.name == name)
    given = {"help": spec.help, "low": spec.low, "high": spec.high, "choices": spec.choices, **spec.extra, **changes}
    return option(spec.default if default is MISSING else default, **given)


def declared(options: type[DataclassInstance]) -> tuple[Declared, ...]:
    """The options of a class, in order; fields made without `option` have no help and no limits."""
    types = get_type_hints(options)
    return tuple(_declared(spec, types[spec.name]) for spec in fields(options))


def _declared(spec: Field[Any], type_: Any) -> Declared:
    metadata = {"help": "", "low": -math.inf, "high": math.inf, "choices": (), "extra": {}, **spec.metadata}
    default = spec.default if spec.default_factory is MISSING else spec.default_factory()
    metadata["choices"] = metadata["choices"] or _choices(type_)
    return Declared(spec.name, type_, default, **metadata)


def _choices(type_: Any) -> tuple[str, ...]:
    if get_origin(type_) is Literal:
        return tuple(map(str, get_args(type_)))
    return next(filter(None, (_choices(part) for part in get_args(type_))), ())


def check(options: DataclassInstance) -> None:
    """Refuse a value outside its limits.

    Raises:
        LimitError: names the option, its value and what is allowed.
    """
    for spec in declared(type(options)):
        value = getattr(options, spec.name)
        items = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else (value,)
        for item in items:
            if not spec.allows(item):
                raise refusal(options, spec.name, spec.allowed(), item)
