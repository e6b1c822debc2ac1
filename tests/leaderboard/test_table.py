"""Ranks, letters, words and missing rows of the table; and that each face shows all of it."""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from qbench.benchmark.types import Query
from qbench.errors import InputError, OptionError
from qbench.evaluation.buckets import bucket_schema, query_buckets
from qbench.evaluation.significance import By, SignificanceTests, holm, pair_schema
from qbench.leaderboard.documents import escape, plain, tex
from qbench.leaderboard.files import table_schema
from qbench.leaderboard.standings import SMOKE, Entry, letter, rank_text
from qbench.leaderboard.table import Leaderboard, make_leaderboard
from qbench.leaderboard.terminal import show
from qbench.quantities.types import Condition
from qbench.retrieval.types import Cost

MEASURES = ("nDCG@10", "P@10")


def scored(level: float, *, queries: int = 60, noise: float = 0.05, seed: int = 0) -> pl.DataFrame:
    """Scores around a level, on both measures."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{i}", measure, float(np.clip(level + rng.normal(0, noise), 0, 1)))
        for i in range(queries)
        for measure in MEASURES
    ]
    return pl.DataFrame(rows, schema=["query_id", "measure", "value"], orient="row")


def entry(label: str, level: float | None, *, seed: int = 0, **more) -> Entry:
    if level is None:
        return Entry(label, label, "none", problem="out of memory", **more)
    return Entry(label, label, "none", scored(level, seed=seed), **more)


TOPICS = {f"q{i}": f"topic {i}" for i in range(60)}


def leaderboard(*entries: Entry, by: By = "topic", resamples: int = 200, **options) -> Leaderboard:
    tests = SignificanceTests(by, resamples)
    return make_leaderboard("bench", entries, MEASURES, tests=tests, **{"topics": TOPICS, **options})


COST = Cost(
    index_seconds=1.5, index_bytes=2_500_000, ms_median=3.25, ms_p95=9.5, peak_bytes=123_000_000, extraction_seconds=1.0
)


def full_leaderboard() -> Leaderboard:
    """Two rows that tie, one below, one without a run, costs, buckets of all dimensions, nasty names."""

    def asked(i: int) -> Condition:
        value = 10.0 ** (i % 3)
        return Condition("=<>"[i % 3], value, value, "gram", "kilogram", value, value)  # type: ignore[arg-type]

    queries = [Query(f"q{i}", "t", conditions=(asked(i),) * (1 + i % 2)) for i in range(60)]
    entries = [
        Entry("BM25", "BM25", "none", scored(0.2, seed=1), COST, digest="d1"),
        Entry(
            "QBM25 [given]", "QBM25", "given", scored(0.6, seed=2), COST, digest="d2", meta={"without conditions": 0}
        ),
        Entry("QBM25 [parsed]", "QBM25", "parsed", scored(0.6, seed=3), COST, digest="d3"),
        Entry("a_very|long*name, with <tags> & more: " + "x" * 60, "other", "none", problem="disk | full\n`now`"),
    ]
    return make_leaderboard(
        "my_bench",
        entries,
        MEASURES,
        buckets=query_buckets(queries, lambda unit: "mass"),
        about={
            "command": "qbench leaderboard my_bench",
            "benchmark": {"name": "my_bench", "split": "test", "documents": 12},
        },
        topics=TOPICS,
        notes=["7 queries are left out."],
        tests=SignificanceTests(resamples=500),
    )


def printed(view: Leaderboard, width: int, *, terminal: bool) -> str:
    stream = io.StringIO()
    show(
        Console(file=stream, width=width, force_terminal=terminal, color_system=None),
        [*view.table(), *view.bucket_tables()],
    )
    return stream.getvalue()


def test_rows_that_cannot_be_told_apart_share_their_ranks_and_a_letter():
    view = leaderboard(entry("low", 0.2, seed=1), entry("high", 0.8, seed=2), entry("high too", 0.8, seed=3))
    assert {row.entry.label: row.ranks for row in view.rows} == {"high": (1, 2), "high too": (1, 2), "low": (3, 3)}
    assert [row.cells["nDCG@10"].letters for row in view.rows] == ["a", "a", "b"]
    assert view.rows[2].entry.label == "low"
    assert [row.cells["nDCG@10"].beats for row in view.rows] == [(2,), (2,), ()]
    assert [row.number for row in view.rows] == [1, 2, 3]


def test_given_and_parsed_rows_are_not_compared():
    levels = {"A [given]": 0.9, "B [given]": 0.7, "A [parsed]": 0.5, "B [parsed]": 0.3, "plain": 0.1}
    rows = [
        Entry(label, label[0], label[3:-1] if "[" in label else "none", scored(level, seed=n))
        for n, (label, level) in enumerate(levels.items())
    ]
    view = leaderboard(*rows, resamples=500)
    assert [(row.entry.label, row.ranks) for row in view.rows] == [
        ("A [given]", (1, 1)),
        ("B [given]", (2, 2)),
        ("A [parsed]", (1, 1)),
        ("B [parsed]", (2, 2)),
        ("plain", (5, 5)),
    ]
    letters = [row.cells["nDCG@10"].letters for row in view.rows]
    assert letters == ["a", "b", "A", "B", "cC"]
    close = [
        Entry(label, label[0], label[3:-1] if "[" in label else "none", scored(0.5, seed=n))
        for n, label in enumerate(levels)
    ]
    letters = {row.entry.label: row.cells["nDCG@10"].letters for row in leaderboard(*close).rows}
    assert letters == {"A [given]": "a", "B [given]": "a", "A [parsed]": "A", "B [parsed]": "A", "plain": "aA"}
    assert [row.cells["nDCG@10"].beats for row in view.rows] == [(1, 4), (4,), (3, 4), (4,), ()]
    part = view.pairs.filter(measure="nDCG@10")
    assert part.height == 6
    assert part["p_holm"].to_list() == holm(part["p"].to_list()).tolist()
    assert "Holm over all pairs of a measure but \\[given\\] with \\[parsed\\]" in view.to_markdown()
    assert "are not compared" in view.to_markdown()
    # The other setting changes nothing but the correction.
    alone = leaderboard(*(row for row in rows if row.conditions != "parsed"), resamples=500)
    assert alone.about["tests"]["family"] == "all pairs of a measure"
    assert "are not compared" not in alone.to_markdown()
    same = ["measure", "a", "b", "difference", "effect", "p"]
    assert alone.pairs.select(same).join(view.pairs.select(same), on=same).height == alone.pairs.height == 2 * 3


def test_runs_of_an_unknown_setting_are_all_compared():
    view = leaderboard(*(Entry(label, label, "unknown", scored(0.5, seed=n)) for n, label in enumerate("abc")))
    assert view.pairs.filter(measure="nDCG@10").height == 3
    assert view.about["tests"]["family"] == "all pairs of a measure"


def test_only_pairs_that_are_tested_count_for_the_warning():
    given_row, parsed_row = (Entry(s, s, s, scored(0.5)) for s in ("given", "parsed"))
    assert leaderboard(given_row, parsed_row, resamples=100).notes == ()
    assert leaderboard(given_row, parsed_row).pairs.is_empty()


def test_the_caption_says_what_peak_memory_is():
    assert (
        "peak MB: highest resident memory of the process up to the end of the run" in full_leaderboard().to_markdown()
    )


def test_the_first_measure_decides():
    def split(first: float, second: float, seed: int) -> pl.DataFrame:
        return pl.concat(
            [
                scored(level, seed=seed).filter(measure=measure)
                for level, measure in zip((first, second), MEASURES, strict=True)
            ]
        )

    a, b = (Entry("a", "a", "none", split(0.8, 0.1, 1)), Entry("b", "b", "none", split(0.2, 0.9, 2)))
    by_ndcg = make_leaderboard("bench", [a, b], MEASURES, tests=SignificanceTests(resamples=200))
    by_p = make_leaderboard("bench", [a, b], MEASURES[::-1], tests=SignificanceTests(resamples=200))
    assert [(row.entry.label, row.ranks) for row in by_ndcg.rows] == [("a", (1, 1)), ("b", (2, 2))]
    assert [(row.entry.label, row.ranks) for row in by_p.rows] == [("b", (1, 1)), ("a", (2, 2))]
    assert by_ndcg.rows[1].cells["P@10"].beats == (0,)
    # Ranks and letters of another measure are its own.
    assert [row.cells["P@10"].ranks for row in by_ndcg.rows] == [(2, 2), (1, 1)]
    assert [row.cells["P@10"].letters for row in by_ndcg.rows] == ["b", "a"]


def test_a_row_without_a_run_stays_visible_and_is_not_ranked():
    view = leaderboard(entry("good", 0.8), entry("lost", None), entry("bad", 0.1, seed=4))
    assert [row.entry.label for row in view.rows] == ["good", "bad", "lost"]
    assert [row.ranks for row in view.rows] == [(1, 1), (2, 2), None]
    assert [row.entry.label for row in view.problems] == ["lost"]
    assert view.rows[2].cells == {}
    assert "lost has no run: out of memory" in view.to_markdown()


def test_only_rows_without_runs_make_a_table_too():
    view = leaderboard(entry("lost", None))
    assert view.scores.is_empty()
    assert "lost" in printed(view, 80, terminal=True)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([0.1, 0.4, 0.7, None]), min_size=1, max_size=5))
def test_ranks_and_letters_are_what_the_tests_leave_open(levels):
    view = leaderboard(*(entry(f"s{i}", level, seed=i) for i, level in enumerate(levels)), resamples=100)
    ranked = [row for row in view.rows if row.ranks is not None]
    assert len(ranked) == sum(level is not None for level in levels)
    means = [row.cells["nDCG@10"].mean for row in ranked]
    assert means == sorted(means, reverse=True)
    for place, row in enumerate(view.rows):
        if row.ranks is not None:
            cell = row.cells["nDCG@10"]
            above = sum(place in other.cells["nDCG@10"].beats for other in ranked)
            assert row.ranks == cell.ranks == (1 + above, len(ranked) - len(cell.beats))
            assert row.ranks[0] <= row.number <= row.ranks[1]
    significant = view.pairs.filter("significant", measure="nDCG@10").select("a", "b").rows()
    for row in ranked:
        for other in ranked:
            if row.entry.label < other.entry.label:
                shared = set(row.cells["nDCG@10"].letters) & set(other.cells["nDCG@10"].letters)
                assert bool(shared) == ((row.entry.label, other.entry.label) not in significant)
    beaten = sum(len(row.cells["nDCG@10"].beats) for row in ranked)
    assert beaten == view.pairs.filter(measure="nDCG@10")["significant"].sum()


def test_entries_that_make_no_table():
    with pytest.raises(OptionError, match="no system"):
        leaderboard()
    with pytest.raises(OptionError, match="two rows of one name"):
        leaderboard(entry("same", 0.1), entry("same", 0.2))
    short = Entry("short", "short", "none", scored(0.5, queries=5))
    with pytest.raises(InputError, match="one score each"):
        leaderboard(entry("whole", 0.5), short)


def test_too_few_resamples_for_so_many_pairs_is_said():
    entries = [entry(f"s{i}", 0.1 * i, seed=i) for i in range(5)]
    assert "no difference can be significant" in leaderboard(*entries, resamples=100).notes[0]
    assert "more than 200 resamples" in leaderboard(*entries, resamples=100).notes[0]
    assert not any(row.cells["nDCG@10"].beats for row in leaderboard(*entries, resamples=199).rows)
    assert leaderboard(*entries, resamples=201).notes == ()
    assert leaderboard(*entries, resamples=201).rows[0].cells["nDCG@10"].beats


@settings(deadline=None)
@given(st.integers(0, 20_000), st.integers(0, 20_000))
def test_letters_are_one_to_one(a, b):
    assert (letter(a) == letter(b)) == (a == b)
    assert re.fullmatch("[a-z]+", letter(a))


def test_queries_of_one_topic_do_not_count_as_independent():
    """Sixty queries of twelve topics: each topic's queries differ alike, so that by query all looks sure."""
    rng = np.random.default_rng(5)
    gaps = np.repeat(rng.normal(0.03, 0.08, 12), 5)
    better = scored(0.5).with_columns(value=pl.col("value") + pl.Series(np.repeat(gaps, len(MEASURES))))
    entries = [Entry("a", "a", "none", scored(0.5)), Entry("b", "b", "none", better)]
    topics = {f"q{i}": f"topic {i // 5}" for i in range(60)}
    by_topic, by_query = (leaderboard(*entries, topics=topics, by=by, resamples=2000) for by in ("topic", "query"))
    one, other = (view.pairs.filter(measure="nDCG@10").row(0, named=True) for view in (by_topic, by_query))
    assert one["difference"] == other["difference"]
    assert other["p"] < 0.01 < 0.1 < one["p"]
    assert one["ci_high"] - one["ci_low"] > 1.5 * (other["ci_high"] - other["ci_low"])
    # Five queries that differ alike say what one says.
    assert one["effect"] == pytest.approx(other["effect"], rel=0.05)
    assert (one["topics"], other["topics"]) == (12, 12)
    assert by_topic.words == ()
    assert by_query.words == ("tests by query",)
    for view in (by_topic, by_query):
        told = view.to_markdown() + view.to_latex() + printed(view, 200, terminal=True)
        assert told.count("Tests by query.") == (3 if view is by_query else 0)
        assert f"paired randomisation by {view.about['tests']['by']}" in told
        assert "topics: 12" in view.to_markdown()
        assert "12 topics" in printed(view, 200, terminal=True)


