"""Publishing to the double of the hub: what arrives, what is refused, what goes wrong."""

import dataclasses
import threading
import urllib.parse

import pytest

from qbench.benchmark.audit_disk import write_audit
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.errors import BusyError, InputError, OptionError, ServerError
from qbench.licences import LICENCES
from qbench.publishing.hub import ChangedError, Hub
from qbench.publishing.options import PublishOptions
from qbench.publishing.publish import publish
from qbench.publishing.pull import pull
from tests.factories import tiny_audit, tiny_benchmark
from tests.holding import held_by_another
from tests.hub_server import TOKEN, cut, fail, lose_answer

NAME = "me/tiny"
PLAIN = PublishOptions(NAME, picture=False)


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def published(server, name=NAME, revision="main"):
    return {path: data for path, data in server.files(name, revision).items() if path != ".gitattributes"}


def other(tmp_path, name="other", **params):
    made = tiny_benchmark()
    params = {**made.params, "licence": "cc-by-4.0", "seed": 8, **params}
    write_benchmark(
        dataclasses.replace(made, queries=made.queries[:4] + made.queries[4:][::-1], params=params), tmp_path / name
    )
    return tmp_path / name


def test_an_audit_is_published_with_the_labels(bench, tmp_path, server, hub):
    """What was published without one is uploaded anew, with the figures on the card, and comes back with them."""
    publish(bench, tmp_path / "out", PLAIN, hub=hub)
    assert "Labels not audited" in (tmp_path / "out" / "README.md").read_text()
    write_audit(bench, tiny_audit(bench))
    assert publish(bench, tmp_path / "out", PLAIN, hub=hub).new
    card = published(server)["README.md"].decode()
    assert "| relevant | 75.0 % | 30.1 to 95.4 % | 4 of 9 | 1 | 0 | 0 |" in card
    assert "not audited" not in card
    pull(NAME, tmp_path / "back", hub=hub)
    assert files(tmp_path / "back") == files(bench)
    assert open_benchmark(tmp_path / "back").audit == tiny_audit(bench)


def test_there_and_back(bench, tmp_path, server, hub):
    done = publish(bench, tmp_path / "out", PublishOptions(NAME), hub=hub, tag="v1.0", private=True)
    assert done.new
    assert done.private
    assert server.repos[NAME].private
    assert server.repos[NAME].tags == {"v1.0": done.commit}
    assert published(server) == files(tmp_path / "out")
    assert published(server).keys() == done.files.keys()
    pull(NAME, tmp_path / "back", hub=hub, revision="v1.0")
    assert files(tmp_path / "back") == files(bench)
    # what is there is left as it is, on both sides
    again = publish(bench, tmp_path / "out", PublishOptions(NAME), hub=hub, tag="v1.0", private=True)
    assert not again.new
    assert again.commit == done.commit
    assert len(server.repos[NAME].commits) == 2
    server.repos.clear()
    (tmp_path / "out" / "README.md").unlink()
    pull(tmp_path / "out", tmp_path / "back")


def test_the_same_artefact_gives_the_same_folder(bench, tmp_path):
    for name in ("one", "two"):
        publish(bench, tmp_path / name, PublishOptions(NAME), dry_run=True)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert str(tmp_path) not in "".join(d.decode("latin-1") for d in files(tmp_path / "one").values())


def test_a_dry_run_needs_no_token_and_sends_nothing(bench, tmp_path, server):
    done = publish(bench, tmp_path / "out", PLAIN, dry_run=True, hub=Hub(server.url))
    assert done.commit == ""
    assert not server.seen
    assert files(tmp_path / "out").keys() == done.files.keys()


def test_another_card_of_the_same_artefact_is_a_new_revision(bench, tmp_path, server, hub):
    first = publish(bench, tmp_path / "out", PublishOptions(NAME), hub=hub, tag="v1")
    server.put(NAME, {"NOTES.md": b"the owner's own"})
    second = publish(bench, tmp_path / "out", PLAIN, hub=hub, tag="v2")
    assert second.commit != first.commit
    assert "distributions.png" not in published(server)
    assert published(server)["NOTES.md"] == b"the owner's own"
    assert "distributions.png" in published(server, revision="v1")
    with pytest.raises(OptionError, match="has this tag already"):
        publish(bench, tmp_path / "out", PublishOptions(NAME), hub=hub, tag="v1")


