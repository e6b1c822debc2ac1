"""What a chat model wrote -> the texts in it: JSON of a task's form, found also among other words."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qbench.llm.prompts import Task

EMPTY = "empty"
CUT = "cut off at --max-tokens"
NO_TEXT = "not a text"
FORMLESS = "not JSON of the form that was asked for"

_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_STARTS = 20
"""How many braces are tried as the start of the object."""


def texts_of(answer: Any, task: Task) -> tuple[list[str], list[tuple[str, str]]]:
    """The texts in an answer of `OpenAIChat`; and what in it is none, each with the reason.

    A model may think aloud first, fence its JSON, or greet: the first JSON object with the field counts. Where a whole
    answer holds no text, what is told is "".

    >>> from qbench.llm.prompts import TASKS
    >>> texts_of({"text": 'Sure! {"names": ["money taken in", 5]}', "finish": "stop"}, TASKS["expand"])
    (['money taken in'], [('5', 'not a text')])
    """
    found = answer if isinstance(answer, dict) else {}
    text = str(found.get("text") or "")
    said = _THOUGHT.sub("", text).strip()
    value = _field(said, task.field)
    if isinstance(value, list) if task.many else isinstance(value, str):
        every = value if task.many else [value]
        # Half of a surrogate pair, which JSON can say and UTF-8 cannot.
        texts = [one.encode(errors="replace").decode() for one in every if isinstance(one, str)]
        others = [(json.dumps(one), NO_TEXT) for one in every if not isinstance(one, str)]
        if any(one.strip() for one in texts):
            return texts, others
        return [], others or [("", EMPTY)]
    if found.get("finish") == "length":
        return [], [("", CUT)]
    return [], [("", FORMLESS if said else EMPTY)]


def _field(text: str, name: str) -> Any:
    decoder = json.JSONDecoder()
    at = -1
    for _ in range(_STARTS):
        at = text.find("{", at + 1)
        if at < 0:
            return None
        try:
            value, _ = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and name in value:
            return value[name]
    return None
