"""Output of all verbs: one console, notes, progress bars, forecasts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from qbench.errors import visible
from qbench.progress import shown

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    from qbench.leaderboard.standings import Standings
    from qbench.llm.client import Access, Estimate
    from qbench.quantities.types import Span
    from qbench.retrieval.api import ExpectedCalls


progress = shown
"""A progress bar while the block runs, as Python's own functions show it."""

ANSWERS_REMEDY = (
    "Read it: a base model needs its chat or instruct form, one that thinks first a higher max_tokens, another form of "
    "answer a prompt of your own"
)


def out() -> Console:
    """Standard output: results."""
    from rich.console import Console

    return _console()(highlight=False, emoji=False, soft_wrap=not Console().is_terminal)


def err() -> Console:
    """Standard error: progress, notes, errors."""
    return _console()(stderr=True, highlight=False, emoji=False)


@cache
def _console() -> type[Console]:
    """Rich's console, which shows what terminals would obey in texts, names and answers of servers."""
    from rich.console import Console
    from rich.segment import Segment

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            # The reader (head, less) has what it wants; rich would call that a failure.
            raise BrokenPipeError

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            # Here, below all texts and tables; escapes of styles are added later.
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(visible(segment.text), segment.style)

    return Pipe


def print_json(value: object, *, indent: int | None = None) -> None:
    """A value as JSON on standard output, on one line unless there is an indent."""
    import typer

    typer.echo(visible(json.dumps(value, indent=indent, ensure_ascii=False)))


def note(message: str) -> None:
    """A line on standard error; brackets in it are text, not markup."""
    err().print(message, markup=False, soft_wrap=True)


def note_same(path: Path, how: str = "made from the same input") -> None:
    """Say that an artefact was there already."""
    note(f"{path}: already {how}, with the same options")


def note_asked(access: Access) -> None:
    """Say what servers were asked and where their answers are kept, where any was."""
    if access.budget.calls:
        note(f"Asked of servers: {access.budget}; their answers are kept in {access.recording}")


def show_forecast(lines: Sequence[ExpectedCalls], total: Estimate) -> None:
    """Print the expected calls to servers, one line per model."""
    from qbench.llm.budget import spent

    console = out()
    for line in lines:
        estimate = line.estimate
        what = f"{line.name}, {line.model}, {' and '.join(line.roles)}: {estimate.inputs:,} {line.inputs}"
        cost = spent(estimate.calls, estimate.input_tokens + estimate.output_tokens, estimate.money)
        most = " at most" if line.at_most else ""
        up_to = "up to " if line.at_most and estimate.recorded else ""
        console.print(f"{what}{most}, {up_to}{estimate.recorded:,} recorded; about {cost}{most}", markup=False)
    if not lines:
        console.print("Nothing would be asked of a server.")
    elif len(lines) > 1:
        tokens = total.input_tokens + total.output_tokens
        most = " at most" * any(line.at_most for line in lines)
        console.print(f"In all about {spent(total.calls, tokens, total.money)}{most}", markup=False)


def warn_of_answers(board: Standings) -> None:
    """Say which rows' language models gave few usable answers, with one that was not, and what helps."""
    from qbench.leaderboard.standings import answer_faults

    for row in board.rows:
        entry = row.entry
        if entry.cost is not None and (faults := answer_faults(entry.cost)):
            note(f"Warning: {entry.label}: {faults}; one of them: {entry.unusable_answer}. {ANSWERS_REMEDY}")


def count_lines(counts: Mapping[str, Any], indent: str = "") -> list[str]:
    """Nested counts, a line each; a heading only where something stands below it."""
    from qbench.benchmark.card import printable

    lines: list[str] = []
    for name, value in counts.items():
        label = printable(str(name)).replace("_", " ")
        if isinstance(value, Mapping):
            lines += [f"{indent}{label}", *count_lines(value, indent + "  ")] if value else []
        elif value is not None:
            shown = f"{value:,}" if isinstance(value, int) else printable(str(value))
            lines.append(f"{indent}{label}: {shown}")
    return lines


def aligned(header: Sequence[str], rows: Sequence[Sequence[str | int]], words: int | None = None) -> list[str]:
    """The lines of a table, its columns as wide as their widest cell.

    Args:
        header: names of the columns.
        rows: one or more.
        words: how many columns, from the first, stand to the left; by default those of words, and numbers to the right.
    """
    cells = [list(header), *([f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = [isinstance(cell, str) if words is None else n < words for n, cell in enumerate(rows[0])]
    return [
        "  ".join(
            cell.ljust(width) if word else cell.rjust(width)
            for cell, width, word in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in cells
    ]


def marked(text: str, marks: Iterable[tuple[Span, str, str, str]]) -> Text:
    """A text with some of its characters marked: by style on a terminal, else by what stands around them.

    Args:
        text: printed on one line.
        marks: characters, style, and what opens and closes them in plain text; of those that overlap the first counts.
    """
    from rich.text import Text

    from qbench.index.show import printable

    plain, made, at = not out().is_terminal, Text(), 0
    for (start, end), style, opening, closing in sorted(marks):
        if start < at:
            continue
        piece = printable(text[start:end])
        made.append(printable(text[at:start])).append(f"{opening}{piece}{closing}" if plain else piece, style=style)
        at = end
    return made.append(printable(text[at:]))