def test_other_content_is_told_and_replaced_only_when_asked(bench, tmp_path, server, hub):
    publish(bench, tmp_path / "out", PLAIN, hub=hub, tag="v1")
    new = other(tmp_path)
    with pytest.raises(OptionError, match=r"holds other benchmark: 'bench', digest [0-9a-f]{16}, published by qbench"):
        publish(new, tmp_path / "out2", PLAIN, hub=hub)
    done = publish(new, tmp_path / "out2", PLAIN, hub=hub, overwrite=True)
    assert published(server) == files(tmp_path / "out2")
    assert done.new
    pull(NAME, tmp_path / "back", hub=hub, revision="v1")
    assert files(tmp_path / "back") == files(bench)


def test_files_of_others_are_named(bench, tmp_path, server, hub):
    server.put(NAME, {".gitattributes": b"", "README.md": b"# Mine\n", "manifest.json": b"[1]"})
    with pytest.raises(OptionError, match=r"holds 2 files that qbench did not publish: README.md, manifest.json"):
        publish(bench, tmp_path / "out", PLAIN, hub=hub)
    assert len(server.repos[NAME].commits) == 1
    with pytest.raises(InputError, match="qbench did not publish this data set"):
        pull(NAME, tmp_path / "back", hub=hub)


def test_a_public_data_set_does_not_turn_private(bench, tmp_path, server, hub):
    server.put(NAME, {})
    with pytest.raises(OptionError, match="and public"):
        publish(bench, tmp_path / "out", PLAIN, hub=hub, private=True)


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("tiny", None),
        ("me/a/b", None),
        ("me/..", None),
        ("-x/y", None),
        ("me/ü", None),
        ("me/t", "main"),
        ("me/t", "a b"),
    ],
)
def test_names_are_refused_before_any_work(bench, tmp_path, name, tag):
    with pytest.raises(OptionError, match="not a name of"):
        publish(bench, tmp_path / "out", PublishOptions(name), dry_run=True, tag=tag)
    assert not (tmp_path / "out").exists()


def test_without_a_token(bench, tmp_path, server):
    with pytest.raises(OptionError, match="hf auth login"):
        publish(bench, tmp_path / "out", PLAIN, hub=Hub(server.url))
    assert not server.seen


def test_a_token_that_the_hub_does_not_know(bench, tmp_path, server):
    hub = Hub(server.url, "hf_wrong0123456789", waits=())
    with pytest.raises(ServerError, match="does not accept the token") as caught:
        publish(bench, tmp_path / "out", PLAIN, hub=hub)
    assert "hf_wrong" not in f"{caught.value} {hub!r}"


def test_an_owner_that_is_somebody_else(bench, tmp_path, hub):
    with pytest.raises(ServerError, match="lacks the permission"):
        publish(bench, tmp_path / "out", PublishOptions("them/tiny", picture=False), hub=hub)


@pytest.mark.parametrize(
    "path", ["/api/repos/create", "/preupload/", "/objects/batch", "/lfs/", "/refs", "/tag/", "/commit/", "/resolve/"]
)
@pytest.mark.parametrize("status", [429, 503])
def test_what_passes_is_tried_again(bench, tmp_path, server, hub, path, status):
    server.faults.append(fail(status, path=path, Retry_After="0"))
    publish(bench, tmp_path / "out", PLAIN, hub=hub, tag="v1")
    assert not server.faults
    assert published(server) == files(tmp_path / "out")


def test_a_server_that_stays_down_is_told(bench, tmp_path, server, hub):
    server.faults.extend([fail(502, path="/api/datasets/")] * 60)
    with pytest.raises(ServerError, match=r"the hub answers 502.*Run the same command again"):
        publish(bench, tmp_path / "out", PLAIN, hub=hub)


def test_nobody_listens(bench, tmp_path):
    with pytest.raises(ServerError, match="cannot be reached"):
        publish(bench, tmp_path / "out", PLAIN, hub=Hub("http://127.0.0.1:9", TOKEN, waits=()))


