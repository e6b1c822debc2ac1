"""The page in a real browser: sorted, filtered, read with the keyboard, opened query by query."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from qbench.benchmark.types import Query
from qbench.evaluation.buckets import query_buckets
from qbench.evaluation.significance import SignificanceTests
from qbench.leaderboard.evidence import Collection, Evidence, heads
from qbench.leaderboard.page import write_page
from qbench.leaderboard.run import run_leaderboard
from qbench.leaderboard.standings import Entry, rank_text
from qbench.leaderboard.table import make_leaderboard
from qbench.quantities.types import Condition
from qbench.retrieval.types import Cost
from tests.factories import tiny_benchmark
from tests.leaderboard.test_table import MEASURES, entry, full_leaderboard, leaderboard, scored

BAD = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> & \u202e<b>"

CONDITION = {c: Condition(c, 5, 5, "gram", "kilogram", 0.005, 0.005) for c in "<>"}  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return write_page(full_leaderboard(), tmp_path_factory.mktemp("full") / "page.html")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    systems = ["BM25", "BM25_filter", "QBM25", "Run(path=nope.run)"]
    view = run_leaderboard(tiny_benchmark(), systems, output=folder, resamples=100, workers=1, evidence=True)
    return write_page(view, folder / "page.html")


def until(page, expression: str) -> None:
    """Wait for an expression; playwright's own waiting calls eval, which the page's policy forbids."""
    for _ in range(400):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {expression}")


def ready(page):
    page.wait_for_selector("html[data-ready=all]")
    return page


def names(page):
    return page.locator(".leaderboard tbody th b").all_inner_texts()


def test_the_table_sorts_both_ways_and_keeps_rows_without_a_run_last(open_page, full):
    page = ready(open_page(full))
    assert names(page) == ["1", "2", "3", "4"]
    assert "disk | full" in page.locator(".leaderboard .lost").inner_text()
    head = page.locator("th", has=page.locator("#sort-place"))
    assert head.get_attribute("aria-sort") == "ascending"
    page.click("#sort-m1")
    assert page.locator("th", has=page.locator("#sort-m1")).get_attribute("aria-sort") == "descending"
    falling = names(page)
    page.keyboard.press("Enter")  # the heading has kept the focus
    assert page.locator("th", has=page.locator("#sort-m1")).get_attribute("aria-sort") == "ascending"
    assert names(page) == [*reversed(falling[:3]), "4"]
    page.click("#sort-ms_median")
    assert names(page)[3] == "4"


def test_ranks_letters_and_headline_follow_the_measure(open_page, full):
    page = ready(open_page(full))
    view = full_leaderboard()
    # One row was given conditions and one parsed them: they share no letter, though both are first.
    ranks = [rank_text(row.ranks).replace("-", "\u2013") for row in view.rows if row.cells]
    assert page.locator(".leaderboard .rank").all_inner_texts() == ranks
    letters = [row.cells[measure].letters for row in view.rows if row.cells for measure in view.measures]
    assert page.locator(".leaderboard sup").all_inner_texts() == letters
    assert page.locator(".headline").inner_text().startswith(f"1 {view.rows[0].entry.label} has the highest nDCG@10")
    page.select_option("#measure", label="P@10")
    assert "highest P@10" in page.locator(".headline").inner_text()
    best = max(view.rows[:3], key=lambda row: row.cells["P@10"].mean)
    assert f"{best.number} {best.entry.label}" in page.locator(".headline").inner_text()


def test_words_stand_on_the_page_and_on_rows_and_in_buckets(open_page, tmp_path):
    queries = [Query(f"q{i}", "t", conditions=(CONDITION["<>"[i % 10 == 0]],)) for i in range(60)]
    view = leaderboard(
        entry("small", 0.6, trained_on=500),
        entry("other", 0.3, seed=1),
        words=["labels not audited"],
        by="query",
        buckets=query_buckets(queries, lambda unit: "mass"),
    )
    page = ready(open_page(write_page(view, tmp_path / "page.html")))
    assert page.locator(".board-words .tag").all_inner_texts() == ["labels not audited", "tests by query"]
    first = page.locator(".leaderboard tbody tr").first
    assert first.locator(".tag").inner_text() == "smoke size: 500 training samples"
    assert page.locator(".leaderboard tbody .tag").count() == 1
    page.wait_for_selector("#buckets figure svg[role=img]")
    figures = page.locator("#buckets figure").all_inner_texts()
    assert [("too few queries" in text) for text in figures] == [False, True]
    assert "54 queries, 54 topics" in figures[0]
    page.click("#buckets summary >> text=As a table")
    assert "6, too few" in page.locator("#buckets table").inner_text()


def test_lines_of_buckets_go_by_topic(open_page, tmp_path):
    """The same queries, once a topic each and once five to a topic: the line of a bucket is longer."""
    rng = np.random.default_rng(2)
    level = np.repeat(rng.uniform(0, 1, 12), 5)
    scores = scored(0.5).with_columns(value=pl.Series(np.repeat(level, len(MEASURES))))
    queries = [Query(f"q{i}", "t", conditions=(CONDITION["<>"[i % 2]],)) for i in range(60)]
    halves = []
    for name, topics in (("own", {}), ("five", {f"q{i}": f"t{i // 5}" for i in range(60)})):
        table = query_buckets(queries, lambda unit: "mass")
        view = leaderboard(
            Entry("a", "a", "none", scores), topics=topics, buckets=table, evidence=Evidence(tuple(queries), table, ())
        )
        page = ready(open_page(write_page(view, tmp_path / f"{name}.html")))
        page.wait_for_selector("#buckets figure svg[role=img]")
        halves.append(page.evaluate("spreads(data.buckets[0].title).then((of) => of(0, 0))"))
    of_bucket = level[np.arange(60) % 2 == 0]
    own = 1.96 * of_bucket.std(ddof=1) / np.sqrt(30)
    sums, sizes = np.zeros(12), np.zeros(12)
    for i, value in zip(range(0, 60, 2), of_bucket, strict=True):
        sums[i // 5] += value
        sizes[i // 5] += 1
    five = 1.96 * np.sqrt(((sums - sizes * of_bucket.mean()) ** 2).sum() * 12 / 11) / 30
    assert halves == pytest.approx([own, five], rel=0.01)


def test_an_interval_without_width_is_not_shown(open_page, tmp_path):
    """All queries of one topic, or all scores equal: the interval is a point, which says nothing."""
    topics = dict.fromkeys((f"q{i}" for i in range(60)), "one")
    view = leaderboard(entry("first", 0.6), entry("second", 0.3, seed=1), topics=topics)
    page = ready(open_page(write_page(view, tmp_path / "page.html")))
    assert set(page.locator(".leaderboard .ci").all_inner_texts()) == {"-"}
    strips = page.locator(".leaderboard tbody svg[role=img]")
    assert all(strips.nth(n).get_attribute("aria-label").endswith(", no interval") for n in range(strips.count()))
    assert "(" not in page.locator(".headline").inner_text()
    wide = ready(open_page(write_page(leaderboard(entry("first", 0.6)), tmp_path / "wide.html")))
    assert "\u2013" in wide.locator(".leaderboard .ci").first.inner_text()
    assert ", from 0." in wide.locator(".leaderboard tbody svg[role=img]").first.get_attribute("aria-label")
    assert " to 0." in wide.locator(".headline").inner_text()


def test_systems_are_filtered_and_chosen_for_the_charts(open_page, full):
    page = ready(open_page(full))
    page.fill("#filter", "qbm25")
    assert names(page) == ["1", "2"]
    assert page.locator(".matrix tbody tr").count() == 2
    page.fill("#filter", "no such system")
    for part in ("#buckets", "#cost"):
        assert "No system with a run passes the filters of the table." in page.locator(part).inner_text()
        assert "tick some" not in page.locator(part).inner_text()
    assert "No two systems with runs pass the filters" in page.locator("#pairs").inner_text()
    page.fill("#filter", "1")
    page.get_by_label("1 in the charts").uncheck()
    page.fill("#filter", page.locator(".leaderboard tbody th .clip").first.inner_text())
    assert "No system that passes the filters of the table is ticked" in page.locator("#cost").inner_text()
    page.get_by_label("1 in the charts").check()
    page.fill("#filter", "")
    page.get_by_label("conditions given").uncheck()
    assert "QBM25 [given]" not in page.locator(".leaderboard").inner_text()
    page.get_by_label("conditions given").check()
    charts = page.locator("#cost .legend").first
    assert charts.locator("li").count() == 3
    page.get_by_label("3 in the charts").uncheck()
    assert page.locator("#cost .legend").first.locator("li").count() == 2
    page.get_by_role("button", name="none").click()
    assert "tick some" in page.locator("#cost").inner_text()


def test_the_matrix_is_read_with_the_keyboard(open_page, full):
    page = ready(open_page(full))
    view = full_leaderboard()
    found = (
        view.pairs.filter(measure="nDCG@10")
        .filter(pl.col("a") == "BM25", pl.col("b") == view.rows[0].entry.label)
        .row(0, named=True)
    )
    first = page.locator(".matrix button[tabindex='0']")
    assert first.count() == 1
    first.focus()
    # From 1 against 3; the diagonal is stepped over.
    for arrow, place in (("ArrowDown", "2 against 3"), ("ArrowLeft", "2 against 1"), ("ArrowDown", "3 against 1")):
        page.keyboard.press(arrow)
        assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith(place)
    page.keyboard.press("Enter")
    said = page.locator("#pairs .pair").inner_text()
    assert "is significantly below" in said
    assert f"{abs(found['difference']):.3f}" in said
    assert page.locator(".matrix .none button").count() == 2  # given with parsed
    page.locator(".matrix .none button").first.click()
    pair = page.locator("#pairs .pair h3").inner_text()
    page.locator("#pairs").get_by_role("button", name="Compare query by query").click()
    assert "did different tasks" in page.locator("#queries").inner_text()
    chosen = [page.locator(f"#pair-{n} option:checked").inner_text().split()[0] for n in range(2)]
    assert chosen == [side.split()[0] for side in pair.split(" against ")]
    page.locator(".matrix tbody tr").nth(2).locator("button").first.click()
    page.select_option("#cells", "wins")
    shares = {(winner, loser): share for winner, loser, share, _ in view.wins.iter_rows()}
    share = shares["BM25", view.rows[0].entry.label]
    assert page.locator(".matrix tbody tr").nth(2).locator("button").first.inner_text() == f"{100 * share:.0f} % \u25bc"
    page.get_by_role("button", name="Compare query by query").click()
    assert page.locator("#pair-0").input_value() == "2"


def test_all_others_are_those_that_ran(open_page, tmp_path):
    rows = [entry("good", 0.9), entry("bad", 0.1, seed=1), entry("worse", 0.05, seed=2)]
    page = ready(open_page(write_page(leaderboard(*rows), tmp_path / "all.html")))
    assert page.locator(".headline").inner_text().endswith("significantly above all others.")
    page = ready(open_page(write_page(leaderboard(*rows, entry("lost", None)), tmp_path / "lost.html")))
    assert page.locator(".headline").inner_text().endswith("significantly above all others that ran.")


@pytest.mark.parametrize(("width", "hidden"), [(900, True), (390, True), (1280, False)])
def test_a_table_without_room_says_that_it_goes_on(open_page, full, tmp_path, width, hidden):
    small = write_page(leaderboard(entry("one", 0.5), entry("two", 0.4)), tmp_path / "small.html")
    page = ready(open_page(full if hidden else small, width=width))
    table = page.locator(".edges", has=page.locator(".leaderboard"))
    inside = table.locator(".scroll")
    wide = inside.evaluate("node => node.scrollWidth > node.clientWidth")
    assert wide == hidden
    assert table.locator(".sideways").is_visible() == wide
    shadow = "node => getComputedStyle(node, '::after').content !== 'none'"
    assert table.evaluate(shadow) == wide
    if wide:
        inside.evaluate("node => { node.scrollLeft = node.scrollWidth; }")
        until(page, "!document.querySelector('.leaderboard').closest('.edges').classList.contains('further')")
        assert not table.evaluate(shadow), "at its end nothing more is to come"


def test_charts_have_axes_marks_and_a_front(open_page, full):
    page = ready(open_page(full))
    page.wait_for_selector("#buckets .multiples svg")
    assert page.locator("#buckets .multiples").count() == 3
    assert page.locator("#cost figure svg[role=img]").count() == 2
    # Rows that were given conditions and rows that parsed them have a front each.
    assert page.locator("#cost figure").first.locator("path.front").count() == 2
    label = page.locator("#cost figure svg[role=img]").first.get_attribute("aria-label")
    assert "Front of given" in label
    # No label is cut off.
    for edges in page.evaluate(LABEL_EDGES):
        assert min(edges) > -1.5, edges


LABEL_EDGES = """[...document.querySelectorAll('figure svg[role=img], .leaderboard thead svg')].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')]
    .map((text) => text.getBoundingClientRect())
    .map((box) => [box.left - frame.left, frame.right - box.right, box.top - frame.top, frame.bottom - box.bottom]);
})"""
"""How far each label of each chart is from the edges of its chart, in pixels."""

LABEL_OVERLAPS = """[...document.querySelectorAll('#cost figure svg[role=img]')].map((svg) => {
  const boxes = [...svg.querySelectorAll('text.halo')].map((text) => text.getBoundingClientRect());
  const touch = (a, b) => a.left + 1 < b.right && b.left + 1 < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom;
  return boxes.filter((a, i) => boxes.some((b, j) => j < i && touch(a, b))).length;
})"""
"""How many labels of each scatter plot lie on another."""

CONTRAST = """(selector) => {
  const light = (colour) => {
    const parts = colour.match(/[0-9.]+/g).map(Number).slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const node = document.querySelector(selector);
  let behind = node;
  while (/, 0\\)$/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
  const colours = [getComputedStyle(node).color, getComputedStyle(behind).backgroundColor];
  const [bright, dim] = colours.map(light).sort((a, b) => b - a);
  return (bright + 0.05) / (dim + 0.05);
}"""
"""WCAG 2 contrast of an element's text with what lies behind it."""


def test_two_systems_are_compared_query_by_query(open_page, tiny):
    page = ready(open_page(tiny))
    row = page.locator(".queries tbody tr button", has_text="laptop weight over 2 kg")
    row.wait_for()
    rows = [row for row in page.locator(".leaderboard tbody th").all_inner_texts() if "BM25" in row]
    assert len(rows) == 5
    page.select_option("#pair-0", label=next(text.replace("\n", " ") for text in rows if "BM25_filter [given]" in text))
    page.select_option("#pair-1", label=next(text.replace("\n", " ") for text in rows if "QBM25 [parsed]" in text))
    assert "did different tasks" in page.locator("#queries").inner_text()
    row = page.locator(".queries tbody tr button", has_text="laptop weight over 2 kg")
    row.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".sides")
    assert row.get_attribute("aria-expanded") == "true"
    opened = page.locator(".open:not([hidden])")
    assert "Condition: laptop weight > 2 kilogram" in opened.inner_text()
    assert opened.locator("li.relevant mark.met").count()
    assert "\u2713 relevant" in opened.locator("li.relevant").first.inner_text()
    page.fill("#query-words", "staff")
    until(page, "document.querySelectorAll('.queries tbody tr:not(.open)').length === 1")
    assert "1 of 4 queries" in page.locator("#queries").inner_text()


