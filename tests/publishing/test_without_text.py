"""Publishing without texts: the same bytes from the right source, and a changed source is named."""

import dataclasses
import json
import shutil

import polars as pl
import pytest

from qbench.annotation.judged import import_answers
from qbench.annotation.options import SheetOptions
from qbench.annotation.sheet import export_sheet
from qbench.benchmark.audit_disk import write_audit
from qbench.benchmark.disk import open_benchmark, write_benchmark
from qbench.corpora.types import Document
from qbench.errors import InputError, OptionError
from qbench.generation.generate import generate
from qbench.generation.options import GenerationOptions
from qbench.index import build_index
from qbench.licences import LICENCES
from qbench.mining.describe import describe
from qbench.mining.options import MiningOptions
from qbench.mining.paraphrases import mine_paraphrases
from qbench.publishing import withheld
from qbench.publishing.options import PublishOptions
from qbench.publishing.publish import publish
from qbench.publishing.pull import pull
from qbench.quantities.extractors import ExtractorOptions
from tests.annotation.conftest import page_file
from tests.factories import tiny_audit, tiny_benchmark

SECRET = "Zyxwv"
"""A word of every document, which none may find in what is published."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A corpus that may not be redistributed, and what is made of it."""
    folder = tmp_path_factory.mktemp("made")
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(40):
            first = f"In shop {number} the {SECRET} laptop has a weight of {number % 9 + 1} kg."
            second = f"Its {SECRET} price was {number * 25 + 150} dollars in 20{number + 10}."
            row = {"id": f"doc{number}", "title": f"{SECRET} page\u00e9 {number}", "text": f"{first}  {second}\n"}
            stream.write(json.dumps(row) + "\n")
    source = folder / "corpus.jsonl"
    extractor = ExtractorOptions(spacy_model="none")
    build_index(source, folder / "index", extractor=extractor, workers=1, licence="proprietary")
    sizes = GenerationOptions(min_sentences=2, max_train=20, max_test=20)
    generate(folder / "index", folder / "bench", sizes, command="qbench gen-queries INDEX -o BENCH")
    describe(folder / "index", folder / "descriptions", workers=1)
    options = MiningOptions(min_digits=1, min_terms=1, min_probability=0.0)
    mine_paraphrases(folder / "descriptions", folder / "pairs", options, threads=1)
    return folder


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def without(source):
    return PublishOptions("me/x", licence="cc0-1.0", source=source, picture=False)


def test_a_judged_benchmark_comes_back_too(made, tmp_path):
    """It knows how the corpus was read, and whose it is."""
    bench = open_benchmark(made / "bench")
    sheet = export_sheet(bench, tmp_path / "sheet", SheetOptions(scale="binary"))
    answers = [(item.query_id, item.doc_id, 1) for item in sheet.items]
    path = page_file(sheet, tmp_path / "la.json", answers)
    import_answers(bench, sheet, [path], tmp_path / "judged")
    publish(tmp_path / "judged", tmp_path / "out", without(made / "corpus.jsonl"), dry_run=True)
    card = (tmp_path / "out" / "README.md").read_text()
    assert "content digest" in card
    assert "qbench gen-queries INDEX" in card
    pull(tmp_path / "out", tmp_path / "back", source=made / "corpus.jsonl")
    assert files(tmp_path / "back") == files(tmp_path / "judged")


def test_an_audit_comes_back_without_the_texts(made, tmp_path):
    shutil.copytree(made / "bench", tmp_path / "bench")
    write_audit(tmp_path / "bench", tiny_audit(tmp_path / "bench"))
    publish(tmp_path / "bench", tmp_path / "out", without(made / "corpus.jsonl"), dry_run=True)
    assert "| relevant | 75.0 % |" in (tmp_path / "out" / "README.md").read_text()
    pull(tmp_path / "out", tmp_path / "back", source=made / "corpus.jsonl")
    assert files(tmp_path / "back") == files(tmp_path / "bench")


def texts_of(folder):
    """Every string in what is published."""
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            yield from (str(row) for row in pl.read_parquet(path).iter_rows())
        elif path.is_file():
            yield path.read_bytes().decode("latin-1")


def test_the_licence_flows_and_forbids(made, tmp_path):
    for kind in ("bench", "descriptions", "pairs"):
        with pytest.raises(OptionError, match="keeps redistribution to the owner"):
            publish(made / kind, tmp_path / "out", PublishOptions("me/x"), dry_run=True)


@pytest.mark.parametrize("kind", ["bench", "descriptions", "pairs"])
def test_the_same_bytes_come_back(made, tmp_path, kind):
    publish(made / kind, tmp_path / "out", without(made / "corpus.jsonl"), dry_run=True)
    assert not any(SECRET in text for text in texts_of(tmp_path / "out"))
    card = (tmp_path / "out" / "README.md").read_text()
    assert "**Its texts are not in it.**" in card
    assert "proprietary" in card
    with pytest.raises(OptionError, match=r"have to come from your copy of the corpus \(found 'corpus.jsonl'\)"):
        pull(tmp_path / "out", tmp_path / "back")
    pull(tmp_path / "out", tmp_path / "back", source=made / "corpus.jsonl")
    before, after = files(made / kind), files(tmp_path / "back")
    # The report of a mining run quotes texts, and is not made again.
    for name in ("report.md", "manifest.json") if kind == "pairs" else ():
        before.pop(name)
        after.pop(name, None)
    assert after == before


