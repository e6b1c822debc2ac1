"""The reference of systems, made from the registry."""

from __future__ import annotations

from dataclasses import dataclass

from qbench.retrieval.entries import REGISTRY
from qbench.retrieval.registry import RERANKED, Entry, Parameter, Registry


@dataclass(frozen=True)
class Row:
    """What there is to know about one way to write a model.

    Attributes:
        name: how it is written, without parameters.
        what: what it does.
        source: paper and equation, or package.
        parameters: those that it takes.
        needs: what it cannot do without.
    """

    name: str
    what: str
    source: str
    parameters: tuple[Parameter, ...]
    needs: tuple[str, ...]


def rows(registry: Registry = REGISTRY) -> list[Row]:
    """One row for each model, alone and with each quantity score, then for the other parts."""
    found = [_row(form, model, quantity) for form, model, quantity in registry.forms("first stage")]
    others = [e for e in registry.entries if not {"first stage", "quantity score"} & set(e.roles)]
    return found + [Row(e.name, e.what, e.source, e.parameters, e.needs) for e in others]


def _row(form: str, model: Entry, quantity: Entry | None) -> Row:
    if quantity is None:
        return Row(form, model.what, model.source, model.parameters_as("first stage"), model.needs)
    return Row(
        form,
        f"{model.name} {quantity.what}",
        quantity.source,
        (*quantity.parameters_on(model), *model.parameters_as("first stage")),
        (*model.needs, *quantity.needs),
    )


def default(parameter: Parameter) -> str:
    """A parameter with its default, as written: "k1=1.5"; "path=..." where it has to be given."""
    value = parameter.default
    shown = "..." if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return f"{parameter.name}={shown}"


def markdown(registry: Registry = REGISTRY) -> str:
    """The reference page."""
    lines = [
        "# Systems",
        "",
        "Made by `qbench systems --markdown` from the registry; change `qbench/retrieval/entries.py`, not this page.",
        "",
        "A system is written",
        "",
        "    first stage [+ reranker [- compression] [- fusion]]",
        "",
        "where Q before a first stage's name adds the quantity score, and _filter after it filters by the conditions.",
        "Parameters stand in parentheses; those left out have their defaults: `QBM25(alpha=0.5, k1=0.9)`. A value with",
        'spaces is quoted: `Run(path="my runs/a.trec")`. Systems that need conditions run in two settings:',
        "*given* (as data) and *parsed* (from the query's text, by qbench).",
        "",
        "| system | what it does | source | parameters | needs |",
        "|---|---|---|---|---|",
    ]
    for row in rows(registry):
        defaults = ", ".join(f"`{default(p)}`" for p in row.parameters)
        lines.append(f"| `{row.name}` | {row.what} | {row.source} | {defaults} | {', '.join(row.needs)} |")
    lines += ["", "## Parameters", "", "| of | parameter | default | allowed | what it does |", "|---|---|---|---|---|"]
    for entry in registry.entries:
        for p in (*entry.parameters, *entry.search_parameters, *entry.score_parameters):
            owner = f"Q{entry.name}" if p in entry.score_parameters else entry.name
            shown = default(p).partition("=")[2]
            lines.append(f"| `{owner}` | `{p.name}` | `{shown}` | {p.allowed()} | {p.help} |")
    shown = default(RERANKED).partition("=")[2]
    lines.append(f"| any reranker | `{RERANKED.name}` | `{shown}` | {RERANKED.allowed()} | {RERANKED.help} |")
    return "\n".join(lines) + "\n"
