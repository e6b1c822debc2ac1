"""What may be spent on servers, what is spent, and what it costs by the user's own prices."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qbench.errors import BudgetError, OptionError
from qbench.options import option
from qbench.toml_files import read_toml

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Price:
    """What a model costs, in any currency, for a million tokens that it reads and that it writes."""

    input: float = option(help="Price of a million tokens of input.", low=0, high=1e9)
    output: float = option(0.0, help="Price of a million tokens of output.", low=0, high=1e9)

    def of(self, input_tokens: int, output_tokens: int = 0) -> float:
        """The price of so many tokens."""
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
    """What a user writes after `--budget`: "100" or "100 calls", "2e6 tokens", "1.50 money".

    Raises:
        OptionError: it is nothing of the kind.

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
        raise OptionError("this is no budget", value=text, remedy=remedy)
    if unit == "money":
        return Limit(money=amount)
    if not amount.is_integer():
        remedy = f'Write a whole number, or "{number} money" if money is meant, with --prices'
        raise OptionError(f"there is no part of a {unit[:-1]}", value=text, remedy=remedy)
    return Limit(calls=int(amount)) if unit == "calls" else Limit(tokens=int(amount))


@dataclass
class Budget:
    """Counts calls and tokens, and refuses a call that would exceed the limit. Shared by threads.

    A call counts from when it is sent; one that the server refuses is taken back, because nobody charges it. Tokens
    are estimated until the server says how many there were.

    Attributes:
        limit: the most that may be spent.
        prices: by model; needed where money is limited.
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
        """Read and written."""
        return self.input_tokens + self.output_tokens

    def reserve(self, model: str, input_tokens: int, output_tokens: int = 0) -> None:
        """Count a call that is about to be sent.

        Raises:
            BudgetError: it would exceed the limit; it is then not counted.
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
        """Put what a call really took, (input, output) tokens, in the place of the estimate that was reserved."""
        price = self._price(model)
        with self._lock:
            self._add(0, used[0] - estimated[0], used[1] - estimated[1], price.of(*used) - price.of(*estimated))

    def take_back(self, model: str, input_tokens: int, output_tokens: int = 0) -> None:
        """Undo `reserve`: the server did nothing."""
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