@pytest.mark.parametrize("kind", ["bench", "descriptions"])
def test_another_edition_is_found_and_named(made, tmp_path, kind):
    publish(made / kind, tmp_path / "out", without(made / "corpus.jsonl"), dry_run=True)
    lines = (made / "corpus.jsonl").read_text().splitlines()
    lines[3] = lines[3].replace("laptop", "Laptop")
    lines[7] = lines[7].replace("doc7", "doc7b")
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(
        InputError, match=r"1 documents have another text: doc3; 1 documents are missing: doc7"
    ) as caught:
        pull(tmp_path / "out", tmp_path / "back", source=tmp_path / "corpus.jsonl")
    assert "corpus.jsonl" in str(caught.value)
    assert not (tmp_path / "back").exists()
    # the right edition then goes on
    pull(tmp_path / "out", tmp_path / "back", source=made / "corpus.jsonl")


def test_another_title_is_another_edition(made, tmp_path):
    publish(made / "bench", tmp_path / "out", without(made / "corpus.jsonl"), dry_run=True)
    (tmp_path / "c.jsonl").write_text((made / "corpus.jsonl").read_text().replace("page\\u00e9 5", "page 5"))
    with pytest.raises(InputError, match="another text: doc5"):
        pull(tmp_path / "out", tmp_path / "back", source=tmp_path / "c.jsonl")


def test_the_publisher_names_the_wrong_source(made, tmp_path):
    (tmp_path / "c.jsonl").write_text('{"id": "doc1", "text": "Something else."}\n')
    with pytest.raises(InputError, match=r"80 of 80 texts are not in this source.*doc0::0, doc0::1"):
        publish(made / "bench", tmp_path / "out", without(tmp_path / "c.jsonl"), dry_run=True)
    with pytest.raises(InputError, match="no such file"):
        publish(made / "bench", tmp_path / "out", without(tmp_path / "nowhere.jsonl"), dry_run=True)


def test_what_is_published_needs_a_licence_of_its_own(made, tmp_path):
    source = made / "corpus.jsonl"
    for licence, message in ((None, "under a licence, too"), ("proprietary", "nothing can be published")):
        options = dataclasses.replace(without(source), licence=licence)
        with pytest.raises(OptionError, match=message):
            publish(made / "bench", tmp_path / "out", options, dry_run=True)


def test_an_imported_benchmark_stays_with_its_queries(tmp_path):
    made = tiny_benchmark()
    write_benchmark(dataclasses.replace(made, params={**made.params, "importer": "beir"}), tmp_path / "b")
    with pytest.raises(OptionError, match="its queries are text of others"):
        publish(tmp_path / "b", tmp_path / "out", without("x.jsonl"), dry_run=True)


def test_texts_that_were_published_need_no_source(tmp_path, bench):
    publish(bench, tmp_path / "out", PublishOptions("me/x", picture=False), dry_run=True)
    with pytest.raises(OptionError, match="need no source"):
        pull(tmp_path / "out", tmp_path / "back", source="x.jsonl")


def test_samples_are_kept_as_changes():
    made = tiny_benchmark()
    kept = withheld.changes(made.samples, made.corpus)
    assert "text" not in kept.columns
    assert kept["between"].to_list() == ["", "3.1", "", "€"]
    assert withheld.unchanged(kept, made.corpus).select(made.samples.columns).equals(made.samples)
    with pytest.raises(InputError, match="differs from its digest"):
        withheld.unchanged(kept, made.corpus.with_columns(text=pl.lit("Something else, as long as it was.")))
    long = made.samples.with_columns(text=pl.lit("x" * 100))
    with pytest.raises(OptionError, match="cannot be published so"):
        withheld.changes(long, made.corpus)


def test_texts_that_repeat_in_a_document_are_found():
    texts = pl.DataFrame({"doc_id": ["a", "b", "c"], "source_id": ["s", "s", "s"], "text": ["5 kg.", "5 kg.", "x 5"]})
    source = [Document("s", "5 kg. Not. 5 kg. x 5 kg.")]
    places = withheld.locate(texts, source, "f")
    assert places.select("start", "end").rows() == [(0, 5), (11, 16), (17, 20)]
    assert withheld.rebuild(places, source, "f")[0] == texts["text"].to_list()


def test_a_file_that_is_not_as_it_was_published(tmp_path, bench):
    publish(bench, tmp_path / "out", PublishOptions("me/x", picture=False), dry_run=True)
    path = tmp_path / "out" / "qbench" / "queries.parquet"
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(InputError, match="not as it was published"):
        pull(tmp_path / "out", tmp_path / "back")
    path.unlink()
    with pytest.raises(InputError, match="lacks this file"):
        pull(tmp_path / "out", tmp_path / "back")


def test_every_licence_has_terms_that_the_page_explains():
    from tests.test_house import PACKAGE

    page = (PACKAGE.parent / "docs" / "how-to" / "publish.md").read_text(encoding="utf-8")
    for name, terms in LICENCES.items():
        assert f"`{name}`" in page, name
        assert terms in page
