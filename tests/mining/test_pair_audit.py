"""Audits of mined pairs: what is drawn, shown and asked, and where the figures go."""

from __future__ import annotations

import csv

import pytest
from typer.testing import CliRunner

from qbench.annotation.audit import draw_audit, open_audit, read_audit
from qbench.annotation.audit_model import ask_model
from qbench.annotation.options import AuditOptions
from qbench.benchmark.audits import read_audit as record_of
from qbench.cli.benchmark import app
from qbench.errors import OptionError
from qbench.llm.asking import Asking
from qbench.llm.client import Access
from qbench.llm.openai_chat import chat_server
from qbench.llm.prompts import load_prompt
from qbench.mining.pair_audit import CAUSES, GUIDELINE, pair_subject
from qbench.mining.paraphrases import Pairs
from qbench.publishing.contents import open_contents
from tests.annotation.conftest import rows_of
from tests.api_server import KEY, ApiServer
from tests.mining.pairs_factory import Record, pair_table, pairs_folder, record_table

RECORDS = [
    Record("p1::0#0", "net income of Acme", 5123.0, "5123 dollars was the net income of Acme."),
    Record("p2::0#0", "Acme earned in all", 5123.0, "5123 dollars is what Acme earned in all."),
    Record("p3::0#0", "Bolt's net income", 4711.0, "4711 dollars was Bolt's net income."),
    Record("p4::0#0", "staff", 5123.0, "5123 employees work for Corax.", "employee"),
]


@pytest.fixture
def pairs(tmp_path):
    import polars as pl

    table = pl.concat(
        [
            pair_table([("p1::0#0", "p2::0#0"), ("p2::0#0", "p4::0#0")]),
            pair_table([("p1::0#0", "p3::0#0")], split="train", label="confusing"),
        ]
    )
    return Pairs.open(pairs_folder(tmp_path / "pairs", record_table(RECORDS), table))


def filled(audit, path, verdict):
    rows = rows_of(audit.folder / "audit.csv")
    for row in rows:
        row["verdict"], row["cause"] = verdict(row)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_pairs_of_each_label_and_descriptions_are_drawn(pairs, tmp_path):
    subject = pair_subject(pairs, AuditOptions())
    audit = draw_audit(subject, tmp_path / "audit")
    assert audit.counts["drawn"] == {"description": 4, "paraphrase": 2, "confusing": 1}
    rows = {(row["query_id"], row["doc_id"]): row for row in rows_of(audit.folder / "audit.csv")}
    pair = rows["p1::0#0", "p2::0#0"]
    assert pair["claim"] == "Paraphrase: both state one fact"
    assert (pair["query"], pair["query_value"], pair["text"]) == (
        "net income of Acme",
        "5123 dollar",
        "Acme earned in all",
    )
    alone = rows["p4::0#0", ""]
    assert alone["claim"] == "The description says what the number is"
    assert (alone["text"], alone["sentence"]) == ("staff", "5123 employees work for Corax.")


def test_figures_by_label_and_family(pairs, tmp_path):
    subject = pair_subject(pairs, AuditOptions())
    audit = draw_audit(subject, tmp_path / "audit")

    def verdict(row):
        if row["query_id"] == "p4::0#0":
            return "wrong", "says too little"
        return ("wrong", "equal by chance") if row["doc_id"] == "p4::0#0" else ("right", "")

    found = read_audit(subject, audit, [filled(audit, tmp_path / "anna.csv", verdict)]).audit
    figures = {(each.kind, each.by, each.group): each for each in found.figures}
    assert figures["paraphrase", "all", ""].share == 0.5
    assert figures["description", "unit family", "count"].share == 0
    assert figures["description", "unit family", "currency"].read == 3
    assert [(each.kind, each.cause) for each in found.causes] == [
        ("description", "says too little"),
        ("paraphrase", "equal by chance"),
    ]
    assert found.drawn == {"seed": 13}


def test_on_the_command_line_and_on_the_published_card(pairs, tmp_path):
    def call(*words):
        result = CliRunner().invoke(app, ["audit", str(pairs.path), *map(str, words)])
        assert result.exit_code == 0, result.exception
        return result

    assert "Labels not audited" in " ".join(open_contents(pairs.path).audit)
    call()
    audit = open_audit(tmp_path / "pairs.audit")
    result = call(filled(audit, tmp_path / "anna.csv", lambda row: ("right", "")))
    assert "go onto the card when it is published" in result.stderr
    record = record_of(pairs.path)
    assert record is not None
    assert record.artefact == pairs.manifest.digest
    card = "\n".join(open_contents(pairs.path).audit)
    assert "| paraphrase | 100.0 % | 34.2 to 100.0 % | 2 of 2 | 0 | 0 | 0 |" in card
    assert Pairs.open(pairs.path).manifest.digest == pairs.manifest.digest
    result = CliRunner().invoke(app, ["audit", str(pairs.path), "--qrels", "test"])
    assert isinstance(result.exception, OptionError)


def test_a_model_sees_both_sentences(pairs, tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    subject = pair_subject(pairs, AuditOptions())
    audit = draw_audit(subject, tmp_path / "audit")
    with ApiServer(chat=lambda asked: '{"verdict": "nonsense: strange words"}') as server:
        chat = chat_server("m", load_prompt("audit", subject.prompt), base_url=server.url)
        said = ask_model(subject, audit, Asking(chat, Access(recording=tmp_path / "answers.sqlite")))
        asked = [payload["messages"][-1]["content"] for _, payload, _ in server.seen]
    pair = next(text for text in asked if "Description: net income of Acme" in text and "Acme earned in all" in text)
    assert "Its value and sentence: 5123 dollar; 5123 dollars was the net income of Acme." in pair
    assert "Text: Acme earned in all: 5123 dollar. 5123 dollars is what Acme earned in all." in pair
    found = read_audit(subject, audit, [said.path]).audit
    assert {each.cause for each in found.causes} == {"strange words"}


def test_the_causes_are_those_of_guideline_and_prompt():
    for cause in CAUSES:
        assert f"\n- {cause}" in GUIDELINE
        assert f"\n- {cause}" in load_prompt("audit", "pairs").system
