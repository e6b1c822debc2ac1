"""Sources in object stores: the index of a URL is that of the same files here."""

from __future__ import annotations

import fsspec
import pytest

from qbench.corpora.remote import open_remote
from qbench.corpora.source import open_source, read_documents
from qbench.corpora.types import Problems, ReadOptions
from qbench.errors import InputError, MissingPackageError

FILES = {
    "a/part-1.jsonl": '{"doc_id": "x", "text": "The new laptop weighs 1.2 kg."}\n',
    "a/part-2.csv": "doc_id,text\ny,Sales rose by 4 %.\n",
    "b.txt": "It costs $5.\n",
}


@pytest.fixture
def store(tmp_path):
    memory = fsspec.filesystem("memory")
    for name, text in FILES.items():
        memory.pipe_file(f"/bucket/{name}", text.encode())
        (tmp_path / "bucket" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bucket" / name).write_text(text)
    yield tmp_path / "bucket"
    memory.rm("/bucket", recursive=True)


@pytest.mark.parametrize("inner", ["", "/a", "/a/", "/b.txt"])
def test_a_url_reads_as_the_same_files_here(store, inner):
    there, here = open_source(f"memory://bucket{inner}"), open_source(store / inner.strip("/") if inner else store)
    assert there.fingerprint() == here.fingerprint()
    assert there.name == here.name
    read = [list(read_documents(each, ReadOptions(), Problems())) for each in (there, here)]
    assert read[0] == read[1]
    assert read[0]


def test_the_copy_goes_with_the_source(store):
    source = open_source("memory://bucket/b.txt")
    copy = source.files[0].path
    assert copy.is_file()
    del source
    assert not copy.parent.exists()


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("memory://bucket/none.txt", InputError, "cannot be read"),
        ("nowhere://bucket", InputError, "no URL that fsspec reads"),
    ],
)
def test_what_is_not_there_is_one_line(store, url, error, message):
    with pytest.raises(error, match=message):
        open_source(url)


def test_a_missing_package_is_named(monkeypatch):
    def lacking(url):
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", lacking)
    with pytest.raises(MissingPackageError, match="Install s3fs"):
        open_remote("s3://bucket/x", open_source)
