from qbench.publishing.prepare import PublishOptions
from qbench.publishing.publish import publish
from qbench.publishing.pull import pull

NAME = "me/tiny"


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_there_and_back(bench, tmp_path, server, hub):
    done = publish(bench, tmp_path / "out", PublishOptions(NAME), hub=hub, tag="v1.0", private=True)
    assert done.new
    assert done.private
    repo = server.repos[NAME]
    assert repo.private
    assert repo.tags == {"v1.0": done.commit}
    held = server.files(NAME)
    assert {path for path in held if path != ".gitattributes"} == set(done.files)
    assert files(tmp_path / "out") == {path: data for path, data in held.items() if path != ".gitattributes"}
    pull(NAME, tmp_path / "back", hub=hub, revision="v1.0")
    assert files(tmp_path / "back") == files(bench)
