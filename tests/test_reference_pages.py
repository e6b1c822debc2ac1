"""The reference pages say what the code says."""

import re
import runpy
from pathlib import Path

import pytest

from qbench.cli.main import VERBS
from qbench.evaluation.measures import DEFAULT_MEASURES, DESCRIBED, parse_measures

ROOT = Path(__file__).parents[1]
WRITTEN = runpy.run_path(str(ROOT / "scripts" / "reference_pages.py"))["WRITTEN"]


@pytest.mark.parametrize("name", WRITTEN)
def test_the_page_is_the_one_that_the_code_makes(name):
    page = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert page == WRITTEN[name](), "run: python scripts/reference_pages.py"


def test_every_described_measure_parses_to_its_own_name():
    assert parse_measures(DESCRIBED) == tuple(DESCRIBED)
    assert set(DEFAULT_MEASURES) <= set(DESCRIBED)


def test_every_page_of_the_docs_is_in_a_table_of_contents():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {str(page.relative_to(ROOT / "docs").with_suffix("")) for page in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages - {"index"} if f"\n{page}\n" not in index} == set()


def test_every_verb_has_a_section():
    """That they are there is checked where all links are."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", index.partition("Each verb, and")[2], re.MULTILINE))
    assert rows.keys() == VERBS.keys()
    for verb, cell in rows.items():
        page, _, anchor = re.findall(r"\]\(([^)#]+)(#)?([^)]*)\)", cell)[0]
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        section = text
        if anchor:
            heads = {re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-"): head for head in
                     re.findall(r"^#+ (.+)$", text, re.MULTILINE)}  # fmt: skip
            section = text.partition(f" {heads[anchor]}\n")[2].partition("\n## ")[0]
        assert f"qbench {verb}" in section, verb
