"""Ray as the engine: the same shards as here, from two nodes, one of which is lost in mid-run."""

from __future__ import annotations

import os
import socketserver
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import fsspec
import polars as pl
import pytest
import torch

from qbench.errors import InputError, MissingPackageError, OptionError, ServerError
from qbench.generation.generate import generate
from qbench.generation.options import GenerationOptions
from qbench.index.build import build_index
from qbench.mining.describe import DESCRIPTIONS, describe
from qbench.mining.options import JoinOptions
from qbench.mining.self_join import self_join
from qbench.mining.terms import term_matrix
from qbench.work import on_ray as on_ray_module
from qbench.work.engines import EngineOptions
from qbench.work.on_ray import on_ray
from qbench.work.shards import make_shards
from qbench.work.tasks import Task, in_this_process
from tests.encoder_factories import tiny_bert
from tests.generation.conftest import sentences, write_index
from tests.number_factories import random_deepquant
from tests.numeric_factories import NUMERIC_WORDS
from tests.retrieval.encoded import contents, counting, make_blocks_small, opened
from tests.work.test_work import CHUNKS, TASK, chunk, shards

try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError:
    ray = None

needs_ray = pytest.mark.skipif(ray is None, reason="the extra ray is not installed")
MEMORY = 80_000_000


@pytest.fixture(scope="module")
def cluster():
    """A cluster of three nodes on this machine: a head that computes nothing, and two with a core each."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY}
    made = Cluster(initialize_head=True, head_node_args=head)
    made.nodes = [made.add_node(num_cpus=1, object_store_memory=MEMORY) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", NUMERIC_WORDS, head=True)


def lose_a_node(cluster):
    """Kill a node without notice."""
    # The driver talks to one of the nodes of its machine: with that one, it would be lost itself.
    other = next(node for node in cluster.nodes if node.node_id != ray.get_runtime_context().get_node_id())
    cluster.nodes.remove(other)
    cluster.remove_node(other, allow_graceful=False)


@contextmanager
def losing_a_node(cluster, when):
    """A progress that kills a node as soon as (done, name) are what is wanted; there is another one afterwards."""
    lost = []

    def progress(done, total, name):
        if not lost and when(done, name):
            lost.append(lose_a_node(cluster))

    try:
        yield progress
        assert lost, "no node was lost in mid-run"
    finally:
        if lost:
            cluster.nodes.append(cluster.add_node(num_cpus=1, object_store_memory=MEMORY))


@needs_ray
def test_the_same_shards_as_here(tmp_path, cluster):
    assert shards(tmp_path / "ray", on_ray()) == shards(tmp_path / "here", in_this_process)


@needs_ray
def test_an_index_has_the_same_bytes(tmp_path, cluster):
    corpus = tmp_path / "news.txt"
    corpus.write_text("The new laptop weighs 1.2 kg and costs $999.\nSales rose by 4 % to 3.1 million euros.\n" * 3)
    here = build_index(corpus, tmp_path / "here", workers=1)
    there = build_index(corpus, tmp_path / "there", engine=on_ray())
    assert here.manifest == there.manifest
    assert here.summary()["quantities"] >= 6
    for name in here.manifest.files:
        assert (here.path / name).read_bytes() == (there.path / name).read_bytes()


@needs_ray
def test_an_index_has_the_same_bytes_though_a_node_is_lost(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr("qbench.index.chunks.CHUNK", 200)
    corpus = tmp_path / "laptops.parquet"
    texts = [f"Laptop {n} weighs {n % 9 + 1}.2 kg and costs ${n + 300}." for n in range(120)]
    pl.DataFrame({"doc_id": [f"laptop-{n}" for n in range(120)], "text": texts}).write_parquet(corpus)
    here = build_index(corpus, tmp_path / "here", workers=1)
    with losing_a_node(cluster, lambda done, _: 20 <= done < 100) as progress:
        there = build_index(corpus, tmp_path / "there", engine=on_ray(), progress=progress)
    assert here.manifest == there.manifest
    for name in here.manifest.files:
        assert (here.path / name).read_bytes() == (there.path / name).read_bytes()


@needs_ray
def test_descriptions_have_the_same_bytes(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr("qbench.mining.describe.SENTENCES", 10)
    index = write_index(tmp_path / "index", sentences()).path
    here = describe(index, tmp_path / "here", workers=1)
    there = describe(index, tmp_path / "there", engine=on_ray())
    assert here.manifest == there.manifest
    assert here.manifest.counts["descriptions"] > 20
    assert (here.path / DESCRIPTIONS).read_bytes() == (there.path / DESCRIPTIONS).read_bytes()


@contextmanager
def one_thread():
    """Compute as Ray's workers do: a product of few rows may be split among threads, and differ in its last bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@needs_ray
