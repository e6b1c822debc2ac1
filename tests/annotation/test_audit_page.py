"""The page of an audit in a real browser: verdict and cause by two keys, saved, read again."""

from __future__ import annotations

import json

import pytest

from qbench.annotation.audit import draw_audit, read_audit
from qbench.annotation.audit_form import benchmark_subject
from qbench.annotation.options import AuditOptions
from tests.annotation.test_page import done, press, saved_by, told


@pytest.fixture
def subject(bench):
    return benchmark_subject(bench, AuditOptions())


@pytest.fixture
def audit(subject, tmp_path):
    return draw_audit(subject, tmp_path / "audit")


@pytest.fixture
def page(open_page, audit):
    return open_page(audit.folder / "audit.html")


def pressed(page):
    return page.eval_on_selector_all(".causes [aria-pressed=true]", "nodes => nodes.map((node) => node.dataset.cause)")


def test_the_claim_stands_above_the_text(page, audit):
    assert page.title() == "audit: is what is claimed right?"
    assert page.inner_text(".claim >> nth=0")
    assert page.locator(".causes:visible").count() == 0


def test_all_by_keyboard_with_causes(page, subject, audit, tmp_path):
    total = len(audit.items)
    page.fill("#annotator", "Anna")
    page.keyboard.press("Escape")
    press(page, "1")
    assert page.locator(".causes:visible").count() == 1
    press(page, "2")
    told(page, "#done", f"1 of {total} judged")
    press(page, "0")
    press(page, "8")
    press(page, "?")
    press(page, "2" * (total - 3))
    assert done(page) == f"{total} of {total} judged"
    path = tmp_path / "anna.json"
    assert saved_by(page, path) == "audit-Anna.json"
    answers = json.loads(path.read_text())["answers"]
    pairs = [item.pair for item in audit.items]
    assert [(row["query_id"], row["doc_id"]) for row in answers] == pairs
    assert [(row["grade"], row.get("cause")) for row in answers[:4]] == [
        (1, "number misread"),
        (0, "nobody asks this"),
        ("?", None),
        (2, None),
    ]
    found = read_audit(subject, audit, [path])
    assert {(each.verdict, each.cause) for each in found.audit.causes} == {
        ("wrong", "number misread"),
        ("nonsense", "nobody asks this"),
    }
    assert found.judgments.answers[0].name == "Anna"


def test_a_cause_by_hand_is_taken_back_and_goes_with_its_verdict(page):
    page.click(".grades [data-grade='1'] >> nth=0")
    page.click(".causes [data-cause='left open'] >> nth=0")
    assert pressed(page) == ["left open"]
    page.click(".causes [data-cause='left open'] >> nth=0")
    assert pressed(page) == []
    page.click(".causes [data-cause='other'] >> nth=0")
    page.click(".grades [data-grade='2'] >> nth=0")
    assert page.locator(".causes:visible").count() == 0
    page.click(".grades [data-grade='0'] >> nth=0")
    assert pressed(page) == []


def test_another_key_after_a_verdict_names_no_cause(page):
    press(page, "1")
    page.keyboard.press("c")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    assert page.locator("[aria-pressed=true][data-cause]").count() == 0
    assert done(page).startswith("1 of ")


def test_a_file_brings_its_causes(open_page, audit, tmp_path):
    first = audit.items[0]
    row = {"query_id": first.query_id, "doc_id": first.doc_id, "grade": 1, "cause": "left open", "comment": ""}
    other = {**row, "doc_id": audit.items[1].doc_id, "query_id": audit.items[1].query_id, "cause": "<b>invented</b>"}
    data = {"qbench": "answers", "sheet": audit.digest, "annotator": "Ben", "answers": [row, other]}
    path = tmp_path / "ben.json"
    path.write_text(json.dumps(data))
    page = open_page(audit.folder / "audit.html")
    page.set_input_files("#file", path)
    told(page, "#status", "2 answers read")
    press(page, "p" * len(audit.items))
    assert pressed(page)[:1] == ["left open"]
    assert "invented" not in page.content().split("</main>")[0]
