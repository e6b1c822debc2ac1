"""What a component of systems is: plain data, one entry each. The grammar, the help and the reference read it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from qbench.errors import OptionError, UnknownNameError
from qbench.lazy import object_at
from qbench.options import Declared, declared

Value = float | int | str

K = 1000
"""Documents that a reranker takes, unless its name or its entry says otherwise."""

Role = Literal["first stage", "quantity score", "reranker", "compression", "fusion"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a component.

    Attributes:
        name: as written in a system's name.
        kind: "number", "integer", "choice" (one of `choices`), "file" (a path) or "text".
        help: what it does, for users.
        default: None where it has to be given.
        low, high: both ends of the allowed range, inclusive.
        choices: the allowed words of a "choice".
        needs: another parameter and the word that it must have, without which this one would change nothing.
        of_score: the quantity score without which it would change nothing; "" for none.
    """

    name: str
    kind: Literal["number", "integer", "choice", "file", "text"]
    help: str
    default: Value | None = None
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    needs: tuple[str, str] | None = None
    of_score: str = ""

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


def parameter_of(option: Declared, default: Value | None = None, about: str | None = None) -> Parameter:
    """The parameter of a system's name that an option of a dataclass is.

    Args:
        option: of type float, int, str, Path or a Literal of words.
        default: another default than the class has.
        about: another help than the class has.

    Raises:
        OptionError: the type of the option cannot be written in a system's name.
    """
    kinds: dict[Any, Literal["number", "integer", "file", "text"]]
    kinds = {float: "number", int: "integer", Path: "file", str: "text"}
    if not option.choices and option.type not in kinds:
        raise OptionError(
            f"{option.name} has a type that cannot be written in a system's name",
            value=option.type,
            remedy="Use float, int, str, Path or a Literal of words",
        )
    if default is None and option.default is not MISSING:
        default = option.default
    return Parameter(
        option.name,
        "choice" if option.choices else kinds[option.type],
        option.help if about is None else about,
        default,
        option.low,
        option.high,
        option.choices,
        option.extra.get("needs"),
        option.extra.get("of_score", ""),
    )


@dataclass(frozen=True)
class NoOptions:
    """The options of a component without options."""


