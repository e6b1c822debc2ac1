"""The board that lies in a folder: the rows of earlier calls, which stay on it when others are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.errors import InputError, OptionError
from qbench.leaderboard.views import Group
from qbench.llm.budget import Prices
from qbench.retrieval.run_files import read_run_folder
from qbench.retrieval.types import RunResult
from qbench.store import is_inner, read_json

BOARD = "leaderboard.json"
"""The file of a leaderboard that says which rows it has."""

RUNS = "runs"
"""The folder of runs, each in a folder that is named after its key."""

_REMEDY = "Give the same, name another folder with -o, or begin a new board with --only"


class OtherBenchmarkError(OptionError):
    """The board in a folder is of another benchmark than the one whose rows would be added."""


@dataclass(frozen=True)
class Ran:
    """A row with a run.

    Attributes:
        label: of the row.
        system: what ran, in the grammar.
        result: its run.
        trained_on: number of samples that its checkpoint was trained on, if anybody knows.
    """

    label: str
    system: str
    result: RunResult
    trained_on: int | None = None


@dataclass(frozen=True)
class Board:
    """What `leaderboard.json` of an earlier call says.

    Attributes:
        folder: where it lies.
        about: what it says of its benchmark and options.
        rows: what it says of each row.
    """

    folder: Path
    about: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]

    def check(self, about: Mapping[str, Any]) -> None:
        """Refuse to add rows that the others cannot be compared with.

        Args:
            about: what the board would say of its benchmark and options now.

        Raises:
            OtherBenchmarkError: the benchmark differs.
            OptionError: an option that changes runs does.
        """
        file = self.folder / BOARD
        if (was := self._part("benchmark").get("digest")) != about["benchmark"]["digest"]:
            value = f"{self._part('benchmark').get('name')} ({was}), and now {about['benchmark']['name']}"
            value = f"{value} ({about['benchmark']['digest']})"
            raise OtherBenchmarkError(
                "the board in this folder is of another benchmark", file=file, value=value, remedy=_REMEDY
            )
        for part, name in (("benchmark", "split"), ("settings", "depth"), ("settings", "document_quantities")):
            was, now = self._part(part).get(name), about[part][name]
            if was != now:
                message = f"the board in this folder was made with another {name.replace('_', ' ')}"
                raise OptionError(message, file=file, value=f"{was}, and now {now}", remedy=_REMEDY)

    def kept(self, group: Group, runs: Path, now: Sequence[Ran], prices: Prices) -> tuple[list[Ran], list[str]]:
        """The rows that stay, and notes on those that do not.

        A row that failed does not stay, and one that is made again has the figures of now.

        Args:
            group: of the rows: those of a test set's views are apart.
            runs: folder of the runs.
            now: rows of this call.
            prices: of language models.

        Raises:
            InputError: a run cannot be read.
        """
        labels = {ran.label: ran.result.digest for ran in now}
        kept, notes = [], []
        for row in self.rows:
            label, run = str(row["label"]), str(row["run"])
            if not run or not str(row["system"]).startswith(group.prefix) or run in labels.values():
                continue
            if label in labels:
                notes.append(f"{label}: takes the place of an earlier row of that name, which was another run.")
                continue
            if not is_inner(run) or not (runs / run).is_dir():
                notes.append(f"{label}: its run is no longer there, so that it is left out; name the system again.")
                continue
            result = read_run_folder(runs / run, str(row["system"]), row["conditions"], prices)
            kept.append(Ran(label, str(row["system"]), result, row.get("trained_on")))
        return kept, notes

    def commands(self, command: str | None) -> str | None:
        """The commands that make the board, as one line for a shell."""
        lines = [line for line in str(self.about.get("command") or "").split(" && ") if line]
        # In the order in which they ran first: without systems, a call adds to a new board only.
        return " && ".join([*lines, *([command] if command and command not in lines else [])]) or None

    @property
    def neural(self) -> bool:
        """Whether the figures of its rows depend on torch and its kin."""
        return "torch" in self._part("versions")

    def _part(self, name: str) -> Mapping[str, Any]:
        part = self.about.get(name)
        return part if isinstance(part, dict) else {}


def read_board(folder: Path) -> Board | None:
    """The board in a folder; None where there is none.

    Raises:
        InputError: its file is damaged, or not one of a leaderboard.
    """
    file = folder / BOARD
    if not file.is_file():
        return None
    data = read_json(file)
    rows = data.get("rows") if isinstance(data, dict) else None
    needed = ("label", "system", "run", "conditions")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(needed) <= set(row) for row in rows):
        raise InputError("not the file of a leaderboard", file=file, remedy="Begin a new board with --only")
    return Board(folder, data, rows)
