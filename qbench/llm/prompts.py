"""Prompts of chat models: TOML files with a version, and the form of their answers.

qbench's own are in prompts/; docs/how-to/expand.md says how to write others.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import Any, Literal

from qbench.errors import OptionError
from qbench.options import option
from qbench.resources import resource
from qbench.store import digest
from qbench.toml_files import TomlFile

Slots = Mapping[str, str]
"""The values of a prompt's slots for one input, by name."""


@dataclass(frozen=True)
class Task:
    """A kind of question.

    Attributes:
        slots: slots that a prompt's `user` may have.
        field: the only field of the JSON object that the model answers with; "" where it answers in plain text.
        many: whether the field holds a list of texts; else it holds one text.
        told: the instruction about the form of an answer in plain text, by the code of a prompt's language.
        choices: the numbers of which a plain answer is one; their probabilities are asked for, too.
        blocks: slots whose line breaks stay; each other slot becomes one line.
        optional: slots that may be empty: the lines of `user` with an empty one are left out.
        required: number of slots, from the first, that `user` must have.
    """

    slots: tuple[str, ...]
    field: str = ""
    many: bool = False
    told: Mapping[str, str] = dataclass_field(default_factory=dict)
    choices: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    required: int = 1

    @property
    def schema(self) -> dict[str, Any]:
        """The answer's JSON schema, within the limits of providers' strict mode; {} for an answer in plain text."""
        if not self.field:
            return {}
        text = {"type": "string"}
        return {
            "type": "object",
            "properties": {self.field: {"type": "array", "items": text} if self.many else text},
            "required": [self.field],
            "additionalProperties": False,
        }

    def form(self, language: str) -> str:
        """The instruction about the form of the answer; some servers require the word JSON in the text."""
        if not self.field:
            return self.told.get(language, self.told[ENGLISH])
        shown = json.dumps({self.field: ["...", "..."] if self.many else "..."})
        return f"{FORMS.get(language, FORMS[ENGLISH])}{shown}"

    def answered(self, answer: str | tuple[str, ...]) -> str:
        """An example's answer as the model is to write it."""
        if not self.field:
            return str(answer)
        return json.dumps({self.field: list(answer) if self.many else answer}, ensure_ascii=False)


ENGLISH = "en"

FORMS = {ENGLISH: "Answer with JSON alone, of this form: ", "zh": "只用 JSON 回答，格式如下："}
"""What comes before the form of an answer, by the code of a prompt's language."""

TASKS = {
    "expand": Task(("concept", "units", "count"), "names", many=True),
    "rewrite": Task(("query", "keep"), "query"),
    "audit": Task(("claim", "query", "condition", "text"), "verdict"),
    "score": Task(
        ("text", "query", "condition", "quantities"),
        told={ENGLISH: "Answer with one number alone, from 1 to 5.", "zh": "只回答一个数字，从 1 到 5。"},
        choices=("1", "2", "3", "4", "5"),
        optional=("condition", "quantities"),
        required=2,
    ),
    "rank": Task(
        ("texts", "query", "condition", "count"),
        told={
            ENGLISH: "Answer with the numbers of all texts alone, the best text first, in this form: [2] > [3] > [1]",
            "zh": "只回答全部文本的编号，最好的在前，格式如下：[2] > [3] > [1]",
        },
        blocks=("texts",),
        optional=("condition",),
        required=2,
    ),
    "compare": Task(
        ("first", "second", "query", "condition"),
        told={ENGLISH: "Answer with one number alone: 1 or 2.", "zh": "只回答一个数字：1 或 2。"},
        choices=("1", "2"),
        blocks=("first", "second"),
        optional=("condition",),
        required=3,
    ),
}
"""Those of rerankers are the last three: `qbench.retrieval.language_models`."""

FOLDER = "prompts"
BUILT_IN: dict[str, tuple[str, ...]] = {
    "expand": (
        *("general", "finance", "medical", "products"),
        *("general.zh", "finance.zh", "medical.zh", "products.zh"),
    ),
    "rewrite": ("general", "general.zh"),
    "audit": ("benchmark", "pairs", "benchmark.zh", "pairs.zh"),
    "score": ("general", "general.zh"),
    "rank": ("general", "general.zh"),
    "compare": ("general", "general.zh"),
}
"""Task -> qbench's own prompts for it; prompts/TASK-NAME.toml. Names of those that are not in English end in a code."""


@dataclass(frozen=True)
class Example:
    """One question with the right answer."""

    slots: tuple[tuple[str, str], ...]
    answer: str | tuple[str, ...]