@pytest.mark.parametrize("system", ["SBERT", "SPLADE", "ColBERT", "CodedColBERT", "DeepQuant"])
def test_encoded_documents_have_the_same_bytes(tmp_path, cluster, monkeypatch, tiny, system):
    make_blocks_small(monkeypatch)
    model = random_deepquant(tiny, tmp_path / "model") if system == "DeepQuant" else tiny
    engine, blocks = counting(on_ray())
    with one_thread():
        opened(f"{system}(model={model})", tmp_path / "here")
    opened(f"{system}(model={model})", tmp_path / "there", engine)
    assert len(blocks) > 1
    assert len(contents(tmp_path / "here")) > 1
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


@needs_ray
def test_a_self_join_has_the_same_bytes(tmp_path, cluster):
    texts = pl.Series([f"net income of company {n % 7} in {2000 + n % 11}, part {n % 5}" for n in range(120)])
    matrix, options = term_matrix(texts), JoinOptions(k=4, block=50)
    here = self_join(matrix, tmp_path / "here", options)
    there = self_join(matrix, tmp_path / "there", options, engine=on_ray())
    for ours, theirs in zip(here, there, strict=True):
        assert ours.tobytes() == theirs.tobytes()


@needs_ray
def test_a_benchmark_has_the_same_bytes_though_a_node_is_lost(tmp_path, cluster):
    index = write_index(tmp_path / "index", sentences())
    options = GenerationOptions(min_sentences=4, max_train=80, max_dev=30, max_test=60)
    here = generate(index, tmp_path / "here" / "bench", options)
    with losing_a_node(cluster, lambda done, name: (name, done) == ("train", 20)) as progress:
        there = generate(index, tmp_path / "there" / "bench", options, engine=on_ray(), progress=progress)
    assert {p.name: p.read_bytes() for p in here.iterdir()} == {p.name: p.read_bytes() for p in there.iterdir()}


@needs_ray
def test_a_url_gives_the_same_index(tmp_path, cluster):
    pl.DataFrame({"doc_id": ["a", "b"], "text": ["The laptop weighs 1.2 kg.", "It costs $5."]}).write_parquet(
        tmp_path / "shard.parquet"
    )
    fsspec.filesystem("memory").put_file(str(tmp_path / "shard.parquet"), "/corpus/shard.parquet")
    here = build_index(tmp_path / "shard.parquet", tmp_path / "here", workers=1)
    there = build_index("memory://corpus/shard.parquet", tmp_path / "there", engine=on_ray())
    assert here.manifest == there.manifest


@needs_ray
def test_workers_read_a_folder_and_a_url_themselves(tmp_path, cluster):
    (tmp_path / "corpus").mkdir()
    for number in range(3):
        rows = {"doc_id": [f"{number}-{n}" for n in range(40)], "text": [f"It weighs {n + 1} kg." for n in range(40)]}
        pl.DataFrame(rows).write_parquet(tmp_path / "corpus" / f"{number}.parquet", row_group_size=11)
    here = build_index(tmp_path / "corpus", tmp_path / "here", workers=1)
    for name, source in (("there", tmp_path / "corpus"), ("url", f"file://{tmp_path}/corpus")):
        there = build_index(source, tmp_path / name, engine=on_ray(), workers_read=True)
        assert here.manifest == there.manifest