@dataclass(frozen=True)
class Entry:
    """One component of systems.

    Attributes:
        name: as written. A quantity score is an affix: a leading "_" makes it a suffix, else it is a prefix.
        roles: where in a system it may stand.
        what: what it does, one line.
        source: paper and equation, or package.
        options: dataclass of its options, declared with `qbench.options.option`. An option with `only="first stage"` is
            no parameter of a reranker; one with `checkpoint=KIND` names a model that runs on this machine.
        opener: of a model: the function that opens it, or "MODULE:FUNCTION", imported when a system with it runs; see
            `qbench.retrieval.opening`.
        score_options: of a model: dataclass of the options of a Q before its name, where they differ from Q's own.
        presets: of a quantity score, and of a model what it adds to one: words that stand for parameters.
        extended: of a quantity score: whether a model's `score_options` take the place of its options.
        reads: of a model: what it reads in addition to texts: the queries' "conditions", the documents' "quantities". A
            system with a model that reads conditions runs once in each setting.
        steps: of a model: the steps of `qbench.keys.REVISIONS` that its results rest on.
        defaults: option -> default, where it differs from the dataclass's.
        helps: option -> help, where it differs from the dataclass's.
        needs: what it cannot do without ("conditions", a package, a model).
        version: of a system that a user or another package registered: names what it computes; "" for qbench's own.
        k: of a reranker: number of documents that it takes, unless its name says otherwise.
        filters: of a model: whether it applies `_filter` itself (`qbench.retrieval.rankers.FilteringRanker`).
    """

    name: str
    roles: tuple[Role, ...]
    what: str
    source: str
    options: type[Any] = NoOptions
    opener: str | Callable[..., Any] = ""
    score_options: type[Any] | None = None
    presets: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    extended: bool = False
    reads: tuple[Literal["conditions", "quantities"], ...] = ()
    steps: tuple[str, ...] = ()
    defaults: Mapping[str, Value] = field(default_factory=dict)
    helps: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    version: str = ""
    k: int = K
    filters: bool = False

    @cached_property
    def declared(self) -> tuple[Declared, ...]:
        """Its options as its dataclass declares them."""
        return declared(self.options)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its own parameters, in every role."""
        return tuple(self._parameter(option) for option in self.declared if "only" not in option.extra)

    @cached_property
    def search_parameters(self) -> tuple[Parameter, ...]:
        """Its parameters as a first stage alone."""
        return tuple(self._parameter(option) for option in self.declared if "only" in option.extra)

    @cached_property
    def score_parameters(self) -> tuple[Parameter, ...]:
        """The parameters of a Q before its name, in addition to Q's own."""
        if self.score_options is None:
            return ()
        return tuple(parameter_of(option) for option in declared(self.score_options) if option.extra.get("of_model"))

    @property
    def is_neural(self) -> bool:
        """Whether a model on this machine encodes texts for it."""
        return any("checkpoint" in option.extra for option in self.declared)

    @property
    def stores_vectors(self) -> bool:
        """Whether it stores vectors here, single ones or of tokens, which a compression can make smaller."""
        return (
            bool({"dense", "token vectors", "coded token vectors"} & set(self.steps))
            and "served tables" not in self.steps
        )

    def parameters_as(self, role: Role) -> tuple[Parameter, ...]:
        """The parameters that it takes in a role."""
        if role == "reranker":
            return (*self.parameters, replace(RERANKED, default=self.k))
        return (*self.parameters, *self.search_parameters)

    def k_on(self, model: Entry, role: Role) -> int:
        """The k that a model with this quantity score has in a role, unless its name says otherwise."""
        return BEST if self.takes_best(model) else model.k if role == "reranker" else K

    def parameters_on(self, model: Entry, role: Role) -> tuple[Parameter, ...]:
        """The parameters of a quantity score on top of a model in a role."""
        own = (*self.parameters, *(self.search_parameters if role == "first stage" else ()))
        return (*own, *model.score_parameters) if self.extended else own

    def presets_on(self, model: Entry) -> dict[str, dict[str, Value]]:
        """The presets of a quantity score on top of a model: word -> parameters."""
        return {word: {**params, **model.presets.get(word, {})} for word, params in self.presets.items()}

    def reads_with(self, params: Iterable[tuple[str, Value]]) -> tuple[str, ...]:
        """What it reads with these parameters: what `reads` says, and what its options add."""
        given = dict(params)
        words = [(option.name, *option.extra["reads"]) for option in self.declared if "reads" in option.extra]
        return (*self.reads, *(what for name, word, what in words if given.get(name) == word))

    def takes_best(self, model: Entry) -> bool:
        """Whether this quantity score on top of a first stage is added to its best `k` alone, as eq. 7 has it."""
        return self.extended and model.is_neural

    def typed(self, params: Iterable[tuple[str, Value]]) -> Any:
        """Its options, an instance of `options`: the given ones, and the defaults of the others."""
        return _typed(self.options, {**self.defaults, **dict(params)})

    def typed_on(self, model: Entry, params: Iterable[tuple[str, Value]]) -> Any:
        """The options of a quantity score on top of a model: an instance of the model's `score_options`, or its own."""
        options = model.score_options if self.extended else None
        return _typed(options or self.options, dict(params))

    def _parameter(self, option: Declared) -> Parameter:
        return parameter_of(option, self.defaults.get(option.name), self.helps.get(option.name))


def _typed(options: type[Any], values: Mapping[str, Value]) -> Any:
    paths = {option.name for option in declared(options) if option.type is Path}
    return options(**{name: Path(str(value)) if name in paths else value for name, value in values.items()})


@dataclass
class Registry:
    """The known components.

    Attributes:
        entries: the components; `add` appends to them.
        plugins: "MODULE:FUNCTION" that adds the components of installed packages; called at the first use.

    Raises:
        OptionError: two of them could be written alike.
    """

    entries: tuple[Entry, ...]
    plugins: str = ""

    def __post_init__(self) -> None:
        plugins, self.plugins = self.plugins, ""  # the first use is later
        self._check()
        self.plugins = plugins

    def add(self, entry: Entry) -> None:
        """Add a component; one that was added before under the same name is replaced.

        Raises:
            OptionError: it could be written like another one.
        """
        before = self.entries
        others = (other for other in before if not (other.version and other.name == entry.name))
        self.entries = (*others, entry)
        try:
            self._check()
        except OptionError:
            self.entries = before
            raise

    def _check(self) -> None:
        for role in ("first stage", "reranker"):
            written = [form for form, _, _ in self.forms(role)]
            tails = [entry.name for entry in (*self.of("compression"), *self.of("fusion"))]
            written += [f"{model.name}-{tail}" for model in self.of(role) for tail in tails]
            twice = {form for form in written if written.count(form) > 1}
            if twice:
                raise OptionError("two components of systems are written alike", value=sorted(twice)[0])

    def of(self, role: Role) -> tuple[Entry, ...]:
        """The components that may have a role."""
        if self.plugins:
            plugins, self.plugins = self.plugins, ""
            object_at(plugins)(self)
        return tuple(entry for entry in self.entries if role in entry.roles)

    def forms(self, role: Role) -> Iterator[tuple[str, Entry, Entry | None]]:
        """How each model of a role is written, alone and with each quantity score."""
        for model in self.of(role):
            yield model.name, model, None
            for quantity in self.of("quantity score"):
                yield affixed(quantity.name, model.name), model, quantity

    def model(self, name: str) -> Entry:
        """The entry of a model in whatever role.

        Raises:
            UnknownNameError: there is none.
        """
        models = {entry.name: entry for role in ("first stage", "reranker") for entry in self.of(role)}
        if name not in models:
            raise unknown(name, "model", list(models))
        return models[name]

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


