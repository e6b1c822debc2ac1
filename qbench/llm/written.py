"""What a chat model wrote -> the texts in it: JSON of a task's form, found also among other words."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qbench.llm.prompts import Task

EMPTY = "empty"
CUT = "cut off at --max-tokens"
FORMLESS = "not JSON of the form that was asked for"

_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_STARTS = 20
"""How many braces are tried as the start of the object."""


def texts_of(answer: Any, task: Task) -> tuple[list[str], str | None]:
    """The texts in an answer of `OpenAIChat`, and why there are none.

    A model may think aloud first, fence its JSON, or greet: the first JSON object with the field counts.

    >>> from qbench.llm.prompts import TASKS
    >>> texts_of({"text": 'Sure! {"names": ["money taken in"]}', "finish": "stop"}, TASKS["expand"])
    (['money taken in'], None)
    """
    found = answer if isinstance(answer, dict) else {}
    text = str(found.get("text") or "")
    said = _THOUGHT.sub("", text).strip()
    value = _field(said, task.field)
    texts = value if task.many else [value]
    if isinstance(texts, list) and all(isinstance(one, str) for one in texts):
        # Half of a surrogate pair, which JSON can say and UTF-8 cannot.
        whole = [one.encode(errors="replace").decode() for one in texts]
        return (whole, None) if any(one.strip() for one in whole) else ([], EMPTY)
    if found.get("finish") == "length":
        return [], CUT
    return [], FORMLESS if said else EMPTY


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
