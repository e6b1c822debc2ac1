"""Prompts: what a model is told to do, as files with a version, and the form that its answer must have.

A prompt is TOML. Those that come with qbench lie in prompts/; docs/how-to/expand.md says how to write one's own.
"""

from __future__ import annotations

import json
import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.errors import InputError, OptionError
from qbench.store import digest, read_text

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
    path = Path(name)
    try:
        data = tomllib.loads(read_text(path, "prompt"))
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"not valid TOML: {fault}", file=path) from None
    return _Reader(path, task).prompt(data)


@dataclass(frozen=True)
class _Reader:
    """Checks what a prompt's file says; errors name the file and the key."""

    path: Path
    task: str

    def prompt(self, data: Mapping[str, Any]) -> Prompt:
        known = {"task", "version", "system", "user", "example"}
        for key in data:
            if key not in known:
                raise InputError(
                    "a prompt has no such key", file=self.path, value=key, remedy=f"Known: {', '.join(sorted(known))}"
                )
        if data.get("task") != self.task:
            raise InputError(
                "this prompt is for another task",
                file=self.path,
                value=data.get("task"),
                remedy=f'Write task = "{self.task}" if it is meant for this one',
            )
        version, rows = data.get("version"), data.get("example", [])
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise InputError("a prompt needs a version", file=self.path, value=version, remedy="Write version = 1")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InputError("examples are tables", file=self.path, remedy="Write [[example]]")
        user = self.text(data, "user")
        slots = self.slots(user)
        examples = tuple(self.example(row, slots, number) for number, row in enumerate(rows, start=1))
        return Prompt(self.path.stem, self.task, version, self.text(data, "system"), user, examples)

    def text(self, data: Mapping[str, Any], key: str) -> str:
        value = data.get(key)
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"a prompt needs `{key}`, a text", file=self.path, value=value)
        return value.strip()

    def slots(self, user: str) -> list[str]:
        known = TASKS[self.task].slots
        listed = ", ".join(f"{{{slot}}}" for slot in known)
        try:
            fields = [field for _, *field in string.Formatter().parse(user) if field[0] is not None]
        except ValueError as fault:
            raise InputError(f"the braces of `user` do not match: {fault}", file=self.path, value=user) from None
        for name, spec, conversion in fields:
            if name not in known or spec or conversion:
                raise InputError("unknown place in `user`", file=self.path, value=name, remedy=f"Known: {listed}")
        found = [str(field[0]) for field in fields]
        if known[0] not in found:
            raise InputError(f"`user` lacks {{{known[0]}}}", file=self.path, value=user)
        return found

    def example(self, row: Mapping[str, Any], slots: Sequence[str], number: int) -> Example:
        task, where = TASKS[self.task], f"example {number}"
        answer = row.get("answer")
        if task.many:
            good = isinstance(answer, list) and bool(answer) and all(isinstance(a, str) and a.strip() for a in answer)
        else:
            good = isinstance(answer, str) and bool(answer.strip())
        if not good:
            wanted = "a list of texts" if task.many else "a text"
            raise InputError(f"the `answer` of {where} should be {wanted}", file=self.path, value=answer)
        # How many names an example asks for is how many it gives.
        given = {"count": str(len(answer)), **row} if task.many and isinstance(answer, list) else dict(row)
        for slot in slots:
            if not isinstance(given.get(slot), str) or not given[slot].strip():
                raise InputError(f"{where} needs `{slot}`, a text", file=self.path, value=given.get(slot))
        for key in row:
            if key not in (*task.slots, "answer"):
                raise InputError(f"{where} has an unknown key", file=self.path, value=key)
        return Example(
            tuple((slot, given[slot]) for slot in dict.fromkeys(slots)),
            tuple(answer) if isinstance(answer, list) else str(answer),
        )
