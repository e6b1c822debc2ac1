"""Queries labelled ahead by an engine: the same bytes as in this process, and nothing labelled twice."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter

import pytest

from qbench.errors import OptionError
from qbench.generation import ahead
from qbench.generation.generate import generate
from qbench.generation.options import GenerationOptions
from qbench.generation.outcomes import Labeller
from qbench.work.pool import in_processes
from qbench.work.tasks import in_this_process
from tests.generation.conftest import sentences, write_index
from tests.work.test_work import backwards

OPTIONS = GenerationOptions(min_sentences=4, max_train=80, max_dev=30, max_test=90, value_permutation=True, per_topic=7)


@pytest.fixture(scope="module")
def options(expansions_file):
    return dataclasses.replace(OPTIONS, expansions=expansions_file)


@pytest.fixture(scope="module")
def here(index, options, tmp_path_factory):
    return contents(generate(index, tmp_path_factory.mktemp("here") / "bench", options))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def in_pairs(task, chunks):
    """An engine of which the second of two chunks is back before the first."""
    held = []
    for chunk in chunks:
        held.append(chunk)
        if len(held) == 2:
            yield from backwards(task, held)
            held = []
    yield from in_this_process(task, held)


@pytest.mark.parametrize("batch", [1, 8, 10_000])
@pytest.mark.parametrize("engine", [in_this_process, in_pairs], ids=["in order", "out of order"])
def test_an_engine_gives_the_same_bytes(index, options, here, tmp_path, monkeypatch, engine, batch):
    monkeypatch.setattr(ahead, "BATCH", batch)
    assert contents(generate(index, tmp_path / "bench", options, engine=engine)) == here
    assert [path.name for path in tmp_path.iterdir()] == ["bench"]


def test_worker_processes_give_the_same_bytes_from_extracted_quantities(tmp_path):
    read = write_index(tmp_path / "index", sentences(), "rules")
    few = dataclasses.replace(OPTIONS, max_train=20, max_dev=5, max_test=20)
    here = contents(generate(read, tmp_path / "here" / "bench", few))
    assert contents(generate(read, tmp_path / "there" / "bench", few, engine=in_processes(2))) == here


def test_an_interrupted_run_labels_no_query_twice(index, options, here, tmp_path):
    asked = Counter()

    def until(most):
        def run(task, chunks):
            for number, (chunk, shard) in enumerate(in_this_process(task, chunks)):
                asked.update(row["query_id"] for row in json.loads(chunk.payload))
                if number == most:
                    raise KeyboardInterrupt
                yield chunk, shard

        return run

    with pytest.raises(KeyboardInterrupt):
        generate(index, tmp_path / "bench", options, engine=until(5))
    assert len(asked) == 6 * ahead.BATCH
    lost = set(list(asked)[-ahead.BATCH :])
    assert contents(generate(index, tmp_path / "bench", options, engine=until(10_000))) == here
    assert {name for name, times in asked.items() if times > 1} == lost
    assert [path.name for path in tmp_path.iterdir()] == ["bench"]


def test_labels_of_other_options_are_not_taken(index, options, here, tmp_path):
    def failing(task, chunks):
        yield from (next(in_this_process(task, chunks)) for _ in range(5))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(index, tmp_path / "bench", dataclasses.replace(options, samples=1), engine=failing)
    assert contents(generate(index, tmp_path / "bench", options, engine=in_this_process)) == here


def test_one_ahead_is_labelled_only_what_is_asked(index, options, tmp_path, monkeypatch):
    asked, label = [], Labeller.outcome

    def counted(self, query):
        asked.append(query.query_id)
        return label(self, query)

    monkeypatch.setattr(Labeller, "outcome", counted)
    generate(index, tmp_path / "here", options)
    here = asked.copy()
    asked.clear()
    monkeypatch.setattr(ahead, "BATCH", 1)
    generate(index, tmp_path / "there", options, engine=in_this_process)
    assert asked == here
    assert len(here) > 100


def test_a_grounded_index_needs_no_engine(index, tmp_path):
    manifest = dataclasses.replace(index.manifest, params={**index.manifest.params, "grounding": {}})
    with pytest.raises(OptionError, match="labelled from its table"):
        generate(dataclasses.replace(index, manifest=manifest), tmp_path / "bench", engine=in_this_process)
