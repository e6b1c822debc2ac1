"""Asking: recorded answers are not asked again, failures are tried again, errors keep what is paid for."""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qbench.errors import BudgetError, InputError, OptionError, ServerError
from qbench.llm import client
from qbench.llm.budget import Budget, Limit, Price
from qbench.llm.calls import Call, Reply, RequestError
from qbench.llm.client import Access, Patience, ask, estimate
from qbench.llm.embeddings import within

QUICK = Patience(attempts=4, first=0.001, longest=0.002)


@dataclass
class Shouting:
    """Answers texts in capitals; a plan says what goes wrong first."""

    plan: list = field(default_factory=list)
    batch: int = 2
    asked: list = field(default_factory=list)
    connections: int = 0
    name = "Shouting"
    call = Call("shout", "loud")

    def requests(self, inputs):
        return within([1] * len(inputs), self.batch, 10**9)

    def tokens(self, inputs):
        return sum(map(len, inputs)), 2 * len(inputs)

    @asynccontextmanager
    async def connected(self):
        self.connections += 1

        async def send(inputs):
            self.asked.append(list(inputs))
            step = self.plan.pop(0) if self.plan else None
            if isinstance(step, BaseException):
                raise step
            return Reply([{"said": one.upper()} for one in inputs], *(step or (None, None)))

        yield send


def said(*inputs):
    return [{"said": one.upper()} for one in inputs]


def access(folder, **options):
    return Access(**{"recording": folder / "answers.sqlite", "patience": QUICK, "threads": 1, **options})


def test_equal_inputs_are_asked_once_and_answers_come_in_order(tmp_path):
    server = Shouting()
    inputs = ["b", "a", "b", "c", "a"]
    assert ask(server, inputs, access(tmp_path)) == said(*inputs)
    assert server.asked == [["b", "a"], ["c"]]


def test_what_is_recorded_is_not_asked_again_by_anyone(tmp_path):
    ask(Shouting(), ["a", "b", "c"], access(tmp_path))
    again = Shouting()
    assert ask(again, ["c", "d", "a"], access(tmp_path)) == said("c", "d", "a")
    assert again.asked == [["d"]]
    third = Shouting()
    budget = Budget(Limit(calls=0))
    assert ask(third, ["d", "a"], access(tmp_path, budget=budget)) == said("d", "a")
    assert (third.connections, budget.calls) == (0, 0)
    assert ask(third, [], access(tmp_path)) == []


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), max_size=5), st.integers(1, 4), st.integers(1, 5))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_input_is_paid_for_once_whatever_the_order_and_the_threads(tmp_path_factory, rounds, threads, batch):
    folder, server, budget = tmp_path_factory.mktemp("asked"), Shouting(batch=batch), Budget()
    for inputs in rounds:
        found = ask(server, inputs, access(folder, threads=threads, budget=budget))
        assert found == said(*inputs)
    counted = Counter(one for request in server.asked for one in request)
    assert counted == Counter({one for inputs in rounds for one in inputs})
    assert budget.calls == len(server.asked)
    assert all(len(request) <= batch for request in server.asked)


def test_a_server_that_says_so_is_asked_again(tmp_path):
    busy = RequestError("busy", attempts=9)
    server, budget = Shouting([busy, busy, None]), Budget()
    assert ask(server, ["a", "b"], access(tmp_path, budget=budget)) == said("a", "b")
    assert server.asked == [["a", "b"]] * 3
    assert budget.calls == 1  # what the server refuses is not charged


def test_a_request_that_may_be_charged_counts(tmp_path):
    server, budget = Shouting([RequestError("slow", attempts=9, charged=True)]), Budget()
    ask(server, ["a"], access(tmp_path, budget=budget))
    assert budget.calls == 2


@pytest.mark.parametrize(("attempts", "tried"), [(1, 1), (3, 3), (99, 4)])
def test_patience_ends(tmp_path, attempts, tried):
    server = Shouting([RequestError("no", attempts=attempts, remedy="Do better")] * 99)
    with pytest.raises(ServerError, match="Shouting: no") as caught:
        ask(server, ["a"], access(tmp_path))
    assert len(server.asked) == tried
    assert (f"tried {tried} times" in str(caught.value)) == (tried > 1)
    assert "Do better" in str(caught.value)


def test_the_server_s_own_wish_is_followed_unless_it_is_too_much(tmp_path):
    server = Shouting([RequestError("later", attempts=9, wait=0.2)])
    start = time.monotonic()
    ask(server, ["a"], access(tmp_path))
    assert time.monotonic() - start >= 0.2
    server = Shouting([RequestError("tomorrow", attempts=9, wait=86_400.0)])
    with pytest.raises(ServerError, match="tomorrow; it wants us to wait 86,400 s"):
        ask(server, ["b"], access(tmp_path))


