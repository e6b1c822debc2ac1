"""Budgets for servers: limits, counters, and costs by the user's own prices."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from qbench.errors import BudgetError, OptionError
from qbench.options import option
from qbench.toml_files import read_toml


@dataclass(frozen=True)
class Price:
    """Price of a model for a million input tokens and a million output tokens, in any currency."""

    input: float = option(help="Price of a million tokens of input.", low=0, high=1e9)
    output: float = option(0.0, help="Price of a million tokens of output.", low=0, high=1e9)

    def of(self, input_tokens: int, output_tokens: int = 0) -> float:
        """The price of this number of tokens."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


Prices = Mapping[str, Price]
"""By the model's name."""


def read_prices(path: Path) -> dict[str, Price]:
    """A table of prices: TOML, a section for each model (`["text-embedding-3-small"]`) with `input` and `output`.

    Raises:
        InputError: the file is missing, or is no such table.
    """
    return read_toml(path, "prices", dict[str, Price])


@dataclass(frozen=True)
class Limit:
    """The most that may be spent; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None


def parse_limit(text: str) -> Limit:
    """Read a budget: "100" or "100 calls", "2e6 tokens", "1.50 money".

    Raises:
        OptionError: the text has another form.

    >>> parse_limit("2e6 tokens")
    Limit(calls=None, tokens=2000000, money=None)
    """
    number, _, unit = text.strip().partition(" ")
    try:
        amount = float(number)
    except ValueError:
        amount = -1.0
    unit = unit.strip() or "calls"
    if not 0 <= amount < float("inf") or unit not in ("calls", "tokens", "money"):
        remedy = 'Write for example "100 calls", "2e6 tokens" or, with --prices, "1.50 money"'
        raise OptionError("not a budget", value=text, remedy=remedy)
    if unit == "money":
        return Limit(money=amount)
    if not amount.is_integer():
        remedy = f'Write a whole number, or "{number} money" if money is meant, with --prices'
        raise OptionError(f"a budget of {unit} is a whole number", value=text, remedy=remedy)
    return Limit(calls=int(amount)) if unit == "calls" else Limit(tokens=int(amount))


@dataclass
class Budget:
    """Counters of calls and tokens that refuse a call beyond the limit; safe to share between threads.

    A call counts from when it is sent; a call that the server refuses is not charged, and is subtracted again. Tokens
    are estimates until the server reports their number.

    Attributes:
        limit: the most that may be spent.
        prices: by model; required if money is limited.
        calls, input_tokens, output_tokens: spent so far.
        money: spent so far, by the prices; models without a price count 0.
    """

    limit: Limit = Limit()
    prices: Prices = field(default_factory=dict)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.input_tokens + self.output_tokens

    def reserve(self, model: str, input_tokens: int, output_tokens: int = 0) -> None:
        """Count a call that is about to be sent.

        Raises:
            BudgetError: it would exceed the limit, and is not counted.
            OptionError: money is limited, and the model has no price.
        """
        if self.limit.money is not None and model not in self.prices:
            raise OptionError("money is limited, and this model has no price", value=model, remedy="Add it to --prices")
        price = self._price(model).of(input_tokens, output_tokens)
        with self._lock:
            limit, tokens = self.limit, self.tokens + input_tokens + output_tokens
            if limit.calls is not None and self.calls + 1 > limit.calls:
                raise BudgetError(f"the budget of {limit.calls:,} calls is spent ({self})")
            if limit.tokens is not None and tokens > limit.tokens:
                raise BudgetError(f"the budget of {limit.tokens:,} tokens does not suffice for another call ({self})")
            if limit.money is not None and self.money + price > limit.money:
                raise BudgetError(f"the budget of {limit.money:g} does not suffice for another call ({self})")
            self._add(1, input_tokens, output_tokens, price)

    def settle(self, model: str, estimated: tuple[int, int], used: tuple[int, int]) -> None:
        """Replace the reserved estimate of a call by its real (input, output) tokens."""
        price = self._price(model)
        with self._lock:
            self._add(0, used[0] - estimated[0], used[1] - estimated[1], price.of(*used) - price.of(*estimated))

    def release(self, model: str, input_tokens: int, output_tokens: int = 0) -> None:
        """Undo `reserve` for a call that the server refused."""
        with self._lock:
            self._add(-1, -input_tokens, -output_tokens, -self._price(model).of(input_tokens, output_tokens))

    def _price(self, model: str) -> Price:
        return self.prices.get(model, Price(0.0))

    def _add(self, calls: int, input_tokens: int, output_tokens: int, money: float) -> None:
        self.calls += calls
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self.money += money

    def __str__(self) -> str:
        return spent(self.calls, self.tokens, self.money if self.prices else None)


def spent(calls: int, tokens: int, money: float | None = None) -> str:
    """Calls, tokens and money in words."""
    text = f"{calls:,} {'call' if calls == 1 else 'calls'}, {tokens:,} tokens"
    return text if money is None else f"{text}, {money:.4g} by your prices"
