"""`qbench benchmark audit` on the command line: drawn, read by a person or a model, on the card and below the table."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from qbench.annotation.audit import open_audit
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.export import export_beir
from qbench.cli.benchmark import app
from qbench.cli.leaderboard import app as leaderboard
from qbench.errors import BudgetError, InputError, OptionError, ServerError
from qbench.llm import asking
from qbench.store import read_manifest
from tests.annotation.conftest import rows_of
from tests.annotation.test_audit import filled, write
from tests.api_server import KEY, ApiServer
from tests.factories import tiny_benchmark

QUICK = ["--resamples", "200", "--workers", "1", "--no-buckets", "--conditions", "given", "--systems", "BM25"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_benchmark(tiny_benchmark(), tmp_path / "bench")
    return tmp_path


def run(*words, catch=False):
    return CliRunner().invoke(app, ["audit", *map(str, words)], catch_exceptions=catch)


def call(*words):
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result


def verdict(row):
    return ("wrong", "another thing") if row["doc_id"] == "d03" else ("right", "")


def test_from_a_sample_to_the_card_and_the_foot_of_a_table(here):
    result = call("bench")
    assert "  relevant: 4\n" in result.stdout
    assert "Read the page (audit.html) or fill the table beside it (audit.csv)" in result.stderr
    board = CliRunner().invoke(leaderboard, ["bench", "-o", "before", *QUICK])
    assert "Labels not audited" in board.stdout
    filled(open_audit(here / "bench.audit"), here / "anna.csv", verdict)
    result = call("bench", "anna.csv")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["relevant", "75.0", "%", "30.1", "to", "95.4", "%", "4", "of", "4", "1", "0", "0"] in lines
    assert ["1", "relevant", "wrong", "another", "thing"] in lines
    card = (here / "bench" / "README.md").read_text()
    assert "| relevant | 75.0 % | 30.1 to 95.4 % | 4 of 4 | 1 | 0 | 0 |" in card
    assert "| 1 | relevant | wrong | another thing |" in card
    assert "anna" not in card
    CliRunner().invoke(leaderboard, ["bench", "-o", "after", *QUICK], catch_exceptions=False)
    note = "Labels audited by annotator 1: query 100.0 % right (51.0 to 100.0 %, 4 read); relevant 75.0 % right"
    for name in ("leaderboard.md", "leaderboard.json"):
        assert note in (here / "after" / name).read_text().replace("\\", "")
    assert read_manifest(here / "bench.audit").params["command"] == "qbench benchmark audit BENCH"
    assert open_benchmark(here / "bench").digest == json.loads((here / "bench" / "audit.json").read_text())["artefact"]
    assert CliRunner().invoke(app, ["check", "bench"]).exit_code == 0


def test_the_table_in_its_place_is_read_as_far_as_it_is_filled(here):
    call("bench")
    table = here / "bench.audit" / "audit.csv"
    rows = rows_of(table)
    for row in rows[:5]:
        row["verdict"] = "right"
    rows[5]["verdict"] = "?"
    write(table, rows)
    before = table.read_bytes()
    result = call("bench")
    assert "1 of 13 labels were read and left open (cannot tell)" in result.stderr
    assert "7 of 13 labels have not been read yet" in result.stderr
    assert table.read_bytes() == before
    card = (here / "bench" / "README.md").read_text()
    assert "Annotator 1 read 5 of 13 labels" in card


def test_two_people_and_names(here):
    call("bench", "-o", "sheet")
    audit = open_audit(here / "sheet")
    filled(audit, here / "anna.csv", verdict)
    filled(audit, here / "ben.csv")
    result = run("bench", "anna.csv", "ben.csv", "-o", "sheet", catch=True)
    assert isinstance(result.exception, InputError)
    assert "anna and ben" in str(result.exception)
    result = call("bench", "anna.csv", "ben.csv", "-o", "sheet", "--resolve", "lowest", "--names")
    assert "anna and ben" in result.stdout
    assert "equal: 0.9231" in result.stdout
    assert "Said differently: sheet.disagreements-" in result.stderr
    card = (here / "bench" / "README.md").read_text()
    assert "Anna and ben read 13 of 13 labels" in card
    assert "anna and ben: 13 read by both, 92.3 % alike, Cohen's kappa 0.00." in card


def test_other_options_and_other_labels_are_told(here):
    call("bench")
    result = run("bench", "--relevant", 2, catch=True)
    assert isinstance(result.exception, OptionError)
    assert "drawn with other options" in str(result.exception)
    changed = tiny_benchmark()
    changed.params["seed"] = 8
    changed.qrels[0, "grade"] = 1
    write_benchmark(changed, here / "bench", overwrite=True)
    result = run("bench", catch=True)
    assert "have changed since this audit was drawn" in str(result.exception)
    call("bench", "--overwrite")


def test_a_beir_folder_is_audited_and_left_as_it_is(here):
    export_beir(open_benchmark(here / "bench"), here / "beir")
    before = {path.name for path in (here / "beir").rglob("*")}
    call("beir", "--qrels", "test")
    filled(open_audit(here / "beir.audit"), here / "anna.csv")
    result = call("beir", "anna.csv", "--qrels", "test")
    assert "beir is no folder of qbench's: the figures stand in beir.audit alone" in " ".join(result.stderr.split())
    assert {path.name for path in (here / "beir").rglob("*")} == before
    assert (here / "beir.audit" / "audit.json").is_file()


@pytest.fixture
def web(here, monkeypatch):
    def chat(asked):
        text = asked.partition("Text: ")[2]
        if "Castor" in text:
            return json.dumps({"verdict": "Wrong: another thing."})
        if "€800" in text:
            return "I would rather not say."
        return json.dumps({"verdict": "cannot tell" if "Corax" in text else "right"})

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ApiServer(chat=chat) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def test_a_model_reads_the_labels_once_and_is_named(here, web, monkeypatch):
    forecast = call("bench", "--model", "some/model-1", "--dry-run")
    assert "13 labels, 0 answers recorded; about 13 calls" in " ".join(forecast.stdout.split())
    assert not web.seen
    result = call("bench", "--model", "some/model-1")
    assert len(web.seen) == 14, "the unusable answer is asked for again"
    assert "answers that cannot be used: 2 not JSON of the form that was asked for" in result.stderr
    assert "bench.audit.answers.sqlite" in result.stderr
    question = web.seen[0][1]["messages"][-1]["content"]
    assert question.startswith("Claim: ")
    assert {payload["temperature"] for _, payload, _ in web.seen} == {0.0}
    card = (here / "bench" / "README.md").read_text()
    assert "The model some/model\\-1 read 10 of 13 labels" in card
    assert "some/model\\-1 is a chat model, told by the prompt audit\\-benchmark version 2" in card
    assert "| relevant | 66.7 % |" in card
    answers = here / "bench.audit" / "some-model-1.json"
    before = answers.read_bytes()
    monkeypatch.delenv("OPENAI_API_KEY")
    call("bench", "--model", "some/model-1", "--replay")
    assert len(web.seen) == 14
    assert answers.read_bytes() == before
    board = CliRunner().invoke(leaderboard, ["bench", "-o", "after", *QUICK])
    assert "Labels audited by the model some/model-1" in " ".join(board.stdout.split())


def test_a_person_goes_before_a_model(here, web):
    call("bench", "--model", "m")
    filled(open_audit(here / "bench.audit"), here / "anna.csv")
    result = call("bench", "anna.csv", "bench.audit/m.json", "--resolve", "first")
    assert "anna and m" in result.stdout
    card = (here / "bench" / "README.md").read_text()
    assert "Annotator 1 and the model m read 13 of 13 labels" in card
    assert "| relevant | 100.0 % |" in card


def test_a_budget_stops_it_and_what_was_said_is_kept(here, web):
    result = run("bench", "--model", "m", "--budget", "4 calls", "--threads", 1, catch=True)
    assert isinstance(result.exception, BudgetError)
    call("bench", "--model", "m")
    assert len(web.seen) == 14


def test_options_of_a_model_need_one(here):
    result = run("bench", "--replay", catch=True)
    assert isinstance(result.exception, OptionError)
    assert "no model is named" in str(result.exception)


@pytest.mark.parametrize(
    ("said", "shown"),
    [("I'm sorry, I cannot judge that.", "I'm sorry, I cannot"), ('{"verdict": "maybe"}', "maybe"), ("", "empty")],
)
def test_a_model_of_no_use_is_stopped_after_the_first_labels_and_shown(here, web, monkeypatch, said, shown):
    monkeypatch.setattr(asking, "FIRST", 4)
    web.chat = lambda asked: said
    stopped = run("bench", "--model", "m", catch=True)
    assert isinstance(stopped.exception, ServerError)
    assert "no answer about the first 4 items can be used, such as: " in str(stopped.exception)
    assert shown in str(stopped.exception)
    assert "raise --max-tokens" in str(stopped.exception)
    assert len(web.seen) == 8, "each is asked for twice, and no further label"
    assert not (here / "bench.audit" / "m.json").exists()
    # What is recorded is not asked again; and one may insist.
    assert isinstance(run("bench", "--model", "m", catch=True).exception, ServerError)
    assert len(web.seen) == 8
    run("bench", "--model", "m", "--allow-missing", catch=True)
    assert len(web.seen) == 26