def test_a_link_opens_a_comparison_and_choosing_one_makes_the_link(open_page, tiny):
    def pair(page):
        return [page.locator(f"#pair-{n} option:checked").inner_text().split()[0] for n in range(2)]

    page = ready(open_page(tiny))
    first = pair(page)
    assert "#" not in page.url
    page.locator("#queries button", has_text="\u21c4").click()
    assert pair(page) == first[::-1]
    link = page.url
    assert link.endswith(f"#compare={first[1]},{first[0]}")
    page.click("#sort-label")
    assert page.url.endswith(f"#sort=label&compare={first[1]},{first[0]}")
    page.goto("about:blank")
    page.goto(link)
    assert pair(ready(page)) == first[::-1]
    until(page, "document.getElementById('queries').getBoundingClientRect().top < window.innerHeight / 2")
    page.evaluate(f"location.hash = '#compare={first[0]},{first[1]}'")
    until(page, f"document.querySelector('#pair-0 option:checked').textContent.startsWith('{first[0]} ')")
    for nonsense in ("#compare=zz,a", "#compare=a", "#compare=%,<b>", "#queries"):
        page.evaluate(f"location.hash = '{nonsense}'")
        page.wait_for_timeout(50)
        assert pair(page) == first


def test_hostile_text_is_shown_as_it_is(open_page, tmp_path):
    corpus = pl.DataFrame({"doc_id": [BAD], "text": [BAD], "title": [BAD], "source_id": ["s"]})
    run = pl.DataFrame({"query_id": ["q0"], "doc_id": [BAD], "rank": [1]})
    qrels = pl.DataFrame({"query_id": ["q0"], "doc_id": [BAD], "grade": [1]})
    found = Collection(heads({BAD: run, "other": run}), qrels, corpus)
    rows = [
        Entry(BAD, BAD, "none", scored(0.5, queries=2)),
        Entry("other", "o", "none", scored(0.4, queries=2, seed=1)),
    ]
    view = make_leaderboard(
        BAD,
        [*rows, Entry("lost", "lost", "none", problem=BAD)],
        MEASURES,
        about={"command": BAD, "benchmark": {"name": BAD, BAD: BAD}},
        notes=[BAD],
        evidence=Evidence((Query("q0", BAD), Query("q1", BAD)), None, (found,)),
        tests=SignificanceTests(resamples=100),
    )
    page = ready(open_page(write_page(view, tmp_path / "page.html")))
    page.wait_for_selector(".queries tbody")
    page.fill("#query-words", "q0")
    page.locator(".queries tbody tr:not(.open) button").first.click()
    page.wait_for_selector(".hits")
    shown = page.locator("body").inner_text()
    assert shown.count("<img src=x onerror=") >= 8
    assert "<script>document.title" in page.locator(".hits").first.inner_text()
    assert page.title().startswith("Leaderboard: </script><script>")
    assert page.locator("img").count() == 0
    assert page.locator("main b", has_text="owned").count() == page.locator("main b .any", has_text="owned").count()


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_all_of_it_without_scrolling_sideways(open_page, tiny, dark):
    page = ready(open_page(tiny, width=390, height=844, dark=dark, is_mobile=True, has_touch=True))
    page.locator(".queries tbody tr button").first.tap()
    page.wait_for_selector(".sides")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    red, green, blue = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)")
    assert (max(red, green, blue) < 60) == dark
    # Text and ground differ enough to be read: WCAG's 4.5 to 1.
    for selector in (".soft", ".leaderboard .ci", ".lost .why", ".hits .relevant-mark", "mark", ".bar a"):
        assert page.evaluate(CONTRAST, selector) >= 4.5, selector


