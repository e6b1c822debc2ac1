"""Language models as rerankers on a benchmark: what they are asked, what becomes of their answers, what is counted."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

from qbench.benchmark.card import describe
from qbench.errors import BudgetError, InputError, OptionError, ServerError
from qbench.llm.budget import Budget, Limit, Price
from qbench.llm.client import Access, Patience
from qbench.retrieval.execute import execute
from qbench.retrieval.expected_questions import expected_questions
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.jobs import ExecuteOptions
from qbench.retrieval.language_models import language_model_ranker
from qbench.retrieval.ranker_options import ItemwiseOptions, ListwiseOptions, PairwiseOptions
from qbench.retrieval.rankers import Candidates, Search
from qbench.retrieval.shown_texts import ShownTexts
from tests.api_server import KEY, QUICK, ApiServer, access, failing
from tests.factories import tiny_benchmark

BENCHMARK = tiny_benchmark()
QUERIES = BENCHMARK.queries_of("test")
FORMS = ("itemwise", "listwise", "pairwise")
TEXTS = pl.Series([f"Parcel number {letter} weighs {n} kg." for n, letter in enumerate("abcdefghijkl")])
SEARCH = Search("q", "parcels above 5 kg")


@pytest.fixture(autouse=True)
def web(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ApiServer(chat=heaviest_first) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def weights(asked):
    return [int(number) for number in re.findall(r"weighs (\d+) kg", asked)]


def heaviest_first(asked):
    """A scripted judge: the heavier a parcel, the better."""
    found = weights(asked)
    if "Score:" in asked:
        return str(min(5, 1 + found[0] // 2))
    if "The more useful text:" in asked:
        return "1" if found[0] > found[1] else "2"
    return " > ".join(f"[{place + 1}]" for place in sorted(range(len(found)), key=lambda i: -found[i]))


def ranker(folder, options, texts=TEXTS, **how):
    return language_model_ranker(options, ShownTexts(texts, options.max_length), access(folder, **how))


def ranked(model, docs=range(len(TEXTS)), search=SEARCH):
    docs = np.array(list(docs))
    (scores,), counts = model.rerank_counted([search], [Candidates(docs, -np.arange(len(docs), dtype=float))])
    return docs[np.argsort(-scores)].tolist(), scores, counts


def ask(folder, *names, access=None, **options):
    options.setdefault("settings", ("given",))
    access = access or Access(patience=QUICK)
    return execute(BENCHMARK, [parse_system(name) for name in names], folder, ExecuteOptions(access=access, **options))


# Orders


def test_a_score_for_each_document_and_equal_ones_keep_their_order(web, tmp_path):
    order, scores, counts = ranked(ranker(tmp_path, ItemwiseOptions(model="m")), [3, 11, 2, 9, 8, 0])
    assert order == [11, 9, 8, 3, 2, 0]
    assert scores == pytest.approx([2, 5, 2, 5, 5, 1], abs=1e-6)
    assert counts["calls"] == len(web.seen) == 6
    assert (counts["refused"], counts["malformed"]) == (0, 0)


def test_probabilities_of_the_numbers_give_their_expectation(web, tmp_path):
    def unsure(asked):
        among = [{"token": "4", "logprob": np.log(0.5)}, {"token": " 5", "logprob": np.log(0.3)}]
        among += [{"token": "3", "logprob": np.log(0.2)}, {"token": "x", "logprob": -9.0}]
        said = {"token": "4", "logprob": np.log(0.5), "top_logprobs": among}
        return {"message": {"content": "4"}, "logprobs": {"content": [said]}}

    web.chat = unsure
    _, scores, counts = ranked(ranker(tmp_path, ItemwiseOptions(model="m")), [0])
    assert scores == pytest.approx([4.1])
    assert counts["with_probabilities"] == 1
    sent = web.seen[0][1]
    assert (sent["logprobs"], sent["top_logprobs"], sent["temperature"]) == (True, 20, 0.0)
    assert "response_format" not in sent
    _, scores, _ = ranked(ranker(tmp_path / "b", PairwiseOptions(model="m")), [0, 1])
    assert scores == pytest.approx([0.5, 0.5])  # "4" is neither 1 nor 2

    def rather_heavy(asked):
        heavier = heaviest_first(asked)
        among = [{"token": "1", "logprob": np.log(0.3)}, {"token": "2", "logprob": np.log(0.3)}]
        among[int(heavier) - 1]["logprob"] = np.log(0.6)
        return {"message": {"content": heavier}, "logprobs": {"content": [{"token": heavier, "top_logprobs": among}]}}

    web.chat = rather_heavy
    _, scores, counts = ranked(ranker(tmp_path / "c", PairwiseOptions(model="m")), [3, 7])
    assert scores == pytest.approx([1 / 3, 2 / 3])
    assert counts["with_probabilities"] == counts["calls"] == 2


@pytest.mark.parametrize("content", [None, [], [7], [{"token": [1]}], [{"token": "4", "logprob": "x"}], "no"])
def test_log_probabilities_of_another_form_leave_the_number(web, tmp_path, content):
    web.chat = lambda asked: {"message": {"content": "4"}, "logprobs": {"content": content}}
    _, scores, counts = ranked(ranker(tmp_path, ItemwiseOptions(model="m")), [0])
    assert scores == pytest.approx([4])
    assert counts["with_probabilities"] == 0


def test_a_server_without_log_probabilities_is_asked_for_fewer_then_none(web, tmp_path):
    web.refuses = {"logprobs"}
    _, scores, counts = ranked(ranker(tmp_path, ItemwiseOptions(model="m"), threads=1), [2, 3])
    assert scores == pytest.approx([2, 2], abs=1e-6)
    assert [sent.get("top_logprobs") for _, sent, _ in web.seen] == [20, 5, None, None]
    assert (counts["calls"], counts["refused"]) == (2, 0)


def test_a_window_slides_from_the_end_and_brings_the_best_to_the_front(web, tmp_path):
    options = ListwiseOptions(model="m", window=4, stride=2)
    order, scores, counts = ranked(ranker(tmp_path, options))
    # Four windows of four, each with the two best of the one before.
    assert order == [11, 10, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8]
    assert sorted(scores) == list(range(1, 13))
    assert [weights(sent["messages"][-1]["content"]) for _, sent, _ in web.seen] == [
        [8, 9, 10, 11],
        [6, 7, 11, 10],
        [4, 5, 11, 10],
        [2, 3, 11, 10],
        [0, 1, 11, 10],
    ]
    assert counts["calls"] == 5
    whole, _, _ = ranked(ranker(tmp_path, ListwiseOptions(model="m")))
    assert whole == sorted(range(12), reverse=True)


def test_windows_of_many_queries_go_together_and_do_not_mix(web, tmp_path):
    model = ranker(tmp_path, ListwiseOptions(model="m", window=4, stride=2))
    searches = [Search(str(n), f"query {n}") for n in range(3)]
    some = [np.arange(n) for n in (6, 1, 9)]
    scores, counts = model.rerank_counted(searches, [Candidates(docs, np.zeros(len(docs))) for docs in some])
    alone = [ranked(model, docs, search)[1].tolist() for search, docs in zip(searches, some, strict=True)]
    assert [one.tolist() for one in scores] == alone
    assert counts["calls"] == len(web.seen) == 2 + 0 + 4


def test_texts_that_an_order_leaves_out_or_repeats_are_counted(web, tmp_path):
    web.chat = lambda asked: "[3] > [3] > [9]"
    order, _, counts = ranked(ranker(tmp_path, ListwiseOptions(model="m")), [5, 6, 7])
    assert order == [7, 5, 6]
    wanted = {"malformed": 1, "missing_texts": 2, "repeated_texts": 1, "unknown_texts": 1}
    assert {name: counts[name] for name in wanted} == wanted


def test_every_pair_is_compared_in_both_orders(web, tmp_path):
    order, scores, counts = ranked(ranker(tmp_path, PairwiseOptions(model="m")), [3, 7, 5])
    assert order == [7, 5, 3]
    assert scores == pytest.approx([0, 1, 0.5], abs=1e-6)
    assert counts["calls"] == 3 * 2
    web.chat = lambda asked: "1"  # a model that always takes the first is of no opinion
    order, scores, _ = ranked(ranker(tmp_path / "b", PairwiseOptions(model="m")), [3, 7, 5])
    assert order == [3, 7, 5]
    assert scores == pytest.approx([0.5] * 3, abs=1e-6)


@pytest.mark.parametrize("kind", [ItemwiseOptions, ListwiseOptions, PairwiseOptions])
def test_nothing_and_one_document_need_no_order(web, tmp_path, kind):
    model = ranker(tmp_path, kind(model="m"))
    assert ranked(model, [])[1].shape == (0,)
    assert ranked(model, [4])[0] == [4]
    assert len(web.seen) == (1 if kind is ItemwiseOptions else 0)


# What goes wrong


@pytest.mark.parametrize("kind", [ItemwiseOptions, ListwiseOptions, PairwiseOptions])
def test_what_a_server_refuses_is_counted_kept_and_not_asked_again(web, tmp_path, kind, monkeypatch):
    docs = [4, 9, 2]
    web.plan.extend([None, failing(400, "I do not speak of parcels")])
    options = kind(model="m", **({"window": 2, "stride": 1} if kind is ListwiseOptions else {}))
    order, scores, counts = ranked(ranker(tmp_path, options, threads=1), docs)
    assert sorted(order) == sorted(docs)
    assert (counts["refused"], counts["malformed"]) == (1, 0)
    asked = len(web.seen)
    monkeypatch.delenv("OPENAI_API_KEY")
    for replay in (True, False):
        again = ranked(ranker(tmp_path, options, replay=replay), docs)
        assert (again[0], again[1].tolist(), again[2]) == (order, scores.tolist(), counts)
    assert len(web.seen) == asked


def test_a_server_that_refuses_all_is_an_error_and_nothing_is_kept_of_it(web, tmp_path):
    model = ranker(tmp_path, ItemwiseOptions(model="m"))
    web.plan.extend([failing(400, "no such parameter")] * 12)
    with pytest.raises(ServerError, match="no such parameter"):
        ranked(model)
    web.plan.clear()
    assert ranked(model)[2]["refused"] == 0


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": None, "refusal": "I would rather not"}},
        {"message": {"content": ""}, "finish_reason": "content_filter"},
    ],
)
def test_refusals_of_a_model_are_no_malformed_answers(web, tmp_path, choice):
    web.chat = lambda asked: choice if weights(asked) == [7] else heaviest_first(asked)
    order, scores, counts = ranked(ranker(tmp_path, ItemwiseOptions(model="m")), [7, 0, 9])
    assert (counts["refused"], counts["malformed"]) == (1, 0)
    assert order == [9, 0, 7]
    assert scores[0] == 0


def test_the_bar_says_which_server_is_waited_for_and_why(web, tmp_path):
    shown = []
    web.plan.append(failing(500, "out of luck"))
    options, how = ItemwiseOptions(model="m"), access(tmp_path, threads=1, patience=Patience(first=0.5))
    model = language_model_ranker(
        options, ShownTexts(TEXTS, 500), how, lambda done, total=None, what="": shown.append((done, total, what))
    )
    ranked(model, [3, 7])
    waits = [what for _, _, what in shown if "waiting" in what]
    assert waits[0].startswith(f"asking m, waiting for OpenAI at {web.url}: HTTP 500, out of luck, attempt 2 in ")
    assert shown[-1] == (2, 2, "asking m")


@pytest.mark.parametrize("kind", [ItemwiseOptions, ListwiseOptions, PairwiseOptions])
def test_a_model_that_rambles_leaves_the_order_as_it_was(web, tmp_path, kind):
    web.chat = lambda asked: "As a parcel enthusiast, I love them all."
    order, _, counts = ranked(ranker(tmp_path, kind(model="m")), [3, 7, 5])
    assert order == [3, 7, 5]
    assert counts["malformed"] == counts["calls"] > 0


def test_tokens_are_estimated_where_the_server_reports_none(web, tmp_path):
    def silent(payload):
        return 200, {}, json.dumps({"choices": [{"message": {"content": "4"}}]}).encode()

    web.plan.extend([silent])
    _, _, counts = ranked(ranker(tmp_path, ItemwiseOptions(model="m")), [0])
    assert counts["tokens_read"] > 100
    assert counts["tokens_written"] == 16


# In systems


@pytest.mark.parametrize("form", FORMS)
def test_it_stands_behind_any_pipeline(web, tmp_path, form):
    web.chat = lambda asked: {"Score:": "3", "The more useful text:": "1"}.get(asked.splitlines()[-1], "[1]")
    model = f"LLM-{form}(model=m, k=4)"
    names = [f"BM25 + {model}", f"QBM25 + BM25(k=9) + {model}-I(alpha=0.5)", f"BM25 + QLLM-{form}(alpha=2, model=m)"]
    plain, fused, scored = ask(tmp_path, *names)
    before = ask(tmp_path, "BM25")[0]
    for query in QUERIES:
        first = before.run.filter(query_id=query.query_id)["doc_id"].to_list()
        assert set(plain.run.filter(query_id=query.query_id)["doc_id"]) == set(first[:4])
    assert plain.cost.calls == plain.meta["reranker_calls"] > 0
    assert fused.cost.calls == fused.meta["reranker2_calls"] > 0
    assert plain.conditions == "none"
    assert fused.conditions == scored.conditions == "given"
    assert ask(tmp_path, "BM25")[0].cost.calls == 0


def last_messages(web):
    return [sent["messages"][-1]["content"] for _, sent, _ in web.seen]


def bounds_of(asked):
    return re.search("read by a program: (.*)", asked)[1]


@pytest.mark.parametrize("form", FORMS)
def test_conditions_and_quantities_are_shown_where_that_is_wanted(web, tmp_path, form):
    web.chat = lambda asked: "1"
    name = f"BM25 + LLM-{form}(model=m{{}}, k=3)"
    (bare,) = ask(tmp_path / "a", name.format(""))
    assert bare.conditions == "none"
    assert not [asked for asked in last_messages(web) if "program" in asked]
    web.seen.clear()
    given, parsed = ask(tmp_path / "b", name.format(", condition=stated"), settings=("given", "parsed"))
    assert (given.conditions, parsed.conditions) == ("given", "parsed")
    assert {given.digest, parsed.digest}.isdisjoint({bare.digest})
    asked = last_messages(web)
    assert all("The bounds of the query, read by a program: " in one for one in asked)
    # Where the first stage finds fewer than two documents, there may be nothing to ask.
    assert set(map(bounds_of, asked)) & {"; ".join(map(describe, query.conditions)) for query in QUERIES}
    assert not [one for one in asked if "Quantities" in one]
    web.seen.clear()
    (listed,) = ask(tmp_path / "c", name.format(", quantities=listed"))
    assert listed.conditions == "none"
    wanted = re.compile(r"^Quantities that a program found in .*: (above |about )?\d\S* \w+ \(", re.MULTILINE)
    assert any(wanted.search(one) for one in last_messages(web))


def test_a_run_has_its_calls_tokens_and_price_and_a_second_one_asks_nothing(web, tmp_path):
    web.chat = lambda asked: "3" if "laptop" in asked else "laptops, please"
    prices = {"m": Price(10.0, 30.0)}
    name = "BM25 + LLM-itemwise(model=m, k=5)"
    (result,) = ask(tmp_path, name, access=Access(patience=QUICK, budget=Budget(prices=prices)))
    cost = result.cost
    assert cost.calls == len(web.seen) == result.run.height
    assert 0 < cost.malformed < cost.calls
    assert cost.refused == 0
    assert cost.money == pytest.approx((cost.tokens_read * 10 + cost.tokens_written * 30) / 1e6)
    (again,) = ask(tmp_path, name)
    assert again.cost.money is None
    recording = Access(tmp_path / "answers.sqlite", replay=True)
    (elsewhere,) = ask(tmp_path / "elsewhere", name, access=recording)
    assert elsewhere.run.equals(result.run)
    assert (elsewhere.cost.calls, elsewhere.cost.tokens_read) == (cost.calls, cost.tokens_read)
    assert len(web.seen) == cost.calls


def test_replay_without_an_answer_is_an_error(web, tmp_path):
    web.chat = lambda asked: "3"
    name = "BM25 + LLM-itemwise(model=m, k={})"
    ask(tmp_path, name.format(2))
    with pytest.raises(InputError, match="are not in the recording"):
        ask(tmp_path, name.format(5), access=Access(tmp_path / "answers.sqlite", replay=True))


def test_a_budget_stops_the_questions_and_the_next_run_goes_on(web, tmp_path):
    web.chat = lambda asked: "3"
    name = "BM25 + LLM-itemwise(model=m, k=5)"
    with pytest.raises(BudgetError, match="the budget of 7 calls is spent"):
        ask(tmp_path, name, access=Access(patience=QUICK, budget=Budget(Limit(calls=7))))
    assert len(web.seen) == 7
    (result,) = ask(tmp_path, name)
    assert len(web.seen) == result.cost.calls


def test_what_can_change_a_ranking_changes_its_digest(web, tmp_path):
    web.chat = lambda asked: "1"
    changed = ["", ", temperature=1", ", max_tokens=7", ", max_length=9", ", quantities=listed", ", k=3"]
    forms = [f"BM25 + LLM-itemwise(model=m{more})" for more in changed]
    forms += ["BM25 + LLM-itemwise(model=n)", "BM25 + LLM-pairwise(model=m)", "BM25 + LLM-listwise(model=m)"]
    forms += ["BM25 + LLM-listwise(model=m, window=4, stride=3)", "BM25 + LLM-listwise(model=m, window=4, stride=2)"]
    results = ask(tmp_path, *forms)
    assert len({result.digest for result in results}) == len(forms)


OWN = """
task = "score"
version = 1
system = "Judge."
user = "{query} ? {text}"
"""


def test_a_prompt_of_one_s_own_is_used_and_must_have_a_place_for_what_is_shown(web, tmp_path):
    web.chat = lambda asked: "2"
    path = tmp_path / "mine.toml"
    path.write_text(OWN)
    name = f'BM25 + LLM-itemwise(model=m, prompt="{path}", k=2{{}})'
    (one,) = ask(tmp_path / "a", name.format(""))
    assert all(" ? <<<" in asked for asked in last_messages(web))
    path.write_text(OWN.replace("Judge", "Decide"))
    (two,) = ask(tmp_path / "a", name.format(""))
    assert one.digest != two.digest
    for more, slot in (("condition=stated", "condition"), ("quantities=listed", "quantities")):
        with pytest.raises(OptionError, match=f"this prompt has no {{{slot}}}"):
            ask(tmp_path / "a", name.format(f", {more}"))
    with pytest.raises(OptionError, match="no prompt to rank has this name"):
        ask(tmp_path / "a", "BM25 + LLM-listwise(model=m, prompt=poetic)")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("LLM-itemwise(model=m)", "unknown first stage"),
        ("BM25 + LLM-itemwise", "LLM-itemwise needs model"),
        ("BM25 + LLM-listwise(model=m, window=5)", "a stride above the window"),
        ("BM25 + LLM-listwise(model=m, window=1)", "window needs a whole number of at least 2"),
        ("BM25 + LLM-itemwise(model=m)-PQ", "stores no vectors"),
    ],
)
def test_systems_that_make_no_sense_are_refused_before_anything_runs(web, tmp_path, name, says):
    with pytest.raises(OptionError, match=says):
        ask(tmp_path, name)
    assert not web.seen


# Forecasts


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("more", ["", ", condition=stated", ", quantities=listed"])
def test_a_forecast_is_an_upper_bound_near_what_is_asked(web, tmp_path, form, more):
    web.chat = lambda asked: "1"
    name = f"Run(path={tmp_path / 'all.trec'}) + LLM-{form}(model=m{more}, k=5)"
    rows = [(q.query_id, doc, n) for q in QUERIES for n, doc in enumerate(BENCHMARK.corpus["doc_id"])]
    (tmp_path / "all.trec").write_text("".join(f"{q} Q0 {doc} {n + 1} {-n} x\n" for q, doc, n in rows))
    limits = Access(tmp_path / "answers.sqlite", patience=QUICK, budget=Budget(prices={"m": Price(1e6, 1e6)}))

    def forecast():
        (line,) = expected(tmp_path, name, access=limits)
        assert (line.model, line.roles) == ("m", (f"LLM-{form}",))
        return line.estimate

    at_most = forecast()
    assert not web.seen
    (result,) = ask(tmp_path, name, access=limits)
    assert at_most.calls == at_most.inputs == result.cost.calls
    sent = sum(len(json.dumps(sent["messages"])) for _, sent, _ in web.seen)
    assert at_most.input_tokens == pytest.approx(sent / 4, rel=0.2)
    assert at_most.money == at_most.input_tokens + at_most.output_tokens
    # The run that was reranked is no row of its own: which answers are recorded is not known.
    after = forecast()
    assert (after.recorded, after.calls) == (at_most.inputs, at_most.calls)
    ask(tmp_path, name.split(" + ")[0], access=limits)
    after = forecast()
    assert (after.recorded, after.calls, after.input_tokens, after.money) == (at_most.inputs, 0, 0, 0)


def expected(folder, *names, access=None, settings=("given",)):
    """The forecast of `ask`."""
    options = ExecuteOptions(settings=settings, access=access or Access(patience=QUICK))
    return expected_questions([parse_system(name) for name in names], BENCHMARK, folder, options)


def test_a_forecast_counts_shared_stages_once_and_settings_each(web, tmp_path):
    both = ("given", "parsed")
    name = "BM25 + LLM-itemwise(model=m, k=5)"
    (line,) = expected(tmp_path, name, f"{name} + BM25(k=2)", settings=both)
    assert line.at_most
    assert line.estimate.inputs == 5 * len(QUERIES)
    (line,) = expected(tmp_path, "BM25 + LLM-itemwise(model=m, condition=stated, k=5)", settings=both)
    assert line.estimate.inputs == 2 * 5 * len(QUERIES)
    assert expected(tmp_path, "BM25", settings=both) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_forecast_behind_a_finished_run_is_what_is_asked(web, tmp_path, form):
    """Also of another prompt, when the recording holds as many answers of the first one, and of the rest of a run."""
    name = f"BM25 + LLM-{form}(model=m, k=5{{}}{', window=3, stride=2' * (form == 'listwise')})"
    web.chat = lambda asked: "[2] > [1]" if form == "listwise" else "1"
    ask(tmp_path, "BM25")
    for more in ("", ", condition=stated", ", quantities=listed"):
        sent = len(web.seen)
        (line,) = expected(tmp_path, name.format(more))
        if "listed" in more:  # the documents are not read for a forecast
            assert line.at_most
            ask(tmp_path, "QBM25")
            (line,) = expected(tmp_path, name.format(more))
        assert not line.at_most
        assert line.estimate.calls > 0
        try:
            ask(tmp_path, name.format(more), access=Access(patience=QUICK, budget=Budget(Limit(calls=4))))
        except BudgetError:
            (rest,) = expected(tmp_path, name.format(more))
            assert rest.estimate.recorded == len(web.seen) - sent
            ask(tmp_path, name.format(more))
        assert len(web.seen) - sent == pytest.approx(line.estimate.calls, abs=len(QUERIES) * (form == "listwise"))
        (after,) = expected(tmp_path, name.format(more))
        assert (after.estimate.recorded, after.estimate.calls) == (len(web.seen) - sent, 0)
    both = expected(tmp_path, name.format(""), name.format("").replace("BM25", "BM25_filter"))
    assert [line.at_most for line in both] == [False, True]
