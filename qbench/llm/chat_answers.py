"""The texts in a chat model's answer: JSON of a task's form, also among other words."""

from __future__ import annotations

import json
import re
from typing import Any

from qbench.llm.prompts import Task

EMPTY = "empty"
CUT = "cut off at --max-tokens"
NO_TEXT = "not a text"
FORMLESS = "not JSON of the form that was asked for"

_THOUGHT = re.compile(r"\A.*</think(?:ing)?>|\A\s*<think(?:ing)?>.*", re.DOTALL | re.IGNORECASE)
"""Up to the end of the last thought, whose start some servers leave to the prompt; or all, if it does not end."""
_STARTS = 20
"""Number of braces that are tried as the start of the object."""


def texts_of(answer: Any, task: Task) -> tuple[list[str], list[tuple[str, str]]]:
    """The texts in an answer of `OpenAIChat`, and (value, reason) for whatever else it holds.

    A model may reason aloud first, fence its JSON, or greet: the first JSON object with the field counts. If the whole
    answer holds no text, the value is "".

    >>> from qbench.llm.prompts import TASKS
    >>> texts_of({"text": 'Sure! {"names": ["money taken in", 5]}', "finish": "stop"}, TASKS["expand"])
    (['money taken in'], [('5', 'not a text')])
    """
    answer = answer if isinstance(answer, dict) else {}
    written = without_thought(answer)
    value = _field(written, task.field)
    if isinstance(value, list) if task.many else isinstance(value, str):
        values = value if task.many else [value]
        # Encoded, because JSON can hold half of a surrogate pair, and UTF-8 cannot.
        texts = [item.encode(errors="replace").decode() for item in values if isinstance(item, str)]
        others = [(json.dumps(item), NO_TEXT) for item in values if not isinstance(item, str)]
        if any(text.strip() for text in texts):
            return texts, others
        return [], others or [("", EMPTY)]
    if answer.get("finish") == "length":
        return [], [("", CUT)]
    return [], [("", FORMLESS if written else EMPTY)]


def without_thought(answer: Any) -> str:
    """The text of an answer, without the thoughts that a model writes first; "" if it was cut off before their end."""
    return _THOUGHT.sub("", str(answer.get("text") or "")).strip()


def _field(text: str, name: str) -> Any:
    decoder = json.JSONDecoder()
    start = -1
    for _ in range(_STARTS):
        start = text.find("{", start + 1)
        if start < 0:
            return None
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and name in value:
            return value[name]
    return None
