"""The leaderboard as a document: Markdown, and a table for LaTeX. Text from outside is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import polars as pl

from qbench.evaluation.buckets import DIMENSIONS, FEWEST
from qbench.leaderboard.standings import BOTH, FAULTY, SMOKE, Cell, Row, Standings, rank_text
from qbench.leaderboard.verdict import verdict
from qbench.retrieval.types import Cost

MISSING = "-"

TOO_FEW = "too few"
"""Said of a bucket with fewer topics than `qbench.evaluation.buckets.FEWEST`."""

DIMENSION_TITLES = {
    "comparator": "By comparator",
    "kind": "By kind of query",
    "family": "By unit family",
    "magnitude": "By magnitude of the value, in the query's unit",
    "constraints": "By number of constraints",
    "alpha": "By alpha, DeepQuant's weight of words",
}

COST_HEADERS = ("index s", "quantities s", "index MB", "ms/query", "ms p95", "peak MB")


ASKED_HEADERS = ("calls", "tokens read", "tokens written", "refused", "malformed", "price")


def asks(leaderboard: Standings) -> bool:
    """Whether any row asked a language model."""
    return any(row.entry.cost is not None and row.entry.cost.calls for row in leaderboard.rows)


def cost_headers(leaderboard: Standings) -> tuple[str, ...]:
    """The heads of `cost_cells`; those of language models only where a row asked one."""
    return (*COST_HEADERS, *(ASKED_HEADERS if asks(leaderboard) else ()))


def cost_cells(leaderboard: Standings, row: Row) -> list[str]:
    """The text of a row's costs, under `cost_headers`."""
    cost, asked = row.entry.cost, asks(leaderboard)
    if cost is None:
        return [MISSING] * len(cost_headers(leaderboard))
    return [*_measured_cells(cost), *(_asked_cells(cost) if asked else [])]


def _asked_cells(cost: Cost) -> list[str]:
    if not cost.calls:
        return [MISSING] * len(ASKED_HEADERS)
    counts = (cost.calls, cost.tokens_read, cost.tokens_written, cost.refused, cost.malformed)
    return [*(f"{count:,}" for count in counts), MISSING if cost.money is None else f"{cost.money:.4g}"]


def _measured_cells(cost: Cost) -> list[str]:
    return [
        f"{cost.index_seconds:.2f}",
        f"{cost.extraction_seconds:.2f}",
        f"{cost.index_bytes / 1e6:.1f}",
        f"{cost.ms_median:.2f}",
        f"{cost.ms_p95:.2f}",
        f"{cost.peak_bytes / 1e6:.0f}",
    ]


def has_costs(leaderboard: Standings) -> bool:
    """Whether any row has costs."""
    return any(row.entry.cost is not None for row in leaderboard.rows)


def caption(leaderboard: Standings) -> list[str]:
    """Notes on how to read the table, as plain text."""
    tests = leaderboard.about["tests"]
    lines = [
        f"Rows are ordered by their mean {leaderboard.primary}. Ranks: from the best to the worst rank among "
        "comparable rows that the tests leave open; 1-3 is behind no row for sure, and may be behind two.",
        "Letters after a mean: figures of a column that share a letter are not significantly different, compared ones "
        f"that share none are (paired randomisation by {tests['by']}, two-sided, {tests['resamples']} resamples, Holm "
        f"over {tests['family']}, level {tests['level']}).",
        f"Means are over queries; intervals: 95 %, bootstrap over {_drawn(leaderboard)}.",
    ]
    if tests["by"] == "query":
        lines.append(
            "Tests by query: queries of one topic count as independent, which they are not, so that p-values, "
            "intervals and ranks are surer than the data."
        )
    labels = {row.entry.name: row.entry.system for row in leaderboard.rows if row.entry.name != row.entry.system}
    if labels:
        lines.append(f"Names of rows: {'; '.join(f'{name} is {system}' for name, system in labels.items())}.")
    if any(word.startswith("smoke size") for row in leaderboard.rows for word in row.entry.words):
        lines.append(
            f"Smoke size: trained on fewer than {SMOKE:,} samples. Such a row shows that training runs, not what the "
            "system reaches."
        )
    return [*lines, *_of_costs(leaderboard), *_of_conditions(leaderboard)]


