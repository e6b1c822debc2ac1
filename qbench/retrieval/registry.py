"""What a part of systems is: plain data, one entry each. The grammar, the help and the reference read it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from qbench.errors import OptionError, UnknownNameError

Value = float | int | str

Role = Literal["first stage", "quantity score", "reranker", "compression", "fusion"]

Family = Literal["lexical", "run", "single-vector", "tct-colbert", "aggretriever", "sparse", "multi-vector", "api"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a part.

    Attributes:
        name: as written in a system's name.
        kind: "number", "integer", "choice" (one of `choices`), "file" (a path) or "text".
        help: what it does, for users.
        default: None where it has to be given.
        low, high: both ends of the allowed range, inclusive.
        choices: the allowed words of a "choice".
    """

    name: str
    kind: Literal["number", "integer", "choice", "file", "text"]
    help: str
    default: Value | None = None
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Value:
        """The value that a text stands for.

        Raises:
            OptionError: it is not an allowed one.
        """
        if self.kind in ("number", "integer"):
            try:
                value = int(text) if self.kind == "integer" else float(text)
            except ValueError:
                raise self.refusal(text) from None
            return self.checked(value)
        return self.checked(text)

    def checked(self, value: Value) -> Value:
        """The value, if it is allowed.

        Raises:
            OptionError: it is not.
        """
        if self.kind in ("number", "integer"):
            if isinstance(value, str) or not math.isfinite(value) or not self.low <= value <= self.high:
                raise self.refusal(value)
            if self.kind == "integer" and value != int(value):
                raise self.refusal(value)
            return int(value) if self.kind == "integer" else float(value)
        if not isinstance(value, str) or not value or (self.kind == "choice" and value not in self.choices):
            raise self.refusal(value)
        return value

    def refusal(self, value: object) -> OptionError:
        """The error that says what is allowed."""
        return OptionError(f"{self.name} needs {self.allowed()}", value=value)

    def allowed(self) -> str:
        """What values it takes, in words."""
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind in ("file", "text"):
            return "the path of a file" if self.kind == "file" else "a text"
        noun = "a number" if self.kind == "number" else "a whole number"
        if self.low > -math.inf and self.high < math.inf:
            return f"{noun} from {self.low:g} to {self.high:g}"
        return f"{noun} of at least {self.low:g}" if self.low > -math.inf else noun


@dataclass(frozen=True)
class Entry:
    """One part of systems.

    Attributes:
        name: as written. A quantity score is an affix: a leading "_" makes it a suffix, else it is a prefix.
        roles: where in a system it may stand.
        what: what it does, one line.
        source: paper and equation, or package.
        parameters: its own, in every role.
        family: of a model: the kind of ranker that it is, which says who opens it.
        search_parameters: of a first stage alone.
        score_parameters: of a model: what a quantity score before its name (Q) takes besides its own.
        needs: what it cannot do without ("conditions", a package, a model).
    """

    name: str
    roles: tuple[Role, ...]
    what: str
    source: str
    parameters: tuple[Parameter, ...] = ()
    family: Family | None = None
    search_parameters: tuple[Parameter, ...] = ()
    score_parameters: tuple[Parameter, ...] = ()
    needs: tuple[str, ...] = ()

    def parameters_as(self, role: Role) -> tuple[Parameter, ...]:
        """The parameters that it takes in a role."""
        if role == "reranker":
            return (*self.parameters, RERANKED)
        return (*self.parameters, *self.search_parameters)

    def parameters_on(self, model: Entry) -> tuple[Parameter, ...]:
        """The parameters of a quantity score on top of a model: a suffix only filters, and takes its own alone."""
        return self.parameters if self.name.startswith("_") else (*self.parameters, *model.score_parameters)


@dataclass(frozen=True)
class Registry:
    """The known parts.

    Raises:
        OptionError: two of them could be written alike.
    """

    entries: tuple[Entry, ...]

    def __post_init__(self) -> None:
        for role in ("first stage", "reranker"):
            written = [form for form, _, _ in self.forms(role)]
            tails = [entry.name for entry in (*self.of("compression"), *self.of("fusion"))]
            written += [f"{model.name}-{tail}" for model in self.of(role) for tail in tails]
            twice = {form for form in written if written.count(form) > 1}
            if twice:
                raise OptionError("two parts of systems are written alike", value=sorted(twice)[0])

    def of(self, role: Role) -> tuple[Entry, ...]:
        """The parts that may stand in a place."""
        return tuple(entry for entry in self.entries if role in entry.roles)

    def forms(self, role: Role) -> Iterator[tuple[str, Entry, Entry | None]]:
        """How each model of a role is written, alone and with each quantity score."""
        for model in self.of(role):
            yield model.name, model, None
            for quantity in self.of("quantity score"):
                yield affixed(quantity.name, model.name), model, quantity

    def find(self, name: str, role: Role) -> Entry:
        """The entry of a name in a role.

        Raises:
            UnknownNameError: there is none.
        """
        for entry in self.of(role):
            if entry.name == name:
                return entry
        raise unknown(name, role, [entry.name for entry in self.of(role)])


def affixed(quantity: str, model: str) -> str:
    """How a quantity score is written around a model's name."""
    return model + quantity if quantity.startswith("_") else quantity + model


def unknown(name: str, role: str, known: list[str]) -> UnknownNameError:
    """The error for a name that is not known: the nearest ones, then all."""
    folded = {k.lower(): k for k in reversed(known)}
    near = [folded[k] for k in difflib.get_close_matches(name.lower(), folded, n=2, cutoff=0.6)]
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return UnknownNameError(f"unknown {role}", value=name, remedy=f"{hint}Known: {', '.join(known) or 'none yet'}")


def chosen(parameters: Iterable[Parameter], given: Mapping[str, Value], owner: str) -> tuple[tuple[str, Value], ...]:
    """The given parameters that differ from their defaults, checked, in the order of `parameters`.

    Raises:
        OptionError: one is not known, is missing or has a value that is not allowed.
    """
    parameters = tuple(parameters)
    known = {p.name for p in parameters}
    for name in given:
        if name not in known:
            allowed = ", ".join(p.name for p in parameters)
            remedy = f"It takes {allowed}" if allowed else "It takes none"
            raise OptionError(f"{owner} has no such parameter", value=name, remedy=remedy)
    pairs = []
    for parameter in parameters:
        if parameter.name in given:
            value = parameter.checked(given[parameter.name])
            if value != parameter.default:
                pairs.append((parameter.name, value))
        elif parameter.default is None:
            remedy = f"Write {owner}({parameter.name}=...)"
            raise OptionError(f"{owner} needs {parameter.name}, {parameter.allowed()}", remedy=remedy)
    return tuple(pairs)


def filled(parameters: Iterable[Parameter], given: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """All parameters of a part: the given ones, and the defaults of the others."""
    return {p.name: p.default for p in parameters if p.default is not None} | dict(given)


RERANKED = Parameter(
    "k", "integer", "how many of the first stage's documents are ranked again; the others are left out", 1000, low=1
)
"""What every reranker takes besides its own parameters."""
