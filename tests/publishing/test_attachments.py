"""What a benchmark was made with goes along, comes back, and makes the same benchmark again."""

from __future__ import annotations

import dataclasses
import json
import shlex
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qbench.annotation.judged import import_answers
from qbench.annotation.options import SheetOptions
from qbench.annotation.sheet import export_sheet
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.relax import relax_benchmark
from qbench.cli import expand_concepts, gen_queries
from qbench.errors import BusyError, InputError, OptionError
from qbench.llm.recording import Recording
from qbench.publishing import attachments as m
from qbench.publishing.options import PublishOptions
from qbench.publishing.publish import publish
from qbench.publishing.pull import pull
from qbench.store import read_manifest, write_manifest
from tests.annotation.conftest import page_file
from tests.api_server import KEY, ApiServer
from tests.factories import tiny_benchmark
from tests.generation.conftest import sentences, write_index

NAME = "me/named"
SIZES = ("--min-sentences", 4, "--max-train", 20, "--max-dev", 5, "--max-test", 40)
PROMPT = """
task = "expand"
version = 1
system = "You name things."
user = "Concept: {concept}"
"""


def chat(asked):
    query = asked.partition("Query: ")[2].splitlines()
    if query:
        return json.dumps({"query": f"show me {query[0]}"})
    concept = asked.partition("Concept: ")[2].splitlines()[0]
    return json.dumps({"names": [f"thing called {''.join(word[0] for word in concept.split()) * 3}"]})


def run(line):
    """A command line, as a reader of the card gives it."""
    program, verb, *words = map(str, line)
    assert program == "qbench"
    app = {"expand-concepts": expand_concepts, "gen-queries": gen_queries}[verb].app
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A benchmark whose names and queries a model wrote, in the working folder `home`."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    write_index(home / "index", sentences())
    (home / "mine.toml").write_text(PROMPT)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ApiServer(chat=chat) as web:
        monkeypatch.setenv("OPENAI_BASE_URL", web.url)
        asked = ("--model", "m", "--threads", 1)
        run(("qbench", "expand-concepts", "index", "-o", "names.tsv", *asked, "--prompt", "mine.toml"))
        run(("qbench", "gen-queries", "index", "-o", "bench", *SIZES, "--expansions", "names.tsv", "--rewrite", *asked))
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    return home


ATTACHED = ("names.tsv", "names.answers.sqlite", "bench.answers.sqlite", "mine.toml")


def options(home, *names, **more):
    return PublishOptions(NAME, "mit", picture=False, attach=tuple(home / name for name in names), **more)


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_they_come_back_and_the_card_s_commands_make_the_same_benchmark(made, tmp_path, server, hub, monkeypatch):
    done = publish(made / "bench", tmp_path / "out", options(made, *ATTACHED), hub=hub)
    assert {path for path in done.files if path.startswith("made-with/")} == {f"made-with/{one}" for one in ATTACHED}
    monkeypatch.chdir(tmp_path)
    pull(NAME, "FOLDER", hub=hub)
    assert files(tmp_path / "FOLDER") == files(made / "bench")
    assert files(tmp_path / "FOLDER.made-with") == {name: (made / name).read_bytes() for name in ATTACHED}
    card = (tmp_path / "out" / "README.md").read_text()
    plain = card.replace("\\", "")
    assert "made-with/names.answers.sqlite` | recording: 12 answers of m (names of concepts)" in plain
    assert "the prompt of the model (names of concepts)" in plain
    told = card.partition("INDEX is the index with the digest")[2].partition("\n## ")[0]
    (made / "index").rename(tmp_path / "INDEX")
    pulled, names, queries = [shlex.split(line) for line in told.splitlines() if line.startswith("    qbench")]
    assert pulled == ["qbench", "pull", NAME, "-o", "FOLDER"]
    run(names)
    run(queries)
    assert (tmp_path / "NAMES").read_bytes() == (made / "names.tsv").read_bytes()
    assert open_benchmark(tmp_path / "BENCH").digest == open_benchmark(made / "bench").digest
    same, again = files(made / "bench"), files(tmp_path / "BENCH")
    assert {name for name in same if same[name] != again[name]} <= {"README.md", "manifest.json"}  # a name for people


def judged(bench, output):
    """The same benchmark, judged by somebody."""
    sheet = export_sheet(open_benchmark(bench), output.with_name(f"{output.name}-sheet"), SheetOptions(scale="binary"))
    answers = [(item.query_id, item.doc_id, 1) for item in sheet.items]
    path = page_file(sheet, output.with_name("la.json"), answers)
    line = "qbench annotate import BENCH SHEET ANSWERS... -o JUDGED"
    return import_answers(open_benchmark(bench), sheet, [path], output, command=line).benchmark


