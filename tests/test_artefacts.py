"""Opening artefacts: what is whole, what is missing, what has changed."""

from __future__ import annotations

import pytest

from qbench.artefacts import CARD, changed_files, open_artefact
from qbench.errors import InputError
from qbench.store import drafting


@pytest.fixture
def artefact(tmp_path):
    with drafting(tmp_path / "a", "pairs", "key", {}) as draft:
        (draft.folder / "table").write_text("abc")
        (draft.folder / CARD).write_text("card")
    return tmp_path / "a"


def test_a_whole_artefact_whose_card_was_edited(artefact):
    (artefact / CARD).write_text("another card")
    manifest = open_artefact(artefact, "pairs", ("table",), content=True)
    assert manifest.digest == "key"
    assert open_artefact(artefact) == manifest
    assert list(changed_files(artefact, manifest)) == []


def test_what_was_changed_is_named(artefact):
    (artefact / "table").write_text("abd")
    manifest = open_artefact(artefact)
    assert list(changed_files(artefact, manifest)) == ["table"]
    with pytest.raises(InputError, match=r"table: the file is not as it was written\. Make the pairs again"):
        open_artefact(artefact, content=True)
    (artefact / "table").write_text("abcd")
    with pytest.raises(InputError, match=r"table: the file is not as it was written .found '?4 bytes instead of 3"):
        open_artefact(artefact)
    (artefact / "table").unlink()
    with pytest.raises(InputError, match=r"table: a file of the pairs is missing\. Make the pairs again"):
        open_artefact(artefact)


def test_another_artefact(artefact):
    with pytest.raises(InputError, match=r"a qbench pairs without this file .found 'other'"):
        open_artefact(artefact, "pairs", ("other",))
    with pytest.raises(InputError, match="this is a qbench pairs"):
        open_artefact(artefact, "index")
