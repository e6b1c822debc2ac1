"""Artefacts: whole or absent, whatever happens while they are made."""

import os
import pickle
from pathlib import Path

import pytest

from qbench.errors import BusyError, InputError, OptionError
from qbench.locks import locked
from qbench.store import atomic_file, digest, drafting, finished, read_json, read_manifest, write_json
from tests.holding import held_by_another


def make(folder: Path, key: str, text: str = "x", **options):
    with drafting(folder, "index", key, {"k": key}, **options) as draft:
        (draft.folder / "data.txt").write_text(text)
        draft.counts["rows"] = 1


def test_an_artefact_knows_what_it_is(tmp_path):
    make(tmp_path / "a", "k1")
    manifest = read_manifest(tmp_path / "a", "index")
    assert (manifest.digest, manifest.counts, manifest.files["data.txt"]["bytes"]) == ("k1", {"rows": 1}, 1)
    assert finished(tmp_path / "a", "index", "k1")
    assert not finished(tmp_path / "a", "index", "k2")
    with pytest.raises(InputError, match="a benchmark is needed"):
        read_manifest(tmp_path / "a", "benchmark")


def test_a_damaged_artefact_is_made_again(tmp_path):
    make(tmp_path / "a", "k1")
    (tmp_path / "a" / "data.txt").write_text("")
    assert not finished(tmp_path / "a", "index", "k1")
    make(tmp_path / "a", "k1")
    assert finished(tmp_path / "a", "index", "k1")
    (tmp_path / "a" / "data.txt").unlink()
    assert not finished(tmp_path / "a", "index", "k1")


def test_a_failure_leaves_the_earlier_artefact_and_a_draft_to_resume(tmp_path):
    make(tmp_path / "a", "k1", "old")
    with pytest.raises(RuntimeError), drafting(tmp_path / "a", "index", "k2", {}, overwrite=True) as draft:
        (draft.folder / "part").write_text("half")
        raise RuntimeError
    assert (tmp_path / "a" / "data.txt").read_text() == "old"
    with drafting(tmp_path / "a", "index", "k2", {}, overwrite=True) as draft:
        assert (draft.folder / "part").read_text() == "half"
    assert (tmp_path / "a" / "part").exists()
    assert not (tmp_path / "a" / "data.txt").exists()


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_every_file_is_as_readable_as_any_of_the_users(tmp_path, umask, mode):
    earlier = os.umask(umask)
    try:
        with drafting(tmp_path / "a", "index", "k1", {}) as draft:
            for place in (draft.folder, draft.folder / "inner"):
                place.mkdir(exist_ok=True)
                (place / "private").write_text("x")
                (place / "private").chmod(0o600)  # as safetensors leaves its files
                write_json(place / "ours.json", {})
    finally:
        os.umask(earlier)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert modes == dict.fromkeys(("private", "ours.json", "manifest.json"), mode)


def test_a_draft_of_something_else_is_thrown_away(tmp_path):
    with pytest.raises(RuntimeError), drafting(tmp_path / "a", "index", "k1", {}) as draft:
        (draft.folder / "part").write_text("half")
        raise RuntimeError
    with drafting(tmp_path / "a", "index", "k2", {}) as draft:
        assert not (draft.folder / "part").exists()


def test_scratch_files_do_not_survive(tmp_path):
    with drafting(tmp_path / "a", "index", "k", {}) as draft:
        (draft.folder / ".parts").mkdir()
        (draft.folder / ".parts" / "0").write_text("x")
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["manifest.json"]


def test_foreign_folders_are_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(OptionError, match="did not make"):
            make(tmp_path / "mine", "k", overwrite=overwrite)
    (tmp_path / "file").write_text("x")
    with pytest.raises(OptionError, match="is a file"):
        make(tmp_path / "file", "k")


def test_another_artefact_is_replaced_only_on_request(tmp_path):
    make(tmp_path / "a", "k1")
    with pytest.raises(OptionError, match="--overwrite"):
        make(tmp_path / "a", "k2")
    make(tmp_path / "a", "k2", overwrite=True)
    assert read_manifest(tmp_path / "a").digest == "k2"


def test_a_swap_cut_in_two_is_undone(tmp_path):
    make(tmp_path / "a", "k1", "old")
    (tmp_path / "a").rename(tmp_path / ".a.old")
    with pytest.raises(RuntimeError), drafting(tmp_path / "a", "index", "k2", {}, overwrite=True):
        raise RuntimeError
    assert (tmp_path / "a" / "data.txt").read_text() == "old"


def test_a_second_writer_is_told(tmp_path):
    with held_by_another(tmp_path / "a"), pytest.raises(BusyError, match="another thread"), locked(tmp_path / "a"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_atomic_file_keeps_the_old_one_on_failure(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"v": 1})
    with pytest.raises(RuntimeError), atomic_file(path) as temporary:
        temporary.write_text("{half")
        raise RuntimeError
    assert read_json(path) == {"v": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.parametrize(("content", "message"), [(b"{", "x.json:1: not valid JSON"), (b"\xff", "not valid UTF-8")])
def test_broken_json_is_named(tmp_path, content, message):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_json(tmp_path / "x.json")


def test_digest_ignores_the_order_of_keys_and_refuses_nan():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    with pytest.raises(ValueError, match="Out of range"):
        digest({"a": float("nan")})


def test_errors_survive_pickling_with_their_fields():
    error = InputError("bad", file="f.csv", line=3, value="x" * 200, remedy="Mend it")
    back = pickle.loads(pickle.dumps(error))
    assert (str(back), back.line, back.remedy) == (str(error), 3, "Mend it")
    assert len(str(error)) < 150


def test_a_mistyped_folder_suggests_another(tmp_path):
    make(tmp_path / "news-index", "k1")
    with pytest.raises(InputError, match=r"no such folder. Did you mean .*news-index\?"):
        read_manifest(tmp_path / "new-index")
    with pytest.raises(InputError, match=r"no such folder$"):
        read_manifest(tmp_path / "nowhere" / "index")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 5_000, "9" * 5_000, '{"n": -' + "9" * 5_000 + "}"])
def test_json_that_is_too_deep_or_has_a_number_of_too_many_digits_is_one_line(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match=r"x\.json: not valid JSON: (too many brackets|a number of too many digits)"):
        read_json(tmp_path / "x.json")
