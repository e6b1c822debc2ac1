"""Artefacts to publish, and a hub to publish them to."""

import dataclasses

import pytest

from qbench.benchmark.disk import write_benchmark
from qbench.publishing.hub import Hub
from tests.factories import tiny_benchmark
from tests.hub_server import TOKEN, HubServer


@pytest.fixture(autouse=True)
def _no_real_hub(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    # Another test of the same process may have imported the library offline.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    # Whatever is asked of no particular hub goes nowhere.
    nowhere = "http://127.0.0.1:9"
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", nowhere)
    files = f"{nowhere}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", files)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    from huggingface_hub.utils import http_backoff

    monkeypatch.setitem(http_backoff.__kwdefaults__, "base_wait_time", 0.01)
    monkeypatch.setitem(http_backoff.__kwdefaults__, "max_wait_time", 0.02)


@pytest.fixture
def server():
    with HubServer() as running:
        yield running
    assert not running.crashes


@pytest.fixture
def hub(server):
    return Hub(server.url, TOKEN, waits=(0.01, 0.02))


@pytest.fixture
def bench(tmp_path):
    """A benchmark under a licence that allows publishing."""
    made = tiny_benchmark()
    write_benchmark(dataclasses.replace(made, params={**made.params, "licence": "cc-by-4.0"}), tmp_path / "bench")
    return tmp_path / "bench"
