"""Options declared once: what is read off a class, and what its limits refuse."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import Literal

import pytest

from qbench.errors import OptionError
from qbench.options import check, declared, option


@dataclass(frozen=True)
class Baking:
    flour: float = option(help="grams of it", low=0, high=5000)
    oven: Literal["gas", "electric"] = option("gas", help="what heats")
    tins: tuple[int, ...] = option((), help="sizes of the tins", low=1)
    fruit: Literal["plum"] | None = option(None, help="what goes on it", metavar="NAME")
    sifted: bool = option(False, help="sift it first")


def test_a_class_says_what_its_options_are():
    by_name = {one.name: one for one in declared(Baking)}
    assert list(by_name) == ["flour", "oven", "tins", "fruit", "sifted"]
    assert by_name["flour"].default is MISSING
    assert by_name["oven"].choices == ("gas", "electric")
    assert by_name["fruit"].choices == ("plum",)
    assert by_name["fruit"].extra == {"metavar": "NAME"}
    assert by_name["tins"].type == tuple[int, ...]
    assert by_name["flour"].help == "grams of it"


def test_what_is_allowed_passes():
    check(Baking(500, "electric", (1, 26), "plum", True))
    check(Baking(0))


@pytest.mark.parametrize(
    ("baking", "message"),
    [
        (Baking(-1), "flour lies between 0 and 5000 .found -1"),
        (Baking(float("nan")), "flour"),
        (Baking(1, "wood"), "oven is one of gas, electric"),
        (Baking(1, tins=(4, 0)), "tins is at least 1 .found 0"),
        (Baking(1, fruit="pear"), "fruit is one of plum"),
    ],
)
def test_what_is_not_is_named(baking, message):
    with pytest.raises(OptionError, match=message):
        check(baking)