def test_words_stand_on_the_board_and_on_the_row():
    entries = [entry("tiny", 0.5, trained_on=SMOKE - 1), entry("whole", 0.6, seed=1, trained_on=SMOKE)]
    view = leaderboard(*entries, words=["labels not audited"], topics={f"q{i}": f"t{i % 9}" for i in range(60)})
    assert view.words == ("labels not audited", "too few topics (9)")
    said = "Labels not audited; too few topics (9)."
    assert f"**{said}**" in view.to_markdown()
    assert said in view.to_latex()
    assert said in printed(view, 80, terminal=True)
    word = f"(smoke size: {SMOKE - 1:,} training samples)"
    assert f"tiny **{escape(word)}**" in view.to_markdown()
    assert rf"tiny \emph{{{word}}}" in view.to_latex()
    assert word in printed(view, 200, terminal=False)
    assert view.to_dict()["rows"][1]["words"] == [word[1:-1]]
    for text in (view.to_markdown(), view.to_latex()):
        assert text.count("training samples") == 1
        assert "Smoke size: trained on fewer than 20,000 samples" in text
    plainly = leaderboard(entry("whole", 0.6), entry("other", 0.5, seed=2)).to_markdown()
    assert "**" not in plainly


def test_few_topics_cannot_make_a_difference_significant():
    """Five topics have 32 sign vectors: the smallest p is 1 / 16."""
    topics = {f"q{i}": f"t{i % 5}" for i in range(60)}
    view = leaderboard(entry("a", 0.2), entry("b", 0.9), topics=topics, resamples=1000)
    assert not view.pairs["significant"].any()
    assert any("1 pairs of systems and 5 topics no difference can be significant" in note for note in view.notes)


