"""`qbench train extractor` on the command line, and the verbs that read with what it made."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from qbench import extras
from qbench.cli.build_index import app as build_index
from qbench.cli.extract import app as extract
from qbench.cli.train import app
from qbench.errors import InputError, MissingPackageError, OptionError
from qbench.index.disk import Index
from tests.encoder_factories import tiny_bert
from tests.extractor_factories import TEXTS, WORDS, rows, write_annotations

SMALL = "--epochs 2 --lr 1e-3 --head-lr 1e-2 --seed 3 --device cpu --dev-share 0.3".split()


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    tiny_bert(folder / "bert", WORDS, positions=64)
    write_annotations(folder / "gold.jsonl")
    return folder


def train(*words):
    return CliRunner().invoke(app, ["extractor", *map(str, words)])


@pytest.fixture(scope="module")
def model(root):
    result = train(root / "gold.jsonl", "-o", root / "model", "--model", root / "bert", *SMALL)
    assert result.exit_code == 0, result.output
    for line in (
        "sentences: 20",
        "quantities: 40, 40 of them found by the rules",
        "best epoch: ",
        "words of concepts: F1",
    ):
        assert line in result.stdout
    for text in ("epoch 1", "epoch 2", "loss", f"--extractor neural --model {root / 'model'}"):
        assert text in result.stderr
    return root / "model"


def test_the_same_command_again_finds_it_done(root, model):
    words = [root / "gold.jsonl", "-o", model, "--model", root / "bert", *SMALL]
    assert "epoch 1" not in train(*words).stderr
    other = train(*words, "--seed", "4")
    assert isinstance(other.exception, OptionError)
    assert "--overwrite" in str(other.exception)


def test_extracts_with_it(model):
    words = [TEXTS[0], "--extractor", "neural", "--model", str(model), "--format", "jsonl"]
    result = CliRunner().invoke(extract, words)
    assert result.exit_code == 0, result.output
    (record,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert [q["value"] for q in record["quantities"]] == [20, 40]


def test_an_index_keeps_the_model_that_read_it(root, model):
    (root / "corpus.jsonl").write_text(
        "".join(json.dumps({"doc_id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(TEXTS)), encoding="utf-8"
    )
    words = [root / "corpus.jsonl", "-o", root / "index", "--workers", "1", "--extractor", "neural", "--model", model]
    result = CliRunner().invoke(build_index, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    index = Index.open(root / "index")
    options = index.extractor_options()
    assert options.name == "neural"
    assert options.model == root / "index" / "model"
    assert options.key() == index.manifest.params["extractor"]
    assert str(model) not in (root / "index" / "manifest.json").read_text()
    values = index.quantities().select(pl.col("value")).collect()["value"].to_list()
    assert values == [n for k in range(len(TEXTS)) for n in (k + 20, k + 40)]


def test_texts_that_stay_elsewhere(root):
    import gzip

    with gzip.open(root / "texts.jsonl.gz", "wt", encoding="utf-8") as out:
        for n, text in enumerate(TEXTS):
            out.write(json.dumps({"doc_id": f"d{n}", "body": f"Before. {text}"}) + "\n")
    lines = []
    for n, row in enumerate(rows()):
        text = row["text"]
        quantities = [
            {**q, "concept": [[text.index(w), text.index(w) + len(w)] for w in q["concept"]], "core": []}
            for q in row["quantities"]
        ]
        place = {"file": "texts.jsonl.gz", "doc": f"d{n}", "field": "body", "at": 8, "length": len(text)}
        lines.append(json.dumps({**place, "quantities": quantities}) + "\n")
    (root / "apart.jsonl").write_text("".join(lines), encoding="utf-8")
    words = [root / "apart.jsonl", "-o", root / "apart", "--model", root / "bert", *SMALL]
    missing = train(*words)
    assert isinstance(missing.exception, InputError)
    assert "--data" in str(missing.exception)
    result = train(*words, "--data", root, "--epochs", "1")
    assert result.exit_code == 0, result.output
    assert "quantities: 40, 40 of them" in result.stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "It has 5 boats"}', "not an annotated sentence"),
        ('{"text": "It has 5 boats", "quantities": [{"span": [7, 99], "concept": [], "core": ""}]}', "no span"),
        ('{"text": "It has 5 boats", "quantities": [{"span": [7, 8], "concept": "It", "core": ""}]}', "list of words"),
        ('{"text": "5", "quantities": [{"span": [0, 1], "concept": [], "core": "", "change": "off"}]}', "no change"),
        ('{"file": "../x.gz", "doc": "d", "field": "t", "at": 0, "length": 1, "quantities": []}', "outside"),
        ('{"file": "none.gz", "doc": "d", "field": "t", "at": 0, "length": 1, "quantities": []}', "no such file"),
        ("not JSON", "not valid JSON"),
    ],
)
def test_lines_that_are_none_are_said(root, line, said):
    (root / "bad.jsonl").write_text(f"\n{line}\n", encoding="utf-8")
    result = train(root / "bad.jsonl", "-o", root / "other", "--model", root / "bert", "--data", root)
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)
    assert result.exception.line == 2
    assert not (root / "other").exists()


def test_without_the_extra_it_says_what_to_install(root, model, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", absent)
    words = [TEXTS[0], "--extractor", "neural", "--model", str(model)]
    result = CliRunner().invoke(extract, words)
    assert isinstance(result.exception, MissingPackageError)
    assert "qbench[neural]" in str(result.exception)
