"""From a description to quantities with evidence."""

import pytest

from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.mining.retrieve import open_descriptions, retrieve_quantity


def test_the_best_answer_states_the_fact(descriptions):
    asked = ["population of Dunmere in 2019", "books that the library of Greywater lent", "zzz"]
    population, books, nothing = retrieve_quantity(descriptions, asked, top=2)
    assert {answer.value for answer in population} == {64_276.0}
    assert {answer.source_id for answer in population} == {"Dunmere-a", "Dunmere-b"}
    best = books[0]
    assert (best.value, best.unit) == (9_229.0, "book")
    assert next(best.sentence[a:b] for a, b in best.mention) == "9,229"
    assert "Greywater" in best.description
    assert nothing == []


def test_an_index_is_described_once_beside_itself(index):
    made = open_descriptions(index)
    assert made.path.name == ".index.descriptions"
    assert not open_descriptions(index).new
    assert made.manifest.digest == open_descriptions(made.path).manifest.digest


def test_what_cannot_be(descriptions, corpus):
    with pytest.raises(OptionError, match="only a first stage"):
        retrieve_quantity(descriptions, ["tea"], system="QBM25")
    with pytest.raises(UnknownNameError):
        retrieve_quantity(descriptions, ["tea"], system="BM52")
    with pytest.raises(OptionError, match="top is at least 1"):
        retrieve_quantity(descriptions, ["tea"], top=0)
    with pytest.raises(InputError):
        open_descriptions(corpus.parent / "none")