def test_one_system_or_none(open_page, tmp_path):
    page = ready(open_page(write_page(leaderboard(entry("only", 0.5)), tmp_path / "one.html")))
    assert names(page) == ["1"]
    assert "no two systems" in page.locator("#pairs").inner_text()
    page.wait_for_selector(".queries tbody tr")
    shown = [float(cell) for cell in page.locator(".queries tbody td:nth-child(2)").all_inner_texts()]
    assert shown == sorted(shown)
    page.locator(".queries tbody tr button").first.click()
    until(page, "document.querySelector('.open').innerText.includes('made without the runs')")
    assert "Nobody measured costs" in page.locator("#cost").inner_text()
    page = ready(open_page(write_page(leaderboard(entry("x", None), entry("y", None)), tmp_path / "none.html")))
    assert page.locator(".leaderboard .lost").count() == 2
    assert "No system has a run" in page.locator(".headline").inner_text()


def test_costs_that_are_missing_or_nothing_are_named_under_the_chart(open_page, tmp_path):
    costs = {
        "good": Cost(1, 10**6, 2.0, 3.0),
        "zero": Cost(0, 0, 0.0, 0.0),
        "nan": Cost(1, 5, float("nan"), 1.0),
        "none": None,
    }
    rows = [entry(name, 0.5 - n / 10, cost=cost) for n, (name, cost) in enumerate(costs.items())]
    page = ready(open_page(write_page(leaderboard(*rows), tmp_path / "page.html")))
    page.wait_for_selector("#cost figure svg[role=img]")
    assert (
        "Not in the chart: 2 (0), 3 (not measured), 4 (not measured)."
        in page.locator("#cost figure").first.inner_text()
    )


