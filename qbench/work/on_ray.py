"""An engine of the workers of a Ray cluster.

The driver reads the input and writes the shards, as with every engine, so that results, resuming and progress are the
same. Ray carries payloads to whatever node has a free core, and runs a chunk again whose worker or node was lost
(https://docs.ray.io/en/latest/ray-core/fault-tolerance.html). The folder of the output need not be shared; qbench, and
files that options name (units, models), have to be on every node under the same path.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from qbench.errors import QbenchError, ServerError
from qbench.extras import needed
from qbench.work.pool import default_workers, worker_environment
from qbench.work.tasks import C, Engine, Shard, Task, load

RETRIES = 3
"""Losses of workers or nodes after which a chunk is given up: a chunk that needs too much memory kills each of them."""

PATIENCE = 10.0
"""Seconds until a cluster has to answer."""

GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""What a client of HTTP/2, and so of gRPC, which Ray speaks, says first: a preface, and settings of none. A server
answers with its own, a frame of type 4 (RFC 9113, 3.4)."""

AHEAD = 2
"""Chunks per core that are sent before one is back."""


def on_ray(address: str = "", workers: int | None = None) -> Engine:
    """The engine of a Ray cluster.

    Args:
        address: of the cluster, as `ray.init` takes it; by default that in RAY_ADDRESS, else a cluster of this machine
            is started, and stopped after the run. Where this process is connected to a cluster, that one is used.
        workers: most chunks at a time; by default two per core of the cluster, half of which wait.

    Raises:
        MissingPackageError: Ray is not installed.
        ServerError: nobody answers at the address, or something that is no Ray.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers
    # Not "ray": a folder of that name, which Ray leaves in /tmp, can be imported too.
    needed("ray.exceptions", "ray", "engine=ray")
    ray: Any = import_module("ray")
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    if not ray.is_initialized():
        _reach(where)

    def run(task: Task, chunks: Iterable[C], /) -> Generator[tuple[C, Shard], None, None]:
        with _connected(ray, where, workers):
            yield from _run(ray, task, chunks, workers)

    return run


@contextmanager
def _connected(ray: Any, where: str, workers: int | None) -> Iterator[None]:
    """A connection to the cluster, unless this process has one.

    Raises:
        ServerError: no cluster answers there.
    """
    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if where == "local":
        options |= {"num_cpus": workers or default_workers(), "include_dashboard": False}
    try:
        ray.init(address=where, **options)
    except (ConnectionError, ValueError, RuntimeError) as fault:
        raise _no_cluster(where, fault) from fault
    try:
        yield
    finally:
        ray.shutdown()


def _reach(where: str) -> None:
    """Connect once to the port of an address, if it has one: Ray itself waits for a minute where no Ray answers.

    Raises:
        ServerError: nobody does, or something that does not speak HTTP/2, or the port is no number.
    """
    try:
        place = urlsplit(where if "://" in where else f"//{where}")
        if place.hostname and place.port:
            with socket.create_connection((place.hostname, place.port), PATIENCE) as connection:
                if os.environ.get("RAY_USE_TLS", "").lower() not in ("1", "true"):  # as Ray reads it
                    _greet(connection)
    except (OSError, ValueError) as fault:
        raise _no_cluster(where, fault) from fault


def _greet(connection: socket.socket) -> None:
    """Let a server show that it speaks HTTP/2.

    Raises:
        OSError: it does not, or says nothing in time.
    """
    connection.sendall(GREETING)
    answer = b""
    while len(answer) < 4 and (more := connection.recv(4 - len(answer))):
        answer += more
    if answer[3:] != b"\4":
        raise ConnectionError("what listens there is no Ray")


def _no_cluster(where: str, fault: Exception) -> ServerError:
    remedy = (
        "Start one with `ray start --head`, leave the address out, or set RAY_AUTH_MODE=token (and RAY_AUTH_TOKEN_PATH "
        "if its token lies elsewhere than in ~/.ray/auth_token), if it wants a token"
    )
    return ServerError(f"no Ray cluster answers: {fault}", value=where, remedy=remedy)


def _run(ray: Any, task: Task, chunks: Iterable[C], workers: int | None) -> Generator[tuple[C, Shard], None, None]:
    """Send chunks, a few per core ahead of what is back.

    Raises:
        QbenchError: the task raised it, or its worker was lost again and again.
        OSError: a worker could not read a file.
        RuntimeError: a worker met an unexpected error; the message holds its traceback.
    """
    environment = {"env_vars": worker_environment()}
    remote = ray.remote(num_cpus=1, max_retries=RETRIES, runtime_env=environment)(process)
    options = json.dumps(dict(task.options), sort_keys=True)
    pending: dict[Any, C] = {}
    try:
        for chunk in chunks:
            pending[remote.remote(task.module, options, chunk.payload)] = chunk
            # Asked each time: nodes come and go.
            while len(pending) >= (workers or AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))):
                yield from _back(ray, pending)
        while pending:
            yield from _back(ray, pending)
    finally:
        for reference in pending:
            ray.cancel(reference, force=True)


def _back(ray: Any, pending: dict[Any, C]) -> Iterator[tuple[C, Shard]]:
    """The chunks that are back, at least one."""
    for reference in ray.wait(list(pending), num_returns=1)[0]:
        chunk = pending.pop(reference)
        try:
            shard = ray.get(reference)
        except ray.exceptions.RayTaskError as fault:
            if isinstance(fault.cause, QbenchError | OSError):
                raise fault.cause from None
            raise RuntimeError(f"a worker process failed:\n{fault}") from None
        except ray.exceptions.RayError as fault:
            raise QbenchError(
                "a Ray worker was lost, and others after it, on one chunk",
                value=type(fault).__name__,
                remedy="If memory ran out, give Ray fewer cores on each node; the same command resumes",
            ) from fault
        yield chunk, shard


def process(module: str, options: str, payload: str) -> Shard:
    """What a worker does with a chunk of the task of `module` and `options` (JSON)."""
    loaded, tools = _loaded(module, options)
    shard: Shard = loaded.process(payload, *tools)
    return shard


@lru_cache(maxsize=1)
def _loaded(module: str, options: str) -> tuple[Any, tuple[Any, ...]]:
    """The module of a task and its tools, which a worker opens once."""
    return load(Task(module, json.loads(options)))
