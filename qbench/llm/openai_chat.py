"""Chat models with OpenAI's interface (POST /chat/completions), asked for JSON of a known form or for plain text.

Where the answer is one of a few numbers, their log-probabilities are asked for, too: `logprobs` and `top_logprobs` of
a request, and `choices[0].logprobs.content` of its answer, a token each with its `top_logprobs`.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from qbench.errors import OptionError
from qbench.llm.calls import Call, Reply, RequestError, Send
from qbench.llm.embeddings import OPENAI_URL, about_tokens, openai_post, openai_url
from qbench.llm.prompts import Prompt, Slots
from qbench.llm.transport import SLOW

KIND = "openai chat"
TEMPERATURE = 1.0
"""*Numbers Matter* B.5."""
MAX_TOKENS = 400
AROUND = 4
"""Tokens of a message in addition to its text."""
LONGEST = 20_000
"""Characters of an answer that are kept: far more than a usable one has."""

FORMATS = ("json_schema", "json_object", "text")
"""Ways to ask for JSON, the strictest first: by a schema, as any JSON object, by the prompt alone."""
_LIMITS = ("max_tokens", "max_completion_tokens")
_ABOUT_FORMAT = re.compile(r"response_?format|json_?schema|json_?object|json mode|structured|guided", re.IGNORECASE)
_ABOUT_LIMIT = re.compile(r"max_(completion_)?tokens", re.IGNORECASE)
_ABOUT_SEED = re.compile(r"\bseed\b", re.IGNORECASE)
_ABOUT_LOGPROBS = re.compile(r"logprobs", re.IGNORECASE)
_LOGPROBS = (20, 5, 0)
"""Numbers of the likeliest tokens that are asked for: OpenAI's most, that of stricter servers, none."""
_REFUSED = "Look at the server's message; base_url, model, temperature or max_tokens may not suit it"


@dataclass(frozen=True)
class OpenAIChat:
    """Answers of a chat model; an input is `{"slots": ..., "attempt": n}`, as `question` makes it.

    An answer is `{"text": ..., "finish": ..., "format": ..., "tokens": [read, written]}`: the model's text, why it
    stopped, how JSON was asked for, and the server's count of tokens (null if it gives none). It has "refused" where
    the model declines to answer, and "said" and "chances" where the prompt's task has choices and the server gives
    log-probabilities: the number that was written last, and each number's probability in its place.

    Attributes:
        model: name of the model at the server.
        prompt: the instruction, the examples and the form of a question.
        url: address of the server.
        temperature: sampling temperature; 0 for the likeliest answer.
        seed: seed of the first attempt, for servers that accept one; each further attempt adds one.
        max_tokens: most tokens of an answer.
    """

    model: str
    prompt: Prompt
    url: str = OPENAI_URL
    temperature: float = TEMPERATURE
    seed: int = 13
    max_tokens: int = MAX_TOKENS

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise OptionError("no model is named", remedy="Give its name at the server as model")
        if not 0 <= self.temperature <= 2:
            raise OptionError("a temperature lies between 0 and 2", value=self.temperature)
        if self.max_tokens < 1:
            raise OptionError("an answer needs at least one token", value=self.max_tokens)

    @property
    def name(self) -> str:
        """The provider and its address."""
        return f"OpenAI at {self.url}"

    @property
    def call(self) -> Call:
        """What its answers depend on."""
        parameters: dict[str, int | float | str] = {
            "max_tokens": self.max_tokens,
            "prompt": self.prompt.digest,
            "seed": self.seed,
            "server": self.url,
            "temperature": self.temperature,
        }
        if self.prompt.answer.choices:
            parameters["logprobs"] = _LOGPROBS[0]
        return Call(KIND, self.model, tuple(parameters.items()))

    @staticmethod
    def question(slots: Slots, attempt: int = 0) -> dict[str, Any]:
        """The input for a prompt's slots; another attempt is another input."""
        return {"attempt": attempt, "slots": dict(slots)}

    def requests(self, inputs: Sequence[Any]) -> Iterator[range]:
        """One input per request."""
        return (range(i, i + 1) for i in range(len(inputs)))

    def tokens(self, inputs: Sequence[Any]) -> tuple[int, int]:
        """The approximate number of tokens it reads, and the most that it writes."""
        opening = self.prompt.opening()
        fixed = about_tokens([message["content"] for message in opening]) + AROUND * (len(opening) + 1)
        questions = about_tokens([self.prompt.question(question["slots"])["content"] for question in inputs])
        return questions + fixed * len(inputs), self.max_tokens * len(inputs)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Send]:
        """The function that sends requests; raises as `openai_post` does."""
        plain = FORMATS.index("text")
        dialect = _Dialect(limit=_LIMITS[self.url == OPENAI_URL], format=0 if self.prompt.answer.field else plain)
        async with openai_post(self.url) as post:

            async def send(inputs: Sequence[Any]) -> Reply:
                (question,) = inputs
                messages = [*self.prompt.opening(), self.prompt.question(question["slots"])]
                body = {"model": self.model, "messages": messages, "temperature": self.temperature}
                while True:
                    tried = replace(dialect)
                    try:
                        answer = await post("/chat/completions", body | tried.options(self, question["attempt"]))
                        reply = self.read(answer, FORMATS[tried.format])
                    except RequestError as error:
                        # What is charged was no refusal of the request.
                        if error.of_input and not error.charged:
                            if dialect.eased(tried, error.message):
                                continue
                            error.remedy = _REFUSED
                        raise
                    dialect.accepted(tried)
                    return reply

            yield send

    def read(self, body: dict[str, Any], json_format: str) -> Reply:
        """The reply in a server's answer; the model's text is kept as it is, and checked later.

        Args:
            body: of the answer.
            json_format: how JSON was asked for.

        Raises:
            RequestError: the body holds no message.
        """
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise RequestError(
                "its answer holds no message", attempts=SLOW, charged=True, remedy="Check base_url and model"
            )
        usage = body.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        used = [_count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))]
        answer = {
            "text": _written(message)[:LONGEST],
            "finish": str(choice.get("finish_reason") or ""),
            "format": json_format,
            "tokens": used,
            **({"refused": True} if message.get("refusal") and not message.get("content") else {}),
            **_chances(choice.get("logprobs"), self.prompt.answer.choices),
        }
        return Reply([answer], *used)


