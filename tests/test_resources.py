"""Files that travel with qbench."""

import pytest

from qbench import resources
from qbench.errors import InputError


def test_templates_are_found_in_a_checkout():
    assert resources.resource("templates/sentences.toml").is_file()


def test_a_wheel_keeps_them_inside_the_package(tmp_path, monkeypatch):
    inside = tmp_path / "qbench" / "_data" / "templates"
    inside.mkdir(parents=True)
    (inside / "sentences.toml").write_text("")
    monkeypatch.setattr(resources, "__file__", str(tmp_path / "qbench" / "resources.py"))
    assert resources.resource("templates/sentences.toml") == inside / "sentences.toml"
    with pytest.raises(InputError, match="missing"):
        resources.resource("templates/none.toml")
