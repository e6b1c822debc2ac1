"""Generate the reference pages from the code.

    python scripts/reference_pages.py

`qbench systems --markdown` makes the page of systems, `scripts/unit_families.py` the tables of units.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path

from qbench.evaluation.measures import DEFAULT_MEASURES, DESCRIBED
from qbench.generation.templates import load_templates
from qbench.llm.prompts import BUILT_IN, Prompt, load_prompt

PAGES = Path(__file__).parent.parent / "docs" / "reference"

SLOTS = {
    "concept": "what the number is about",
    "condition": "a phrase of the comparator",
    "unit_before": "a unit that precedes the number, or nothing",
    "value": "the number",
    "unit_after": "a unit that follows the number, or nothing",
}

PROMPTED = {
    "expand": "qbench expand-concepts --prompt NAME",
    "rewrite": "qbench gen-queries --rewrite --rewrite-prompt NAME",
    "audit": "qbench benchmark audit --model MODEL --prompt NAME",
    "score": "LLM-itemwise(model=MODEL, prompt=NAME)",
    "rank": "LLM-listwise(model=MODEL, prompt=NAME)",
    "compare": "LLM-pairwise(model=MODEL, prompt=NAME)",
}
PROMPTS_HEAD = """# Prompts

The messages sent to chat models, generated from the files in `prompts/` by `scripts/reference_pages.py`. [How to use
them, and write your own](../how-to/expand.md#a-prompt-of-your-own). Every card has the digest; answers
are recorded under it. One whose name ends in the code of a language (`general.zh`) is taken under its plain name
(`general`) where the texts are in that language.
"""


def measures() -> str:
    """The page of measures."""
    lines = [
        "# Measures",
        "",
        "`--measures` takes any of these names, and the leaderboard writes them back in the same form. Without it the",
        f"measures are {', '.join(DEFAULT_MEASURES)}, and the first decides the ranks.",
        "",
        "| measure | definition for one query |",
        "|---|---|",
        *(f"| `{name}` | {what} |" for name, what in DESCRIBED.items()),
        "",
        "Grades of 1 and more are relevant, unless a name says otherwise (`P(rel=2)@10`). A query that a run lacks",
        "scores 0. A mean is over all queries with a relevant document. Other cutoffs are possible, and",
        "any other measure of [ir-measures](https://ir-measur.es) that an installed package computes.",
        "",
    ]
    return "\n".join(lines)


def templates() -> str:
    """The page of query templates."""
    loaded = load_templates()
    lines = [
        "# Query templates",
        "",
        "The wording of generated queries, from `templates/queries.toml`.",
        "[A file of your own](../how-to/gen-queries.md#wording-of-your-own) replaces it.",
        "",
        "| template | text | comparators | about |",
        "|---|---|---|---|",
        *(
            f"| {one.name} | `{one.text}` | {' '.join(f'`{c}`' for c in one.comparators)} | {one.about} |"
            for one in loaded.templates
        ),
        "",
        "| slot | content |",
        "|---|---|",
        *(f"| `{{{slot}}}` | {what} |" for slot, what in SLOTS.items()),
        "",
        "## Phrases",
        "",
        "| comparator | phrases | of counts and changes |",
        "|---|---|---|",
        *(
            f"| `{comparator}` | {', '.join(phrases)} | {', '.join(loaded.amount_phrases.get(comparator, phrases))} |"
            for comparator, phrases in loaded.phrases.items()
        ),
        "",
        "## Several constraints",
        "",
        "| constraints | joined as |",
        "|---|---|",
        *(f"| {number} | {', '.join(f'`{join}`' for join in joins)} |" for number, joins in loaded.joins.items()),
        "",
    ]
    return "\n".join(lines)


def prompts() -> str:
    """The page of prompts."""
    parts = [PROMPTS_HEAD]
    for task, names in BUILT_IN.items():
        answer = load_prompt(task, names[0]).answer
        schema = f"The schema of the answer: `{json.dumps(answer.schema, sort_keys=True)}`."
        said = schema if answer.field else "The answer is plain text."
        parts.append(f"## {task}\n\n`{PROMPTED[task]}`. {said}\n")
        parts += [_prompt(name, load_prompt(task, name)) for name in names]
    return "\n".join(parts)


def _prompt(name: str, prompt: Prompt) -> str:
    """One prompt: the messages before the question, then the question."""
    lines = [f"### {prompt.task}: {name}\n\nVersion {prompt.version}, digest `{prompt.digest}`.\n"]
    for message in [*prompt.opening(), {"role": "user", "content": prompt.user}]:
        block = "\n".join(f"    {line}".rstrip() for line in message["content"].splitlines())
        lines.append(f"{message['role']}:\n\n{block}\n")
    return "\n".join(lines)


def rooms() -> str:
    """The page of rooms."""
    page: str = runpy.run_path(str(Path(__file__).with_name("rooms.py")))["drawing"]()
    return page


WRITTEN: Mapping[str, Callable[[], str]] = {
    "measures.md": measures,
    "templates.md": templates,
    "prompts.md": prompts,
    "rooms.md": rooms,
}

if __name__ == "__main__":
    for name, page in WRITTEN.items():
        (PAGES / name).write_text(page(), encoding="utf-8")
