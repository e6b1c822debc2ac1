import gzip
from pathlib import Path

import pytest

from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.benchmark.importers.beir import read_beir
from qbench.errors import InputError, OptionError
from qbench.quantities.types import Condition
from qbench.quantities.units import load_units

RETRIEVAL = Path(__file__).parents[2].parent / "shared" / "data" / "retrieval"


def test_a_folder_is_opened_as_it_is(beir):
    bench = open_benchmark(beir.write())
    assert bench.corpus.rows() == [
        ("d1", "Acme has 5 plants.", "One", "d1"),
        ("d2", "Bolt has 9 plants.", "", "d2"),
        ("d3", "Corax has none.", "", "d3"),
    ]
    assert [(q.query_id, q.text, q.split, q.kind, q.conditions) for q in bench.queries] == [
        ("q1", "plants of Acme", "test", "given", ()),
        ("q2", "more than 6 plants", "test", "given", ()),
    ]
    assert bench.qrels.rows() == [("q1", "d1", 1), ("q1", "d3", 0), ("q2", "d2", 2)]
    assert bench.quantities is None
    assert bench.params["quantities"] is None
    assert bench.params["counts"] == {}
    assert bench.name == "beir"


def test_the_digest_follows_the_files(beir, tmp_path):
    first = read_beir(beir.write()).digest
    assert read_beir(beir.path).digest == first
    beir.path.rename(tmp_path / "elsewhere")
    assert read_beir(tmp_path / "elsewhere").digest == first
    beir.corpus[0]["text"] += "."
    assert read_beir(beir.write()).digest != first


