"""`qbench extract` on the command line: a record for each line, in two forms, and errors that say what to do."""

import gzip
import json
import os
import subprocess
import sys
import threading

import pytest
from typer.testing import CliRunner

from qbench.cli.extract import BATCH, _Source, app
from qbench.errors import InputError, OptionError, UnknownNameError
from qbench.quantities.extractors import get_extractor

runner = CliRunner()


def extract(*words, stdin=None):
    result = runner.invoke(app, [str(word) for word in words], input=stdin, catch_exceptions=True)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def records(*words, stdin=None):
    result = extract(*words, "--format", "jsonl", stdin=stdin)
    assert result.exit_code == 0
    # Other line separators of Unicode may stand within a text: they end no record.
    *lines, rest = result.stdout.split("\n")
    assert rest == ""
    return [json.loads(line) for line in lines]


def only(text, *words):
    (record,) = records(text, *words)
    (mention,) = record["quantities"]
    return mention


# Records.


def test_a_record_says_what_the_extractor_found():
    text = "The laptop weighs at least 1.2 kg and costs $900 to $950."
    (record,) = records(text)
    mass, money = record["quantities"]
    assert record["text"] == text
    assert (mass["value"], mass["unit"], mass["family"]) == (1.2, "kilogram", "mass")
    assert (mass["bound"], mass["change"], mass["digits"]) == (">=", ">", 2)
    assert text[slice(*mass["span"])] == "1.2"
    assert text[slice(*mass["unit_span"])] == "kg"
    assert text[slice(*mass["bound_span"])] == "at least"
    assert [text[a:b] for a, b in mass["concept_spans"]] == ["laptop"]
    assert mass["concept"] == ["laptop"]
    assert "rules" not in mass
    assert (money["value"], money["change"], money["bound"], money["bound_span"]) == ([900, 950], "=", "between", None)
    assert len(get_extractor().extract(text)) == 2


@pytest.mark.parametrize(
    ("text", "change", "bound"),
    [
        ("Prices rose 5%.", "up", "="),
        ("Prices rose about 5%.", "up", "~"),
        ("Prices rose more than 5%.", ">", ">"),
        ("Prices fell 5%.", "down", "="),
        ("Prices fell to 5%.", "=", "="),
        ("It costs about $5.", "~", "~"),
        ("It costs at least $5.", ">", ">="),
        ("It costs no more than $5.", "<", "<="),
        ("It costs less than $5.", "<", "<"),
        ("It costs between $5 and $8.", "=", "between"),
        ("It costs $5.", "=", "="),
    ],
)
def test_changes_are_folded_to_six(text, change, bound):
    mention = only(text)
    assert (mention["change"], mention["bound"]) == (change, bound)


def test_the_direction_is_kept_beside_the_bound():
    texts = ("Prices rose 5%.", "Prices fell more than 5%.", "It costs $5.")
    assert [only(text)["direction"] for text in texts] == ["up", "down", ""]


def test_the_concept_ends_with_the_subject():
    mention = only("The town has a population of 60,000.")
    assert mention["concept"] == ["population", "town"]
    assert mention["subject"] == ["town"]


def test_ranges_have_the_low_end_first():
    assert only("It draws a current of 8 A to 5 A.")["value"] == [5, 8]
    assert only("It draws a current of 5 A to 8 A.")["value"] == [5, 8]
    assert "5 .. 8" in extract("It draws a current of 8 A to 5 A.").stdout


def test_years_only_when_asked_for():
    text = "It was founded in 1990."
    assert records(text) == [{"text": text, "quantities": []}]
    assert only(text, "--years")["unit"] == "calendar year"


def test_own_units(tmp_path):
    (tmp_path / "mine.txt").write_text("[counting]\nblip = = ; blip\n")
    assert only("It made 5 blips.", "--units", tmp_path / "mine.txt")["unit"] == "blip"


@pytest.mark.parametrize("name", ["rules", "quantulum3"])
def test_extractors_by_name(name):
    assert only("It weighs 1.2 kilograms.", "--extractor", name)["unit"] == "kilogram"


# Lines.

LINES = ["It weighs 2 lb.", "", "No number here.", "price of $5", "   ", "5\u2028kg", ""]


def check_lines(found):
    assert [record["text"] for record in found] == LINES
    assert [len(record["quantities"]) for record in found] == [1, 0, 0, 1, 0, 1, 0]


def test_each_line_of_a_file_is_a_record_and_line_numbers_agree(tmp_path):
    file = tmp_path / "texts.txt"
    file.write_bytes("\n".join([*LINES, ""]).encode())
    check_lines(records(file))
    file.write_bytes("\r\n".join(LINES[:-1]).encode() + b"\r\n\n")
    check_lines(records(file))
    file.write_bytes(b"")
    assert records(file) == []


def test_standard_input_is_read_like_a_file():
    check_lines(records("-", stdin="\n".join([*LINES, ""]).encode()))
    check_lines(records("-", "--spacy-model", "none", stdin="\n".join([*LINES, ""]).encode()))


