"""Several leaderboards side by side: one row a system, one column a benchmark, and a mean rank.

In: folders with leaderboard.json. Out: a table, and one HTML page in the style of a leaderboard's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.leaderboard.documents import clipped
from qbench.leaderboard.page import FILES, LABEL, check_page
from qbench.pages import static_page
from qbench.store import parse_json, read_text, write_text

BOARD = "leaderboard.json"


@dataclass(frozen=True)
class Place:
    """A system on one board: its mean with its interval, and the ranks that the board's tests leave open."""

    mean: float
    low: float
    high: float
    best: int
    worst: int

    @property
    def rank(self) -> float:
        """The middle of the ranks."""
        return (self.best + self.worst) / 2


@dataclass(frozen=True)
class Overview:
    """Systems on several boards.

    Attributes:
        measure: of all figures.
        boards: names of the boards, each once.
        rows: label of each system -> its place on each board, None where it has no run there; by mean rank, systems
            without one last.
        links: relative address of each board's page, "" where there is none.
    """

    measure: str
    boards: tuple[str, ...]
    rows: dict[str, tuple[Place | None, ...]]
    links: tuple[str, ...] = ()

    def mean_rank(self, label: str) -> float | None:
        """Mean of the middles of a system's ranks; None where it has no run on some board: it would not be fair."""
        places = self.rows[label]
        ranks = [place.rank for place in places if place is not None]
        return sum(ranks) / len(ranks) if len(ranks) == len(places) else None

    def records(self) -> list[dict[str, Any]]:
        """One record a system: its mean rank, and its mean on each board."""
        return [
            {
                "system": label,
                "mean_rank": self.mean_rank(label),
                **{board: place and place.mean for board, place in zip(self.boards, places, strict=True)},
            }
            for label, places in self.rows.items()
        ]


def read_overview(
    folders: Sequence[str | Path], measure: str | None = None, page: str | Path | None = None
) -> Overview:
    """Bring the leaderboards of some folders together.

    Args:
        folders: what `qbench leaderboard` or `qbench evaluate` wrote; two or more.
        measure: which of their measures; by default the primary one of the first.
        page: where a page will be; the boards' own pages are found beside their files, and linked from there.

    Raises:
        OptionError: fewer than two folders.
        InputError: a folder has no leaderboard, or it cannot be read.
        UnknownNameError: a board does not have the measure.
    """
    if len(folders) < 2:
        raise OptionError("boards are compared by twos and more", value=len(folders), remedy="Name another folder")
    files = [Path(folder) / BOARD for folder in folders]
    boards = [_read(file) for file in files]
    measure = measure or str(boards[0]["primary"])
    for file, board in zip(files, boards, strict=True):
        if measure not in board["measures"]:
            known = ", ".join(map(str, board["measures"]))
            raise UnknownNameError(
                "the board does not have this measure", value=measure, file=file, remedy=f"It has {known}"
            )
    places = [_places(file, board, measure) for file, board in zip(files, boards, strict=True)]
    labels = dict.fromkeys(label for own in places for label in own)
    rows = {label: tuple(own.get(label) for own in places) for label in labels}
    found = Overview(measure, _names(boards), rows, tuple(_link(file.parent, page) for file in files))

    def order(label: str) -> tuple[bool, float, str]:
        rank = found.mean_rank(label)
        return rank is None, rank or 0.0, label

    return Overview(measure, found.boards, {label: rows[label] for label in sorted(rows, key=order)}, found.links)


def write_overview(overview: Overview, path: str | Path) -> Path:
    """Write the page atomically; gives its path.

    Raises:
        OptionError: as in `qbench.leaderboard.page.check_page`.
    """
    file = check_page(path)
    style = (FILES / "page.css").read_text(encoding="utf-8")
    script = (FILES / "overview" / "overview.js").read_text(encoding="utf-8")
    data = {
        "measure": overview.measure,
        "boards": [clipped(name, LABEL) for name in overview.boards],
        "links": list(overview.links),
        "rows": [
            {
                "label": clipped(label, LABEL),
                "rank": overview.mean_rank(label),
                "places": [p and [p.mean, p.low, p.high, p.best, p.worst] for p in places],
            }
            for label, places in overview.rows.items()
        ],
    }
    write_text(file, static_page(f"{len(overview.boards)} leaderboards", style, f'"use strict";\n{script}', data))
    return file


def _read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise InputError(
            "no leaderboard here", file=file.parent, remedy="Name a folder that `qbench leaderboard` wrote"
        )
    board = parse_json(read_text(file, "leaderboard"), file, what="leaderboard")
    wanted = {"name": str, "primary": str, "measures": list, "rows": list}
    if not isinstance(board, dict) or not all(isinstance(board.get(name), kind) for name, kind in wanted.items()):
        raise InputError("not a leaderboard that qbench wrote", file=file)
    return board


def _places(file: Path, board: dict[str, Any], measure: str) -> dict[str, Place]:
    places = {}
    try:
        for row in board["rows"]:
            figures = row["measures"][measure]
            names = ("mean", "ci_low", "ci_high", "rank_best", "rank_worst")
            if figures["mean"] is not None:
                places[str(row["label"])] = Place(*(figures[name] + 0 for name in names))
    except (KeyError, TypeError) as fault:
        raise InputError("not a leaderboard that qbench wrote", file=file) from fault
    return places


def _names(boards: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The boards' names; one that comes again is numbered."""
    names: list[str] = []
    for board in boards:
        name, number = str(board["name"]), 2
        while name in names:
            name, number = f"{board['name']} ({number})", number + 1
        names.append(name)
    return tuple(names)


def _link(folder: Path, page: str | Path | None) -> str:
    """The relative address of a board's own page; "" where it has none, or there is nothing to link from."""
    if page is None:
        return ""
    from os.path import relpath
    from urllib.parse import quote

    own = next((file for file in sorted(folder.glob("*.html")) if file.absolute() != Path(page).absolute()), None)
    return "" if own is None else quote(Path(relpath(own, Path(page).absolute().parent)).as_posix())