def _of_costs(leaderboard: Standings) -> list[str]:
    """Notes on the columns of costs."""
    notes = []
    if has_costs(leaderboard):
        notes.append(
            "Costs: index s is all that was built for the system, quantities s the part of it that finds quantities; "
            "ms per query: median and 95th percentile, first stage included; peak MB: highest resident memory of the "
            "process up to the end of the run, whatever else it had done before."
        )
    if asks(leaderboard):
        notes.append(
            "Language models: calls are all questions behind a row's rankings, answered now or recorded before; "
            "refused: by the server or the model; malformed: not of the form asked for; price: of the tokens, by "
            f"--prices. Where more than {FAULTY:.0%} are refused or malformed, the row says so beside its name: it "
            "shows the ranking before it rather than the model."
        )
    return notes


def _of_conditions(leaderboard: Standings) -> list[str]:
    """Notes on where systems had the queries' conditions from."""
    notes = []
    sources = {row.entry.conditions for row in leaderboard.rows if row.cells}
    if sources & BOTH:
        notes.append(
            "[given]: the system saw the query's conditions as data; [parsed]: qbench read them from the query's text; "
            "neither: the system uses no conditions."
        )
        if sources >= BOTH:
            notes.append(
                "A [given] and a [parsed] row did different tasks and are not compared: no test, no effect on each "
                "other's ranks, whatever their order here. Small letters compare [given] rows, capitals [parsed] rows; "
                "rows without conditions have both."
            )
        where = leaderboard.about.get("settings", {}).get("document_quantities")
        notes += [f"Quantities of the documents: {where}."] if where else []
    if "unknown" in sources:
        notes.append("These runs were made elsewhere: whether conditions were given or parsed is not known.")
    return notes


def board_words(leaderboard: Standings) -> str:
    """What a reader must know before believing any figure, as one line; "" for nothing.

    The words of rows are beside the rows.
    """
    return sentence(leaderboard.words)


def sentence(words: Sequence[str]) -> str:
    """Words as one sentence; "" for none.

    >>> sentence(["labels not audited", "tests by query"])
    'Labels not audited; tests by query.'
    """
    line = "; ".join(words)
    return f"{line[:1].upper()}{line[1:]}." if line else ""


def named(name: str, words: Sequence[str]) -> str:
    """The name of a row in Markdown, with what a reader must know before believing its figures."""
    return " ".join([escape(name), *(f"**({escape(word)})**" for word in words)])


def bucket_caption(leaderboard: Standings) -> str:
    """What it means that a bucket has no mean; plain text."""
    plural = "topics" if leaderboard.about["tests"]["by"] == "topic" else "queries"
    return f"{TOO_FEW}: fewer than {FEWEST} {plural}, over which a mean says nothing of the kind of query."


def _drawn(leaderboard: Standings) -> str:
    if leaderboard.about["tests"]["by"] == "query":
        return "queries"
    return f"topics ({leaderboard.about['topics']})"


def problems(leaderboard: Standings) -> list[str]:
    """One sentence for each row without a run, with the reason."""
    return [f"{row.number}: {row.entry.label} has no run: {row.entry.problem}" for row in leaderboard.problems]


def bucket_grid(leaderboard: Standings, dimension: str) -> list[list[str]]:
    """The primary measure by bucket: its name, its numbers of queries and topics, and the mean of each row with a run.

    A bucket of too few topics says so, and has no means. Empty if the dimension has fewer than two buckets:
    its table would repeat the means.
    """
    part = leaderboard.buckets.filter((pl.col("dimension") == dimension) & (pl.col("measure") == leaderboard.primary))
    sizes = part.select("bucket", "queries", "topics").unique(maintain_order=True).rows()
    if len(sizes) < 2:
        return []
    means = {(bucket, label): mean for bucket, label, mean in part.select("bucket", "label", "mean").iter_rows()}
    labels = [row.entry.label for row in leaderboard.rows if row.cells]
    grid = []
    for bucket, queries, topics in sizes:
        found = [means[bucket, label] for label in labels]
        few = "" if any(mean is not None for mean in found) else f", {TOO_FEW}"
        cells = [MISSING if mean is None else f"{mean:.3f}" for mean in found]
        grid.append([bucket, str(queries), f"{topics}{few}", *cells])
    return grid