def test_an_upload_that_breaks_off_goes_on(bench, tmp_path, server, hub):
    # the third large file never arrives whole, however often it is tried
    arrived = iter(range(100))
    broken = [cut() for _ in range(60)]
    keep = server.faults

    def after_two(exchange):
        if next(arrived) < 2:
            keep.appendleft(("PUT", "/lfs/", after_two))
            return False
        keep.extend(broken)
        return False

    keep.append(("PUT", "/lfs/", after_two))
    with pytest.raises(ServerError, match="files that arrived are not sent again"):
        publish(bench, tmp_path / "out", PLAIN, hub=hub)
    sent = set(server.sent)
    assert sent
    assert published(server) == {}
    keep.clear()
    publish(bench, tmp_path / "out", PLAIN, hub=hub)
    assert published(server) == files(tmp_path / "out")
    assert all(server.sent[name] == 1 for name in sent)


EMPTY = "me/tiny is there now, public and empty: the same command fills it, or delete it on the hub"


def test_a_hub_without_xet(bench, tmp_path, server, hub, monkeypatch):
    pytest.importorskip("hf_xet")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)
    with pytest.raises(ServerError, match="this hub has no Xet storage") as caught:
        publish(bench, tmp_path / "out", PLAIN, hub=hub)
    assert caught.value.remedy == f"Set HF_HUB_DISABLE_XET=1, and run the same command again. {EMPTY}"
    assert published(server) == {}
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    publish(bench, tmp_path / "out", PLAIN, hub=hub)
    assert published(server) == files(tmp_path / "out")


def test_an_empty_data_set_is_told_by_who_made_it(bench, tmp_path, server, hub):
    def fails(path):
        server.faults.extend([fail(400, path=path)] * 2)
        with pytest.raises(ServerError) as caught:
            publish(bench, tmp_path / "out", PLAIN, hub=hub)
        server.faults.clear()
        return EMPTY in str(caught.value)

    assert not fails("/api/repos/create")
    assert not server.repos
    assert fails("/preupload/")
    assert list(server.files(NAME)) == [".gitattributes"]
    assert not fails("/commit/")  # it was there before this call
    server.repos.clear()
    assert fails("/commit/")
    server.repos.clear()
    assert not fails("/resolve/")  # it is not empty any more


def test_one_cut_connection_is_mended_within_the_run(bench, tmp_path, server, hub):
    server.faults.append(cut())
    publish(bench, tmp_path / "out", PLAIN, hub=hub)
    assert published(server) == files(tmp_path / "out")


def test_a_commit_whose_answer_is_lost_is_not_made_twice(bench, tmp_path, server, hub):
    server.faults.append(lose_answer())
    done = publish(bench, tmp_path / "out", PLAIN, hub=hub)
    assert len(server.repos[NAME].commits) == 2
    assert server.repos[NAME].commits[-1][0] == done.commit


def test_somebody_else_writes_meanwhile(bench, tmp_path, server, hub):
    def write(exchange):
        server.put(NAME, {"theirs.txt": b"1"})
        return False

    server.faults.append(("POST", "/commit/", write))
    with pytest.raises(ChangedError, match="somebody else wrote"):
        publish(bench, tmp_path / "out", PLAIN, hub=hub)
    assert published(server) == {"theirs.txt": b"1"}


