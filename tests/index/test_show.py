"""What `qbench index show` says, as lines of text."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from qbench.errors import UnknownNameError
from qbench.index import build_index
from qbench.index import show as views
from qbench.quantities.extractors import ExtractorOptions
from tests.index.test_build import make_corpus


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("show")
    return build_index(make_corpus(folder / "gold"), folder / "index", extractor=ExtractorOptions("given"), workers=1)


def test_overview(index):
    assert views.counts_lines(index) == ["60 documents, 60 sentences, 120 quantities, 4 pairs, 4 concepts, 2 units"]
    pairs = [line.split() for line in views.top_pairs(index, 2)]
    assert pairs[0] == ["concept", "unit", "mentions", "sentences", "mean", "low", "high"]
    assert pairs[1] == ["laptop", "weight", "kilogram", "60", "60", "4.4", "1.5", "7.5"]
    assert len(pairs) == 3
    units = [line.split() for line in views.top_units(index, 5)]
    assert units[1:] == [["dollar", "currency", "60", "3"], ["kilogram", "mass", "60", "1"]]


def test_selection_by_concept_and_unit(index):
    both = views.select(index, "Laptop  WEIGHT", "kg")
    assert (both.unit, len(both.values), both.concepts) == ("kilogram", 60, {"laptop weight": 60})
    by_unit = views.select(index, None, "dollar")
    assert by_unit.concepts == {"price 1": 18, "price 2": 18, "price 0": 18}
    assert len(by_unit.values) == 54


@pytest.mark.parametrize(
    ("concept", "unit", "hint"),
    [
        ("laptop", None, "Close concepts: 'laptop weight'"),
        ("weigth", None, "Close concepts: "),
        (None, "dollars and cents", "Close units: .*'dollar'"),
        ("laptop weight", "dollar", "by unit: 'kilogram'"),
        ("nothing [of", "kilogram", "by concept: 'laptop weight'"),
    ],
)
def test_nothing_found_names_what_is_close(index, concept, unit, hint):
    with pytest.raises(UnknownNameError, match=hint.replace("[", r"\[")):
        views.select(index, concept, unit)


def test_examples_spread_over_the_values_and_mark_the_mention(index):
    shown = views.examples(index, "laptop weight", None, 3)
    assert [example.quantity for example in shown] == ["1.5 kilogram", "4.5 kilogram", "7.5 kilogram"]
    for example in shown:
        assert example.text[example.start : example.end] == example.quantity.split()[0]


def test_bounds_are_part_of_an_example(tmp_path):
    texts = ["The weight of the laptop is below 1.4 kg.", "The weight of the laptop is between 1.5 and 2 kg."]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"id": t[-9:], "text": t}) + "\n" for t in texts))
    index = build_index(tmp_path / "c.jsonl", tmp_path / "index", workers=1)
    shown = views.examples(index, None, "kilogram", 3)
    assert [example.quantity for example in shown] == ["< 1.4 kilogram", "1.5 to 2 kilogram"]


def test_text_of_a_corpus_cannot_drive_the_terminal():
    assert views.printable("a\x1b[31mb\u202ec\td") == "a [31mb c d"


@settings(deadline=None)
@given(arrays(np.float64, st.integers(1, 200), elements=st.floats(-1e12, 1e12)))
def test_a_histogram_counts_every_value_once(values):
    lines = views.histogram(values)
    assert len(lines) <= views.BINS + 1
    bars = [line.rstrip("█▏▎▍▌▋▊▉ ") for line in lines]
    assert sum(int(line.split()[-1].replace(",", "")) for line in bars) == len(values)
    assert max(map(len, lines)) < 120


def test_a_wide_range_is_shown_in_ratios():
    lines = views.histogram(np.array([0.0, *(10.0**n for n in range(9))]))
    assert lines[0].split()[:4] == ["0", "or", "less", "1"]
    edges = [float(line.split()[0].replace(",", "")) for line in lines[1:]]
    ratios = np.diff(np.log(edges))
    assert np.allclose(ratios, ratios[0], rtol=1e-3)


def test_figures_by_hand():
    lines = views.figures(np.array([1.0, 2.0, 2.0, 5.0]))
    assert lines[0] == "4 mentions, 3 different values, mean 2.5"
    assert lines[1].startswith("lowest 1, ")
    assert lines[1].endswith("highest 5")
    assert "median 2" in lines[1]
    assert lines[2] == "most frequent: 2 (2), 1 (1), 5 (1)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-2.5, "-2.5"),
        (131_800_000.00000001, "131,800,000"),
        (1234.567, "1,234.57"),
        (1e21, "1e+21"),
        (5e-9, "5e-09"),
    ],
)
def test_numbers(value, text):
    assert views.number(value) == text
