"""Systems are values with names that parse back: `parse_system(str(system)) == system`.

    system  = stage { " + " stage [ "-" fusion ] }      first stage, rerankers
    stage   = model | "Q" model | "Bind" model | model "_filter"    each with [ "(" parameters ")" ] [ "-" compression ]

A reranker's `k` says how many documents of the ranking before it it takes: `BM25 + ColBERT(k=100) + SBERT(k=20)`.
So does that of a neural first stage with Q, whose best k alone get a quantity score: `QColBERT(k=100)`. A word may
stand for several parameters: `QBM25(as_published)`. Compression and fusion take parameters too:
`BM25 + TCT-ColBERT-PQ(M=96, K=256)-I(alpha=0.1)`. Names may hold hyphens: the longest known name wins. A name is
printed with the parameters that differ from their defaults. Values with signs that mean something here are quoted as in
JSON: `Run(path="my runs/a.trec")`.

The composition is that of *WolfPQ* (note on abbreviations, eq. 1); Q and _filter are those of
*Numbers Matter*, Bind is ours.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from qbench.errors import OptionError
from qbench.llm.api_keys import without_secrets
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.registry import (
    RERANKED,
    SCORED,
    Entry,
    K,
    Parameter,
    Registry,
    Role,
    Value,
    affixed,
    chosen,
    unknown,
)
from qbench.retrieval.systems import Component, Stage, System

_Form = tuple[str, Entry, Entry | None]
"""How a model is written, the model, and the quantity score that is written with it."""

_WORD = re.compile(r"[^\s()+]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ENDS = re.compile(r"[\s(+-]")
_RAW = re.compile(r'[^\s,()="]+')


def parse_system(text: str, registry: Registry = REGISTRY, models: Mapping[str, str] = MappingProxyType({})) -> System:
    """The system that a name stands for.

    Args:
        text: a name in the grammar above; white space around signs does not matter.
        registry: the known components.
        models: a neural model's name -> the model that it stands for where a system does not say `model=...`; a trained
            compression's name -> its codebook.

    Raises:
        UnknownNameError: a component is not known; says which are.
        OptionError: a parameter is not known or has a value that is not allowed, or the text is not in the grammar, or
            holds a password or key.

    >>> str(parse_system("QBM25( alpha = 0.50, k1=1.5 )"))
    'QBM25(alpha=0.5)'
    >>> str(parse_system("BM25 + TCT-ColBERT-PQ(M=96, K=256)-I(alpha=0.1)", models={"TCT-ColBERT": "my-tct"}))
    'BM25 + TCT-ColBERT(model=my-tct)-PQ-I(alpha=0.1)'
    """
    known = [entry.name for entry in registry.entries if entry.is_neural or _reads_codebook(entry)]
    for name in models:
        if name not in known:
            raise OptionError(f"{name} reads no model", value=models[name], remedy=f"Known: {', '.join(known)}")
    if without_secrets(text) != text:
        remedy = "Leave it out: keys and passwords come from the environment (OPENAI_API_KEY, PGPASSWORD)"
        raise OptionError("a system's name holds a password or key, which would be shown on boards", remedy=remedy)
    reader = _Reader(text, registry, models)
    try:
        system = reader.system()
        reader.end()
    except OptionError:
        parts = _SYSTEMS.findall(text)
        if len(parts) < 2 or ",".join(parts) != text:
            raise
        remedy = f"Repeat the option: {' '.join(f'--systems {shlex.quote(part.strip())}' for part in parts)}"
        raise OptionError("a list of systems, and one is needed", value=text, remedy=remedy) from None
    return system


_SYSTEMS = re.compile(r"""(?:[^,()"]|"[^"]*"|\((?:[^()"]|"[^"]*")*\))+""")
"""What stands between commas outside of brackets and quotes."""


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, text: str, registry: Registry, models: Mapping[str, str]) -> None:
        self.text = text
        self.models = models
        self.registry = registry
        self.at = 0

    def system(self) -> System:
        stages = [replace(self.stage("first stage"), compression=self.tail("compression"))]
        while self.take("+"):
            stages.append(self.reranker())
        return System(tuple(stages))

    def reranker(self) -> Stage:
        stage, tail = self.stage("reranker"), self.tail("compression", "fusion")
        fusions = {entry.name for entry in self.registry.of("fusion")}
        if tail is not None and tail.name in fusions:
            return replace(stage, fusion=tail)
        return replace(stage, compression=tail, fusion=None if tail is None else self.tail("fusion"))

    def stage(self, role: Role) -> Stage:
        """The longest written form of a model that stands here, and its parameters."""
        form, model, quantity = self.longest(list(self.registry.forms(role)), role)
        own, allowed = quantity.parameters_on(model, role) if quantity else (), model.parameters_as(role)
        if quantity and quantity.takes_best(model):
            allowed = (*(p for p in allowed if p.name != SCORED.name), SCORED)
        given = self.parameters(form, (*own, *allowed), quantity.presets_on(model) if quantity else {})
        if model.name in self.models:
            given.setdefault("model", self.models[model.name])
        params = dict(chosen(allowed, _only(given, allowed), form))
        _refuse_idle(model, quantity, allowed, params)
        usual = quantity.k_on(model, role) if quantity else model.k if role == "reranker" else K
        k = int(params.pop(RERANKED.name, usual))
        component = Component(model.name, tuple(params.items()))
        score = Component(quantity.name, chosen(own, _only(given, own), form)) if quantity else None
        return Stage(component, quantity=score, k=k)

    def tail(self, *roles: Any) -> Component | None:
        """What follows a hyphen: a compression or a fusion."""
        if not self.take("-"):
            return None
        forms: list[_Form] = [(entry.name, entry, None) for role in roles for entry in self.registry.of(role)]
        name, entry, _ = self.longest(forms, " or ".join(roles))
        given = self.parameters(name, entry.parameters)
        if name in self.models:
            given.setdefault("codebook", self.models[name])
        return Component(name, chosen(entry.parameters, given, name))

    def longest(self, forms: list[_Form], role: str) -> _Form:
        self.blank()
        for form in sorted(forms, key=lambda f: -len(f[0])):
            end = self.at + len(form[0])
            if self.text.startswith(form[0], self.at) and (end == len(self.text) or _ENDS.match(self.text, end)):
                self.at = end
                return form
        word = _WORD.match(self.text, self.at)
        raise unknown(word.group() if word else self.text[self.at :], role, [form for form, _, _ in forms])

    def parameters(
        self, owner: str, allowed: Sequence[Parameter], presets: Mapping[str, Mapping[str, Value]] | None = None
    ) -> dict[str, Value]:
        """Parse the parameters in parentheses, if any; a preset's are those that are not given."""
        given: dict[str, Value] = {}
        preset: dict[str, Value] = {}
        if not self.take("("):
            return given
        while not self.take(")"):
            if (given or preset) and not self.take(","):
                raise self.lost("a comma or )")
            name = self.pattern(_NAME, "the name of a parameter")
            if presets and name in presets:
                preset |= presets[name]
                continue
            if name in given:
                raise OptionError(f"{owner} has this parameter twice", value=name)
            if not self.take("="):
                raise self.lost("=")
            parameter = next((p for p in allowed if p.name == name), None)
            if parameter is None:
                chosen(allowed, {name: ""}, owner)  # says which there are
            else:
                given[name] = parameter.read(self.value())
        return preset | given

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


def _refuse_idle(
    model: Entry, quantity: Entry | None, allowed: Iterable[Parameter], params: Mapping[str, Value]
) -> None:
    """Refuse a parameter that changes nothing without a quantity score that is not there."""
    for parameter in allowed:
        wanted = parameter.of_score
        if wanted and parameter.name in params and (quantity is None or quantity.name != wanted):
            remedy = f"Write {affixed(wanted, model.name)}, or leave it out"
            message = f"{parameter.name} changes nothing without {wanted}"
            raise OptionError(message, value=params[parameter.name], remedy=remedy)


def _only(given: dict[str, Value], parameters: Iterable[Parameter]) -> dict[str, Value]:
    names = {p.name for p in parameters}
    return {name: value for name, value in given.items() if name in names}


def _reads_codebook(entry: Entry) -> bool:
    return any(parameter.name == "codebook" for parameter in entry.parameters)
