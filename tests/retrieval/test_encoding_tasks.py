"""Documents encoded by an engine: tasks of blocks, from which an index has the bytes that it has without."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from qbench.compression.plain import DTYPES
from qbench.errors import InputError
from qbench.models.multi_vector import MultiVector
from qbench.retrieval.passages import passages
from qbench.retrieval.stored import SECONDS
from qbench.store import read_json
from qbench.work.pool import in_processes
from qbench.work.tasks import in_this_process
from tests.encoder_factories import tiny_bert
from tests.number_factories import random_deepquant
from tests.numeric_factories import NUMERIC_WORDS
from tests.retrieval.encoded import BENCHMARK, contents, counting, make_blocks_small, opened


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", NUMERIC_WORDS, head=True)


@pytest.fixture(scope="module")
def models(tiny):
    """By the system that takes it; the others take the encoder itself."""
    return {"DeepQuant": random_deepquant(tiny, tiny.parent / "deepquant")}


@pytest.fixture
def several_blocks(monkeypatch):
    make_blocks_small(monkeypatch)


@pytest.mark.usefixtures("several_blocks")
@pytest.mark.parametrize(
    "system",
    [
        "SBERT(model={})",
        "SBERT(model={}, dtype=int8)",
        "TCT-ColBERT(model={}, dtype=int8)",
        "SPLADE(model={})",
        "ColBERT(model={}, max_length=12)",
        "ColBERT(model={}, dtype=float16)",
        "ColBERT(model={}, precision=bfloat16)",
        "ColBERT(model={}, dtype=int8)",
        "CodedColBERT(model={})",
        "CodedColBERT(model={}, dtype=int8, term_weight=0)",
        "DeepQuant(model={})",
        "DeepQuant(model={}, dtype=int8, max_length=12)",
        "DeepQuant(model={}, precision=bfloat16)",
    ],
)
def test_an_engine_makes_the_same_bytes(tiny, models, tmp_path, system):
    model = models.get(system.partition("(")[0], tiny)
    counted, blocks = counting(lambda task, chunks: reversed(list(in_this_process(task, chunks))))
    here = opened(system.format(model), tmp_path / "here")
    there = opened(system.format(model), tmp_path / "there", counted)
    assert sum(blocks) == BENCHMARK.corpus["text"].n_unique()
    assert len(blocks) > 1
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert len(contents(tmp_path / "here")) > 1
    assert there.size == here.size


@pytest.mark.usefixtures("several_blocks")
def test_processes_of_their_own_do_so_too(tiny, tmp_path):
    opened(f"ColBERT(model={tiny})", tmp_path / "here")
    opened(f"ColBERT(model={tiny})", tmp_path / "there", in_processes(1))
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


@pytest.fixture
def encoded(monkeypatch):
    """The number of documents of each call of a late-interaction model."""
    calls, encode = [], MultiVector.encode

    def counted(self, texts, role="document"):
        if role == "document":
            calls.append(len(texts))
        return encode(self, texts, role)

    monkeypatch.setattr(MultiVector, "encode", counted)
    return calls


def test_codes_are_put_behind_the_vectors_that_colbert_has(tiny, tmp_path, encoded):
    plain = opened(f"ColBERT(model={tiny})", tmp_path / "both")
    once = list(encoded)
    assert sum(once) > 0
    made = opened(f"CodedColBERT(model={tiny})", tmp_path / "both")
    assert encoded == once
    assert made.seconds > plain.seconds, "which took time, too"
    opened(f"CodedColBERT(model={tiny})", tmp_path / "alone")
    assert encoded == [*once, *once]
    assert contents(tmp_path / "alone") == contents(tmp_path / "both")


def test_codes_that_are_there_need_no_vectors_of_the_model(tiny, tmp_path, encoded):
    plain = opened(f"ColBERT(model={tiny})", tmp_path)
    made = opened(f"CodedColBERT(model={tiny})", tmp_path)
    (folder,) = {path.parent for path in tmp_path.rglob(SECONDS) if read_json(path)["seconds"] == plain.seconds}
    shutil.rmtree(folder)
    encoded.clear()
    again = opened(f"CodedColBERT(model={tiny})", tmp_path)
    assert not encoded
    assert (again.seconds, again.size) == (made.seconds, made.size)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_what_is_stored_is_what_the_model_and_the_codes_give_rounded_once(tiny, tmp_path, dtype):
    ranker = opened(f"CodedColBERT(model={tiny}, dtype={dtype})", tmp_path).ranker
    lengths, vectors = ranker.coded.encode(passages(BENCHMARK.corpus)["passage"].unique(maintain_order=True).to_list())
    assert np.diff(ranker.tokens.starts).tolist() == lengths.tolist()
    expected = DTYPES[dtype].encode(vectors)
    assert expected.keys() == ranker.tokens.arrays.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(ranker.tokens.arrays[name], array)


def test_vectors_of_other_tokens_are_refused(tiny, tmp_path, monkeypatch):
    opened(f"ColBERT(model={tiny})", tmp_path)
    offsets = MultiVector.offsets
    monkeypatch.setattr(MultiVector, "offsets", lambda *args: [spans[1:] for spans in offsets(*args)])
    with pytest.raises(InputError, match=r"other tokens than those whose vectors are stored.*Build the index again"):
        opened(f"CodedColBERT(model={tiny})", tmp_path)
