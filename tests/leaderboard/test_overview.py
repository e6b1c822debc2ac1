"""Several leaderboards on one page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qbench.cli.boards import app
from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.leaderboard.overview import Overview, Place, read_overview, write_overview
from qbench.leaderboard.page import FILES, write_page
from tests.leaderboard.test_table import entry, leaderboard

BAD = "</script><script>document.title='owned'</script><b>x"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("boards")
    first = leaderboard(entry("good", 0.8), entry("bad", 0.2, seed=1), entry(BAD, 0.5, seed=2))
    second = leaderboard(entry("bad", 0.7), entry("good", 0.3, seed=1), entry("lost", None))
    first.write(folder / "one")
    second.write(folder / "two")
    write_page(first, folder / "one" / "own page.html")
    return folder / "one", folder / "two"


def test_systems_are_ordered_by_mean_rank_and_a_missing_run_has_none(two):
    overview = read_overview(two)
    assert overview.measure == "nDCG@10"
    assert overview.boards == ("bench", "bench (2)") or len(set(overview.boards)) == 2
    assert list(overview.rows)[-1] == BAD
    assert overview.mean_rank(BAD) is None
    assert overview.rows[BAD][1] is None
    assert "lost" not in overview.rows
    known = json.loads((two[0] / "leaderboard.json").read_text())["rows"]
    ranks = [
        (row["measures"]["nDCG@10"]["rank_best"] + row["measures"]["nDCG@10"]["rank_worst"]) / 2
        for row in known
        if row["label"] == "good"
    ]
    assert overview.rows["good"][0].rank == ranks[0]
    assert read_overview(two, "P@10").measure == "P@10"


def test_the_mean_rank_is_of_the_middles():
    places = (Place(0.5, 0.4, 0.6, 1, 4), Place(0.5, 0.4, 0.6, 2, 2))
    assert Overview("AP", ("a", "b"), {"x": places}).mean_rank("x") == 2.25


def test_what_cannot_be_compared_is_an_error(two, tmp_path):
    with pytest.raises(OptionError, match="twos"):
        read_overview(two[:1])
    with pytest.raises(InputError, match="no leaderboard here"):
        read_overview([*two, tmp_path])
    with pytest.raises(UnknownNameError, match="does not have this measure"):
        read_overview(two, "Bpref")
    for content in (
        "[]",
        "{",
        '{"name": "x", "primary": "nDCG@10", "measures": ["nDCG@10"], "rows": [{"label": "a"}]}',
    ):
        (tmp_path / "leaderboard.json").write_text(content)
        with pytest.raises(InputError):
            read_overview([two[0], tmp_path])


def test_the_page_sorts_filters_links_and_shows_names_as_text(open_page, two, tmp_path):
    page_path = two[0].parent / "all.html"
    write_overview(read_overview(two, page=page_path), page_path)
    page = open_page(page_path, width=390)
    page.wait_for_selector("html[data-ready=all]")
    names = page.locator("tbody th")
    assert names.all_inner_texts()[-1] == BAD
    assert "owned" not in page.title()
    assert page.locator("thead a").first.get_attribute("href") == "one/own%20page.html"
    page.click("thead button >> nth=2")
    assert names.all_inner_texts()[0] == "good"
    page.click("thead button >> nth=3")
    assert names.all_inner_texts()[0] == "bad"
    assert names.all_inner_texts()[-1] == BAD
    page.fill("#filter", "goo")
    assert names.all_inner_texts() == ["good"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_link_holds_the_filter_and_the_order(open_page, two):
    page_path = two[0].parent / "linked.html"
    write_overview(read_overview(two, page=page_path), page_path)
    page = open_page(page_path)
    page.wait_for_selector("html[data-ready=all]")
    assert not page.evaluate("location.hash")
    page.click("thead button >> nth=3")
    page.fill("#filter", "d & b")
    assert page.evaluate("location.hash") == "#filter=d+%26+b&sort=-2"
    page.fill("#filter", "d")
    again = open_page(Path(f"{page_path}"), width=390)
    again.goto(page.evaluate("location.href"))
    again.reload()
    again.wait_for_selector("html[data-ready=all]")
    assert (
        again.locator("tbody th").all_inner_texts()
        == page.locator("tbody th").all_inner_texts()
        == ["bad", "good", BAD]
    )
    assert again.input_value("#filter") == "d"
    assert again.locator("thead [aria-sort=descending]").count() == 1
    again.goto(f"{page_path.absolute().as_uri()}#filter=goo&sort=nothing")
    again.reload()
    assert again.locator("tbody th").all_inner_texts() == ["good"]


def test_the_script_makes_no_markup_of_text():
    script = (FILES / "overview" / "overview.js").read_text(encoding="utf-8")
    assert not any(word in script for word in ("innerHTML", "outerHTML", "document.write", "eval(", "http"))


def test_the_verb(two, tmp_path):
    result = CliRunner().invoke(app, [*map(str, two), "--html", str(tmp_path / "all.html")])
    assert result.exit_code == 0, result.output
    assert "mean rank  system" in result.output
    assert Path(tmp_path / "all.html").read_text().startswith("<!doctype html>")
    result = CliRunner().invoke(app, [*map(str, two), "--format", "json"])
    assert json.loads(result.stdout)[-1]["mean_rank"] is None