def test_forty_systems_keep_their_numbers_and_matrix(open_page, tmp_path):
    rows = [
        entry(
            f"system number {n} with a rather long name",
            0.9 - n / 60,
            seed=n,
            cost=Cost(1, 10 ** (3 + n % 7), 1 + n, 2 + n),
        )
        for n in range(40)
    ]
    page = ready(open_page(write_page(leaderboard(*rows), tmp_path / "page.html")))
    assert names(page)[-1] == "40"
    assert page.locator(".matrix tbody tr").count() == 40
    page.get_by_role("button", name="all", exact=True).click()
    page.wait_for_selector("#cost figure svg[role=img]")
    looks = page.evaluate("ran.map((i) => JSON.stringify(look(i)))")
    assert len(set(looks)) == 40
    assert page.evaluate(LABEL_OVERLAPS) == [0, 0]


def test_a_browser_that_cannot_decompress_says_so(open_page, full):
    page = open_page(full)
    ready(page)
    page.evaluate("delete window.DecompressionStream; for (const name of Object.keys(read)) delete read[name];")
    page.click("button[title='swap the two systems']")
    until(page, "document.querySelector('#queries').innerText.includes('DecompressionStream')")


def test_a_link_holds_what_was_chosen(open_page, full):
    page = ready(open_page(full))
    page.select_option("#measure", label="P@10")
    page.fill("#filter", "BM25")
    page.get_by_label("conditions given").uncheck()
    page.get_by_label("3 in the charts").uncheck()
    page.click("#sort-ms_median")
    link = page.url
    assert "measure=P@10&filter=BM25&show=" in link
    shown = page.locator(".leaderboard").inner_text()
    charts = page.evaluate("[...chosen.shown].sort()")
    page.goto("about:blank")
    page.goto(link)
    ready(page)
    assert page.locator(".leaderboard").inner_text() == shown
    assert page.evaluate("[...chosen.shown].sort()") == charts
    assert page.input_value("#filter") == "BM25"
    assert not page.get_by_label("conditions given").is_checked()
    assert page.locator("#measure option:checked").inner_text() == "P@10"
    page.evaluate("location.hash = '#filter=zzz&sort=<b>&show=%,x&charts=99&measure=no&compare=1'")
    until(page, "document.querySelector('.leaderboard').innerText.includes('No system passes')")
    assert page.evaluate("[chosen.sort.key, data.measures[chosen.measure]]") == ["ms_median", "P@10"]
    page.fill("#filter", "")
    for choice in ("conditions given", "3 in the charts"):
        page.get_by_label(choice).check()
    page.select_option("#measure", index=0)
    page.click("#sort-place")
    assert "#" not in page.url


