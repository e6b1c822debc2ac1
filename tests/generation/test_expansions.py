"""The dictionary of concept expansions."""

from __future__ import annotations

import json

import pytest

from qbench.errors import InputError
from qbench.generation.expansions import Expansions


def test_tsv_and_json_say_the_same(tmp_path):
    tsv, js = tmp_path / "a.tsv", tmp_path / "a.json"
    tsv.write_text("# comment\nNet  Income\tprofit\n\nnet income\tearnings\nebit\tprofit\n", encoding="utf-8-sig")
    js.write_text(json.dumps({"net income": ["profit", "Earnings", "profit", "net income"], "ebit": ["profit"]}))
    for path in (tsv, js):
        expansions = Expansions.load(path)
        assert expansions.lookup("Net income") == ("profit", "earnings")
        assert expansions.concepts("PROFIT") == ("net income", "ebit")
        assert expansions.lookup("unknown") == ()
        assert len(expansions) == 2
        assert ("ebit", "profit") in expansions.pairs()


def test_no_file_is_an_empty_dictionary():
    assert len(Expansions.load(None)) == 0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "net income\n", "a.tsv:1: not a concept, a tab"),
        ("a.tsv", "x\ty\nnet income\tprofit\tmore\n", "a.tsv:2"),
        ("a.tsv", "net income\t \n", "a.tsv:1"),
        ("a.tsv", "net|income\tprofit\n", "cannot stand in one"),
        ("a.json", "[1]", "not a JSON object"),
        ("a.json", '{"a": "b"}', "not a list of texts"),
        ("a.json", "{", "not valid JSON"),
    ],
)
def test_bad_files_are_named(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        Expansions.load(tmp_path / name)


def test_missing_file(tmp_path):
    for name in ("no.tsv", "no.json"):
        with pytest.raises(InputError, match="no such expansions file"):
            Expansions.load(tmp_path / name)
