"""A script in the place of a chat model, on the loopback: the study of what rerankers show, without a language model.

    python benchmarks/scripted_judge.py -- qbench leaderboard BENCH --experiment language_models --with model=scripted

It runs the command with OPENAI_BASE_URL set to its own address. The judge is a script, no language model: it counts the
query's words in a text, and compares numbers. It reads digits alone, without units and magnitudes ("5 million" is 5),
unless the prompt tells it bounds and quantities, which are in plain form. So its figures show whether what is shown
arrives and can be used, and what a reader without any skill in quantities gains from it; what a language model gains,
only a language model can show.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PORT = 8377
"""Fixed, because answers are recorded under a server's address."""

_NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e\+?\d+)?"
_BOUND = re.compile(rf"(<=|>=|!=|<|>|=|between) ({_NUMBER})(?: and ({_NUMBER}))?\s*([^;\n]*)")
_LISTED = re.compile(rf"({_NUMBER})(?: to ({_NUMBER}))? ?([^;(\n]*)")
_WORDS = {"<": r"under|below|less|fewer|at most|up to|no more", ">": r"above|over|more|at least|exceed"}
_BOUNDS = "The bounds of the query, read by a program: "
_QUANTITIES = re.compile(r"^Quantities that a program found in (?:it|the text): (.*)$", re.MULTILINE)

Bound = tuple[str, float, float, str]
"""Comparator, value, upper end, unit; "" for a unit that is not known."""


def bounds_of(message: str, query: str) -> list[Bound]:
    """The bounds that the prompt states, or the first number of the query with a crude comparator."""
    stated = re.search(rf"^{_BOUNDS}(.*)$", message, re.MULTILINE)
    if stated:
        found = _BOUND.findall(stated[1])
        return [(sign, _value(low), _value(high or low), unit.strip()) for sign, low, high, unit in found]
    number = re.search(_NUMBER, query)
    if number is None:
        return []
    sign = next((sign for sign, words in _WORDS.items() if re.search(words, query)), "=")
    return [(sign, _value(number[0]), _value(number[0]), "")]


def score(query: str, bounds: list[Bound], text: str, listed: str | None) -> float:
    """From 1 to 5: up to two for the query's words in the text, two if numbers of the text meet all bounds."""
    words = {word for word in re.findall(r"[a-z]{3,}", query.lower()) if not re.search("|".join(_WORDS.values()), word)}
    held = set(re.findall(r"[a-z]{3,}", text.lower()))
    share = len(words & held) / max(1, len(words))
    numbers = [(_value(number), "") for number in re.findall(_NUMBER, text)]
    if listed is not None:
        numbers = [(_value(low), unit.strip()) for low, _, unit in _LISTED.findall(listed)]
    met = bool(bounds) and all(any(_meets(number, bound) for number in numbers) for bound in bounds)
    return 1 + 2 * share + 2 * met


def _meets(number: tuple[float, str], bound: Bound) -> bool:
    value, unit = number
    sign, low, high, wanted = bound
    if unit and wanted and unit != wanted:
        return False
    tests = {
        "<": value < low,
        "<=": value <= low,
        ">": value > low,
        ">=": value >= low,
        "!=": value != low,
        "=": math.isclose(value, low),
        "between": low <= value <= high,
    }
    return tests[sign]


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def choice(message: str) -> dict[str, Any]:
    """The choice of an answer to a prompt of LLM-itemwise, LLM-listwise or LLM-pairwise."""
    query = re.search(r"(?:^Query|for this query): (.*)$", message, re.MULTILINE)
    asked = query[1] if query else ""
    bounds = bounds_of(message, asked)
    listed = _QUANTITIES.findall(message)
    if "\nThe query again: " in message:
        parts = re.split(r"^\[\d+\] ", message.partition("\n\n")[2], flags=re.MULTILINE)[1:]
        scores = [_of_part(asked, bounds, part) for part in parts]
        order = sorted(range(len(scores)), key=lambda i: -scores[i])
        return {"message": {"content": " > ".join(f"[{i + 1}]" for i in order)}}
    if message.endswith("The more useful text:"):
        first, second = (_of_part(asked, bounds, part) for part in re.split(r"^Text [12]: ", message, flags=re.M)[1:])
        return _number(2 if second > first else 1 if first > second else 1.5)
    text = re.search(r"<<<(.*)>>>", message)
    return _number(score(asked, bounds, text[1] if text else "", listed[0] if listed else None))


def _of_part(query: str, bounds: list[Bound], part: str) -> float:
    listed = _QUANTITIES.search(part)
    return score(query, bounds, part.split("\n")[0], listed[1] if listed else None)


def _number(value: float) -> dict[str, Any]:
    """A number as an answer, with the probabilities of the whole numbers beside it."""
    low, share = int(value), value - int(value)
    chances = {low: 1 - share, low + 1: share}
    among = [{"token": str(n), "logprob": math.log(p)} for n, p in chances.items() if p > 0]
    said = max(among, key=lambda row: row["logprob"])
    return {"message": {"content": said["token"]}, "logprobs": {"content": [{**said, "top_logprobs": among}]}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"choices": [choice(asked["messages"][-1]["content"])]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    """Run a command beside the judge."""
    command = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    if not command:
        sys.exit(__doc__)
    server = ThreadingHTTPServer(("127.0.0.1", PORT), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    local = {"OPENAI_BASE_URL": f"http://127.0.0.1:{PORT}/v1", "OPENAI_API_KEY": "none", "no_proxy": "127.0.0.1"}
    sys.exit(subprocess.run(command, env=os.environ | local, check=False).returncode)


if __name__ == "__main__":
    main()