def test_compressed_files(beir):
    beir.write()
    for name in ("corpus", "queries"):
        path = beir.path / f"{name}.jsonl"
        (beir.path / f"{name}.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert open_benchmark(beir.path).corpus.height == 3


def test_parts_come_from_the_names_of_the_judgments(beir):
    beir.queries += [{"_id": "q3", "text": "c"}, {"_id": "q4", "text": "d"}]
    beir.qrels |= {"train": [("q3", "d1", 1)], "validation": [("q4", "d2", 1)], "extra": [("q4", "d1", 1)]}
    bench = open_benchmark(beir.write())
    assert [(q.query_id, q.split) for q in bench.queries] == [
        ("q3", "train"),
        ("q4", "dev"),
        ("q1", "test"),
        ("q2", "test"),
    ]
    assert bench.qrels.height == 5


def test_judgments_of_another_name_are_the_test_part(beir):
    beir.qrels = {"dl19": beir.qrels["test"]}
    assert {q.split for q in open_benchmark(beir.write()).queries} == {"test"}


def test_several_sets_of_judgments_need_a_choice(beir):
    beir.qrels = {"dl19": [("q1", "d1", 1)], "dl20": [("q2", "d2", 1)]}
    beir.write()
    (beir.path / "queries.dl20.jsonl").write_text('{"_id": "q2", "text": "its own words"}\n', encoding="utf-8")
    with pytest.raises(OptionError, match="dl19, dl20"):
        open_benchmark(beir.path)
    with pytest.raises(OptionError, match="no such judgments"):
        open_benchmark(beir.path, qrels="dl21")
    assert [q.text for q in open_benchmark(beir.path, qrels="dl19").queries] == ["plants of Acme"]
    assert [q.text for q in open_benchmark(beir.path, qrels="dl20").queries] == ["its own words"]
    assert open_benchmark(beir.path, qrels="dl19").digest != open_benchmark(beir.path, qrels="dl20").digest


def test_one_query_in_two_parts(beir):
    beir.qrels["train"] = [("q1", "d1", 1)]
    beir.write()
    with pytest.raises(InputError, match="train split as well"):
        open_benchmark(beir.path)
    assert len(open_benchmark(beir.path, qrels="train").queries) == 1


def test_queries_without_an_answer_are_left_out_and_counted(beir):
    beir.queries += [{"_id": "q3", "text": "judged, no answer"}, {"_id": "q4", "text": "never judged"}]
    beir.qrels["test"] += [("q3", "d1", 0)]
    bench = open_benchmark(beir.write())
    assert [q.query_id for q in bench.queries] == ["q1", "q2"]
    assert "q3" not in set(bench.qrels["query_id"])
    assert bench.params["counts"] == {
        "left out": {"queries without a relevant document": 1, "queries without judgments": 1}
    }


def test_no_query_with_an_answer(beir):
    beir.qrels["test"] = [("q1", "d1", 0)]
    with pytest.raises(InputError, match="no query has a relevant document"):
        open_benchmark(beir.write())


def line(name, text, message, number=None):
    """A bad line for a file, the number it gets, and what the error says."""
    return pytest.param(name, text, message, number, id=message)


BAD_LINES = [
    line("corpus.jsonl", b'{"_id": "d4", "text": ', "not valid JSON", 4),
    line("corpus.jsonl", b'["d4", "text"]', "not a JSON object", 4),
    line("corpus.jsonl", b'{"_id": "d4"}', "a document needs _id and text", 4),
    line("corpus.jsonl", b'{"_id": "d4", "text": 5}', "a document needs _id and text", 4),
    line("corpus.jsonl", b'{"_id": "", "text": "x"}', "a document needs _id and text", 4),
    line("corpus.jsonl", b'{"_id": "a\\tb", "text": "x"}', "a document needs _id and text", 4),
    line("corpus.jsonl", b'{"_id": "d1", "text": "x"}', "this document id was used before", 4),
    line("corpus.jsonl", b'{"_id": "d4", "text": "caf\xe9"}', "not valid UTF-8", 4),
    line("corpus.jsonl", b'{"_id": "d4", "text": "\\ud83d"}', "half of a surrogate pair", 4),
    line("corpus.jsonl", b"[" * 100_000, "not valid JSON", 4),
    line("queries.jsonl", b'{"_id": "q3", "text": "  "}', "a query needs _id and text", 3),
    line("queries.jsonl", b'{"_id": "q1", "text": "x"}', "this query id was used before", 3),
    line(
        "queries.jsonl",
        b'{"_id": "q3", "text": "x", "metadata": {"qbench": {"conditions": [{"comparator": "~"}]}}}',
        "not a condition of ours",
        3,
    ),
    line("queries.jsonl", b'{"_id": "q3", "text": "x", "metadata": {"qbench": {"kind": "odd"}}}', "unknown kind", 3),
    line("qrels/test.tsv", b"q1\td1", "not a judgment", 5),
    line("qrels/test.tsv", b"q1\td2\tgood", "not a judgment", 5),
    line("qrels/test.tsv", b"q1\td2\t0.5", "not a judgment", 5),
    line("qrels/test.tsv", b"q1\td2\tnan", "not a judgment", 5),
    line("qrels/test.tsv", b"q1\td2\t99999", "not a judgment", 5),
    line("qrels/test.tsv", b"q1\td1\t1", "this pair is judged twice", 5),
    line("qrels/test.tsv", b"q1\td99\t1", "a document that does not exist", 5),
    line("qrels/test.tsv", b"q99\td1\t1", "a query that does not exist", 5),
]


@pytest.mark.parametrize(("name", "text", "message", "number"), BAD_LINES)
def test_a_bad_line_is_named_or_left_out_and_counted(beir, name, text, message, number):
    whole = read_beir(beir.write())
    with (beir.path / name).open("ab") as stream:
        stream.write(text + b"\n")
    with pytest.raises(InputError, match=message) as caught:
        read_beir(beir.path)
    assert caught.value.file == str(beir.path / name)
    assert caught.value.line == number
    skipped = read_beir(beir.path, on_error="skip")
    assert sum(skipped.params["counts"]["left out"].values()) == 1
    assert str(beir.path) not in str(skipped.params)
    assert skipped.qrels.equals(whole.qrels)
    assert skipped.corpus.equals(whole.corpus)
    assert skipped.queries == whole.queries


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda p: (p / "corpus.jsonl").write_bytes(b""), "corpus.jsonl: the file is empty"),
        (lambda p: (p / "corpus.jsonl").write_bytes(b"\n \n"), "corpus.jsonl: the file is empty"),
        (lambda p: (p / "queries.jsonl").unlink(), "queries.jsonl: no such file"),
        (lambda p: (p / "qrels" / "test.tsv").unlink(), "no judgments"),
        (lambda p: (p / "qrels" / "test.tsv").write_bytes(b""), "test.tsv: the file is empty"),
    ],
)
def test_missing_and_empty_files(beir, spoil, message):
    spoil(beir.write())
    with pytest.raises(InputError, match=message):
        open_benchmark(beir.path)


def test_a_broken_archive(beir):
    beir.write()
    packed = gzip.compress((beir.path / "corpus.jsonl").read_bytes())
    (beir.path / "corpus.jsonl").unlink()
    for bad in (packed[:-12], b"no gzip at all"):
        (beir.path / "corpus.jsonl.gz").write_bytes(bad)
        with pytest.raises(InputError, match="breaks off"):
            open_benchmark(beir.path)


def test_a_long_line_control_characters_and_a_byte_order_mark(beir):
    beir.corpus[0]["text"] = "5 plants. " * 1_000_000
    beir.corpus[1]["text"] = "a\x00b\x1b[31m\u202e"
    beir.write()
    path = beir.path / "corpus.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    corpus = open_benchmark(beir.path).corpus
    assert [len(text) for text in corpus["text"]] == [10_000_000, 9, 15]
    assert corpus["text"][1] == "a\x00b\x1b[31m\u202e"


