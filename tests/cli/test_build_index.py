"""`qbench build-index` and `qbench index show` on the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from qbench.cli.build_index import app as build_app
from qbench.cli.index import app as index_app
from qbench.errors import OptionError, UnknownNameError
from tests.index.test_build import make_corpus
from tests.resealed import reseal

runner = CliRunner()


def build(*words):
    return runner.invoke(build_app, [str(word) for word in words], catch_exceptions=False)


def show(*words):
    return runner.invoke(index_app, ["show", *(str(word) for word in words)], catch_exceptions=False)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_corpus(tmp_path_factory.mktemp("cli") / "gold")


@pytest.fixture(scope="module")
def index(corpus):
    output = corpus.parent / "index"
    result = build(corpus, "-o", output, "--extractor", "given", "--workers", "1")
    assert result.exit_code == 0
    assert result.stdout == "60 documents, 60 sentences, 120 quantities, 4 pairs, 4 concepts, 2 units\n"
    return output


def test_a_second_build_says_already_built_and_succeeds(corpus, index):
    result = build(corpus, "-o", index, "--extractor", "given")
    assert result.exit_code == 0
    assert "already built" in result.stderr
    assert result.stdout.startswith("60 documents")
    with pytest.raises(OptionError, match="--overwrite"):
        build(corpus, "-o", index, "--workers", "1")


def test_bad_records_are_shown_with_their_place_and_markup_is_text(tmp_path):
    corpus = make_corpus(tmp_path / "gold", 1, ending=" [red]now[/red] [/].")
    with (corpus / "corpus.jsonl").open("a") as lines:
        lines.write('{"doc_id": "2", "text": 7}\n')
    reseal(corpus)
    options = ("--extractor", "given", "--workers", "1", "--id-field", "doc_id", "--text-field", "text")
    result = build(corpus, "-o", tmp_path / "index", *options)
    assert result.exit_code == 0
    assert "left out: corpus.jsonl:2: the text is not a string (found 7)" in result.stderr
    assert "left out: 1 (text is not a string)" in result.stdout
    shown = show(tmp_path / "index", "--unit", "kg").stdout
    assert "Laptop 000 weighs 1.5 kg and costs $0 [red]now[/red] [/]." in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--extractor", "neural"), "neural needs a model"),
        (("--extractor", "given", "--model", "somewhere"), "given uses no model .found 'somewhere'.. Leave --m"),
        (("--extractor", "rules", "--model", "somewhere"), "rules uses no model"),
    ],
)
def test_a_model_that_is_missing_or_not_used_is_refused_before_anything_is_written(corpus, tmp_path, words, message):
    with pytest.raises(OptionError, match=message):
        build(corpus, "-o", tmp_path / "index", *words)
    assert not list(tmp_path.iterdir())


def test_show_overview(index):
    lines = show(index, "--top", "2").stdout.splitlines()
    assert lines[0].startswith("60 documents")
    assert lines[2] == "pairs with most mentions"
    assert lines[4].split()[:3] == ["laptop", "weight", "kilogram"]
    assert "units with most mentions" in lines


def test_show_one_pair(index):
    result = show(index, "--concept", "laptop weight", "--unit", "kilogram", "--top", "2")
    assert "60 mentions, 7 different values, mean 4.4" in result.stdout
    assert "█" in result.stdout
    lines = result.stdout.splitlines()
    assert lines[-2].startswith("1.5 kilogram  d0::0  Laptop 000 weighs 1.5 kg")
    assert lines[-1].startswith("7.5 kilogram  d6::0  ")


def test_show_what_is_not_there(index):
    with pytest.raises(UnknownNameError, match="Close concepts: 'laptop weight'"):
        show(index, "--concept", "laptop")
