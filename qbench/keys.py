"""Keys of artefacts and caches: one rule.

The key of what a step makes is a digest of three things: the step's name, its revision, and everything else that can
change the result (options, digests of input artefacts, of models, and of data files). `REVISIONS` holds the revisions.
One is raised by hand when the step gives another result for the same input; the golden outputs (tests/golden.py) are
what notices that it does. Code, comments and qbench's version are in no key: the version stands in manifests.

>>> key("mask", benchmark="b1", what="units") == key("mask", what="units", benchmark="b1")
True
>>> key("mask", benchmark="b1", what="units") == key("relax", benchmark="b1", what="units")
False
"""

from __future__ import annotations

from qbench.store import digest

__all__ = ["REVISIONS", "key", "revision"]

REVISIONS: dict[str, int] = {
    # Text
    "extraction": 24,
    "index": 3,
    "benchmark quantities": 1,
    # Benchmarks
    "import": 2,
    "mask": 1,
    "relax": 2,
    "generation": 16,
    "expansion": 3,
    "synthesis": 5,
    "grounding": 3,
    "grounded generation": 3,
    # Retrieval
    "analysis": 2,
    "bm25": 1,
    "dense": 2,
    "sparse": 2,
    "compressed vectors": 2,
    "coded token vectors": 9,
    "token vectors": 2,
    "centroid index": 1,
    "candidate recall": 1,
    "faiss": 1,
    "faiss recall": 1,
    "quantities": 1,
    "served tables": 3,
    "quantity-index": 2,
    "binding-index": 4,
    "mention texts": 1,
    "language model ranking": 3,
    "run": 5,
    # Judging
    "annotation sheet": 2,
    "judged benchmark": 1,
    "audit sheet": 3,
    # Descriptions and pairs
    "description rules": 3,
    "descriptions": 2,
    "description table": 1,
    "self-join": 2,
    "pairs": 2,
    "test set": 1,
    "judged test set": 1,
    # Models
    "new model": 2,
    "retriever training": 7,
    "deepquant training": 1,
    "bi-encoder training": 2,
    "description-parser training": 1,
    "extractor training": 1,
    "codebook training": 4,
    # Publishing
    "publication": 1,
}
"""The revision of each step, by the step's name."""


def revision(step: str) -> int:
    """The revision of a step, for what holds another step's results without its key.

    Raises:
        KeyError: `REVISIONS` has no such step.
    """
    return REVISIONS[step]


def key(step: str, /, **what: object) -> str:
    """The key of a step's result: 16 hexadecimal digits.

    Args:
        step: its name in `REVISIONS`.
        what: everything else that can change the result, as JSON can say it; a file or a model by its digest.

    Raises:
        KeyError: `REVISIONS` has no such step.
        TypeError: a value is none that JSON can say.
    """
    return digest({"step": step, "revision": revision(step), "what": what})