@needs_ray
def test_the_port_of_a_cluster_is_one(cluster):
    on_ray_module._reach(cluster.address)


def test_a_server_that_speaks_in_parts_or_not_at_all(monkeypatch):
    settings = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
    with listening(settings[:2], settings[2:]) as address:
        on_ray_module._reach(address)
    monkeypatch.setattr(on_ray_module, "PATIENCE", 0.05)
    with listening(b"", b"") as address, pytest.raises(ServerError, match="no Ray cluster answers: timed out"):
        on_ray_module._reach(address)
    monkeypatch.setenv("RAY_USE_TLS", "1")
    with listening() as address:
        on_ray_module._reach(address)


@needs_ray
def test_errors_arrive_as_they_are(cluster):
    with pytest.raises(InputError, match="a bad word") as caught:
        list(on_ray()(TASK, [chunk(0, "bad")]))
    assert (caught.value.file, caught.value.line, caught.value.remedy) == ("words.txt", 3, "Leave it out")
    with pytest.raises(FileNotFoundError, match="/no/such/file"):
        list(on_ray()(TASK, [chunk(0, "missing")]))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        list(on_ray()(TASK, [chunk(0, "crash")]))


@needs_ray
def test_the_loss_of_a_node_in_mid_run_loses_nothing(tmp_path, cluster):
    """It is the last test of this cluster: one node is left."""
    many = [replace(each, name=f"{turn}-{each.name}") for turn in range(2) for each in CHUNKS]
    task, done = Task("tests.work.slow_task", TASK.options), []

    def report(chunk, shard):
        done.append(chunk.name)
        if len(done) == 4:
            lose_a_node(cluster)

    names = make_shards(task, many, tmp_path / "ray", last=".json", engine=on_ray(), report=report)
    until = time.monotonic() + 60  # Ray may take a while to see it
    while (alive := sum(node["Alive"] for node in ray.nodes())) > 2 and time.monotonic() < until:
        time.sleep(0.2)
    assert alive == 2
    assert sorted(done) == sorted(names)
    assert (names, {p.name: p.read_bytes() for p in (tmp_path / "ray").iterdir()}) == shards(
        tmp_path / "here", in_this_process, many
    )[::2]


@contextmanager
def listening(*answers):
    """The address of a server that says some things to whoever comes, one after the other, and hangs up."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(1000)
            for answer in answers:
                self.request.sendall(answer)
                time.sleep(0.2)

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield "{}:{}".format(*server.server_address)
        server.shutdown()


@needs_ray
def test_an_address_without_a_cluster_is_refused(monkeypatch):
    def init(**_):
        raise ConnectionError("nobody there")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(ServerError, match="no Ray cluster answers: nobody there"):
        list(on_ray("auto")(TASK, CHUNKS))
    # Ray would wait for a minute: it is not asked where the port does not answer, and nothing else is begun.
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("asked"))
    for address in ("127.0.0.1:1", "ray://127.0.0.1:1", "localhost:1"):
        with pytest.raises(ServerError, match=r"no Ray cluster answers: .*refused"):
            on_ray(address)
    for answer in (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"):
        with (
            listening(answer) as address,
            pytest.raises(ServerError, match="no Ray cluster answers: what listens there is no Ray"),
        ):
            on_ray(address)
    with pytest.raises(ServerError, match="no Ray cluster answers: Port"):
        list(on_ray("localhost:head")(TASK, CHUNKS))


@pytest.mark.skipif(ray is not None, reason="Ray is installed")
def test_without_ray_the_extra_is_named(tmp_path):
    with pytest.raises(MissingPackageError, match=r"engine=ray needs ray.*qbench\[ray\]"):
        EngineOptions("ray").chosen(None)


def test_an_address_needs_ray():
    assert EngineOptions().chosen(4) is None
    with pytest.raises(OptionError, match="--engine ray"):
        EngineOptions(address="head:6379").chosen(None)
