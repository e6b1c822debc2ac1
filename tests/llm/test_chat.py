"""Chat over HTTP to a server of our own: what is sent, what servers refuse, what counts as an answer."""

from __future__ import annotations

import json
import threading

import pytest

from qbench.errors import BudgetError, InputError, OptionError, ServerError
from qbench.llm.asking import Asking, ask_until, forecast
from qbench.llm.budget import Budget, Limit, Price
from qbench.llm.chat_answers import CUT, EMPTY, FORMLESS, NO_TEXT, texts_of
from qbench.llm.client import ask
from qbench.llm.openai_chat import OpenAIChat
from qbench.llm.prompts import TASKS, load_prompt
from tests.api_server import KEY, QUICK, ApiServer, access, failing, good, saying, waiting

PROMPT = load_prompt("expand", "general")
THINGS = [{"concept": name, "units": "dollar", "count": "1"} for name in ("sales", "debt", "rent")]
TASK = TASKS["expand"]


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_ORG_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def concept(asked):
    return asked.partition("Concept: ")[2].splitlines()[0]


def named(asked):
    return json.dumps({"names": [f"other word {concept(asked)}"]})


@pytest.fixture
def web():
    with ApiServer(chat=named) as server:
        yield server


def chat(web, **options):
    return OpenAIChat("some-model", PROMPT, web.url, **options)


def questions(things=THINGS, attempt=0):
    return [OpenAIChat.question(thing, attempt) for thing in things]


def test_an_answer_that_is_too_large_is_that_question_s_fault(web, tmp_path):
    web.plan.extend([None, lambda _: good({"choices": [{"message": {"content": "blah " * 1_000_000}}]})])
    missing = {}
    found = ask(chat(web), questions(), access(tmp_path, threads=1), unanswered=missing)
    assert [one is None for one in found] == [False, True, False]
    assert "more than 4,000,000 bytes, and is not read" in missing[1]


def texts(answers):
    return [texts_of(answer, TASK)[0] for answer in answers]


