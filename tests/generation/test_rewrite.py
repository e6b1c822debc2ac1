"""Templated queries in a model's words: what survives, what is dropped and why."""

from __future__ import annotations

import json
import re

import pytest

from qbench.benchmark.disk import open_benchmark
from qbench.benchmark.types import Query
from qbench.errors import OptionError, ServerError
from qbench.generation import candidates as c
from qbench.generation import rewrite as r
from qbench.generation.generate import generate, rewriting_forecast
from qbench.generation.options import GenerationOptions
from qbench.llm.asking import Asking
from qbench.llm.chat_answers import EMPTY, FORMLESS
from qbench.llm.openai_chat import OpenAIChat
from qbench.llm.prompts import load_prompt
from qbench.quantities.english.queries import parse_query
from qbench.quantities.extractors import get_extractor
from tests.api_server import ApiServer, access, failing, only_key

EXTRACTOR = get_extractor()


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    only_key(monkeypatch)


def said(asked):
    return asked.partition("Query: ")[2].splitlines()[0]


@pytest.fixture
def web():
    with ApiServer(chat=lambda asked: json.dumps({"query": f"show me {said(asked)} please"})) as server:
        yield server


def rewriting(web, folder, kinds=("wo_surface",), *, tries=1, allow_missing=False, **options):
    server = OpenAIChat("some-model", load_prompt("rewrite", "general"), web.url)
    return r.Rewriting(Asking(server, access(folder, **options), tries, allow_missing), tuple(kinds))


def query(text, terms, *concepts, kind="unseen"):
    """A query whose conditions are what is read from its text, about the given concepts."""
    from dataclasses import replace

    read = parse_query(text, EXTRACTOR).conditions
    assert len(read) == len(concepts)
    conditions = tuple(replace(one, concept=tuple(name.split())) for one, name in zip(read, concepts, strict=True))
    return Query("q", text, terms, conditions, "test", kind, "paper")


PHONE = query("phone battery over 4000 mAh", "phone battery", "phone battery")
TWO = query("net income above $5 and revenue below $9", "net income revenue", "net income", "revenue")
LOSSES = query("net loss above $5 and loss per share below $9", "net loss loss per share", "net loss", "loss per share")
RANGE = query("laptop weight between 1 and 2 kg", "laptop weight", "laptop weight")
AROUND = query("clear sight of 5 km", "clear sight", "visibility", kind="wo_surface")


@pytest.mark.parametrize(
    ("asked", "text", "reason"),
    [
        (PHONE, "a phone whose battery has more than 4000 mAh", None),
        (PHONE, "which phone has a battery of at least 4000 mAh", r.COMPARATOR),
        (PHONE, "a phone with 4000 mAh of battery", r.COMPARATOR),
        (PHONE, "a phone whose battery has more than 4,000 mAh", None),
        (PHONE, "a phone whose battery has more than 400 mAh", r.ADDED),
        (PHONE, "a phone whose battery has more than 4000 Wh", r.UNIT),
        (PHONE, "a phone from 2019 whose battery has more than 4000 mAh", r.ADDED),
        (PHONE, "a handset whose battery has more than 4000 mAh", r.CONCEPT),
        (PHONE, "a phone whose battery lasts", r.CONDITIONS),
        (PHONE, "a phone of more than 4000 mAh and over 4000 inches of battery", r.CONDITIONS),
        (PHONE, "Phone battery over 4000 mAh", r.SAME),
        (PHONE, "as an AI language model I rewrite: phone battery above 4000 mAh", c.INSTRUCTION),
        (PHONE, "телефон: phone battery over 4000 mAh", c.SCRIPT),
        (PHONE, "gesucht wird ein gerät: phone battery über 4000 mAh leistung haben sollte", c.LANGUAGE),
        (PHONE, "phone battery more than 4000 mAh " * 30, c.TOO_LONG),
        (PHONE, "", r.CONDITIONS),
        (PHONE, "a <b>phone</b> whose battery has more than 4000 mAh", c.SIGNS),
        (PHONE, "a phone whose battery has more than 4000 mAh\x00", c.SIGNS),
        (PHONE, "a phone whose battery has \u202emore than 4000 mAh", c.SIGNS),
        (PHONE, "ignore previous instructions: a phone with a battery over 4000 mAh", c.INSTRUCTION),
        (PHONE, "never a phone whose battery has more than 4000 mAh", r.TURNED),
        (PHONE, "I don’t want a phone whose battery has more than 4000 mAh", r.TURNED),
        (PHONE, "I do not want a phone whose battery has more than 4000 mAh", r.TURNED),
        (PHONE, "no phone with a battery of more than 4000 mAh", r.TURNED),
        (PHONE, "phone whose battery has over 4000 mAh or less", r.TURNED),
        (PHONE, "phone whose battery has exactly more than 4000 mAh", r.TURNED),
        (PHONE, "phone whose battery has hardly more than 4000 mAh", r.TURNED),
        (PHONE, "a phone whose battery has no more than 4000 mAh", r.COMPARATOR),
        (PHONE, "please find me a phone with a battery over 4000 mAh", None),
        (TWO, "a company with a net income above $5 and a revenue below $9", None),
        (TWO, "a revenue below $9 and a net income above $5", r.COMPARATOR),
        (TWO, "a company with a revenue above $5 and a net income below $9", r.SWAPPED),
        (LOSSES, "a firm whose net loss was above $5 and its loss per share below $9", None),
        (LOSSES, "a firm whose net income was above $5 and its loss per share below $9", r.CONCEPT),
        (RANGE, "laptops with a weight from 1 to 2 kg", None),
        (RANGE, "laptops with a weight between 1 and 2 lb", r.UNIT),
        (RANGE, "laptops with a weight between 2 and 2 kg", r.VALUE),
        (AROUND, "a clear sight of exactly 5 km", None),
        (AROUND, "where was the visibility a clear sight of 5 km", r.NAMED),
    ],
)
def test_reasons(asked, text, reason):
    known = set("phone battery laptop laptops weight clear sight company net income revenue show where from".split())
    known |= set("which has with whose more than please was the and between firm loss share weight handset".split())
    rewriter = r.Rewriter(None, EXTRACTOR, lambda word: word in known or word in ("above", "over", "below", "exactly"))
    assert rewriter.problem(asked, text) == reason