def win_grid(leaderboard: Standings) -> list[list[str]]:
    """The win matrix: for each row with a run its number, its name, and its share of wins over each such row.

    A star marks a row whose mean is significantly above that of the column. Empty if there are no two rows to compare.
    """
    shares = {(winner, loser): (share, star) for winner, loser, share, star in leaderboard.wins.iter_rows()}
    rows = [row for row in leaderboard.rows if row.cells]

    def cell(row: Row, other: Row) -> str:
        share, star = shares.get((row.entry.label, other.entry.label), (None, False))
        return MISSING if share is None else f"{100 * share:.0f} %" + ("*" if star else "")

    return [[str(row.number), row.entry.label, *(cell(row, other) for other in rows)] for row in rows] if shares else []


def win_caption(leaderboard: Standings) -> str:
    """How to read the win matrix; plain text."""
    return (
        f"Share of the queries on which the row's system scores higher than the column's on {leaderboard.win_measure}; "
        "what a cell and its mirror image leave to 100 % are ties. "
        f"*: the row's mean is significantly above the column's (by {leaderboard.about['tests']['by']})."
    )


def markdown(leaderboard: Standings) -> str:
    """The leaderboard as a Markdown page; `-` for missing figures."""
    header = ["#", "Ranks", "System", f"{leaderboard.primary} (95 % interval)", *leaderboard.measures[1:]]
    lines = [f"# Leaderboard: {escape(leaderboard.name)}", "", *_facts(leaderboard)]
    lines += [escape(verdict(leaderboard)), ""]
    lines += [f"**{escape(board_words(leaderboard))}**", ""] if leaderboard.words else []
    lines += grid(header, [_figures(row, leaderboard) for row in leaderboard.rows], text_columns=3)
    lines += [f"- {escape(line)}" for line in (*caption(leaderboard), *leaderboard.notes, *problems(leaderboard))] + [
        ""
    ]
    if has_costs(leaderboard):
        costs = [[escape(row.entry.label), *cost_cells(leaderboard, row)] for row in leaderboard.rows]
        lines += ["## Cost", "", *grid(["System", *cost_headers(leaderboard)], costs, text_columns=1)]
    wins = win_grid(leaderboard)
    if wins:
        rows = [
            [number, escape(label), *(cell.replace("*", r"\*") for cell in cells)] for number, label, *cells in wins
        ]
        lines += [f"## Wins: {escape(leaderboard.win_measure)}", "", escape(win_caption(leaderboard)), ""]
        lines += grid(["#", "System", *(number for number, *_ in wins)], rows, text_columns=2)
    lines += _pairs(leaderboard)
    for dimension in DIMENSIONS:
        buckets = bucket_grid(leaderboard, dimension)
        if buckets:
            header = [dimension, "queries", "topics", *(row.entry.label for row in leaderboard.rows if row.cells)]
            rows = [[escape(bucket), *cells] for bucket, *cells in buckets]
            title = f"## {DIMENSION_TITLES[dimension]}: {escape(leaderboard.primary)}"
            lines += [title, "", *grid(header, rows, text_columns=1)]
            lines += [bucket_caption(leaderboard), ""] if any(TOO_FEW in row[2] for row in rows) else []
    return "\n".join(lines).rstrip() + "\n"


