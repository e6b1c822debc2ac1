"""Opening artefacts: what is whole, what is missing, what has changed."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.artefacts import CARD, changed_files, open_artefact, reading
from qbench.errors import InputError
from qbench.store import SEAL, digest, drafting, finished, read_manifest, write_manifest


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
    manifest = open_artefact(artefact)
    (artefact / "table").write_text("abd")
    assert list(changed_files(artefact, manifest)) == ["table"]
    assert not finished(artefact, "pairs", "key")
    with pytest.raises(InputError, match=r"table: the file is not as it was written\. Make the pairs again"):
        open_artefact(artefact)
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


def edit_manifest(folder, change):
    path = folder / "manifest.json"
    data = json.loads(path.read_text())
    change(data)
    write_manifest(folder, data)


OUTSIDE = ["../secret", "/etc/passwd", "a/../../secret", "..", "a\\b", "C:x", "a\x1b[2J", "", "a//b"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_in_a_manifest_leads_outside(artefact, name):
    (artefact.parent / "secret").write_text("abc")
    edit_manifest(artefact, lambda data: data["files"].update({name: data["files"]["table"]}))
    with pytest.raises(InputError, match="names a file outside of the artefact's folder"):
        read_manifest(artefact)


@pytest.mark.parametrize("name", ["table", CARD, "manifest.json"])
def test_no_link_leads_outside(artefact, name):
    outside = artefact.parent / "outside"
    (artefact / name).rename(outside)
    (artefact / name).symlink_to(outside)
    with pytest.raises(InputError, match=f"{name}: a link that leads out of the artefact's folder"):
        open_artefact(artefact)


def test_a_link_within_the_folder_is_followed_and_the_folder_may_be_one(artefact):
    (artefact / "table").rename(artefact / "moved")
    (artefact / "table").symlink_to("moved")
    (artefact.parent / "link").symlink_to("a")
    open_artefact(artefact.parent / "link")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("kind"),
        lambda data: data.pop("digest"),
        lambda data: data.update(kind=["pairs"]),
        lambda data: data.update(params=[]),
        lambda data: data.update(files=["table"]),
        lambda data: data.update(surprise=1),
        lambda data: data["files"].update(table=3),
        lambda data: data["files"].update(table={"bytes": "3", "sha256": "x"}),
        lambda data: data["files"].update(table={"bytes": 3}),
    ],
)
def test_a_malformed_manifest_is_one_line(artefact, change):
    edit_manifest(artefact, change)
    with pytest.raises(InputError, match=r"manifest\.json: not a qbench manifest") as caught:
        open_artefact(artefact)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["[]", "3", "[" * 100_000, '{"kind": ' + "9" * 5000 + "}", "\x00", "{", ""])
def test_a_manifest_that_is_none_is_one_line(artefact, text):
    (artefact / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json"):
        read_manifest(artefact)


def test_a_file_is_read_once_and_again_when_it_changes(artefact, monkeypatch):
    from qbench import digests

    read = []
    whole = digests.sha256
    monkeypatch.setattr(digests, "sha256", lambda path: read.append(path.name) or whole(path))
    open_artefact(artefact)
    assert read == ["table"]  # and not remembered: it was written a moment ago
    monkeypatch.setattr(digests, "FRESH", 0)
    open_artefact(artefact)
    open_artefact(artefact)
    assert read == ["table"] * 2
    (artefact / "table").write_text("abd")
    with pytest.raises(InputError, match="not as it was written"):
        open_artefact(artefact)
    (artefact / "table").write_text("abc")
    open_artefact(artefact)
    assert read == ["table"] * 4
    open_artefact(artefact, content=True)
    assert read == ["table"] * 5


@pytest.mark.parametrize("found", ["[]", "{", '{"table": 3}', '{"table": [["a"], "b"]}'])
def test_what_is_remembered_may_be_damaged_or_nowhere(artefact, monkeypatch, tmp_path, found):
    from qbench import digests

    monkeypatch.setattr(digests, "FRESH", 0)
    monkeypatch.setenv("QBENCH_CACHE", str(tmp_path / "cache"))
    open_artefact(artefact)
    (known,) = (tmp_path / "cache" / "digests").iterdir()
    known.write_text(found)
    open_artefact(artefact)
    monkeypatch.setenv("QBENCH_CACHE", "/dev/null/nowhere")
    open_artefact(artefact)


def test_what_is_remembered_does_not_grow_without_end(artefact, monkeypatch, tmp_path):
    from qbench import digests

    monkeypatch.setattr(digests, "FRESH", 0)
    monkeypatch.setattr(digests, "MOST", 4)
    monkeypatch.setenv("QBENCH_CACHE", str(tmp_path / "cache"))
    for number in range(9):
        (artefact if not number else tmp_path / f"a{number - 1}").rename(tmp_path / f"a{number}")
        open_artefact(tmp_path / f"a{number}")
    assert len(list((tmp_path / "cache" / "digests").iterdir())) <= 4


def test_an_artefact_that_is_replaced_while_it_is_read_is_noticed(artefact):
    manifest = open_artefact(artefact)
    with reading(artefact, manifest, "table") as path:
        assert path.read_text() == "abc"
    with drafting(artefact, "pairs", "another", {}, overwrite=True) as draft:
        (draft.folder / "table").write_text("abd")
    with pytest.raises(InputError, match="replaced while it was read"), reading(artefact, manifest, "table"):
        pass
    with pytest.raises(InputError, match="replaced"), reading(artefact, manifest, "table") as path:
        raise FileNotFoundError(path)


@settings(max_examples=200)
@given(st.data())
def test_a_flipped_bit_in_a_manifest_changes_nothing_that_is_said(data):
    with tempfile.TemporaryDirectory() as place:
        with drafting(Path(place) / "a", "pairs", "key", {"value": 0.1, "name": "é", "list": [1, None]}) as draft:
            (draft.folder / "table").write_bytes(b"abc")
            draft.counts = {"documents": 12}
        manifest = read_manifest(Path(place) / "a")
        path = Path(place) / "a" / "manifest.json"
        content = bytearray(path.read_bytes())
        bit = data.draw(st.integers(0, 8 * len(content) - 1))
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        with suppress(InputError):
            assert read_manifest(Path(place) / "a") == manifest


def test_older_manifests_have_no_digest_of_their_own(artefact):
    path = artefact / "manifest.json"
    content = json.loads(path.read_text())
    assert content.pop(SEAL) == digest(content)
    path.write_text(json.dumps(content))
    assert read_manifest(artefact).digest == content["digest"]


@pytest.mark.parametrize("seal", ["0", 3, None, ["x"]])
def test_a_wrong_digest_of_a_manifest_is_one_line(artefact, seal):
    path = artefact / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {SEAL: seal}))
    with pytest.raises(InputError, match=r"manifest\.json: the manifest is not as it was written"):
        open_artefact(artefact)
    path.write_text(path.read_text().replace('"key"', "NaN"))
    with pytest.raises(InputError, match=r"manifest\.json"):
        open_artefact(artefact)
