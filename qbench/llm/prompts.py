"""Prompts: what a model is told to do, as files with a version, and the form that its answer must have.

A prompt is TOML. Those that come with qbench lie in prompts/; docs/how-to/expand.md says how to write one's own.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.errors import OptionError
from qbench.options import option
from qbench.store import digest
from qbench.toml_files import TomlFile

Slots = Mapping[str, str]
"""What stands in a prompt's places for one input, by name."""


@dataclass(frozen=True)
class Task:
    """A kind of question.

    Attributes:
        slots: places that a prompt's `user` may have; the first one it must have.
        field: the one field of the JSON object that the model answers with.
        many: whether the field holds a list of texts; else it holds one text.
    """

    slots: tuple[str, ...]
    field: str
    many: bool

    @property
    def schema(self) -> dict[str, Any]:
        """The answer's JSON schema, within what providers' strict mode allows."""
        text = {"type": "string"}
        return {
            "type": "object",
            "properties": {self.field: {"type": "array", "items": text} if self.many else text},
            "required": [self.field],
            "additionalProperties": False,
        }

    @property
    def form(self) -> str:
        """What the model is told about the form of its answer; some servers want the word JSON in the text."""
        shown = json.dumps({self.field: ["...", "..."] if self.many else "..."})
        return f"Answer with JSON alone, of this form: {shown}"


TASKS = {
    "expand": Task(("concept", "units", "count"), "names", many=True),
    "rewrite": Task(("query", "keep"), "query", many=False),
}

FOLDER = "prompts"
BUILT_IN: dict[str, tuple[str, ...]] = {
    "expand": ("general", "finance", "medical", "products"),
    "rewrite": ("general",),
}
"""Task -> the prompts for it that come with qbench; prompts/TASK-NAME.toml."""


@dataclass(frozen=True)
class Example:
    """One question and the answer that is wanted."""

    slots: tuple[tuple[str, str], ...]
    answer: str | tuple[str, ...]


@dataclass(frozen=True)
class Prompt:
    """What a model is told.

    Attributes:
        name: of the file, without folder and ending.
        task: a key of `TASKS`.
        version: raised with every change of what is said.
        system: the instruction.
        user: a question, with places in braces.
        examples: shown as earlier turns of the talk.
    """

    name: str
    task: str
    version: int
    system: str
    user: str
    examples: tuple[Example, ...] = ()

    @property
    def answer(self) -> Task:
        """The task, which knows the form of the answer."""
        return TASKS[self.task]

    @property
    def given(self) -> str:
        """What names it on a command line: qbench's own by their name, others by their file, without its folder."""
        short = self.name.removeprefix(f"{self.task}-")
        own = short in BUILT_IN[self.task] and load_prompt(self.task, short).digest == self.digest
        return short if own else f"{self.name}.toml"

    @property
    def digest(self) -> str:
        """16 digits that name all that is sent besides the input."""
        return digest({"version": self.version, "opening": self.opening(), "user": self.user})

    def opening(self) -> list[dict[str, str]]:
        """The messages before the question: the instruction, then the examples."""
        messages = [{"role": "system", "content": f"{self.system}\n{self.answer.form}"}]
        for example in self.examples:
            answer = list(example.answer) if self.answer.many else example.answer
            messages.append(self.question(dict(example.slots)))
            messages.append(
                {"role": "assistant", "content": json.dumps({self.answer.field: answer}, ensure_ascii=False)}
            )
        return messages

    def question(self, slots: Slots) -> dict[str, str]:
        """The message that asks about one input; each slot becomes one line."""
        filled = {name: " ".join(text.split()) for name, text in slots.items()}
        return {"role": "user", "content": self.user.format(**filled)}


def load_prompt(task: str, name: str | Path) -> Prompt:
    """A prompt of qbench's by name, or one of the user's by the path of its file (it ends in .toml).

    Raises:
        OptionError: there is no such name.
        InputError: the file is missing, no TOML, or no prompt for this task.
    """
    if Path(name).suffix != ".toml":
        if str(name) not in BUILT_IN[task]:
            remedy = f"Known: {', '.join(BUILT_IN[task])}; a file of your own ends in .toml"
            raise OptionError(f"no prompt to {task} has this name", value=str(name), remedy=remedy)
        from qbench.resources import resource

        name = resource(f"{FOLDER}/{task}-{name}.toml")
    file = TomlFile.open(Path(name), "prompt")
    read = file.read(_File)
    if read.task != task:
        remedy = f'Write task = "{task}" if it is meant for this one'
        raise file.error("task", message="this prompt is for another task", value=read.task, remedy=remedy)
    slots = _slots(file, task, read.user)
    examples = tuple(_example(file, task, row, slots, number) for number, row in enumerate(read.example))
    return Prompt(file.path.stem, task, read.version, read.system.strip(), read.user.strip(), examples)


@dataclass(frozen=True)
class _File:
    """A file of a prompt."""

    task: str
    version: int = option(help="Raised with every change of the words.", low=1)
    system: str = option(help="The instruction.")
    user: str = option(help="A question, with slots in braces.")
    example: tuple[dict[str, Any], ...] = option((), help="Questions and answers, shown as earlier turns.")


def _slots(file: TomlFile, task: str, user: str) -> list[str]:
    """The slots of a question, in order."""
    known = TASKS[task].slots
    listed = ", ".join(f"{{{slot}}}" for slot in known)
    try:
        fields = [field for _, *field in string.Formatter().parse(user) if field[0] is not None]
    except ValueError as fault:
        raise file.error("user", message=f"the braces do not match: {fault}", value=user) from None
    for name, spec, conversion in fields:
        if name not in known or spec or conversion:
            raise file.error("user", message="unknown slot", value=name, remedy=f"Known: {listed}")
    names = [str(field[0]) for field in fields]
    if known[0] not in names:
        raise file.error("user", message=f"lacks {{{known[0]}}}", value=user)
    return names


def _example(file: TomlFile, task: str, row: Mapping[str, Any], slots: Sequence[str], number: int) -> Example:
    form = TASKS[task]
    shape = tuple[str, ...] if form.many else str
    texts = {key: file.value(shape if key == "answer" else str, row[key], ("example", number, key)) for key in row}
    for key in row:
        if key not in (*form.slots, "answer"):
            raise file.error("example", number, key, message="unknown entry", value=key)
    answer = texts.get("answer", ())
    # How many names an example asks for is how many it gives.
    given = {"count": str(len(answer)), **texts} if form.many else texts
    for key in (*slots, "answer"):
        if not given.get(key):
            raise file.error("example", number, message=f"{key} is missing")
    return Example(tuple((slot, given[slot]) for slot in dict.fromkeys(slots)), answer)
