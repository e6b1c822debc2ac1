"""Merging: pairs of a large table are those of a plain grouping, whatever the memory limit."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qbench.errors import InputError
from qbench.index import merge
from qbench.index.merge import concatenate, concept_cuts, group_pairs, write_pairs
from qbench.index.schemas import arrow_schema, pair_schema
from qbench.quantities.types import quantity_schema


def table_of(rows):
    """(concept, unit, value, doc_id) rows as a quantity table."""
    zero = {name: 0 if dtype not in (pl.String,) else "" for name, dtype in quantity_schema().items()}
    zero["concept_spans"] = []
    full = [{**zero, "concept": c, "unit": u, "value": v, "doc_id": d} for c, u, v, d in rows]
    return pl.DataFrame(full, schema=quantity_schema())


mentions = st.tuples(
    st.sampled_from(["", "a", "a b", "b", "c é", "z"]) | st.text(max_size=3, alphabet="abcé "),
    st.sampled_from(["", "dollar", "kilogram"]),
    st.floats(-1e9, 1e9),
    st.sampled_from(["d1::0", "d1::1", "d2::0"]),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(mentions, max_size=60), st.integers(1, 30))
def test_pairs_are_a_plain_grouping(tmp_path_factory, rows, limit):
    folder = tmp_path_factory.mktemp("pairs")
    table_of(rows).write_parquet(folder / "q.parquet")
    counts = write_pairs(folder / "q.parquet", folder / "p.parquet", limit)
    found = pl.read_parquet(folder / "p.parquet")
    assert found.schema == pl.Schema(pair_schema())
    wanted = {}
    for concept, unit, value, doc_id in rows:
        if concept:
            wanted.setdefault((concept, unit), []).append((value, doc_id))
    assert found.select("concept", "unit").rows() == sorted(wanted)
    for row in found.iter_rows(named=True):
        group = wanted[row["concept"], row["unit"]]
        assert list(zip(row["values"], row["doc_ids"], strict=True)) == group
        values = [value for value, _ in group]
        assert (row["count"], row["low"], row["high"]) == (len(values), min(values), max(values))
        assert row["mean"] == pytest.approx(sum(values) / len(values), abs=1e-3)
        assert row["sentences"] == len({doc_id for _, doc_id in group})
    assert counts == {
        "pairs": len(wanted), "concepts": len({c for c, _ in wanted}), "units": len({u for _, u in wanted}),
    }  # fmt: skip


@pytest.mark.parametrize("step", [1, 8])
def test_cuts_are_in_order_and_make_ranges_of_about_the_limit(tmp_path, step):
    # Rows that repeat a pattern must not mislead the sample.
    rows = [(f"c{n % step}{n * 7919 % 1000:04d}", "", 1.0, "d::0") for n in range(5000)]
    table_of(rows).write_parquet(tmp_path / "q.parquet", row_group_size=700)
    cuts = concept_cuts(tmp_path / "q.parquet", 500)
    assert cuts == sorted(set(cuts))
    sizes = [sum(low <= c < high for c, *_ in rows) for low, high in pairwise(["", *cuts, "~"])]
    assert sum(sizes) == 5000
    assert max(sizes) <= 750


def test_the_number_of_ranges_is_bounded(tmp_path):
    table_of([(f"c{n:04d}", "", 1.0, "d::0") for n in range(2000)]).write_parquet(tmp_path / "q.parquet")
    assert len(concept_cuts(tmp_path / "q.parquet", 1)) < 300


def test_one_concept_larger_than_the_limit_stays_one_pair(tmp_path):
    rows = [("sales", "dollar", float(n), f"d{n}::0") for n in range(50)] + [("a", "", 1.0, "d::0")]
    table_of(rows).write_parquet(tmp_path / "q.parquet")
    assert write_pairs(tmp_path / "q.parquet", tmp_path / "p.parquet", 10)["pairs"] == 2
    assert pl.read_parquet(tmp_path / "p.parquet")["count"].to_list() == [1, 50]


def test_figures_of_a_pair_by_hand():
    rows = [
        ("net sales", "dollar", 17.0, "s1"),
        ("net sales", "dollar", 17.0, "s2"),
        ("net sales", "dollar", 1.4, "s2"),
    ]
    (pair,) = group_pairs(table_of(rows)).rows(named=True)
    assert pair["values"] == [17.0, 17.0, 1.4]
    assert pair["doc_ids"] == ["s1", "s2", "s2"]
    assert (pair["count"], pair["sentences"], pair["low"], pair["high"]) == (3, 2, 1.4, 17.0)
    assert pair["mean"] == pytest.approx(11.8)


def test_concatenation_keeps_the_order_and_bounds_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr("qbench.index.merge.GROUP_ROWS", 10)
    schema = pa.schema([("n", pa.int64())])
    shards = []
    for number in range(12):
        shard = tmp_path / f"{number}.parquet"
        rows = list(range(number * 3, number * 3 + 3)) if number != 5 else []
        pq.write_table(pa.table({"n": rows}, schema=schema), shard)
        shards.append(shard)
    assert concatenate(shards, tmp_path / "all.parquet", schema) == 33
    merged = pq.ParquetFile(tmp_path / "all.parquet")
    assert merged.read()["n"].to_pylist() == [n for n in range(36) if n // 3 != 5]
    assert merged.metadata.num_row_groups == 3
    shards[3].write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"3.parquet: a shard is damaged.*run the same command again"):
        concatenate(shards, tmp_path / "all.parquet", schema)


@pytest.mark.parametrize("cuts", [(), (1,), (3, 3, 8)])
def test_the_bytes_of_written_frames_do_not_depend_on_their_sizes(tmp_path, monkeypatch, cuts):
    monkeypatch.setattr(merge, "GROUP_ROWS", 4)
    schema = {"name": pl.String, "value": pl.Float64}
    rows = pl.DataFrame({"name": [f"n{i}" for i in range(11)], "value": [float(i) for i in range(11)]}, schema=schema)
    bounds = (0, *cuts, rows.height)
    parts = (rows[start:end] for start, end in pairwise(bounds))
    assert merge.write_frames(parts, tmp_path / "parts.parquet", schema) == 11
    merge.write_frames([rows], tmp_path / "whole.parquet", schema)
    assert (tmp_path / "parts.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert pl.read_parquet(tmp_path / "parts.parquet").equals(rows)
    groups = pq.ParquetFile(tmp_path / "parts.parquet").metadata
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [4, 4, 3]


def test_pages_of_a_large_group_do_not_depend_on_the_pieces_either(tmp_path):
    schema = {"name": pl.String}
    rows = pl.DataFrame(
        {"name": [f"filings/{i % 97}/a name that is long enough to fill pages::{i}" for i in range(60_000)]}
    )
    parts = list(rows.iter_slices(777))
    merge.write_frames(parts, tmp_path / "parts.parquet", schema)
    merge.write_frames([rows], tmp_path / "whole.parquet", schema)
    for number, part in enumerate(parts):
        part.write_parquet(tmp_path / f"{number}.parquet")
    shards = (tmp_path / f"{number}.parquet" for number in range(len(parts)))
    assert concatenate(shards, tmp_path / "shards.parquet", arrow_schema(schema)) == rows.height
    whole = (tmp_path / "whole.parquet").read_bytes()
    assert (tmp_path / "parts.parquet").read_bytes() == whole
    assert (tmp_path / "shards.parquet").read_bytes() == whole


def test_no_frames_are_a_table_without_rows(tmp_path):
    assert merge.write_frames([], tmp_path / "none.parquet", {"name": pl.String}) == 0
    assert pl.read_parquet(tmp_path / "none.parquet").schema == {"name": pl.String}
