"""Write docs/reference/prompts.md from the prompts that come with qbench.

    python scripts/prompt_page.py

Run it after a change in prompts/; a test compares the page with `page`.
"""

from __future__ import annotations

import json
from pathlib import Path

from qbench.llm.prompts import BUILT_IN, Prompt, load_prompt

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "prompts.md"
VERBS = {"expand": "qbench expand-concepts --prompt", "rewrite": "qbench gen-queries --rewrite --rewrite-prompt"}
HEAD = """# Prompts

What chat models are told, made from the files in [prompts/](../../prompts) by `scripts/prompt_page.py`. [How to use
them, and write your own](../how-to/expand.md#a-prompt-of-your-own). The digest stands in every record and card; answers
are recorded under it.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for task, names in BUILT_IN.items():
        answer = load_prompt(task, names[0]).answer
        schema = json.dumps(answer.schema, sort_keys=True)
        parts.append(f"## {task}\n\n`{VERBS[task]} NAME`. The schema of the answer: `{schema}`.\n")
        parts += [section(name, load_prompt(task, name)) for name in names]
    return "\n".join(parts)


def section(name: str, prompt: Prompt) -> str:
    """One prompt: the messages before the question, then the question."""
    lines = [f"### {prompt.task}: {name}\n\nVersion {prompt.version}, digest `{prompt.digest}`.\n"]
    for message in [*prompt.opening(), {"role": "user", "content": prompt.user}]:
        block = "\n".join(f"    {line}".rstrip() for line in message["content"].splitlines())
        lines.append(f"{message['role']}:\n\n{block}\n")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
