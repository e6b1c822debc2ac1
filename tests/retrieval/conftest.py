"""Servers for the tests of served rankers."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from qbench.index.build import build_index
from tests.postgres_server import lacking, running
from tests.retrieval.served import LINES


@pytest.fixture(scope="session")
def postgres_address(tmp_path_factory):
    if reason := lacking():
        pytest.skip(reason)
    # Not below the folders of pytest, which only their owner may enter.
    with tempfile.TemporaryDirectory(prefix="qbench-postgres-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with running(folder) as address:
            yield address


@pytest.fixture
def direct(monkeypatch):
    """No proxy, and no address or user of OpenSearch in the environment."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for name in ("OPENSEARCH_URL", "OPENSEARCH_USERNAME", "OPENSEARCH_PASSWORD", "OPENSEARCH_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def served_index(tmp_path_factory):
    """An index of three documents."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, LINES)))
    return build_index(folder / "corpus.jsonl", folder / "index", workers=1)