def test_queries_without_topics_are_told():
    rows = [entry("a", 0.2), entry("b", 0.9)]
    assert leaderboard(*rows, topics={}).notes[0].startswith("No topics are named")
    assert leaderboard(*rows, topics={"q0": "t"}).notes[0].startswith("59 of 60 queries have no topic")
    # Topics of one query each are queries: the figures are the same.
    assert leaderboard(*rows, topics={}).pairs.equals(leaderboard(*rows, by="query").pairs)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_terminal_shows_every_figure_whole(width):
    text = printed(full_leaderboard(), width, terminal=True)
    assert max(map(len, text.splitlines())) <= width
    for row in full_leaderboard().rows:
        for cell in row.cells.values():
            assert f"{cell.mean:.3f}" in text
        if row.cells:
            first = row.cells["nDCG@10"]
            assert f"{first.low:.3f}-{first.high:.3f}" in text
    assert "9.50" in text
    assert "123" in text
    assert "…" not in text


def test_a_narrow_terminal_leaves_columns_out_rather_than_break_names():
    names = ("BM25_filter [parsed]", "BindBM25 [given]", "BM25")
    view = leaderboard(*(entry(name, 0.8 - n / 10, seed=n) for n, name in enumerate(names)))
    wide = "\n".join(render(view.table(width=200), 200))
    assert "In the files" not in wide
    narrow = render(view.table(width=60), 60)
    dropped = next(line for line in narrow if line.startswith("In the files, and on a wider terminal: "))
    assert dropped.endswith(view.measures[-1])
    assert any(line.split()[2:4] == ["BM25_filter", "[parsed]"] for line in narrow)
    # Where names are broken in any case, nothing is left out.
    assert "In the files" not in "\n".join(render(view.table(width=30), 30))


