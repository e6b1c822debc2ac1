"""The leaderboard as files: JSON and Parquet for programs, Markdown and LaTeX for people."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from qbench.leaderboard.documents import latex, markdown
from qbench.leaderboard.standings import Row, Standings
from qbench.leaderboard.verdict import verdict
from qbench.retrieval.types import ASKED
from qbench.store import atomic_file, write_json, write_text


def table_schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """Columns of `as_frame`; figures are null for a row without a run, costs if not measured."""
    text = dict.fromkeys(("label", "system", "conditions", "measure"), pl.String)
    figures = dict.fromkeys(("mean", "ci_low", "ci_high"), pl.Float64)
    costs = {"index_seconds": pl.Float64, "index_bytes": pl.Int64, "ms_median": pl.Float64, "ms_p95": pl.Float64}
    costs |= {"peak_bytes": pl.Int64, "extraction_seconds": pl.Float64}
    costs |= {**dict.fromkeys(ASKED, pl.Int64), "money": pl.Float64}
    places = dict.fromkeys(("number", "rank_best", "rank_worst"), pl.Int64)
    groups: dict[str, pl.DataType | type[pl.DataType]] = {"letters": pl.String, "beats": pl.List(pl.String)}
    return {**places, **text, **figures, **groups, **costs, "trained_on": pl.Int64, "problem": pl.String}


def as_frame(leaderboard: Standings) -> pl.DataFrame:
    """One row per system and measure, in the order of the table (`table_schema`); ranks are those of the measure."""
    rows = []
    for row in leaderboard.rows:
        costs = {} if row.entry.cost is None else asdict(row.entry.cost)
        for measure in leaderboard.measures:
            rows.append(
                {
                    "number": row.number,
                    "label": row.entry.label,
                    "system": row.entry.system,
                    "conditions": row.entry.conditions,
                    "measure": measure,
                    **_figures(leaderboard, row, measure),
                    **costs,
                    "trained_on": row.entry.trained_on,
                    "problem": row.entry.problem,
                }
            )
    return pl.DataFrame(rows, schema=table_schema())


def as_dict(leaderboard: Standings) -> dict[str, Any]:
    """The leaderboard without per-query scores as JSON data; undefined figures are null."""
    return {
        "name": leaderboard.name,
        "primary": leaderboard.primary,
        "measures": list(leaderboard.measures),
        **leaderboard.about,
        "notes": list(leaderboard.notes),
        "words": list(leaderboard.words),
        "verdict": verdict(leaderboard),
        "rows": [
            {
                "number": row.number,
                "words": list(row.entry.words),
                "label": row.entry.label,
                "system": row.entry.system,
                "conditions": row.entry.conditions,
                "measures": {measure: _figures(leaderboard, row, measure) for measure in leaderboard.measures},
                "cost": None if row.entry.cost is None else asdict(row.entry.cost),
                "trained_on": row.entry.trained_on,
                "run": row.entry.digest,
                "meta": dict(row.entry.meta),
                "problem": row.entry.problem,
            }
            for row in leaderboard.rows
        ],
        "pairs": leaderboard.pairs.to_dicts(),
        "wins": {"measure": leaderboard.win_measure, "shares": leaderboard.wins.to_dicts()},
        "buckets": leaderboard.buckets.to_dicts(),
    }


def write(leaderboard: Standings, folder: Path) -> list[Path]:
    """Write leaderboard.md, .tex, .json and .parquet, scores, significance and buckets; each file atomically.

    leaderboard.json is written last, so that it marks a complete set of files.
    """
    frames = {
        "leaderboard.parquet": as_frame(leaderboard),
        "scores.parquet": leaderboard.scores,
        "significance.parquet": leaderboard.pairs,
        "buckets.parquet": leaderboard.buckets,
    }
    for name, frame in frames.items():
        with atomic_file(folder / name) as temporary:
            frame.write_parquet(temporary)
    write_text(folder / "leaderboard.md", markdown(leaderboard))
    write_text(folder / "leaderboard.tex", latex(leaderboard))
    write_json(folder / "leaderboard.json", as_dict(leaderboard))
    return [folder / name for name in ("leaderboard.md", "leaderboard.tex", "leaderboard.json", *frames)]


def _figures(leaderboard: Standings, row: Row, measure: str) -> dict[str, Any]:
    cell = row.cells.get(measure)
    if cell is None:
        names = ("mean", "ci_low", "ci_high", "rank_best", "rank_worst", "letters")
        return {**dict.fromkeys(names), "beats": []}
    best, worst = cell.ranks
    return {
        "mean": cell.mean,
        "ci_low": cell.low,
        "ci_high": cell.high,
        "rank_best": best,
        "rank_worst": worst,
        "letters": cell.letters,
        "beats": [leaderboard.rows[i].entry.label for i in cell.beats],
    }
