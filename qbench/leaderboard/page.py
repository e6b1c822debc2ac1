"""The leaderboard as a self-contained HTML page: the data of its script, and the file.

The page has the figures of the other formats, the scores of all queries, and the retrieved documents of some queries.
If not all fit, the page states which are left out (`page_evidence`). Text from outside is embedded as data, and the
script displays it as text.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qbench.errors import OptionError
from qbench.evaluation.buckets import DIMENSIONS
from qbench.evaluation.significance import Scores
from qbench.evaluation.wins import win_counts
from qbench.leaderboard.documents import DIMENSION_TITLES, caption, clipped, win_caption
from qbench.leaderboard.page_evidence import BUDGET, NAME, QUERY, TEXT, document_block, query_block, samples
from qbench.leaderboard.standings import Row, Standings
from qbench.leaderboard.verdict import verdict
from qbench.pages import static_page
from qbench.store import write_text

FILES = Path(__file__).parent / "page_files"
SCRIPTS = (
    *("base", "charts", "table", "matrix", "buckets", "cost", "queries", "picture", "about"),
    *("address", "download", "main"),
)
"""Files of the script, in the order of concatenation."""

PACKED = 7_000_000
"""Size limit of all compressed blocks in bytes; base64 in the page adds a third."""

CELLS = 1_500_000
"""Maximum number of per-query scores in a page: 40 systems, 5,000 queries, 5 measures are a million."""

LABEL, REASON = 300, 2_000
"""Maximum number of characters of a name and of a reason."""


def leaderboard_page(leaderboard: Standings) -> str:
    """The page; deterministic for a leaderboard.

    Shows documents and texts of queries only if the leaderboard has evidence.

    Args:
        leaderboard: the leaderboard; rows without a run are shown with the reason.
    """
    style = (FILES / "page.css").read_text(encoding="utf-8")
    script = "".join((FILES / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    blocks, query_data = _blocks(leaderboard)
    title = f"Leaderboard: {clipped(leaderboard.name, LABEL)}"
    return static_page(title, style, f'"use strict";\n{script}', {**page_data(leaderboard), **query_data}, blocks)


def check_page(path: str | Path) -> Path:
    """Check the path of a page before any long computation.

    Raises:
        OptionError: it is a folder or an existing file other than an HTML page, or its folder is no folder or not
            writable.
    """
    file = Path(path)
    if file.is_dir():
        raise OptionError("the page is a folder", file=file, remedy="Name a file, such as leaderboard.html")
    existing = next((parent for parent in file.absolute().parents if parent.exists()), None)
    if existing is not None and not existing.is_dir():
        raise OptionError("the folder of the page is a file", file=existing, remedy="Choose another place")
    if existing is not None and not os.access(existing, os.W_OK):
        raise OptionError("the page cannot be written here", file=existing, remedy="Choose another place")
    if file.exists() and file.stat().st_size and not _is_page(file):
        raise OptionError("the file exists and is not an HTML page", file=file, remedy="Name another file")
    return file


def _is_page(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(15).lower() == b"<!doctype html>"


def write_page(leaderboard: Standings, path: str | Path) -> Path:
    """Write the page atomically; gives its path.

    Raises:
        OptionError: as in `check_page`.
    """
    file = check_page(path)
    write_text(file, leaderboard_page(leaderboard))
    return file


def page_data(leaderboard: Standings) -> dict[str, Any]:
    """Everything except the queries as JSON data; undefined and infinite figures are null."""
    return {
        "name": clipped(leaderboard.name, LABEL),
        "measures": list(leaderboard.measures),
        "about": _json_value(leaderboard.about),
        "order": [
            [clipped(name, LABEL), [clipped(key, LABEL) for key in value] if isinstance(value, Mapping) else None]
            for name, value in leaderboard.about.items()
        ],
        "notes": [clipped(note, REASON) for note in leaderboard.notes],
        "words": [clipped(word, LABEL) for word in leaderboard.words],
        "verdict": clipped(verdict(leaderboard), REASON),
        "samples": samples(leaderboard),
        "caption": [clipped(line, REASON) for line in caption(leaderboard)],
        "rows": [_row(leaderboard, row) for row in leaderboard.rows],
        "pairs": _pairs(leaderboard),
        "winMeasure": leaderboard.win_measure,
        "winCaption": win_caption(leaderboard),
        "buckets": _buckets(leaderboard),
        "picture": _picture(leaderboard),
    }


def _picture(leaderboard: Standings) -> dict[str, Any] | None:
    """Why a document is the best one of a query, as bars; None without evidence."""
    drawn = leaderboard.evidence and leaderboard.evidence.picture
    if not drawn:
        return None
    groups = [
        [clipped(title, LABEL), [[clipped(b.name, NAME), _number(b.value), clipped(b.note, NAME)] for b in bars]]
        for title, bars in drawn.groups
    ]
    return {
        "label": clipped(drawn.label, LABEL),
        "query": clipped(drawn.query, QUERY),
        "doc": clipped(drawn.doc_id, NAME),
        "text": clipped(drawn.text, TEXT),
        "groups": groups,
    }


def _row(leaderboard: Standings, row: Row) -> dict[str, Any]:
    entry = row.entry
    cells = [cell for cell in map(row.cells.get, leaderboard.measures) if cell]
    return {
        "number": str(row.number),
        "words": [clipped(word, LABEL) for word in entry.words],
        "label": clipped(entry.label, LABEL),
        "system": clipped(entry.system, LABEL),
        "conditions": entry.conditions,
        "cells": [[_number(c.mean), _number(c.low), _number(c.high), c.letters] for c in cells] or None,
        "ranks": [list(cell.ranks) for cell in cells] or None,
        "cost": None if entry.cost is None else {name: _number(value) for name, value in asdict(entry.cost).items()},
        "digest": entry.digest,
        "meta": _json_value(entry.meta),
        "problem": clipped(entry.problem, REASON),
    }


def _json_value(value: Any) -> Any:
    """A nested value as JSON data; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {clipped(str(name), LABEL): _json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, bool | int) or value is None:
        return value
    return _number(value) if isinstance(value, float) else clipped(str(value), REASON)


