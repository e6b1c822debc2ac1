"""Concepts of an index -> a file of other names, by a server of our own or from a table."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from qbench.benchmark.disk import open_benchmark
from qbench.errors import BudgetError, BusyError, InputError, OptionError, ServerError
from qbench.generation import candidates as c
from qbench.generation.expand import (
    expand_concepts,
    expand_from_table,
    expansion_forecast,
    wanted_concepts,
    write_rejected,
)
from qbench.generation.expansions import Expansions
from qbench.generation.generate import generate
from qbench.generation.options import ExpansionOptions, GenerationOptions
from qbench.llm.asking import Asking
from qbench.llm.budget import Budget, Limit
from qbench.llm.openai_chat import OpenAIChat
from qbench.llm.prompts import load_prompt
from tests.api_server import KEY, ApiServer, access, failing, only_key
from tests.generation.conftest import EXPANSIONS, FACTS
from tests.holding import held_by_another

NAMES = {
    "net income": ["bottom-line profit", "earnings after tax"],
    "revenue": ["money taken in"],
    "recycling revenue": ["money from waste", "money taken in"],
    "laptop weight": ["notebook heaviness", "mass of the notebook"],
    "tablet weight": ["notebook heaviness"],
    "battery life": ["running time per charge"],
    "unemployment rate": ["share of jobless people"],
    "headcount": ["size of the staff"],
    "morphine dose": ["strong painkiller"],
    "aspirin dose": ["common painkiller"],
    "visibility": ["range of sight"],
    "house price": ["cost of a home"],
}


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    only_key(monkeypatch)


def concept(asked):
    return asked.partition("Concept: ")[2].splitlines()[0]


@pytest.fixture
def web():
    with ApiServer(chat=lambda asked: json.dumps({"names": NAMES[concept(asked)]})) as server:
        yield server


def asking(web, folder, *, tries=2, allow_missing=False, **options):
    server = OpenAIChat("some-model", load_prompt("expand", "general"), web.url)
    return Asking(server, access(folder, **options), tries, allow_missing)


def test_every_concept_that_can_be_asked_about_is_named_in_order(index, web, tmp_path):
    found = expand_concepts(index, tmp_path / "names.tsv", asking(web, tmp_path), ExpansionOptions(names=2))
    assert found.new
    expected = [(concept, name) for concept in sorted(NAMES) for name in NAMES[concept]]
    lines = (tmp_path / "names.tsv").read_text().splitlines()
    assert [tuple(line.split("\t")) for line in lines[2:]] == expected
    assert Expansions.load(tmp_path / "names.tsv").provenance == found.provenance
    made = found.provenance
    assert (made["concepts"], made["names"], made["answers"], made["rejected"]) == (12, len(expected), 12, {})
    prompt = load_prompt("expand", "general")
    assert (made["model"], made["prompt digest"], made["temperature"]) == ("some-model", prompt.digest, 1.0)
    units = {concept: unit for concept, unit, _, _ in FACTS}
    for _, sent, _ in web.seen:
        asked = sent["messages"][-1]["content"]
        assert f"Units: {units[concept(asked)]}" in asked


def test_the_same_again_asks_nobody_and_writes_the_same_bytes(index, web, tmp_path):
    path = tmp_path / "names.tsv"
    expand_concepts(index, path, asking(web, tmp_path))
    first, inode, asked = path.read_bytes(), path.stat().st_ino, len(web.seen)
    again = expand_concepts(index, path, asking(web, tmp_path))
    assert not again.new
    assert path.stat().st_ino == inode
    path.unlink()
    expand_concepts(index, path, asking(web, tmp_path, replay=True, threads=1))
    assert path.read_bytes() == first
    assert len(web.seen) == asked


def test_a_stop_keeps_what_is_paid_for_and_writes_nothing(index, web, tmp_path):
    path = tmp_path / "names.tsv"
    with pytest.raises(BudgetError, match="5 of 12 answers that are needed here are kept"):
        expand_concepts(index, path, asking(web, tmp_path, threads=1, budget=Budget(Limit(calls=5))))
    assert not path.exists()
    web.plan.extend([failing(500)] * 5)
    with pytest.raises(ServerError, match="tried 5 times"):
        expand_concepts(index, path, asking(web, tmp_path, threads=1))
    assert not path.exists()
    before = len(web.seen)
    expand_concepts(index, path, asking(web, tmp_path))
    assert len(web.seen) - before == 7
    with ApiServer(chat=web.chat) as other:
        expand_concepts(index, tmp_path / "other.tsv", asking(other, tmp_path / "other"))
    own, others = (Expansions.load(tmp_path / name).pairs() for name in ("names.tsv", "other.tsv"))
    assert own == others


NONSENSE = {
    "net income": ("", "empty"),
    "revenue": ('{"names": []}', "empty"),
    "recycling revenue": ("I would call it money.", "not JSON of the form that was asked for"),
    "laptop weight": ('{"names": ["weight of a notebook"]}', c.REUSES),
    "tablet weight": ('{"names": ["Sorry, I cannot name this concept"]}', c.INSTRUCTION),
    "battery life": (json.dumps({"names": ["x" * 15_000]}), c.TOO_LONG),
    "unemployment rate": (json.dumps({"names": ["x" * 30_000]}), "not JSON of the form that was asked for"),
    "headcount": ('{"names": ["anzahl aller mitarbeiter"]}', c.LANGUAGE),
    "morphine dose": ('{"names": ["сильное средство"]}', c.SCRIPT),
    "aspirin dose": ('{"names": ["five milligrams of something"]}', c.NUMBER),
    "visibility": ('{"names": ["broader kind of thing"]}', c.ECHO),
    "house price": ('{"names": ["price"]}', c.ONE_WORD),
}


def test_nonsense_is_asked_again_rejected_and_counted(index, web, tmp_path):
    web.chat = lambda asked: NONSENSE[concept(asked)][0]
    found = expand_concepts(index, tmp_path / "names.tsv", asking(web, tmp_path, tries=3))
    assert Expansions.load(tmp_path / "names.tsv").pairs() == []
    assert len(web.seen) == 36
    assert sum(found.provenance["rejected"].values()) == 36
    assert {(concept, reason) for concept, _, reason in found.rejected} == {(k, v[1]) for k, v in NONSENSE.items()}
    write_rejected(tmp_path / "rejected.tsv", found.rejected)
    lines = (tmp_path / "rejected.tsv").read_text().splitlines()[1:]
    assert len(lines) == 36
    assert all(len(line.split("\t")) == 3 and len(line) < 200 for line in lines)


def test_a_name_that_is_no_text_costs_that_name_alone(index, web, tmp_path):
    web.chat = lambda asked: json.dumps({"names": [7, *NAMES[concept(asked)], {"name": "x"}]})
    found = expand_concepts(index, tmp_path / "names.tsv", asking(web, tmp_path), ExpansionOptions(names=2))
    assert len(web.seen) == 12
    assert (found.provenance["concepts with names"], found.provenance["rejected"]) == (12, {"not a text": 24})
    assert ("revenue", '{"name": "x"}', "not a text") in found.rejected


def test_a_second_try_may_do(index, web, tmp_path):
    said = []

    def chat(asked):
        said.append(concept(asked))
        return "{}" if said.count(concept(asked)) == 1 else json.dumps({"names": NAMES[concept(asked)]})

    web.chat = chat
    found = expand_concepts(index, tmp_path / "names.tsv", asking(web, tmp_path))
    assert (found.provenance["answers"], found.provenance["concepts with names"]) == (24, 12)
    assert sum(found.provenance["rejected"].values()) == 12


def test_what_the_server_refuses_is_missing_until_it_answers(index, web, tmp_path):
    path = tmp_path / "names.tsv"
    refused = []

    def refuse(payload):
        if "headcount" in payload["messages"][-1]["content"]:
            refused.append(1)
            return failing(400, "content filter")(payload)
        return None

    web.plan.extend([refuse] * 13)
    with pytest.raises(ServerError, match=r"1 of 12 are refused.*content filter"):
        expand_concepts(index, path, asking(web, tmp_path))
    assert not path.exists()
    web.plan.clear()
    web.plan.append(refuse)
    found = expand_concepts(index, path, asking(web, tmp_path, allow_missing=True))
    assert (found.provenance["without an answer"], found.provenance["concepts with names"], len(refused)) == (1, 11, 2)
    # It is not done: the same again asks for it.
    again = expand_concepts(index, path, asking(web, tmp_path, allow_missing=True))
    assert (again.provenance["without an answer"], again.provenance["concepts with names"]) == (0, 12)


def test_names_that_too_many_share_are_dropped(index, web, tmp_path):
    web.chat = lambda asked: '{"names": ["some kind of figure"]}'
    options = ExpansionOptions(shared=11)
    found = expand_concepts(index, tmp_path / "names.tsv", asking(web, tmp_path), options)
    assert (found.provenance["names"], found.provenance["rejected"]) == (0, {c.GENERAL: 12})
    options = ExpansionOptions(shared=12)
    assert expand_concepts(index, tmp_path / "more.tsv", asking(web, tmp_path), options).provenance["names"] == 12


def test_a_part_of_the_concepts(index, web, tmp_path):
    few = wanted_concepts(index, ExpansionOptions(max_concepts=2))
    assert len(few) == 2
    listed = tmp_path / "list.txt"
    everything = [one.concept for one in wanted_concepts(index)]
    assert everything == sorted(NAMES)
    listed.write_text("# mine\nRevenue\n\n headcount \tanything\n")
    assert [one.concept for one in wanted_concepts(index, ExpansionOptions(concepts=listed))] == [
        "headcount",
        "revenue",
    ]
    listed.write_text("revenue\nno such thing\n")
    with pytest.raises(InputError, match=r"list.txt:2: the index has no such concept \(found 'no such thing'\)"):
        wanted_concepts(index, ExpansionOptions(concepts=listed))
    listed.write_text("\n")
    with pytest.raises(InputError, match="no concept in this file"):
        wanted_concepts(index, ExpansionOptions(concepts=listed))
    estimate = expansion_forecast(index, asking(web, tmp_path), ExpansionOptions(max_concepts=2))
    assert (estimate.calls, len(web.seen)) == (2, 0)
    with pytest.raises(OptionError, match="names is at least 1"):
        ExpansionOptions(names=0)


def test_another_file_is_not_replaced(index, web, tmp_path):
    path = tmp_path / "names.tsv"
    path.write_text(EXPANSIONS)
    with pytest.raises(OptionError, match=r"another file.*--overwrite"):
        expand_concepts(index, path, asking(web, tmp_path))
    assert not web.seen
    assert path.read_text() == EXPANSIONS
    expand_concepts(index, path, asking(web, tmp_path), overwrite=True)
    with pytest.raises(OptionError, match="made from other input or with other options"):
        expand_concepts(index, path, asking(web, tmp_path), ExpansionOptions(names=3))
    path.write_text(path.read_text() + "revenue\tmy own name\n")
    with pytest.raises(OptionError, match="edited since"):
        expand_concepts(index, path, asking(web, tmp_path))
    assert "my own name" in path.read_text()
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(OptionError, match="another file"):
        expand_concepts(index, path, asking(web, tmp_path))


def test_two_at_once_do_not_both_pay(index, web, tmp_path):
    path = tmp_path / "names.tsv"
    with held_by_another(path), pytest.raises(BusyError, match="another thread"):
        expand_concepts(index, path, asking(web, tmp_path))
    assert not web.seen


def test_a_table_names_concepts_without_a_model(index, tmp_path, expansions_file):
    path = tmp_path / "names.tsv"
    found = expand_from_table(index, path, expansions_file, ExpansionOptions(names=1))
    assert Expansions.load(path).lookup("net income") == ("profit",)
    assert (found.provenance["by"], found.provenance["names"], found.provenance["rejected"]) == (
        "table",
        12 - 1,
        {"beyond the number of names": 1},
    )
    assert not expand_from_table(index, path, expansions_file, ExpansionOptions(names=1)).new
    shared = tmp_path / "shared.tsv"
    shared.write_text("revenue\tmoney\nnet income\tmoney\nheadcount\tstaff\n")
    assert expand_from_table(index, tmp_path / "all.tsv", shared).provenance["names"] == 3
    few = expand_from_table(index, tmp_path / "few.tsv", shared, ExpansionOptions(shared=1)).provenance
    assert (few["names"], few["rejected"]) == (1, {c.GENERAL: 2})
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "expansions.tsv").write_text("revenue\tturnover\nsomething else\tno matter\n")
    expand_from_table(index, tmp_path / "synth.tsv", folder)
    assert Expansions.load(tmp_path / "synth.tsv").pairs() == [("revenue", "turnover")]
    (folder / "expansions.tsv").write_text("something else\tno matter\n")
    with pytest.raises(InputError, match="names no concept of this index"):
        expand_from_table(index, tmp_path / "none.tsv", folder)
    with pytest.raises(OptionError, match="would be overwritten"):
        expand_from_table(index, expansions_file, expansions_file, overwrite=True)
    with pytest.raises(InputError, match="no such expansions file"):
        expand_from_table(index, tmp_path / "none.tsv", tmp_path)


def test_a_benchmark_says_who_named_its_concepts(index, web, tmp_path):
    path = tmp_path / "names.tsv"
    made = expand_concepts(index, path, asking(web, tmp_path), ExpansionOptions(names=2)).provenance
    options = GenerationOptions(min_sentences=4, max_train=10, max_dev=5, max_test=40, expansions=path)
    benchmark = open_benchmark(generate(index, tmp_path / "bench", options))
    assert benchmark.params["expansions"] == {**made, "edited since": False}
    names = {name for found in NAMES.values() for name in found}
    semantic = [query for query in benchmark.queries if query.kind in ("expansion", "wo_surface")]
    assert semantic
    assert {query.terms for query in semantic} <= names
    card = (tmp_path / "bench" / "README.md").read_text()
    assert "Other names of concepts: written by the model some\\-model, told by the prompt expand\\-general" in card
    assert made["prompt digest"] in card
    assert "were edited" not in card
    assert KEY not in card + (tmp_path / "bench" / "manifest.json").read_text()
    path.write_text(path.read_text() + "revenue\tmy own name\n")
    taken = tmp_path / "taken.tsv"
    expand_from_table(index, taken, path)
    card = (generate(index, tmp_path / "bench3", replace(options, expansions=taken)) / "README.md").read_text()
    assert "written by the model some\\-model" in card
    assert "The file of names was edited since." in card
    card = (generate(index, tmp_path / "bench2", replace(options, seed=2)) / "README.md").read_text()
    assert "The file of names was edited since." in card
