"""A task for tests: counts words, writes two files, and fails as it is told."""

from __future__ import annotations

import json
from pathlib import Path

from qbench.errors import InputError
from qbench.work.tasks import Shard


def tools(options):
    return (options["unit"],)


def process(payload, unit):
    words = json.loads(payload)
    if words == ["bad"]:
        raise InputError("a bad word", file="words.txt", line=3, value="bad", remedy="Leave it out")
    if words == ["missing"]:
        Path("/no/such/file").read_bytes()
    if words == ["crash"]:
        raise ZeroDivisionError
    # Bytes of any kind, new lines and none at the end among them.
    return Shard({".raw": bytes(range(256)) * len(words), ".json": json.dumps({unit: len(words)}).encode()}, len(words))
