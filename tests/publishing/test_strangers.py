"""Artefacts and publications of strangers: nothing outside of their folders is read or written."""

import json
import shutil

import pytest

from qbench.errors import InputError
from qbench.publishing.options import PublishOptions
from qbench.publishing.publish import publish
from qbench.publishing.pull import pull
from qbench.store import write_manifest

OPTIONS = PublishOptions("me/tiny", picture=False)


def named(folder, name):
    """Let a manifest list one more file."""
    path = folder / "manifest.json"
    data = json.loads(path.read_text())
    data["files"][name] = {"bytes": 3, "sha256": "0" * 16}
    write_manifest(folder, data)


def everything(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("dry_run", [True, False])
def test_publish_copies_nothing_to_a_place_that_a_manifest_names(bench, tmp_path, hub, dry_run):
    (tmp_path / "victim").write_text("mine")
    (bench / "evil").write_text("theirs")
    for name in ("../../victim", str(tmp_path / "victim")):
        named(bench, name)
        before = everything(tmp_path)
        with pytest.raises(InputError, match="names a file outside of the artefact's folder"):
            publish(bench, tmp_path / "out", OPTIONS, dry_run=dry_run, hub=hub)
        assert everything(tmp_path) == before


@pytest.mark.parametrize("name", ["README.md", "corpus.parquet"])
def test_publish_follows_no_link(bench, tmp_path, name):
    (tmp_path / "secret").write_bytes((bench / name).read_bytes())
    (bench / name).unlink()
    (bench / name).symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="a link that leads out of the artefact's folder"):
        publish(bench, tmp_path / "out", OPTIONS, dry_run=True)
    assert not (tmp_path / "out").exists()


def test_pull_follows_no_link(bench, tmp_path):
    publish(bench, tmp_path / "out", OPTIONS, dry_run=True)
    (tmp_path / "secret").write_bytes((tmp_path / "out" / "qbench" / "README.md").read_bytes())
    (tmp_path / "out" / "qbench" / "README.md").unlink()
    (tmp_path / "out" / "qbench" / "README.md").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="a link that leads out of the artefact's folder"):
        pull(tmp_path / "out", tmp_path / "back")
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("where", [".", "qbench"])
@pytest.mark.parametrize("name", ["qbench/../../victim", "made-with/../../victim", "../victim"])
def test_pull_writes_nothing_to_a_place_that_a_manifest_names(bench, tmp_path, where, name):
    publish(bench, tmp_path / "out", OPTIONS, dry_run=True)
    shutil.copytree(tmp_path / "out", tmp_path / "theirs")
    (tmp_path / "victim").write_text("mine")
    named(tmp_path / "theirs" / where, name)
    with pytest.raises(InputError, match="names a file outside of the artefact's folder"):
        pull(tmp_path / "theirs", tmp_path / "back")
    assert (tmp_path / "victim").read_text() == "mine"
    assert not (tmp_path / "back").exists()


def test_a_publication_that_lists_nothing_is_refused(bench, tmp_path):
    """Its manifest lists not one file of the artefact's own."""
    publish(bench, tmp_path / "out", OPTIONS, dry_run=True)
    data = json.loads((tmp_path / "out" / "manifest.json").read_text())
    data["files"] = {name: said for name, said in data["files"].items() if not name.startswith("qbench/")}
    write_manifest(tmp_path / "out", data)
    with pytest.raises(InputError):
        pull(tmp_path / "out", tmp_path / "back")