def latex(leaderboard: Standings) -> str:
    """LaTeX table for papers (package booktabs); letters of groups are superscripts."""
    header = ["#", "Ranks", "System", *leaderboard.measures]
    body = []
    for row in leaderboard.rows:
        cells = [
            f"{cell.mean:.3f}" + rf"\textsuperscript{{{cell.letters}}}" if cell else MISSING
            for cell in (row.cells.get(measure) for measure in leaderboard.measures)
        ]
        name = " ".join([tex(row.entry.label), *(rf"\emph{{({tex(word)})}}" for word in row.entry.words)])
        body.append(" & ".join([str(row.number), rank_text(row.ranks).replace("-", "--"), name, *cells]) + r" \\")
    columns = len(header)
    foot = rf"\multicolumn{{{columns}}}{{l}}{{\footnotesize {tex(board_words(leaderboard))}}} \\"
    return "\n".join(
        [
            rf"\begin{{tabular}}{{rll{'r' * len(leaderboard.measures)}}}",
            r"\toprule",
            " & ".join(map(tex, header)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            *([foot] if leaderboard.words else []),
            r"\end{tabular}",
            *(f"% {plain(line)}" for line in (verdict(leaderboard), *caption(leaderboard), *problems(leaderboard))),
            "",
        ]
    )


def plain(text: str) -> str:
    """One line without control characters."""
    return re.sub(r"\s+", " ", re.sub(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]", "", text)).strip()


def clipped(text: str, length: int) -> str:
    """One line without control characters, cut at `length`."""
    line = plain(text)
    return line if len(line) <= length else f"{line[:length]}... ({len(line) - length:,} more characters)"


def escape(text: str) -> str:
    """Escape plain text for Markdown."""
    return re.sub(r"([\\`*_\[\]<>|#~&])", r"\\\1", plain(text))


def tex(text: str) -> str:
    """Escape plain text for LaTeX."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {sign: f"\\{sign}" for sign in "&%$#_{}"}
    return "".join(special.get(sign, sign) for sign in plain(text))


def _facts(leaderboard: Standings) -> list[str]:
    facts = [
        f"{key}: {value}" for key, value in leaderboard.about.get("benchmark", {}).items() if value not in (None, "")
    ]
    if leaderboard.about.get("topics"):
        facts.append(f"topics: {leaderboard.about['topics']}")
    lines = [escape("; ".join(facts)), ""] if facts else []
    if command := leaderboard.about.get("command"):
        # Inside a code span only the back quote has a meaning.
        lines += [f"`{plain(command).replace('`', ' ')}`", ""]
    return lines


def _figures(row: Row, leaderboard: Standings) -> list[str]:
    cells = [row.cells.get(measure) for measure in leaderboard.measures]
    first = cells[0]
    interval = f" ({first.interval})" if first else ""
    name = named(row.entry.label, row.entry.words)
    return [str(row.number), rank_text(row.ranks), name, _figure(first) + interval, *map(_figure, cells[1:])]


def _figure(cell: Cell | None) -> str:
    if cell is None:
        return MISSING
    return f"{cell.mean:.3f}<sup>{cell.letters}</sup>"


def _pairs(leaderboard: Standings) -> list[str]:
    rows = []
    for row in (
        leaderboard.pairs.filter(pl.col("measure") == leaderboard.primary).sort("p", "a", "b").iter_rows(named=True)
    ):
        effect = MISSING if row["effect"] is None else f"{row['effect']:.2f}"
        gap = f"{row['difference']:+z.3f} ({row['ci_low']:+z.3f} to {row['ci_high']:+z.3f})"
        rows.append([escape(row["a"]), escape(row["b"]), gap, effect, f"{row['p']:.4f}", f"{row['p_holm']:.4f}"])
    if not rows:
        return []
    header = ["A", "B", "A - B (95 % interval)", "effect d_z", "p", "p after Holm"]
    return [f"## Pairs: {escape(leaderboard.primary)}", "", *grid(header, rows, text_columns=2)]


def grid(header: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int) -> list[str]:
    """The lines of a Markdown table; the header is escaped here, rows are Markdown already."""
    rule = ["---" if i < text_columns else "---:" for i in range(len(header))]
    names = [escape(name) for name in header]
    return [f"| {' | '.join(line)} |" for line in (names, rule, *rows)] + [""]