FEW = 12
"""Names that are listed in full where one is not known."""


def unknown(name: str, role: str, names: list[str]) -> UnknownNameError:
    """The error for an unknown name; its remedy names the nearest ones, or all of a few."""
    folded = {k.lower(): k for k in reversed(names)}
    near = [folded[k] for k in difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.6)]
    known = "`qbench systems` lists all" if len(names) > FEW else f"Known: {', '.join(names) or 'none yet'}"
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return UnknownNameError(f"unknown {role}", value=name, remedy=hint + known)


def chosen(parameters: Iterable[Parameter], given: Mapping[str, Value], owner: str) -> tuple[tuple[str, Value], ...]:
    """The given parameters that differ from their defaults, checked, in the order of `parameters`.

    Raises:
        OptionError: one is not known, is missing, has a value that is not allowed, or would change nothing.
    """
    parameters = tuple(parameters)
    names = {p.name for p in parameters}
    for name in given:
        if name not in names:
            allowed = ", ".join(p.name for p in parameters)
            remedy = f"It takes {allowed}" if allowed else "It takes none"
            raise OptionError(f"{owner} has no such parameter", value=name, remedy=remedy)
    pairs = []
    for parameter in parameters:
        if parameter.name in given:
            value = parameter.checked(given[parameter.name])
            if value != parameter.default:
                _refuse_idle(parameter, parameters, given, value)
                pairs.append((parameter.name, value))
        elif parameter.default is None:
            remedy = f"Write {owner}({parameter.name}=...)"
            raise OptionError(f"{owner} needs {parameter.name}, {parameter.allowed()}", remedy=remedy)
    return tuple(pairs)


def working(parameters: Iterable[Parameter], given: Mapping[str, Value], kept: Iterable[str] = ()) -> dict[str, Value]:
    """The given parameters without those that change nothing; but with the `kept` ones, unless that left them idle."""
    parameters = tuple(parameters)
    named = {parameter.name: parameter for parameter in parameters}

    def idle(some: Mapping[str, Value]) -> set[str]:
        return {name for name in some if name in named and _idle(named[name], parameters, some) is not None}

    before = idle(given)
    rest = {name: value for name, value in given.items() if name in kept or name not in before}
    after = idle(rest) - before
    return {name: value for name, value in rest.items() if name not in after}


def _refuse_idle(
    parameter: Parameter, parameters: Iterable[Parameter], given: Mapping[str, Value], value: Value
) -> None:
    """Refuse a value that would change the names and keys of a system, and nothing else."""
    if (idle := _idle(parameter, parameters, given)) is not None:
        without, wanted = idle
        remedy = f"Write {wanted} too, or leave it out"
        raise OptionError(f"{parameter.name} changes nothing {without}", value=value, remedy=remedy)


def _idle(parameter: Parameter, parameters: Iterable[Parameter], given: Mapping[str, Value]) -> tuple[str, str] | None:
    """What makes a parameter change nothing, and what would make it work, in words; None where it works."""
    if parameter.needs is None:
        return None
    other, word = parameter.needs
    there = given.get(other, next(p.default for p in parameters if p.name == other))
    text = f"{there:g}" if isinstance(there, float) else str(there)
    if word.startswith("not "):
        wanted = f"{other}=..."
        without = f"with {other}={text}" if text else f"without {wanted}"
        return (without, wanted) if text == word.removeprefix("not ") else None
    wanted = f"{other}={word}"
    return (f"without {wanted}", wanted) if text != word else None


RERANKED = Parameter(
    "k", "integer", "number of documents of the ranking before it that it takes; the others are left out", K, low=1
)
"""A parameter of every reranker, in addition to its own."""

BEST = 100
"""Documents that Q scores with a neural model, unless its name says otherwise; chosen on development queries."""

SCORED = Parameter("k", "integer", "number of the best documents that Q scores; the others are left out", BEST, low=1)
"""What a neural model with Q takes besides; independent of how many documents a run keeps."""