def test_the_table_is_downloaded_as_csv_and_charts_as_png(open_page, tmp_path):
    rows = [
        entry("=SUM(A1)", 0.6, cost=Cost(1, 10**6, 2.0, 3.0)),
        entry('a, "b"', 0.3, seed=1, cost=Cost(1, 10**6, 3.0, 4.0)),
        entry("lost", None),
    ]
    view = leaderboard(*rows)
    page = ready(open_page(write_page(view, tmp_path / "page.html"), accept_downloads=True))
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    assert waiting.value.suggested_filename.endswith(".csv")
    table = pl.read_csv(waiting.value.path())
    assert table["system"].to_list() == ["'=SUM(A1)", 'a, "b"', "lost"]
    best = view.rows[0].cells["nDCG@10"]
    assert table["nDCG@10"].to_list() == [
        pytest.approx(view.rows[0].cells["nDCG@10"].mean, abs=1e-6),
        pytest.approx(view.rows[1].cells["nDCG@10"].mean, abs=1e-6),
        None,
    ]
    assert table["nDCG@10 low"][0] == pytest.approx(best.low, abs=1e-6)
    assert table["ms/query"].to_list() == [2.0, 3.0, None]
    page.wait_for_selector("#cost figure svg[role=img]")
    chart = page.locator("#cost figure svg[role=img]").first.bounding_box()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download Time per query as PNG").click()
    content = waiting.value.path().read_bytes()
    assert content.startswith(b"\x89PNG")
    size = [int.from_bytes(content[start : start + 4], "big") for start in (16, 20)]
    assert size == [round(3 * chart["width"]), round(3 * chart["height"])]


