"""Test sets: two views of the same evidence, the same bytes for the same pairs, clear errors for damaged ones."""

from __future__ import annotations

import shutil

import polars as pl
import pytest

from qbench.benchmark.disk import open_benchmark
from qbench.errors import InputError, OptionError
from qbench.mining.options import TestSetOptions
from qbench.mining.test_set import is_test_set, make_test_set, open_test_set, sentence_qrels
from qbench.mining.types import DESCRIPTIONS, PAIRS
from tests.mining.pairs_factory import Record, fact_world, pair_table, pairs_folder, record_table
from tests.resealed import reseal


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def pairs(tmp_path):
    return pairs_folder(tmp_path / "pairs", *fact_world(8))


def small(tmp_path, records, pairs, **options):
    folder = pairs_folder(tmp_path / "pairs", record_table(records), pair_table(pairs))
    return make_test_set(folder, tmp_path / "out", TestSetOptions(**options))


def test_both_views_hold_the_same_evidence_and_queries(pairs, tmp_path):
    made = make_test_set(pairs, tmp_path / "out")
    sentences, descriptions = made.views["C_s"], made.views["C_q"]
    records = made.records()
    assert [q.query_id for q in sentences.queries] == [q.query_id for q in descriptions.queries]
    assert {q.query_id for q in descriptions.queries} == {f"asked{i:03d}::0#0" for i in range(8)}
    assert set(descriptions.corpus["doc_id"]) == set(records["description_id"])
    assert set(sentences.corpus["doc_id"]) == set(records["doc_id"])
    assert not set(sentences.corpus["doc_id"]) & set(made.queries()["doc_id"])
    assert descriptions.qrels.rows() == [(f"asked{i:03d}::0#0", f"answer{i:03d}::0#0", 1) for i in range(8)]
    assert sentences.qrels.rows() == [(f"asked{i:03d}::0#0", f"answer{i:03d}::0", 1) for i in range(8)]
    texts = dict(sentences.corpus.select("doc_id", "text").rows())
    assert texts["trap000::0"] == "total revenue industry was 70003; founding firmaa was 80001"
    assert made.counts["queries"] == 8
    assert made.counts["records_removed"] == 16


def test_a_sentence_is_relevant_if_any_of_its_records_is(tmp_path):
    records = [
        Record("q::0#0", "sales of Acme", 1234, "Sales of Acme were 1234."),
        Record("a::0#0", "costs of Acme", 999, "Costs were 999, turnover of Acme 1234, and so on 1234."),
        Record("a::0#1", "turnover of Acme", 1234, "Costs were 999, turnover of Acme 1234, and so on 1234."),
        Record("a::0#2", "so on", 1234, "Costs were 999, turnover of Acme 1234, and so on 1234."),
    ]
    made = small(tmp_path, records, [("q::0#0", "a::0#1")])
    assert made.views["C_q"].qrels.rows() == [("q::0#0", "a::0#1", 1), ("q::0#0", "a::0#2", 1)]
    assert made.views["C_s"].qrels.rows() == [("q::0#0", "a::0", 1)]


def test_values_agree_on_as_many_digits_as_when_the_pairs_were_mined(tmp_path):
    records = record_table(
        [
            Record("q::0#0", "sales of Acme", 1200, "Sales of Acme were 1200."),
            Record("a::0#0", "turnover of Acme", 1200, "Turnover of Acme: 1200."),
        ]
    ).with_columns(digits=pl.lit(2, pl.Int16))
    pairs = pair_table([("q::0#0", "a::0#0")])
    made = make_test_set(pairs_folder(tmp_path / "two", records, pairs, min_digits=2), tmp_path / "out")
    assert made.counts["queries"] == 1
    with pytest.raises(InputError, match="1: no paraphrase has an agreeing value"):
        make_test_set(pairs_folder(tmp_path / "three", records, pairs, min_digits=3), tmp_path / "none")


def test_values_are_rounded_as_when_the_pairs_were_mined(tmp_path):
    records = record_table(
        [
            Record("q::0#0", "sales of Acme", 4587, "Sales of Acme were 4587."),
            Record("a::0#0", "turnover of Acme", 4600, "Turnover of Acme: 4600."),
        ]
    ).with_columns(digits=pl.Series([4, 2], dtype=pl.Int16))
    pairs = pair_table([("q::0#0", "a::0#0")])
    mined = pairs_folder(tmp_path / "two", records, pairs, min_digits=3, min_rounded_digits=2)
    assert make_test_set(mined, tmp_path / "out").views["C_q"].qrels.rows() == [("q::0#0", "a::0#0", 1)]
    with pytest.raises(InputError, match="1: no paraphrase has an agreeing value"):
        make_test_set(pairs_folder(tmp_path / "three", records, pairs, min_digits=3), tmp_path / "none")


