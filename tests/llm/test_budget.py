"""Budgets: what is counted, and when they stop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import BudgetError, InputError, OptionError
from qbench.llm.budget import Budget, Limit, Price, parse_limit, read_prices


@pytest.mark.parametrize(
    ("limit", "calls"), [(Limit(calls=3), 3), (Limit(tokens=35), 3), (Limit(money=0.0004), 4), (Limit(calls=0), 0)]
)
def test_it_stops_before_the_limit_is_exceeded(limit, calls):
    budget = Budget(limit, {"m": Price(8.0, 2.0)})
    for _ in range(calls):
        budget.reserve("m", 10, 10 if limit.money else 0)
    with pytest.raises(BudgetError, match=f"{calls} calls, .* tokens, .* by your prices"):
        budget.reserve("m", 10, 10)
    assert budget.calls == calls


@given(
    st.lists(
        st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.booleans()),
        max_size=20,
    )
)
def test_the_sums_are_those_of_the_calls_that_were_answered(calls):
    budget = Budget(prices={"m": Price(1e6, 3e6)})
    for guessed_in, guessed_out, used_in, used_out, refused in calls:
        budget.reserve("m", guessed_in, guessed_out)
        if refused:
            budget.release("m", guessed_in, guessed_out)
        else:
            budget.settle("m", (guessed_in, guessed_out), (used_in, used_out))
    answered = [call for call in calls if not call[4]]
    assert budget.calls == len(answered)
    assert budget.input_tokens == sum(call[2] for call in answered)
    assert budget.output_tokens == sum(call[3] for call in answered)
    assert budget.money == pytest.approx(sum(call[2] + 3 * call[3] for call in answered))


@pytest.mark.parametrize(("text", "what"), [("0.5", "call"), ("2.5 calls", "call"), ("1e-3 tokens", "token")])
def test_a_part_of_a_call_is_no_budget(text, what):
    with pytest.raises(OptionError, match=f"a budget of {what}s is a whole number .*Write a whole number, or .* money"):
        parse_limit(text)


def test_money_needs_a_price_and_nothing_else_does():
    with pytest.raises(OptionError, match=r"no price \(found 'other'\)"):
        Budget(Limit(money=1), {"m": Price(1)}).reserve("other", 1)
    budget = Budget()
    budget.reserve("other", 5)
    assert str(budget) == "1 call, 5 tokens"


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("100", Limit(calls=100)),
        (" 0 calls ", Limit(calls=0)),
        ("2e6 tokens", Limit(tokens=2_000_000)),
        ("1.50 money", Limit(money=1.5)),
    ],
)
def test_limits_are_read(text, limit):
    assert parse_limit(text) == limit


@pytest.mark.parametrize("text", ["", "many", "-1", "nan", "inf tokens", "5 dollars", "5 calls please"])
def test_what_is_no_limit_is_refused(text):
    with pytest.raises(OptionError, match=r'not a budget .*Write for example "100 calls"'):
        parse_limit(text)


def test_prices_are_read(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text('["text-embedding-3-small"]\ninput = 0.02\n[gpt]\ninput = 1\noutput = 4.5\n')
    assert read_prices(path) == {"text-embedding-3-small": Price(0.02), "gpt": Price(1.0, 4.5)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1", r":1: a should be a table"),
        ("[m]\noutput = 1", r":1: m: input is missing"),
        ("[m]\ninput = '1'", r":2: m, input should be a number"),
        ("[m]\ninput = -1", r":2: m, input lies between"),
        ("[m]\ninput = inf", r":2: m, input lies between"),
        ("[m]\ninput = 1\nper = 2", r":3: m: unknown entry .*'per'"),
        ("[m", r"not valid TOML"),
    ],
)
def test_prices_that_cannot_be_read_are_named(tmp_path, text, message):
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"prices\.toml:?.*{message}"):
        read_prices(path)
