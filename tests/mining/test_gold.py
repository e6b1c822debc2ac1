"""Gold sets: MeasEval folders, JSON lines, and their split."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qbench.errors import InputError, OptionError
from qbench.mining.gold import SPLITS, GoldSample, read_gold, split, texts
from tests.gold_factories import write_rows

MEASEVAL = Path(__file__).parents[3] / "shared" / "data" / "extraction" / "measeval"
TEXT = "Deep lakes of the north are cold. Their mean depth (of 42 m) in winter was 9 m higher. No lake froze."
COLUMNS = "docId annotSet annotType startOffset endOffset annotId text other".split()


def row(kind, words, name, other="{}", text=TEXT):
    start = text.index(words)
    return ["p1", "1", kind, str(start), str(start + len(words)), name, words, other]


ROWS = [
    row("Quantity", "42 m", "Q1", '{"unit": "m"}'),
    row("MeasuredProperty", "mean depth (of 42 m)", "P1", '{"HasQuantity": "Q1"}'),
    row("MeasuredEntity", "Deep lakes", "E1", '{"HasProperty": "P1"}'),
    row("Qualifier", "depth (of", "U1", '{"Qualifies": "E1"}'),
    row("Quantity", "9 m", "Q2"),
    row("Qualifier", "in winter", "U2", '{"Qualifies": "Q2"}'),
    row("Quantity", "No", "Q3", ""),
]


def measeval(folder, rows=ROWS, text=TEXT, texts="text"):
    (folder / "tsv").mkdir(parents=True)
    (folder / texts).mkdir()
    lines = ["\t".join(line) for line in [COLUMNS, *rows]]
    (folder / "tsv" / "p1.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / texts / "p1.txt").write_text(text, encoding="utf-8")
    (folder / texts / "empty.txt").write_text("Nothing is annotated here.", encoding="utf-8")
    return folder


def words(sample):
    return [sample.text[a:b] for a, b in sample.segments]


def test_segments_are_what_leads_to_the_quantity_in_its_sentence(tmp_path):
    gold = read_gold(measeval(tmp_path / "m"))
    first, second, third = gold.samples
    assert first.text == second.text == "Their mean depth (of 42 m) in winter was 9 m higher."
    assert first.text[slice(*first.pivot)] == "42 m"
    # Cut around the quantity, and the Qualifier in it joined; the entity stands in the sentence before.
    assert words(first) == ["mean depth (of", ")"]
    assert words(second) == ["in winter"]
    assert not third.factual
    assert third.text == "No lake froze."
    assert gold.counts == {
        "groups": 1,
        "texts": 2,
        "quantities": 3,
        "factual": 2,
        "segments": 3,
        "paragraphs without annotations": 1,
        "segments outside the sentence": 1,
    }


def test_a_paragraph_holds_all_segments(tmp_path):
    gold = read_gold(measeval(tmp_path / "m"), context="paragraph")
    assert {sample.text for sample in gold.samples} == {TEXT}
    assert words(gold.samples[0]) == ["Deep lakes", "mean depth (of", ")"]
    assert "segments outside the sentence" not in gold.counts


def test_reads_the_folders_of_a_folder(tmp_path):
    measeval(tmp_path / "m" / "train")
    measeval(tmp_path / "m" / "trial", texts="txt")
    assert len(read_gold(tmp_path / "m").samples) == 6


def test_a_quantity_over_the_end_of_a_sentence_has_both(tmp_path):
    rows = [row("Quantity", "are cold. Their mean", "Q1")]
    gold = read_gold(measeval(tmp_path / "m", rows))
    assert gold.samples[0].text == TEXT[: TEXT.index(" No lake")]
    assert gold.counts["quantities across sentences"] == 1


BAD_ROWS = {
    "another one": [["p1", "1", "Quantity", "0", "4", "Q1", "Lake", "{}"]],
    "not whole numbers": [["p1", "1", "Quantity", "x", "4", "Q1", "Deep", "{}"]],
    "not valid JSON": [["p1", "1", "Quantity", "0", "4", "Q1", "Deep", "{unit"]],
    "not a JSON object": [["p1", "1", "Quantity", "0", "4", "Q1", "Deep", "[1]"]],
    "twice": [ROWS[0], ROWS[0]],
    "not there": [ROWS[0], row("Qualifier", "lakes", "U1", '{"Qualifies": "Q9"}')],
    "circle": [
        row("Quantity", "9 m", "Q2"),
        row("Qualifier", "lakes", "U1", '{"Qualifies": "U2"}'),
        row("Qualifier", "cold", "U2", '{"Qualifies": "U1"}'),
    ],
    "no quantity": [row("MeasuredEntity", "Deep lakes", "E1")],
}


@pytest.mark.parametrize("message", BAD_ROWS)
def test_bad_annotations_are_errors_that_name_the_file(tmp_path, message):
    with pytest.raises(InputError, match=message) as caught:
        read_gold(measeval(tmp_path / "m", BAD_ROWS[message]))
    if message != "no quantity":
        assert caught.value.file.endswith("p1.tsv")
        assert caught.value.line >= 2


def test_what_is_no_measeval_folder_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no MeasEval folder"):
        read_gold(tmp_path)
    (tmp_path / "tsv").mkdir()
    with pytest.raises(InputError, match="without its texts"):
        read_gold(tmp_path)
    (tmp_path / "txt").mkdir()
    (tmp_path / "tsv" / "p.tsv").write_text("docId\n")
    with pytest.raises(InputError, match=r"p\.txt: no such paragraph file"):
        read_gold(tmp_path)
    (tmp_path / "txt" / "p.txt").write_text("A text")
    with pytest.raises(InputError, match="columns are missing"):
        read_gold(tmp_path)
    with pytest.raises(OptionError, match="context"):
        read_gold(tmp_path, context="page")


LINE = {"text": "In 2021 revenue was 5 mn", "pivot": [20, 24], "segments": [[8, 15], [3, 7]]}


def test_lines_of_our_own_format(tmp_path):
    other = {**LINE, "pivot": [3, 7], "segments": [], "group": "report", "note": "other fields are left alone"}
    gold = read_gold(write_rows(tmp_path / "gold.jsonl", [LINE, other]))
    assert gold.samples == (
        GoldSample(LINE["text"], (20, 24), ((3, 7), (8, 15)), LINE["text"]),
        GoldSample(LINE["text"], (3, 7), (), "report"),
    )


BAD_LINES = {
    "not a gold description": {"text": "In 2021", "pivot": [0, 2]},
    "not a span": {**LINE, "pivot": [20, 24.0]},
    "not a span of the text": {**LINE, "pivot": [20, 25]},
    r"not a span of the text \(found \[7, 8\]": {**LINE, "segments": [[7, 8]]},
    "overlaps the pivot": {**LINE, "segments": [[16, 21]]},
    "two segments overlap": {**LINE, "segments": [[3, 8], [7, 15]]},
    "segments are no list": {**LINE, "segments": 3},
    "the group is no text": {**LINE, "group": 3},
    "same quantity as in line 1": LINE,
}


@pytest.mark.parametrize("message", BAD_LINES)
def test_bad_lines_are_errors_that_name_file_and_line(tmp_path, message):
    path = write_rows(tmp_path / "gold.jsonl", [LINE, BAD_LINES[message]])
    with pytest.raises(InputError, match=message) as caught:
        read_gold(path)
    assert (caught.value.file, caught.value.line) == (str(path), 2)
    assert caught.value.value


def test_broken_and_empty_files_are_errors(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text('{"text": \n')
    with pytest.raises(InputError, match="not valid JSON"):
        read_gold(path)
    path.write_text("\n")
    with pytest.raises(InputError, match="no quantity"):
        read_gold(path)
    with pytest.raises(InputError, match="no such gold"):
        read_gold(tmp_path / "none.jsonl")


def samples(sizes):
    return [
        GoldSample(f"text {group} {n // 2}", (n, n + 1), (), f"g{group}")
        for group, size in enumerate(sizes)
        for n in range(size)
    ]


@given(st.lists(st.integers(1, 6), min_size=20, max_size=40), st.integers(0, 5))
def test_a_split_keeps_groups_whole_and_the_shares(sizes, seed):
    rows = samples(sizes)
    parts = split(rows, seed)
    groups = [{sample.group for sample in parts[part]} for part in SPLITS]
    assert sum(map(len, groups)) == len(set.union(*groups)) == len(sizes)
    assert sum(map(len, parts.values())) == len(rows)
    assert abs(len(parts["train"]) - 0.7 * len(rows)) <= 6
    assert abs(len(parts["test"]) - 0.15 * len(rows)) <= 6


def test_a_split_depends_on_the_seed_and_not_on_the_order_of_groups():
    rows = samples([2] * 40)
    backwards = [sample for n in range(40) for sample in rows[2 * (39 - n) : 2 * (39 - n) + 2]]
    assert split(rows, 7) == split(backwards, 7)
    assert split(rows, 7) != split(rows, 8)


@given(st.integers(1, 30))
def test_a_limit_takes_whole_sentences_and_smaller_ones_are_subsets(limit):
    rows = samples([4] * 40)
    part, more = (split(rows, 3, limit=n)["train"] for n in (limit, limit + 1))
    assert texts(part) == limit
    assert len(part) == 2 * limit
    assert more[: len(part)] == part
    assert split(rows, 3, limit=limit)["test"] == split(rows, 3)["test"]


def test_too_little_to_split_is_an_error():
    with pytest.raises(InputError, match="too few"):
        split(samples([3, 3]), 1)
    with pytest.raises(OptionError, match="limit"):
        split(samples([1] * 20), 1, limit=0)


@pytest.mark.shared
@pytest.mark.skipif(not MEASEVAL.is_dir(), reason="MeasEval is not here")
def test_measeval():
    counts = read_gold(MEASEVAL).counts
    assert (counts["quantities"], counts["groups"], counts["texts"]) == (1164, 298, 695)
    assert counts["segments outside the sentence"] == 79
    whole = read_gold(MEASEVAL, context="paragraph").counts
    assert whole["segments"] == counts["segments"] + 79
