"""Systems of one's own: a Python object or function becomes a first stage and a reranker under a name.

It takes documents, and gives what takes a query and gives scores:

    def overlap(documents, *, weight: float = 1.0):
        words = [set(text.split()) for text in documents.texts]
        return lambda query: [weight * len(words_of & set(query.text.split())) for words_of in words]

    qbench.register("Overlap", overlap)

Packages do the same by an entry point of the group `qbench.systems`: its name is the system's, and it loads what
`register` takes as `make`.
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, is_dataclass, make_dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, get_type_hints

import numpy as np
from numpy.typing import NDArray

from qbench.errors import InputError, OptionError
from qbench.options import option
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.mentions import DocumentMentions
from qbench.retrieval.rankers import Candidates, OpenedRanker, RankerContext, Search
from qbench.retrieval.registry import RERANKED, Entry, NoOptions, Registry, Role, parameter_of
from qbench.retrieval.systems import Stage
from qbench.store import digest

GROUP = "qbench.systems"
"""The group of entry points."""

ROLES: tuple[Role, ...] = ("first stage", "reranker")
READS = ("conditions", "quantities")
AFFIXES = ("Q", "Bind", "I", "RRF", "C_s", "C_q", "None", "True", "False")
"""Words that have a meaning of their own in systems' names."""

Score = Callable[[Search], "Sequence[float] | NDArray[Any]"]
"""Query -> the scores of all documents, in their order; -inf for a document that is not retrieved."""


