"""Templates: the file that comes with qbench, and what is wrong with broken ones."""

from __future__ import annotations

import re

import numpy as np
import pytest

from qbench.errors import InputError
from qbench.generation.templates import Wording, load_templates
from qbench.quantities.types import COMPARATORS
from qbench.resources import resource

GOOD = resource("templates/queries.toml").read_text(encoding="utf-8")


def test_every_comparator_can_be_worded():
    templates = load_templates()
    for comparator in COMPARATORS:
        seen = set()
        for seed in range(50):
            wording = Wording("5", "8", "$", "")
            text, name = templates.render("net income", comparator, wording, np.random.default_rng(seed))
            assert "net income" in text
            assert "$5" in text
            assert ("$8" in text) is (comparator == "between")
            assert "{" not in text
            assert name
            seen.add(text)
        assert len(seen) > 3


def test_a_bare_number_never_stands_before_its_concept():
    templates = load_templates()
    for comparator in COMPARATORS:
        for seed in range(40):
            text, _ = templates.render("employees", comparator, Wording("5", "8"), np.random.default_rng(seed))
            assert text.startswith("employees")


@pytest.mark.parametrize(
    ("about", "comparator", "texts"),
    [
        ("count", ">", {"more than 300 workers", "over 300 workers"}),
        ("count", "=", {"exactly 300 workers"}),
        ("count", "between", {"between 300 and 400 workers", "300 to 400 workers"}),
        (
            "up",
            ">=",
            {
                f"{words} {phrase} 300"
                for words in ("workers up by", "workers rose by", "increase in workers of")
                for phrase in ("at least", "no less than")
            },
        ),
        (
            "up",
            "<=",
            {
                f"{words} {phrase} 300"
                for words in ("workers up by", "workers rose by", "increase in workers of")
                for phrase in ("at most", "no more than", "up to")
            },
        ),
        ("down", "between", {"workers down by between 300 and 400"}),
    ],
)
def test_counts_and_changes_have_templates_of_their_own(about, comparator, texts):
    templates = load_templates()
    asked = {
        templates.render("workers", comparator, Wording("300", "400"), np.random.default_rng(n), about)[0]
        for n in range(60)
    }
    assert asked == texts


def test_without_templates_for_changes_those_for_levels_are_used(tmp_path):
    path = tmp_path / "mine.toml"
    parts = re.split(r"(?m)^(?=\[)", GOOD)
    kept = "".join(part for part in parts if "\nabout =" not in part and not part.startswith("[amount"))
    path.write_text(kept, encoding="utf-8")
    text, _ = load_templates(path).render("sales", ">", Wording("5", "5", "$"), np.random.default_rng(1), "up")
    assert "sales" in text


def test_strict_phrases_only():
    phrases = load_templates().phrases
    assert "no more than" in phrases["<="]
    assert not set(phrases["<"]) & {"no more than", "at most", "up to"}
    assert not set(phrases[">"]) & {"at least", "no less than"}


def test_the_paper_order_and_joins():
    templates = load_templates()
    assert "{concept} {condition} {unit_before}{value}{unit_after}" in {t.text for t in templates.templates}
    joined = {templates.join(["a", "b"], np.random.default_rng(i)) for i in range(20)}
    assert joined == {"a and b", "a, b", "a with b"}
    assert templates.join(["a"], np.random.default_rng(0)) == "a"


def test_braces_in_a_concept_are_text():
    text, _ = load_templates().render("{value} {x}", ">", Wording("5", "5"), np.random.default_rng(0))
    assert "{value} {x}" in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{concept} {condition} {unit_before}{value}{unit_after}", "{concept} {value}", "must stand there once"),
        ('"{concept} {condition}"', '"{concept} {condition} {price}"', "unknown slot {price}"),
        ('"{concept} {condition}"', '"{concept.words} {condition}"', "unknown slot"),
        ('"{concept} {condition}"', '"{concept!r} {condition}"', "nothing else"),
        ('"{concept} {condition}"', '"{concept {condition}"', "slot|braces"),
        ('"between" = [', '"amid" = [', "phrases, amid should be one of"),
        ('name = "count"', 'name = "paper"', "two templates have one name"),
        ('"!=" = ["not"', '"!=" = [" "', "phrases, != should be"),
        ('comparators = ["between"]', 'comparators = ["between", "="]', "no other comparator"),
        ("[joins]", "[jions]", "unknown entry"),
        ('2 = ["{0} and {1}"', '2 = ["{0} and {2}"', "unknown slot"),
        ('"from {unit_before}{low} to', '"from {low} to', "needs"),
        ("[phrases]", "[phrases", "not valid TOML"),
    ],
)
def test_broken_templates_are_named(tmp_path, old, new, message):
    assert old in GOOD
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    if message == "needs":
        path.write_text(GOOD.replace("from {unit_before}{low} to {unit_before}{high}", "from {low} to {high}"))
    with pytest.raises(InputError, match=message) as caught:
        load_templates(path)
    assert str(path) in str(caught.value)


def test_missing_and_unreadable_files(tmp_path):
    with pytest.raises(InputError, match="no such templates file"):
        load_templates(tmp_path / "nothing.toml")
    with pytest.raises(InputError, match="a folder"):
        load_templates(tmp_path)
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        load_templates(tmp_path / "bad.toml")