def test_a_judged_and_relaxed_benchmark_knows_what_it_was_made_with(made, tmp_path):
    line = "qbench benchmark relax BENCH -o RELAXED"
    write_benchmark(relax_benchmark(judged(made / "bench", tmp_path / "judged"), command=line), tmp_path / "relaxed")
    write_benchmark(relax_benchmark(open_benchmark(made / "bench"), command=line), tmp_path / "loose")
    judged(tmp_path / "loose", tmp_path / "of-loose")
    before = read_manifest(made / "bench").params
    for name, last in (("relaxed", ["annotate", "benchmark"]), ("of-loose", ["benchmark", "annotate"])):
        publish(tmp_path / name, tmp_path / f"{name}-out", options(made, *ATTACHED), dry_run=True)
        assert read_manifest(tmp_path / name).params["corpus"] == before["corpus"]
        card = (tmp_path / f"{name}-out" / "README.md").read_text()
        told = card.partition("INDEX is the index with the digest")[2].partition("\n## ")[0]
        lines = [line.split() for line in told.splitlines() if line.startswith("    qbench")]
        assert [line[1] for line in lines] == ["pull", "expand-concepts", "gen-queries", *last]
        assert ["--replay" in line for line in lines] == [False, True, True, False, False]
        assert "written by the model m" in card


def test_the_card_says_how_names_were_made_whatever_goes_along(made, tmp_path):
    publish(made / "bench", tmp_path / "out", options(made), dry_run=True)
    for card in (tmp_path / "out" / "README.md", made / "bench" / "README.md"):
        block = card.read_text().partition("Commands:\n\n")[2].partition("\n\n")[0].splitlines()
        assert [line.split()[:2] for line in block] == [["qbench", "expand-concepts"], ["qbench", "gen-queries"]]
        assert "--prompt mine.toml" in block[0]
    assert not (tmp_path / "out" / "made-with").exists()
    assert "made_with" not in read_manifest(tmp_path / "out").params


def test_more_that_goes_along_is_a_new_revision(made, tmp_path, server, hub):
    first = publish(made / "bench", tmp_path / "out", options(made), hub=hub, tag="v1")
    pull(NAME, tmp_path / "back", hub=hub)
    assert not (tmp_path / "back.made-with").exists()
    second = publish(made / "bench", tmp_path / "out", options(made, "names.tsv"), hub=hub, tag="v2")
    assert first.commit != second.commit
    pull(NAME, tmp_path / "back", hub=hub)  # the benchmark is there; what it was made with is not
    assert files(tmp_path / "back.made-with") == {"names.tsv": (made / "names.tsv").read_bytes()}
    (tmp_path / "back.made-with" / "names.tsv").write_text("mine")
    with pytest.raises(OptionError, match="another file has the name"):
        pull(NAME, tmp_path / "back", hub=hub)
    pull(NAME, tmp_path / "back", hub=hub, overwrite=True)
    assert files(tmp_path / "back.made-with") == {"names.tsv": (made / "names.tsv").read_bytes()}
    publish(made / "bench", tmp_path / "out", options(made), hub=hub)
    assert not any(path.startswith("made-with/") for path in server.files(NAME))


def test_a_file_that_was_changed_on_the_way_is_not_taken(made, tmp_path):
    publish(made / "bench", tmp_path / "out", options(made, "names.tsv"), dry_run=True)
    (tmp_path / "out" / "made-with" / "names.tsv").write_text("another\tname\n")
    with pytest.raises(InputError, match="not as it was published"):
        pull(tmp_path / "out", tmp_path / "back")
    assert not (tmp_path / "back.made-with").exists()


def test_a_publication_of_others_writes_nowhere_else(made, tmp_path):
    publish(made / "bench", tmp_path / "out", options(made, "names.tsv"), dry_run=True)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    seen = manifest["files"]["made-with/names.tsv"]
    manifest["files"] |= {"made-with/sub/evil.tsv": seen}
    write_manifest(tmp_path / "out", manifest)
    (tmp_path / "out" / "made-with" / "sub").mkdir()
    (tmp_path / "out" / "made-with" / "sub" / "evil.tsv").write_bytes((made / "names.tsv").read_bytes())
    (tmp_path / "into").mkdir()
    pull(tmp_path / "out", tmp_path / "into" / "back")
    assert sorted(path.name for path in (tmp_path / "into").iterdir()) == ["back", "back.made-with"]
    assert [path.name for path in (tmp_path / "into" / "back.made-with").iterdir()] == ["names.tsv"]


