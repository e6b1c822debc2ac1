"""Texts of products: what a thing weighs and costs is said after it was named, and is asked about all the same."""

from __future__ import annotations

import json

import polars as pl
import pytest

from qbench.generation.generate import generate
from qbench.generation.options import GenerationOptions
from qbench.index import build_index

LAMPS = ("Oslo desk lamp", "Bergen floor lamp", "Turku wall lamp", "Malmo reading lamp")

STYLES = {
    "sentences": (
        "",
        "The {name} is made of steel. It has a 32 GB memory. It weighs {kilograms} kg and costs {euros} euros.",
    ),
    "figures": ("", "{name} (steel). 30 cm shade, 32 GB memory. Weighs {kilograms} kg. Costs {euros} euros."),
    "titles": ("{name}", "30 cm shade, 32 GB memory. Weighs {kilograms} kg. Costs {euros} euros."),
}
"""Title and text of a product, by style."""


@pytest.fixture(scope="module", params=sorted(STYLES))
def index(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    title, text = STYLES[request.param]
    with (folder / "lamps.jsonl").open("w") as lines:
        for number in range(80):
            said = {"name": LAMPS[number % 4], "kilograms": 1 + number // 4 % 9 / 10, "euros": 20 + number // 4 * 3}
            row = {"doc_id": f"l{number}", "title": title.format(**said), "text": text.format(**said)}
            lines.write(json.dumps(row) + "\n")
    return build_index(folder / "lamps.jsonl", folder / "index", workers=1)


def test_each_text_is_one_row_which_names_its_thing(index):
    sentences = index.sentences().collect()
    assert sentences.height == 80
    for text, number in zip(sentences["text"], range(80), strict=True):
        assert text.lower().startswith(("the " if text.startswith("The") else "") + LAMPS[number % 4].lower())


def test_what_it_weighs_and_costs_is_its_own(index):
    said = index.quantities().collect().filter(pl.col("unit").is_in(["kilogram", "euro"]))
    assert said.height == 160
    assert all(concept.endswith("lamp") for concept in said["concept"])
    assert said["concept"].n_unique() == 4


def test_weights_and_prices_are_asked_about(index, tmp_path):
    generate(index, tmp_path / "lamps", GenerationOptions())
    queries = pl.read_parquet(tmp_path / "lamps" / "queries.parquet")["text"].to_list()
    assert sum(text.endswith(" kg") for text in queries) > 20
    assert sum("euro" in text for text in queries) > 20
    assert all("lamp" in text or "memory" in text or "shade" in text for text in queries)
