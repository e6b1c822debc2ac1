"""What only a GPU shows; skipped where there is none. Everything else in tests/models and tests/training uses one too."""

from __future__ import annotations

import numpy as np
import pytest

from qbench.errors import OptionError
from qbench.models.limits import refusing_a_full_gpu, with_smaller_batches
from qbench.models.multi_vector import load_multi_vector_encoder
from qbench.models.single_vector import load_encoder
from qbench.models.sparse import load_sparse_encoder
from tests.encoder_factories import WORDS, tiny_bert

TEXTS = ["in 2018 total revenue 9", "", "the tax", "annual debt of 2019 " * 40, "profit 5"] * 20


@pytest.fixture(autouse=True)
def gpu():
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    yield torch
    torch.cuda.set_per_process_memory_fraction(1.0)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return str(tiny_bert(tmp_path_factory.mktemp("tiny") / "bert", WORDS, positions=512, head=True))


def dense(found):
    """What an encoder gives, as one array."""
    if isinstance(found, tuple):
        return np.asarray(found[1], dtype=np.float32)
    return found.toarray() if hasattr(found, "toarray") else np.asarray(found)


@pytest.mark.parametrize("load", [load_encoder, load_multi_vector_encoder, load_sparse_encoder])
def test_a_gpu_gives_the_vectors_of_a_cpu(tiny, load):
    encoder = load(tiny)
    assert encoder.model.device.type == "cuda"
    found = dense(encoder.encode(TEXTS))
    encoder.model.to("cpu")
    np.testing.assert_allclose(found, dense(encoder.encode(TEXTS)), atol=2e-3)


def test_batches_that_do_not_fit_are_halved(tiny, gpu, monkeypatch):
    texts = ["annual debt of 2019 " * 120] * 1024
    encoder = load_encoder(tiny, batch=1024)
    expected = load_encoder(tiny, batch=8).encode(texts[:8])
    tried, real = [], encoder.model.encode_document

    def watched(some, *, batch_size, **options):
        tried.append(batch_size)
        return real(some, batch_size=batch_size, **options)

    monkeypatch.setattr(encoder.model, "encode_document", watched)
    gpu.cuda.empty_cache()
    # Room for what is there and 100 MB: a layer's states of 1,024 such texts alone take more.
    room = gpu.cuda.memory_reserved() + 100 * 2**20
    gpu.cuda.set_per_process_memory_fraction(room / gpu.cuda.get_device_properties(0).total_memory)
    found = encoder.encode(texts)
    assert tried[0] == 1024
    assert tried == [1024 >> turn for turn in range(len(tried))]
    assert len(tried) > 1
    np.testing.assert_allclose(found[:8], expected, atol=2e-3)


def test_what_fits_in_no_part_is_an_error_in_a_line(gpu):
    room = gpu.cuda.memory_reserved() + 2**20
    gpu.cuda.set_per_process_memory_fraction(room / gpu.cuda.get_device_properties(0).total_memory)
    with pytest.raises(OptionError, match="single text does not fit"):
        with_smaller_batches(lambda batch: gpu.empty(2**28 * batch, device="cuda"), 4)
    with pytest.raises(OptionError, match="GPU's memory"), refusing_a_full_gpu("Lower batch_size"):
        gpu.empty(2**30, device="cuda")
