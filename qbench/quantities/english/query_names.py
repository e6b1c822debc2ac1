"""Numbers of a query that name something: races and sprints, grades of oil, formats of pictures, sides of tyres."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.tokens import Token, glued
from qbench.quantities.types import Quantity

SPEEDS = frozenset((60.0, 62.0, 100.0, 200.0))
"""Speeds that cars are timed up to: "0-60 in under 4 s"."""
PICTURES = frozenset(
    "tv television monitor screen display inch hz camera projector webcam video laptop oled qled uhd hdr".split()
)
"""Words beside which "4k" is a format of pictures."""
TRACK = frozenset((50, 60, 100, 110, 200, 400, 800, 1500, 3000, 5000, 10000))
RACES = frozenset(
    "sprint sprints sprinter sprinters hurdles hurdler hurdlers dash freestyle butterfly backstroke breaststroke "
    "medley relay relays final finals steeplechase runner runners race races record".split()
)
"""What is named by its length in metres: "the 100m hurdles"."""

GOLD = frozenset("gold bronze platinum titanium silver white".split())
"""Grades of power supplies: "80+ gold", "80 plus bronze"."""
RUNNING = frozenset(
    "run runs runner runners running race races time times training plan pb parkrun marathon walk treadmill".split()
)
"""Words beside which "5k" is a race."""

HOTTEST = 5000.0
"""Nobody asks for so many degrees."""
BRANDS = frozenset("xiaomi oneplus redmi mi poco iphone ipad pixel realme honor nokia moto motorola galaxy".split())
"""What calls its models "13t", "5c", "6s"."""


def is_race(tokens: Sequence[Token], first: int, last: int, quantity: Quantity) -> bool:
    """Whether a length names a race: "100m sprinters", "under 10 seconds in the 100 m"."""
    if quantity.value in (5e3, 1e4) and quantity.comparator == "=" and not quantity.unit and tokens[last - 1].low == "k":
        return any(t.low in RUNNING for t in tokens[max(0, first - 2) : last + 2]) or (
            first == 0 and last < len(tokens) and tokens[last].low in ("under", "sub", "in", "below")
        )
    if quantity.unit != "metre" or quantity.value not in TRACK:
        return False
    if last < len(tokens):
        return tokens[last].low in RACES
    return [t.low for t in tokens[max(0, first - 2) : first]] == ["in", "the"]


def is_sprint(tokens: Sequence[Token], number: int, quantity: Quantity) -> bool:
    """Whether a range is what cars are timed over, "0-60 mph in 4 s", "0-100 under 5 seconds"."""
    if quantity.value or quantity.high not in SPEEDS or number + 3 >= len(tokens) or tokens[number + 1].text != "-":
        return False
    return tokens[number + 3].low in ("in", "under", "mph", "km", "kmh", "kph", "time", "less", "sprint", "below", "<")


def is_oil(tokens: Sequence[Token], number: int, quantity: Quantity) -> bool:
    """Whether a range is a grade of motor oil: "5w-30"."""
    k = number + 1
    if quantity.unit != "watt" or quantity.comparator != "between" or k + 2 >= len(tokens):
        return False
    return tokens[k].low == "w" and tokens[k + 1].text == "-" and glued(tokens[k], tokens[k + 1])


def is_format(tokens: Sequence[Token], number: int, quantity: Quantity) -> bool:
    """Whether a number is of a format: "4k" beside a word of pictures, the sides of a tyre."""
    if quantity.unit or number + 1 >= len(tokens):
        return False
    if quantity.value == 80 and any(t.low in GOLD for t in tokens[number + 2 : number + 3]):
        return tokens[number + 1].low in ("+", "plus")
    if number + 3 < len(tokens) and tokens[number + 1].text == "/" and tokens[number + 2].kind == "number":
        return tokens[number + 3].low[:1] == "r" and glued(tokens[number], tokens[number + 1])  # "205/55 r16 tyres"
    if number > 1 and tokens[number - 1].text == "/" and tokens[number - 2].kind == "number":
        return tokens[number + 1].low[:1] == "r"  # "tyres 205/55 r16"
    if quantity.value not in (2e3, 4e3, 5e3, 8e3):
        return False
    return tokens[number + 1].low == "k" and any(t.low.removesuffix("s") in PICTURES for t in tokens)


def is_model(tokens: Sequence[Token], number: int, quantity: Quantity) -> bool:
    """Whether a number and the letter glued to it are a model: "xiaomi 13t", "i5 12400f"."""
    if quantity.comparator != "=" or number + 1 >= len(tokens) or not glued(tokens[number], tokens[number + 1]):
        return False
    letter = tokens[number + 1].text
    if letter == "f":
        return quantity.value >= HOTTEST
    return letter in ("t", "c", "s") and number > 0 and tokens[number - 1].low in BRANDS
