"""TOML files against types: values, and errors that name file, line, entry, value and remedy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from qbench.errors import InputError, OptionError
from qbench.options import option
from qbench.toml_files import TomlFile, read_toml


@dataclass(frozen=True)
class Row:
    name: str
    size: int = option(1, help="a size", low=1, high=9)
    share: float | None = option(None, help="a share", low=0, high=1)
    kind: Literal["plain", "masked"] = "plain"
    words: tuple[str, ...] = ()
    extra: Any = None

    def __post_init__(self):
        if self.name == "nobody":
            raise OptionError("name has no owner", value=self.name, remedy="Take another")


@dataclass(frozen=True)
class File:
    title: str
    rows: tuple[Row, ...] = option((), help="rows", key="row")
    limits: Mapping[str, float] = option({}, help="limits", low=0, high=1, key="limit")
    quiet: bool = False


GOOD = """# A comment.
title = "T"
quiet = true

[[row]]
name = "a"
words = "one"
share = 1

[[row]]
name = "b"
kind = "masked"
words = ["one", "two"]
extra = { anything = [1] }

[limit]
"a b" = 0.5
"""


def read(tmp_path, text):
    path = tmp_path / "f.toml"
    path.write_text(text, encoding="utf-8")
    return read_toml(path, "rows", File)


def test_a_file_is_a_value_of_its_type(tmp_path):
    file = read(tmp_path, GOOD)
    assert file.rows[0] == Row("a", share=1.0, words=("one",))
    assert file.rows[1] == Row("b", kind="masked", words=("one", "two"), extra={"anything": [1]})
    assert (file.title, dict(file.limits), file.quiet) == ("T", {"a b": 0.5}, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "T"', "", "f.toml: title is missing. Needed: title"),
        ('title = "T"', "title = 3", "f.toml:2: title should be a text (found 3)"),
        ("quiet = true", "quiet = 1", "f.toml:3: quiet should be true or false (found 1)"),
        ("quiet = true", "quite = true", "f.toml:3: unknown entry (found 'quite'). Did you mean quiet? Known: title"),
        ("share = 1", "share = true", "f.toml:8: row a, share should be a number (found True)"),
        ("share = 1", "share = 2", "f.toml:8: row a, share lies between 0 and 1 (found 2.0)"),
        ("share = 1", "size = 1.5", "f.toml:8: row a, size should be a whole number (found 1.5)"),
        ("share = 1", "sizes = 1", "f.toml:8: row a: unknown entry (found 'sizes'). Did you mean size?"),
        ('kind = "masked"', 'kind = "m"', "f.toml:12: row b, kind should be one of plain, masked (found 'm')"),
        ('["one", "two"]', '["one", " "]', "f.toml:13: row b, words should be a text or a list of texts"),
        ('["one", "two"]', "3", "f.toml:13: row b, words should be a list of texts (found 3)"),
        ('name = "b"\n', "", "f.toml:10: row 2: name is missing. Needed: name"),
        ('name = "b"', 'name = "nobody"', "f.toml:11: row nobody: name has no owner (found 'nobody'). Take another"),
        ('"a b" = 0.5', '"a b" = -1', "f.toml:17: limit, a b lies between 0 and 1 (found -1.0)"),
        ("[[row]]", "[row]", "not valid TOML"),
        ("quiet = true", "quiet = ", "f.toml:3: not valid TOML: Invalid value"),
    ],
)
def test_errors_name_line_entry_value_and_remedy(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        read(tmp_path, GOOD.replace(old, new))
    assert message in str(caught.value)


def test_a_table_where_a_list_of_tables_belongs(tmp_path):
    with pytest.raises(InputError, match=r"f\.toml:2: row should be a list of tables, \[\[row\]\]"):
        read(tmp_path, 'title = "T"\n[row]\nname = "a"\n')


def test_lines_of_entries(tmp_path):
    file = TomlFile(tmp_path / "f.toml", GOOD)
    assert file.line("row", 1, "words") == 13
    assert file.line("row", 1, "absent") == 10
    assert file.line("limit", "a b") == 17
    assert file.line("absent") is None


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="no such rows file"):
        read_toml(tmp_path / "none.toml", "rows", File)


@pytest.mark.parametrize("text", ["a = " + "[" * 20_000 + "]" * 20_000, "a = " + "{b = " * 3_000, "a = " + "9" * 5_000])
def test_toml_that_is_too_deep_or_has_a_number_of_too_many_digits_is_one_line(tmp_path, text):
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(InputError, match=r"x\.toml: not valid TOML: (too many brackets|a number of too many digits)"):
        read_toml(tmp_path / "x.toml", "x", Mapping[str, str])
