"""Chat models behind OpenAI's interface: a prompt's question, and an answer that should be JSON of a known form."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from qbench.errors import OptionError
from qbench.llm.calls import Call, Reply, RequestError, Send
from qbench.llm.openai_servers import URL, openai_client, openai_url, request_errors
from qbench.llm.replies import LARGEST, SLOW, about_tokens, parsed, refusal

if TYPE_CHECKING:
    from qbench.llm.keys import Key
    from qbench.llm.prompts import Prompt, Slots

KIND = "openai chat"
TEMPERATURE = 1.0
"""*Numbers Matter* B.5."""
MAX_TOKENS = 400
AROUND = 4
"""Tokens that a message takes besides its text."""
LONGEST = 20_000
"""Characters of an answer that are kept: far more than any that can be used."""

FORMATS = ("json_schema", "json_object", "text")
"""How JSON is asked for, the strictest way first: by a schema, as any JSON object, by the prompt's words alone."""
_LIMITS = ("max_tokens", "max_completion_tokens")
_ABOUT_FORMAT = re.compile(r"response_?format|json_?schema|json_?object|json mode|structured|guided", re.IGNORECASE)
_ABOUT_LIMIT = re.compile(r"max_(completion_)?tokens", re.IGNORECASE)
_ABOUT_SEED = re.compile(r"\bseed\b", re.IGNORECASE)
_REFUSED = "Look at the request's message; --base-url, --model, --temperature or --max-tokens may not suit this server"