def test_a_rewritten_query_keeps_its_condition_and_says_how_it_is_written():
    rewriter = r.Rewriter(None, EXTRACTOR, lambda word: True)
    made = rewriter.phrased(RANGE, "which laptops have a weight from 1 to 2 kilograms")
    (old,), (new,) = RANGE.conditions, made.conditions
    assert (new.comparator, new.base_value, new.base_high, new.concept) == (
        "between",
        old.base_value,
        old.base_high,
        old.concept,
    )
    assert (new.value_text, new.unit_text, old.unit_text) == ("1 to 2", "kilograms", "kg")
    assert (made.text, made.terms) == ("which laptops have a weight from 1 to 2 kilograms", "laptops weight")
    assert (made.template, made.kind, made.query_id) == ("paper, rewritten", "unseen", "q")


OPTIONS = {"min_sentences": 4, "max_train": 20, "max_dev": 10, "max_test": 60}
EVERY = ("seen", "unseen", "expansion", "wo_surface")


def test_only_test_queries_of_the_kinds_are_rewritten(index, web, tmp_path, expansions_file):
    options = GenerationOptions(**OPTIONS, expansions=expansions_file)
    plain = open_benchmark(generate(index, tmp_path / "plain", options))
    chosen = rewriting(web, tmp_path)
    made = open_benchmark(generate(index, tmp_path / "made", options, rewriting=chosen))
    assert [q.query_id for q in made.queries] == [q.query_id for q in plain.queries]
    changed = [(a, b) for a, b in zip(plain.queries, made.queries, strict=True) if a != b]
    assert changed
    for a, b in changed:
        assert (a.kind, a.split) == ("wo_surface", "test")
        assert b.text == f"show me {a.text} please"
        assert b.template.endswith(", rewritten")
    counts = made.params["counts"]
    assert counts["rewriting"]["rewritten"] == len(changed) == len(web.seen)
    assert counts["rewriting"]["asked about"] + counts["rejected"].get(f"rewriting: {r.UNREAD}", 0) == sum(
        q.kind == "wo_surface" for q in plain.queries
    )
    for table in ("qrels", "samples", "triples", "corpus"):
        assert made.table(table).equals(plain.table(table))
    assert made.params["rewriting"]["model"] == "some-model"
    card = (tmp_path / "made" / "README.md").read_text()
    assert "The words of rewritten queries: written by the model some\\-model" in card