CLIPPED = """(selector) => {
  const box = document.querySelector('.leaderboard').closest('.scroll').getBoundingClientRect();
  return [...document.querySelectorAll(selector)].every((node) => {
    const own = node.getBoundingClientRect();
    return own.left >= box.left && own.right <= Math.min(box.right, innerWidth);
  });
}"""
"""Whether all of some elements are within the table's frame and the window, without scrolling sideways."""


def test_a_phone_shows_the_figure_first_and_a_wide_screen_the_costs(open_page, tmp_path):
    cost = Cost(12.5, 10**7, 2.0, 33.0, peak_bytes=10**9, extraction_seconds=99.1)
    names = ("BindBM25 [given]", "BM25_filter [parsed]", "SBERT(model=minilm) [parsed]")
    view = leaderboard(*(entry(name, 0.6 - n / 10, seed=n, cost=cost) for n, name in enumerate(names)))
    path = write_page(view, tmp_path / "page.html")
    phone = ready(open_page(path, width=390, height=844))
    assert phone.evaluate(CLIPPED, ".leaderboard td:nth-child(3)")
    assert phone.locator(".leaderboard .mean").first.bounding_box()["y"] < 844
    wide = ready(open_page(path, width=1400))
    assert wide.evaluate(CLIPPED, ".leaderboard td")
    assert wide.locator(".leaderboard thead th").last.inner_text().replace("\n", " ") == "peak MB"


