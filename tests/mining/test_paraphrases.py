"""From descriptions to pairs: what is a paraphrase, what confuses, what is left out."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import InputError, OptionError
from qbench.keys import REVISIONS
from qbench.mining import pair_labels
from qbench.mining import paraphrases as module
from qbench.mining.description_table import import_descriptions
from qbench.mining.options import MiningOptions
from qbench.mining.pair_labels import DUPLICATE, PARAPHRASE, Records, label
from qbench.mining.paraphrases import Pairs, mine_paraphrases
from qbench.mining.same_value import Values
from qbench.mining.types import DESCRIPTIONS, PAIRS, pair_schema
from qbench.quantities.extractors import ExtractorOptions
from tests.mining.pairs_factory import Record, record_table

OPTIONS = MiningOptions(k=10, test_share=0.3)


@pytest.fixture(scope="module")
def pairs(descriptions):
    return mine_paraphrases(descriptions.path, descriptions.path.parent / "pairs", OPTIONS, threads=1)


HAND = MiningOptions(test_share=0, min_probability=0, min_terms=2)


def by_hand(tmp_path, rows, options=HAND, name="hand"):
    """Pairs of (id, document, description, quantity), as {(query, found): label}."""
    table = tmp_path / f"{name}.tsv"
    lines = ["id\tdocument\tdescription\tquantity", *("\t".join(row) for row in rows)]
    table.write_text("\n".join(lines) + "\n")
    made = import_descriptions(table, tmp_path / f"{name}-d", extractor=ExtractorOptions(spacy_model="none"))
    found = mine_paraphrases(made.path, tmp_path / f"{name}-p", options, threads=1)
    return found, {
        (a.split("#")[0], b.split("#")[0]): label
        for a, b, label in found.table().select("query_id", "doc_id", "label").collect().iter_rows()
    }


NOISE = [(word, word, f"stocked {word}", "7 boxes") for word in "cups pans jugs".split()]


def test_the_reports_of_a_town_are_paraphrases(pairs):
    table = pairs.table().collect()
    assert dict(table.schema) == pl.DataFrame(schema=pair_schema()).schema
    found = table.filter(pl.col("label") == "paraphrase")
    town = [query.partition("-")[0] for query in found["query_id"]]
    assert town == [doc.partition("-")[0] for doc in found["doc_id"]]
    assert set(found["digits"]) == {4, 5}
    kept = pairs.manifest.counts["pairs"]
    assert kept["paraphrase"] == found.height > 12
    assert kept["confusing"] > kept["paraphrase"]
    assert table.select(pl.col("rank").is_between(1, 10).all()).item()
    assert table.filter(pl.col("label") == "confusing")["p_fact"].null_count() == kept["confusing"]
    assert found["p_fact"].min() >= OPTIONS.min_probability


def test_training_queries_know_nothing_of_test_documents(pairs):
    table = pairs.table().collect()
    descriptions = pairs.descriptions().collect()
    source = dict(descriptions.select("description_id", "source_id").iter_rows())
    test = {source[query] for query in table.filter(pl.col("split") == "test")["query_id"]}
    train = table.filter(pl.col("split") == "train")
    assert test
    assert test.isdisjoint({source[name] for column in ("query_id", "doc_id") for name in train[column]})


def test_only_queries_with_a_paraphrase_keep_confusing_pairs(pairs):
    table = pairs.table().collect()
    with_one = set(table.filter(pl.col("label") == "paraphrase")["query_id"])
    assert set(table.filter(pl.col("label") == "confusing")["query_id"]) == with_one


def test_all_confusing_pairs_can_be_kept(descriptions, pairs, tmp_path):
    every = mine_paraphrases(descriptions.path, tmp_path / "p", replace(OPTIONS, all_confusing=True), threads=1)
    counts, fewer = every.manifest.counts["pairs"], pairs.manifest.counts["pairs"]
    assert counts["confusing"] > fewer["confusing"]
    assert counts["paraphrase"] == fewer["paraphrase"]


def test_another_revision_of_the_step_mines_again(descriptions, pairs, tmp_path, monkeypatch):
    assert not mine_paraphrases(descriptions.path, pairs.path, OPTIONS).new
    monkeypatch.setitem(REVISIONS, "pairs", 99)
    assert mine_paraphrases(descriptions.path, pairs.path, OPTIONS, overwrite=True).new


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ("revenue of Novartis in Marine products", "revenue of Novartis, Market of June", True),
        ("revenue of Acme in March", "revenue of Acme in June", False),
        ("revenue of Acme, 2Q 2023", "revenue of Acme in July 2023", False),
        ("revenue of Acme, 1Q23", "revenue of Acme in March", True),
    ],
)
def test_months_are_told_from_words_that_begin_like_them(tmp_path, one, other, kept):
    _, labels = by_hand(tmp_path, [("a", "r1", one, "$4,587"), ("b", "r2", other, "$4,587"), *NOISE])
    assert (("a", "b") in labels) == kept


def test_the_report_tells_of_digits_and_families(pairs):
    text = (pairs.path / "report.md").read_text()
    assert "| digits | searched for | candidates | paraphrases |" in text
    assert "| family | searched for | candidates | paraphrases |" in text
    counts = pairs.manifest.counts
    rows = [
        line.split(" | ")
        for line in text.partition("## By unit family")[2].partition("## ")[0].splitlines()
        if line.startswith("| ")
    ]
    sums = [sum(int(row[i].strip("| ").replace(",", "")) for row in rows[1:]) for i in (1, 2, 3)]
    assert sums == [counts["searched for"], counts["candidates"], counts["pairs"]["paraphrase"]]


def test_the_same_bytes_in_blocks_and_again(descriptions, pairs, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7)
    monkeypatch.setattr(pair_labels, "ROWS", 5)
    again = mine_paraphrases(descriptions.path, tmp_path / "p", OPTIONS, threads=2)
    assert again.new
    assert (again.path / DESCRIPTIONS).read_bytes() == (descriptions.path / DESCRIPTIONS).read_bytes()
    assert (again.path / PAIRS).read_bytes() == (pairs.path / PAIRS).read_bytes()
    assert not mine_paraphrases(descriptions.path, tmp_path / "p", OPTIONS).new
    with pytest.raises(OptionError, match="--overwrite"):
        mine_paraphrases(descriptions.path, tmp_path / "p", MiningOptions(k=3))


@pytest.mark.parametrize("rounded", [2, 3])
def test_labels_by_hand(tmp_path, rounded):
    _, labels = by_hand(
        tmp_path,
        [
            ("a", "r1", "net sales of tea in 2019", "$4,587 million"),
            ("b", "r2", "sales of tea net of tax, 2019", "$4.587 billion"),
            ("same", "r3", "Net sales of tea, in 2019", "$4,587 million"),  # the same tokens: a duplicate
            ("year", "r4", "net sales of tea in 2018", "$4,587 million"),  # the same value of another year: nothing
            ("other", "r5", "net sales of tea for 2019", "$912 million"),
            ("wrong", "r6", "net sales of tea in 2019", "$3,333 million"),  # the same words, another value: nothing
            ("rounded", "r7", "tea sales in 2019", "$4.6 billion"),  # two digits: only where they are allowed
            ("short", "r8", "tea sales in 2019, net", "$5 billion"),  # one digit: nothing
            *NOISE,
        ],
        replace(HAND, min_rounded_digits=rounded),
    )
    assert {pair: label for pair, label in labels.items() if pair[0] == "a"} == {
        ("a", "b"): "paraphrase",
        ("a", "same"): "duplicate",
        ("a", "other"): "confusing",
        **({("a", "rounded"): "paraphrase"} if rounded == 2 else {}),
    }


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ("three months ended May 2019", "six months ended May 2019", False),
        ("three months ended May 2019", "12 weeks ended May 2019", True),
        ("year ended May 2019", "six months ended May 2019", False),
        ("year ended May 2019", "twelve months ended May 2019", True),
        ("36 weeks ended May 2019", "nine months ended May 2019", True),
        ("same period ended May 2019", "six months ended May 2019", True),
    ],
)
def test_periods_of_other_lengths_are_other_facts(tmp_path, one, other, kept):
    rows = [
        ("a", "r1", f"gross margin of tea {one}", "24.61%"),
        ("b", "r2", f"margin of tea, gross {other}", "24.61%"),
        *NOISE,
    ]
    _, labels = by_hand(tmp_path, rows)
    assert (("a", "b") in labels) is kept


def test_pairs_share_a_word_that_names_something(tmp_path):
    rows = [
        ("a", "r1", "nine months ended June 2019 sales", "$4,587 million"),
        ("b", "r2", "nine months ended June 2019 taxes", "$4,587 million"),
        ("c", "r3", "nine months ended June 2019 sale of tea", "$4,587 million"),  # "sale" as in "sales"
        ("d", "r4", "nine months ended June 2019 rents", "$912 million"),
        *NOISE,
    ]
    _, labels = by_hand(tmp_path, rows)
    assert labels == {("a", "c"): "paraphrase", ("c", "a"): "paraphrase"}


@given(
    st.lists(st.lists(st.sampled_from("tea salt coal iron zinc".split()), max_size=4), min_size=1, max_size=6),
    st.data(),
)
def test_words_that_pairs_share(words, data):
    table = record_table(Record(f"d{i}::0#0", " ".join(said), 4587, "", "tonne") for i, said in enumerate(words))
    records = Records.of(table.lazy(), Values.of(table), np.zeros(len(words), dtype=bool))
    of_texts = st.integers(0, len(words) - 1)
    pairs = data.draw(st.lists(st.tuples(of_texts, of_texts), max_size=12))
    a, b = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    assert records.shared(a, b).tolist() == [len(set(words[x]) & set(words[y])) for x, y in pairs]


def test_confusing_pairs_of_the_same_unit_come_first(tmp_path):
    rows = [
        ("a", "r0", "net sales of tea in 2019", "$4,587 million"),
        ("b", "r1", "sales of tea net of tax, 2019", "$4.587 billion"),
        *((f"share{i}", f"s{i}", f"net sales of tea in 2019 {i}", f"{i}{i}.4%") for i in range(1, 5)),
        *((f"sum{i}", f"t{i}", f"sales of leaves and cups {i}", f"${i}{i}.4 million") for i in range(1, 5)),
        *NOISE,
    ]

    def confusing(most):
        found, labels = by_hand(tmp_path, rows, replace(HAND, confusing=most), name=str(most))
        others = {doc for (query, doc), label in labels.items() if query == "a" and label == "confusing"}
        return others, found.manifest.counts["left out"].get("confusing, easier than others", 0)

    assert confusing(4) == ({"sum1", "sum2", "sum3", "sum4"}, 8)
    others, easier = confusing(6)
    assert easier == 4
    assert {"sum1", "sum2", "sum3", "sum4"} < others
    assert confusing(10)[1] == 0


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ("In the north it had a yearly output of 4,587 tonnes of salt in each mine.", "duplicate"),
        ("It had a YEARLY output of 4,587 tonnes; of salt, in 3 mines.", "duplicate"),
        ("An output of 4,587 tonnes was had by the south.", "paraphrase"),
    ],
)
def test_repeated_texts_are_duplicates(second, expected):
    first = "In the south it had a yearly output of 4,587 tonnes of salt in each mine."
    table = record_table(
        Record(f"{name}::0#0", words, 4587, text, "tonne")
        for name, words, text in (("a", "south output salt", first), ("b", "output of salt north", second))
    )
    start = pl.Series([text.index("4,587") for text in (first, second)], dtype=pl.Int32)
    table = table.with_columns(value_start=start, value_end=start + 5)
    records = Records.of(table.lazy(), Values.of(table), np.zeros(2, dtype=bool))
    labels, _, _ = label(records, np.array([0]), np.array([1]), HAND)
    assert labels.tolist() == [{"paraphrase": PARAPHRASE, "duplicate": DUPLICATE}[expected]]


def test_same_document_and_same_sentence_by_choice(tmp_path):
    rows = [
        ("a", "r1", "net sales of tea", "$4,587 million"),
        ("b", "r1", "sales of tea, net", "$4,587 million"),
        *NOISE,
    ]
    _, labels = by_hand(tmp_path, rows, name="one")
    assert labels["a", "b"] == "paraphrase"
    apart = replace(HAND, same_document=False)
    found, labels = by_hand(tmp_path, rows, apart, name="two")
    assert not labels
    assert found.manifest.counts["left out"]["same document"] >= 2


def test_one_value_of_many_records_and_equal_texts_stay_within_k(tmp_path):
    rows = [(f"x{i}", f"r{i}", "share of votes", "12.5%") for i in range(300)]
    rows += [
        (f"y{i}", f"s{i}", f"share of {word} votes cast", "12.5%") for i, word in enumerate("valid postal".split())
    ]
    found, _ = by_hand(tmp_path, rows, replace(HAND, k=5))
    table = found.table().collect()
    assert table.group_by("query_id").len()["len"].max() <= 5


def test_probability_falls_with_frequent_values_few_digits_and_rank(tmp_path):
    rows = [("a", "r1", "sales of tea in the north", "$4,587,123"), ("b", "r2", "tea sales, the north", "$4,587,123")]
    rows += [
        ("c", "r3", "sales of milk in the north", "$4,570,000"),
        ("d", "r4", "milk sales, the north", "$4,570,000"),
    ]
    rows += [(f"n{i}", f"n{i}", f"sales of article {i} in the north", f"${i + 1},570,000") for i in range(60)]
    found, _ = by_hand(tmp_path, rows)
    table = found.table().filter(pl.col("label") == "paraphrase").collect()
    p = {row[:2]: row[2] for row in table.select("query_id", "doc_id", "p_fact").iter_rows()}
    assert p["a#0", "b#0"] > p["c#0", "d#0"] > p["c#0", "n3#0"] > p["n3#0", "c#0"] > 0.5
    for row in table.iter_rows(named=True):
        assert row["p_paper"] > 0.999999  # the paper's is no guide


@pytest.mark.parametrize(
    ("field", "value"),
    [("k", 0), ("min_digits", 0), ("min_terms", 0), ("min_probability", 1.0), ("test_share", 1.0)],
)
def test_options_that_make_no_sense(field, value):
    with pytest.raises(OptionError, match=field):
        MiningOptions(**{field: value})


def test_descriptions_of_no_use(tmp_path):
    with pytest.raises(InputError, match="enough digits"):
        by_hand(tmp_path, [("a", "r1", "tea", "$5"), ("b", "r2", "tea", "about 512")])
    assert not (tmp_path / "hand-p").exists()


def test_descriptions_that_are_replaced_during_the_search_change_nothing(tmp_path, monkeypatch):
    rows = [
        ("a", "r1", "net sales of tea", "$4,587 million"),
        ("b", "r2", "sales of tea, net", "$4,587 million"),
        *NOISE,
    ]
    _, expected = by_hand(tmp_path, rows)
    search = module.self_join

    def replaced(*arguments, **named):
        found = search(*arguments, **named)
        for file in (tmp_path / "hand-d").iterdir():
            file.write_bytes(b"")
        return found

    monkeypatch.setattr(module, "self_join", replaced)
    again = mine_paraphrases(tmp_path / "hand-d", tmp_path / "again", HAND, threads=1)
    assert again.table().collect().height == len(expected) == 2


def test_a_damaged_folder_is_told(descriptions, tmp_path):
    found = mine_paraphrases(descriptions.path, tmp_path / "p", OPTIONS, threads=1)
    kept = (found.path / PAIRS).read_bytes()
    (found.path / PAIRS).write_bytes(kept[: len(kept) // 2])
    with pytest.raises(InputError, match="Make the pairs again"):
        Pairs.open(found.path)
    (found.path / PAIRS).write_bytes(kept)
    (found.path / DESCRIPTIONS).unlink()
    with pytest.raises(InputError, match="a file of the pairs is missing"):
        Pairs.open(found.path)


def test_the_report_can_be_read(pairs):
    text = (pairs.path / "report.md").read_text()
    counts = pairs.manifest.counts
    assert f"- paraphrase pairs: {counts['pairs']['paraphrase']:,}" in text
    paraphrases = pairs.table().filter(pl.col("label") == "paraphrase").collect()
    assert text.count("p_fact") == min(20, len({frozenset(row[:2]) for row in paraphrases.iter_rows()}))
    assert "| currency |" in text