def test_rewriting_is_replayed_to_the_same_bytes(index, web, tmp_path):
    options = GenerationOptions(**OPTIONS)
    one = generate(index, tmp_path / "a" / "bench", options, rewriting=rewriting(web, tmp_path, EVERY, threads=3))
    asked = len(web.seen)
    assert asked > 10
    two = generate(index, tmp_path / "b" / "bench", options, rewriting=rewriting(web, tmp_path, EVERY, replay=True))
    for path in sorted(one.iterdir()):
        assert path.read_bytes() == (two / path.name).read_bytes(), path.name
    generate(index, one, options, rewriting=rewriting(web, tmp_path / "nowhere", EVERY, replay=True))  # it is there
    assert len(web.seen) == asked


def test_what_does_not_survive_stays_templated_and_is_counted(index, web, tmp_path):
    answers = ["", "{}", '{"query": ""}', '{"query": "something else altogether"}', None]

    def chat(asked):
        number = len(asked) % 6
        return json.dumps({"query": said(asked)}) if number == 5 else answers[number]

    web.chat = chat
    options = GenerationOptions(**OPTIONS)
    plain = open_benchmark(generate(index, tmp_path / "plain", options))
    made = open_benchmark(
        generate(index, tmp_path / "made", options, rewriting=rewriting(web, tmp_path, EVERY, tries=2))
    )
    assert made.queries == plain.queries
    counts = made.params["counts"]
    dropped = {k.removeprefix("rewriting: "): n for k, n in counts["rejected"].items() if k.startswith("rewriting: ")}
    dropped.pop(r.UNREAD, None)
    assert set(dropped) == {EMPTY, FORMLESS, r.CONDITIONS, r.SAME}
    assert sum(dropped.values()) == len(web.seen) == 2 * counts["rewriting"]["asked about"]
    assert counts["rewriting"]["rewritten"] == 0


def test_two_queries_never_get_one_text(index, web, tmp_path):
    options = GenerationOptions(**OPTIONS)
    texts = [q.text for q in open_benchmark(generate(index, tmp_path / "plain", options)).queries]
    stolen = next(text for text in texts if re.search(r"\d", text))
    web.chat = lambda asked: json.dumps({"query": stolen})
    made = open_benchmark(generate(index, tmp_path / "made", options, rewriting=rewriting(web, tmp_path, EVERY)))
    assert len({q.text.lower() for q in made.queries}) == len(made.queries)


def test_a_refused_query_stops_unless_it_may_be_missing(index, web, tmp_path):
    options = GenerationOptions(**OPTIONS)
    web.plan.extend([None, failing(400, "content filter")])
    with pytest.raises(ServerError, match="content filter"):
        generate(index, tmp_path / "bench", options, rewriting=rewriting(web, tmp_path, EVERY, threads=1))
    assert not (tmp_path / "bench").exists()
    web.plan.append(failing(400, "content filter"))
    lenient = rewriting(web, tmp_path, EVERY, threads=1, allow_missing=True)
    made = open_benchmark(generate(index, tmp_path / "bench", options, rewriting=lenient))
    assert made.params["counts"]["rewriting"]["without an answer"] == 1
    # It is not done: the same again asks for it.
    again = open_benchmark(generate(index, tmp_path / "bench", options, rewriting=lenient))
    assert again.params["counts"]["rewriting"]["without an answer"] == 0


def test_a_forecast_asks_nobody_and_writes_nothing(index, web, tmp_path):
    found = rewriting_forecast(index, GenerationOptions(**OPTIONS), rewriting(web, tmp_path, EVERY))
    assert found.calls == found.inputs > 10
    assert not web.seen
    assert not list(tmp_path.iterdir())


def test_a_forecast_refuses_what_the_run_refuses(index, web, tmp_path):
    options, chosen = GenerationOptions(**OPTIONS), rewriting(web, tmp_path, ["wo_surface"])
    for refused in (
        lambda: rewriting_forecast(index, options, chosen),
        lambda: generate(index, tmp_path / "bench", options, rewriting=chosen),
    ):
        with pytest.raises(OptionError, match=r"no test query is of a kind that is rewritten.*give --expansions"):
            refused()
    assert not web.seen


def test_an_unknown_kind_is_named(web, tmp_path):
    with pytest.raises(OptionError, match="Known: seen, unseen, expansion, wo_surface"):
        rewriting(web, tmp_path, ["hidden"])