def test_columns_are_headed_by_names_where_these_have_room():
    view = leaderboard(entry("good", 0.8), entry("bad", 0.2, seed=1))
    assert ["#", "System", "good", "bad"] in [line.split() for line in render(view.win_table(), 80)]
    assert ["#", "System", "1", "2"] in [line.split() for line in render(view.win_table(width=20), 80)]


def render(parts, width):
    stream = io.StringIO()
    show(Console(file=stream, width=width, force_terminal=True, color_system=None), parts)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_a_pipe_gets_every_name_in_one_line():
    view = full_leaderboard()
    lines = printed(view, 80, terminal=False).splitlines()
    for row in view.rows:
        start = rf"{row.number} +{rank_text(row.ranks)} +{re.escape(plain(row.entry.label))} "
        assert any(re.match(start, line) for line in lines)
    assert any("[given]: the system saw" in line and "[parsed]" in line for line in lines)
    assert "disk | full `now`" in "\n".join(lines)


def test_dimensions_with_one_bucket_are_left_out():
    view = full_leaderboard()
    assert set(view.buckets["dimension"]) == {"comparator", "kind", "family", "magnitude", "constraints"}
    text = printed(view, 120, terminal=True)
    assert "By comparator" in text
    assert "By magnitude" in text
    assert "By kind" not in text
    assert "By unit family" not in text
    names = [plain(row.entry.label) for row in view.rows if row.cells]
    heads = " ".join(["comparator", "queries", "topics", *names])
    assert heads in [" ".join(line.split()) for line in text.splitlines()]
    (line,) = [line.split() for line in text.splitlines() if line.startswith("= ")]
    means = dict(
        view.buckets.filter(dimension="comparator", bucket="=", measure="nDCG@10").select("label", "mean").iter_rows()
    )
    assert line == ["=", "20", "20", *(f"{means[row.entry.label]:.3f}" for row in view.rows if row.cells)]


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_markdown_has_one_row_per_system_and_nothing_breaks_out():
    page = full_leaderboard().to_markdown()
    table = page[page.index("| \\# ") :].split("\n\n")[0].splitlines()
    assert {len(cells_of(line)) for line in table} == {5}
    assert len(table) == 2 + 4
    assert "a\\_very\\|long\\*name, with \\<tags\\> \\& more" in table[-1]
    assert cells_of(table[-1])[:2] == ["4", "-"]
    assert cells_of(table[-1])[3:] == ["-", "-"]
    assert re.fullmatch(r"0\.\d{3}<sup>a</sup> \(0\.\d{3}-0\.\d{3}\)", cells_of(table[2])[3])
    assert "<tags>" not in page.replace("\\<tags\\>", "")
    assert "| comparator | queries | topics | " in page
    for title in ("## Cost", "## Pairs: nDCG@10", "## By comparator: nDCG@10"):
        assert title in page
    assert "`qbench leaderboard my_bench`" in page