@dataclass(frozen=True)
class OpenAIChat:
    """Answers of a chat model; an input is `{"slots": ..., "attempt": n}`, as `question` makes it.

    An answer is `{"text": ..., "finish": ..., "format": ..., "tokens": [read, written]}`: what the model wrote, why it
    stopped, how JSON was asked for, and what the server counted (null where it does not say).

    Attributes:
        model: as the server names it.
        prompt: what it is told.
        url: its address.
        temperature: 0 for the likeliest answer.
        seed: for servers that know one; raised by one with each further attempt.
        max_tokens: that an answer may have.
    """

    model: str
    prompt: Prompt
    url: str = URL
    temperature: float = TEMPERATURE
    seed: int = 13
    max_tokens: int = MAX_TOKENS

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise OptionError("no model is named", remedy="Name one with --model")
        if not 0 <= self.temperature <= 2:
            raise OptionError("a temperature lies between 0 and 2", value=self.temperature)
        if self.max_tokens < 1:
            raise OptionError("an answer needs at least one token", value=self.max_tokens)

    @property
    def name(self) -> str:
        """Whose interface, and where."""
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
        return Call(KIND, self.model, tuple(parameters.items()))

    @staticmethod
    def question(slots: Slots, attempt: int = 0) -> dict[str, Any]:
        """The input for a prompt's slots; another attempt is another input."""
        return {"attempt": attempt, "slots": dict(slots)}

    def requests(self, inputs: Sequence[Any]) -> Iterator[range]:
        """One input a request."""
        return (range(i, i + 1) for i in range(len(inputs)))

    def tokens(self, inputs: Sequence[Any]) -> tuple[int, int]:
        """About how many tokens it reads, and at most how many it writes."""
        opening = self.prompt.opening()
        fixed = about_tokens([message["content"] for message in opening]) + AROUND * (len(opening) + 1)
        asked = about_tokens([self.prompt.question(one["slots"])["content"] for one in inputs])
        return asked + fixed * len(inputs), self.max_tokens * len(inputs)

    @contextmanager
    def connected(self, timeout: float) -> Iterator[Send]:
        """What sends requests; errors as in `openai_client`."""
        with openai_client(self.url, timeout, LARGEST) as (client, key):
            manner = _Manner(limit=_LIMITS[self.url == URL])

            def once(one: Any, options: dict[str, Any]) -> dict[str, Any]:
                messages: Any = [*self.prompt.opening(), self.prompt.question(one["slots"])]
                with request_errors(key, timeout):
                    raw = client.chat.completions.with_raw_response.create(
                        model=self.model, messages=messages, temperature=self.temperature, **options
                    )
                    body = raw.http_response.content
                return parsed(body)

            def send(inputs: Sequence[Any]) -> Reply:
                (one,) = inputs
                while True:
                    tried = manner.copy()
                    try:
                        found = once(one, tried.options(self, one["attempt"]))
                    except RequestError as trouble:
                        if not (trouble.of_input and manner.eased(tried, trouble.message)):
                            # What is charged was no refusal of the request.
                            trouble.remedy = _REFUSED if trouble.of_input and not trouble.charged else trouble.remedy
                            raise
                    else:
                        reply = self.read(found, FORMATS[tried.format], key)
                        manner.worked(tried)
                        return reply

            yield send

    def read(self, found: dict[str, Any], asked: str, key: Key) -> Reply:
        """The reply in a server's answer. What the model wrote is kept as it is; whether it is any good is asked later.

        Args:
            found: the body of the answer.
            asked: how JSON was asked for.
            key: the one that was sent; kept out of messages.

        Raises:
            RequestError: there is no answer in it.
        """
        choices = found.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            error = found.get("error")
            code = error.get("code") if isinstance(error, dict) else None
            if isinstance(code, int) and 400 <= code < 600:  # some servers report trouble under status 200
                raise refusal(code, {}, json.dumps(found), key)
            raise RequestError(
                "its answer holds no message", attempts=SLOW, charged=True, remedy="Check --base-url and --model"
            )
        usage = found.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        used = [_count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))]
        answer = {
            "text": _written(message)[:LONGEST],
            "finish": str(choice.get("finish_reason") or ""),
            "format": asked,
            "tokens": used,
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
    """A chat model, at the given address or at that of the environment.

    Raises:
        OptionError: the address is none, or a parameter makes no sense.
    """
    return OpenAIChat(model, prompt, openai_url(base_url), temperature, seed, max_tokens)


def _written(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):  # parts, as some servers write them
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    # Half of a surrogate pair, which JSON can say and UTF-8 cannot.
    return str(content or message.get("refusal") or "").encode(errors="replace").decode()


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@dataclass
class _Manner:
    """What a server takes, as far as it has turned out; shared by the threads of one connection.

    Attributes:
        limit: what it calls the most tokens of an answer.
        format: position in `FORMATS`.
        seed: whether it takes one.
        swapped: whether the other name of the limit is in use, because it refused the first.
        sure: limits and formats with which it has answered; a refusal that speaks of one has another reason.
    """

    limit: str
    format: int = 0
    seed: bool = True
    swapped: bool = False
    sure: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def copy(self) -> _Manner:
        """As it is now."""
        with self._lock:
            return _Manner(self.limit, self.format, self.seed, self.swapped)

    def options(self, server: OpenAIChat, attempt: int) -> dict[str, Any]:
        """The parameters of a request that servers differ in."""
        options: dict[str, Any] = {self.limit: server.max_tokens}
        if self.seed:
            options["seed"] = server.seed + attempt
        form, task = FORMATS[self.format], server.prompt.answer
        if form == "json_schema":
            schema = {"name": server.prompt.task, "strict": True, "schema": task.schema}
            options["response_format"] = {"type": form, "json_schema": schema}
        elif form == "json_object":
            options["response_format"] = {"type": form}
        return options

    def worked(self, tried: _Manner) -> None:
        """A request of this manner was answered."""
        with self._lock:
            self.sure |= {tried.limit, FORMATS[tried.format]}

    def eased(self, tried: _Manner, message: str) -> bool:
        """Whether a request that was refused with this message may be sent again, in an easier manner."""
        with self._lock:
            if _ABOUT_LIMIT.search(message) and not tried.swapped and tried.limit not in self.sure:
                self.limit, self.swapped = _LIMITS[tried.limit == _LIMITS[0]], True
            elif (
                _ABOUT_FORMAT.search(message)
                and tried.format + 1 < len(FORMATS)
                and FORMATS[tried.format] not in self.sure
            ):
                self.format = max(self.format, tried.format + 1)
            elif _ABOUT_SEED.search(message) and tried.seed:
                self.seed = False
            else:
                return False
            return True
