"""Pairs as training data: parts that do not leak, samples that do not depend on order, bad input by name."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from qbench.errors import InputError
from qbench.training.mined_pairs import read_pairs, sampled
from tests.encoder_factories import regular_pairs, write_pairs
from tests.resealed import reseal

DESCRIPTIONS, PAIRS = regular_pairs(documents=16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("pairs") / "pairs", DESCRIPTIONS, PAIRS)


def written(tmp_path, pairs, descriptions=DESCRIPTIONS):
    return write_pairs(tmp_path / "changed", descriptions, pairs)


def sources(data, positions):
    return {data.ids[i].partition("s")[0] for i in positions}


def test_training_touches_no_document_that_is_held_out_or_tested(folder):
    data = read_pairs(folder, dev_share=0.2, seed=3)
    held, tested = sources(data, data.dev.query), sources(data, data.test.query)
    assert held
    assert tested == {"d3", "d7", "d11", "d15"}
    assert not held & tested
    assert not (sources(data, data.train.query) | sources(data, data.train.doc)) & (held | tested)
    parts = (data.train, data.dev, data.test)
    assert sum(map(len, parts)) + data.counts["left_out"]["across_splits"] == len(PAIRS)
    assert [p.counts() for p in parts] == list(data.counts["splits"].values())
    assert sources(data, read_pairs(folder, dev_share=0.2, seed=4).dev.query) != held


def test_the_order_of_the_rows_changes_nothing(folder, tmp_path):
    one, two = (read_pairs(f, dev_share=0.2, seed=3) for f in (folder, written(tmp_path, PAIRS[::-1])))
    for part in ("train", "dev", "test"):
        for column in ("query", "doc", "positive"):
            np.testing.assert_array_equal(getattr(getattr(one, part), column), getattr(getattr(two, part), column))


def test_without_a_held_out_part_everything_else_trains(folder):
    data = read_pairs(folder, dev_share=0, seed=3)
    assert len(data.dev) == 0
    assert len(data.train) > len(read_pairs(folder, dev_share=0.2, seed=3).train)


def test_each_epoch_samples_anew_and_each_query_by_itself(folder, tmp_path):
    data = read_pairs(folder, dev_share=0, seed=3)
    first, again, second = (sampled(data, data.train, 1, 1, epoch) for epoch in ("1", "1", "2"))
    assert first.tolist() == again.tolist() != second.tolist()
    kept = data.train.rows(first)
    assert kept.positive.sum() == data.train.positive.sum()
    for query in np.unique(data.train.query):
        against = (data.train.query == query) & ~data.train.positive
        assert ((kept.query == query) & ~kept.positive).sum() == min(1, against.sum())
    fewer = read_pairs(written(tmp_path, [row for row in PAIRS if row[0] != "d0s0#0"]), dev_share=0, seed=3)
    theirs = fewer.train.rows(sampled(fewer, fewer.train, 1, 1, "1"))
    ours = {(q, d) for q, d in zip(kept.query, kept.doc, strict=True) if data.ids[q] != "d0s0#0"}
    assert ours == set(zip(theirs.query, theirs.doc, strict=True))


def test_a_cap_takes_queries_with_a_paraphrase_first(tmp_path):
    lonely = [(f"d{n}s{p}#0", f"d{n}s{p + 1}#0", "confusing", "train") for n in (0, 2) for p in (0, 2)]
    some = [("d4s0#0", "d5s0#0", "paraphrase", "train"), ("d4s0#0", "d5s1#0", "confusing", "train")]
    data = read_pairs(written(tmp_path, lonely + some), dev_share=0, seed=3)
    for epoch in "123":
        chosen = data.train.rows(sampled(data, data.train, 5, 1, epoch, max_pairs=3))
        assert len(chosen) == 3
        assert (chosen.query == data.ids.index("d4s0#0")).sum() == 2


def test_duplicates_and_empty_descriptions_are_counted(tmp_path):
    descriptions = [(name, "  " if name == "d0s0#0" else text, source) for name, text, source in DESCRIPTIONS]
    pairs = [*PAIRS, ("d1s0#0", "d5s0#0", "duplicate", "train")]
    data = read_pairs(written(tmp_path, pairs, descriptions), dev_share=0, seed=3)
    empty = sum("d0s0#0" in row[:2] for row in PAIRS)
    assert data.counts["left_out"]["duplicates"] == 1
    assert data.counts["left_out"]["empty_descriptions"] == empty > 0
    assert data.ids.index("d0s0#0") not in {*data.train.query, *data.train.doc}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: [row for row in rows if row[2] != "confusing"], "no confusing pairs"),
        (lambda rows: [row for row in rows if row[2] != "paraphrase"], "no paraphrases to learn from"),
        (lambda rows: [row for row in rows if row[3] == "test"], "no paraphrases to learn from"),
        (lambda rows: [row for row in rows if row[0].startswith("d0s")], r"come from 1 documents.*--dev-share 0"),
        (lambda rows: [*rows, ("d0s0#0", "d99#0", "confusing", "train")], r"1 pairs name .*d99#0"),
        (lambda rows: [*rows, ("d0s0#0", "d1s1#0", "alike", "train")], r"label is one of .*alike"),
        (lambda rows: [*rows, ("d0s0#0", "d1s1#0", "confusing", "dev")], r"split is one of .*dev"),
        (lambda rows: [], "no paraphrases to learn from"),
    ],
)
def test_pairs_that_teach_nothing_or_name_nothing(tmp_path, change, says):
    with pytest.raises(InputError, match=says):
        read_pairs(written(tmp_path, change(PAIRS)), dev_share=0.2, seed=3)


def test_no_paraphrases_without_a_held_out_part(tmp_path):
    with pytest.raises(InputError, match="no paraphrases to learn from"):
        read_pairs(written(tmp_path, [row for row in PAIRS if row[2] != "paraphrase"]), dev_share=0, seed=3)


@pytest.mark.parametrize("name", ["pairs.parquet", "descriptions.parquet"])
def test_tables_that_are_missing_cut_short_or_of_another_kind(tmp_path, name):
    path = written(tmp_path, PAIRS) / name
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    size = rf"{name}: the file is not as it was written .*instead of {len(whole)}"
    with pytest.raises(InputError, match=size):
        read_pairs(tmp_path / "changed", dev_share=0, seed=3)
    path.write_bytes(b"x" * len(whole))
    reseal(path.parent)
    with pytest.raises(InputError, match=rf"{name}: the table cannot be read"):
        read_pairs(tmp_path / "changed", dev_share=0, seed=3)
    path.unlink()
    with pytest.raises(InputError, match=rf"{name}: a file of the pairs is missing"):
        read_pairs(tmp_path / "changed", dev_share=0, seed=3)


def test_a_table_without_a_column_is_named(tmp_path):
    folder = written(tmp_path, PAIRS)
    pl.DataFrame({"query_id": ["a"]}).write_parquet(folder / "pairs.parquet")
    reseal(folder)
    with pytest.raises(InputError, match=r"pairs.parquet: the table cannot be read: .*doc_id"):
        read_pairs(folder, dev_share=0, seed=3)
