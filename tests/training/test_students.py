"""What is trained, as it is opened."""

from __future__ import annotations

import sys
from typing import get_args

import pytest

from qbench.errors import MissingPackageError
from qbench.training.kinds import Kind
from qbench.training.outputs import Embedded
from qbench.training.students import LateInteractionStudent, open_student
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
    torch = pytest.importorskip("torch")
    queries, texts = torch.randn(2, 3, 4), torch.randn(5, 6, 4)
    student = LateInteractionStudent(None)
    masked = student.scores(
        Embedded(queries, torch.ones(2, 3, dtype=torch.bool)), Embedded(texts, torch.ones(5, 6, dtype=torch.bool))
    )
    assert torch.equal(student.scores(Embedded(queries), Embedded(texts)), masked)
    none = Embedded(texts, torch.zeros(5, 6, dtype=torch.bool))
    assert torch.equal(student.scores(Embedded(queries), none), torch.full((2, 5), -3.0))