def test_numbers_as_ids(beir):
    beir.corpus[0]["_id"] = 1
    beir.queries[0]["_id"] = 7
    beir.qrels["test"] = [(7, 1, "1.0")]
    bench = open_benchmark(beir.write())
    assert bench.qrels.rows() == [("7", "1", 1)]


def test_metadata_of_others_is_not_ours(beir):
    beir.queries[0]["metadata"] = {"url": "x", "qbench": "no object"}
    beir.queries[1]["metadata"] = ["x"]
    assert all(query.conditions == () for query in open_benchmark(beir.write()).queries)


def test_our_metadata_comes_back(beir):
    one = Condition(">", 6, 6, "plant", "plant", 6, 6, ("plant",), "6", "plants")
    beir.queries[1]["metadata"] = {"qbench": {"conditions": [one.to_dict()], "kind": "unseen", "terms": "plants"}}
    query = open_benchmark(beir.write()).queries[1]
    assert query.conditions == (one,)
    assert (query.kind, query.terms) == ("unseen", "plants")


def test_queries_without_a_topic_share_none(beir):
    beir.queries[0]["metadata"] = {"qbench": {"topic": None}}
    beir.queries[1]["metadata"] = {"qbench": {"topic": "bridges"}}
    assert [query.topic for query in open_benchmark(beir.write()).queries] == ["", "bridges"]


def test_an_imported_folder_is_a_benchmark(beir, tmp_path):
    made = write_benchmark(read_beir(beir.write()), tmp_path / "bench")
    assert made.qrels.rows() == [("q1", "d1", 1), ("q1", "d3", 0), ("q2", "d2", 2)]
    assert str(tmp_path) not in (tmp_path / "bench" / "manifest.json").read_text()


@pytest.mark.shared
@pytest.mark.skipif(not RETRIEVAL.is_dir(), reason="the real sets are not here")
@pytest.mark.parametrize(
    ("name", "qrels", "documents", "queries"),
    [
        ("numconq-imdb", None, 713, 1127),
        ("numconq-league", None, 600, 1220),
        ("numconq-olympic", None, 1236, 1193),
        ("msmarco-dl", "dl19", 30005, 43),
        ("msmarco-dl", "dl20", 30005, 54),
    ],
)
def test_real_folders(name, qrels, documents, queries):
    bench = open_benchmark(RETRIEVAL / name, qrels=qrels)
    assert (bench.corpus.height, len(bench.queries)) == (documents, queries)


GRAM = Condition(">", 6, 6, "gram", "kilogram", 0.006, 0.006, ("sugar",)).to_dict()


@pytest.mark.parametrize(
    "change",
    [
        {"value": float("nan")},
        {"value": "6"},
        {"value": None},
        {"value": True},
        {"base_value": float("nan")},
        {"base_value": float("inf")},
        {"base_value": 10**400},
        {"base_value": None},
        {"base_value": "0.006"},
        {"base_value": 6.0},
        {"base_high": 0.0},
        {"high": 5},
        {"unit": "flurb"},
        {"unit": None},
        {"unit": ["gram"]},
        {"base_unit": "gram"},
        {"base_unit": "second"},
        {"concept": 3},
        {"concept": None},
        {"change": "sideways"},
        {"comparator": "~"},
        {"surprise": 1},
    ],
    ids=str,
)
def test_a_condition_that_cannot_be_is_refused_with_its_line(beir, change):
    beir.queries[1]["metadata"] = {"qbench": {"conditions": [{**GRAM, **change}]}}
    with pytest.raises(InputError, match="not a condition of ours") as caught:
        read_beir(beir.write())
    assert caught.value.line == 2
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "own", [{"conditions": 3}, {"conditions": ["x"]}, {"seed": "x"}, {"seed": 2**70}, {"seed": 0.5}, {"topic": [1]}]
)
def test_other_metadata_that_cannot_be_is_refused_with_its_line(beir, own):
    beir.queries[1]["metadata"] = {"qbench": own}
    with pytest.raises(InputError, match="not a condition of ours") as caught:
        read_beir(beir.write())
    assert caught.value.line == 2


def test_conditions_with_units_of_every_kind_come_back(beir):
    units = load_units()
    names = ["", "gram", "full-time employee", "dollar per hour", "celsius", "percentage"]
    ones = []
    for name in names:
        unit, base = units.get(name), units.to_base(37.5, name)
        ones.append(Condition("=", 37.5, 37.5, name, unit.base_unit, base, base))
    beir.queries[1]["metadata"] = {"qbench": {"conditions": [one.to_dict() for one in ones]}}
    assert open_benchmark(beir.write()).queries[1].conditions == tuple(ones)
