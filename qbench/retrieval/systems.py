"""Systems as values: a first stage and the rerankers that follow it. `qbench.retrieval.grammar` reads their names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from qbench.errors import is_path
from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.ranker_options import LexicalScoreOptions
from qbench.retrieval.registry import BEST, Entry, K, Registry, Role, Value, affixed

_BARE = re.compile(r"[\w./:~@+-]+")


@dataclass(frozen=True)
class Component:
    """A named component and its parameters: those that differ from the defaults, in the registry's order."""

    name: str
    params: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        return self.name + _parameters(self.params)


@dataclass(frozen=True)
class Stage:
    """A model as first stage or as reranker.

    Attributes:
        model: the model.
        compression: how its vectors are compressed, if they are.
        quantity: the quantity score on top of it, if any.
        fusion: of a reranker: how its scores are combined with those of the ranking before it, if they are.
        k: of a reranker: number of documents of the ranking before it that it takes; of a neural first stage with Q:
            number of its own best that get a quantity score. The parser gives each its usual one.
    """

    model: Component
    compression: Component | None = None
    quantity: Component | None = None
    fusion: Component | None = None
    k: int = K

    @property
    def written(self) -> str:
        """The model with its quantity score, without parameters: BM25, QBM25, BM25_filter."""
        return affixed(self.quantity.name, self.model.name) if self.quantity else self.model.name

    @property
    def takes_terms(self) -> bool:
        """Whether it takes a query's search words alone, because a score beside it looks at the quantities."""
        return self.quantity is not None and self.quantity.name == "Q"

    @property
    def filters(self) -> bool:
        """Whether it leaves out documents whose quantities do not meet a query's conditions."""
        return self.quantity is not None and self.quantity.name == "_filter"

    @property
    def compares(self) -> bool:
        """Whether its quantity score looks up values in the quantity index; Bind has its own, some models filter."""
        return self.quantity is not None and not self.binds and not (self.filters and self.entry().filters)

    @property
    def takes_best(self) -> bool:
        """Whether it is a neural model with Q, which as a first stage scores its own best k alone."""
        return self.takes_terms and self.entry().is_neural

    @property
    def looks_at(self) -> int:
        """Number of its model's best documents that a score or filter beside it looks at, however many a run keeps.

        0 where it looks at all of them, or there is none.
        """
        if self.quantity is None or self.is_lexical:
            return 0
        return int(self.quantity_options().pool) if self.binds else self.k

    @property
    def is_lexical(self) -> bool:
        """Whether its model finds the documents that hold a word of the query, and no others."""
        options = self.entry().score_options
        return options is not None and issubclass(options, LexicalScoreOptions)

    @property
    def finds_terms(self) -> bool:
        """Whether its model finds the documents that share a term with the query, so that all others have 0."""
        return bool({"bm25", "sparse"} & set(self.entry().steps)) and "dense" not in self.entry().steps

    @property
    def binds(self) -> bool:
        """Whether a score beside it looks at whether satisfying values are those that the query's words name."""
        return self.quantity is not None and self.quantity.name == "Bind"

    @property
    def encoder(self) -> str:
        """The encoder of a score beside it; "" without one."""
        return str(self.quantity_options().encoder) if self.binds else ""

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """The models and codebooks on this machine that it names."""
        options = self.options()
        own = [str(getattr(options, each.name)) for each in self.entry().declared if "checkpoint" in each.extra]
        codebook = dict(self.compression.params).get("codebook", "") if self.compression else ""
        return tuple(name for name in (*own, self.encoder, str(codebook)) if name)

    @property
    def bare(self) -> Stage:
        """The model with its compression alone: what an index is built for."""
        return Stage(self.model, self.compression)

    @property
    def default_k(self) -> int:
        """The k that its name leaves out."""
        if self.takes_best:
            return BEST
        return next((entry.k for entry in REGISTRY.of("reranker") if entry.name == self.model.name), K)

    @property
    def reads(self) -> tuple[str, ...]:
        """What its model reads in addition to texts."""
        return self.entry().reads_with(self.model.params)

    @property
    def uses_conditions(self) -> bool:
        """Whether it looks at the queries' conditions."""
        return self.quantity is not None or "conditions" in self.reads

    @property
    def uses_quantities(self) -> bool:
        """Whether it looks at the documents' quantities."""
        return self.quantity is not None or "quantities" in self.reads

    def entry(self, registry: Registry = REGISTRY) -> Entry:
        """The entry of its model."""
        return registry.model(self.model.name)

    def options(self, registry: Registry = REGISTRY) -> Any:
        """The options of its model, an instance of the entry's dataclass."""
        return self.entry(registry).typed(self.model.params)

    def compression_options(self, registry: Registry = REGISTRY) -> Any:
        """The options of its compression, which are a codec; None where it has none."""
        if self.compression is None:
            return None
        return registry.find(self.compression.name, "compression").typed(self.compression.params)

    def quantity_options(self, registry: Registry = REGISTRY) -> Any:
        """The options of its quantity score, an instance of that entry's dataclass; None where it has no such score."""
        if self.quantity is None:
            return None
        return registry.find(self.quantity.name, "quantity score").typed_on(self.entry(registry), self.quantity.params)

    def fusion_options(self, registry: Registry = REGISTRY) -> Any:
        """The options of its fusion, an instance of that entry's dataclass; None where it has no fusion."""
        if self.fusion is None:
            return None
        return registry.find(self.fusion.name, "fusion").typed(self.fusion.params)

    def __str__(self) -> str:
        params = (self.quantity.params if self.quantity else ()) + self.model.params
        text = str(Component(self.written, params + ((("k", self.k),) if self.k != self.default_k else ())))
        return text + "".join(f"-{tail}" for tail in (self.compression, self.fusion) if tail)


