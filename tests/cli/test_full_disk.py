"""A disk that is full: one line, and nothing half done in the output's place."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

import pytest

from qbench.index import build_index


def no_room():
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("full")
    texts = [f"The price of {('laptops', 'phones')[n % 2]} rose to ${n * 10 + 99} in town {n}." for n in range(120)]
    (folder / "c.jsonl").write_text("".join(json.dumps({"id": str(n), "text": t}) + "\n" for n, t in enumerate(texts)))
    return build_index(folder / "c.jsonl", folder / "index", workers=1).path


@pytest.mark.parametrize("verb", [["describe", "--workers", "1"], ["gen-queries"]], ids=lambda verb: verb[0])
def test_a_full_disk_is_one_line(index, tmp_path, verb):
    command = [sys.executable, "-m", "qbench", verb[0], str(index), "-o", str(tmp_path / "out"), *verb[1:]]
    # What Python and numba keep of compiled code would be cut short as well.
    kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, preexec_fn=no_room, env=kept)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("qbench: ")
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