def refused(made, tmp_path, *names):
    with pytest.raises((InputError, OptionError, BusyError)) as caught:
        publish(made / "bench", tmp_path / "out", options(made, *names), dry_run=True)
    assert not (tmp_path / "out").exists()
    return str(caught.value)


def test_what_does_not_go_along(made, tmp_path, monkeypatch):
    assert "no such file" in refused(made, tmp_path, "nothing.tsv")
    (made / "notes.txt").write_text("private")
    assert "does not say that it was made with this file" in refused(made, tmp_path, "notes.txt")
    (made / "other.toml").write_text(PROMPT.replace("things", "matters"))
    assert "does not say that it was made with this file" in refused(made, tmp_path, "other.toml")
    (made / "sub").mkdir()
    (made / "sub" / "NAMES.TSV").write_bytes((made / "names.tsv").read_bytes())
    assert "two files of one name" in refused(made, tmp_path, "names.tsv", "sub/NAMES.TSV")
    (made / "na mes.tsv").write_bytes((made / "names.tsv").read_bytes())
    assert "this name is not portable" in refused(made, tmp_path, "na mes.tsv")
    monkeypatch.setattr(m, "MOST", 100)
    assert "more than 100 bytes" in refused(made, tmp_path, "names.tsv")


def test_a_recording_holds_answers_alone(made, tmp_path):
    other = made / "other.sqlite"
    with Recording(other).opened():
        pass
    assert "holds no answer that the benchmark was made with" in refused(made, tmp_path, "other.sqlite")
    path = made / "names.answers.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE notes (text)")
    connection.commit()
    connection.close()
    assert "holds more than answers (found 'answers, notes')" in refused(made, tmp_path, path.name)
    plain = sqlite3.connect(made / "plain.sqlite")
    plain.execute("CREATE TABLE t (a)")
    plain.commit()
    plain.close()
    assert "no recording of qbench" in refused(made, tmp_path, "plain.sqlite")
    (made / "cut.sqlite").write_bytes((made / "bench.answers.sqlite").read_bytes()[:3000])
    assert "cannot be used" in refused(made, tmp_path, "cut.sqlite")


def test_a_recording_in_use_waits(made, tmp_path):
    path = made / "names.answers.sqlite"
    with Recording(path).opened() as table:
        table._connection.execute("INSERT INTO answers VALUES (x'00', '{}', 'json', x'22')")
        table._connection.commit()
        assert "another process uses this recording" in refused(made, tmp_path, path.name)
    publish(made / "bench", tmp_path / "out", options(made, path.name), dry_run=True)
    pull(tmp_path / "out", tmp_path / "back")
    with Recording(tmp_path / "back.made-with" / path.name).opened(read_only=True) as table:
        assert sum(table.calls().values()) == 13


@pytest.mark.parametrize("secret", ["OPENAI_API_KEY", "looks"])
def test_a_key_stays_at_home(made, tmp_path, monkeypatch, secret):
    written = "secret-of-mine-123"
    if secret == "looks":
        written = "sk-proj-abcdefghijklmnopqrstuv"
    else:
        monkeypatch.setenv(secret, written)
    path = made / "names.answers.sqlite"
    with Recording(path).opened() as table:
        call = next(iter(table.calls()))
        table._connection.execute("INSERT INTO answers VALUES (x'00', ?, 'json', ?)", (call, json.dumps(written)))
        table._connection.commit()
    message = refused(made, tmp_path, path.name)
    assert f"this file holds {'a key' if secret == 'looks' else secret}, and is not published" in message
    assert written not in message


def test_a_table_goes_along_under_the_name_of_its_file():
    made = m.Attachment(Path("corpus/expansions.tsv"), "a table", "d1")
    record = {"by": "table", "command": "qbench expand-concepts INDEX -o NAMES --table corpus", "table digest": "d1"}
    params = {"expansions": record, "command": "qbench gen-queries INDEX -o BENCH --expansions names.tsv"}
    assert m.replay_commands([made], params, "F") == [
        "qbench expand-concepts INDEX -o NAMES --table F/expansions.tsv",
        "qbench gen-queries INDEX -o BENCH --expansions names.tsv",
    ]


def test_other_benchmarks_have_nothing_to_attach(tmp_path):
    bench = tiny_benchmark()
    write_benchmark(dataclasses.replace(bench, params={**bench.params, "licence": "mit"}), tmp_path / "bench")
    (tmp_path / "names.tsv").write_text("a b\tc d\n")
    with pytest.raises(OptionError, match="does not say"):
        publish(tmp_path / "bench", tmp_path / "out", options(tmp_path, "names.tsv"), dry_run=True)
