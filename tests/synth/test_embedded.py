"""The default benchmark, end to end."""

import pytest

from qbench.benchmark.disk import open_benchmark
from qbench.store import read_manifest
from qbench.synth.embedded import embedded_benchmark, invented_facts


def test_invented_facts_are_always_the_same():
    rows = invented_facts()
    assert rows == invented_facts()
    assert 200 <= len(rows) <= 400
    assert len({row["name"] for row in rows}) == len(rows)
    assert len({row["kind"] for row in rows}) >= 12
    assert rows != invented_facts(seed=1)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedded")
    embedded_benchmark(folder)
    return folder


def test_every_kind_of_query_and_unit_is_there(home):
    benchmark = open_benchmark(home / "embedded")
    test = [query for query in benchmark.queries if query.split == "test"]
    assert 100 <= len(test) <= 400
    assert {"seen", "unseen", "expansion"} <= {query.kind for query in test}
    comparators = {condition.comparator for query in test for condition in query.conditions}
    assert comparators == {"=", "!=", "<", "<=", ">", ">=", "between"}
    assert benchmark.quantities is not None
    assert {"mass", "length", "currency", "ratio", "time", "data", "count", "temperature", "energy", "power"} <= set(
        benchmark.quantities["family"]
    )
    assert benchmark.params["quantities"] == "gold"


def test_steps_that_are_finished_are_not_made_again(home):
    before = {name: (home / name / "manifest.json").stat().st_mtime_ns for name in ("corpus", "index", "embedded")}
    assert embedded_benchmark(home) == home / "embedded"
    after = {name: (home / name / "manifest.json").stat().st_mtime_ns for name in before}
    assert after == before
    assert read_manifest(home / "corpus").counts["skipped"] == {}
