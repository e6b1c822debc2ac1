"""What tests of encoded documents share: a small corpus, its rankers, and the bytes that they wrote."""

from __future__ import annotations

from qbench.retrieval import coded, deepquant, dense, late_interaction, sparse
from qbench.retrieval.grammar import parse_system
from qbench.retrieval.mentions import document_mentions
from qbench.retrieval.opening import open_ranker
from qbench.retrieval.passages import passages
from qbench.retrieval.rankers import RankerContext
from qbench.retrieval.stored import SECONDS
from tests.numeric_factories import numeric_benchmark

BENCHMARK = numeric_benchmark()


def opened(system, root, engine=None):
    """A system over the corpus of the benchmark, its documents encoded by an engine if there is one."""
    (stage,) = parse_system(system).stages
    corpus = passages(BENCHMARK.corpus)
    context = RankerContext(
        corpus, "key", root, 100, quantities=lambda: document_mentions(BENCHMARK.quantities, corpus["doc_id"]),
        engine=engine,
    )  # fmt: skip
    return open_ranker(stage, context)


def contents(root):
    """The bytes of all files below a folder that do not say when it was made."""
    files = (path for path in root.rglob("*") if path.is_file() and path.name not in ("manifest.json", SECONDS))
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def make_blocks_small(monkeypatch):
    """Encode a corpus in several blocks."""
    for module in (coded, deepquant, dense, late_interaction, sparse):
        monkeypatch.setattr(module, "BLOCK", 7)


def counting(engine):
    """An engine, and the numbers of texts of the blocks that it has encoded."""
    blocks = []

    def counted(task, chunks):
        for chunk, shard in engine(task, chunks):
            blocks.append(chunk.items)
            yield chunk, shard

    return counted, blocks