def test_two_uploads_at_once(bench, tmp_path, server, hub):
    """From two machines: one commit wins, the other is told; both hold the same, so both are content."""
    results = []

    def run(name):
        try:
            results.append(publish(bench, tmp_path / name, PLAIN, hub=Hub(server.url, TOKEN, waits=(0.01,))).commit)
        except ServerError as fault:
            results.append(fault)

    threads = [threading.Thread(target=run, args=(f"out{n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == results[1], results
    assert published(server) == files(tmp_path / "out0")
    assert len(server.repos[NAME].commits) == 2


def test_two_uploads_from_one_folder(bench, tmp_path, hub):
    publish(bench, tmp_path / "out", PLAIN, dry_run=True)
    with held_by_another(tmp_path / "out"), pytest.raises(BusyError):
        publish(bench, tmp_path / "out", PLAIN, hub=hub)


def downloaded(server):
    """The paths of all files that were asked for."""
    found = {urllib.parse.unquote(at.partition("/resolve/")[2].partition("/")[2]) for _, at in server.seen}
    return found - {"", "manifest.json"}


def test_the_digests_that_the_hub_lists_are_compared_and_nothing_is_downloaded(bench, tmp_path, server, hub):
    publish(bench, tmp_path / "out", PLAIN, hub=hub)
    assert not downloaded(server)
    entry = server.entry

    def spoiled(path, name):
        listed = entry(path, name)
        if path == "qbench/qrels.parquet":
            listed["lfs"]["oid"] = "0" * 64
        return listed

    server.repos.clear()
    server.entry = spoiled
    with pytest.raises(ServerError, match=r"me/tiny/qbench/qrels.parquet: the hub has another file than was sent"):
        publish(bench, tmp_path / "out", PLAIN, hub=hub)


def test_verify_downloads_and_compares(bench, tmp_path, server, hub):
    done = publish(bench, tmp_path / "out", PLAIN, hub=hub, verify=True)
    assert done.verified
    assert downloaded(server) | {"manifest.json"} == done.files.keys()
    name = server.repos[NAME].at(done.commit)[1]["qbench/qrels.parquet"]
    server.blobs[name] = server.blobs[name][:-1] + b"?"
    with pytest.raises(ServerError, match=r"me/tiny/qbench/qrels.parquet: the hub has another file than was sent"):
        publish(bench, tmp_path / "out", PLAIN, hub=hub, verify=True)  # nothing is new, and all is compared
    server.faults.extend([fail(404, path="/resolve/[^/]+/qbench/qrels.parquet")] * 9)
    with pytest.raises(ServerError, match=r"me/tiny/qbench/qrels.parquet: the hub does not have this file \(404\)"):
        publish(bench, tmp_path / "out", PLAIN, hub=hub, verify=True)


def test_a_tag_that_somebody_else_makes_meanwhile(bench, tmp_path, server, hub):
    def write(exchange):
        server.repos[NAME].tags["v1"] = "0" * 40
        return False

    server.faults.append(("POST", "/tag/", write))
    with pytest.raises(ChangedError, match="made this tag meanwhile"):
        publish(bench, tmp_path / "out", PLAIN, hub=hub, tag="v1")


# --- what may be published


@pytest.mark.parametrize("name", sorted(LICENCES))
def test_licences(tmp_path, name):
    made = tiny_benchmark()
    bench = dataclasses.replace(made, params={**made.params, "licence": name})
    write_benchmark(bench, tmp_path / "b")
    if LICENCES[name] in ("permissive", "share-alike", "non-commercial"):
        publish(tmp_path / "b", tmp_path / "out", PLAIN, dry_run=True)
        card = (tmp_path / "out" / "README.md").read_text()
        hub_name = name if name not in ("public-domain", "ogl-uk-3.0", "odc-by-1.0", "pddl-1.0") else "other"
        assert f"license: {hub_name}" in card.replace('"', "")
    else:
        with pytest.raises(OptionError, match="texts under this licence are not published"):
            publish(tmp_path / "b", tmp_path / "out", PLAIN, dry_run=True)
        assert not (tmp_path / "out").exists()


def test_no_licence_was_stated(tmp_path):
    write_benchmark(tiny_benchmark(), tmp_path / "b")
    with pytest.raises(OptionError, match=r"nobody stated one.*--licence ID"):
        publish(tmp_path / "b", tmp_path / "out", PLAIN, dry_run=True)
    options = dataclasses.replace(PLAIN, licence="MIT")
    assert publish(tmp_path / "b", tmp_path / "out", options, dry_run=True).manifest.params["licence"] == "mit"


def test_a_stated_licence_is_not_argued_away(tmp_path):
    made = tiny_benchmark()
    write_benchmark(dataclasses.replace(made, params={**made.params, "licence": "proprietary"}), tmp_path / "b")
    with pytest.raises(OptionError, match="says that its licence is proprietary"):
        publish(tmp_path / "b", tmp_path / "out", dataclasses.replace(PLAIN, licence="mit"), dry_run=True)


def test_a_licence_of_ones_own(tmp_path, bench):
    write_benchmark(tiny_benchmark(), tmp_path / "b")
    mine = dataclasses.replace(PLAIN, licence='Reader\'s "own" terms: v2 <b>', terms="non-commercial")
    publish(tmp_path / "b", tmp_path / "out", mine, dry_run=True)
    card = (tmp_path / "out" / "README.md").read_text()
    assert 'license: other\nlicense_name: "reader-s-own-terms-v2-b"' in card
    assert "may not be used for commercial purposes" in card
    for licence, terms in (("mit", "share-alike"), ("Own", "nonsense"), (None, "permissive")):
        with pytest.raises(OptionError, match="terms"):
            publish(
                tmp_path / "b", tmp_path / "o", dataclasses.replace(PLAIN, licence=licence, terms=terms), dry_run=True
            )


def test_a_benchmark_with_errors(tmp_path):
    made = tiny_benchmark()
    params = {**made.params, "licence": "mit"}
    wrong = dataclasses.replace(made, qrels=made.qrels.with_columns(grade=made.qrels["grade"] * 0 + 2), params=params)
    write_benchmark(wrong, tmp_path / "b")
    with pytest.raises(OptionError, match="--with-errors"):
        publish(tmp_path / "b", tmp_path / "out", PLAIN, dry_run=True)
    publish(tmp_path / "b", tmp_path / "out", dataclasses.replace(PLAIN, with_errors=True), dry_run=True)
    assert "| label-positive | error |" in (tmp_path / "out" / "README.md").read_text()


def test_an_artefact_that_was_changed(bench, tmp_path):
    path = bench / "qrels.parquet"
    data = path.read_bytes()
    path.write_bytes(data[:-5] + b"00000")
    with pytest.raises(InputError, match="not as it was written"):
        publish(bench, tmp_path / "out", PLAIN, dry_run=True)


def test_a_card_that_its_owner_edited_comes_back_as_it_is(bench, tmp_path):
    (bench / "README.md").write_text("mine\n")
    publish(bench, tmp_path / "out", PLAIN, dry_run=True)
    pull(tmp_path / "out", tmp_path / "back")
    assert (tmp_path / "back" / "README.md").read_text() == "mine\n"


def test_gold_judgments_alone(tmp_path):
    """No quantities, samples or triples: configurations without rows are left out."""
    made = tiny_benchmark()
    params = {"quantities": None, "licence": "cc0-1.0", "importer": "beir"}
    tests = [query for query in made.queries if query.split == "test"]
    judged = made.qrels.filter(made.qrels["query_id"].is_in([query.query_id for query in tests]))
    bare = dataclasses.replace(
        made, queries=tests, qrels=judged, quantities=None, samples=None, triples=None, params=params
    )
    write_benchmark(bare, tmp_path / "b")
    done = publish(tmp_path / "b", tmp_path / "out", PublishOptions(NAME), dry_run=True)
    assert done.manifest.counts == {
        "corpus": {"corpus": 12},
        "queries": {"queries": 4},
        "qrels": {"test": 5},
        "conditions": {"conditions": 4},
    }
    pull(tmp_path / "out", tmp_path / "back")
    assert files(tmp_path / "back") == files(tmp_path / "b")


def test_hostile_names(tmp_path):
    name = "a\"b'{}: <img src=x>\u202e](x) `$1$` 😀"
    made = tiny_benchmark()
    write_benchmark(dataclasses.replace(made, params={**made.params, "licence": "mit"}), tmp_path / name)
    publish(tmp_path / name, tmp_path / "out", PublishOptions(NAME), dry_run=True)
    import yaml

    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert yaml.safe_load(card.split("---\n")[1])["pretty_name"] == name.replace("\u202e", "�")
    assert "<img" not in card.split("---\n")[2].replace("title = {", "").split("## Citation")[0]
    assert "\u202e" not in card


@pytest.mark.parametrize("broken", ["nothing", "file", "index", "unfinished"])
def test_what_is_no_artefact(tmp_path, broken):
    folder = tmp_path / "x"
    if broken == "file":
        folder.write_text("x")
    elif broken == "unfinished":
        folder.mkdir()
    elif broken == "index":
        folder.mkdir()
        (folder / "manifest.json").write_text('{"kind": "index", "digest": "0", "params": {"licence": "mit"}}')
    with pytest.raises(InputError):
        publish(folder, tmp_path / "out", PLAIN, dry_run=True)


def test_the_output_holds_something_else(bench, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    with pytest.raises(OptionError, match="did not make"):
        publish(bench, tmp_path / "out", PLAIN, dry_run=True)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
