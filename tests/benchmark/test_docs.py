"""The reference names what the code has."""

import re
from pathlib import Path

import pytest

from qbench.benchmark.parquet import SCHEMAS
from qbench.quantities.types import Condition

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "reference" / "benchmark-format.md").read_text(encoding="utf-8")
CHECKS = [*(ROOT / "qbench" / "benchmark").glob("check*.py")]


def rows(title):
    """The words in the first column of the tables under a heading."""
    section = re.split(r"^#+ ", REFERENCE.split(f" {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    cells = re.findall(r"^\| ([^|]+?) \|", section, flags=re.MULTILINE)
    return [word.strip() for cell in cells for word in cell.split(",")]


@pytest.mark.parametrize("table", SCHEMAS)
def test_every_column_is_in_the_reference(table):
    assert set(SCHEMAS[table]()) <= set(rows(table))


def test_every_field_of_a_condition_is_in_the_reference():
    assert set(Condition.__slots__) <= set(rows("queries"))


def test_every_rule_is_in_the_reference():
    source = "".join(path.read_text(encoding="utf-8") for path in CHECKS)
    rules = set(re.findall(r'report\(\s*"([a-z-]+)"', source)) | set(re.findall(r'Finding\("([a-z-]+)"', source))
    rules |= {f"label-{name}" for name in re.findall(r'^ +\("(\w+)", (?:level|"warning")', source, flags=re.MULTILINE)}
    assert len(rules) > 20
    assert rules == set(rows("Rules")) - {"rule", "---"}