@pytest.mark.parametrize(("low", "high"), [(0.438, 0.91), (0.1, 0.11), (0.0, 1.0), (3, 4), (120, 131), (0.49, 0.5)])
def test_axes_have_three_ticks_or_more(open_page, full, low, high):
    page = open_page(full)
    for options in ("{}", "{ zero: true, most: 3 }", "{ most: 2 }"):
        ticks = page.evaluate(f"scaleOf([{low}, {high}], 0, 100, {options}).ticks")
        assert 3 <= len(ticks) <= 12
    for factor in (11, 90, 1e5):
        assert len(page.evaluate(f"scaleOf([{low or 1}, {(low or 1) * factor}], 0, 100, {{ log: true }}).ticks")) >= 3


def test_the_page_begins_with_what_is_asked_and_what_was_found(open_page, tiny, full):
    page = ready(open_page(tiny))
    head = page.locator("main").inner_text().split("Measure")[0]
    assert page.locator(".verdict").inner_text() in head
    queries = page.locator(".samples q").all_inner_texts()
    assert any("laptop weight over 2 kg" in text for text in queries)
    assert 1 < len(queries) <= 5
    assert "laptop weight > 2 kilogram" in page.locator(".samples q", has_text="over 2 kg").get_attribute("title")
    assert page.locator(".samples").is_visible()
    assert ready(open_page(full)).locator(".samples").count() == 0, "without queries' texts"


def test_charts_name_their_rows_where_there_is_room(open_page, full, tmp_path):
    queries = [Query(f"q{i}", "t", conditions=(CONDITION["<>"[i % 2]],)) for i in range(60)]
    table = query_buckets(queries, lambda unit: "mass")
    long = leaderboard(entry("a name that is much too long for a chart of this size", 0.6), buckets=table, by="query")
    path = write_page(long, tmp_path / "long.html")
    for file, width, name in ((full, 1400, "BM25"), (full, 390, "BM25"), (path, 1400, "1")):
        page = ready(open_page(file, width=width))
        page.wait_for_selector("#buckets .multiples svg")
        words = page.locator("#buckets .multiples svg").first.locator("text").all_text_contents()
        assert name in words, (width, words)
        for edges in page.evaluate(LABEL_EDGES):
            assert min(edges) > -1.5, (width, edges)


def test_the_matrix_is_headed_by_names_where_there_is_room(open_page, full):
    page = ready(open_page(full, width=1400))
    named = page.locator(".matrix thead th").all_inner_texts()[1:]
    assert sorted(named) == sorted(page.locator(".matrix tbody th .clip").all_inner_texts())
    assert not any(name.isdigit() for name in named)
    narrow = ready(open_page(full, width=390)).locator(".matrix thead th").all_inner_texts()
    assert all(name.isdigit() for name in narrow[1:])
