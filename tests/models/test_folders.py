"""Where models are found, and how they are told apart."""

from __future__ import annotations

import shutil

import pytest

from qbench.errors import InputError
from qbench.models.folders import model_digest, model_folder, transformer_folder


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "model"
    (made / "1_Pooling").mkdir(parents=True)
    (made / "config.json").write_text("{}")
    (made / "model.safetensors").write_bytes(b"weights")
    (made / "1_Pooling" / "config.json").write_text("{}")
    (made / "sentence_bert_config.json").write_text("{}")
    (made / "modules.json").write_text('[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling"}]')
    return made


def test_a_model_is_known_by_its_content_wherever_it_lies(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert model_digest(folder) == model_digest(copy)
    (copy / "README.md").write_text("about it")
    (copy / "manifest.json").write_text("{}")
    (copy / "log.json").write_text("[]")
    assert model_digest(folder) == model_digest(copy)
    for name in ("model.safetensors", "1_Pooling/config.json"):
        changed = shutil.copytree(folder, tmp_path / name.replace("/", "-"))
        (changed / name).write_bytes(b"other")
        assert model_digest(changed) != model_digest(folder)


def test_what_is_no_model_is_an_error(folder, tmp_path, monkeypatch):
    assert model_folder(str(folder)) == folder
    with pytest.raises(InputError, match="no such model folder"):
        model_folder(str(tmp_path / "nope"))
    with pytest.raises(InputError, match=r"neither modules.json nor config.json"):
        model_folder(str(tmp_path))

    def offline(name, **_):
        raise OSError("no connection\nand more")

    monkeypatch.setattr("huggingface_hub.snapshot_download", offline)
    with pytest.raises(InputError, match=r"no connection \(found 'some/model'\). Give a folder") as caught:
        model_folder("some/model")
    assert "and more" not in str(caught.value)


def test_a_name_on_the_hub_becomes_a_folder(folder, monkeypatch):
    asked = []

    def fetch(name, allow_patterns):
        asked.append((name, allow_patterns))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    assert model_folder("org/model") == folder
    ((name, patterns),) = asked
    assert name == "org/model"
    assert "*.safetensors" in patterns
    assert not any("bin" in pattern for pattern in patterns)


def test_the_transformer_of_an_old_folder_has_a_folder_of_its_own(folder, tmp_path):
    assert transformer_folder(folder) == folder
    (folder / "0_Transformer").mkdir()
    (folder / "0_Transformer" / "config.json").write_text("{}")
    (folder / "modules.json").write_text('[{"path": "0_Transformer"}, {"path": "1_Pooling"}]')
    assert transformer_folder(folder) == folder / "0_Transformer"
    for text, said in (
        ("{}", "not a list of modules"),
        ('["a"]', "not a list of modules"),
        ("[]", "is no transformer"),
        ('[{"path": ".."}]', "outside of the model's"),
    ):
        (folder / "modules.json").write_text(text)
        with pytest.raises(InputError, match=said):
            transformer_folder(folder)
