"""What may be one thing under other words is undecided: neither relevant nor a negative."""

import pytest

from qbench.generation.gists import alike, gists


@pytest.mark.parametrize(
    ("asked", "stated"),
    [
        ("mean age", "average age"),
        ("average price", "cost"),
        ("unrecognized stock based compensation expense", "total unrecognized compensation cost"),
        ("final div", "final dividend"),
        ("gross fee", "total fee"),
        ("brazilian loan", "outstanding brazil loan"),
        ("allowance expected credit loss", "total allowance credit loss"),
        ("overall response rate", "objective response rate"),
        ("unemployment rate", "unemployment"),
        ("pretax charge", "pretax writedown"),
        ("recognized rent", "rent"),
        ("regular rent", "ground rent"),
    ],
)
def test_alike(asked, stated):
    words = gists(tuple(asked.split())), gists(tuple(stated.split()))
    assert alike([words[0]], words[1])
    assert len(words[0]) > 2 or alike([words[1]], words[0])


@pytest.mark.parametrize(
    ("asked", "stated"),
    [
        ("net income", "interest expense"),
        ("gross profit", "net loss"),
        ("credit loss", "credit card"),
        ("body weight", "birth weight"),
        ("net interest income", "net gain"),
    ],
)
def test_other_things_are_not(asked, stated):
    assert not alike([gists(tuple(asked.split()))], gists(tuple(stated.split())))
