"""Ctrl-C while answers are on their way: a real process, and a real server that answers one question and hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from qbench.llm.client import estimate
from qbench.llm.embeddings import OpenAIEmbeddings
from tests.api_server import KEY, ApiServer, access

PROGRAM = """
import signal, sys
from pathlib import Path
from qbench.llm.client import Access, ask
from qbench.llm.embeddings import OpenAIEmbeddings
tell = lambda line: print(line, flush=True)
server = OpenAIEmbeddings("m", sys.argv[1], batch=1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
import polars  # changes how signals arrive, and is loaded in every command
try:
    ask(server, list("abc"), Access(Path(sys.argv[2]), threads=3, notify=tell))
except KeyboardInterrupt:
    sys.exit(130)
"""
TEXTS = list("abc")


@pytest.mark.parametrize("again", [True, False])
def test_the_first_says_what_it_waits_for_and_the_second_leaves(tmp_path, monkeypatch, again):
    freed = threading.Event()

    def hang(payload):
        freed.wait(60)

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ApiServer([None, hang, hang]) as web:
        line = [sys.executable, "-c", PROGRAM, web.url, str(tmp_path / "answers.sqlite")]
        home = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        kept = access(tmp_path)
        with subprocess.Popen(line, stdout=subprocess.PIPE, env=home, text=True) as process:
            try:
                server = OpenAIEmbeddings("m", web.url)
                until(lambda: len(web.seen) == 3 and estimate(server, [TEXTS], kept).recorded == 1)
                process.send_signal(signal.SIGINT)
                said = process.stdout.readline()
                assert said == (
                    "2 answers are on their way, and waited for, because they are paid for; Ctrl-C again drops them\n"
                )
                if again:
                    process.send_signal(signal.SIGINT)
                else:
                    freed.set()
                assert process.wait(10) == 130
            finally:
                freed.set()
                process.kill()
        assert estimate(server, [TEXTS], kept).recorded == (1 if again else 3)


def until(true):
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