def test_what_repeats_the_query_is_in_neither_view(tmp_path):
    records = [
        Record("q::0#0", "sales of Acme", 1234, "Sales of Acme were 1234."),
        Record("copy::0#0", "sales", 1234, "SALES of Acme were 1234"),
        Record("dup::0#0", "Sales of Acme", 1234, "We say it again: sales of Acme, 1234, costs 777."),
        Record("dup::0#1", "costs", 777, "We say it again: sales of Acme, 1234, costs 777."),
        Record("other::0#0", "sales of Acme", 5678, "Sales of Acme were 5678."),
        Record("a::0#0", "turnover of Acme", 1234, "Turnover of Acme: 1234."),
    ]
    made = small(tmp_path, records, [("q::0#0", "a::0#0"), ("q::0#0", "copy::0#0")])
    assert made.views["C_q"].corpus["doc_id"].to_list() == ["other::0#0", "a::0#0"]
    assert made.views["C_s"].corpus["doc_id"].to_list() == ["other::0", "a::0"]


def test_only_paraphrases_of_the_test_part_ask(tmp_path):
    records, pairs = fact_world(6)
    parts = [
        pairs[:2],
        pairs[2:4].with_columns(split=pl.lit("train")),
        pair_table(pairs[4:].select("query_id", "doc_id").rows(), label="confusing"),
    ]
    made = make_test_set(pairs_folder(tmp_path / "pairs", records, pl.concat(parts)), tmp_path / "out")
    assert made.queries()["description_id"].to_list() == ["asked000::0#0", "asked001::0#0"]


def test_the_seed_chooses_and_nothing_else_does(tmp_path):
    records, pairs = fact_world(12)
    plain = pairs_folder(tmp_path / "pairs", records, pairs)
    turned = pairs_folder(tmp_path / "turned", records.reverse(), pairs.reverse())

    def asked(folder, name, seed):
        made = make_test_set(folder, tmp_path / name, TestSetOptions(max_queries=5, seed=seed))
        return sorted(made.queries()["description_id"])

    assert asked(plain, "a", 1) == asked(turned, "b", 1)
    assert len({tuple(asked(plain, f"s{seed}", seed)) for seed in range(4)}) > 1


def test_the_same_pairs_give_the_same_bytes(pairs, tmp_path):
    make_test_set(pairs, tmp_path / "one" / "ts")
    make_test_set(pairs, tmp_path / "two" / "ts")
    one = files(tmp_path / "one" / "ts")
    assert one == files(tmp_path / "two" / "ts")
    assert not any(str(tmp_path).encode() in body for body in one.values())
    assert len(one) == 4 + 2 * 7