@dataclass(frozen=True)
class Documents:
    """The corpus that a system of one's own searches.

    Attributes:
        ids, texts: of the documents, in the order in which scores are given.
        quantities: gives the mentions of quantities by position in that order (`quantities().of(0)`), for a system
            that is registered with `reads=("quantities",)`.
    """

    ids: Sequence[str]
    texts: Sequence[str]
    quantities: Callable[[], DocumentMentions]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class OwnRanker:
    """A system of one's own as a ranker.

    Attributes:
        name: the system's.
        score: from query to scores.
        ids: of the documents.
        depth: number of documents that it retrieves.

    Raises:
        InputError: what `score` gives is not one finite number for each document (-inf is allowed).
    """

    name: str
    score: Score
    ids: Sequence[str]
    depth: int

    def encoded(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as they are."""
        return list(searches)

    def prepared(self, searches: Sequence[Search]) -> list[Search]:
        """The searches as they are."""
        return list(searches)

    def search(self, search: Search) -> Candidates:
        """The `depth` documents with the highest scores; of equal ones the lower positions."""
        scores = self._scores(search)
        best = np.lexsort((np.arange(scores.size), -scores))[: self.depth]
        docs = np.sort(best[scores[best] > -np.inf])
        return Candidates(docs, scores[docs])

    def rerank(self, searches: Sequence[Search], candidates: Sequence[Candidates]) -> list[NDArray[np.float64]]:
        """The scores of each search's candidates; NaN where they are -inf."""
        return [self._scores_or_nan(search)[some.docs] for search, some in zip(searches, candidates, strict=True)]

    def _scores_or_nan(self, search: Search) -> NDArray[np.float64]:
        scores = self._scores(search)
        return np.where(np.isneginf(scores), np.nan, scores)

    def _scores(self, search: Search) -> NDArray[np.float64]:
        raw = self.score(search)
        try:
            scores = np.asarray(raw, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._fault("gave scores that are not numbers", search, type(raw).__name__) from None
        if scores.shape != (len(self.ids),):
            message = f"gave scores of shape {scores.shape} for {len(self.ids)} documents"
            raise self._fault(message, search, scores.shape)
        wrong = np.flatnonzero(np.isnan(scores) | np.isposinf(scores))
        if wrong.size:
            message = f"gave document {self.ids[wrong[0]]} a score that is not finite"
            raise self._fault(message, search, float(scores[wrong[0]]))
        return scores

    def _fault(self, message: str, search: Search, value: object) -> InputError:
        remedy = "Give one finite number for each document, in their order; -inf leaves a document out"
        return InputError(f"{self.name} {message} (query {search.query_id})", value=value, remedy=remedy)


def register(
    name: str,
    make: Callable[..., object],
    *,
    version: str | None = None,
    what: str = "a system of your own",
    source: str = "registered from Python",
    roles: Sequence[Literal["first stage", "reranker"]] = ("first stage", "reranker"),
    reads: Sequence[Literal["conditions", "quantities"]] = (),
) -> None:
    """Register a system under a name, so that it stands in systems' names like those that qbench brings.

    Args:
        name: as it is written in systems' names.
        make: function, class or other callable. Its first argument are the `Documents`; it gives a callable from
            `Search` (query_id, text, conditions) to the scores of all documents in their order. Its options are its
            keyword-only parameters, annotated float, int, str, Path or Literal, or one parameter `options` annotated
            with a dataclass.
        version: names what it computes, for the keys of runs: change it when the scores change. By default the digest
            of the source file of `make`; needed where there is none, and where `make` depends on variables around it.
        what, source: for `qbench systems`.
        roles: where in a system it may stand.
        reads: "conditions": searches carry the queries' conditions, and the system runs once in each setting;
            "quantities": the documents' mentions are extracted.

    Raises:
        OptionError: the name is taken or not allowed, a role or reading is unknown, an option cannot be written in a
            name, or `version` is missing.
    """
    REGISTRY.of("first stage")  # those of packages first: a user's own takes the place of one of theirs
    REGISTRY.add(own_entry(name, make, version, what, source, roles, reads))


def own_entry(
    name: str,
    make: Callable[..., object],
    version: str | None,
    what: str,
    source: str,
    roles: Sequence[Literal["first stage", "reranker"]] = ("first stage", "reranker"),
    reads: Sequence[Literal["conditions", "quantities"]] = (),
) -> Entry:
    """The entry of a system of one's own; arguments as in `register`."""
    _check(name, make, version, {"roles": (roles, ROLES), "reads": (reads, READS)})
    options, whole = _options_of(name, make)

    def opened(stage: Stage, values: Any, context: RankerContext) -> OpenedRanker:
        ids, texts = context.corpus["doc_id"].to_list(), context.corpus["passage"].to_list()
        documents = Documents(ids, texts, context.quantities if "quantities" in reads else _undeclared(name))
        start = time.perf_counter()
        given = {"options": values} if whole else {key: getattr(values, key) for key in options.__dataclass_fields__}
        score = make(documents, **given)
        if not callable(score):
            remedy = "Give back a function from a query to scores"
            raise InputError(f"{name} gave no callable for the documents", value=type(score).__name__, remedy=remedy)
        return OpenedRanker(OwnRanker(name, score, documents.ids, context.depth), time.perf_counter() - start, 0)

    identity = _source_digest(name, make) if version is None else f"version {version}"
    allowed: tuple[Role, ...] = tuple(roles)
    return Entry(name, allowed, what, source, options, opened, reads=tuple(reads), version=identity)


def _check(
    name: str, make: object, version: str | None, words: Mapping[str, tuple[Sequence[str], Sequence[str]]]
) -> None:
    """Refuse what cannot be registered; `words` holds for each argument what was given, and what is allowed."""
    if not isinstance(name, str) or not name.isidentifier():
        raise OptionError("a system's name is made of letters, digits and _", value=name)
    if name in AFFIXES or name.endswith("_filter"):
        raise OptionError("this name means something else in systems' names", value=name, remedy="Choose another")
    if not callable(make):
        raise OptionError(f"{name} is not callable", value=make, remedy="Give a function or a class")
    if version is not None and not version:
        raise OptionError(f"the version of {name} is empty", value=version)
    for argument, (given, allowed) in words.items():
        wrong = [given] if isinstance(given, str) else [word for word in given if word not in allowed]
        if wrong or (argument == "roles" and not given):
            remedy = f"Give a tuple of {' and '.join(map(repr, allowed))}"
            raise OptionError(f"{argument} of {name} cannot be used", value=wrong[0] if wrong else given, remedy=remedy)


def _undeclared(name: str) -> Callable[[], DocumentMentions]:
    """What stands in for the mentions where a system has not said that it reads them: its key would not hold them."""

    def refuse() -> DocumentMentions:
        remedy = 'Register it with reads=("quantities",)'
        raise OptionError(f"{name} reads the documents' quantities without saying so", remedy=remedy)

    return refuse


def add_installed(registry: Registry) -> None:
    """Add the systems of installed packages, the entry points of the group `qbench.systems`.

    One that cannot be loaded stays under its name, and says why when it runs.
    """
    for point in entry_points(group=GROUP):
        try:
            registry.add(_installed(point))
        except OptionError as error:
            message = f"the system {point.name} of {_package(point)} is left out: {error}"
            warnings.warn(message, stacklevel=2)


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def _installed(point: EntryPoint) -> Entry:
    package = _package(point)
    try:
        make = point.load()
        what = (inspect.getdoc(make) or "a system of a package").partition("\n")[0]
        return own_entry(point.name, make, package, what, package)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"

    def refuse(*_: object) -> OpenedRanker:
        raise InputError(f"the system {point.name} of {package} cannot be loaded: {reason}")

    what = f"cannot be loaded: {reason}"
    return Entry(point.name, ROLES, what, package, opener=refuse, version=package)


def _options_of(name: str, make: Callable[..., object]) -> tuple[type[Any], bool]:
    """The dataclass of the options of a system, and whether `make` takes it whole, as `options`."""
    parameters = inspect.signature(make).parameters
    hints = _hints(name, _function_of(make), parameters)
    declared_whole = hints.get("options") if "options" in parameters else None
    if declared_whole is not None:
        if not (isinstance(declared_whole, type) and is_dataclass(declared_whole)):
            raise OptionError(f"the options of {name} are no dataclass", value=declared_whole)
        options: type[Any] = declared_whole
    else:
        options = _keyword_options(name, hints, parameters)
    probe = Entry(name, (), "", "", options)
    for declared in probe.declared:
        parameter_of(declared)  # says what cannot be written in a name
        if declared.name in ("alpha", "phi", "terms", RERANKED.name):
            message = f"{name} has an option with a name that rerankers or quantity scores use"
            raise OptionError(message, value=declared.name)
    return options, declared_whole is not None


def _function_of(make: Any) -> Any:
    """The function that runs when `make` is called: the one that holds the types of its parameters."""
    if isinstance(make, partial):
        return _function_of(make.func)
    if inspect.isclass(make):
        return make.__init__
    return make if inspect.isroutine(make) else type(make).__call__


def _hints(name: str, call: Any, parameters: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """The types of the options alone: others may be names that only type checkers know."""
    wanted = [p.name for p in parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY or p.name == "options"]
    written = {key: call.__annotations__[key] for key in wanted if key in getattr(call, "__annotations__", {})}
    probe = SimpleNamespace(__annotations__=written)
    try:
        return get_type_hints(probe, globalns=getattr(call, "__globals__", {}))
    except NameError as error:
        remedy = "Import the types of options at run time"
        raise OptionError(f"the type of an option of {name} is unknown: {error}", remedy=remedy) from None


def _keyword_options(name: str, hints: Mapping[str, Any], parameters: Mapping[str, inspect.Parameter]) -> type[Any]:
    fields: list[Any] = []
    for number, parameter in enumerate(parameters.values()):
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            if number and parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
                remedy = "Put a * before the options: they are given by name"
                raise OptionError(f"{name} takes more than the documents", value=parameter.name, remedy=remedy)
            continue
        if parameter.name not in hints:
            raise OptionError(f"a parameter of {name} has no type", value=parameter.name, remedy="Annotate it")
        default = MISSING if parameter.default is inspect.Parameter.empty else parameter.default
        fields.append((parameter.name, hints[parameter.name], option(default, help=f"option of {name}")))
    return make_dataclass(f"{name}Options", fields, frozen=True, kw_only=True) if fields else NoOptions


def _source_digest(name: str, make: Callable[..., object]) -> str:
    """A digest of the source file in which a function or class is written.

    Raises:
        OptionError: there is none, or it does not say all, because `make` holds variables or is an object with a state.
    """
    remedy = "Give version=..., and another one whenever its scores change"
    if not (inspect.isclass(make) or inspect.isfunction(make)) or (inspect.isfunction(make) and make.__closure__):
        raise OptionError(f"the source of {name} does not say all that it computes", value=type(make), remedy=remedy)
    try:
        file = inspect.getsourcefile(make)
        text = Path(file).read_text(encoding="utf-8") if file and Path(file).is_file() else inspect.getsource(make)
    except (OSError, TypeError):
        raise OptionError(f"{name} has no source to know it by", remedy=remedy) from None
    return f"source {digest(text)}"
