"""The real corpora beside the project: all are read with no options, and cut into sentences of a sensible length."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from statistics import median

import pytest

from qbench.corpora import ReadOptions, open_source
from qbench.corpora.source import read_documents
from qbench.corpora.types import Problems
from qbench.quantities.english.sentences import EnglishSplitter

CORPORA = Path(__file__).parents[3] / "shared" / "data" / "corpora"


@pytest.mark.shared
@pytest.mark.parametrize(
    "name", ["sec_filings", "reuters21578", "rct_abstracts", "tatqa_paragraphs", "phrasebank", "phones"]
)
def test_a_real_corpus_needs_no_options(name):
    path = CORPORA / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip("the real corpora are not here")
    problems = Problems("fail")
    found = list(
        islice(read_documents(open_source(path), ReadOptions(), problems), 4 if name == "sec_filings" else 100)
    )
    assert all(document.doc_id and "#" not in document.doc_id.removesuffix("#0") for document in found)
    splitter = EnglishSplitter()
    lengths = [end - start for document in found for start, end in splitter.spans(document.text)]
    assert 25 < median(lengths) < 220
    assert sum(length < 12 for length in lengths) < 0.05 * len(lengths)
