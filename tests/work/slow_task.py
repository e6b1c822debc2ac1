"""A task for tests: it takes a moment, so that a node can be lost in the midst of it."""

from __future__ import annotations

import time

from qbench.work.tasks import Shard
from tests.work import toy_task

tools = toy_task.tools


def process(payload: str, unit: str) -> Shard:
    time.sleep(0.2)
    return toy_task.process(payload, unit)
