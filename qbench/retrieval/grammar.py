"""Systems are values with names that parse back: `parse_system(str(system)) == system`.

    system  = stage [ " + " stage [ "-" fusion ] ]      first stage, reranker
    stage   = model | "Q" model | model "_filter"       each with [ "(" parameters ")" ] [ "-" compression ]

Compression and fusion take parameters too: `BM25 + TCT-ColBERT-PQ(M=96, K=256)-I(alpha=0.1)`. Names may hold hyphens:
the longest known name wins. A name is printed with the parameters that differ from their defaults. Values
with signs that mean something here are quoted as in JSON: `Run(path="my runs/a.trec")`.

The composition is that of *WolfPQ* (note on abbreviations, eq. 1); Q and _filter are those of *Numbers Matter*.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from qbench.errors import OptionError
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.registry import Entry, Parameter, Registry, Role, Value, affixed, chosen, filled, unknown

_Form = tuple[str, Entry, Entry | None]
"""How a model is written, the model, and the quantity score that is written with it."""

_BARE = re.compile(r"[\w./:~@+-]+")
_WORD = re.compile(r"[^\s()+]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ENDS = re.compile(r"[\s(+-]")
_RAW = re.compile(r'[^\s,()="]+')


@dataclass(frozen=True)
class Part:
    """A named part and its parameters: those that differ from the defaults, in the registry's order."""

    name: str
    params: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        return self.name + _parameters(self.params)


@dataclass(frozen=True)
class Stage:
    """A model as first stage or as reranker.

    Attributes:
        model: it.
        compression: how its vectors are compressed, if they are.
        quantity: the quantity score on top of it, if any.
    """

    model: Part
    compression: Part | None = None
    quantity: Part | None = None

    @property
    def written(self) -> str:
        """The model with its quantity score, without parameters: BM25, QBM25, BM25_filter."""
        return affixed(self.quantity.name, self.model.name) if self.quantity else self.model.name

    @property
    def asks_for_terms(self) -> bool:
        """Whether it takes a query's search words alone, because a score beside it looks at the quantities."""
        return self.quantity is not None and self.quantity.name == "Q"

    @property
    def filters(self) -> bool:
        """Whether it leaves out documents whose quantities do not meet a query's conditions."""
        return self.quantity is not None and self.quantity.name == "_filter"

    @property
    def bare(self) -> Stage:
        """The same without a quantity score."""
        return replace(self, quantity=None)

    def __str__(self) -> str:
        params = (self.quantity.params if self.quantity else ()) + self.model.params
        return str(Part(self.written, params)) + (f"-{self.compression}" if self.compression else "")


@dataclass(frozen=True)
class System:
    """A retrieval system.

    Attributes:
        first: the first stage.
        reranker: what ranks its results again, if anything does.
        fusion: how the scores of both are combined, if they are.
    """

    first: Stage
    reranker: Stage | None = None
    fusion: Part | None = None

    @property
    def stages(self) -> tuple[tuple[Stage, Role], ...]:
        """What it consists of, and in which roles."""
        return ((self.first, "first stage"), *(((self.reranker, "reranker"),) if self.reranker else ()))

    @property
    def uses_conditions(self) -> bool:
        """Whether it looks at the queries' conditions."""
        return any(stage.quantity for stage, _ in self.stages)

    @property
    def is_neural(self) -> bool:
        """Whether a model of ours encodes texts for it: then its figures depend on torch and its kin."""
        families = {REGISTRY.find(stage.model.name, role).family for stage, role in self.stages}
        return bool(families - {"lexical", "run", "api"})

    def __str__(self) -> str:
        text = str(self.first) + (f" + {self.reranker}" if self.reranker else "")
        return text + (f"-{self.fusion}" if self.fusion else "")


def parse_system(text: str, registry: Registry = REGISTRY) -> System:
    """The system that a name stands for.

    Args:
        text: a name in the grammar above; white space around signs does not matter.
        registry: the known parts.

    Raises:
        UnknownNameError: a part is not known; says which are.
        OptionError: a parameter is not known or has a value that is not allowed, or the text is not in the grammar.

    >>> str(parse_system("QBM25( alpha = 0.50, k1=1.5 )"))
    'QBM25(alpha=0.5)'
    """
    reader = _Reader(text, registry)
    system = reader.system()
    reader.end()
    return system


def first_values(system: System, registry: Registry = REGISTRY) -> dict[str, Value]:
    """All parameters of a system's first stage, with the defaults."""
    model = system.first.model
    return filled(registry.find(model.name, "first stage").parameters_as("first stage"), model.params)


def reranker_values(system: System, registry: Registry = REGISTRY) -> dict[str, Value]:
    """All parameters of a system's reranker, with the defaults; none where it has no reranker."""
    if system.reranker is None:
        return {}
    model = system.reranker.model
    return filled(registry.find(model.name, "reranker").parameters_as("reranker"), model.params)