def test_pairs_on_the_page_are_those_of_the_primary_measure():
    page = full_leaderboard().to_markdown()
    part = page[page.index("## Pairs") :].split("\n\n")[1].splitlines()
    assert len(part) == 2 + 2
    row = full_leaderboard().pairs.filter(measure="nDCG@10").sort("p", "a", "b").to_dicts()[0]
    assert cells_of(part[2])[:2] == [escape(row["a"]), escape(row["b"])]
    assert cells_of(part[2])[4:] == [f"{row['p']:.4f}", f"{row['p_holm']:.4f}"]


def test_latex_is_escaped_and_complete():
    text = full_leaderboard().to_latex()
    assert "a\\_very|long*name, with <tags> \\& more" in text
    assert text.count(r" \\") == 1 + 4
    assert r"\textsuperscript{a}" in text
    assert text.count("{") == text.count("}")
    assert tex("100% $x_1^{2}$ \\~") == r"100\% \$x\_1\textasciicircum{}\{2\}\$ \textbackslash{}\textasciitilde{}"


def test_json_holds_everything_and_is_strict():
    view = full_leaderboard()
    data = json.loads(json.dumps(view.to_dict(), allow_nan=False))
    assert data["primary"] == "nDCG@10"
    assert data["benchmark"]["split"] == "test"
    assert data["tests"]["resamples"] == 500
    assert len(data["pairs"]) == 2 * 2
    assert data["tests"]["family"] == "all pairs of a measure but [given] with [parsed]"
    first, last = data["rows"][0], data["rows"][-1]
    assert first["measures"]["nDCG@10"]["beats"] == ["BM25"]
    assert first["cost"]["index_bytes"] == 2_500_000
    assert first["conditions"] in ("given", "parsed")
    assert last["measures"]["nDCG@10"]["mean"] is None
    assert last["cost"] is None
    assert last["problem"] == "disk | full\n`now`"