def _number(value: float | None) -> float | None:
    """A number with six significant digits, more than any view shows."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")


def _pairs(leaderboard: Standings) -> dict[str, Any]:
    """Row numbers of each pair, and the figures of the pairs by measure in the same order."""
    position = {row.entry.label: i for i, row in enumerate(leaderboard.rows)}
    first = leaderboard.pairs.filter(measure=leaderboard.primary)
    names = ("difference", "ci_low", "ci_high", "effect", "p", "p_holm")
    figures = []
    for measure in leaderboard.measures:
        frame = leaderboard.pairs.filter(measure=measure)
        figures.append(
            {
                **{name: [_number(value) for value in frame[name]] for name in names},
                "significant": [int(value) for value in frame["significant"]],
            }
        )
    return {"a": [position[a] for a in first["a"]], "b": [position[b] for b in first["b"]], "measures": figures}


def _buckets(leaderboard: Standings) -> list[dict[str, Any]]:
    """The dimensions with two buckets or more: names and sizes of their buckets, means by measure, bucket and row.

    Means of buckets with too few topics are null.
    """
    position = {row.entry.label: i for i, row in enumerate(leaderboard.rows)}
    dimensions = []
    for dimension in DIMENSIONS:
        frame = leaderboard.buckets.filter(dimension=dimension)
        counts = frame.select("bucket", "queries", "topics").unique(maintain_order=True)
        sizes = dict(counts.select("bucket", "queries").iter_rows())
        if len(sizes) < 2:
            continue
        number = {name: i for i, name in enumerate(sizes)}
        means: list[list[list[float | None]]] = [
            [[None] * len(leaderboard.rows) for _ in sizes] for _ in leaderboard.measures
        ]
        for bucket, label, measure, mean in frame.select("bucket", "label", "measure", "mean").iter_rows():
            means[leaderboard.measures.index(measure)][number[bucket]][position[label]] = _number(mean)
        dimensions.append(
            {
                "dimension": dimension,
                "title": DIMENSION_TITLES[dimension],
                "names": [clipped(name, LABEL) for name in sizes],
                "sizes": list(sizes.values()),
                "topics": counts["topics"].to_list(),
                "means": means,
            }
        )
    return dimensions


def _blocks(leaderboard: Standings) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The compressed blocks of the page, and their description for the script."""
    if not leaderboard.scores.height:
        return {}, {"queries": None}
    scores = Scores.from_frame(leaderboard.scores)
    order = [scores.labels.index(row.entry.label) for row in leaderboard.rows if row.cells]
    values = scores.values[order]
    systems, measures, queries = values.shape
    measures = max(1, min(measures, CELLS // (systems * queries)))
    chosen = _sample(values[:, 0], max(1, CELLS // (systems * measures)))
    packed, layout = _packed(values[:, :measures, chosen])
    ids = [scores.query_ids[i] for i in chosen]
    query_bytes, texts_data = query_block(leaderboard, ids)
    remaining = PACKED - len(zlib.compress(packed)) - len(zlib.compress(query_bytes))
    documents, document_data = document_block(leaderboard, ids, values[:, 0, chosen], max(0, min(BUDGET, remaining)))
    blocks = {"scores": packed, "queries": query_bytes, **({"documents": documents} if documents else {})}
    query_data = {
        "queries": {
            "all": queries,
            "here": len(ids),
            "layout": layout,
            "wins": win_counts(values).tolist(),
            **texts_data,
            **document_data,
        }
    }
    return blocks, query_data


def _sample(primary: NDArray[np.float64], most: int) -> list[int]:
    """Indices of the `most` queries on which systems differ most."""
    spread = primary.max(axis=0) - primary.min(axis=0)
    order = np.argsort(-spread, kind="stable")[:most]
    return sorted(int(i) for i in order)


def _packed(values: NDArray[np.float64]) -> tuple[bytes, list[dict[str, Any]]]:
    """One typed block per measure, systems by queries, little-endian.

    Scores between 0 and 1 become ten-thousandths in 16 bits; a measure with others keeps 32-bit floats.
    """
    parts: list[bytes] = []
    layout = []
    for m in range(values.shape[1]):
        scores = values[:, m]
        small = bool(((scores >= 0) & (scores <= 1)).all())
        content = (np.rint(scores * 10_000).astype("<u2") if small else scores.astype("<f4")).tobytes()
        layout.append({"type": "u2" if small else "f4", "start": sum(map(len, parts))})
        parts.append(content + bytes(-len(content) % 4))
    return b"".join(parts), layout