def fusion_values(system: System, registry: Registry = REGISTRY) -> dict[str, Value]:
    """All parameters of a system's fusion, with the defaults; none where it has no fusion."""
    if system.fusion is None:
        return {}
    return filled(registry.find(system.fusion.name, "fusion").parameters, system.fusion.params)


def quantity_values(stage: Stage, role: Role, registry: Registry = REGISTRY) -> dict[str, Value]:
    """All parameters of a stage's quantity score, with the defaults; none where it has no such score."""
    if stage.quantity is None:
        return {}
    quantity = registry.find(stage.quantity.name, "quantity score")
    return filled(quantity.parameters_on(registry.find(stage.model.name, role)), stage.quantity.params)


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, text: str, registry: Registry) -> None:
        self.text = text
        self.registry = registry
        self.at = 0

    def system(self) -> System:
        first = replace(self.stage("first stage"), compression=self.tail("compression"))
        if not self.take("+"):
            return System(first)
        reranker = self.stage("reranker")
        compression = self.tail("compression", "fusion")
        fusion = None
        if compression is not None and _is(self.registry, compression, "fusion"):
            compression, fusion = None, compression
        elif compression is not None:
            fusion = self.tail("fusion")
        return System(first, replace(reranker, compression=compression), fusion)

    def stage(self, role: Role) -> Stage:
        """The longest written form of a model that stands here, and its parameters."""
        form, model, quantity = self.longest(list(self.registry.forms(role)), role)
        own, allowed = quantity.parameters_on(model) if quantity else (), model.parameters_as(role)
        given = self.parameters(form, (*own, *allowed))
        part = Part(model.name, chosen(allowed, _only(given, allowed), form))
        score = Part(quantity.name, chosen(own, _only(given, own), form)) if quantity else None
        return Stage(part, quantity=score)

    def tail(self, *roles: Any) -> Part | None:
        """What follows a hyphen: a compression or a fusion."""
        if not self.take("-"):
            return None
        forms: list[_Form] = [(entry.name, entry, None) for role in roles for entry in self.registry.of(role)]
        name, entry, _ = self.longest(forms, " or ".join(roles))
        return Part(name, chosen(entry.parameters, self.parameters(name, entry.parameters), name))

    def longest(self, forms: list[_Form], role: str) -> _Form:
        self.blank()
        for form in sorted(forms, key=lambda f: -len(f[0])):
            end = self.at + len(form[0])
            if self.text.startswith(form[0], self.at) and (end == len(self.text) or _ENDS.match(self.text, end)):
                self.at = end
                return form
        word = _WORD.match(self.text, self.at)
        raise unknown(word.group() if word else self.text[self.at :], role, [form for form, _, _ in forms])

    def parameters(self, owner: str, known: Sequence[Parameter]) -> dict[str, Value]:
        """What stands between parentheses, read by the parameters that may stand there."""
        given: dict[str, Value] = {}
        if not self.take("("):
            return given
        while not self.take(")"):
            if given and not self.take(","):
                raise self.lost("a comma or )")
            name = self.pattern(_NAME, "the name of a parameter")
            if name in given:
                raise OptionError(f"{owner} has this parameter twice", value=name)
            if not self.take("="):
                raise self.lost("=")
            parameter = next((p for p in known if p.name == name), None)
            if parameter is None:
                chosen(known, {name: ""}, owner)  # says which there are
            else:
                given[name] = parameter.read(self.value())
        return given

    def value(self) -> str:
        self.blank()
        if self.text.startswith('"', self.at):
            try:
                value, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
            except json.JSONDecodeError:
                raise self.lost('a closing "') from None
            return str(value)
        return self.pattern(_RAW, "a value")

    def pattern(self, pattern: re.Pattern[str], what: str) -> str:
        self.blank()
        match = pattern.match(self.text, self.at)
        if match is None:
            raise self.lost(what)
        self.at = match.end()
        return match.group()

    def take(self, sign: str) -> bool:
        self.blank()
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def blank(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def end(self) -> None:
        self.blank()
        if self.at < len(self.text):
            raise self.lost("nothing more")

    def lost(self, wanted: str) -> OptionError:
        where = self.text[self.at :] or "the end"
        return OptionError(
            f"not a system's name: {wanted} should stand at character {self.at + 1} of {self.text!r}",
            value=where,
            remedy='Write it like BM25, QBM25(alpha=0.5) or Run(path="my run.trec")',
        )


def _only(given: dict[str, Value], parameters: Iterable[Parameter]) -> dict[str, Value]:
    names = {p.name for p in parameters}
    return {name: value for name, value in given.items() if name in names}


def _is(registry: Registry, part: Part, role: Any) -> bool:
    return any(entry.name == part.name for entry in registry.of(role))


def _parameters(params: Iterable[tuple[str, Value]]) -> str:
    written = ", ".join(f"{name}={_written(value)}" for name, value in params)
    return f"({written})" if written else ""


def _written(value: Value) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, int) or _BARE.fullmatch(value):
        return str(value)
    return json.dumps(value, ensure_ascii=False)