@dataclass(frozen=True)
class System:
    """A retrieval system.

    Attributes:
        stages: the first stage, then the rerankers, each of which ranks the best of what the one before it gives.
    """

    stages: tuple[Stage, ...]

    @property
    def first(self) -> Stage:
        """The first stage."""
        return self.stages[0]

    @property
    def rerankers(self) -> tuple[Stage, ...]:
        """The stages after the first."""
        return self.stages[1:]

    @property
    def roles(self) -> tuple[tuple[Stage, Role], ...]:
        """Its stages with their roles."""
        return ((self.first, "first stage"), *((stage, "reranker") for stage in self.rerankers))

    @property
    def uses_conditions(self) -> bool:
        """Whether it looks at the queries' conditions."""
        return any(stage.uses_conditions for stage in self.stages)

    @property
    def uses_quantities(self) -> bool:
        """Whether it looks at the documents' quantities."""
        return any(stage.uses_quantities for stage in self.stages)

    @property
    def is_neural(self) -> bool:
        """Whether a model on this machine encodes texts for it: then its figures depend on torch and its kin."""
        return any(stage.entry().is_neural or stage.encoder for stage in self.stages)

    def paths(self) -> list[str]:
        """The paths among its parameters."""
        parts = [(each.model, each.compression, each.quantity, each.fusion) for each in self.stages]
        values = [value for part in parts for component in part if component for _, value in component.params]
        return [value for value in values if isinstance(value, str) and is_path(value)]

    def shown(self, parts: int = 1) -> str:
        """Its name with the last parts of the paths in it, which say nothing of the machine that it ran on."""
        return str(System(tuple(_shown(stage, parts) for stage in self.stages)))

    def __str__(self) -> str:
        return " + ".join(map(str, self.stages))


def shown_systems(systems: Iterable[System]) -> dict[str, str]:
    """The names of systems as tables show them: paths by their last part, by more where two would be called alike.

    Returns:
        name in the grammar -> name that is shown; all different.
    """
    names: dict[str, str] = {}
    alike: dict[str, dict[str, System]] = {}
    for system in systems:
        alike.setdefault(system.shown(), {})[str(system)] = system
    for shown, group in alike.items():
        longer = ([each.shown(parts) for each in group.values()] for parts in range(1, 4))
        distinct = next((found for found in longer if len(set(found)) == len(group)), None)
        names |= zip(group, distinct or (f"{shown} ({n})" for n in range(1, len(group) + 1)), strict=True)
    return names


def _shown(stage: Stage, parts: int) -> Stage:
    def of(component: Component) -> Component:
        return replace(component, params=tuple((name, _last(value, parts)) for name, value in component.params))

    return replace(
        stage,
        model=of(stage.model),
        compression=stage.compression and of(stage.compression),
        quantity=stage.quantity and of(stage.quantity),
        fusion=stage.fusion and of(stage.fusion),
    )


def _last(value: Value, parts: int) -> Value:
    """The last parts of a path; any other value, a model's name on the hub among them, as it is."""
    if not isinstance(value, str) or not is_path(value):
        return value
    path = Path(value) if Path(value).name not in ("", "..") else Path(value).resolve()
    return "/".join([part for part in path.parts if part not in (path.anchor, "..", "~")][-parts:]) or value


def _parameters(params: Iterable[tuple[str, Value]]) -> str:
    written = ", ".join(f"{name}={_written(value)}" for name, value in params)
    return f"({written})" if written else ""


def _written(value: Value) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, int) or _BARE.fullmatch(value):
        return str(value)
    return json.dumps(value, ensure_ascii=False)