def test_a_question_is_the_prompt_s_and_the_answer_is_kept(web, tmp_path):
    budget = Budget()
    server = chat(web, temperature=0.5, seed=3, max_tokens=50)
    found = ask(server, questions(), access(tmp_path, budget=budget, threads=1))
    assert texts(found) == [[f"other word {name}"] for name in ("sales", "debt", "rent")]
    path, sent, headers = web.seen[0]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert sent["messages"][:-1] == PROMPT.opening()
    assert sent["messages"][-1]["content"] == "Concept: sales\nUnits: dollar\nNames wanted: 1"
    more = {name: sent[name] for name in ("model", "temperature", "seed", "max_tokens")}
    assert more == {"model": "some-model", "temperature": 0.5, "seed": 3, "max_tokens": 50}
    form = sent["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    assert form["json_schema"]["schema"] == TASK.schema
    assert budget.calls == 3
    assert budget.output_tokens == sum(answer["tokens"][1] for answer in found) == 3 * 4
    assert ask(server, questions(), access(tmp_path, replay=True)) == found
    assert len(web.seen) == 3
    assert KEY.encode() not in (tmp_path / "answers.sqlite").read_bytes()


def test_whatever_changes_an_answer_is_asked_anew(web, tmp_path):
    changed = [{}, {"temperature": 0.2}, {"seed": 4}, {"max_tokens": 51}]
    servers = [chat(web, **options) for options in changed]
    servers += [
        OpenAIChat("other", PROMPT, web.url),
        OpenAIChat("some-model", load_prompt("expand", "finance"), web.url),
    ]
    for server in servers:
        ask(server, questions(THINGS[:1]), access(tmp_path))
    ask(servers[0], questions(THINGS[:1], attempt=1), access(tmp_path))
    assert len(web.seen) == 7
    assert web.seen[-1][1]["seed"] == 14  # another attempt has another seed


@pytest.mark.parametrize(
    ("refuses", "form", "sent"),
    [
        ({"json_schema"}, "json_object", {"max_tokens", "seed"}),
        ({"json_schema", "json_object"}, "text", {"max_tokens", "seed"}),
        ({"response_format"}, "text", {"max_tokens", "seed"}),
        ({"seed"}, "json_schema", {"max_tokens"}),
        ({"max_tokens"}, "json_schema", {"max_completion_tokens", "seed"}),
        ({"max_tokens", "seed", "json_schema", "json_object"}, "text", {"max_completion_tokens"}),
    ],
)
def test_a_server_that_refuses_a_parameter_is_asked_without_it(tmp_path, refuses, form, sent):
    with ApiServer(chat=named, refuses=refuses) as web:
        budget = Budget()
        found = ask(chat(web), questions(), access(tmp_path, budget=budget, threads=1))
        assert {answer["format"] for answer in found} == {form}
        assert texts(found)[0] == ["other word sales"]
        last = web.seen[-1][1]
        assert {"max_tokens", "max_completion_tokens", "seed"} & set(last) == sent
        assert last.get("response_format", {}).get("type", "text") == form
        assert len(web.seen) <= 3 + 4  # only the first question learns
        assert budget.calls == 3  # a refused request costs nothing
        # The way in which it was asked is no part of what an answer is recorded under.
        assert ask(chat(web), questions(), access(tmp_path, replay=True)) == found


def test_many_threads_learn_together(tmp_path):
    with ApiServer(chat=named, refuses={"json_schema", "seed", "max_tokens"}) as web:
        things = [{**THINGS[0], "concept": f"thing {n}"} for n in range(40)]
        found = ask(chat(web), questions(things), access(tmp_path, threads=8))
        assert texts(found) == [[f"other word thing {n}"] for n in range(40)]


def test_a_refusal_of_one_question_is_no_reason_to_ask_for_less(tmp_path):
    with ApiServer(chat=named) as web:
        web.plan.extend([None, failing(400, "response_format: the text is too long"), None])
        missing = {}
        found = ask(chat(web), questions(), access(tmp_path, threads=1), unanswered=missing)
        assert found[1] is None
        assert "too long" in missing.pop(1)
        assert not missing
        assert [answer["format"] for answer in (found[0], found[2])] == ["json_schema"] * 2
        assert len(web.seen) == 3


def test_what_is_refused_is_not_recorded_and_asked_again_next_time(web, tmp_path):
    def refuse(payload):
        return failing(400, "content filter")(payload) if "debt" in payload["messages"][-1]["content"] else None

    web.plan.extend([refuse] * 3)
    asking = Asking(chat(web), access(tmp_path))
    with pytest.raises(ServerError, match=r"1 of 3 are refused; the first: .*content filter.*debt.*--allow-missing"):
        ask_until(asking, THINGS, lambda i, answer, attempt: True)
    assert len(web.seen) == 3
    heard = ask_until(asking, THINGS, lambda i, answer, attempt: True)
    assert (heard.answers, heard.missing, len(web.seen)) == (3, 0, 4)
    web.plan.append(refuse)
    more = [*THINGS, {**THINGS[1], "units": "euro"}]
    lenient = Asking(chat(web), access(tmp_path), allow_missing=True)
    heard = ask_until(lenient, more, lambda i, answer, attempt: True)
    assert (heard.answers, heard.missing) == (3, 1)


def test_a_server_that_refuses_everything_is_not_asked_everything(web, tmp_path):
    web.plan.extend([failing(400, "no such model")] * 100)
    things = [{**THINGS[0], "concept": f"thing {n}"} for n in range(100)]
    asking = Asking(chat(web), access(tmp_path, threads=1), allow_missing=True)
    with pytest.raises(ServerError, match="no such model"):
        ask_until(asking, things, lambda i, answer, attempt: True)
    assert len(web.seen) < 10


@pytest.mark.parametrize(
    "trouble",
    [
        failing(500),
        failing(429, "slow down", retry_after="0.01"),
        saying(b"<html>busy</html>"),
        saying({"id": "x", "choices": []}),
        saying({"choices": [{"message": None}]}),
        saying({"error": {"message": "upstream is busy", "code": 503}}),
    ],
)
def test_what_passes_is_tried_again(web, tmp_path, trouble):
    web.plan.extend([trouble, trouble])
    found = ask(chat(web), questions(THINGS[:1]), access(tmp_path))
    assert texts(found) == [["other word sales"]]
    assert len(web.seen) == 3


def test_a_server_that_never_answers_is_given_up_and_the_rest_is_kept(web, tmp_path):
    from dataclasses import replace

    web.plan.extend([None, None, *[waiting(lambda: web, 5)] * 3])
    patient = access(tmp_path, threads=1, patience=replace(QUICK, timeout=0.5))
    with pytest.raises(ServerError, match=r"no answer within 0.5 s; tried 3 times.*2 of 3 answers .* are kept"):
        ask(chat(web), questions(), patient)
    assert len(ask(chat(web), questions(), access(tmp_path))) == 3
    assert len(web.seen) == 2 + 3 + 1


def test_a_budget_stops_and_the_same_goes_on(web, tmp_path):
    small = access(tmp_path, threads=1, budget=Budget(Limit(calls=2)))
    with pytest.raises(BudgetError, match="the budget of 2 calls is spent"):
        ask(chat(web), questions(), small)
    assert len(ask(chat(web), questions(), access(tmp_path))) == 3
    assert len(web.seen) == 3


def test_a_forecast_counts_what_is_not_recorded(web, tmp_path):
    prices = {"some-model": Price(1000.0, 2000.0)}
    asking = Asking(chat(web, max_tokens=10), access(tmp_path, budget=Budget(prices=prices)))
    first = forecast(asking, [*THINGS, THINGS[0]])
    assert (first.inputs, first.recorded, first.calls, first.output_tokens) == (3, 0, 3, 30)
    assert first.money == pytest.approx((first.input_tokens * 1000 + 30 * 2000) / 1e6)
    ask(chat(web, max_tokens=10), questions(THINGS[:1]), access(tmp_path))
    second = forecast(asking, THINGS)
    assert (second.inputs, second.recorded, second.calls) == (3, 1, 2)
    assert len(web.seen) == 1
    # What the server counts as words is fewer tokens than what we expect.
    assert first.input_tokens / 3 > len(" ".join(m["content"] for m in web.seen[0][1]["messages"]).split())


def test_what_will_not_do_is_asked_again_with_another_seed(web, tmp_path):
    asked = []

    def good(i, answer, attempt):
        asked.append((THINGS[i]["concept"], attempt))
        return i != 1 and (i != 2 or attempt == 1)

    asking = Asking(chat(web, seed=5), access(tmp_path, threads=1), tries=3)
    heard = ask_until(asking, THINGS, good)
    assert asked == [("sales", 0), ("debt", 0), ("rent", 0), ("debt", 1), ("rent", 1), ("debt", 2)]
    assert [sent["seed"] for _, sent, _ in web.seen] == [5, 5, 5, 6, 6, 7]
    assert heard.counts["answers"] == 6
    asked.clear()
    replayed = ask_until(Asking(chat(web, seed=5), access(tmp_path, replay=True), tries=3), THINGS, good)
    assert replayed.counts == heard.counts
    assert len(web.seen) == len(asked) == 6


def test_replay_lacks_what_was_never_asked(web, tmp_path):
    ask(chat(web), questions(THINGS[:2]), access(tmp_path))
    replay = access(tmp_path, replay=True)
    with pytest.raises(InputError, match=r"1 of 3 answers are not in the recording.*rent.*--allow-missing"):
        ask_until(Asking(chat(web), replay), THINGS, lambda i, answer, attempt: True)
    heard = ask_until(Asking(chat(web), replay, allow_missing=True), THINGS, lambda i, answer, attempt: True)
    assert (heard.answers, heard.missing) == (2, 1)
    other = Asking(chat(web, seed=99), replay, allow_missing=True)
    with pytest.raises(InputError, match="3 of 3 answers are not in the recording; wanted"):
        ask_until(other, THINGS, lambda i, answer, attempt: True)


@pytest.mark.parametrize(
    ("text", "finish", "found"),
    [
        ('{"names": ["a b", "c d"]}', "stop", (["a b", "c d"], [])),
        ('```json\n{"names": ["a b"]}\n```', "stop", (["a b"], [])),
        ('<think>{"names": ["no"]}</think>\n{"names": ["a b"]}', "stop", (["a b"], [])),
        ('The {form} is {"x": 1}, so {"names": ["a b"]} it is {"names": ["later"]}', "stop", (["a b"], [])),
        ('{"names": ["half \\ud800 pair"]}', "stop", (["half ? pair"], [])),
        ('{"names": []}', "stop", ([], [("", EMPTY)])),
        ("", "stop", ([], [("", EMPTY)])),
        ("   \n", "content_filter", ([], [("", EMPTY)])),
        ('{"names": ["a', "length", ([], [("", CUT)])),
        ("", "length", ([], [("", CUT)])),
        ('{"names": "a b"}', "stop", ([], [("", FORMLESS)])),
        (
            '{"names": [1, "a b", {"name": "c d"}, null]}',
            "stop",
            (["a b"], [("1", NO_TEXT), ('{"name": "c d"}', NO_TEXT), ("null", NO_TEXT)]),
        ),
        ('{"names": [1, " "]}', "stop", ([], [("1", NO_TEXT)])),
        ('{"name": ["a b"]}', "stop", ([], [("", FORMLESS)])),
        ("I am sorry, Dave.", "stop", ([], [("", FORMLESS)])),
        ("{" * 100_000, "stop", ([], [("", FORMLESS)])),
        ('{"names": ' + "[" * 10_000, "stop", ([], [("", FORMLESS)])),
    ],
)
def test_texts_are_found_in_what_a_model_writes(text, finish, found):
    assert texts_of({"text": text, "finish": finish}, TASK) == found


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": None, "refusal": "I will not"}, "I will not"),
        ({"content": None}, ""),
        ({"content": "x" * 1_000_000}, "x" * 20_000),
        ({"content": "half \ud800 pair"}, "half ? pair"),
    ],
)
def test_messages_of_all_kinds_are_kept(web, tmp_path, message, text):
    web.plan.append(lambda payload: good({"choices": [{"message": message, "finish_reason": None}]}))
    (found,) = ask(chat(web), questions(THINGS[:1]), access(tmp_path))
    declined = {"refused": True} if message.get("refusal") else {}
    assert found == {"text": text, "finish": "", "format": "json_schema", "tokens": [None, None], **declined}


def test_two_at_once_agree(web, tmp_path):
    things = [{**THINGS[0], "concept": f"thing {n}"} for n in range(30)]
    results = []

    def work():
        results.append(ask(chat(web), questions(things), access(tmp_path)))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == results[1]


@pytest.mark.parametrize("options", [{"temperature": -1}, {"temperature": 2.5}, {"max_tokens": 0}])
def test_parameters_that_make_no_sense(options):
    with pytest.raises(OptionError):
        OpenAIChat("m", PROMPT, **options)
    with pytest.raises(OptionError, match="no model"):
        OpenAIChat(" ", PROMPT)
    with pytest.raises(OptionError, match="tries is at least 1"):
        Asking(OpenAIChat("m", PROMPT), tries=0)
