"""What a board says in one plain sentence: who beats whom by its tests, and which differences may be chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from qbench.leaderboard.standings import BOTH, Row, Standings

MOST = 5
"""Names in one list; of more, the others are counted."""


def verdict(leaderboard: Standings) -> str:
    """Who beats whom on the primary measure, by the tests of the board.

    Rows whose conditions were given and rows that parsed them are compared with their own kind only: one sentence says
    what holds for both, or each has its own.
    """
    ran = [row for row in leaderboard.rows if row.cells]
    settings = [setting for setting in ("given", "parsed") if any(row.entry.conditions == setting for row in ran)]
    if set(settings) < BOTH:
        said = _said(leaderboard, ran)
    else:
        given, parsed = (
            _said(leaderboard, [row for row in ran if row.entry.conditions not in BOTH - {setting}])
            for setting in settings
        )
        said = (
            f"{given}, with conditions given and parsed alike"
            if given == parsed
            else f"With conditions given, {given}. With conditions parsed, {parsed}"
        )
    # A name keeps its first letter.
    said = f"The{said[3:]}" if said.startswith("the difference") else said
    return f"{said}.{_without_run(leaderboard)}"


def listed(names: Sequence[str], most: int = MOST) -> str:
    """Names as a phrase.

    >>> listed(["A"]), listed(["A", "B", "C"]), listed(list("ABCDEFG"))
    ('A', 'A, B and C', 'A, B, C, D and 3 others')
    """
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} others"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _said(leaderboard: Standings, rows: Sequence[Row]) -> str:
    """The clause on rows that are all compared with each other, by falling mean."""
    names = [row.entry.name for row in rows]
    if len(rows) < 2:
        return f"{names[0]} has nothing to be compared with" if names else "No row has a run"
    places = {leaderboard.rows.index(row): place for place, row in enumerate(rows)}
    beats = [{places[i] for i in row.cells[leaderboard.primary].beats if i in places} for row in rows]
    if not any(beats):
        return _chance([names])
    levels = _levels(beats)
    if levels is not None:
        named = [[names[place] for place in level] for level in levels]
        # "A beats B, which beats C": each level but the last is the subject of a verb.
        phrases = [f"{listed(named[0])} {_verb(named[0])} {listed(named[1])}"]
        phrases += [f"which {_verb(level)} {listed(below)}" for level, below in pairwise(named[1:])]
        chain = ", ".join(phrases)
        groups = [level for level in named if len(level) > 1]
        return f"{chain}; {_chance(groups)}" if groups else chain
    others = [names[place] for place in range(1, len(names)) if place not in beats[0]]
    beaten = [names[place] for place in sorted(beats[0])]
    if not others:
        return f"{names[0]} beats {listed(beaten)}; some differences among these may be chance"
    ahead = f" and beats {listed(beaten)}" if beaten else ""
    differences = "differences" if len(others) > 1 else "difference"
    return f"{names[0]} has the highest mean{ahead}; its {differences} from {listed(others)} may be chance"


def _levels(beats: Sequence[set[int]]) -> list[list[int]] | None:
    """Rows in levels, each of which beats every row of the levels below and none of its own; None without such."""
    levels: list[list[int]] = []
    start, count = 0, len(beats)
    while start < count:
        below = beats[start]
        end = count - len(below)
        if end <= start or any(beats[place] != set(range(end, count)) for place in range(start, end)):
            return None
        levels.append(list(range(start, end)))
        start = end
    return levels


def _chance(groups: Sequence[Sequence[str]]) -> str:
    """That the differences within groups may be chance.

    >>> _chance([["A", "B"], ["C", "D", "E"]])
    'the differences between A and B, and among C, D and E may be chance'
    """
    phrases = [f"{'between' if len(group) == 2 else 'among'} {listed(group)}" for group in groups]
    single = len(groups) == 1 and len(groups[0]) == 2
    return f"the difference{'' if single else 's'} {', and '.join(phrases)} may be chance"


def _verb(names: Sequence[str]) -> str:
    return "beats" if len(names) == 1 else "beat"


def _without_run(leaderboard: Standings) -> str:
    lost = [row.entry.label for row in leaderboard.problems]
    return f" No run: {listed(lost)}." if lost else ""