@dataclass(frozen=True)
class Prompt:
    """An instruction, examples, and the form of a question.

    Attributes:
        name: name of the file, without folder and suffix.
        task: a key of `TASKS`.
        version: raised with every change of the words.
        system: the instruction.
        user: a question, with slots in braces.
        examples: sent as earlier turns of the conversation.
        language: code of the language that it is written in.
    """

    name: str
    task: str
    version: int
    system: str
    user: str
    examples: tuple[Example, ...] = ()
    language: str = ENGLISH

    @property
    def answer(self) -> Task:
        """The task, which has the form of the answer."""
        return TASKS[self.task]

    def has(self, slot: str) -> bool:
        """Whether a question has a slot."""
        return f"{{{slot}}}" in self.user

    @property
    def digest(self) -> str:
        """16 hexadecimal digits for everything that is sent with the input."""
        return digest({"version": self.version, "opening": self.opening(), "user": self.user})

    def opening(self) -> list[dict[str, str]]:
        """The messages before the question: the instruction, then the examples."""
        messages = [{"role": "system", "content": f"{self.system}\n{self.answer.form(self.language)}"}]
        for example in self.examples:
            messages.append(self.question(dict(example.slots)))
            messages.append({"role": "assistant", "content": self.answer.answered(example.answer)})
        return messages

    def question(self, slots: Slots) -> dict[str, str]:
        """The message that asks about one input; each slot becomes one line, but for the blocks of the task."""
        task = self.answer
        filled = {name: text if name in task.blocks else " ".join(text.split()) for name, text in slots.items()}
        left_out = [f"{{{name}}}" for name in task.optional if not filled.get(name)]
        lines = [line for line in self.user.split("\n") if not any(slot in line for slot in left_out)]
        return {"role": "user", "content": "\n".join(lines).format(**filled)}


def load_prompt(task: str, name: str | Path, language: str = ENGLISH) -> Prompt:
    """Read one of qbench's own prompts by its name, or another one by its path, which ends in .toml.

    Args:
        task: a key of `TASKS`.
        name: of the prompt. One that has a version in the language is taken in that.
        language: code of the language of what is asked about.

    Raises:
        OptionError: there is no such name.
        InputError: the file is missing, is not TOML, or is no prompt for this task.
    """
    if Path(name).suffix != ".toml":
        if f"{name}.{language}" in BUILT_IN[task]:
            name = f"{name}.{language}"
        if str(name) not in BUILT_IN[task]:
            remedy = f"Known: {', '.join(BUILT_IN[task])}; a file of your own ends in .toml"
            raise OptionError(f"no prompt to {task} has this name", value=str(name), remedy=remedy)
        name = resource(f"{FOLDER}/{task}-{name}.toml")
    file = TomlFile.open(Path(name), "prompt")
    read = file.read(_File)
    if read.task != task:
        remedy = f'Write task = "{task}" if it is meant for this one'
        raise file.error("task", message="this prompt is for another task", value=read.task, remedy=remedy)
    slots = _slots(file, task, read.user)
    examples = tuple(_example(file, task, row, slots, number) for number, row in enumerate(read.example))
    return Prompt(file.path.stem, task, read.version, read.system.strip(), read.user.strip(), examples, read.language)


@dataclass(frozen=True)
class _File:
    """The content of a prompt's file."""

    task: str
    version: int = option(help="Raised with every change of the words.", low=1)
    system: str = option(help="The instruction.")
    user: str = option(help="A question, with slots in braces.")
    language: Literal["en", "zh"] = option("en", help="The language that it is written in, and that answers are in.")
    example: tuple[dict[str, Any], ...] = option((), help="Questions and answers, shown as earlier turns.")


def _slots(file: TomlFile, task: str, user: str) -> list[str]:
    """The slots of a question, in order."""
    allowed = TASKS[task].slots
    listed = ", ".join(f"{{{slot}}}" for slot in allowed)
    try:
        fields = [field for _, *field in string.Formatter().parse(user) if field[0] is not None]
    except ValueError as error:
        raise file.error("user", message=f"the braces do not match: {error}", value=user) from None
    for name, spec, conversion in fields:
        if name not in allowed or spec or conversion:
            raise file.error("user", message="unknown slot", value=name, remedy=f"Known: {listed}")
    names = [str(field[0]) for field in fields]
    for name in allowed[: TASKS[task].required]:
        if name not in names:
            raise file.error("user", message=f"lacks {{{name}}}", value=user)
    return names


def _example(file: TomlFile, task: str, row: Mapping[str, Any], slots: Sequence[str], number: int) -> Example:
    form = TASKS[task]
    shape = tuple[str, ...] if form.many else str
    texts = {key: file.value(shape if key == "answer" else str, row[key], ("example", number, key)) for key in row}
    for key in row:
        if key not in (*form.slots, "answer"):
            raise file.error("example", number, key, message="unknown entry", value=key)
    answer = texts.get("answer", ())
    # An example asks for as many names as it gives.
    given = {"count": str(len(answer)), **texts} if form.many else texts
    for key in (*slots, "answer"):
        if not given.get(key) and key not in form.optional:
            raise file.error("example", number, message=f"{key} is missing")
    return Example(tuple((slot, given.get(slot, "")) for slot in dict.fromkeys(slots)), answer)