def test_an_effect_that_is_undefined_is_null_and_a_dash():
    rows = [Entry(label, label, "none", scored(level, queries=1, noise=0)) for label, level in (("a", 0.0), ("b", 1.0))]
    view = make_leaderboard("one query", rows, MEASURES, tests=SignificanceTests(resamples=100))
    assert json.dumps(view.to_dict(), allow_nan=False)
    assert view.to_dict()["pairs"][0]["effect"] is None
    assert "| - | 1.0000 |" in view.to_markdown()
    assert not math.isnan(view.rows[0].cells["nDCG@10"].mean)


def test_frames_keep_their_schemas():
    view = full_leaderboard()
    frame = view.to_frame()
    assert dict(frame.schema) == table_schema()
    assert frame.height == 4 * 2
    lost = frame.filter(pl.col("rank_best").is_null())
    assert lost["mean"].null_count() == lost["peak_bytes"].null_count() == 2
    assert frame["label"].unique(maintain_order=True).to_list() == [row.entry.label for row in view.rows]
    assert dict(view.pairs.schema) == pair_schema()
    assert dict(view.buckets.schema) == bucket_schema()


def test_files_are_whole_and_the_same_each_time(tmp_path):
    first, second = tmp_path / "one", tmp_path / "two"
    paths = full_leaderboard().write(first)
    full_leaderboard().write(second)
    names = {path.name for path in paths}
    assert names == {path.name for path in first.iterdir()}
    assert names == {"leaderboard.md", "leaderboard.tex", "leaderboard.json", "leaderboard.parquet"} | {
        "scores.parquet",
        "significance.parquet",
        "buckets.parquet",
    }
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert pl.read_parquet(first / "scores.parquet").equals(full_leaderboard().scores)
    assert str(tmp_path) not in (first / "leaderboard.json").read_text()


def test_costs_that_nobody_measured_make_no_table():
    view = leaderboard(entry("a", 0.5), entry("b", 0.6))
    assert "## Cost" not in view.to_markdown()
    assert "index MB" not in printed(view, 80, terminal=True)


@settings(deadline=None)
@given(st.text(st.sampled_from("ab \\|*_`[]<>#~&$%\n\r\t\x00\x1b\x85\u2028é"), max_size=40))
def test_escaped_text_stays_in_one_cell(text):
    escaped = escape(text)
    assert "\n" not in escaped
    assert cells_of(f"| {escaped} | end |")[-1] == "end"
    assert re.sub(r"\\([\\`*_\[\]<>|#~&])", r"\1", escaped) == plain(text)


def test_columns_of_language_models_are_there_where_a_row_asked_one():
    counts = {"calls": 12_000, "tokens_read": 3_400_000, "tokens_written": 24_000, "refused": 7, "malformed": 30}
    asked = replace(COST, **counts, money=1.25)
    unpriced = entry("M", 0.5, cost=replace(asked, money=None))
    view = leaderboard(entry("BM25", 0.2, cost=COST), entry("L", 0.6, cost=asked), unpriced)
    page = view.to_markdown()
    assert "peak MB | calls | tokens read | tokens written | refused | malformed | price |" in page
    assert "| 123 | 12,000 | 3,400,000 | 24,000 | 7 | 30 | 1.25 |" in page
    assert "| 123 | 12,000 | 3,400,000 | 24,000 | 7 | 30 | - |" in page
    assert "| 123 | - | - | - | - | - | - |" in page
    assert "malformed: not of the form asked for" in page
    frame = view.to_frame().filter(label="L")
    assert {name: frame[name][0] for name in counts} == counts
    assert frame["money"][0] == 1.25
    told = next(row for row in view.to_dict()["rows"] if row["label"] == "L")
    assert told["cost"]["malformed"] == 30
    before = leaderboard(entry("BM25", 0.2, cost=COST)).to_markdown()
    assert "malformed" not in before
    assert "tokens" not in before
