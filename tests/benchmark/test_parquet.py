"""Tables whose columns are read where they are needed."""

import polars as pl
import pytest

from qbench.benchmark.parquet import read_parquet, scan_parquet
from qbench.errors import InputError

SCHEMA = {"name": pl.String, "comparator": pl.String, "value": pl.Float64}
ROWS = pl.DataFrame({"value": [1.0, 2.0], "name": ["a", "b"], "comparator": ["=", "<"]})


def written(folder, rows):
    rows.write_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


def test_columns_come_in_the_order_of_the_schema(tmp_path):
    path = written(tmp_path, ROWS.with_columns(other=pl.lit(3)))
    assert scan_parquet(path, SCHEMA).collect().equals(ROWS.select(list(SCHEMA)))
    assert read_parquet(path, SCHEMA).equals(ROWS.select(list(SCHEMA)))


def test_names_of_earlier_versions_are_understood(tmp_path):
    path = written(tmp_path, ROWS.rename({"comparator": "bound"}))
    assert scan_parquet(path, SCHEMA).collect().equals(ROWS.select(list(SCHEMA)))
    assert read_parquet(path, SCHEMA, where=pl.col("comparator") == "<")["name"].to_list() == ["b"]


def test_a_column_of_that_name_is_not_taken_for_an_earlier_one(tmp_path):
    path = written(tmp_path, ROWS.with_columns(bound=pl.lit("?")))
    assert scan_parquet(path, SCHEMA).collect()["comparator"].to_list() == ["=", "<"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS.drop("value"), "the column 'value' is missing"),
        (ROWS.cast({"value": pl.Int64}), r"the column 'value' should be Float64 \(found Int64\)"),
    ],
)
def test_what_does_not_keep_the_schema_is_refused_before_anything_is_read(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        scan_parquet(written(tmp_path, rows), SCHEMA)


def test_an_empty_cell_is_found_when_rows_are_read(tmp_path):
    path = written(tmp_path, ROWS.with_columns(name=pl.Series(["a", None])))
    assert scan_parquet(path, SCHEMA).select("value").collect().height == 2
    with pytest.raises(InputError, match="2: the column 'name' has an empty cell"):
        read_parquet(path, {"name": pl.String})


def test_a_missing_and_a_damaged_file_are_named(tmp_path):
    with pytest.raises(InputError, match=r"rows.parquet: no such file"):
        scan_parquet(tmp_path / "rows.parquet", SCHEMA)
    (tmp_path / "rows.parquet").write_bytes(b"PAR1, or not")
    with pytest.raises(InputError, match=r"rows.parquet"):
        scan_parquet(tmp_path / "rows.parquet", SCHEMA)