def test_a_server_that_is_waited_for_is_named_with_the_reason_and_the_most_that_is_waited(tmp_path, monkeypatch):
    monkeypatch.setattr(client, "STILL", 0.1)
    lines, shown = [], []
    patience = Patience(attempts=9, first=0.4, longest=0.4, longest_in_all=60.0)
    how = access(tmp_path, patience=patience, notify=lines.append)
    server = Shouting([RequestError("no luck", attempts=9)] * 3)
    ask(server, list("ab"), how, progress=lambda done, total=None, what="": shown.append(what))
    assert len(lines) == 1  # in one wait it is said once
    assert re.match(r"waiting for Shouting: no luck, attempt \d in 0 s; up to 9 attempts in at most 60 s", lines[0])
    assert any(what.startswith("waiting for Shouting: no luck") for what in shown)
    assert shown[-1] == ""
    ask(Shouting([RequestError("x", attempts=9)]), ["c"], replace(how, patience=QUICK))
    assert len(lines) == 1  # a pause that is soon over is not told


def test_waiting_for_one_request_has_an_end_whatever_the_server_says(tmp_path):
    patience = Patience(attempts=10_000, first=0.05, longest=0.05, longest_in_all=0.3)
    server = Shouting([RequestError("later", attempts=10_000, wait=0.05)] * 1000)
    start = time.monotonic()
    with pytest.raises(ServerError, match=r"later; tried \d+ times"):
        ask(server, ["a"], access(tmp_path, patience=patience))
    assert len(server.asked) <= 7
    assert time.monotonic() - start < 5


def test_a_server_that_was_waited_for_in_vain_is_asked_once_more_and_waited_for_again_after_an_answer(tmp_path):
    how = access(tmp_path)
    with pytest.raises(ServerError, match="no; tried 4 times"):
        ask(Shouting([RequestError("no", attempts=9)] * 9), ["a"], how)
    elsewhere = how.recording_in(tmp_path / "b")
    with pytest.raises(ServerError, match="no; waited for before in vain, and asked once more"):
        ask(server := Shouting([RequestError("no", attempts=9)] * 9), ["a"], elsewhere)
    assert len(server.asked) == 1
    assert ask(Shouting(), ["a"], how) == said("a")
    with pytest.raises(ServerError, match="no; tried 4 times"):
        ask(Shouting([RequestError("no", attempts=9)] * 9), ["b"], how)
    # What the server refuses for good is no reason to give it up.
    with pytest.raises(ServerError):
        ask(Shouting([RequestError("bad key")]), ["c"], fresh := access(tmp_path))
    assert fresh.lost == set()


def test_pauses_double_and_differ_between_requests():
    patience = Patience(first=1.0, longest=5.0)
    pauses = [patience.pause(attempt, 0, None) for attempt in (1, 2, 3, 4, 9)]
    assert pauses == [1, 2, 4, 5, 5]
    others = {patience.pause(1, number, None) for number in range(20)}
    assert len(others) == 20
    assert all(0.75 <= pause <= 1 for pause in others)
    assert patience.pause(1, 3, 7.0) == 7.0


def test_an_error_keeps_what_is_answered_and_is_never_recorded(tmp_path):
    server = Shouting([None, RequestError("broken", remedy="Mend it")])
    with pytest.raises(ServerError, match="broken") as caught:
        ask(server, list("abcdef"), access(tmp_path))
    assert "Mend it. 2 of 6 answers that are needed here are kept in answers.sqlite" in str(caught.value)
    again = Shouting()
    assert ask(again, list("abcdef"), access(tmp_path)) == said(*"abcdef")
    assert again.asked == [["c", "d"], ["e", "f"]]


def test_a_budget_stops_and_says_how_to_go_on(tmp_path):
    budget = Budget(Limit(calls=2))
    with pytest.raises(BudgetError, match="the budget of 2 calls is spent") as caught:
        ask(Shouting(), list("abcdef"), access(tmp_path, budget=budget))
    with pytest.raises(BudgetError, match="4 of 6 answers that are needed here are kept"):
        ask(Shouting(), list("abcdef"), access(tmp_path, budget=budget))
    assert "4 of 6 answers that are needed here are kept in answers.sqlite; run the same command" in str(caught.value)
    again = Shouting()
    assert ask(again, list("abcdef"), access(tmp_path)) == said(*"abcdef")
    assert again.asked == [["e", "f"]]


