"""The reference of systems, made from the registry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from qbench.retrieval.entries import BUILT_IN, REGISTRY
from qbench.retrieval.registry import RERANKED, SCORED, Entry, Parameter, Registry, Role, Value, affixed
from qbench.retrieval.systems import Component, System


@dataclass(frozen=True)
class Row:
    """A row of the reference of components.

    Attributes:
        role: role in a system; a quantity score is listed with its model.
        name: name in the grammar, without parameters.
        what: description.
        source: paper and equation, or package.
        parameters: its parameters in this role.
        needs: its requirements.
    """

    role: Role
    name: str
    what: str
    source: str
    parameters: tuple[Parameter, ...]
    needs: tuple[str, ...]


OTHERS: tuple[Role, ...] = ("reranker", "compression", "fusion")
"""Roles of components after a first stage."""


def rows(registry: Registry = REGISTRY) -> list[Row]:
    """One row for each first stage, alone and with each quantity score, then for the components that may follow one.

    Rerankers stand there alone: what a quantity score does with them is what it does with first stages.
    """
    first_stages = [_row("first stage", *form) for form in registry.forms("first stage")]
    return first_stages + [_row(role, entry.name, entry, None) for role in OTHERS for entry in registry.of(role)]


def _row(role: Role, form: str, model: Entry, quantity: Entry | None) -> Row:
    if quantity is None:
        return Row(role, form, model.what, model.source, model.parameters_as(role), model.needs)
    best = (SCORED,) if role == "first stage" and quantity.takes_best(model) else ()
    return Row(
        role,
        form,
        f"{model.name} {quantity.what}",
        quantity.source,
        (*quantity.parameters_on(model, role), *model.parameters_as(role), *best),
        (*model.needs, *quantity.needs),
    )


def components(system: System, registry: Registry = REGISTRY) -> list[tuple[Row, Mapping[str, Value]]]:
    """Every component of a system, in the order in which they are written, with the parameters that it was given."""
    listed: list[tuple[Row, Mapping[str, Value]]] = []

    def add(role: Role, component: Component | None) -> None:
        if component is not None:
            row = _row(role, component.name, registry.find(component.name, role), None)
            listed.append((row, dict(component.params)))

    for stage, role in system.roles:
        quantity = registry.find(stage.quantity.name, "quantity score") if stage.quantity else None
        params = dict(stage.model.params) | dict(stage.quantity.params if stage.quantity else ())
        listed.append((_row(role, stage.written, registry.find(stage.model.name, role), quantity), params))
        if role == "reranker" or stage.takes_best:
            params[RERANKED.name] = stage.k
        add("compression", stage.compression)
        add("fusion", stage.fusion)
    return listed


def default(parameter: Parameter) -> str:
    """A parameter with its default, as written: "k1=1.5"; "path=..." where it has to be given."""
    value = parameter.default
    text = "..." if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return f"{parameter.name}={text}"


def markdown(registry: Registry = BUILT_IN) -> str:
    """The reference page."""
    lines = [
        "# Systems",
        "",
        "Made by `qbench systems --markdown` from the registry; change `qbench/retrieval/entries.py`, not this page.",
        "",
        "A system is written",
        "",
        "    first stage {+ reranker [- compression] [- fusion]}",
        "",
        "with any number of rerankers, each of which ranks the best `k` documents of the ranking before it. Scores for",
        "quantities stand before or after a model's name: `QBM25`, `BindBM25`, `BM25_filter`.",
        "Parameters stand in parentheses; those left out have their defaults: `QBM25(alpha=0.5, k1=0.9)`. A value with",
        'spaces is quoted: `Run(path="my runs/a.trec")`. Systems that need conditions run in two settings:',
        "*given* (as data: oracle conditions) and *parsed* (from the query's text, by qbench: predicted conditions).",
        "",
        "## First stages",
        "",
        "| system | what it does | source | parameters | needs |",
        "|---|---|---|---|---|",
    ]
    lines += [_line(_row("first stage", entry.name, entry, None)) for entry in registry.of("first stage")]
    lines += _quantity_scores(registry)
    for role in OTHERS:
        lines += _section(role, [row for row in rows(registry) if row.role == role])
    lines += ["", "## Parameters", "", "| of | parameter | default | allowed | what it does |", "|---|---|---|---|---|"]
    for owners, p in _owned(registry):
        text = default(p).partition("=")[2]
        lines.append(f"| {owners} | `{p.name}` | `{text}` | {p.allowed()} | {p.help} |")
    return "\n".join(lines) + "\n"


def _quantity_scores(registry: Registry) -> list[str]:
    """What may stand before or after the name of each model, and the words that stand for several parameters."""
    models = registry.of("first stage")
    if not models or not registry.of("quantity score"):
        return []
    lines = [
        "",
        "## Scores for quantities",
        "",
        f"Written with the name of any first stage or reranker, here {models[0].name}'s; their parameters stand with",
        "the model's own in one pair of parentheses.",
        "",
        "| system | what it does | source | parameters | needs |",
        "|---|---|---|---|---|",
    ]
    words = []
    for entry in registry.of("quantity score"):
        form = affixed(entry.name, models[0].name)
        own = entry.parameters_on(models[0], "first stage")
        lines.append(_line(Row("quantity score", form, entry.what, entry.source, own, entry.needs)))
        for word, values in entry.presets_on(models[0]).items():
            known = {p.name: p.default for p in (*own, *models[0].parameters)}
            meant = ", ".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in values.items())
            default_too = ", ".join(k for k, v in values.items() if known[k] == v)
            note = f"; {default_too} is the default" if default_too else ""
            words.append(f"`{form}({word})` stands for `{form}({meant})`{note}")
    return [*lines, *(["", ". ".join(words) + "."] if words else [])]


_LEADS: Mapping[Role, str] = {
    "reranker": "Written after ` + `: `BM25 + SBERT(model=my-model, k=100)`. It scores the best `k` documents anew. "
    "Q, Bind and _filter stand with it as with a first stage: `BM25 + QSBERT(alpha=0.5, model=my-model)`.",
    "compression": "Written after a model's name and `-`.",
    "fusion": "Written after a reranker and `-`: `BM25 + SBERT(model=my-model)-I(alpha=0.1)`.",
}


def _section(role: Role, listed: list[Row]) -> list[str]:
    if not listed:
        return []
    lines = ["", f"## {role.capitalize()}s", "", _LEADS[role], ""]
    if role == "reranker":  # what they do stands above
        lines += ["| reranker | parameters | needs |", "|---|---|---|"]
        return lines + [f"| `{row.name}` | {_defaults(row)} | {', '.join(row.needs)} |" for row in listed]
    lines += [f"| {role} | what it does | source | parameters | needs |", "|---|---|---|---|---|"]
    return lines + [_line(row) for row in listed]


def _line(row: Row) -> str:
    return f"| `{row.name}` | {row.what} | {row.source} | {_defaults(row)} | {', '.join(row.needs)} |"


def _defaults(row: Row) -> str:
    return ", ".join(f"`{default(p)}`" for p in row.parameters)


def _owned(registry: Registry) -> Iterator[tuple[str, Parameter]]:
    """Each parameter once, with the names of all components that have it."""
    owners: dict[Parameter, list[str]] = {}
    for entry in registry.entries:
        for p in (*entry.parameters, *entry.search_parameters):
            owners.setdefault(p, []).append(f"`{entry.name}`" + (" *" if p in entry.search_parameters else ""))
        for p in entry.score_parameters:
            owners.setdefault(p, []).append(f"`Q{entry.name}`")
    for p, names in owners.items():
        if any(name.endswith("*") for name in names):
            yield ", ".join(name.removesuffix(" *") for name in names) + " as first stages", p
        else:
            yield ", ".join(names), p
    yield "Q before a neural model", SCORED
    others = [entry for entry in registry.of("reranker") if entry.k != RERANKED.default]
    for k in sorted({entry.k for entry in others}, reverse=True):
        yield ", ".join(f"`{entry.name}`" for entry in others if entry.k == k), replace(RERANKED, default=k)
    yield "any other reranker" if others else "any reranker", RERANKED
