"""Masked values and units: what is replaced, and what stays."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.benchmark.disk import write_benchmark
from qbench.benchmark.mask import MASK, mask_benchmark, masked
from qbench.errors import InputError, OptionError
from tests.factories import tiny_benchmark


def test_values_are_masked_and_all_else_stays(tmp_path):
    benchmark = tiny_benchmark()
    made = mask_benchmark(benchmark, "values")
    texts = dict(made.corpus.select("doc_id", "text").iter_rows())
    assert texts["d01"] == "The Aria laptop weighs [MASK] kg."
    assert texts["d02"] == "The Brio laptop weighs [MASK] g and costs $[MASK]."
    assert texts["d12"] == "The weather was fine."
    assert made.queries == benchmark.queries
    assert made.qrels.equals(benchmark.qrels)
    assert (made.quantities, made.samples.height, made.triples.height) == (None, 0, 0)
    assert made.params["counts"]["masked"] == {"documents": 11, "spans": 12}
    again = write_benchmark(made, tmp_path / "masked")
    assert again.corpus.equals(made.corpus)
    assert again.params["masked"] == "values"
    assert made.digest != mask_benchmark(benchmark, "values", mask="#").digest != benchmark.digest


def test_units_are_masked_where_they_are_written():
    benchmark = tiny_benchmark()
    text = "It weighs 5kg."
    quantities = benchmark.quantities.head(1).with_columns(
        doc_id=pl.lit("d01"), unit_start=pl.lit(11, pl.Int32), unit_end=pl.lit(13, pl.Int32)
    )
    corpus = benchmark.corpus.with_columns(text=pl.when(pl.col("doc_id") == "d01").then(pl.lit(text)).otherwise("text"))
    made = mask_benchmark(replace(benchmark, corpus=corpus, quantities=quantities), "units")
    assert made.corpus.filter(doc_id="d01")["text"].item() == "It weighs 5 [MASK]."


def test_what_cannot_be_masked_is_told():
    benchmark = tiny_benchmark()
    with pytest.raises(InputError, match="no quantities to mask"):
        mask_benchmark(replace(benchmark, quantities=None), "values")
    with pytest.raises(OptionError, match="values or units"):
        mask_benchmark(benchmark, "colours")
    with pytest.raises(OptionError, match="mask is empty"):
        mask_benchmark(benchmark, "values", mask=" ")
    far = benchmark.quantities.with_columns(value_end=pl.lit(999, pl.Int32))
    with pytest.raises(InputError, match="does not lie in its document"):
        mask_benchmark(replace(benchmark, quantities=far), "values")


@given(st.text("ab 1", max_size=20), st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6)), max_size=4))
def test_what_is_not_masked_is_as_it_was(text, drawn):
    spans = [(start, min(start + size, len(text))) for start, size in drawn if start < len(text)]
    held = {i for start, end in spans for i in range(start, end)}
    result = masked(text, spans)
    kept = "".join(sign for i, sign in enumerate(text) if i not in held)
    assert result.replace(MASK, "").replace(" ", "") == kept.replace(" ", "")
    assert (result == text) == (not spans)
    assert masked(text, reversed(spans)) == result
