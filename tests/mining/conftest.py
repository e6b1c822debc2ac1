"""A small corpus in which reports repeat each other's facts in other words."""

import json

import pytest

from qbench.index.build import build_index
from qbench.mining.describe import describe

TOWNS = "Aldergate Brookmoor Castlewick Dunmere Eastholt Fernleigh Greywater Hazelford Ivorydale Kestrelby".split()


def facts():
    """Of each town two reports: population and budget, in other words; and numbers that no other report has."""
    for n, town in enumerate(TOWNS):
        people, budget = 61_237 + 1_013 * n, 12.37 + 1.71 * n
        yield (
            f"{town}-a",
            f"In 2019, the population of {town} was {people:,} people. "
            f"The yearly budget of {town} was ${budget:.2f} million. "
            f"The library of {town} lent {4_567 + 777 * n:,} books.",
        )
        yield (
            f"{town}-b",
            f"{town} had a population of {people:,} people in 2019. The council of {town} had a budget of "
            f"${round(budget * 1e6):,}. A fine of ${3_456 + n} may be imposed.",
        )


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("towns") / "towns.jsonl"
    path.write_text("\n".join(json.dumps({"doc_id": name, "text": text}) for name, text in facts()))
    return path


@pytest.fixture(scope="session")
def index(corpus):
    return build_index(corpus, corpus.parent / "index", workers=1).path


@pytest.fixture(scope="session")
def descriptions(index):
    return describe(index, index.parent / "descriptions", workers=1)