def test_what_other_threads_are_asking_is_kept_when_one_fails(tmp_path):
    class Slow(Shouting):
        @asynccontextmanager
        async def connected(self):
            inside = asyncio.Event()
            async with Shouting.connected(self) as fast:

                async def send(inputs):
                    if inputs[0] == "a":
                        await inside.wait()
                        raise RequestError("broken")
                    inside.set()
                    await asyncio.sleep(0.1)
                    return await fast(inputs)

                yield send

    with pytest.raises(ServerError, match="broken"):
        ask(Slow(), list("abcd"), access(tmp_path, threads=2))
    known = estimate(Shouting(), [list("abcd")], access(tmp_path))
    assert known.recorded == 2


def test_tokens_are_estimated_until_the_server_says_how_many(tmp_path):
    budget = Budget(prices={"loud": Price(1e6, 1e6)})
    ask(Shouting([None, (7, 9)]), ["aa", "b", "c"], access(tmp_path, budget=budget))
    assert (budget.input_tokens, budget.output_tokens) == (3 + 7, 4 + 9)
    assert budget.money == 23


def test_an_interruption_keeps_what_is_answered(tmp_path):
    presses = iter([KeyboardInterrupt])

    def interrupt(done, total, what=""):
        if press := next(presses, None):
            raise press

    server = Shouting()
    with pytest.raises(KeyboardInterrupt):
        ask(server, list("abcdef"), access(tmp_path), progress=interrupt)
    assert 2 <= estimate(server, [list("abcdef")], access(tmp_path)).recorded == 2 * len(server.asked)


def test_it_runs_inside_another_event_loop(tmp_path):
    async def notebook():
        return ask(Shouting(), ["a"], access(tmp_path))

    with ThreadPoolExecutor(1) as pool:  # the thread of the tests may run a loop of its own
        assert pool.submit(lambda: asyncio.run(notebook())).result() == said("a")


def test_replay_asks_nobody_and_names_what_is_missing(tmp_path):
    ask(Shouting(), ["a", "b"], access(tmp_path))
    server = Shouting()
    assert ask(server, ["b", "a"], access(tmp_path, replay=True)) == said("b", "a")
    with pytest.raises(InputError) as caught:
        ask(server, ["a", "new", "newer"], access(tmp_path, replay=True))
    for part in ("answers.sqlite", "2 of 3 answers are not in the recording", "'new'", '"model":"loud"', "2 of {"):
        assert part in str(caught.value)
    assert server.connections == 0
    with pytest.raises(InputError, match="no such recording"):
        ask(server, ["a"], access(tmp_path / "elsewhere", replay=True))


def test_an_estimate_asks_nobody_and_is_what_is_asked(tmp_path):
    server, prices = Shouting(), {"loud": Price(1e6, 1e6)}
    ask(server, ["a", "bb"], access(tmp_path))
    with_prices = access(tmp_path, budget=Budget(prices=prices))
    found = estimate(server, [["a", "ccc", "d", "e", "ccc"]], with_prices)
    assert (found.inputs, found.recorded, found.calls) == (4, 1, 2)
    parts = estimate(server, [["a"], ["ccc", "d"], [], ["ccc", "e", "d"]], with_prices)
    assert (parts.inputs, parts.recorded, parts.calls, parts.input_tokens) == (4, 1, 2, 5)
    assert (found.input_tokens, found.output_tokens, found.money) == (5, 6, 11)
    assert server.connections == 1
    assert estimate(server, [["x"]], access(tmp_path / "new")).recorded == 0
    assert not (tmp_path / "new").exists()
    asked = Budget(prices=prices)
    ask(server, ["a", "ccc", "d", "e", "ccc"], access(tmp_path, budget=asked))
    assert asked.calls == found.calls


def test_access_needs_a_place_and_a_thread(tmp_path):
    with pytest.raises(OptionError, match="no recording is named"):
        ask(Shouting(), ["a"], Access())
    assert Access().recording_in(tmp_path).recording == tmp_path / "answers.sqlite"
    assert Access(tmp_path / "mine").recording_in(tmp_path).recording == tmp_path / "mine"
    with pytest.raises(OptionError, match="threads is at least 1"):
        Access(threads=0)


@given(st.lists(st.integers(0, 12), max_size=20), st.integers(1, 5), st.integers(1, 20))
def test_requests_are_within_the_limits_and_as_large_as_they_can_be(sizes, most, together):
    spans = list(within(sizes, most, together))
    assert [i for span in spans for i in span] == list(range(len(sizes)))
    for span in spans:
        assert 1 <= len(span) <= most
        assert len(span) == 1 or sum(sizes[i] for i in span) <= together
    for one, other in itertools.pairwise(spans):
        assert len(one) == most or sum(sizes[i] for i in one) + sizes[other[0]] > together
