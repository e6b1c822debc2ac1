"""What is trained, as it is opened."""

from __future__ import annotations

import sys
from typing import get_args

import pytest
import torch

from qbench.errors import MissingPackageError
from qbench.training.kinds import Kind
from qbench.training.opening import open_student
from qbench.training.outputs import Embedded
from qbench.training.students import GROUP, LateInteractionStudent
from tests.encoder_factories import WORDS, tiny_bert


@pytest.mark.parametrize("kind", get_args(Kind))
def test_without_the_extra_there_is_a_line_to_install_it(tmp_path, monkeypatch, kind):
    folder = tiny_bert(tmp_path / "tiny", WORDS, head=True)
    monkeypatch.delitem(sys.modules, "qbench.models.aggretriever", raising=False)
    for name in ("torch", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match=r"pip install 'qbench\[neural\]'"):
        open_student(kind, str(folder))


@pytest.mark.parametrize(("head", "given", "scale"), [(False, 0.0, 0.1), (True, 0.0, 1.0), (False, 0.5, 0.5)])
def test_a_splade_with_a_made_head_begins_with_a_small_scale(tmp_path, head, given, scale):
    student = open_student("splade", str(tiny_bert(tmp_path / "tiny", WORDS, head=head)), scale=given)
    assert student.scale == scale
    assert bool(student.start) is not head


def test_without_a_mask_every_token_vector_counts():
    queries, texts = torch.randn(2, 3, 4), torch.randn(5, 6, 4)
    student = LateInteractionStudent(None)
    masked = student.scores(
        Embedded(queries, torch.ones(2, 3, dtype=torch.bool)), Embedded(texts, torch.ones(5, 6, dtype=torch.bool))
    )
    assert torch.equal(student.scores(Embedded(queries), Embedded(texts)), masked)
    none = Embedded(texts, torch.zeros(5, 6, dtype=torch.bool))
    assert torch.equal(student.scores(Embedded(queries), none), torch.full((2, 5), -3.0))


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

QUERIES = ["revenue over 5", "total debt of 2019", "tax"]
TEXTS = ["in 2018 total revenue 9", "in 2019 annual debt 9", "tax", "the total annual tax of 2018 in 2019", "debt 5"]


def gradients(folder, kind, chunk, dropout, device="cpu"):
    """Loss and gradients of a student's batch."""
    torch.manual_seed(3)
    student = open_student(kind, str(folder), chunk=chunk)
    student.network.to(device).train()
    for module in student.network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.3 if dropout else 0.0
    queries, texts = student.embed(QUERIES, "query"), student.embed(TEXTS, "document")
    loss = torch.nn.functional.cross_entropy(student.scores(queries, texts), torch.tensor([0, 1, 2], device=device))
    loss.backward()
    found = {name: p.grad for name, p in student.network.named_parameters() if p.grad is not None}
    return loss.detach(), found


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("chunk", [1, 2, 99])
def test_cached_gradients_are_those_of_the_whole_batch(tmp_path, kind, chunk):
    folder = tiny_bert(tmp_path / "tiny", WORDS, head=True)
    loss, whole = gradients(folder, kind, 0, dropout=False)
    same, cached = gradients(folder, kind, chunk, dropout=False)
    assert torch.allclose(loss, same, rtol=1e-5)
    assert cached.keys() == whole.keys()
    for name, gradient in whole.items():
        assert torch.allclose(gradient, cached[name], rtol=1e-3, atol=1e-5), name
    assert max(gradient.abs().max() for gradient in whole.values()) > 1e-3


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
@pytest.mark.parametrize("kind", get_args(Kind))
def test_cached_gradients_have_the_dropout_of_their_vectors(tmp_path, kind, device):
    folder = tiny_bert(tmp_path / "tiny", WORDS, head=True)
    # One group: the same random numbers in the same order.
    loss, whole = gradients(folder, kind, 0, dropout=True, device=device)
    same, cached = gradients(folder, kind, GROUP, dropout=True, device=device)
    other, _ = gradients(folder, kind, 0, dropout=False, device=device)
    assert torch.equal(loss, same)
    assert not torch.equal(loss, other)
    assert all(torch.equal(gradient, cached[name]) for name, gradient in whole.items())


@pytest.mark.parametrize("kind", get_args(Kind))
def test_random_numbers_of_the_models_device_are_repeated(tmp_path, kind, monkeypatch):
    """torch restores the generators of the devices that a tensor among the arguments is on."""
    student = open_student(kind, str(tiny_bert(tmp_path / "tiny", WORDS, head=True)), chunk=2)
    given, devices = torch.utils.checkpoint.checkpoint, []

    def seen(run, *arguments, **options):
        devices.append([one.device for one in arguments if isinstance(one, torch.Tensor)])
        return given(run, *arguments, **options)

    monkeypatch.setattr(torch.utils.checkpoint, "checkpoint", seen)
    student.embed(TEXTS, "document")
    assert devices == [[student.network.device]] * 3


@pytest.mark.parametrize("kind", get_args(Kind))
def test_held_out_texts_are_read_as_search_reads_them(tmp_path, kind):
    long = " ".join(["total"] * 15)
    student = open_student(kind, str(tiny_bert(tmp_path / "tiny", WORDS, head=True)))
    student.network.eval()
    with torch.no_grad():
        of_all = student.embed([long, long + " debt"], "document").vectors
        student.limit(8)
        of_some = student.embed([long, long + " debt"], "document").vectors
        with student.whole():
            again = student.embed([long, long + " debt"], "document").vectors
        assert torch.equal(again, of_all)
        assert torch.equal(student.embed([long, long + " debt"], "document").vectors, of_some)
    assert torch.equal(of_some[0], of_some[1])
    assert not torch.equal(of_all[0], of_all[1])
    student.save(tmp_path / "saved")
    with torch.no_grad():  # what is trained goes on with its own length
        assert torch.equal(student.embed([long, long + " debt"], "document").vectors, of_some)


def test_cached_gradients_keep_nothing_of_the_model_between_vectors_and_loss(tmp_path):
    student = open_student("bi-encoder", str(tiny_bert(tmp_path / "tiny", WORDS)), chunk=1)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor.shape) or tensor, lambda t: t):
        student.embed(TEXTS, "document")
    student.chunk = 0
    cached, kept = len(kept), []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor.shape) or tensor, lambda t: t):
        student.embed(TEXTS, "document")
    assert cached < len(kept) / 4