def test_a_finished_test_set_is_left_alone(pairs, tmp_path):
    out = tmp_path / "out"
    make_test_set(pairs, out)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    make_test_set(pairs, out)
    assert before == {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    with pytest.raises(OptionError, match="--overwrite"):
        make_test_set(pairs, out, TestSetOptions(seed=1))
    assert make_test_set(pairs, out, TestSetOptions(max_queries=3), overwrite=True).counts["queries"] == 3


def test_a_killed_run_leaves_nothing_and_goes_on(pairs, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("qbench.mining.test_set._card", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            make_test_set(pairs, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    view = tmp_path / ".out.partial" / "sentences" / "manifest.json"
    made_at = view.stat().st_mtime_ns
    made = make_test_set(pairs, tmp_path / "out")
    assert (made.folder / "sentences" / "manifest.json").stat().st_mtime_ns == made_at
    assert not list(tmp_path.glob(".out*"))


def test_a_value_of_too_many_records_asks_nothing(tmp_path):
    crowd = [Record(f"c{i}::0#0", f"something {i}", 1234, f"Something {i} was 1234.") for i in range(50)]
    records = [
        Record("q::0#0", "sales of Acme", 1234, "Sales of Acme were 1234."),
        Record("p::0#0", "sales of Bolt", 5678, "Sales of Bolt were 5678."),
        Record("a::0#0", "turnover of Bolt", 5678, "Turnover of Bolt: 5678."),
        *crowd,
    ]
    made = small(tmp_path, records, [("q::0#0", "c0::0#0"), ("p::0#0", "a::0#0")], max_relevant=20)
    assert made.queries()["description_id"].to_list() == ["p::0#0"]
    assert made.counts["candidates_dropped"] == {"their value is that of too many records": 1}


def test_records_without_sentences_have_one_view(tmp_path):
    records = [Record("q::0#0", "sales of Acme", 1234, ""), Record("a::0#0", "turnover of Acme", 1234, "")]
    made = small(tmp_path, records, [("q::0#0", "a::0#0")])
    assert list(made.views) == ["C_q"]
    assert not (made.folder / "sentences").exists()
    assert made.counts["records_without_a_sentence"] == 1
    assert list(open_test_set(made.folder).views) == ["C_q"]


def test_without_a_query_the_reasons_are_told(tmp_path):
    records, pairs = fact_world(4)
    folder = pairs_folder(tmp_path / "pairs", records, pairs.with_columns(split=pl.lit("train")))
    with pytest.raises(InputError, match=r"pairs\.parquet: no description .*: no paraphrase has the split test"):
        make_test_set(folder, tmp_path / "out")
    other = records.with_columns(base_value=pl.int_range(pl.len()) * 1.5 + 1000)
    with pytest.raises(InputError, match="4: no paraphrase has an agreeing value"):
        make_test_set(pairs_folder(tmp_path / "other", other, pairs), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_damaged_pairs_are_named(pairs, tmp_path):
    for name in (DESCRIPTIONS, PAIRS):
        copy = tmp_path / f"cut {name}"
        shutil.copytree(pairs, copy)
        body = (copy / name).read_bytes()
        (copy / name).write_bytes(body[: len(body) // 2])
        with pytest.raises(InputError, match=f"{name}: the file is not as it was written"):
            make_test_set(copy, tmp_path / "out")
        reseal(copy)
        with pytest.raises(InputError, match=f"{name}: not a readable Parquet file"):
            make_test_set(copy, tmp_path / "out")
        (copy / name).unlink()
        with pytest.raises(InputError, match=f"{name}: a file of the pairs is missing"):
            make_test_set(copy, tmp_path / "out")


@pytest.mark.parametrize("column", ["query_id", "doc_id"])
def test_a_pair_of_an_unknown_description_is_named(tmp_path, column):
    records, pairs = fact_world(3)
    broken = pairs.with_columns(
        pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("ghost")).otherwise(column).alias(column)
    )
    folder = pairs_folder(tmp_path / "pairs", records, broken)
    with pytest.raises(
        InputError, match=rf"pairs\.parquet:2: the {column} of a pair is no description \(found 'ghost'\)"
    ):
        make_test_set(folder, tmp_path / "out")


def test_an_id_given_twice_is_named(tmp_path):
    records, pairs = fact_world(3)
    folder = pairs_folder(tmp_path / "pairs", pl.concat([records, records[:1]]), pairs)
    with pytest.raises(InputError, match=r"descriptions\.parquet:1: two descriptions have one id"):
        make_test_set(folder, tmp_path / "out")


def test_what_is_no_test_set_is_told(pairs, tmp_path):
    made = make_test_set(pairs, tmp_path / "out")
    assert is_test_set(made.folder)
    assert not is_test_set(pairs)
    assert not is_test_set(tmp_path / "nothing")
    with pytest.raises(InputError, match="test-set make"):
        open_test_set(pairs)
    with pytest.raises(InputError, match="this is a qbench test set"):
        make_test_set(made.folder, tmp_path / "again")
    with pytest.raises(OptionError, match="max_queries"):
        make_test_set(pairs, tmp_path / "again", TestSetOptions(max_queries=0))
    (made.folder / "records.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"records\.parquet: not a readable"):
        made.records()


def test_a_view_is_a_benchmark_of_its_own(pairs, tmp_path):
    from qbench.benchmark.check import check

    made = make_test_set(pairs, tmp_path / "out")
    for part in ("sentences", "descriptions"):
        view = open_benchmark(made.folder / part)
        assert not [finding for finding in check(view) if finding.severity == "error"]
        assert "the same queries" in (made.folder / part / "README.md").read_text()
    assert made.views["C_s"].digest != made.views["C_q"].digest


def test_sentences_have_the_best_grade_of_their_records():
    records = record_table(
        [Record("a::0#0", "x", 1, "s"), Record("a::0#1", "y", 2, "s"), Record("b::0#0", "z", 3, "t")]
    )
    qrels = pl.DataFrame(
        [("q", "a::0#0", 0), ("q", "a::0#1", 2), ("q", "b::0#0", 0)],
        schema={"query_id": pl.String, "doc_id": pl.String, "grade": pl.Int16},
        orient="row",
    )
    assert sentence_qrels(qrels, records).rows() == [("q", "a::0", 2), ("q", "b::0", 0)]
