"""Keys change with what can change a result, and with nothing else."""

import ast
import shutil
from pathlib import Path

import pytest

from qbench.keys import REVISIONS, key, revision
from qbench.quantities import extractors
from qbench.quantities.extractors import ExtractorOptions
from qbench.quantities.languages import data_files

PACKAGE = Path(__file__).parent.parent / "qbench"
CALLS = {
    "key": 0,
    "training_key": 0,
    "train_checkpoint": 0,
    "build_vectors": 0,
    "revision": 0,
    "stored": 1,
}
"""Functions that take a step's name, and as which argument."""


def steps_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            at = CALLS.get(name)
            if at is not None and len(node.args) > at and isinstance(node.args[at], ast.Constant):
                yield node.args[at].value


def test_every_step_has_a_revision_and_every_revision_a_step():
    used = {step for path in PACKAGE.rglob("*.py") if path.name != "keys.py" for step in steps_of(path)}
    assert used == set(REVISIONS)


def test_a_key_tells_steps_revisions_and_parameters_apart(monkeypatch):
    first = key("mask", source="a", what="units")
    assert key("mask", what="units", source="a") == first
    others = {key("relax", source="a", what="units"), key("mask", source="b", what="units"), key("mask", source="a")}
    monkeypatch.setitem(REVISIONS, "mask", REVISIONS["mask"] + 1)
    others.add(key("mask", source="a", what="units"))
    assert len({first, *others}) == 5


def test_parameters_may_have_the_names_of_the_rule_itself():
    assert len({key("mask", step="relax"), key("relax", step="mask"), key("mask", revision=1)}) == 3


def test_a_step_without_a_revision_is_refused():
    with pytest.raises(KeyError):
        key("nothing")


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """The room of quantities, elsewhere, so that its files can be edited."""
    folder = tmp_path / "quantities"
    shutil.copytree(Path(extractors.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    elsewhere = {path: folder / path.relative_to(Path(extractors.__file__).parent) for path in data_files("en")}
    monkeypatch.setattr(extractors, "data_files", lambda language: list(elsewhere.values()))
    extractors._data_digest.cache_clear()
    yield folder
    extractors._data_digest.cache_clear()


def test_extraction_has_another_key_after_an_edit_of_the_units_and_none_after_one_of_code(copied):
    before = ExtractorOptions().key()
    for path in copied.rglob("*.py"):
        path.write_text(path.read_text(encoding="utf-8") + "# A comment.\n", encoding="utf-8")
    extractors._data_digest.cache_clear()
    assert ExtractorOptions().key() == before
    units = copied / "data" / "units.txt"
    units.write_text(units.read_text(encoding="utf-8") + "# A comment.\n", encoding="utf-8")
    extractors._data_digest.cache_clear()
    assert ExtractorOptions().key() != before


def test_extraction_has_another_key_after_another_revision(monkeypatch):
    before = ExtractorOptions().key()
    monkeypatch.setitem(REVISIONS, "extraction", revision("extraction") + 1)
    assert ExtractorOptions().key() != before
