"""What is trained, as it is opened."""

from __future__ import annotations

import sys
from typing import get_args

import pytest

from qbench.errors import MissingPackageError
from qbench.training.kinds import Kind
from qbench.training.students import open_student
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
