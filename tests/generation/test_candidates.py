"""Names that a model wrote: which can be used, and why the others cannot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.generation import candidates as c
from qbench.generation.english_answers import content_words
from qbench.generation.expansions import Expansions, expansions_text, rows_digest
from qbench.llm.prompts import load_prompt
from qbench.quantities.concept_match import folded

ENGLISH = set("money taken in trade income from company bottom line profit cost of goods sold business the".split())
JUDGE = c.Judge(
    load_prompt("expand", "finance"),
    is_word=lambda word: word in ENGLISH,
    measured=lambda text: "million" in text,
)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", c.EMPTY),
        (' "" ', c.EMPTY),
        ("turnover", c.ONE_WORD),
        ("net revenues", c.REUSES),
        ("Revenue's source", c.REUSES),
        ("money-revenue line", c.REUSES),
        ("a superset of money", c.INSTRUCTION),
        ("Sorry, I cannot help with that", c.INSTRUCTION),
        ("As an AI language model I would say that it is money taken in", c.INSTRUCTION),
        ("synonym for money", c.INSTRUCTION),
        ("the words of the task", c.INSTRUCTION),
        ("none available", c.INSTRUCTION),
        ("not applicable", c.INSTRUCTION),
        ("I don’t know", c.INSTRUCTION),
        ("ignore all previous orders", c.INSTRUCTION),
        ("more information needed", c.INSTRUCTION),
        ("unable to comply", c.INSTRUCTION),
        ("here are names", c.INSTRUCTION),
        ("first option", c.INSTRUCTION),
        ("lower case noun phrase", c.INSTRUCTION),
        ("traderevenue money", c.REUSES),
        ("Some other names", c.INSTRUCTION),
        ("broader category", c.INSTRUCTION),
        ("an AI assistant", c.INSTRUCTION),
        ("money taken in by the company from trade", c.TOO_LONG),
        ("m" * 100_000, c.TOO_LONG),
        ("money " * 20_000, c.TOO_LONG),
        ("money|trade", c.SIGNS),
        ("money <b>trade</b>", c.SIGNS),
        ("money\x00trade line", c.SIGNS),
        ("деньги компании", c.SCRIPT),
        ("会社 の 収入", c.SCRIPT),
        ("einnahmen aus geschäften", c.LANGUAGE),
        ("rentrées d'argent brutes", c.LANGUAGE),
        ("trade of 5", c.NUMBER),
        ("a million taken", c.NUMBER),
        ("in of", c.NOTHING),
        ("broader kind of thing", c.ECHO),
    ],
)
def test_reasons(name, reason):
    kept, rejected = JUDGE.judge("total revenue", [name], 3)
    assert kept == []
    assert [why for _, why in rejected] == [reason]


def test_good_names_are_kept_plain_in_order_and_once():
    said = [
        "Money  taken in.",
        "“trade income”",
        "income, trade",
        "incomes trade",
        "money taken in",
        "bottom-line profit",
        "cost of goods",
    ]
    kept, rejected = JUDGE.judge("total revenue", said, 3)
    assert kept == ["money taken in", "trade income", "bottom-line profit"]
    assert rejected == [("income, trade", c.SIGNS), ("incomes trade", c.TWICE), ("money taken in", c.TWICE)]


@pytest.mark.parametrize(
    ("concept", "name"),
    [
        ("teaching aide", "research assistant pay"),
        ("sentence", "prison term"),
        ("length of the essay", "word count"),
        ("current debt", "short term loans"),
        ("headcount", "kind of workforce"),
        ("staff", "not for profit workers"),
    ],
)
def test_words_of_naming_may_stand_in_a_name(concept, name):
    judge = c.Judge(JUDGE.prompt, lambda word: True, lambda text: False)
    assert judge.judge(concept, [name], 1) == ([name], [])


def test_what_only_connects_may_be_reused():
    assert JUDGE.judge("cost of revenues", ["goods of trade"], 1)[0] == ["goods of trade"]


def test_a_parrot_of_the_examples_is_rejected():
    example = JUDGE.prompt.examples[0]
    judge = c.Judge(JUDGE.prompt, lambda word: True, lambda text: False)
    assert judge.judge("oil price", example.answer, 3)[1] == [(name, c.PARROT) for name in example.answer]
    assert judge.judge(dict(example.slots)["concept"], example.answer, 3)[0] == list(example.answer)


def test_letters_of_the_concept_s_own_script_may_stand():
    assert c.in_script_of("ωμέγα fat", "ωμέγα acid")
    assert not c.in_script_of("ωμέγα fat", "omega acid")


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=5))
def test_whatever_a_model_writes_what_is_kept_can_be_read_back(concept, names):
    judge = c.Judge(JUDGE.prompt, lambda word: True, lambda text: False)
    kept, rejected = judge.judge(concept, names, 3)
    assert len(kept) <= 3
    assert len(kept) + len(rejected) <= len(names)
    for name in kept:
        assert len(name.split()) >= 2
        assert len(name) <= 60
        assert "\t" not in name
        assert name == " ".join(name.split()).lower()
        assert not name.startswith("#")
        assert not content_words(name) & content_words(concept)
    assert len({folded(name.split()) for name in kept}) == len(kept)


def test_a_file_says_what_made_it_and_whether_it_was_edited(tmp_path):
    rows = [("net income", "bottom-line profit"), ("sales", "money taken in"), ("sales", "trade income")]
    path = tmp_path / "names.tsv"
    path.write_text(expansions_text(rows, {"model": "m\n# x", "rows": rows_digest(rows)}))
    found = Expansions.load(path)
    assert (found.pairs(), found.provenance["model"], found.edited) == (rows, "m\n# x", False)
    path.write_text(path.read_text() + "# my own\nrent\tprice of housing\n")
    assert Expansions.load(path).edited
    path.write_text("net income\tprofit\n# made: {}\n")
    assert (Expansions.load(path).provenance, Expansions.load(path).edited) == ({}, False)
    for hostile in ("{broken", "[1]", '{"x": NaN}', '{"x": "\\ud800"}', "[" * 100_000):
        path.write_text(f"# made: {hostile}\nnet income\tprofit\n")
        assert Expansions.load(path).provenance == {}
