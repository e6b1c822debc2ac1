"""The reference page of units tells of the units that there are."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "units.md"


def test_the_page_has_the_present_families():
    script = runpy.run_path(str(ROOT / "scripts" / "unit_families.py"))
    text = PAGE.read_text(encoding="utf-8")
    assert script["BEGIN"] in text
    assert script["page"](text) == text, "run: python scripts/unit_families.py"
