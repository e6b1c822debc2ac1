"""The picture of a card: how queries, pairs or mentions are distributed."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qbench.extras import needed

MOST_BARS = 10
"""Bars per panel; the rest is one more bar, "others"."""
_LABEL = 22
"""Most characters of a bar's name."""

# The picture has a ground of its own, so that it reads the same on a light and on a dark page.
_GROUND, _INK, _FAINT, _BAR, _REST = "#f6f8fa", "#1f2328", "#59636e", "#2f6f9f", "#9aa7b2"


@dataclass(frozen=True)
class Panel:
    """One chart of horizontal bars.

    Attributes:
        title: title of the chart.
        counts: name -> number, in the order of the bars.
        ordered: whether to keep that order (sizes, grades); else the largest come first.
    """

    title: str
    counts: Mapping[str, int]
    ordered: bool = False

    def bars(self) -> list[tuple[str, int]]:
        """Up to `MOST_BARS` bars, and one for the others."""
        rows = [(name, number) for name, number in self.counts.items() if number]
        if not self.ordered:
            rows.sort(key=lambda row: (-row[1], row[0]))
        if len(rows) <= MOST_BARS + 1:
            return rows
        largest = set(sorted(range(len(rows)), key=lambda i: (-rows[i][1], i))[:MOST_BARS])
        rest = sum(number for i, (_, number) in enumerate(rows) if i not in largest)
        shown = [row for i, row in enumerate(rows) if i in largest]
        return [*shown, (f"{len(rows) - MOST_BARS} others", rest)]


def draw(panels: Sequence[Panel], title: str) -> bytes:
    """The panels as a PNG, two beside each other; the same panels give the same bytes.

    Args:
        panels: the charts; those without bars are left out.
        title: title of the picture.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    matplotlib = needed(
        "matplotlib", "publish", "the picture of the card", otherwise="or leave the picture out with --no-picture"
    )
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        # The user's own settings do not change what is published.
        matplotlib.rcdefaults()
        return _drawn(Figure, FigureCanvasAgg, [panel for panel in panels if panel.bars()], title)


def _drawn(new_figure: Any, canvas: Any, shown: Sequence[Panel], title: str) -> bytes:
    rows = math.ceil(len(shown) / 2)
    heights = [max((len(panel.bars()) for panel in shown[2 * row : 2 * row + 2]), default=1) for row in range(rows)]
    high = 0.55 + sum(0.62 + 0.235 * height for height in heights)
    figure = new_figure(figsize=(9.6, high), dpi=120, facecolor=_GROUND)
    canvas(figure)
    figure.text(
        0.02, 1 - 0.12 / high, _plain(title, 80), va="top", size=12.5, weight="bold", color=_INK, parse_math=False
    )
    top = high - 0.55
    for row, height in enumerate(heights):
        tall = 0.235 * height
        for column, panel in enumerate(shown[2 * row : 2 * row + 2]):
            size = 0.235 * len(panel.bars())
            box = (0.17 + 0.5 * column, (top - 0.34 - size) / high, 0.27, size / high)
            _bars(figure.add_axes(box), panel)
        top -= 0.62 + tall
    stream = io.BytesIO()
    # Without its name and version in the file, the bytes depend on what is drawn alone.
    figure.savefig(stream, format="png", facecolor=_GROUND, metadata={"Software": None})
    return stream.getvalue()


def _bars(axes: Any, panel: Panel) -> None:
    bars = panel.bars()
    rest = sum(map(bool, panel.counts.values())) > len(bars)
    rows = range(len(bars))
    colours = [_REST if rest and row == len(bars) - 1 else _BAR for row in rows]
    axes.barh(rows, [number for _, number in bars], height=0.68, color=colours)
    largest = max(number for _, number in bars)
    for row, (_, number) in enumerate(bars):
        axes.text(number + 0.02 * largest, row, f"{number:,}", va="center", size=8.5, color=_INK)
    axes.set_yticks(rows, [_plain(name, _LABEL) for name, _ in bars], size=8.5, color=_INK, parse_math=False)
    axes.set_xlim(0, 1.22 * largest)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.set_facecolor(_GROUND)
    axes.set_title(_plain(panel.title, 50), loc="left", size=9.5, color=_FAINT, x=-0.56, parse_math=False)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.spines["left"].set_color(_REST)


def _plain(text: str, width: int) -> str:
    """One line of up to `width` letters that the picture's font has."""
    from matplotlib import font_manager, ft2font

    letters = _letters(ft2font, font_manager)
    line = "".join(c if ord(c) in letters else "?" for c in " ".join(text.split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def _letters(ft2font: Any, font_manager: Any) -> frozenset[int]:
    path = font_manager.findfont(font_manager.FontProperties(family="DejaVu Sans"))
    return frozenset(ft2font.FT2Font(path).get_charmap())