def test_more_lines_than_are_read_together_stay_in_order():
    lines = [f"It has {n} doors." if n % 3 else "" for n in range(2, 2 * BATCH + 5)]
    found = records("-", "--spacy-model", "none", stdin="\n".join([*lines, ""]).encode())
    assert [record["text"] for record in found] == lines
    values = [[q["value"] for q in record["quantities"]] for record in found]
    assert values == [[n] if n % 3 else [] for n in range(2, 2 * BATCH + 5)]


def test_a_text_with_line_ends_is_one_text():
    (record,) = records("It weighs 2 lb.\nIt costs $5.")
    assert len(record["quantities"]) == 2


def test_queries_line_by_line():
    found = records("-", "--query", stdin=b"laptop under 2 lb\n\nphone\n")
    assert [record["terms"] for record in found] == ["laptop", "", "phone"]
    assert [len(record["conditions"]) for record in found] == [1, 0, 0]
    assert found[0]["conditions"][0]["comparator"] == "<"


@pytest.mark.parametrize("words", [60, 300, 3000])
def test_a_text_longer_than_any_name_is_a_text(words):
    (mention,) = records("mill " * words + "employs 40 people.", "--spacy-model", "none")[0]["quantities"]
    assert mention["unit"] == "people"


# Tables.


def test_a_table_shows_values_and_escapes_markup():
    shown = extract("The [b]mill[/b] employs at least 1,200 people [/].").stdout
    assert "The [b]mill[/b] employs at least 1,200 people [/]." in shown
    row = next(line for line in shown.splitlines() if line.startswith(">="))
    assert row.split()[:3] == [">=", "1,200", "people"]
    assert "rules" not in shown
    assert "no quantities" in extract("No number here.").stdout


def test_a_table_of_conditions():
    shown = extract("--query", "laptop under 2 lb").stdout
    assert "search words: laptop" in shown
    assert "down >" in extract("--query", "profit fell by more than 5%").stdout
    assert "pound-mass" in shown


# The rules.


def test_explain_names_the_rules_in_both_forms():
    text = "Net sales rose to $3.5 million."
    rules = only(text, "--explain")["rules"]
    assert {"magnitude", "unit before"} <= set(rules)
    assert all(isinstance(rule, str) and rule for rule in rules)
    shown = " ".join(extract(text, "--explain").stdout.split())
    assert "as written rules" in shown
    assert "unit before" in shown
    assert records("No number here.", "--explain")[0]["quantities"] == []


def test_explain_is_refused_for_queries():
    with pytest.raises(OptionError, match=r"--explain .*Leave out --query, or --explain"):
        extract("laptop under 2 lb", "--query", "--explain")


# The parser.


def test_without_a_parser(monkeypatch):
    import qbench.quantities.english.rules as module

    monkeypatch.setattr(module, "load_parser", lambda name: pytest.fail("loaded a parser"))
    mention = only("The shop employs 1,200 full-time employees.", "--spacy-model", "none", "--explain")
    assert mention["unit"] == "employee"
    assert "concept words around" in mention["rules"]


def test_with_the_parser():
    mention = only("The shop employs 1,200 full-time employees.", "--explain")
    assert mention["unit"] == "full-time employee"
    assert "concept words around" not in mention["rules"]