def chat_server(
    model: str,
    prompt: Prompt,
    *,
    base_url: str = "auto",
    temperature: float = TEMPERATURE,
    seed: int = 13,
    max_tokens: int = MAX_TOKENS,
) -> OpenAIChat:
    """A chat model at the given address, or at the one in the environment.

    Raises:
        OptionError: the address is not valid, or a parameter is out of range.
    """
    return OpenAIChat(model, prompt, openai_url(base_url), temperature, seed, max_tokens)


def _written(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):  # parts, as some servers write them
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    # Half of a surrogate pair, which JSON can say and UTF-8 cannot.
    return str(content or message.get("refusal") or "").encode(errors="replace").decode()


def _chances(logprobs: object, choices: Sequence[str]) -> dict[str, Any]:
    """The last token that is one of the choices, and the probability of each choice in its place; {} where unknown."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for token in reversed(content if isinstance(content, list) else []):
        said = _choice(token.get("token")) if isinstance(token, dict) else ""
        if said not in choices:
            continue
        others = token.get("top_logprobs")
        # By the token as it is written: "4", " 4" and "4." are three tokens of one choice.
        tokens = {
            str(row.get("token")): row.get("logprob")
            for row in [token, *(others if isinstance(others, list) else [])]
            if isinstance(row, dict)
        }
        found: dict[str, float] = {}
        for written, logprob in tokens.items():
            word = _choice(written)
            if word in choices and isinstance(logprob, int | float) and logprob == logprob:
                # A rounded logarithm may lie above 0.
                found[word] = found.get(word, 0.0) + math.exp(min(logprob, 0.0))
        return {"said": said, "chances": found} if sum(found.values()) > 0 else {}
    return {}


def _choice(token: object) -> str:
    """The number in a token, without the marks of spaces that some servers leave in, and signs that are no part of it.

    >>> [_choice(token) for token in (" 4", "▁4", "Ġ4", "4.", "４", "-4", "4/5", None)]
    ['4', '4', '4', '4', '4', '', '', '']
    """
    found = re.fullmatch(r"[\s▁Ġ:：*\[]*(\d+)[\s.。*\]分]*", str(token))
    return str(int(found[1])) if found else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@dataclass
class _Dialect:
    """The parameters that a server accepts, as far as its refusals have shown; shared by all requests of a connection.

    Attributes:
        limit: its name for the most tokens of an answer.
        format: position in `FORMATS`.
        seed: whether it accepts a seed.
        logprobs: position in `_LOGPROBS`.
        swapped: whether the other name of the limit is in use, because the first was refused.
        sure: limits and formats that it has accepted; a refusal that mentions one of them has another reason.
    """

    limit: str
    format: int = 0
    seed: bool = True
    logprobs: int = 0
    swapped: bool = False
    sure: set[str] = field(default_factory=set)

    def options(self, server: OpenAIChat, attempt: int) -> dict[str, Any]:
        """The parameters of a request in which servers differ."""
        options: dict[str, Any] = {self.limit: server.max_tokens}
        if self.seed:
            options["seed"] = server.seed + attempt
        form, task = FORMATS[self.format], server.prompt.answer
        if form == "json_schema":
            schema = {"name": server.prompt.task, "strict": True, "schema": task.schema}
            options["response_format"] = {"type": form, "json_schema": schema}
        elif form == "json_object":
            options["response_format"] = {"type": form}
        if task.choices and (most := _LOGPROBS[self.logprobs]):
            options |= {"logprobs": True, "top_logprobs": most}
        return options

    def accepted(self, tried: _Dialect) -> None:
        """Note that a request in this dialect was answered."""
        self.sure |= {tried.limit, FORMATS[tried.format]}

    def eased(self, tried: _Dialect, message: str) -> bool:
        """Whether a request that was refused with this message may be sent again with fewer demands."""
        easier = tried.format + 1 < len(FORMATS) and FORMATS[tried.format] not in self.sure
        if _ABOUT_LIMIT.search(message) and not tried.swapped and tried.limit not in self.sure:
            self.limit, self.swapped = _LIMITS[tried.limit == _LIMITS[0]], True
        elif _ABOUT_FORMAT.search(message) and easier:
            self.format = max(self.format, tried.format + 1)
        elif _ABOUT_SEED.search(message) and tried.seed:
            self.seed = False
        elif _ABOUT_LOGPROBS.search(message) and tried.logprobs + 1 < len(_LOGPROBS):
            self.logprobs = max(self.logprobs, tried.logprobs + 1)
        else:
            return False
        return True