def test_an_unknown_parser_is_one_line_and_exit_code_1():
    command = [sys.executable, "-m", "qbench", "extract", "It weighs 5 kg.", "--spacy-model", "en_core_nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("qbench: no such spaCy pipeline (found 'en_core_nonsense')")
    assert "`embedded`, `none`" in done.stderr
    assert done.stderr.count("\n") == 1


# Errors.


def test_wrong_options_and_files(tmp_path):
    assert runner.invoke(app, ["5 kg", "--format", "xml"]).exit_code == 2
    with pytest.raises(InputError, match="no such file"):
        extract("nothing-here.txt")
    (tmp_path / "bad.txt").write_bytes(b"5 kg\n\xff 6 kg\n")
    with pytest.raises(InputError, match=r"bad.txt:2: not UTF-8"):
        extract(tmp_path / "bad.txt")


def test_a_text_without_a_word_is_an_error_that_says_so():
    for text in ("", "  "):
        with pytest.raises(InputError, match=r"the text is empty.* Give a text"):
            extract(text)


def test_a_file_in_another_encoding_is_read_where_it_is_named(tmp_path):
    (tmp_path / "old.txt").write_bytes("工程款为3.5亿元\nwage rose 5%\n".encode("gbk"))
    with pytest.raises(InputError, match=r"old.txt:1: not UTF-8 .*--encoding \(gbk"):
        extract(tmp_path / "old.txt")
    result = extract(tmp_path / "old.txt", "--encoding", "gbk", "--format", "jsonl")
    assert [json.loads(line)["quantities"][0]["value"] for line in result.stdout.splitlines()] == [3.5e8, 5]
    (tmp_path / "both.txt").write_bytes("工程款为3.5亿元\n".encode("gbk") + "库存5吨\n".encode())
    both = extract(tmp_path / "both.txt", "--encoding", "utf-8", "--encoding", "gbk", "--format", "jsonl")
    assert [json.loads(line)["text"] for line in both.stdout.splitlines()] == ["工程款为3.5亿元", "库存5吨"]
    with pytest.raises(InputError, match=r"old.txt:1: not valid ascii"):
        extract(tmp_path / "old.txt", "--encoding", "ascii")


def test_texts_that_are_not_read_are_counted_with_what_reads_them():
    result = extract(
        "工程款为3.5亿元", "The wage rose 5%.", "売上は5億円でした", "--language", "en", "--format", "jsonl"
    )
    said = " ".join(result.stderr.split())
    assert "not read: 2 texts" in said
    assert "(Chinese 1, Japanese 1); --language zh reads Chinese" in said
    assert "Japanese" not in said.partition(";")[2]


def test_an_extractor_of_another_language_is_named_with_it():
    with pytest.raises(UnknownNameError, match=r"for --language zh .*Known: rules; quantulum3 reads --language en"):
        extract("库存5吨", "--language", "zh", "--extractor", "quantulum3")


BAD = b"It weighs 5 kg.\n\xff 6 kg\n\nIt costs $5.\ncaf\xe9 for 3 euros\n"


def test_bad_lines_are_left_out_and_counted(tmp_path):
    (tmp_path / "bad.txt").write_bytes(BAD)
    for source, name, stdin in ((tmp_path / "bad.txt", tmp_path / "bad.txt", None), ("-", "standard input", BAD)):
        result = extract(source, "--on-error", "skip", "--format", "jsonl", stdin=stdin)
        assert result.exit_code == 0
        found = [json.loads(line) for line in result.stdout.splitlines()]
        assert [record["text"] for record in found] == ["It weighs 5 kg.", "", "It costs $5."]
        assert [len(record["quantities"]) for record in found] == [1, 0, 1]
        assert "".join(result.stderr.split()) == f"{name}:leftout2of5lines,notUTF-8:lines2,5".replace(" ", "")


def test_lines_left_out_are_no_more_than_counted_where_they_are_many(tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"\xff\n" * 30 + b"5 kg\n" + b"\xff\n" * BATCH)
    result = extract(tmp_path / "bad.txt", "--on-error", "skip", "--format", "jsonl")
    assert [json.loads(line)["text"] for line in result.stdout.splitlines()] == ["5 kg"]
    said = " ".join(result.stderr.split())
    assert f"left out {30 + BATCH} of {31 + BATCH} lines" in said
    assert said.endswith(f"19, 20 and {10 + BATCH} more")


def test_nothing_is_said_of_good_lines():
    assert extract("-", "--on-error", "skip", stdin=b"5 kg\n").stderr == ""


def test_the_lines_before_a_bad_one_are_written():
    result = runner.invoke(app, ["-", "--format", "jsonl"], input=BAD)
    assert isinstance(result.exception, InputError)
    assert "standard input:2" in str(result.exception)
    assert "--on-error skip" in str(result.exception)
    assert [json.loads(line)["text"] for line in result.stdout.splitlines()] == ["It weighs 5 kg."]


@pytest.mark.parametrize("raw", [b"\xff\n\xfe", gzip.compress(b"It weighs 5 kg.\n" * 9, mtime=0), b"\xff\n" * 5000])
def test_a_file_without_a_good_line_is_an_error(tmp_path, raw):
    (tmp_path / "bad.txt").write_bytes(raw)
    with pytest.raises(InputError):
        extract(tmp_path / "bad.txt", "--on-error", "skip")


def test_a_folder_and_a_missing_path_are_no_text(tmp_path):
    with pytest.raises(InputError, match="a folder"):
        extract(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        extract(tmp_path / "nothing")


def test_a_compressed_file_says_what_to_do(tmp_path):
    file = tmp_path / "texts.txt"
    file.write_bytes(gzip.compress(b"It weighs 5 kg.", mtime=0))
    with pytest.raises(InputError, match="Decompress the file"):
        extract(file)


def test_a_pipe_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=("It weighs 5 kg.\n",), daemon=True).start()
    (record,) = records(pipe)
    assert [q["unit"] for q in record["quantities"]] == ["kilogram"]


def test_a_line_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("qbench.corpora.streams.LONGEST_LINE", 1000)
    (tmp_path / "t.txt").write_text("It weighs 5 kg.\n" + "x" * 5000 + "\nIt weighs 6 kg.\n")
    with pytest.raises(InputError, match=r"t\.txt:2: the line is longer"):
        list(_Source(str(tmp_path / "t.txt"), "fail").texts())
    assert list(_Source(str(tmp_path / "t.txt"), "skip").texts()) == ["It weighs 5 kg.", "It weighs 6 kg."]


def test_several_texts_and_files_come_in_order(tmp_path):
    (tmp_path / "t.txt").write_text("It weighs 5 kg.\nIt weighs 6 kg.\n")
    given = ["It costs $4.", str(tmp_path / "t.txt"), "It costs $7."]
    done = CliRunner().invoke(app, [*given, "--format", "jsonl"])
    assert [json.loads(line)["quantities"][0]["value"] for line in done.stdout.splitlines()] == [4, 5, 6, 7]
